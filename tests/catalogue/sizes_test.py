"""Shapes, sizes, memory, and limits of the system."""
import os, resource, struct, subprocess

from array_bytes import floats, header, matrix, npy
from catalogue import Catalogue, case, limit, nobody, refused, run, same

QKV = ("compute", "-Q", "q.npy", "-K", "k.npy", "-V", "v.npy")


def zeros(rows, columns): return npy(header(f"({rows}, {columns})"), bytes(4 * rows * columns))


def qkv(q, k, v): return {"q.npy": zeros(*q), "k.npy": zeros(*k), "v.npy": zeros(*v)}


class Sizes(Catalogue):
    CODES = "M01 M02 M03 M05 M06 M07 M09 M10 M11 M13 M14 M15"
    CASES = [
        refused("M01", "other columns in the key", qkv((4, 8), (5, 7), (5, 2)), r"key \(k\.npy\) has 7 columns but query \(q\.npy\) has 8", *QKV, exit=4),
        refused("M02", "other rows in the value", qkv((4, 8), (5, 8), (6, 8)), r"key \(k\.npy\) has 5 rows and value \(v\.npy\) has 6", *QKV, exit=4),
        refused("M03", "heads that do not divide the columns", qkv((4, 8), (5, 8), (5, 8)), r"8 .*3 heads|3 heads.* 8", *QKV, "--heads", "3", exit=4),
        refused("M03", "key heads that do not divide heads", qkv((4, 8), (5, 6), (5, 6)), r"3", *QKV, "--heads", "4", "--kv-heads", "3", exit=(2, 4)),
        refused("M03", "no heads", qkv((4, 8), (5, 8), (5, 8)), "--heads: found 0|--heads: found '0'", *QKV, "--heads", "0", exit=2),
        refused("M07", "more than --max-memory", qkv((300000, 2), (2, 2), (2, 2)), r"needs .*, the limit is 1 MiB", *QKV, "--max-memory", "1M", exit=6),
        refused("M07", "a limit that is none", qkv((1, 1), (1, 1), (1, 1)), "--max-memory", *QKV, "--max-memory", "lots", exit=2),
        same("M11", "a million keys", {"q.npy": matrix(1, 1, [1]), "k.npy": npy(header("(1000000, 1)"), bytes(4000000)), "v.npy": npy(
            header("(1000000, 1)"), floats(1) * 1000000)}, {"q.npy": matrix(1, 1, [1]), "k.npy": matrix(1, 1, [0]), "v.npy": matrix(1, 1, [1])},
            *QKV, outputs=("-o",)),
    ]

    def put(self, files):
        for name, content in files.items(): self.write(name, content)

    def weights(self, *words, **how):
        done = self.run_tool(*QKV, *words, **how)
        self.assertEqual(done.code, 0, done.err)
        return done

    @case("M05", "an output that is far larger than the inputs")
    def output(self):
        self.put(qkv((70000, 1), (2, 1), (2, 4096)))
        self.refuse((*QKV, "-o", "o.npy", "--max-memory", "128M"), r"output.* needs 1\.\d GiB .*the limit is 128 MiB", 6, memory=64 << 10)

    @case("M05", "a matrix of weights that only passes by")
    def streamed(self):
        self.put(qkv((20000, 1), (20000, 1), (1, 1)))
        done = self.run_tool("compute", "-Q", "q.npy", "-K", "k.npy", "--format", "npy", "-w", "/dev/null", "--max-memory", "64M")
        self.assertEqual(done.code, 0, done.err)
        self.assertLess(done.memory, 100 << 10)  # of 1.5 GiB

    @case("M06", "less memory than the inputs need")
    def address_space(self):
        path = self.write("q.npy", npy(header("(20000000, 2)"), b""))
        with open(path, "r+b") as file: file.truncate(file.seek(0, 2) + 160000000)
        for name in ("k.npy", "v.npy"): os.link(path, self.folder / name)
        scarce = limit(resource.RLIMIT_AS, 300 << 20)
        self.refuse(QKV, "memory", 6, prepare=scarce, output=False)
        self.refuse((*QKV, "--max-memory", "4G", "-o", "o.npy"), "memory", 6, prepare=scarce, output=False)

    @case("M09", "pictures of nothing")
    def nothing(self):
        for shape in ("(0, 5)", "(5, 0)"):
            self.write("x.npy", npy(header(shape), b""))
            for kind in ("png", "svg", "pdf", "html", "txt"):
                with self.subTest(shape=shape, kind=kind):
                    done = self.run_tool("render", "x.npy", "-o", "x." + kind)
                    self.assertIn(done.code, (0, 4), done.err)
                    if done.code == 4: self.assertRefusal(done, "nothing to draw"), self.assertIn("x.npy: shape", done.err)
                    self.assertFalse(done.code == 4 and (self.folder / ("x." + kind)).exists())

    @case("M10", "25 million cells as SVG")
    def cells(self):
        self.put(qkv((5000, 1), (5000, 1), (5000, 1)))
        self.weights("-w", "w.svg")
        text = self.read("w.svg")
        self.assertLess(len(text), 5 << 20)
        self.assertLess(text.count("<rect") + text.count("<path"), 10000)
        self.assertIn("<image", text)

    @case("M11", "a million queries of one key")
    def one_key(self):
        self.put(qkv((1000000, 1), (1, 1), (1, 1)))
        self.weights("-w", "w.npy")
        self.assertEqual((self.folder / "w.npy").read_bytes()[-4000000:], floats(1) * 1000000)

    @case("M11", "the weights of a million keys add up to 1")
    def row_sum(self):
        self.put(qkv((1, 1), (1000000, 1), (1, 1)))
        done = self.run_tool("compute", "-Q", "q.npy", "-K", "k.npy", "-w", "w.npy")
        self.assertEqual(done.code, 0, done.err)
        weights = struct.unpack("<1000000f", (self.folder / "w.npy").read_bytes()[-4000000:])
        self.assertEqual(len(set(weights)), 1)
        self.assertLess(abs(sum(weights) - 1), 1e-6)

    def same_with(self, **how):
        """The tool gives under a limit what it gives without."""
        self.put({"q.npy": matrix(300, 4, [i % 7 for i in range(1200)]), "k.npy": matrix(300, 4, [i % 5 for i in range(1200)]), "v.npy": matrix(
            300, 4, [i % 3 for i in range(1200)])})
        self.weights("-w", "right.npy", "-o", "right.csv")
        os.chmod(self.folder, 0o777)
        self.weights("-w", "got.npy", "-o", "got.csv", **how)
        for kind in ("npy", "csv"):
            self.assertEqual((self.folder / ("got." + kind)).read_bytes(), (self.folder / ("right." + kind)).read_bytes())

    @case("M13", "no thread can be made")
    def threads(self):
        def prepare():
            nobody()
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        def can_thread(): return subprocess.run(["sh", "-c", "(true); true"], preexec_fn=prepare, capture_output=True).returncode == 0
        self.assertFalse(can_thread(), "the limit has no effect here")
        self.same_with(prepare=prepare)
        self.same_with(prepare=prepare, env={"ATTN_CLI_THREADS": "8"})

    @case("M14", "a stack of 128 KiB")
    def stack(self):
        self.same_with(prepare=limit(resource.RLIMIT_STACK, 128 << 10))
        self.write("deep.json", b"[" * 60 + b"1" + b"]" * 60)
        self.refuse(("compute", "-X", "deep.json"), r"deep\.json", (3, 4), prepare=limit(resource.RLIMIT_STACK, 128 << 10))

    @case("M15", "no file can be opened")
    def descriptors(self):
        self.put(qkv((2, 2), (2, 2), (2, 2)))
        for most in (4, 5, 6):  # below that the system cannot load the program
            self.refuse(QKV, "Too many open files", (3, 5), prepare=limit(resource.RLIMIT_NOFILE, most))


if __name__ == "__main__": run()
