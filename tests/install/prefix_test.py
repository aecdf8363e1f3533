"""cmake --install into a prefix that is then moved: the files, the program, and a program that uses the library."""
import gzip, pathlib, re, shutil, tempfile, unittest

from install_support import BUILD, CAT, SOURCE, TEN_LINES, TEN_LINES_SUM, clean_environment, printed_weights, run, version_in_cmake

RUNTIME = """bin/attn-cli
share/bash-completion/completions/attn-cli share/zsh/vendor-completions/_attn-cli share/fish/vendor_completions.d/attn-cli.fish
share/man/man1/attn-cli.1.gz
share/doc/attn-cli/copyright share/doc/attn-cli/changelog.gz share/doc/attn-cli/batch.md share/doc/attn-cli/recipes.md""".split()
DEVELOPMENT = """LIB/libattn.a LIB/pkgconfig/attn.pc
LIB/cmake/attn/attnConfig.cmake LIB/cmake/attn/attnConfigVersion.cmake LIB/cmake/attn/attnTargets.cmake LIB/cmake/attn/attnTargets-release.cmake
share/doc/libattn-dev/copyright share/doc/libattn-dev/changelog.gz share/doc/libattn-dev/examples/main.cpp share/doc/libattn-dev/examples/CMakeLists.txt""".split()


def headers():
    return sorted(p.relative_to(SOURCE / "lib").as_posix() for p in (SOURCE / "lib" / "include").rglob("*.hpp"))


class Prefix(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="attn-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        for component in ("runtime", "development"):
            run("cmake", "--install", BUILD, "--prefix", cls.folder / "first", "--component", component, env=clean_environment())
        # Nothing may remember where it was installed.
        cls.prefix = (cls.folder / "first").rename(cls.folder / "moved")
        cls.library = next(cls.prefix.rglob("libattn.a")).parent
        cls.env = clean_environment(PKG_CONFIG_PATH=str(cls.library / "pkgconfig"), HOME=str(cls.folder), XDG_CONFIG_HOME=str(cls.folder))

    def pkg_config(self, *options): return run("pkg-config", *options, "attn", env=self.env).split()

    def test_files(self):
        library = self.library.relative_to(self.prefix).as_posix()
        samples = [f"share/doc/attn-cli/examples/{p.name}" for p in (SOURCE / "samples").glob("*.*")]
        wanted = [*RUNTIME, *samples, *(f.replace("LIB", library, 1) for f in DEVELOPMENT), *headers()]
        found = [p.relative_to(self.prefix).as_posix() for p in self.prefix.rglob("*") if p.is_file()]
        self.assertEqual(sorted(found), sorted(wanted))

    def test_nothing_names_the_tree_or_the_old_prefix(self):
        for path in self.prefix.rglob("*"):
            if not path.is_file() or path.suffix in (".a", ".npz") or path.parent.name == "bin": continue
            data = path.read_bytes()
            for place in (SOURCE, BUILD, self.folder / "first"): self.assertNotIn(str(place).encode(), data, path)

    def test_program_manual_and_completions_are_one_version(self):
        program = self.prefix / "bin" / "attn-cli"
        self.assertTrue(run(program, "--version", env=self.env).startswith(f"attn-cli {version_in_cmake()}\n"))
        self.assertIn("cute  0.22", run(program, "demo", "--color", "never", env=self.env))
        share = self.prefix / "share"
        for command in ([], ["compute"], ["render"]):
            self.assertIn(f"\nExamples (run them in a copy of {share}/doc/attn-cli/examples):\n", run(program, *command, "--help", env=self.env))
        self.assertEqual(gzip.decompress((share / "man/man1/attn-cli.1.gz").read_bytes()).decode(), run(program, "man", env=self.env))
        for shell, place in (("bash", RUNTIME[1]), ("zsh", RUNTIME[2]), ("fish", RUNTIME[3])):
            self.assertEqual((self.prefix / place).read_text(), run(program, "completion", shell, env=self.env))
        found = run("man", "-w", "attn-cli", env={**self.env, "MANPATH": str(share / "man")})
        self.assertEqual(found.strip(), str(share / "man/man1/attn-cli.1.gz"))

    def test_versions_agree(self):
        version = version_in_cmake()
        self.assertEqual(self.pkg_config("--modversion"), [version])
        self.assertIn(f'set(PACKAGE_VERSION "{version}")', (self.library / "cmake/attn/attnConfigVersion.cmake").read_text())
        self.assertEqual(re.match(r"attn-cli \(([^)]*)\)", (SOURCE / "packaging" / "changelog").read_text())[1], version)

    def test_each_header_compiles_alone(self):
        """With nothing but the standard library beside them, and twice."""
        for header in headers():
            text = f'#include "{header[len("include/"):]}"\n' * 2 + "int main() {}\n"
            run("g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-x", "c++", "-I", self.prefix / "include",
                "-", input=text)

    def check_sample(self, program, name):
        work = self.folder / name
        work.mkdir()
        printed = run(program, cwd=work, env=self.env)
        for got, want in zip(printed_weights(printed), CAT, strict=True):
            for g, w in zip(got, want, strict=True): self.assertAlmostEqual(g, w, places=6)
        self.assertIn("mask: causal, top-left, scale: 0.5\n", printed)
        self.assertTrue((work / "heatmap.png").read_bytes().startswith(b"\x89PNG\r\n"))
        samples = self.prefix / "share/doc/attn-cli/examples"
        rows = printed_weights(run(program, samples / "query.csv", samples / "key.csv", cwd=work, env=self.env))
        # Query [0,1] with keys [1,0] and [0,1]: scores 0 and 1/sqrt(2).
        self.assertEqual(rows, [[1, 0, 0], [0.330238, 0.669762, 0]])

    def test_sample_with_cmake(self):
        work = shutil.copytree(self.prefix / "share/doc/libattn-dev/examples", self.folder / "sample")
        run("cmake", "-S", work, "-B", work / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror", env=self.env)
        run("cmake", "--build", work / "build", env=self.env)
        self.check_sample(work / "build" / "attention-sample", "with-cmake")

    def test_cmake_refuses_another_minor_version(self):
        (self.folder / "newer").mkdir()
        (self.folder / "newer" / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(x LANGUAGES CXX)\nfind_package(attn 0.2 REQUIRED)\n")
        with self.assertRaisesRegex(AssertionError, f"version: {version_in_cmake()}"):
            run("cmake", "-S", self.folder / "newer", "-B", self.folder / "newer" / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}", env=self.env)

    def test_ten_lines_with_pkg_config(self):
        # A static library: with and without --static all that it needs is named.
        for static in ([], ["--static"]):
            program = self.folder / f"ten-lines{len(static)}"
            run("g++", "-std=c++20", TEN_LINES, "-o", program, *self.pkg_config(*static, "--cflags", "--libs"), env=self.env)
            self.assertEqual(run(program, env=self.env), f"{version_in_cmake()} {TEN_LINES_SUM}\n")

    def test_readme_shows_lines_of_the_sample(self):
        readme = (SOURCE / "README.md").read_text()
        for language, name in (("cpp", "main.cpp"), ("cmake", "CMakeLists.txt")):
            blocks = re.findall(rf"(?ms)^```{language}\n(.*?)^```$", readme)
            self.assertGreaterEqual(len(blocks), 1)
            sample = (SOURCE / "samples" / "library" / name).read_text()
            for block in blocks: self.assertIn(block, sample)


unittest.main()
