"""Weights, outputs and log-sum-exps of 275 small problems that were worked out once with 40 digits."""
import json, pathlib

from attn_test import CliTest, main

DATA = json.loads((pathlib.Path(__file__).parent / "data" / "decimal.json").read_text())


class Decimals(CliTest):
    def compare(self, got, want, limit, where):
        if isinstance(want, list):
            self.assertEqual(len(got), len(want), where)
            for i, (g, w) in enumerate(zip(got, want)): self.compare(g, w, limit, f"{where}/{i}")
        elif want == "-Infinity": self.assertEqual(got, want, where)
        else: self.assertLessEqual(abs(got - want), limit, f"{where}: {got!r}, exact {want!r}")

    def test_every_group(self):
        for group in DATA["groups"]:
            self.write("doc.json", group["document"])
            most = max(abs(x) for item in group["document"]["value"] for row in item for x in row)
            for kernel in ("auto", "reference"):
                with self.subTest(group["name"], kernel=kernel):
                    self.run_cli("compute", "doc.json", *group["args"], "--kernel", kernel, "-w", "w.json", "-o", "o.json", "--lse", "l.json")
                    limit, expect = group["limit"], group["expect"]
                    self.compare(self.read_json("w.json")["weights"], expect["weights"], limit, "weights")
                    self.compare(self.read_json("o.json")["output"], expect["output"], limit * most, "output")
                    largest = max(1, max(abs(x) for b in expect["lse"] for x in b[0] if x != "-Infinity"))
                    self.compare(self.read_json("l.json")["lse"], expect["lse"], limit * largest, "lse")

    def test_there_are_enough(self):
        self.assertGreaterEqual(sum(len(g["document"]["query"]) for g in DATA["groups"]), 200)
        for group in DATA["groups"]: self.assertLess(group["limit"], 5e-12 if group["name"] == "large scores" else 1e-13, group["name"])


if __name__ == "__main__": main()
