"""What is written: full disks, other writers, readers that go away."""
import os, resource, stat, struct, subprocess, threading

from array_bytes import header, npy
from catalogue import BINARY, Catalogue, case, limit, nobody, run

DATA = ("json", "csv", "tsv", "npy", "npz", "safetensors")
PICTURES = ("png", "svg", "pdf", "html", "txt")
DOCUMENT = {"tokens": ["The", "cat", "is"], "embeddings": [[1, 0], [0.5, 2], [-1, 0.25]]}


class Writing(Catalogue):
    CODES = "O01 O02 O03 O05 O06 O07 O09 O10 O11 O13 O14 O15 O17 O18 O19"

    def setUp(self):
        super().setUp()
        self.write("doc.json", DOCUMENT)

    def each_format(self):
        """The words that write each format to what follows, and what they write."""
        for kind in DATA + PICTURES:
            self.run_cli("compute", "doc.json", "-w", "right." + kind)
            with self.subTest(kind): yield kind, ("compute", "doc.json", "--format", kind, "-w"), (self.folder / ("right." + kind)).read_bytes()

    def refuse_output(self, words, says, **how): return self.refuse(words, says, 5, output=False, **how)

    @case("O01", "standard output on a full device")
    def full_stdout(self):
        for kind, words, _ in self.each_format():
            with open("/dev/full", "wb") as full:
                self.refuse_output((*words, "-"), "cannot write standard output: No space left on device", stdout=full)
        for words in (("inspect", "doc.json"), ("demo",), ("compute", "doc.json"), ("diff", "doc.json", "doc.json"), ("man",), ("explain", "doc.json"),
                      ("completion", "bash"), ("render", "right.csv")):
            with open("/dev/full", "wb") as full: self.refuse_output(words, "cannot write standard output: No space left on device", stdout=full)

    @case("O02", "a file on a full device")
    def full_file(self):
        for kind, words, _ in self.each_format(): self.refuse_output((*words, "/dev/full"), "'/dev/full': No space left on device")

    @case("O03", "a closed standard output")
    def closed_stdout(self):
        def close(): os.close(1)
        for kind, words, _ in self.each_format():
            self.refuse_output((*words, "-"), "cannot write standard output: Bad file descriptor", prepare=close)
        done = self.run_tool("compute", "doc.json", "-w", "w.csv", prepare=close)  # needs none
        self.assertEqual((done.code, done.err, self.read("w.csv")), (0, "", self.read("right.csv")))

    @case("O05", "a limit on the size of files")
    def file_size(self):
        for kind, words, content in self.each_format():
            self.write("out", "old")
            self.refuse_output((*words, "out"), "'out': File too large", prepare=limit(resource.RLIMIT_FSIZE, len(content) // 2))

    @case("O06", "no right to write")
    def read_only(self):
        os.mkdir(self.folder / "d", 0o555)
        os.chmod(self.folder, 0o755)
        self.refuse_output(("compute", "doc.json", "-w", "d/w.csv"), r"'d/w\.csv': Permission denied", prepare=nobody)

    @case("O07", "folders that are in the way, or missing")
    def folders(self):
        os.mkdir(self.folder / "d.csv")
        self.refuse_output(("compute", "doc.json", "-w", "d.csv"), r"'d\.csv': .*(folder|directory)")
        self.refuse_output(("compute", "doc.json", "-w", "no/w.csv"), r"'no/w\.csv': No such file or directory")
        self.refuse_output(("compute", "doc.json", "-w", "doc.json/w.csv"), r"'doc\.json/w\.csv': Not a directory")

    @case("O09", "devices and FIFOs are written in place")
    def in_place(self):
        os.mkfifo(self.folder / "fifo")
        for kind, words, content in self.each_format():
            self.run_cli(*words, "/dev/null")
            self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
            done = self.run_tool(*words, "/dev/stdout")
            self.assertEqual((done.code, done.out_bytes), (0, content), done.err)
            got = []
            reader = threading.Thread(target=lambda: got.append((self.folder / "fifo").read_bytes()))
            reader.start()
            done = self.run_tool(*words, "fifo")
            reader.join()
            self.assertEqual((done.code, got), (0, [content]), done.err)
            self.assertTrue(stat.S_ISFIFO(os.stat(self.folder / "fifo").st_mode))

    @case("O10", "the mode of old files and of new ones")
    def modes(self):
        def mode(name): return stat.S_IMODE(os.stat(self.folder / name).st_mode)
        self.write("old.json", "old")
        for before in (0o600, 0o640, 0o777):
            os.chmod(self.folder / "old.json", before)
            self.run_cli("compute", "doc.json", "-w", "old.json")
            self.assertEqual(mode("old.json"), before)
        for mask, right in ((0o077, 0o600), (0o022, 0o644), (0o002, 0o664)):
            done = self.run_tool("compute", "doc.json", "-w", f"new{mask}.json", prepare=lambda mask=mask: os.umask(mask))
            self.assertEqual((done.code, mode(f"new{mask}.json")), (0, right), done.err)
        os.symlink("old.json", self.folder / "link.json")
        self.write("old.json", "old")
        self.run_cli("compute", "doc.json", "-w", "link.json")
        self.assertTrue((self.folder / "link.json").is_symlink())
        self.assertNotEqual(self.read("old.json"), "old")

    @case("O11", "killed at any call of the system that counts")
    def killed(self):
        self.run_cli("compute", "doc.json", "-w", "right.csv")
        calls, most = "write,fsync,close,rename,renameat,renameat2,fchmod", 200
        for when in range(1, most):
            self.write("out.csv", "old")
            inject = ("strace", "-qq", "-o", "/dev/null", "-e", "trace=" + calls, "-e", f"inject={calls}:signal=SIGKILL:when={when}")
            done = self.run_tool("compute", "doc.json", "-w", "out.csv", before=inject)
            self.assertIn(self.read("out.csv"), ("old", self.read("right.csv")), when)
            left = [name for name in self.files() if name not in ("doc.json", "out.csv", "old.csv", "right.csv")]
            self.assertTrue(all(name.startswith(".attn-") for name in left) and len(left) <= 1, left)
            for name in left: os.unlink(self.folder / name)
            if done.code == 0: break
            self.assertEqual(done.code, -9, done.err)
        self.assertLess(when, most - 1)
        self.assertGreater(when, 5)

    @case("O13", "several at once on one file")
    def together(self):
        for kind, words, content in self.each_format():
            tools = [self.start((*words, "out")) for _ in range(4)]
            self.assertEqual([self.finish(tool).code for tool in tools], [0] * 4)
            self.assertEqual((self.folder / "out").read_bytes(), content)
        self.assertFalse([name for name in self.files() if name.startswith(".attn")])

    @case("O14", "a reader that goes away")
    def gone(self):
        self.write("big.csv", "".join(f"{i},{i % 7}\n" for i in range(3000)))
        for words in ('compute -X big.csv --format csv -w -', 'compute -X big.csv --format npy -w -', "inspect big.csv", "man"):
            done = subprocess.run(["bash", "-c", f'"$0" {words} | head -c 1 > /dev/null; echo ${{PIPESTATUS[0]}}', BINARY], cwd=self.folder,
                                  capture_output=True, timeout=60)
            self.assertIn(done.stdout, (b"0\n", b"141\n"), words)
            self.assertEqual(done.stderr, b"", words)

    @case("O15", "the same where the signal is ignored")
    def gone_quietly(self):
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "wb") as pipe:
            done = self.run_tool("compute", "doc.json", "--format", "csv", "-w", "-", "-w", "old.csv", stdout=pipe)
        self.assertEqual((done.code, done.err, self.read("old.csv")), (0, "", "old\n"))
        self.assertEqual(self.files(), ["doc.json", "old.csv"])

    @case("O17", "three outputs of which one cannot be written")
    def all_or_none(self):
        for name in ("a.csv", "b.json"): self.write(name, "old")
        for third in (("-w", "no/c.csv"), ("--format", "csv", "-w", "/dev/full")):
            self.refuse_output(("compute", "doc.json", "-w", "a.csv", "-w", "b.json", *third), "No such file or directory|No space left")

    @case("O18", "fsync that fails")
    def fsync(self):
        def inject(error): return ("strace", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e", f"inject=fsync:error={error}")
        self.write("out.csv", "old")
        self.refuse_output(("compute", "doc.json", "-w", "out.csv"), r"'out\.csv': Input/output error", before=inject("EIO:when=1"))
        for error in ("EINVAL", "EOPNOTSUPP"):  # file systems that cannot
            done = self.run_tool("compute", "doc.json", "-w", "out.csv", before=inject(error))
            self.assertEqual((done.code, done.err), (0, ""))

    @case("O19", "what is written reads back bit for bit")
    def round_trip(self):
        numbers = [1.1, -0.0, 1e-40, 3.4028234663852886e38, 2.0**-149, -7.25, 1 / 3, 2.0**-126, 1e10, 123456.789, 5e-39, -2.0**-149]
        data = struct.pack("<12f", *numbers)
        self.write("x.npy", npy(header("(4, 3)"), data))
        for kind in DATA:
            with self.subTest(kind):
                self.run_cli("compute", "-Q", "x.npy", "-K", "x.npy", "--scale", "0", "--present-key", "p." + kind, "-w", "w.csv")
                self.run_cli("diff", "p." + kind, "x.npy", "--atol", "0", "--rtol", "0")
                self.run_cli("compute", "-Q", "p." + kind, "-K", "p." + kind, "--scale", "0", "--precision", "float32", "--present-key", "back.npy",
                             "-w", "w.csv")
                back = (self.folder / "back.npy").read_bytes()[-len(data):]
                right = data if kind not in ("json", "csv", "tsv") else struct.pack("<12f", *[x + 0.0 for x in numbers])  # text has no -0
                self.assertEqual(back, right)


if __name__ == "__main__": run()
