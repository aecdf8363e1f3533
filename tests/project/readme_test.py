"""Runs every command block of the README and of the pages it links to.

A ```sh block is run with bash in a folder that has a copy of samples/ and attn-cli on the PATH, one folder for a whole
page, block after block. A ```text block right after it is what the block prints on standard output, to the letter.
Blocks that work on the tree itself (scripts/, cmake) are run there; installing and the whole test run are left out of
them, since this is that run.
"""
import os, pathlib, re, shutil, subprocess, tempfile, unittest

from attn_test import BINARY, SOURCE

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
ON_THE_TREE = re.compile(r"^(bash scripts/|cmake |ctest |git clone|cd attn-cli)", re.M)


def blocks(page):
    """(line number, commands, expected output or None) of each command block."""
    text = page.read_text()
    found = [(text.count("\n", 0, m.start()) + 1, m.group(1), m.group(2), m.end(), m.start()) for m in BLOCK.finditer(text)]
    for i, (line, kind, body, end, _) in enumerate(found):
        if kind != "sh": continue
        after = found[i + 1] if i + 1 < len(found) else None
        shown = after[2] if after and after[1] == "text" and not text[end:after[4]].strip() else None
        yield line, body, shown


class Readme(unittest.TestCase):
    maxDiff = None

    def run_page(self, page):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="attn-readme-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        shutil.copytree(SOURCE / "samples", folder / "samples")
        (folder / "bin").mkdir()
        (folder / "bin" / "attn-cli").symlink_to(BINARY)
        env = {k: v for k, v in os.environ.items() if not k.startswith("ATTN_CLI")}
        env.update({"PATH": f"{folder / 'bin'}:{env['PATH']}", "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / ".config"), "NO_COLOR": "1"})
        ran = 0
        for line, body, shown in blocks(page):
            if ON_THE_TREE.search(body): body, where = self.tree_commands(body), SOURCE
            else: where = folder
            with self.subTest(page=page.name, line=line):
                done = subprocess.run(["bash", "-euo", "pipefail", "-c", body], cwd=where, env=env, capture_output=True, text=True, timeout=600)
                self.assertEqual(done.returncode, 0, f"{page.name}:{line}\n{body}\n{done.stderr}")
                if shown is not None: self.assertEqual(done.stdout, shown, f"{page.name}:{line}")
            ran += 1
        return ran

    def tree_commands(self, body):
        """The same commands without downloading, installing, or running this test inside itself."""
        kept = []
        for command in body.splitlines():
            if re.match(r"git clone|cd attn-cli|sudo |ctest|cmake --preset|cmake --build", command): continue
            if command.startswith("bash scripts/test.sh"): command = "bash -n scripts/test.sh"
            elif command.startswith("bash scripts/run.sh"): command = command.replace("scripts/run.sh", "scripts/run.sh --no-install", 1)
            elif command.startswith("bash scripts/"): command = "bash -n " + command.split()[1]
            kept.append(command)
        return "\n".join(kept)

    def test_readme(self):
        self.assertGreater(self.run_page(SOURCE / "README.md"), 8)

    def test_pages(self):
        for page in sorted((SOURCE / "docs").glob("*.md")): self.run_page(page)

    def test_links_lead_somewhere(self):
        for page in [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]:
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
                self.assertTrue((page.parent / target).exists(), f"{page.name} links to {target}")


unittest.main()
