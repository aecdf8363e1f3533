"""Completions of three shells, held against --help and the man page; bash is tried in a real bash."""
import re, subprocess

import attn_test
from attn_test import CliTest, main

# As --help lists them, so that a new one is tested from its first day.
LISTED = subprocess.run([attn_test.BINARY, "--help"], capture_output=True, text=True).stdout.split("Subcommands:\n")[1].split("\n\n")[0]
SUBCOMMANDS = tuple(re.findall(r"(?m)^  (\w+) ", LISTED))


def option_texts(help_text):
    """(--option, VALUE, what is said of it) for each option of --help."""
    blocks = re.findall(r"(?m)^  (?:-\w, |    )(--[\w-]+)(?: (\S+))?((?:  +.*|$)(?:\n {30}.*)*)", help_text)
    return [(option, value, " ".join(text.split())) for option, value, text in blocks]


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

    def test_values(self):
        """The words that an option takes are the same everywhere, and the parser takes each of them and no other."""
        scripts = {shell: self.run_cli("completion", shell).out for shell in ("bash", "zsh", "fish")}
        page = self.run_cli("man").out.replace("\\-", "-")
        tried, listed = set(), 0
        for name in SUBCOMMANDS:
            zsh = re.search(rf"(?ms)^    {name}\)\n(.*?);;$", scripts["zsh"])[1]
            for option, value, text in option_texts(self.run_cli(name, "--help").out):
                found = re.search(rf'(?m)^    "{name} {option}"[^)]*\) _attn_cli_words "([^"]*)"', scripts["bash"])
                words = found[1].split() if found else []
                in_zsh = re.search(rf"(?m)^ +\S*{option}=\}}?'\[.*:\(([^)]*)\)' ?\\\\?$", zsh)
                self.assertEqual(in_zsh[1].split() if in_zsh else [], words, f"zsh: {name} {option}")
                in_fish = re.search(rf"(?m)^complete -c attn-cli -n '__fish_seen_subcommand_from {name}' -l {option[2:]} .*-x -a '([^']*)'", scripts["fish"])
                self.assertEqual(in_fish[1].split() if in_fish else [], words, f"fish: {name} {option}")
                in_help = re.findall(r"\(([\w-]+(?:, [\w-]+)+)\)(?:;| \[|$)", text)
                if "|" in value: self.assertEqual([w for w in value.split("|") if w.islower()], words, f"help: {name} {option}")
                else: self.assertEqual(in_help[0].split(", ") if in_help else [], words, f"help: {name} {option}")
                if words and "|" not in value: self.assertIn(f"({', '.join(words)})", page)
                listed += len(words)
                if words and option not in tried: self.check_words(option, words)
                tried.add(option)
        self.assertGreater(listed, 150)

    def check_words(self, option, words):
        """As a default in a file, where values are checked for every subcommand."""
        if option in ("--format", "--labels", "--delimiter"): return  # these take more than words, and say so when they act
        for word in words:
            self.write("c.json", {option[2:]: word})
            self.run_cli("demo", "--config", "c.json")
        slip = max(words, key=len)
        self.write("c.json", {option[2:]: slip[:-1] + "#"})
        done = self.run_cli("demo", "--config", "c.json", expect=2)
        self.assertIn(f"did you mean '{slip}'?", done.err, option)

    def test_subcommands(self):
        for shell, pattern in (("bash", r'_attn_cli_words "{}[ "]| {} '), ("zsh", r"'{}:"), ("fish", r"-a {} ")):
            script = self.run_cli("completion", shell).out
            for name in SUBCOMMANDS: self.assertRegex(script, pattern.replace("{}", name))

    def test_wrong_shell(self):
        done = self.run_cli("completion", "zhs", expect=2)
        self.assertError(done, "found 'zhs', expected bash, zsh or fish")
        self.assertIn("did you mean 'zsh'?", done.err)


class RealBash(CliTest):
    def complete_all(self, lines):
        """What Tab offers after each of these lists of words; one bash for all."""
        script = f"""source <("{attn_test.BINARY}" completion bash)
while IFS= read -r line; do
  IFS=$'\\t' read -r -a COMP_WORDS <<<"$line"; COMP_WORDS+=(""); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
  _attn_cli attn-cli "" "${{COMP_WORDS[COMP_CWORD-1]}}"
  printf '%s\\n' "${{COMPREPLY[*]}}"
done
"""
        done = subprocess.run(["bash", "--norc", "-c", script], input="".join("\t".join(words) + "\n" for words in lines), cwd=self.folder,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [line.split() for line in done.stdout.split("\n")[:-1]]

    def test_every_option_offers_its_words(self):
        self.write("a-file", "")
        asked, wanted = [], []
        for name in SUBCOMMANDS:
            for option, value, text in option_texts(self.run_cli(name, "--help").out):
                if not value: continue
                lists = re.findall(r"\(([\w-]+(?:, [\w-]+)+)\)(?:;| \[|$)", text)
                words = [w for w in value.split("|") if w.islower()] if "|" in value else lists[0].split(", ") if lists else []
                asked.append(["attn-cli", name, option])
                wanted.append(words if words else ["a-file"] if value in ("FILE", "DIR", "RESULTS.jsonl") else [])
        self.assertGreater(len(asked), 200)
        for words, found, expected in zip(asked, self.complete_all(asked), wanted, strict=True): self.assertEqual(found, expected, words)

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
