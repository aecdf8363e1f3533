"""What somebody meets who has just installed the tool: each wrong turn ends with what to type next, and that works."""
import os, pty, re, select, shlex, subprocess, time

import attn_test
from attn_test import CliTest, main


class FirstMinutes(CliTest):
    def on_a_terminal(self, *words, timeout=20):
        """(exit code, all that was printed) with a terminal as standard input, output and error; killed when it waits for keys."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            environment = {k: v for k, v in os.environ.items() if not k.startswith("ATTN_CLI_")}
            os.execve(attn_test.BINARY, ["attn-cli", *words], {**environment, "HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder), "TERM": "xterm"})
        seen, end = b"", time.monotonic() + timeout
        while time.monotonic() < end:
            if not select.select([terminal], [], [], .1)[0]: continue
            try: part = os.read(terminal, 65536)
            except OSError: break  # its end
            if not part: break
            seen += part
        else: os.kill(child, 9)
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), seen.decode().replace("\r\n", "\n")

    def shell(self, line):
        done = subprocess.run(["bash", "-c", f"attn-cli() {{ {shlex.quote(attn_test.BINARY)} \"$@\"; }}\n{line}"], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stderr}")
        return done.stdout

    def test_alone_it_shows_three_lines_that_work_in_any_folder(self):
        done = self.run_cli(expect=2)
        self.assertEqual(done.out, "")
        lines = [line for line in re.findall(r"(?m)^  (attn-cli .*?)(?:  .*)?$", done.err)]
        self.assertEqual(len(lines), 3)
        for line in lines: self.shell(line)
        self.assertTrue((self.folder / "weights.png").read_bytes().startswith(b"\x89PNG"))
        self.assertIn("attn-cli --help", done.err)

    def test_the_demo_leads_on(self):
        for line in re.findall(r"(?m)^  (attn-cli .*)$", self.shell("attn-cli demo -o demo")): self.shell(line)
        self.assertEqual(self.files(), ["demo", "weights.svg"])

    def test_the_demo_replaces_nothing_unless_it_may(self):
        self.shell("attn-cli demo -o demo")
        self.write("demo/weights.csv", "mine\n")
        self.assertError(self.run_cli("demo", "-o", "demo", "--no-clobber", expect=5), "document.json' exists and is not to be replaced")
        self.assertEqual(self.read("demo/weights.csv"), "mine\n")
        self.run_cli("demo", "-o", "demo")
        self.assertNotEqual(self.read("demo/weights.csv"), "mine\n")

    def test_a_terminal_as_input_is_not_waited_for(self):
        self.write("x.json", {"embeddings": [[1, 0], [0, 1]]})
        for words in (("compute", "-"), ("compute", "-X", "-"), ("compute", "x.json", "--mask", "-"), ("compute", "x.json", "--tokens", "@-"),
                      ("compute", "x.json", "--w-q", "-"), ("compute", "x.json", "--config", "-"), ("render", "-"), ("render", "x.json:embeddings", "--mask", "-"), ("inspect", "-"),
                      ("diff", "-", "x.json"), ("diff", "x.json", "-"), ("explain", "-"), ("batch", "-"), ("batch", "x.json", "--resume", "-")):
            code, text = self.on_a_terminal(*words)
            self.assertEqual(code, 2, f"{words}: {text}")
            self.assertRegex(text, r"^attn-cli: error: .*- is standard input, which is a terminal\nattn-cli: hint: send a file to it with < FILE", words)

    def test_a_binary_format_is_not_written_to_a_terminal(self):
        self.write("x.json", {"embeddings": [[1, 0], [0, 1]]})
        for name in ("npy", "npz", "safetensors", "png", "pdf"):
            code, text = self.on_a_terminal("compute", "x.json", "-w", "-", "--format", name)
            self.assertEqual((code, text.splitlines()[-1]), (2, "attn-cli: hint: send it to a file or a pipe"))

    def test_what_is_for_programs_says_so_on_a_terminal(self):
        self.assertIn("attn-cli: note: attn-cli man | man -l - shows it as a page", self.on_a_terminal("man")[1])
        self.assertIn("attn-cli: note: this is a script for the shell to read", self.on_a_terminal("completion", "bash")[1])
        for words in (["man"], ["completion", "bash"]): self.assertEqual(self.run_cli(*words).err, "")

    def test_embeddings_are_drawn_with_their_tokens(self):
        self.write("x.json", {"tokens": ["red", "green"], "embeddings": [[1, 0], [0, 1]]})
        text = self.run_cli("render", "x.json").out
        self.assertRegex(text, r"(?m)^ +0 +1$")  # the columns are no tokens
        self.assertRegex(text, r"(?m)^ +red +1\.00 +0\.00$")

    def test_allowed_cells_said_by_hand(self):
        """Without the schema that the tool writes, `allowed` means the same."""
        for front in ({}, {"schema": "attn-cli/1", "shape": [2, 2]}):
            self.write("w.json", {**front, "weights": [[1, 0], [0, 1]], "allowed": [[[0, 1]], [[0, 2]]]})
            self.assertRegex(self.run_cli("render", "w.json").out, r"(?m)^ *0 +1\.00 +·$")
        self.write("w.json", {"weights": [[1, 0], [0, 1]], "allowed": [[[0, 3]], [[0, 2]]]})
        self.assertError(self.run_cli("render", "w.json", expect=3), "w.json:/allowed")

    def test_every_wrong_turn_says_what_to_type(self):
        self.write("x.json", {"embeddings": [[1, 0], [0, 1]]})
        self.write("m.csv", "1,0\n0,1\n")
        for code, words, next_step in (
                (2, ["compute"], "give a document, or -Q, -K and -V, or -X"), (2, ["compute", "-Q", "m.csv"], "-K FILE"), (2, ["compute", "-K", "m.csv"], "-Q FILE"),
                (3, ["compute", "m.csv"], "-X m.csv"), (2, ["compute", "x.json", "m.csv"], "-Q x.json -K m.csv"), (2, ["render", "m.csv", "x.json"], "usage: attn-cli render"),
                (2, ["compute", "x.json", "-w", "-"], "--format"), (2, ["compute", "x.json", "-w", "out"], "--format"),
                (2, ["render"], "usage: attn-cli render INPUT"), (2, ["inspect"], "usage: attn-cli inspect"), (2, ["diff", "m.csv"], "usage: attn-cli diff A B"),
                (2, ["batch"], "usage: attn-cli batch MANIFEST.jsonl"), (2, ["completion"], "usage: attn-cli completion bash|zsh|fish"),
                (2, ["x.json"], "attn-cli compute x.json"), (2, ["--causal", "compute"], "attn-cli SUBCOMMAND --causal"),
                (2, ["compute", "x.json", "-o", "y.npy", "--frobnicate"], "attn-cli compute --help"), (2, ["frobnicate"], "attn-cli --help"),
                (2, ["compute", "m.csv", "m.csv", "m.csv"], "-Q m.csv -K m.csv -V m.csv"), (2, ["compute", "x.json", "--causal", "true"], "takes no value"),
                (2, ["compute", "x.json", "-o", "y.png"], "--heatmap y.png"), (5, ["compute", "x.json", "-w", "no/such/y.csv"], "mkdir -p no/such"),
                (2, ["compute", "x.json", "-W", "y.csv"], "did you mean '-w' (--weights)?"), (3, ["compute", "x.json", "--mask", "causal"], "did you mean '--causal'?"),
                (2, ["version"], "did you mean '--version'?"), (2, ["hlep"], "did you mean 'help'?"), (2, ["The cat is cute"], "attn-cli demo -o DIR"),
                (3, ["compute", "https://example.org/x.json"], "fetch it first"),
                (2, ["compute", "x.json", "-w"], "-w FILE"), (3, ["compute", "no-such.json"], "attn-cli demo -o DIR")):
            done = self.run_cli(*words, expect=code)
            self.assertError(done, ".")
            self.assertIn(next_step, done.err, words)


main()
