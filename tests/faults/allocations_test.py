"""Every allocation of a dozen small runs fails, once or from then on: memory is short, and the answer is exit 6 or right.

failing_allocator.cpp stands before malloc and tells our own allocations from those of Pango, cairo, fontconfig and GLib.
Where one of ours fails, the run says so (exit 6) or does without. Where one of theirs fails they may end the process, but
the old file stands and no temporary is left, unless a thread of theirs ran out of stack. They also go on after a single
one that failed, with another font or without a glyph: such a picture is whole, yet not the same; it is counted, and so is a run that waits for itself. With
ATTN_FULL=yes every allocation of ours and a thousand of theirs for each format, else a fixed selection.
"""
import os, random, struct, subprocess, sys, tempfile, unittest

import jobs
from jobs import FULL, Bench, Job, Tally

SHIM = os.environ.get("ATTN_FAILING_ALLOCATOR", "")
# How many faults of each job and kind the short run takes.
SHORT = {"own": 24, "library": 10}
# What every run does with its words before it looks at its inputs is swept to the end in the first job only.
FULL_FROM_START = ("csv", "inspect", "diff", "render", "explain", "batch", "demo")
SECONDS = {"own": 300, "library": 30}


def all_jobs():
    return [*jobs.format_jobs(),
            *(job for job in jobs.other_jobs() if job.name in
              ("several", "bundle npz", "bundle safetensors", "bundle json", "standard output", "summary", "inspect", "diff", "render",
               "explain", "demo", "batch")),
            Job("float32 tiles", ["compute", "-X", "big.npy", "--threads", "1", "-o", "t.npy"], ["t.npy"]),
            Job("a refusal", ["compute", "doc.json", "--heads", "3", "-w", "w.csv"], code=4)]


def draws(job):
    """Whether Pango, cairo and fontconfig take part, which allocate through the C library too."""
    return job.name == "demo" or any(str(word).endswith((".png", ".svg", ".pdf")) for word in job.words)


class Allocations(unittest.TestCase):
    def setUp(self):
        self.assertTrue(os.path.exists(SHIM), "ATTN_FAILING_ALLOCATOR is to name the built failing_allocator")

    def counted(self, bench, who="own", at=0, ever=False):
        """One run; returns what was done and the two counts (our own, of libraries)."""
        with tempfile.NamedTemporaryFile() as counts:
            counts.write(bytes(16))
            counts.flush()
            bench.restore()
            env = {"LD_PRELOAD": SHIM, "ATTN_FAULTS_COUNT": counts.name, "ATTN_FAULTS_WHO": who, "ATTN_FAULTS_AT": str(at),
                   "ATTN_FAULTS_EVER": str(int(ever))}
            if not draws(bench.job): env["ATTN_FAULTS_LIBC"] = "1"
            try: done = bench.run([], env=env, timeout=SECONDS[who])
            except subprocess.TimeoutExpired: done = None
            with open(counts.name, "rb") as file: return done, struct.unpack("<2Q", file.read(16))

    def sweep(self, job_list, who, numbers_of):
        tally = Tally()
        for job in job_list:
            bench = Bench(job)
            self.addCleanup(bench.close)
            _, counts = self.counted(bench)
            for at in numbers_of(job, counts[who == "library"]):
                for ever in (False, True): self.fault(bench, tally, who, at, ever)
            bench.close()
        print(tally.line(f"allocations, {who}"), flush=True)
        self.assertFalse(tally.bad(), "\n" + "\n".join(tally.bad()))
        return tally

    def fault(self, bench, tally, who, at, ever):
        done, counts = self.counted(bench, who, at, ever)
        what = f"allocation {at} of {who}{' and all after it' if ever else ''}"
        if done is None and who == "library":
            # fontconfig keeps a lock when its cache finds no memory, and then waits for itself: the user ends such a run.
            tally.hung += 1
            tally.judge(bench, subprocess.CompletedProcess([], -9, b"", b""), what, killed=True)
            return
        if done is None:
            tally.faults += 1
            tally.wrong.append(f"{bench.job.name}: {what}: still running after {SECONDS[who]} s")
            return
        if counts[who == "library"] < at: return  # a thread took another turn and came by with fewer
        detail = tally.judge(bench, done, what, may_die=who == "library", may_differ=who == "library" and not ever)
        if who == "own" and done.returncode not in (bench.job.code, 6): tally.wrong.append(detail)

    def test_our_own(self):
        first = {}
        def numbers(job, count):
            word = job.words[0]
            start = 1 if job.name in FULL_FROM_START else first.get(word, 1)
            # The words of the first job of this subcommand were looked at by most of its allocations.
            first.setdefault(word, max(1, count - 700))
            if FULL: return range(start, count + 1)
            chosen = random.Random(job.name)
            # The last ones of a PDF are zlib's, for fonts that cairo would leave out without a word.
            last = range(count - 15, count + 1) if job.name == "pdf" else ()
            return sorted({*chosen.sample(range(1, count + 1), SHORT["own"] // 3), *chosen.sample(range(start, count + 1), SHORT["own"]), *last})
        ordered = sorted(all_jobs(), key=lambda job: job.name not in FULL_FROM_START)
        self.assertGreater(self.sweep(ordered, "own", numbers).faults, 500)

    def test_of_the_libraries_that_draw(self):
        def numbers(job, count):
            return random.Random(job.name).sample(range(1, count + 1), min(count, 1000 if FULL else SHORT["library"]))
        drawn = [job for job in jobs.format_jobs() if job.name in ("png", "svg", "pdf")]
        self.assertGreater(self.sweep(drawn, "library", numbers).faults, 30)


if __name__ == "__main__": unittest.main(argv=sys.argv)
