"""Arguments and the environment."""
import os, subprocess

from array_bytes import SIX, npy
from catalogue import BINARY, Catalogue, case, refused, run

X = {"x.npy": npy()}
COMPUTE = ("compute", "-X", "x.npy")


def wrong(code, fault, says, *words, **how): return refused(code, fault, X, says, *COMPUTE, *words, exit=2, **how)


class Arguments(Catalogue):
    CODES = "A01 A02 A03 A05 A06 A07 A09 A10 A11 A13 A14 A15"
    CASES = [
        refused("A01", "an unknown subcommand", X, "comptue.*compute|compute", "comptue", "x.npy", exit=2),
        wrong("A02", "an unknown option", "--no-such", "--no-such"),
        wrong("A02", "an option without its value", "-o needs a value", "-o", output=False),
        wrong("A02", "one value given twice", "--threads", "--threads", "1", "--threads", "2"),
        wrong("A02", "an option in place of a value", "-w needs a value .*found '--causal'", "-w", "--causal"),
        wrong("A02", "an option that is cut short", "--thr", "--thr", "1"),
        wrong("A03", "threads below zero", "--threads: found '?-1", "--threads", "-1"),
        wrong("A03", "more threads than can be counted", "--threads", "--threads", "18446744073709551616"),
        wrong("A05", "an empty number", "--scale", "--scale", ""),
        wrong("A05", "an empty name", "--kernel", "--kernel", ""),
        wrong("A05", "an empty file name", "-w|--weights|''", "-w", "", output=False),
        *[wrong("A06", f"a scale of {text}", f"--scale", "--scale", text) for text in ("1e999", "0x10", "nan", "inf", "1,5", "1.5x", " 1", "1 ", "+-1", "NaN(7)")],
        wrong("A07", "threads of 010", "--threads: found '?010", "--threads", "010"),
        wrong("A07", "heads of 02", "--heads: found '?02", "--heads", "02"),
        wrong("A07", "threads of 1.5", "--threads", "--threads", "1.5"),
        refused("A10", "a name with a line end and an escape", {"a\n\x1b[2Jb.npy": b""}, r"a\\n\\x1b\[2Jb\.npy", "compute", "-X", "a\n\x1b[2Jb.npy"),
        refused("A10", "a name that is not UTF-8", {"a\udcffb.npy": b""}, r"a\\xffb\.npy", "compute", "-X", "a\udcffb.npy"),
        refused("A10", "a missing one", {}, r"no\\n\\x1b\[2Jsuch", "compute", "-X", "no\n\x1b[2Jsuch"),
        refused("A11", "a name of 5000 letters", {}, "File name too long", "compute", "-X", "a" * 5000),
        refused("A11", "a path of 5000 letters", {}, "File name too long|No such file", "compute", "-X", "/".join(["a" * 100] * 50)),
        wrong("A13", "two outputs on one path", "two outputs go to 'w.csv'", "-w", "w.csv", "-w", "w.csv", output=False),
        wrong("A13", "an output twice, spelled in two ways", "two outputs", "-w", "w.csv", "-w", "./w.csv", output=False),
        wrong("A13", "standard output twice", "two outputs", "--format", "csv", "-w", "-", "--scores", "-", output=False),
    ]

    @case("A01", "no argument")
    def nothing(self):
        done = self.run_tool()
        self.assertEqual((done.code, done.out), (2, ""))
        self.assertIn("usage", done.err.lower())

    @case("A01", "help and version, on a full device too")
    def help(self):
        for words in (("--help",), ("--version",), ("compute", "--help")):
            done = self.run_tool(*words)
            self.assertEqual((done.code, done.err), (0, ""))
            self.assertIn("attn-cli", done.out)
            with open("/dev/full", "wb") as full: done = self.run_tool(*words, stdout=full)
            self.assertEqual(done.code, 5)
            self.assertRefusal(done, "cannot write standard output: No space left on device")

    @case("A09", "names with dashes and blanks")
    def names(self):
        for name in ("-x.npy", "-", "a b", "--causal"): self.write(name, npy())
        self.write("x.npy", npy())
        self.run_cli(*COMPUTE, "-w", "right.csv")
        for name in ("./-x.npy", "a b", "./-", "./--causal"):
            self.run_cli("compute", "-X", name, "-w", "w.csv")
            self.assertEqual(self.read("w.csv"), self.read("right.csv"), name)
        for name in ("-x.npy", "a b", "--causal"):
            self.assertEqual(self.run_cli("inspect", "--", name).out.splitlines()[1:], self.run_cli("inspect", "x.npy").out.splitlines()[1:])
        self.run_cli("compute", "-X", "x.npy", "-w", "a b.csv")
        self.assertEqual(self.read("a b.csv"), self.read("right.csv"))

    @case("A13", "an output twice, through a link")
    def linked(self):
        self.write("x.npy", npy())
        self.write("w.csv", "old")
        os.symlink("w.csv", self.folder / "link.csv")
        self.refuse((*COMPUTE, "-w", "w.csv", "-w", "link.csv"), "two outputs", 2, output=False)

    @case("A14", "no name of the program")
    def unnamed(self):
        done = subprocess.run([""], executable=BINARY, capture_output=True, env={}, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (2, b""))

    @case("A15", "a locale with decimal commas")
    def locale(self):
        os.mkdir(self.folder / "loc")
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(self.folder / "loc/de_DE.UTF-8")], capture_output=True)
        self.assertTrue((self.folder / "loc/de_DE.UTF-8/LC_NUMERIC").exists(), made.stderr)
        self.write("x.csv", "0.5,1.25\n1000.5,2\n")
        outputs = ("w.csv", "w.json", "w.npy", "w.npz", "w.safetensors", "w.svg", "w.html", "w.txt", "w.png")
        words = [word for name in outputs for word in ("-w", name)]
        got = []
        for env in ({"LC_ALL": "C"}, {"LC_ALL": "de_DE.UTF-8", "LOCPATH": str(self.folder / "loc")}):
            done = self.run_cli("compute", "-X", "x.csv", "--scale", "0.5", *words, env=env)
            text = self.run_cli("inspect", "x.csv", env=env).out
            got.append((done.err, text, [(self.folder / name).read_bytes() for name in outputs]))
        self.assertEqual(got[0], got[1])
        self.assertIn("1000.5", got[1][1])


if __name__ == "__main__": run()
