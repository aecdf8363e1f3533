"""Puts one bug at a time into a copy of the core library, builds the tests against it and expects them to fail.

Reads ATTN_BUILD_DIR (a finished release build) and ATTN_FULL (yes: all bugs, else a few). Only the changed file is
compiled; the rest is linked from the build.
"""
import json, os, pathlib, re, shlex, shutil, subprocess, tempfile, unittest

from reference_mutants import MUTANTS, QUICK

SOURCE = pathlib.Path(os.environ.get("ATTN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ["ATTN_BUILD_DIR"])
FULL = os.environ.get("ATTN_FULL") == "yes"
PROGRAMS = {"agreement": ["--gtest_filter=-Mutants*"], "unit_core": []}


class ReferenceMutants(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="attn-mutants-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        shutil.copytree(SOURCE / "lib", cls.folder / "lib")
        commands = json.loads((BUILD / "compile_commands.json").read_text())
        cls.compile = {pathlib.Path(c["file"]): c for c in commands}
        cls.link = {program: snapshot(link_command(program), cls.folder / "objects") for program in PROGRAMS}

    def build(self, file):
        """Compiles the changed copy of a source and links the test programs with it; returns their paths."""
        command = self.compile[SOURCE / "lib" / file]
        words = shlex.split(command["command"])
        object_file = self.folder / "mutant.o"
        built_object = saved_name(words[words.index("-o") + 1], self.folder / "objects")
        words = [w.replace(str(SOURCE / "lib"), str(self.folder / "lib")) for w in words]
        words[words.index("-o") + 1] = str(object_file)
        # A bug may leave a variable unused; what is checked here is the tests.
        words = [w for w in words if w not in ("-Werror", "ccache") and not w.startswith("-MF") and w != "-MD"] + ["-w", "-O1"]
        words = drop_pairs(words, ("-MT", "-MF"))
        run = subprocess.run(words, cwd=command["directory"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, f"{file} does not compile:\n{run.stderr[-3000:]}")
        programs = []
        for program, link in self.link.items():
            target = self.folder / program
            self.assertEqual(link.count(built_object), 1, f"{built_object} is linked into {program} once")
            words = [str(object_file) if w == built_object else w for w in link]
            words[words.index("-o") + 1] = str(target)
            run = subprocess.run(words, cwd=BUILD, capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, f"{program} does not link:\n{run.stderr[-3000:]}")
            programs.append(target)
        return programs

    def caught_by(self, programs):
        """The first failing test of the programs, or None."""
        env = {**os.environ, "ATTN_TEST_KERNEL": "reference", "ATTN_RANDOM_CASES": "800"}
        for program in programs:
            try:
                run = subprocess.run([program, "--gtest_fail_fast", *PROGRAMS[program.name]], env=env, capture_output=True, text=True,
                                     timeout=120, cwd=self.folder)
            except subprocess.TimeoutExpired:
                return f"{program.name} did not end"
            if run.returncode:
                failed = re.search(r"\[  FAILED  \] (\S+)", run.stdout)
                return f"{program.name} {failed.group(1) if failed else f'ended with {run.returncode}'}"
        return None

    def test_every_substitution_matches_once(self):
        names = [name for name, *_ in MUTANTS]
        self.assertEqual(len(names), len(set(names)))
        self.assertTrue(set(QUICK) <= set(names))
        for name, file, old, new in MUTANTS:
            text = (SOURCE / "lib" / file).read_text()
            self.assertEqual(text.count(old), 1, f"{name}: {old!r} in {file}")
            self.assertNotEqual(old, new)

    def test_the_unchanged_source_passes(self):
        programs = self.build("core/attention.cpp")
        self.assertIsNone(self.caught_by(programs))

    def test_every_bug_is_caught(self):
        chosen = [m for m in MUTANTS if FULL or m[0] in QUICK]
        caught = 0
        for name, file, old, new in chosen:
            copy = self.folder / "lib" / file
            text = copy.read_text()
            copy.write_text(text.replace(old, new))
            try:
                by = self.caught_by(self.build(file))
            finally:
                copy.write_text(text)
            caught += by is not None
            print(f"{name}: {by or 'NOT CAUGHT'}", flush=True)
            with self.subTest(name): self.assertIsNotNone(by, f"no test fails with this bug: {name}")
        print(f"mutants of the reference kernel: {caught} of {len(chosen)} caught", flush=True)


def link_command(program):
    """The words that link a test program, as ninja would run them in the build folder."""
    lines = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", program], capture_output=True, text=True, check=True).stdout.splitlines()
    step = next(part for part in lines[-1].split(" && ") if f"-o {program} " in part)
    return shlex.split(step)


def saved_name(object_file, folder): return str(folder / object_file.replace("/", "_"))


def snapshot(link, folder):
    """The link command with its object files copied, so that a build that goes on beside this cannot mix versions."""
    folder.mkdir(exist_ok=True)
    words = []
    for word in link:
        if word.endswith(".o"):
            shutil.copy(BUILD / word, saved_name(word, folder))
            word = saved_name(word, folder)
        words.append(word)
    return words


def drop_pairs(words, names):
    kept, skip = [], False
    for word in words:
        if skip: skip = False
        elif word in names: skip = True
        else: kept.append(word)
    return kept


if __name__ == "__main__":
    unittest.main(verbosity=1)
