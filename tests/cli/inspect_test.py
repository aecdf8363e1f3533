"""attn-cli inspect: what is in a file."""
import json, math

from arrays import npy, npz, safetensors
from attn_test import CliTest, main

WEIGHTS = [[1.0, 0.0, 0.0], [0.5, 0.25, 0.25], [0.0, 0.0, 0.0]]


class Inspect(CliTest):
    def answer(self, *words, **kwargs): return json.loads(self.run_cli("inspect", *words, "--json", **kwargs).out)

    def test_figures_of_one_matrix_in_every_format(self):
        values = [[1.5, -2.0, 4.0], [0.0, 8.0, 0.5]]
        self.write("m.csv", "1.5,-2,4\n0,8,0.5\n"), self.write("m.tsv", "1.5\t-2\t4\n0\t8\t.5\n"), self.write("m.json", values)
        self.write("m.npy", npy(values)), self.write("f.npy", npy(values, "<f4"))
        self.write("m.npz", npz(m=values)), self.write("m.safetensors", safetensors(m=values))
        for name in ("m.csv", "m.tsv", "m.json", "m.npy", "f.npy", "m.npz", "m.safetensors"):
            answer = self.answer(name)
            (array,) = answer["arrays"]
            self.assertEqual(answer["format"], name.split(".")[1])
            self.assertEqual(array["dtype"], "float32" if name == "f.npy" else "float64")
            self.assertEqual((array["shape"], array["minimum"], array["maximum"], array["mean"]), ([2, 3], -2, 8, 2), name)
            self.assertEqual((array["finite"], array["nan"], array["infinite"]), (6, 0, 0))
            self.assertNotIn("weights", array)
        self.assertEqual(self.answer("-", stdin=b"1,2\n")["arrays"][0]["maximum"], 2)

    def test_non_finite_numbers_are_counted_apart(self):
        self.write("m.csv", "1,nan,inf\n-inf,3,nan\n")
        (array,) = self.answer("m.csv")["arrays"]
        self.assertEqual((array["finite"], array["nan"], array["infinite"]), (2, 2, 2))
        self.assertEqual((array["minimum"], array["maximum"], array["mean"]), (1, 3, 2))
        self.write("n.csv", "nan\n")
        (array,) = self.answer("n.csv")["arrays"]
        self.assertNotIn("mean", array)
        self.assertRegex(self.run_cli("inspect", "n.csv").out, r"float64 \(text\) +\[1,1\] +- +- +- +1 +0")

    def test_weights(self):
        self.write("w.npz", npz(weights=WEIGHTS, tokens=["The", "cat", "is"]))
        weights = self.answer("w.npz", "--top", "2")["arrays"][0]["weights"]
        self.assertEqual((weights["rows"], weights["empty_rows"]), (3, 1))
        self.assertEqual(weights["row_sum"], {"minimum": 0, "maximum": 1})
        entropy = -(0.5 * math.log(0.5) + 0.5 * math.log(0.25))
        self.assertClose([weights["entropy"]["maximum"], weights["entropy"]["mean"]], [entropy, entropy / 3], 1e-12)
        second = weights["strongest"][1]
        self.assertEqual((second["row"], second["query"]), ([1], "cat"))
        # Equal weights: the earlier key first.
        self.assertEqual(second["keys"], [{"index": 0, "key": "The", "weight": 0.5}, {"index": 1, "key": "cat", "weight": 0.25}])

    def test_weights_as_text(self):
        self.write("w.csv", "query,The,cat\nThe,1,0\ncat,0.25,0.75\n")
        text = self.run_cli("inspect", "w.csv").out
        self.assertRegex(text, r"row sums 1 to 1, entropy 0 to 0\.56233\d? nats \(mean 0\.28116\d?\)")
        self.assertRegex(text, r"(?m)^The +The 1 +cat 0$")
        self.assertRegex(text, r"(?m)^cat +cat 0\.75 +The 0\.25$")

    def test_rows_of_heads_say_their_place(self):
        self.write("w.npy", npy([[WEIGHTS, WEIGHTS]]))
        text = self.run_cli("inspect", "w.npy", "--top", "1").out
        self.assertRegex(text, r"(?m)^batch 0, head 1, 1 +0 0\.5$")
        rows = [row["row"] for row in self.answer("w.npy", "--top", "1")["arrays"][0]["weights"]["strongest"]]
        self.assertEqual(rows, [[0, h, q] for h in range(2) for q in range(3)])

    def test_many_rows_are_shown_on_demand(self):
        self.write("w.json", [[1.0]] * 40)
        self.assertEqual(len(self.answer("w.json")["arrays"][0]["weights"]["strongest"]), 16)
        self.assertIn("--top K shows all", self.run_cli("inspect", "w.json").out)
        self.assertEqual(len(self.answer("w.json", "--top", "1")["arrays"][0]["weights"]["strongest"]), 40)

    def test_other_numbers_are_no_weights(self):
        for values in ([[0.5, 0.6]], [[1.5, -0.5]], [[0.001, 0.002]], [[float("nan"), 1]]):
            self.write("m.npy", npy(values))
            self.assertNotIn("weights", self.answer("m.npy")["arrays"][0], values)
        self.write("i.npy", npy([[1, 0]], "<i8"))
        self.assertNotIn("weights", self.answer("i.npy")["arrays"][0])

    def test_all_members_and_one(self):
        self.write("many.npz", npz(q=[[1.0]], k=[[2.0], [3.0]], tokens=["a", "b"], scalar=npy(5.0), flags=npy([True, False], "|b1")))
        answer = self.answer("many.npz")
        self.assertEqual({a["name"]: (a["dtype"], a["shape"]) for a in answer["arrays"]},
                         {"q": ("float64", [1, 1]), "k": ("float64", [2, 1]), "scalar": ("float64", []), "flags": ("bool", [2])})
        self.assertEqual(answer["others"], [{"name": "tokens", "value": "2 strings"}])
        answer = self.answer("many.npz:k")
        self.assertEqual([(a["name"], a["maximum"]) for a in answer["arrays"]], [("k", 3)])
        done = self.run_cli("inspect", "many.npz:scalr", expect=3)
        self.assertError(done, "no array 'scalr', expected flags, k, q or scalar")
        self.assertIn("did you mean 'scalar'?", done.err)

    def test_documents(self):
        self.write("doc.json", {"tokens": ["The", "cat"], "embeddings": [[1, 0], [0, 1]], "options": {"heads": 1}, "mask_kind": "keep", "meta": None})
        answer = self.answer("doc.json")
        self.assertEqual([a["name"] for a in answer["arrays"]], ["embeddings"])
        self.assertEqual([o["name"] for o in answer["others"]], ["tokens", "options", "mask_kind", "meta"])

    def test_names_are_made_safe(self):
        self.write("x.json", {"a\x1b[2J": [[1]], "b\u202e": "x\x1b"})
        text = self.run_cli("inspect", "x.json").out
        self.assertNotIn("\x1b", text)
        self.assertNotIn("\u202e", text)
        self.assertEqual(self.answer("x.json")["arrays"][0]["name"], "a\x1b[2J")

    def test_empty_arrays(self):
        self.write("e.npy", b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }".ljust(117) + b"\n")
        (array,) = self.answer("e.npy")["arrays"]
        self.assertEqual((array["shape"], array["finite"]), ([0, 3], 0))

    def test_top_is_a_count(self):
        self.write("w.csv", "1\n")
        for value in ("0", "-1", "01", "x", ""): self.assertError(self.run_cli("inspect", "w.csv", "--top", value, expect=2), "--top")


main()
