"""The same job leaves the same bytes: whatever the number of threads, the folder, the time, the locale, and what the
memory held before.

MALLOC_PERTURB_ fills memory that malloc gives and that free takes back, so that a result made of what happened to be
there would change. With ATTN_FULL=yes 200 jobs in every surrounding, else a dozen in each kind of them.
"""
import hashlib, itertools, os, pathlib, random, shutil, struct, subprocess, sys, tempfile, unittest

from attn_test import BINARY, SOURCE
from jobs import FULL

THREADS = (1, 2, 3, 7)
PERTURB = (None, 1, 170)
LOCALES = ("C", "de_DE.UTF-8")
FORMATS = ("json", "csv", "npy", "npz", "safetensors", "png", "svg", "pdf", "html", "txt")
PICTURES = ("png", "svg", "pdf", "html", "txt")


def npy(shape, numbers):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (shape,)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(numbers)}f", *numbers)


def random_job(random):
    """Words of compute over the inputs below: a shape, what shapes the attention, and some outputs."""
    words = ["compute", "-X", random.choice(("small.npy", "odd.npy", "long.npy")), "--heads", random.choice(("1", "2", "4"))]
    for choice in (["--causal"], ["--window", "5,2"], ["--softcap", "3.5"], ["--alibi"], ["--scale", "0.37"], ["--precision", "float64"],
                   ["--kernel", "reference"], ["--align", "bottom-right"]):
        if random.random() < 0.25: words += choice
    outputs = [f"w.{random.choice(FORMATS)}"]
    words += ["-w", outputs[0]]
    if outputs[0].endswith(PICTURES) and random.random() < 0.5: words += ["--reduce", "mean"]
    for option, names in (("-o", ("o.npy", "o.csv", "o.json")), ("--lse", ("l.csv", "l.npz")), ("--scores", ("s.npy", "s.json")),
                          ("--bundle", ("b.npz", "b.safetensors"))):
        if random.random() < 0.35:
            outputs.append(random.choice(names))
            words += [option, outputs[-1]]
    return words, outputs


def fixed_jobs():
    """A dozen: every format, several outputs, the other subcommands."""
    doc = ["compute", "doc.json", "--causal"]
    yield [*doc, *(word for kind in FORMATS for word in ("-w", f"w.{kind}"))], [f"w.{kind}" for kind in FORMATS]
    yield ["compute", "-X", "long.npy", "--heads", "2", "-w", "w.npy", "-o", "o.csv", "--lse", "l.json"], ["w.npy", "o.csv", "l.json"]
    yield ["compute", "-X", "odd.npy", "--heads", "4", "--causal", "--heatmap", "h.png", "--heatmap", "h.html"], ["h.png", "h.html"]
    yield ["compute", "-X", "odd.npy", "--heads", "4", "--alibi", "--bundle", "b.npz", "--scores", "s.safetensors"], ["b.npz", "s.safetensors"]
    yield ["compute", "-X", "long.npy", "--precision", "float64", "--window", "40,0", "-o", "o.npy", "--bundle", "b.json"], ["o.npy", "b.json"]
    yield ["compute", "-X", "small.npy", "--kernel", "reference", "-w", "w.npz"], ["w.npz"]
    yield ["compute", "doc.json"], []
    yield ["render", "long.npy", *(word for kind in PICTURES for word in ("-o", f"r.{kind}"))], [f"r.{kind}" for kind in PICTURES]
    yield ["diff", "odd.npy", "odd.npy", "--heatmap", "d.svg", "--json"], ["d.svg"]
    yield ["inspect", "odd.npy", "--json"], []
    yield ["explain", "doc.json", "--html", "e.html"], ["e.html"]
    yield ["demo"], []


class SameBytes(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="attn-same-"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.runs = 0
        self.locales = self.german()

    def german(self):
        """A folder with the locale de_DE, in which 1,5 is a number and 1.5 is none."""
        folder = self.root / "locales"
        folder.mkdir()
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"], capture_output=True)
        self.assertEqual(made.returncode, 0, made.stderr)
        shown = subprocess.run(["printf", "%.1f", "1,5"], capture_output=True, env={"LOCPATH": str(folder), "LC_ALL": "de_DE.UTF-8", "PATH": os.environ["PATH"]})
        self.assertEqual(shown.stdout, b"1,5")
        return folder

    def inputs(self, name):
        """A new folder: another path, and files of another time."""
        folder = self.root / name
        folder.mkdir()
        numbers = random.Random(3)
        draw = lambda count: [numbers.gauss(0, 1) for _ in range(count)]
        (folder / "small.npy").write_bytes(npy((5, 8), draw(40)))
        (folder / "odd.npy").write_bytes(npy((67, 16), draw(67 * 16)))
        (folder / "long.npy").write_bytes(npy((301, 8), draw(301 * 8)))
        shutil.copy(SOURCE / "samples" / "cat.json", folder / "doc.json")
        return folder

    def digests(self, folder, words, outputs, threads, perturb, locale, zone):
        for name in outputs: (folder / name).unlink(missing_ok=True)
        env = {"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_CACHE_HOME": os.path.expanduser("~/.cache"), "LOCPATH": str(self.locales),
               "LC_ALL": locale, "TZ": zone, "TMPDIR": str(folder)}
        if perturb is not None: env["MALLOC_PERTURB_"] = str(perturb)
        done = subprocess.run([BINARY, *words, "--threads", str(threads)], cwd=folder, env=env, capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stderr.decode()}")
        self.runs += 1
        return [("standard output", done.stdout), *((name, (folder / name).read_bytes()) for name in outputs)]

    def test_in_every_surrounding(self):
        chance = random.Random(11)
        jobs = list(fixed_jobs())
        while FULL and len(jobs) < 200: jobs.append(random_job(chance))
        folders = [self.inputs("here"), self.inputs("a rather longer name, ä, with blanks")]
        os.utime(folders[1], (1, 1))
        for path in folders[1].iterdir(): os.utime(path, (1_000_000_000, 1_000_000_000))
        ways = list(itertools.product(THREADS, PERTURB, LOCALES))
        files, different = 0, []
        for i, (words, outputs) in enumerate(jobs):
            first = self.digests(folders[0], words, outputs, 1, None, "C", "UTC")
            # In the short run each job goes through all threads, and through the others in turn.
            chosen = ways if FULL else [(t, PERTURB[(i + t) % 3], LOCALES[(i + t) % 2]) for t in THREADS]
            for threads, perturb, locale in chosen:
                again = self.digests(folders[1], words, outputs, threads, perturb, locale, "Asia/Kathmandu")
                files += len(again)
                different += [f"{' '.join(words)}: {name}: {threads} threads, MALLOC_PERTURB_ {perturb}, {locale}"
                              for (name, a), (_, b) in zip(first, again) if hashlib.sha256(a).digest() != hashlib.sha256(b).digest()]
        print(f"counts: same bytes: {len(jobs)} jobs, {self.runs} runs, {files} results compared, {len(different)} different", flush=True)
        self.assertFalse(different, "\n" + "\n".join(different))


if __name__ == "__main__": unittest.main(argv=sys.argv)
