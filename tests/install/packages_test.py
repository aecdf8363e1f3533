"""The Debian packages: what they say, what is in them, what lintian finds. With ATTN_FULL=yes they are installed by apt
into a new root file system of Debian 12, tried there, and removed."""
import os, pathlib, pty, re, select, shutil, subprocess, tempfile, time, unittest

from install_support import BUILD, SOURCE, TEN_LINES, TEN_LINES_SUM, clean_environment, run, version_in_cmake

FULL = os.environ.get("ATTN_FULL") == "yes"


def setUpModule():
    global folder, program, library
    folder = pathlib.Path(tempfile.mkdtemp(prefix="attn-packages-"))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    run("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", folder, env=clean_environment(SOURCE_DATE_EPOCH="1700000000"))
    architecture = run("dpkg", "--print-architecture").strip()
    program, library = (folder / f"{name}_{version_in_cmake()}_{architecture}.deb" for name in ("attn-cli", "libattn-dev"))


def field(package, name): return run("dpkg-deb", "-f", package, name).rstrip("\n")


class Packages(unittest.TestCase):
    def test_fields(self):
        for package, section in ((program, "science"), (library, "libdevel")):
            self.assertEqual(field(package, "Section"), section)
            self.assertEqual(field(package, "Priority"), "optional")
            self.assertEqual(field(package, "Source"), "attn-cli")
            self.assertRegex(field(package, "Maintainer"), r"^[^<>]+ <[^@ ]+@[^@ ]+>$")
            self.assertGreater(len(field(package, "Description").splitlines()), 4)

    def test_dependencies(self):
        needs = re.sub(r" \([^)]*\)", "", field(program, "Depends")).split(", ")
        for name in ("fonts-dejavu-core", "libc6", "libstdc++6", "libcairo2", "libpangocairo-1.0-0", "libpangoft2-1.0-0", "zlib1g"): self.assertIn(name, needs)
        self.assertEqual([n for n in needs if n.endswith("-dev")], [])
        self.assertEqual(field(program, "Recommends"), "fonts-noto-cjk")
        self.assertEqual(field(library, "Depends"), "libcairo2-dev, libpango1.0-dev, zlib1g-dev, pkg-config")

    def test_files_belong_to_root_and_match_their_sums(self):
        for package in (program, library):
            for line in run("dpkg-deb", "-c", package).splitlines():
                mode, owner = line.split()[:2]
                self.assertEqual(owner, "root/root", line)
                self.assertIn(mode, ("drwxr-xr-x", "-rwxr-xr-x") if mode.startswith("d") or "/bin/" in line else ("-rw-r--r--",), line)
            out = folder / package.stem
            run("dpkg-deb", "-x", package, out), run("dpkg-deb", "-e", package, out / "DEBIAN")
            run("md5sum", "--check", "--quiet", "DEBIAN/md5sums", cwd=out)
            self.assertEqual(len((out / "DEBIAN/md5sums").read_text().splitlines()), sum(p.is_file() for p in (out / "usr").rglob("*")))

    def test_licences_are_told(self):
        text = (SOURCE / "packaging" / "copyright").read_text()
        for name in ("cli11", "nlohmann-json", "xtensor", "xsimd", "stb_image_write"): self.assertRegex(text, rf"(?m)^Files:.*{name}")
        used = set(re.findall(r"(?m)^License: (.*)$", re.sub(r"(?s)\n\nLicense: .*", "\n", text)))
        told = set(re.findall(r"(?m)^License: (\S+)\n ", text))
        for name in {part for names in used for part in re.split(r" and | or ", names)}: self.assertIn(name, told)

    def test_lintian(self):
        root = ["--allow-root"] if os.geteuid() == 0 else []
        done = subprocess.run(["lintian", *root, "--fail-on", "error,warning", str(program), str(library)], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


def typed_in_bash(root):
    """What stands on the terminal after Tab was pressed three times in a bash of that root."""
    child, terminal = pty.fork()
    if child == 0: os.execvpe("chroot", ["chroot", str(root), "bash", "--norc", "-i"], {"PATH": "/usr/sbin:/usr/bin", "HOME": "/root", "TERM": "dumb", "LC_ALL": "C.UTF-8"})

    def send(text, until):
        os.write(terminal, text.encode())
        seen, end = b"", time.monotonic() + 60
        while until.encode() not in seen and time.monotonic() < end:
            if select.select([terminal], [], [], .2)[0]: seen += os.read(terminal, 65536)
        return seen.decode("utf-8", "replace")

    send("PS1='read''y> '; . /usr/share/bash-completion/bash_completion\n", "ready> ")
    text = send("attn-cli rend\t", "render ") + send("--colorm\t", "--colormap ") + send("vir\t", "viridis ")
    os.close(terminal)
    os.waitpid(child, 0)
    return text


class CleanRoot(unittest.TestCase):
    """A new Debian 12 with nothing but what is essential; only root may make one."""

    @classmethod
    def setUpClass(cls):
        cls.root = folder / "root"
        if not shutil.which("mmdebstrap"): raise AssertionError("mmdebstrap was not found: apt-get install mmdebstrap")
        run("mmdebstrap", "--variant=minbase", "--quiet", "bookworm", cls.root, env=clean_environment(TMPDIR=str(folder)))
        for package in (program, library): shutil.copy(package, cls.root / "root")
        shutil.copy(TEN_LINES, cls.root / "root")
        # What of the host a chroot has not by itself: how to reach the mirror.
        shutil.copy("/etc/resolv.conf", cls.root / "etc" / "resolv.conf")
        cls.inside("apt-get update -qq")

    @classmethod
    def inside(cls, script):
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", "TERM": "xterm"}
        return run("chroot", cls.root, "bash", "-euc", "cd /root; " + script, env=environment)

    def test_a_user_then_a_programmer(self):
        """In the order in which people do it; each step needs the one before."""
        self.inside(f"apt-get install -qq --no-install-recommends ./{program.name}")
        self.check_program()
        self.check_manual_and_completion()
        self.inside(f"apt-get install -qq --no-install-recommends ./{library.name} g++ cmake make")
        self.check_library()
        self.inside("apt-get purge -qq attn-cli libattn-dev")
        left = self.inside("find / -xdev -path /proc -prune -o -path /root -prune -o -name '*attn*' -print").split()
        self.assertEqual(left, [])

    def check_program(self):
        self.assertTrue(self.inside("attn-cli --version").startswith(f"attn-cli {version_in_cmake()}\n"))
        self.inside("attn-cli demo -o demo")
        picture = (self.root / "root/demo/heatmap.png").read_bytes()
        self.assertTrue(picture.startswith(b"\x89PNG\r\n"))
        self.assertEqual((self.root / "root/demo/weights.csv").read_text().splitlines()[1], "The,1,0,0,0")
        # The font that the package depends on is the one that the numbers are drawn in: the same bytes as here.
        run(BUILD / "attn-cli", "demo", "-o", folder / "demo", env=clean_environment())
        self.assertEqual(picture, (folder / "demo" / "heatmap.png").read_bytes())
        self.inside("cp -r /usr/share/doc/attn-cli/examples samples; cd samples; attn-cli compute cat.json --causal -w w.csv -w w.svg -w w.pdf -w w.html; "
                    "attn-cli batch jobs.jsonl > results.jsonl")

    def check_manual_and_completion(self):
        self.inside("apt-get install -qq --no-install-recommends man-db bash-completion")
        self.assertEqual(self.inside("man -w attn-cli").strip(), "/usr/share/man/man1/attn-cli.1.gz")
        typed = typed_in_bash(self.root)
        for word in ("render ", "--colormap ", "viridis "): self.assertIn(word, typed)

    def check_library(self):
        self.inside("g++ -std=c++20 ten_lines.cpp -o ten $(pkg-config --cflags --libs attn)")
        self.assertEqual(self.inside("./ten"), f"{version_in_cmake()} {TEN_LINES_SUM}\n")
        (self.root / "root/CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(ten LANGUAGES CXX)\nfind_package(attn REQUIRED)\n"
                                                      "add_executable(ten ten_lines.cpp)\ntarget_link_libraries(ten attn::attn)\n")
        self.inside("cmake -S . -B with-cmake && cmake --build with-cmake")
        self.assertEqual(self.inside("with-cmake/ten"), f"{version_in_cmake()} {TEN_LINES_SUM}\n")
        self.inside("cp -r /usr/share/doc/libattn-dev/examples sample; cmake -S sample -B sample/build; cmake --build sample/build; sample/build/attention-sample")


if not FULL: del CleanRoot  # minutes, root, and a mirror of Debian: only where all tests are asked for
elif os.geteuid() != 0:
    print("NOT TESTED: packages in a new root file system, which only root may make")
    del CleanRoot
unittest.main()
