"""Inputs that are no ordinary files, and outputs that cannot be written: what the binary says and leaves behind."""
import os, resource, signal, subprocess, sys, threading

from attn_test import BINARY, main
from hostile import Hostile

DOCUMENT = {"tokens": ["The", "cat"], "embeddings": [[1, 0], [0.5, 2]]}
DATA = ("json", "csv", "tsv", "npy", "npz", "safetensors")
PICTURES = ("png", "svg", "pdf", "html", "txt")


def nobody():
    """As root every file can be read and written."""
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)


class Files(Hostile):
    def run_with(self, *args, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, prepare=None, close=None):
        def before():
            if prepare: prepare()
            if close is not None: os.close(close)
        done = subprocess.run([BINARY, *map(str, args)], cwd=self.folder, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE,
                              preexec_fn=before, timeout=60)
        return done.returncode, (done.stdout or b"").decode(), done.stderr.decode()

    def assertOneError(self, code, wanted, err, pattern):
        self.assertEqual(code, wanted, err)
        self.assertEqual(len([l for l in err.splitlines() if l.startswith("attn-cli: error: ")]), 1, err)
        self.assertRegex(err, pattern)

    def setUp(self):
        super().setUp()
        self.write("doc.json", DOCUMENT)
        self.run_cli("compute", "doc.json", "-w", "right.csv")


class Reading(Files):
    def test_what_cannot_be_opened(self):
        os.symlink("b", self.folder / "a")
        os.symlink("a", self.folder / "b")
        os.mkdir(self.folder / "d")
        self.refuse("missing.npy", None, r"'missing\.npy': No such file or directory")
        self.refuse("a", None, "Too many levels of symbolic links")
        self.refuse("d", None, "'d'.*folder")
        self.refuse("/dev/zero", None, r"/dev/zero")
        self.refuse("/proc/self/status", None, r"/proc/self/status", exit=(3, 4))

    def test_no_right_to_read(self):
        os.chmod(self.write("secret.npy", b"x"), 0)
        os.chmod(self.folder, 0o777)
        code, out, err = self.run_with("compute", "secret.npy", prepare=nobody)
        self.assertOneError(code, 3, err, r"'secret\.npy': Permission denied")
        self.assertEqual(out, "")

    def test_endless_devices_as_text(self):
        for name in ("csv", "json", "npy", "npz", "safetensors"):
            self.refuse("/dev/zero", None, "/dev/zero", "-X", "/dev/zero", "--input-format", name)

    def test_pipes_give_what_files_give(self):
        for kind in DATA:
            self.run_cli("compute", "doc.json", "-w", "w." + kind)
            self.run_cli("inspect", "w." + kind, "--json")
            right = self.run_cli("diff", "w." + kind, "right.csv", expect=(0, 1)).code
            with open(self.folder / ("w." + kind), "rb") as file: content = file.read()
            done = self.run_cli("diff", "-", "right.csv", stdin=content, expect=(0, 1))
            self.assertEqual(done.code, right, kind + done.err)


class Writing(Files):
    def outputs(self):
        for kind in DATA + PICTURES: yield kind, ("compute", "doc.json", "--format", kind, "-w")

    def test_a_full_device(self):
        for kind, command in self.outputs():
            with self.subTest(kind):
                code, _, err = self.run_with(*command, "/dev/full")
                self.assertOneError(code, 5, err, "'/dev/full': No space left on device")
                with open("/dev/full", "wb") as full: code, _, err = self.run_with(*command, "-", stdout=full)
                self.assertOneError(code, 5, err, "cannot write standard output: No space left on device")

    def test_a_closed_standard_output(self):
        for kind, command in self.outputs():
            with self.subTest(kind):
                code, _, err = self.run_with(*command, "-", close=1)
                self.assertOneError(code, 5, err, "cannot write standard output: Bad file descriptor")

    def test_a_file_size_limit(self):
        def limit(): resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        for kind, command in self.outputs():
            if kind in ("csv", "tsv"): continue  # fit in
            with self.subTest(kind):
                self.write("out", "old")
                code, _, err = self.run_with(*command, "out", prepare=limit)
                self.assertOneError(code, 5, err, "'out': File too large")
                self.assertEqual(self.read("out"), "old")

    def test_none_is_replaced_when_one_fails(self):
        for name in ("a.csv", "b.json"): self.write(name, "old")
        before = self.files()
        code, _, err = self.run_with("compute", "doc.json", "-w", "a.csv", "-w", "b.json", "-w", "nodir/c.csv")
        self.assertOneError(code, 5, err, r"'nodir/c\.csv': No such file or directory")
        code, _, err = self.run_with("compute", "doc.json", "-w", "a.csv", "-w", "b.json", "--format", "csv", "-w", "/dev/full")
        self.assertOneError(code, 5, err, "/dev/full")
        self.assertEqual((self.read("a.csv"), self.read("b.json"), self.files()), ("old", "old", before))

    def test_no_right_to_write(self):
        os.mkdir(self.folder / "d", 0o555)
        os.chmod(self.folder, 0o755)
        code, _, err = self.run_with("compute", "doc.json", "-w", "d/w.csv", prepare=nobody)
        self.assertOneError(code, 5, err, r"'d/w\.csv': Permission denied")

    def test_a_reader_that_goes_away_is_no_failure(self):
        self.write("out.csv", "old\n")
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "wb") as gone:
            code, _, err = self.run_with("compute", "doc.json", "--format", "csv", "-w", "-", "-w", "out.csv", stdout=gone)
        self.assertEqual((code, err, self.read("out.csv")), (0, "", "old\n"))

    def test_devices_and_fifos_are_written_in_place(self):
        right = self.read("right.csv")
        self.run_cli("compute", "doc.json", "--format", "csv", "-w", "/dev/null")
        self.assertFalse(os.path.isfile("/dev/null"))
        self.assertEqual(self.run_cli("compute", "doc.json", "--format", "csv", "-w", "/dev/stdout").out, right)
        os.mkfifo(self.folder / "fifo")
        got = []
        reader = threading.Thread(target=lambda: got.append(self.read("fifo")))
        reader.start()
        self.run_cli("compute", "doc.json", "--format", "csv", "-w", "fifo")
        reader.join()
        self.assertEqual(got, [right])

    def test_many_at_once_leave_one_whole_file(self):
        tools = [subprocess.Popen([BINARY, "compute", "doc.json", "-w", "out.csv"], cwd=self.folder) for _ in range(4)]
        self.assertEqual([tool.wait(timeout=60) for tool in tools], [0] * 4)
        self.assertEqual(self.read("out.csv"), self.read("right.csv"))
        self.assertFalse([name for name in self.files() if name.startswith(".attn")])

    def test_signals_leave_the_old_file(self):
        self.write("out.csv", "old\n")
        os.mkfifo(self.folder / "slow")
        before = self.files()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Nobody writes to the FIFO, so the tool waits for its second input.
            tool = subprocess.Popen([BINARY, "compute", "-Q", "doc.json", "-K", "slow", "-w", "out.csv"], cwd=self.folder,
                                    stderr=subprocess.DEVNULL)
            try: tool.wait(timeout=0.3)
            except subprocess.TimeoutExpired: pass
            tool.send_signal(number)
            self.assertEqual(tool.wait(timeout=10), -number)
            self.assertEqual((self.read("out.csv"), self.files()), ("old\n", before))


main()
