"""PyTorch's and ONNX's own results, kept in data/, come out of the tool with the options the recipes name."""
import json, pathlib

from attn_test import CliTest, main

DATA = pathlib.Path(__file__).parent / "data"
# Every array of a case that can be asked for: the option and what the file calls it.
OUTPUTS = {
    "weights": (["-w"], "weights"), "output": (["-o"], "output"),
    "raw": (["--stage", "raw", "--scores"], "scores"), "capped": (["--stage", "capped", "--scores"], "scores"),
    "masked": (["--stage", "masked", "--scores"], "scores"),
    "present_key": (["--present-key"], "present_key"), "present_value": (["--present-value"], "present_value"),
}
STAGES = ("raw", "capped", "masked")


class Peers(CliTest):
    def check(self, case, kernel):
        self.write("doc.json", case["document"])
        expect = case["expect"]
        # Only one stage of the scores can be asked for in a run.
        for stage in [s for s in STAGES if s in expect] or [None]:
            wanted = [name for name in expect if name not in STAGES or name == stage]
            args = [word for name in wanted for word in (*OUTPUTS[name][0], f"{name}.json")]
            self.run_cli("compute", "doc.json", *case["args"], "--kernel", kernel, *args)
            for name in wanted:
                got = self.read_json(f"{name}.json")
                self.assertClose(got[OUTPUTS[name][1]], expect[name], 1e-8, name)

    def run_file(self, name, least):
        cases = json.loads((DATA / name).read_text())["cases"]
        self.assertGreaterEqual(len(cases), least)
        for case in cases:
            for kernel in ("auto", "reference"):
                with self.subTest(case["name"], kernel=kernel): self.check(case, kernel)

    def test_onnx(self): self.run_file("onnx.json", 50)
    def test_torch(self): self.run_file("torch.json", 46)

    def test_data_is_small_and_says_where_it_is_from(self):
        self.assertLess(sum(p.stat().st_size for p in DATA.iterdir()), 2_000_000)
        for name in ("onnx.json", "torch.json"):
            data = json.loads((DATA / name).read_text())
            self.assertTrue(data["made_by"]["numpy"])
            self.assertGreaterEqual(len(data["differences"]), 3)


if __name__ == "__main__": main()
