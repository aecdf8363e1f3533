"""Completions of three shells, held against --help and the man page; bash is tried in a real bash."""
import re, subprocess

import attn_test
from attn_test import CliTest, main

# As --help lists them, so that a new one is tested from its first day.
LISTED = subprocess.run([attn_test.BINARY, "--help"], capture_output=True, text=True).stdout.split("Subcommands:\n")[1].split("\n\n")[0]
SUBCOMMANDS = tuple(re.findall(r"(?m)^  (\w+) ", LISTED))


class Consistency(CliTest):
    """Every option of help stands in the man page and in the three completions, and none else."""

    def setUp(self):
        super().setUp()
        self.help = {name: set(re.findall(r"(?m)^  +(?:-\w, )?(--[\w-]+)", self.run_cli(name, "--help").out)) for name in SUBCOMMANDS}

    def test_help_has_options(self):
        for name in SUBCOMMANDS: self.assertIn("--help", self.help[name])
        self.assertIn("--weights", self.help["compute"])

    def test_bash(self):
        script = self.run_cli("completion", "bash").out
        for name in SUBCOMMANDS:
            words = re.search(rf'(?m)^    {name}\) options="([^"]*)"', script)[1].split()
            self.assertEqual({w for w in words if w.startswith("--")}, self.help[name], name)

    def test_zsh(self):
        script = self.run_cli("completion", "zsh").out
        for name in SUBCOMMANDS:
            block = re.search(rf"(?ms)^    {name}\)\n(.*?);;$", script)[1]
            found = set(re.findall(r"(?m)^ +(?:'[^']*')?(?:\{-\w\+?,)?(--[\w-]+)", block))
            self.assertEqual(found, self.help[name], name)

    def test_fish(self):
        script = self.run_cli("completion", "fish").out
        for name in SUBCOMMANDS:
            found = set(re.findall(rf"(?m)^complete -c attn-cli -n '__fish_seen_subcommand_from {name}' -l ([\w-]+)", script))
            self.assertEqual({"--" + option for option in found}, self.help[name], name)

    def test_man(self):
        page = self.run_cli("man").out.replace("\\-", "-")
        blocks = re.split(r"(?m)^\.SS ", page.split(".SH COMMON OPTIONS")[0])[1:]
        common = set(re.findall(r"(?m)^(?:\\fB-\w\\fR, )?\\fB(--[\w-]+)\\fR", page.split(".SH COMMON OPTIONS")[1].split(".SH EXIT")[0]))
        self.assertEqual(len(blocks), len(SUBCOMMANDS))
        for block in blocks:
            name = block.split()[0]
            found = set(re.findall(r"(?m)^(?:\\fB-\w\\fR, )?\\fB(--[\w-]+)\\fR", block))
            self.assertEqual(found | common, self.help[name], name)

    def test_subcommands(self):
        for shell, pattern in (("bash", r'_attn_cli_words "{}[ "]| {} '), ("zsh", r"'{}:"), ("fish", r"-a {} ")):
            script = self.run_cli("completion", shell).out
            for name in SUBCOMMANDS: self.assertRegex(script, pattern.replace("{}", name))

    def test_wrong_shell(self):
        done = self.run_cli("completion", "zhs", expect=2)
        self.assertError(done, "found 'zhs', expected bash, zsh or fish")
        self.assertIn("did you mean 'zsh'?", done.err)


class RealBash(CliTest):
    def complete(self, *words):
        """What Tab offers after these words (the last is being typed), as bash's own word splitting gives them."""
        script = f"""source <("{attn_test.BINARY}" completion bash)
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${{#COMP_LINE}}
_attn_cli attn-cli "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", *words], cwd=self.folder, capture_output=True, text=True, timeout=20)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split("\n")[:-1] if done.stdout.strip() else []

    def test_it_is_registered(self):
        done = subprocess.run(["bash", "--norc", "-c", f'source <("{attn_test.BINARY}" completion bash); complete -p attn-cli'], capture_output=True, text=True)
        self.assertEqual(done.stdout, "complete -F _attn_cli attn-cli\n")

    def test_subcommands(self):
        self.assertEqual(self.complete("attn-cli", "re"), ["render"])
        self.assertEqual(set(self.complete("attn-cli", "")), {*SUBCOMMANDS, "--help", "--version"})

    def test_options(self):
        self.assertEqual(self.complete("attn-cli", "render", "--colorm"), ["--colormap"])
        self.assertEqual(sorted(self.complete("attn-cli", "diff", "--a")), ["--atol"])

    def test_values(self):
        self.assertEqual(self.complete("attn-cli", "render", "--reduce", "m"), ["mean", "max", "min"])
        self.assertEqual(self.complete("attn-cli", "render", "--colormap", "vir"), ["viridis"])
        self.assertEqual(self.complete("attn-cli", "render", "--colormap", "=", "vir"), ["viridis"])
        self.assertEqual(self.complete("attn-cli", "completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.complete("attn-cli", "render", "--vmin", ""), [])

    def test_files(self):
        self.write("weights.csv", "1\n"), self.write("a b.csv", "1\n")
        self.assertEqual(self.complete("attn-cli", "render", "wei"), ["weights.csv"])
        self.assertEqual(self.complete("attn-cli", "render", "w.csv", "-o", "a"), ["a b.csv"])
        self.assertEqual(self.complete("attn-cli", "demo", ""), [])


main()
