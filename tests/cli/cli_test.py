"""What holds for every subcommand: words, exit codes, the form of errors, streams."""
import os, re, signal, subprocess, time

import attn_test
from attn_test import CliTest, main

WEIGHTS = "query,a,b\na,1,0\nb,0.25,0.75\n"


class Words(CliTest):
    def test_no_arguments_is_short_help_and_exit_2(self):
        done = self.run_cli(expect=2)
        self.assertEqual(done.out, "")
        self.assertIn("Usage: attn-cli SUBCOMMAND", done.err)
        self.assertLess(len(done.err.splitlines()), 30)

    def test_empty_argv_is_survived(self):
        done = subprocess.run(["bash", "-c", 'exec -a "" "$0"', attn_test.BINARY], capture_output=True, cwd=self.folder)
        self.assertEqual(done.returncode, 2)

    def test_version(self):
        done = self.run_cli("--version")
        self.assertRegex(done.out, r"\Aattn-cli \d+\.\d+\.\d+\nbuild: .+\nSIMD: (sse2|avx2|avx512|neon)\nthreads: [1-9]\d*\n\Z")
        self.assertEqual(done.out, self.run_cli("demo", "--version").out)

    def test_wrong_subcommand_gets_the_nearest(self):
        self.assertError(self.run_cli("rendr", expect=2), "unknown subcommand 'rendr'")
        self.assertIn("did you mean 'render'?", self.run_cli("rendr", expect=2).err)
        self.assertIn("did you mean 'diff'?", self.run_cli("dif", "a", "b", expect=2).err)

    def test_a_file_instead_of_a_subcommand(self):
        self.write("doc.json", {})
        self.assertIn("attn-cli compute doc.json", self.run_cli("doc.json", expect=2).err)

    def test_option_before_the_subcommand(self):
        self.assertError(self.run_cli("--threads", "2", "demo", expect=2), "'--threads' where a subcommand is expected")

    def test_wrong_option_gets_the_nearest(self):
        done = self.run_cli("render", "w.csv", "--colormp", "magma", expect=2)
        self.assertError(done, "unknown option '--colormp' of render")
        self.assertIn("attn-cli: hint: did you mean '--colormap'?", done.err)

    def test_wrong_values_get_the_nearest(self):
        self.write("w.csv", WEIGHTS)
        for option, value, right in (("--colormap", "virdis", "viridis"), ("--reduce", "maen", "mean"), ("--theme", "drak", "dark"),
                                     ("--color", "allways", "always"), ("--progress", "nevr", "never")):
            done = self.run_cli("render", "w.csv", option, value, expect=2)
            self.assertError(done, f"{option}: found '{value}', expected")
            self.assertIn(f"did you mean '{right}'?", done.err)

    def test_small_letters_hint_at_the_capitals(self):
        for name in "qkv": self.write(f"{name}.csv", "1,0\n0,1\n")
        done = self.run_cli("compute", "-q", "q.csv", "-k", "k.csv", "-v", "v.csv", expect=2)
        self.assertError(done, "unknown option '-k'")
        self.assertRegex(done.err, r"hint: .*-K k\.csv")
        self.assertRegex(self.run_cli("compute", "-Q", "q.csv", "-K", "k.csv", "-v", "v.csv", expect=(2, 3, 4)).err, r"hint: .*-V v\.csv")

    def test_values_with_dashes(self):
        self.write("-x.csv", WEIGHTS)
        self.assertIn("-x.csv", self.run_cli("inspect", "--", "-x.csv").out)
        self.assertError(self.run_cli("render", "w.csv", "-o", "--title", expect=2), "-o needs a value")
        self.assertEqual(self.files(), ["-x.csv"])

    def test_an_option_without_its_value(self):
        self.assertError(self.run_cli("render", "w.csv", "-o", expect=2), "-o needs a value")

    def test_equals_after_a_letter_makes_no_file(self):
        self.write("w.csv", WEIGHTS)
        self.assertError(self.run_cli("render", "w.csv", "-o=x.png", expect=2), "-o takes its value as the next word")
        self.assertError(self.run_cli("render", "w.csv", "-o=", expect=2), "-o")
        self.assertEqual(self.files(), ["w.csv"])

    def test_a_value_is_given_once(self):
        self.assertError(self.run_cli("demo", "--threads", "1", "--threads", "2", expect=2), "--threads is given 2 times")

    def test_threads(self):
        for value in ("0", "-1", "010", "1.5", "", "18446744073709551616", "two", "0x2", "1e1"):
            self.assertError(self.run_cli("demo", "--threads", value, expect=2), "--threads: found")
        self.assertEqual(self.run_cli("demo", "--threads", "1").out, self.run_cli("demo", "--threads", "8").out)

    def test_max_memory(self):
        for value in ("0", "-1", "lots", "1X", "", "1e3", "99999999999999999999G"):
            self.assertError(self.run_cli("demo", "--max-memory", value, expect=2), "--max-memory")

    def test_too_many_inputs(self):
        self.assertError(self.run_cli("diff", "a", "b", "c", expect=2), "diff takes at most 2 inputs, found 'c' too")
        self.assertError(self.run_cli("diff", "a", expect=2), "diff needs 2 inputs, found 1")
        self.assertError(self.run_cli("demo", "x", expect=2), "demo takes no input")


class Errors(CliTest):
    def test_a_missing_file(self):
        for command in ("inspect", "render"):
            self.assertError(self.run_cli(command, "no.csv", expect=3), r"no\.csv.*No such file")

    def test_a_link_to_nothing_is_not_suggested_itself(self):
        os.symlink("gone.csv", self.folder / "link")
        done = self.run_cli("inspect", "link", expect=3)
        self.assertError(done, "cannot open 'link'")
        self.assertIn("hint: 'link' is a link to a file that is not there", done.err)

    def test_a_missing_file_gets_the_nearest(self):
        self.write("cat.json", {}), (self.folder / "data").mkdir(), self.write("data/query.csv", "1\n")
        for words, right in ((["inspect", "ct.json"], "cat.json"), (["compute", "-Q", "data/quer.csv", "-K", "k.csv"], "data/query.csv"),
                             (["compute", "--query=data/qurey.csv", "-K", "k.csv"], "data/query.csv"), (["compute", "-Qcat.jsn", "-Kk.csv"], "cat.json"),
                             (["render", "./cat.jso"], "./cat.json")):
            self.assertIn(f"hint: did you mean '{right}'?", self.run_cli(*words, expect=(2, 3)).err, words)
        self.assertIn("hint: attn-cli demo -o DIR", self.run_cli("inspect", "nothing-like-it.npz", expect=3).err)
        self.assertIn("hint: attn-cli demo -o DIR", self.run_cli("inspect", "no/such/folder.npz", expect=3).err)

    def test_control_characters_stay_out(self):
        name = "a\n\033[2Jb.csv"
        done = self.run_cli("inspect", name, expect=3)
        self.assertError(done, r"a\\n\\x1b\[2Jb\.csv")
        self.assertEqual(len(done.err.splitlines()), 2)  # the error and a hint
        self.assertNotIn("\033", done.err)

    def test_a_message_is_short(self):
        for words in (["inspect", "a" * 5000], ["render", "w.csv", "--" + "x" * 5000], ["x" * 5000], ["diff", "--atol", "9" * 5000 + "x", "a", "b"],
                      ["compute", "-Q", "q.csv", "-K", "k.csv", "-w", "w" * 190], ["compute", "-Q", "q.csv", "-K", "k.csv", "-w", "\x01" * 90]):
            done = self.run_cli(*words, expect=(2, 3))
            for line in done.err.splitlines(): self.assertLessEqual(len(line.encode()), 300)

    def test_bytes_that_are_not_utf8(self):
        done = subprocess.run([attn_test.BINARY.encode(), b"render", b"\xff\xfe.csv", b"--\xff"], capture_output=True, cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        done.stderr.decode("utf-8")

    def test_a_terminal_as_input(self):
        leader, follower = os.openpty()
        try:
            done = subprocess.run([attn_test.BINARY, "inspect", "-"], stdin=follower, capture_output=True, cwd=self.folder, timeout=20)
        finally:
            os.close(leader), os.close(follower)
        self.assertEqual(done.returncode, 2)
        self.assertIn("attn-cli: hint: ", done.stderr.decode())

    def test_simd_is_checked(self):
        done = self.run_cli("demo", env={"ATTN_CLI_SIMD": "avx3"}, expect=2)
        self.assertError(done, "ATTN_CLI_SIMD: found 'avx3', expected .*sse2|neon")
        self.assertEqual(self.run_cli("--version", env={"ATTN_CLI_SIMD": "mmx"}, expect=2).out, "")
        best = re.search(r"SIMD: (\w+)", self.run_cli("--version").out)[1]
        self.assertIn(f"SIMD: {best} (ATTN_CLI_SIMD)", self.run_cli("--version", env={"ATTN_CLI_SIMD": best}).out)

    def test_simd_that_the_cpu_lacks(self):
        for name in ("sse2", "avx2", "avx512", "neon"):
            done = self.run_cli("--version", env={"ATTN_CLI_SIMD": name}, expect=(0, 2))
            if done.code == 2: self.assertError(done, f"lacks {name}, expected|found '{name}', expected")
            else: self.assertIn(f"SIMD: {name} (ATTN_CLI_SIMD)", done.out)


class Streams(CliTest):
    def test_a_full_disk_behind_standard_output(self):
        for words in (["--help"], ["--version"], ["demo"], ["render", "--help"], ["man"], ["completion", "bash"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([attn_test.BINARY, *words], stdout=full, stderr=subprocess.PIPE, cwd=self.folder)
            self.assertEqual(done.returncode, 5, words)
            self.assertRegex(done.stderr.decode(), r"\Aattn-cli: error: .*standard output.*No space left on device")

    def test_closed_standard_output(self):
        self.write("w.csv", WEIGHTS)
        for words in ("demo", "--help", "inspect w.csv", "render w.csv"):
            done = subprocess.run(["sh", "-c", f'"$0" {words} >&-', attn_test.BINARY], stderr=subprocess.PIPE, cwd=self.folder)
            self.assertEqual(done.returncode, 5, words)
            self.assertRegex(done.stderr.decode(), r"\Aattn-cli: error: ")
        self.assertEqual(self.files(), ["w.csv"])

    def test_closed_standard_streams_do_not_fill_the_output(self):
        self.write("w.csv", WEIGHTS)
        done = subprocess.run(["sh", "-c", '"$0" render w.csv -o w.txt -v <&- >&- 2>&-', attn_test.BINARY], cwd=self.folder)
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("attn-cli", self.read("w.txt"))

    def test_a_reader_that_went_away(self):
        for words in ("man", "render --help", "completion zsh"):
            done = subprocess.run(["bash", "-c", f'"$0" {words} | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}', attn_test.BINARY],
                                  capture_output=True, cwd=self.folder)
            self.assertEqual(done.stdout, b"0\n")
            self.assertEqual(done.stderr, b"")

    def test_the_locale_changes_nothing(self):
        for name in ("C", "de_DE.UTF-8", "xx_XX"):
            self.assertEqual(self.run_cli("demo", env={"LC_ALL": name}).out_bytes, self.run_cli("demo").out_bytes)


class Signals(CliTest):
    def test_an_ended_run_leaves_what_was_there(self):
        self.write("w.csv", WEIGHTS), self.write("old.txt", "old")
        os.mkfifo(self.folder / "fifo")  # nobody reads it: the run waits with its first output begun
        for name in ("INT", "TERM", "HUP", "ABRT", "TRAP"):
            number = getattr(signal, "SIG" + name)
            process = subprocess.Popen([attn_test.BINARY, "render", "w.csv", "-o", "old.txt", "-o", "fifo", "--format", "txt"],
                                       cwd=self.folder, stderr=subprocess.PIPE, restore_signals=True)
            for _ in range(200):
                if any(f.startswith(".attn-") for f in self.files()): break
                time.sleep(0.02)
            else: self.fail("no temporary file was begun")
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=10), -number, name)
            self.assertEqual(process.stderr.read(), b"")
            process.stderr.close()
            self.assertEqual(self.files(), ["fifo", "old.txt", "w.csv"], name)
            self.assertEqual(self.read("old.txt"), "old")


class Colour(CliTest):
    def test_pipes_get_no_colour(self):
        self.assertNotIn("\033", self.run_cli("demo").out)

    def test_always_and_never(self):
        self.assertIn("\033[", self.run_cli("demo", "--color", "always").out)
        self.assertIn("\033[", self.run_cli("demo", "--color", "always", env={"NO_COLOR": "1"}).out)
        self.assertNotIn("\033", self.run_cli("demo", "--color", "never").out)

    def on_a_terminal(self, *words, **env):
        leader, follower = os.openpty()
        process = subprocess.Popen([attn_test.BINARY, *words], stdin=subprocess.DEVNULL, stdout=follower, stderr=follower, cwd=self.folder,
                                   env={"PATH": os.environ["PATH"], "TERM": "xterm-256color", **env})
        os.close(follower)
        text = b""
        while True:
            try: piece = os.read(leader, 65536)
            except OSError: break
            if not piece: break
            text += piece
        os.close(leader)
        self.assertEqual(process.wait(timeout=20), 0, text)
        return text.decode()

    def test_terminals_get_colour_unless_told_not_to(self):
        self.assertIn("\033[", self.on_a_terminal("demo"))
        self.assertNotIn("\033", self.on_a_terminal("demo", NO_COLOR="1"))
        self.assertNotIn("\033", self.on_a_terminal("demo", TERM="dumb"))
        self.assertIn("\033[", self.on_a_terminal("demo", "--color", "always", NO_COLOR="1"))
        self.assertIn("\033[38;2;", self.on_a_terminal("demo", COLORTERM="truecolor").replace("\033[48;2;", "\033[38;2;"))

    def test_a_binary_format_is_not_written_to_a_terminal(self):
        self.write("w.csv", WEIGHTS)
        leader, follower = os.openpty()
        done = subprocess.run([attn_test.BINARY, "render", "w.csv", "-o", "-", "--format", "png"], stdout=follower, stderr=subprocess.PIPE,
                              cwd=self.folder, timeout=20)
        os.close(leader), os.close(follower)
        self.assertEqual(done.returncode, 2)
        self.assertIn("terminal", done.stderr.decode())


class ProgressLine(CliTest):
    def test_quick_work_shows_none(self):
        self.write("w.csv", WEIGHTS)
        self.assertEqual(self.run_cli("inspect", "w.csv").err, "")
        self.assertEqual(self.run_cli("inspect", "w.csv", "--progress", "never").err, "")

    def test_always_speaks_on_a_pipe(self):
        self.write("w.csv", WEIGHTS)
        self.assertRegex(self.run_cli("inspect", "w.csv", "--progress", "always").err, r"(?m)^attn-cli: reading")

    def slow_inspect(self, *words):
        """What standard error, a terminal, gets while standard input takes more than a second to come."""
        leader, follower = os.openpty()
        process = subprocess.Popen([attn_test.BINARY, "inspect", "-", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=follower,
                                   cwd=self.folder, env={"PATH": os.environ["PATH"], "TERM": "xterm"})
        os.close(follower)
        process.stdin.write(b"1,2\n"), process.stdin.flush()
        time.sleep(1.3)
        out, _ = process.communicate(b"3,4\n", timeout=20)
        self.assertEqual(process.returncode, 0)
        self.assertIn(b"[2,2]", out)
        text = b""
        try:
            while piece := os.read(leader, 65536): text += piece
        except OSError: pass  # the other end is closed
        os.close(leader)
        return text.decode()

    def test_slow_work_shows_one_line_that_is_wiped(self):
        text = self.slow_inspect()
        self.assertRegex(text, r"\A(\rattn-cli: reading[^\r\n]*, 1 s\x1b\[K)+\r\x1b\[K\Z")

    def test_quiet_and_never(self):
        self.assertEqual(self.slow_inspect("-q"), "")
        self.assertEqual(self.slow_inspect("--progress", "never"), "")


main()
