"""The gallery can be made from a clean folder, and every figure it shows is there."""
import html, re, subprocess

from attn_test import BINARY, SOURCE, CliTest, main

SIGNATURES = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml", ".pdf": b"%PDF"}


class Gallery(CliTest):
    def test_page_shows_what_was_drawn(self):
        script = SOURCE / "samples" / "gallery" / "make_gallery.sh"
        folder = self.folder / "gallery"
        done = subprocess.run(["bash", script, folder, BINARY], capture_output=True, text=True, timeout=500)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.strip(), str(folder.resolve() / "index.html"))
        page = (folder / "index.html").read_text()
        images = re.findall(r'<img src="([^"]+)"', page)
        self.assertGreater(len(images), 30)
        for name in images + ["causal.pdf"]:
            path = folder / name
            self.assertTrue(path.read_bytes().startswith(SIGNATURES[path.suffix]), name)
        self.assertNotIn("\x1b", html.unescape(page))
        self.assertNotIn("error:", page)


main()
