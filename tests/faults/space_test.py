"""A full disk, a limit of file size, and signals at random times: nothing is lost, nothing is left, and it is said."""
import os, pathlib, random, resource, shutil, signal, subprocess, sys, tempfile, time, unittest

import jobs
from jobs import FULL, OLD, Bench, Tally

# Runs inside a file system of 1 MiB of its own; the folder is its first word, the command follows.
FILLED = """
import os, subprocess, sys
folder, old = sys.argv[1], sys.argv[2].encode()
if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True).returncode: sys.exit(99)
os.chdir(folder)
open("out", "wb").write(old)
with open("filler", "wb", buffering=0) as filler:
    try:
        while True: filler.write(bytes(4096))
    except OSError: pass
done = subprocess.run(sys.argv[3:], capture_output=True, env={**os.environ, "TMPDIR": folder})
kept = open("out", "rb").read() == old and sorted(os.listdir()) == ["filler", "out"]
sys.stdout.write(done.stderr.decode())
sys.exit(done.returncode if kept else 98)
"""


class Space(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(os.path.realpath(tempfile.mkdtemp(prefix="attn-space-")))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def test_a_full_file_system(self):
        document = jobs.SOURCE / "samples" / "cat.json"
        tested = 0
        for kind in jobs.FORMATS:
            done = subprocess.run(["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), sys.executable, "-c", FILLED, self.folder, OLD,
                                   jobs.BINARY, "compute", document, "--format", kind, "-w", "out"], capture_output=True, text=True, timeout=60)
            if done.returncode == 99 or "unshare" in done.stderr:
                print(f"NOT TESTED: a full file system: mounting one is not allowed here: {done.stderr.strip()}", flush=True)
                return
            with self.subTest(kind):
                self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
                self.assertRegex(done.stdout, r"\Aattn-cli: error: cannot write 'out': No space left on device\n\Z")
            tested += 1
        print(f"counts: full file system: {tested} formats, all exit 5", flush=True)

    def test_a_limit_of_file_size(self):
        """From the first byte that does not fit to the last."""
        tally = Tally()
        for job in jobs.format_jobs():
            bench = Bench(job)
            self.addCleanup(bench.close)
            size = len(bench.new[job.outputs[0]])
            for limit in (0, 1, size // 2, size - 1):
                bench.restore()
                done = bench.run([], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
                detail = tally.judge(bench, done, f"{limit} of {size} bytes allowed")
                if done.returncode != 5 or b"File too large" not in done.stderr: tally.wrong.append(detail)
            bench.close()
        print(tally.line("limit of file size"), flush=True)
        self.assertFalse(tally.bad(), "\n" + "\n".join(tally.bad()))

    def test_signals_at_random_times(self):
        tally, late, chance = Tally(), [], random.Random(5)
        job = jobs.Job("signals", ["compute", "-X", "big.npy", "--threads", "2", "--heads", "2", "-w", "w.json", "-w", "w.csv", "-o", "o.npy",
                                   "--heatmap", "h.png"], ["w.json", "w.csv", "o.npy", "h.png"])
        bench = Bench(job)
        self.addCleanup(bench.close)
        start = time.monotonic()
        bench.run([])
        length = time.monotonic() - start
        ended = 0
        for i in range(100 if FULL else 30):
            number = signal.SIGINT if i % 2 else signal.SIGTERM
            point = length * chance.uniform(0, 1.05)
            for attempt in range(3):  # another process may have had the processor
                bench.restore()
                done, took = self.signalled(bench, number, point)
                detail = tally.judge(bench, done, f"signal {number} after {point:.3f} of {length:.3f} s", may_die=done.returncode == -number)
                if took < 0.5: break
            else: late.append(f"{detail}: ended {took:.2f} s after the signal")
            ended += done.returncode == -number
            if done.returncode not in (0, -number): tally.wrong.append(detail)
            if done.stderr.count(b"\n") > 1: tally.wrong.append(detail)
        print(tally.line(f"INT and TERM at random times, {ended} ended by them"), flush=True)
        self.assertFalse(tally.bad() + late, "\n" + "\n".join(tally.bad() + late))
        self.assertGreater(ended, 10)

    def signalled(self, bench, number, point):
        """The run, ended by a signal `point` seconds after its start, and how long it then took to end."""
        tool = subprocess.Popen([jobs.BINARY, *bench.job.words], cwd=bench.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE)
        time.sleep(point)
        tool.send_signal(number)
        sent = time.monotonic()
        _, err = tool.communicate(timeout=60)
        return subprocess.CompletedProcess([], tool.returncode, b"", err), time.monotonic() - sent


if __name__ == "__main__": unittest.main(argv=sys.argv)
