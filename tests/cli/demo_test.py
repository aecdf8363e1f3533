"""attn-cli demo: the example of the tutorial."""
from attn_test import CliTest, main

# softmax of 0.5 for the token itself and 0 for each one before it
ROWS = [[1, 0, 0, 0], [0.377541, 0.622459, 0, 0], [0.274069, 0.274069, 0.451863, 0], [0.215113, 0.215113, 0.215113, 0.354661]]


class Demo(CliTest):
    def test_the_terminal(self):
        text = self.run_cli("demo").out
        for row in (r"The +1\.00 +· +· +·", r"cat +0\.38 +0\.62 +· +·", r"is +0\.27 +0\.27 +0\.45 +·", r"cute +0\.22 +0\.22 +0\.22 +0\.35"):
            self.assertRegex(text, rf"(?m)^ *{row}")
        self.assertEqual(self.files(), [])

    def test_the_folder(self):
        text = self.run_cli("demo", "-o", "out").out
        out = self.folder / "out"
        self.assertEqual(sorted(p.name for p in out.iterdir()), ["document.json", "heatmap.png", "weights.csv", "weights.json"])
        document = self.read_json("out/weights.json")
        self.assertClose(document["weights"], ROWS)
        self.assertEqual((document["schema"], document["shape"], document["query_tokens"], document["scale"]),
                         ("attn-cli/1", [4, 4], ["The", "cat", "is", "cute"], 0.5))
        self.assertEqual(self.read("out/weights.csv").splitlines()[0:2], ["query,The,cat,is,cute", "The,1,0,0,0"])
        self.assertTrue((out / "heatmap.png").read_bytes().startswith(b"\x89PNG"))
        self.assertIn("attn-cli compute out/document.json", text)

    def test_its_document_computes_the_same(self):
        self.run_cli("demo", "-o", "out")
        self.run_cli("compute", "out/document.json", "-w", "w.json", "-w", "w.csv")
        self.assertEqual(self.read_json("w.json")["weights"], self.read_json("out/weights.json")["weights"])
        self.assertEqual(self.read_json("w.json").get("allowed"), self.read_json("out/weights.json").get("allowed"))
        self.assertEqual(self.read("w.csv"), self.read("out/weights.csv"))

    def test_again_and_nowhere(self):
        self.run_cli("demo", "-o", "out"), self.run_cli("demo", "-o", "out")
        self.write("file", "x")
        self.assertError(self.run_cli("demo", "-o", "file", expect=5), "file")
        self.assertError(self.run_cli("demo", "-o", "no/such/place", expect=5), "no/such/place.*No such file")


main()
