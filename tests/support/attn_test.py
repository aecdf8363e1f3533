"""Runs the attn-cli binary in an empty folder, for the tests written in Python (standard library only).

    from attn_test import CliTest, main
    class Compute(CliTest):
        def test_x(self):
            self.write("doc.json", {...})
            done = self.run_cli("compute", "doc.json", "-w", "w.json")     # exit 0 expected
            self.assertError(self.run_cli("compute", "no.json", expect=3), r"no\\.json")
    main()
"""
import json, math, os, pathlib, shutil, subprocess, tempfile, unittest

BINARY = os.environ.get("ATTN_CLI", "")
SOURCE = pathlib.Path(os.environ.get("ATTN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
SAMPLES = SOURCE / "samples"


class Done:
    """What a finished process left: .code .out .err (text), .out_bytes."""

    def __init__(self, code, out, err):
        self.code, self.out_bytes = code, out
        self.out, self.err = out.decode("utf-8", "replace"), err.decode("utf-8", "replace")


class CliTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="attn-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, content):
        """bytes and str as they are; anything else as JSON."""
        path = self.folder / name
        if isinstance(content, bytes): path.write_bytes(content)
        elif isinstance(content, str): path.write_bytes(content.encode("utf-8", "surrogateescape"))
        else: path.write_text(json.dumps(content, ensure_ascii=False))
        return path

    def run_cli(self, *args, expect=0, stdin=b"", env=None, timeout=60):
        """Runs attn-cli in the test's folder; the exit code must be `expect` (a number, a tuple of them, or None)."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith("ATTN_CLI_")}
        clean.update({"HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder / ".config"), **(env or {})})
        done = subprocess.run([BINARY, *map(str, args)], cwd=self.folder, input=stdin, capture_output=True, timeout=timeout, env=clean)
        done = Done(done.returncode, done.stdout, done.stderr)
        if expect is not None:
            accepted = expect if isinstance(expect, tuple) else (expect,)
            self.assertIn(done.code, accepted, f"{args}: exit {done.code}\n{done.err}")
        return done

    def read(self, name): return (self.folder / name).read_text()
    def read_json(self, name): return json.loads(self.read(name))
    def files(self): return sorted(p.name for p in self.folder.iterdir())

    def assertClose(self, got, want, tolerance=2e-6, where=""):
        """Nested lists of equal shape whose numbers agree to `tolerance` (relative above 1)."""
        if isinstance(want, (list, tuple)):
            self.assertIsInstance(got, list, where)
            self.assertEqual(len(got), len(want), f"length at {where or '/'}")
            for i, (g, w) in enumerate(zip(got, want)): self.assertClose(g, w, tolerance, f"{where}/{i}")
            return
        g, w = float(got), float(want)
        if math.isnan(w) or math.isinf(w): self.assertEqual(repr(g), repr(w), where); return
        self.assertLessEqual(abs(g - w), tolerance * max(1, abs(w)), f"{where}: {g}, expected {w}")

    def assertError(self, done, pattern):
        """Nothing on stdout; one line `attn-cli: error: …` that matches, at most one hint line after it."""
        self.assertEqual(done.out, "")
        lines = done.err.splitlines()
        errors = [l for l in lines if l.startswith("attn-cli: error: ")]
        self.assertEqual(len(errors), 1, done.err)
        self.assertLessEqual(len([l for l in lines if l.startswith("attn-cli: hint: ")]), 1, done.err)
        self.assertRegex(errors[0], pattern)


def main(): unittest.main(verbosity=1)
