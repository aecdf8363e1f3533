"""What is read: files, pipes, devices."""
import os, signal, subprocess, threading, time

from array_bytes import header, npy, npz, safetensors, tensor, SIX
from catalogue import BINARY, Catalogue, case, feed, nobody, refused, run


class Reading(Catalogue):
    CODES = "F01 F02 F03 F05 F06 F07 F09 F10 F11 F13 F14 F15"
    CASES = [
        refused("F01", "a file that is not there", {}, r"cannot open 'missing\.npy': No such file or directory", "compute", "-X", "missing.npy"),
        refused("F01", "a document that is not there", {}, r"cannot open 'missing\.json': No such file or directory", "compute", "missing.json"),
        refused("F06", "a file whose size says nothing", {}, "/proc/self/status", "compute", "-X", "/proc/self/status", exit=(3, 4)),
        *[refused("F07", f"an endless device as {kind or 'anything'}", {}, device, "compute", "-X", device, *(("--input-format", kind) if kind else ()))
          for device in ("/dev/zero", "/dev/urandom") for kind in ("", "csv", "json", "npy", "npz", "safetensors")],
        refused("F07", "a device that is empty", {}, "/dev/null: empty file", "compute", "-X", "/dev/null"),
    ]

    @case("F02", "a folder")
    def folder_as_file(self):
        os.mkdir(self.folder / "d.npy")
        self.refuse(("compute", "-X", "d.npy"), r"'d\.npy'.*folder", 3)
        self.refuse(("compute", "."), r"'\.'.*folder", 3)

    @case("F03", "no right to read")
    def secret(self):
        os.chmod(self.write("secret.npy", npy()), 0)
        os.chmod(self.folder, 0o777)
        self.refuse(("compute", "-X", "secret.npy"), r"'secret\.npy': Permission denied", 3, prepare=nobody)

    @case("F05", "pipes of every kind")
    def pipes(self):
        rows = [[i / 8, 1 - i / 4] for i in range(20)]
        self.write("x.json", rows)
        self.run_cli("compute", "-X", "x.json", "--precision", "float64", "-w", "right.csv")
        for kind in ("npy", "npz", "safetensors", "csv", "json"):
            self.run_cli("compute", "-X", "x.json", "--present-key", "x." + kind, "-w", "w.csv")
            content = (self.folder / ("x." + kind)).read_bytes()
            for name in ("-", "/dev/stdin"):
                self.run_cli("compute", "-X", name, "-w", "w.csv", stdin=content)
                self.assertEqual(self.read("w.csv"), self.read("right.csv"), (kind, name))
            done = subprocess.run(["bash", "-c", f'"$0" compute -X <(cat x.{kind}) -w w.csv', BINARY], cwd=self.folder, capture_output=True)
            self.assertEqual((done.returncode, self.read("w.csv")), (0, self.read("right.csv")), done.stderr)

    @case("F05", "a pipe that gives a byte at a time")
    def slow(self):
        self.write("x.npy", npy())
        self.run_cli("compute", "-X", "x.npy", "-w", "right.csv")
        tool = self.start(("compute", "-X", "-", "-w", "w.csv"), stdin=subprocess.PIPE, bufsize=0)
        done = self.finish(tool, (bytes([byte]) for byte in npy()))
        self.assertEqual((done.code, self.read("w.csv")), (0, self.read("right.csv")), done.err)

    @case("F05", "standard input that was read in part")
    def rest(self):
        self.write("x.csv", "skipped\n1,2\n3,4\n")
        self.write("plain.csv", "1,2\n3,4\n")
        for name in ("plain.csv", "x.csv"):
            with open(self.folder / name, "rb", buffering=0) as file:
                if name == "x.csv": file.read(len("skipped\n"))
                done = self.finish(self.start(("compute", "-X", "-", "-w", name + ".w.csv"), stdin=file))
            self.assertEqual(done.code, 0, done.err)
        self.assertEqual(self.read("x.csv.w.csv"), self.read("plain.csv.w.csv"))

    @case("F09", "links that lead nowhere")
    def links(self):
        for name, target in (("a", "b"), ("b", "a"), ("gone", "nothing.npy")): os.symlink(target, self.folder / name)
        self.refuse(("compute", "-X", "a"), "'a': Too many levels of symbolic links", 3)
        self.refuse(("compute", "-X", "gone"), "'gone': No such file or directory", 3)

    @case("F10", "a file that becomes shorter while it is read")
    def shrinks(self):
        os.mkfifo(self.folder / "fifo")
        for name, content in (("a.npy", npy()), ("a.safetensors", safetensors({"a": tensor()}, SIX)), ("a.npz", npz([("a.npy", npy())]))):
            path = self.write(name, content)
            tool = self.start(("diff", name, "fifo"))
            with open(self.folder / "fifo", "wb") as pipe:  # opens when the tool has opened the first file
                os.truncate(path, len(content) // 4)
                pipe.write(b"[[0,1,2],[3,4,5]]")
            done = self.finish(tool)
            self.assertEqual(done.code, 3, done.err)
            self.assertRefusal(done, f"{name}.*changed while it was read")

    @case("F11", "an error of the disk")
    def io_error(self):
        self.refuse(("compute", "-X", "/proc/self/mem"), "cannot read '/proc/self/mem': Input/output error", 3)
        self.write("x.npy", npy())
        for when in (1, 2, 3):
            self.refuse(("compute", "-X", "x.npy"), r"cannot read 'x\.npy': Input/output error", 3, before=self.inject(f"EIO:when={when}"))

    def inject(self, error):
        """Reads of x.npy that fail."""
        return ("strace", "-qq", "-o", "/dev/null", "-P", str(self.folder / "x.npy"), "-e", "trace=pread64", "-e", "inject=pread64:error=" + error)

    @case("F11", "a read that is interrupted")
    def interrupted(self):
        self.write("x.npy", npy())
        self.run_cli("compute", "-X", "x.npy", "-w", "right.csv")
        for when in (1, 2, 3):
            done = self.run_tool("compute", "-X", "x.npy", "-w", "w.csv", before=self.inject(f"EINTR:when={when}"))
            self.assertEqual((done.code, self.read("w.csv")), (0, self.read("right.csv")), done.err)

    @case("F13", "a terminal as input")
    def terminal(self):
        leader, follower = os.openpty()
        try: self.refuse_with_stdin(follower)
        finally: os.close(leader), os.close(follower)

    def refuse_with_stdin(self, stdin):
        done = self.finish(self.start(("compute", "-X", "-", "-w", "w.csv"), stdin=stdin))
        self.assertEqual(done.code, 2, done.err)
        self.assertRefusal(done, "standard input.* terminal")

    @case("F14", "one pipe for several inputs")
    def shared(self):
        os.mkfifo(self.folder / "f")
        says = "f is named for more than one input"
        for words in (("-Q", "f", "-K", "f", "-V", "f"), ("f", "-Q", "f"), ("-X", "f", "--tokens", "@f"), ("-X", "f", "--mask", "f"),
                      ("-X", "f", "--projections", "f"), ("f", "--key-lengths", "@f"), ("-Q", "f:q", "-K", "f:k")):
            with self.subTest(words): self.refuse(("compute", *words), says, 2)  # nobody writes: it would wait
        self.refuse(("diff", "f", "f"), says, 2)
        self.refuse(("compute", "-Q", "-", "-K", "-"), "standard input", 2, stdin=b"[[1]]")

    @case("F15", "a file of 5 GiB")
    def huge(self):
        for name, content in (("x.npy", npy(header("(1342177280, 1)"), b"")),
                              ("x.safetensors", safetensors({"x": tensor((1342177280, 1), (0, 5 << 30))}))):
            path = self.write(name, content)
            with open(path, "r+b") as file: file.truncate(len(content) + (5 << 30))
            self.refuse(("compute", "-X", name, "--max-memory", "128M"), "needs 5 GiB of memory, the limit is 128 MiB", 6, memory=64 << 10)


if __name__ == "__main__": run()
