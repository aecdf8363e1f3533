"""Every system call with which attn-cli touches files fails once, or is where the process is killed.

A first run under strace tells which calls those are; then each of them, in a run of its own, gives an error number or
brings a signal. Opening libraries and fonts is not counted: only what goes to the folder of the job or to a standard
stream. With ATTN_FULL=yes every error number and signal at every call, else a fixed selection.
"""
import re, subprocess, sys, tempfile, unittest

import jobs
from jobs import FULL, Bench, Tally

ERRORS = ("ENOSPC", "EIO", "EDQUOT", "EACCES", "EINTR")
LINE = re.compile(r"^(?:\d+ +)?(\w+)\((.*)$")
# What a signal may interrupt: it is made again, and nobody notices. (POSIX names no such error for the others.)
AGAIN = ("openat", "read", "pread64", "write", "fsync", "close", "rename", "fchmod")
KILLED_BY = re.compile(r"\+\+\+ killed by SIG")


def ptrace_allowed():
    try: return subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True).returncode == 0
    except FileNotFoundError: return False


def ours(folder, call, rest):
    """Whether a call, as strace -y shows it, is about the job's files or standard output."""
    if call == "write" and rest.startswith("1<"): return True
    rest = re.sub(r"AT_FDCWD<[^>]*>", "AT_FDCWD", rest)
    if f"<{folder}" in rest or f'"{folder}' in rest: return True
    path = re.search(r'"([^"]*)"', rest) if re.match(r'(AT_FDCWD, )?"', rest) else None
    return path is not None and not path.group(1).startswith("/")


def calls_of(bench):
    """(call, which of its kind) of each call that counts, in order, in the thread that writes."""
    bench.restore()
    with tempfile.NamedTemporaryFile("r") as log:
        bench.run(["strace", "-qq", "-y", "-s", "400", "-o", log.name, "-e", "trace=%file,%desc,umask"])
        seen, found = {}, []
        for line in log:
            match = LINE.match(line)
            if not match: continue
            call, rest = match.groups()
            seen[call] = seen.get(call, 0) + 1
            if call not in ("execve", "mmap", "poll") and ours(bench.folder, call, rest): found.append((call, seen[call]))
    return found


def faults_of(job, calls):
    """(call, injections, signal or None) of each run. The short run takes one error number for each call, in turn, and
    kills at every other one."""
    for i, (call, which) in enumerate(calls):
        for e, error in enumerate(ERRORS):
            if FULL or e == i % len(ERRORS) and (not job.big or i % 2): yield call, [f"{call}:error={error}:when={which}"], None
        if call in ("write", "fsync", "rename") and (FULL or not job.big): yield call, [f"{call}:error=ENOSPC:when={which}+"], None
        for s, signal in enumerate(("SIGKILL", "SIGTERM")):
            if FULL or i % 4 == 2 * s: yield call, [f"{call}:signal={signal}:when={which}"], signal


class Syscalls(unittest.TestCase):
    def sweep(self, job_list, name):
        if not ptrace_allowed():
            print(f"NOT TESTED: {name}: tracing is not allowed here (ptrace), so no system call was made to fail", flush=True)
            return
        tally = Tally()
        for job in job_list:
            bench = Bench(job)
            self.addCleanup(bench.close)
            calls = calls_of(bench)
            kinds = {call for call, _ in calls}
            if job.outputs: self.assertLessEqual({"openat", "write", "fsync", "close", "fchmod"}, kinds, job.name)
            for call, injections, signal in faults_of(job, calls): self.inject(bench, tally, call, injections, signal)
            bench.close()
        print(tally.line(name), flush=True)
        self.assertFalse(tally.bad(), "\n" + "\n".join(tally.bad()))
        self.assertGreater(tally.faults, 100)

    def inject(self, bench, tally, call, injections, signal):
        bench.restore()
        with tempfile.NamedTemporaryFile("r") as log:
            inject = [word for injection in injections for word in ("-e", "inject=" + injection)]
            done = bench.run(["strace", "-qq", "-o", log.name, "-e", "trace=" + call, *inject])
            text = log.read()
        what = " ".join(injections)
        if "(INJECTED)" not in text and not KILLED_BY.search(text):
            # Of several threads sometimes another one writes.
            if bench.job.name != "two threads": tally.wrong.append(f"{bench.job.name}: {what}: nothing was injected")
            return
        detail = tally.judge(bench, done, what, killed=signal == "SIGKILL", may_die=signal is not None)
        if signal is None and done.returncode not in (bench.job.code, 3, 5, 6): tally.wrong.append(detail)
        if signal == "SIGTERM" and done.returncode not in (bench.job.code, -15): tally.wrong.append(detail)
        if "EINTR" in what and call in AGAIN and done.returncode != bench.job.code: tally.wrong.append(detail)
        # One line says why; a batch says it in its results, and nothing is said where standard error fails as well.
        silent = bench.job.name == "batch" or what.startswith("write") and what.endswith("+")
        if signal is None and done.returncode != bench.job.code and not silent and done.stderr.count(b"attn-cli: error: ") != 1:
            tally.wrong.append(detail)

    def test_every_format(self):
        self.sweep(jobs.format_jobs(), "system calls, every format")

    def test_several_outputs_and_subcommands(self):
        self.sweep(jobs.other_jobs(), "system calls, several outputs and other subcommands")

    def test_a_link_where_names_cannot_be_exchanged(self):
        """--no-clobber on a file system without renameat2's flag, and then the link fails as well."""
        if not ptrace_allowed():
            print("NOT TESTED: links in place of renames: tracing is not allowed here (ptrace)", flush=True)
            return
        tally = Tally()
        bench = Bench(next(job for job in jobs.other_jobs() if job.name == "new only"))
        self.addCleanup(bench.close)
        for error in ERRORS:
            for call in ("link", "unlink"):
                bench.restore()
                done = bench.run(["strace", "-qq", "-o", "/dev/null", "-e", f"trace=renameat2,{call}", "-e", "inject=renameat2:error=EINVAL",
                                  "-e", f"inject={call}:error={error}:when=1"])
                tally.judge(bench, done, f"renameat2 EINVAL, {call} {error}")
        self.assertFalse(tally.bad(), "\n" + "\n".join(tally.bad()))


if __name__ == "__main__": unittest.main(argv=sys.argv)
