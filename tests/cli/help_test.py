"""--help, the man page and the names in them."""
import re, shlex, shutil, subprocess

import attn_test
from attn_test import CliTest, SAMPLES, main

# As --help lists them, so that a new one is tested from its first day.
LISTED = subprocess.run([attn_test.BINARY, "--help"], capture_output=True, text=True).stdout.split("Subcommands:\n")[1].split("\n\n")[0]
SUBCOMMANDS = tuple(re.findall(r"(?m)^  (\w+) ", LISTED))


def examples(text):
    """The command lines under the heading of examples."""
    lines = text.split("Examples", 1)[1].split("\n\n", 1)[0].splitlines()[1:]
    return [line.strip() for line in lines]


class Help(CliTest):
    def test_main_help_names_all(self):
        text = self.run_cli("--help").out
        for name in ("compute", "render", "inspect", "diff", "explain", "demo", "batch", "completion", "man"): self.assertIn(name, SUBCOMMANDS)
        for code in ("0", "1", "2", "3", "4", "5", "6", "70"): self.assertRegex(text, rf"(?m)^  {code}  ")
        self.assertEqual(text, self.run_cli("-h").out)
        self.assertEqual(text, self.run_cli("help").out)

    def test_examples_stand_first(self):
        for name in SUBCOMMANDS:
            text = self.run_cli(name, "--help").out
            self.assertLess(text.index("Examples"), text.index("Usage: attn-cli " + name), name)
            self.assertGreaterEqual(len(examples(text)), 1, name)
            self.assertEqual(text, self.run_cli("help", name).out)

    def test_help_wins_over_other_errors(self):
        self.assertIn("Usage: attn-cli render", self.run_cli("render", "no.csv", "--help", "--no-such").out)

    def test_lines_fit(self):
        for name in SUBCOMMANDS:
            for line in self.run_cli(name, "--help").out.splitlines(): self.assertLessEqual(len(line), 100, f"{name}: {line}")

    def test_defaults_and_choices_are_shown(self):
        text = " ".join(self.run_cli("diff", "--help").out.split())
        self.assertIn("--atol X absolute tolerance: |a-b| <= atol + rtol |b| is the same [default: 1e-6]", text)
        self.assertIn("--color WHEN colours in text; without this, NO_COLOR decides, then whether the stream is a terminal "
                      "(auto, always, never) [default: auto]", text)

    def test_wrong_subcommand_of_help(self):
        self.assertError(self.run_cli("help", "compte", expect=2), "unknown subcommand 'compte'")

    def test_examples_run_in_samples(self):
        work = self.folder / "samples"
        shutil.copytree(SAMPLES, work)
        for name in SUBCOMMANDS:
            for line in examples(self.run_cli(name, "--help").out):
                if re.search(r"~|man -l", line): continue  # places and files of the user's own
                with self.subTest(line):
                    script = f'attn-cli() {{ "{attn_test.BINARY}" "$@"; }}\n{line}'
                    done = subprocess.run(["bash", "-c", script], cwd=work, capture_output=True, timeout=60)
                    self.assertEqual((done.returncode, done.stderr), (0, b""), line)


class Man(CliTest):
    def test_man_page_formats_without_a_warning(self):
        page = self.run_cli("man").out_bytes
        self.write("attn-cli.1", page)
        done = subprocess.run(["man", "-l", "--warnings", "-Tutf8", "attn-cli.1"], cwd=self.folder, capture_output=True,
                              env={"PATH": "/usr/bin:/bin", "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        text = re.sub("\x1b\\[[0-9;]*m|.\b", "", done.stdout.decode())
        for heading in ("NAME", "SYNOPSIS", "SUBCOMMANDS", "COMMON OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES"):
            self.assertRegex(text, rf"(?m)^{heading}$")

    def test_no_line_is_taken_for_a_request(self):
        for line in self.run_cli("man").out.splitlines():
            if line.startswith((".", "'")): self.assertRegex(line, r"^\.(TH|SH|SS|TP|PP|nf|fi|RS|RE)( |$)")


main()
