"""The whole run: signals, repeatability, memory errors."""
import os, signal, time

from array_bytes import header, npy
from catalogue import Catalogue, case, run

OUTPUTS = ("w.csv", "w.json", "w.npy", "w.npz", "w.safetensors", "w.png", "w.svg", "w.pdf", "w.html", "w.txt")
EVERYTHING = tuple(word for name in OUTPUTS for word in ("-w", name))
# As much work as takes a few seconds; nothing of it is written before the end.
LONG = ("compute", "-Q", "big.npy", "-K", "big.npy", "-V", "big.npy", "--kernel", "reference", "-o", "old.csv")


class Running(Catalogue):
    CODES = "G01 G02 G03 G05 G06 G07"

    def setUp(self):
        super().setUp()
        self.write("doc.json", {"tokens": ["The", "cat", "is", "cute"], "embeddings": [[1, 0.5], [0.5, 2], [-1, 0.25], [3, 1e-3]]})

    def begin(self):
        """A tool that is at work, and its clean folder."""
        self.write("big.npy", npy(header("(6000, 16)"), bytes(4 * 16 * 6000)))
        before = self.files()
        tool = self.start(LONG)
        while not self.at_work(tool): time.sleep(0.01)
        return tool, before

    def at_work(self, tool):
        """Whether the temporary output stands."""
        if tool.poll() is not None: self.fail("it ended too soon")
        return any(name.startswith(".attn-") for name in self.files())

    def end_by(self, number, *later):
        tool, before = self.begin()
        start = time.monotonic()
        for signal_number in (number, *later): os.kill(tool.pid, signal_number)
        done = self.finish(tool)
        self.assertLess(time.monotonic() - start, 5)  # half a second on a machine with nothing else to do
        self.assertIn(done.code, [-signal_number for signal_number in (number, *later)])  # several may be taken in any order
        self.assertEqual(done.out, "")
        self.assertLessEqual(len(done.err.splitlines()), 1)
        self.assertEqual((self.read("old.csv"), self.files()), ("old\n", before))

    @case("G01", "interrupted")
    def interrupt(self): self.end_by(signal.SIGINT)

    @case("G02", "ended by other signals")
    def ended(self):
        for number in (signal.SIGTERM, signal.SIGHUP): self.end_by(number)

    @case("G02", "interrupted twice")
    def twice(self):
        # Again and again: a second signal that does not wait for the first is caught only now and then.
        for _ in range(8): self.end_by(signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGINT)

    @case("G02", "where the signal is ignored, as under nohup")
    def ignored(self):
        def prepare(): signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self.write("x.npy", npy())
        os.mkfifo(self.folder / "fifo")
        tool = self.start(("compute", "-Q", "x.npy", "-K", "fifo", "-w", "w.csv"), prepare=prepare)
        with open(self.folder / "fifo", "wb") as pipe:
            os.kill(tool.pid, signal.SIGHUP)
            pipe.write(npy())
        self.assertEqual(self.finish(tool).code, 0)

    @case("G03", "stopped and continued")
    def stopped(self):
        self.write("big.npy", npy(header("(3000, 16)"), bytes(range(48)) * 4000))
        words = ("compute", "-X", "big.npy", "--allow-nonfinite")
        self.run_cli(*words, "-w", "right.npy")
        tool = self.start((*words, "-w", "w.npy"))
        for _ in range(5):
            os.kill(tool.pid, signal.SIGSTOP)
            time.sleep(0.02)
            os.kill(tool.pid, signal.SIGCONT)
            time.sleep(0.02)
        done = self.finish(tool)
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual((self.folder / "w.npy").read_bytes(), (self.folder / "right.npy").read_bytes())

    def outputs(self, **env):
        for name in OUTPUTS: (self.folder / name).unlink(missing_ok=True)
        done = self.run_tool("compute", "doc.json", "--causal", *EVERYTHING, env=env)
        self.assertEqual((done.code, done.err), (0, ""))
        return {name: (self.folder / name).read_bytes() for name in OUTPUTS}

    @case("G05", "another time, another place")
    def elsewhere(self):
        right = self.outputs()
        time.sleep(1.1)
        for env in ({"TZ": "Asia/Tokyo"}, {"HOME": None, "XDG_CONFIG_HOME": None}, {"LC_ALL": "C"}, {"USER": "else", "TERM": "dumb"}):
            self.assertEqual(self.outputs(**env), right, env)
        os.mkdir(self.folder / "other")
        os.rename(self.folder / "doc.json", self.folder / "other" / "doc.json")
        self.folder = self.folder / "other"
        self.assertEqual(self.outputs(), right)
        self.folder = self.folder.parent

    @case("G05", "any number of threads")
    def threads(self):
        right = self.outputs()
        for number in ("1", "2", "3", "7"): self.assertEqual(self.outputs(ATTN_CLI_THREADS=number), right, number)

    @case("G06", "memory that is not fresh")
    def perturbed(self):
        right = self.outputs()
        for value in ("1", "170"): self.assertEqual(self.outputs(MALLOC_PERTURB_=value), right, value)

    @case("G07", "small runs under valgrind, failing ones among them")
    def valgrind(self):
        self.write("x.npy", npy())
        self.write("cut.npy", npy()[:-1])
        self.write("bad.json", b'{"query":[[1,2],[3]]}')
        self.write("bad.csv", b"1,2\n3,x\n")
        jobs = [(0, "compute", "doc.json", "-w", "w.json", "-o", "o.csv"), (3, "compute", "-X", "cut.npy", "-w", "w.csv")]
        if os.environ.get("ATTN_FULL") == "yes":
            jobs += [(0, "compute", "doc.json", "-w", "w." + kind) for kind in ("csv", "npy", "npz", "safetensors", "png", "svg", "html", "txt")]
            jobs += [(3, "compute", "bad.json", "-w", "w.csv"), (3, "compute", "-X", "bad.csv", "-w", "w.csv")]
            jobs += [(0, "compute", "-X", "x.npy", "--bundle", "b.npz"), (0, "inspect", "doc.json"), (0, "diff", "x.npy", "x.npy"), (0, "demo"),
                     (2, "compute", "--no-such"), (3, "compute", "-X", "missing.npy"), (4, "compute", "-Q", "x.npy", "-K", "doc.json:embeddings"),
                     (5, "compute", "doc.json", "-w", "no/w.csv"), (6, "compute", "-X", "x.npy", "-w", "w.csv", "--max-memory", "1"),
                     (0, "explain", "doc.json")]
        for code, *words in jobs:
            with self.subTest(words):
                done = self.run_tool(*words, before=("valgrind", "-q", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite"),
                                     timeout=300)
                self.assertEqual(done.code, code, done.err)
                self.assertNotIn("==", done.err)


if __name__ == "__main__": run()
