"""Small jobs whose runs are made to fail, and what each must leave: every output old or new, never in between."""
import dataclasses, os, pathlib, random, shutil, struct, subprocess, tempfile

from attn_test import BINARY, SOURCE

FULL = os.environ.get("ATTN_FULL") == "yes"
FORMATS = ("json", "csv", "tsv", "npy", "npz", "safetensors", "png", "svg", "pdf", "html", "txt")
PICTURES = ("png", "svg", "pdf", "html", "txt")
# Long enough that a file of it is not taken for any new one.
OLD = b"what stood here before\n" * 3


@dataclasses.dataclass
class Job:
    """One run of attn-cli: its words, the files that it is to make, and whether it writes to standard output."""
    name: str
    words: list
    outputs: list = dataclasses.field(default_factory=list)
    stdout: bool = False
    code: int = 0
    big: bool = False  # takes long: only some faults in the short run


def compute(name, *words, outputs, **more):
    return Job(name, ["compute", "doc.json", "--causal", "--threads", "1", *words], list(outputs), **more)


def format_jobs():
    """The weights in every format there is."""
    return [compute(kind, "-w", f"w.{kind}", outputs=[f"w.{kind}"], big=kind in PICTURES[:3]) for kind in FORMATS]


def other_jobs():
    """Runs with several outputs, with standard output, with spools, and the other subcommands."""
    return [
        compute("several", "-w", "w.csv", "-w", "w.json", "-o", "o.npy", "--lse", "l.csv", "--scores", "s.npz", "--heatmap", "h.txt",
                outputs=["w.csv", "w.json", "o.npy", "l.csv", "s.npz", "h.txt"]),
        compute("two folders", "-w", "sub/w.npy", "-o", "o.csv", outputs=["sub/w.npy", "o.csv"]),
        compute("bundle npz", "--bundle", "b.npz", outputs=["b.npz"]),
        compute("bundle safetensors", "--bundle", "b.safetensors", outputs=["b.safetensors"]),
        compute("bundle json", "--bundle", "b.json", outputs=["b.json"]),
        compute("standard output", "-w", "-", "--format", "csv", "-o", "o.npy", outputs=["o.npy"], stdout=True),
        compute("summary", outputs=[], stdout=True),
        # Spools become files when they pass a MiB.
        Job("spooled", ["compute", "-X", "big.npy", "--threads", "1", "-w", "-", "--format", "npy", "-o", "o.npy"], ["o.npy"], stdout=True),
        Job("spooled bundle", ["compute", "-X", "big.npy", "--threads", "1", "--bundle", "b.npz"], ["b.npz"]),
        Job("two threads", ["compute", "-X", "big.npy", "--threads", "2", "-w", "w.npy", "-o", "o.csv"], ["w.npy", "o.csv"]),
        Job("render", ["render", "right.csv", "-o", "r.html", "--threads", "1"], ["r.html"]),
        Job("diff", ["diff", "right.csv", "right.csv", "--heatmap", "d.txt", "--threads", "1"], ["d.txt"], stdout=True),
        Job("explain", ["explain", "doc.json", "--html", "e.html", "--threads", "1"], ["e.html"], stdout=False),
        Job("inspect", ["inspect", "right.csv", "--threads", "1"], stdout=True),
        Job("demo", ["demo", "-o", "demo", "--threads", "1"], [f"demo/{name}" for name in ("document.json", "weights.json", "weights.csv", "heatmap.png")], big=True),
        Job("batch", ["batch", "jobs.jsonl", "--threads", "1"], ["b1.csv", "b1.html", "b2.npy"]),
        Job("new only", ["compute", "doc.json", "--threads", "1", "--no-clobber", "-w", "new.csv"], ["new.csv"]),
    ]


class Bench:
    """A folder in which one job is run again and again, each time from the same start."""

    def __init__(self, job, old=True):
        self.job = job
        self.old = old and job.name != "new only"  # whether the outputs exist before a run
        self.folder = pathlib.Path(os.path.realpath(tempfile.mkdtemp(prefix="attn-fault-")))
        self.inputs()
        self.kept = self.listing()
        self.restore()
        done = self.run([])
        if done.returncode != job.code: raise AssertionError(f"{job.name}: exit {done.returncode} without a fault\n{done.stderr.decode()}")
        self.new, self.new_stdout = self.contents(), done.stdout
        missing = [name for name, content in self.new.items() if content in (None, OLD)]
        if missing: raise AssertionError(f"{job.name}: {missing} were not written without a fault")

    def inputs(self):
        write = lambda name, text: (self.folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
        for name in ("sub", "demo"): (self.folder / name).mkdir()
        shutil.copy(SOURCE / "samples" / "cat.json", self.folder / "doc.json")
        write("right.csv", "query,a,b\na,1,0\nb,0.25,0.75\n")
        write("jobs.jsonl", '{"command":"compute","input":"doc.json","weights":["b1.csv","b1.html"]}\n'
                            '{"command":"compute","input":"doc.json","output":"b2.npy"}\n')
        head = "{'descr': '<f4', 'fortran_order': False, 'shape': (600, 4), }"
        head += " " * (-(len(head) + 11) % 64) + "\n"
        numbers = random.Random(7)
        write("big.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() +
              struct.pack("<2400f", *(numbers.gauss(0, 1) for _ in range(2400))))

    def listing(self):
        return {str(p.relative_to(self.folder)) for p in self.folder.rglob("*")}

    def contents(self):
        read = lambda path: path.read_bytes() if path.is_file() else None
        return {name: read(self.folder / name) for name in self.job.outputs}

    def restore(self):
        """Inputs and old outputs as before the first run, and nothing else."""
        for name in self.listing() - self.kept:
            if name not in self.job.outputs: (self.folder / name).unlink()
        for name in self.job.outputs:
            if self.old: (self.folder / name).write_bytes(OLD)
            else: (self.folder / name).unlink(missing_ok=True)

    def run(self, wrapper, env=None, **more):
        """The job, with `wrapper` before its words."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith("ATTN_CLI_")}
        clean.update({"HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder / ".config"), "TMPDIR": str(self.folder),
                      "LC_ALL": "C", **(env or {})})
        # A font cache of its own for every folder would be written, by a library, in the middle of what is watched.
        clean.setdefault("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
        more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, "timeout": 600, **more}
        return subprocess.run([*wrapper, BINARY, *self.job.words], cwd=self.folder, env=clean, **more)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def whole(name, content):
    """Whether a picture is complete."""
    ends = {"png": b"IEND\xaeB`\x82", "svg": b"</svg>\n", "pdf": b"%%EOF\n"}
    kind = name.rsplit(".", 1)[1]
    return content is not None and content.endswith(ends[kind]) and (kind != "pdf" or pdf_objects_stand_where_they_should(content))


def pdf_objects_stand_where_they_should(pdf):
    table = pdf[int(pdf[pdf.rindex(b"startxref\n") + 10:].split()[0]):].split(b"\n")
    entries = [entry.split() for entry in table[2:2 + int(table[1].split()[1])]]
    return all(kind == b"f" or pdf[int(place):].startswith(b"%d 0 obj" % i) for i, (place, _, kind) in enumerate(entries))


@dataclasses.dataclass
class Tally:
    """What came of the faults of one sweep; the descriptions of those that broke a promise."""
    faults: int = 0
    killed: int = 0
    refused: int = 0
    survived: int = 0
    left_by_kill: int = 0
    left_by_crash: int = 0
    differing: int = 0
    hung: int = 0
    destroyed: list = dataclasses.field(default_factory=list)
    false_success: list = dataclasses.field(default_factory=list)
    temporaries: list = dataclasses.field(default_factory=list)
    crashes: list = dataclasses.field(default_factory=list)
    wrong: list = dataclasses.field(default_factory=list)

    def judge(self, bench, done, what, killed=False, may_die=False, may_differ=False):
        """Looks at the folder after a run with a fault. `killed`: by SIGKILL, so that a temporary file may be left.
        `may_differ`: a whole picture that is not the right one, byte for byte, is only counted."""
        self.faults += 1
        code, contents = done.returncode, bench.contents()
        old = OLD if bench.old else None
        if may_differ and contents != bench.new and all(whole(n, c) for n, c in contents.items()):
            self.differing += 1
            contents = bench.new
        whole_new = contents == bench.new and (not bench.job.stdout or done.stdout == bench.new_stdout)
        detail = f"{bench.job.name}: {what}: exit {code}: {done.stderr.decode(errors='replace')[-300:]}"
        for name, content in contents.items():
            if content not in (old, bench.new[name]): self.destroyed.append(f"{detail}: {name}")
        if bench.job.stdout and not bench.new_stdout.startswith(done.stdout): self.destroyed.append(f"{detail}: standard output")
        left = bench.listing() - bench.kept - set(bench.job.outputs)
        if killed:
            self.killed += 1
            self.left_by_kill += len(left)
            left = {name for name in left if not pathlib.Path(name).name.startswith(".attn-")}
        if may_die and code == -11:
            # GLib answers a lack of memory by calling itself until the stack is full. In a thread of Pango's own no
            # handler can run then.
            self.left_by_crash += len(left)
            left = {name for name in left if not pathlib.Path(name).name.startswith(".attn-")}
        if left: self.temporaries.append(f"{detail}: {sorted(left)}")
        if code == bench.job.code:
            self.survived += 1
            if not whole_new: self.false_success.append(detail)
        elif code > 0: self.refused += 1
        if code in (70, 126, 127) or (code < 0 and not killed and not may_die): self.crashes.append(detail)
        return detail

    def bad(self):
        return [f"{kind}: {text}" for kind in ("destroyed", "false_success", "temporaries", "crashes", "wrong") for text in getattr(self, kind)]

    def line(self, name):
        return (f"counts: {name}: {self.faults} faults ({self.refused} refused, {self.survived} survived, {self.killed} killed), "
                f"destroyed {len(self.destroyed)}, false success {len(self.false_success)}, temporaries left {len(self.temporaries)}, "
                f"crashes {len(self.crashes)}, temporaries of SIGKILL {self.left_by_kill}" +
                (f", of crashes in threads of libraries {self.left_by_crash}" if self.left_by_crash else "") +
                (f", pictures that differ {self.differing}" if self.differing else "") +
                (f", waits without end in libraries {self.hung}" if self.hung else ""))
