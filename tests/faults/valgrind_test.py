"""Small runs of every subcommand, and refusals of every kind, under valgrind: nothing uninitialised is looked at, and
what a failed run allocated is given back. Only with ATTN_FULL=yes: each run takes seconds.

What Pango, fontconfig and GLib keep until the process ends is left out (tests/support/valgrind.supp)."""
import os, subprocess, sys, unittest

import jobs
from jobs import FULL, Bench, Job

SUPPRESSIONS = jobs.SOURCE / "tests" / "support" / "valgrind.supp"
FOUND = 99  # the exit code that says that valgrind found something


def good_jobs():
    yield from jobs.format_jobs()
    yield from jobs.other_jobs()
    yield Job("tiles", ["compute", "-X", "big.npy", "--threads", "2", "--causal", "-o", "o.npy"], ["o.npy"])
    yield Job("tiles of sse2", ["compute", "-X", "big.npy", "--threads", "1", "--heads", "2", "-o", "o.npy"], ["o.npy"])
    yield Job("at", ["explain", "doc.json", "--at", "1,0"], stdout=True)
    yield Job("help", ["compute", "--help"], stdout=True)
    yield Job("completion", ["completion", "bash"], stdout=True)
    yield Job("man", ["man"], stdout=True)


def refusals():
    """Words and the exit code; each fails at another stage."""
    for code, *words in ((2, "compute", "--heads", "x", "doc.json"), (2, "compute", "--haeds", "2"), (3, "compute", "missing.json"),
                         (3, "compute", "bad.json", "-w", "w.csv"), (3, "compute", "-X", "cut.npy"), (3, "compute", "cut.npz"),
                         (3, "compute", "cut.safetensors"), (3, "render", "ragged.csv"), (4, "compute", "doc.json", "--heads", "3"),
                         (4, "compute", "nan.json", "-w", "w.csv"), (4, "compute", "doc.json", "--mask", "right.csv"),
                         (5, "compute", "doc.json", "-w", "no/w.csv"), (5, "compute", "doc.json", "-w", "w.csv", "--format", "csv", "-w", "/dev/full"),
                         (5, "compute", "doc.json", "--format", "png", "-w", "/dev/full"), (6, "compute", "-X", "big.npy", "--max-memory", "1K"),
                         (1, "diff", "right.csv", "other.csv"), (3, "batch", "nojobs.jsonl"), (2, "nonsense")):
        yield Job(f"refusal {' '.join(words)}", list(words), code=code)


def damaged_inputs(bench):
    """Cut and malformed files of every format, beside the good ones."""
    write = lambda name, content: (bench.folder / name).write_bytes(content)
    write("bad.json", b'{"query": [[1, 2], [3, ]]}')
    write("nan.json", b'{"embeddings": [[1, "NaN"], [0, 1]], "tokens": ["a", "b"]}')
    write("ragged.csv", b"1,2\n3\n")
    write("other.csv", b"query,a,b\na,1,0\nb,0.5,0.5\n")
    write("cut.npy", (bench.folder / "big.npy").read_bytes()[:-7])
    for kind in ("npz", "safetensors"):
        subprocess.run([jobs.BINARY, "compute", "doc.json", "--bundle", f"whole.{kind}"], cwd=bench.folder, check=True, capture_output=True)
        write(f"cut.{kind}", (bench.folder / f"whole.{kind}").read_bytes()[:-40])


class Valgrind(unittest.TestCase):
    def test_good_runs_and_refusals(self):
        if not FULL:
            print("runs under valgrind: with --full only", flush=True)
            return
        found, runs = [], 0
        bench = Bench(Job("none", ["--version"], stdout=True))
        self.addCleanup(bench.close)
        damaged_inputs(bench)
        for job in [*good_jobs(), *refusals()]:
            bench.job = job
            env = {"ATTN_CLI_SIMD": "sse2"} if "sse2" in job.name else {}
            done = bench.run(["valgrind", "-q", f"--error-exitcode={FOUND}", "--leak-check=full", "--show-leak-kinds=definite,indirect",
                              "--errors-for-leak-kinds=definite", f"--suppressions={SUPPRESSIONS}", "--child-silent-after-fork=yes"],
                             env=env, timeout=600)
            runs += 1
            if done.returncode != job.code: found.append(f"{job.name}: exit {done.returncode}, expected {job.code}\n{done.stderr.decode()[-3000:]}")
        print(f"counts: valgrind: {runs} runs, {len(found)} with findings", flush=True)
        self.assertFalse(found, "\n" + "\n".join(found))
        self.assertGreaterEqual(runs, 40)


if __name__ == "__main__": unittest.main(argv=sys.argv)
