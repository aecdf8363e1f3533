"""explain: each step as a table whose numbers are those of the formula, and one product term by term."""
import math, re
from attn_test import SAMPLES, CliTest, main
from plain_attention import attend, beside, columns, heads, numbers, plus, product, scores, transpose

CAT = SAMPLES / "cat.json"


class Explain(CliTest):
    def explain(self, *args): return self.run_cli("explain", *args, env={"COLUMNS": "200"}).out

    def tables(self, text):
        """{heading: [row of numbers]} of the tables, in order; a heading that comes again gets ' (2)' and so on."""
        found = {}
        for block in re.split(r"\n\n+", text):
            lines = block.splitlines()
            title, rows = lines[0], []
            for line in lines[2:]:
                cells = line.split()[1:]
                if not cells or not all(re.fullmatch(r"-?(inf|[\d.]+(e[+-]?\d+)?)", c) for c in cells): break
                rows.append([float(c) for c in cells])
            if not rows: continue
            name = title.split(":")[0]
            count = sum(key == name or key.startswith(name + " (") for key in found)
            found[name if not count else f"{name} ({count + 1})"] = rows
        return found

    def test_the_steps_of_the_tutorial(self):
        tables = self.tables(self.explain(CAT, "--causal"))
        eye = [[float(i == j) for j in range(4)] for i in range(4)]
        for name in ("Q", "K", "V", "Q Kᵀ"): self.assertEqual(tables[name], eye)
        self.assertEqual(tables["scaled"], [[x / 2 for x in row] for row in eye])
        masked = [[eye[i][j] / 2 if j <= i else -math.inf for j in range(4)] for i in range(4)]
        self.assertEqual(tables["masked"], masked)
        weights, output = attend(eye, eye, eye, allowed=lambda i, j: j <= i)
        for i, row in enumerate(tables["softmax"]):
            exps = [math.exp(s - 0.5) for s in masked[i]]
            self.assertClose(row, [0.5] + exps + [sum(exps)], 1e-5)
        self.assertClose(tables["weights"], weights, 1e-5)
        self.assertClose(tables["output"], output, 1e-5)

    def test_softcap_bias_and_sink(self):
        q, k, v = numbers(2, 3, 1), numbers(3, 3, 2), numbers(3, 2, 3)
        self.write("doc.json", {"query": q, "key": k, "value": v, "bias": [[1, 2, 3]], "sinks": [0.5]})
        tables = self.tables(self.explain("doc.json", "--softcap", 0.7, "--scale", 2))
        capped = scores(q, k, 2, 0.7)
        self.assertClose(tables["Q Kᵀ"], product(q, transpose(k)), 1e-5)
        self.assertClose(tables["scaled"], scores(q, k, 2), 1e-5)
        self.assertClose(tables["capped"], capped, 1e-5)
        masked = [[s + b for s, b in zip(row, (1, 2, 3))] for row in capped]
        self.assertClose(tables["masked"], masked, 1e-5)
        for row, shown in zip(masked, tables["softmax"]):
            top = max(row + [0.5])
            exps = [math.exp(s - top) for s in row + [0.5]]
            self.assertClose(shown, [top] + exps + [sum(exps)], 1e-5)
        weights, output = attend(q, k, v, 2, 0.7, bias=lambda i, j: j + 1, sink=0.5)
        self.assertClose(tables["weights"], weights, 1e-5)
        self.assertClose(tables["output"], output, 1e-5)

    def test_an_empty_row(self):
        self.write("doc.json", {"query": [[1], [2]], "key": [[1], [2]], "value": [[1], [2]], "mask": [[1, 1], [0, 0]]})
        done = self.run_cli("explain", "doc.json")
        tables = self.tables(done.out)
        self.assertEqual(tables["softmax"][1], [-math.inf, 0, 0, 0])
        self.assertEqual(tables["weights"][1], [0, 0])
        self.assertIn("note: 1 row", done.err)

    def test_heads_merge_and_output_projection(self):
        x, w_o, b_o = numbers(3, 4, 1), numbers(4, 3, 2), [1, 2, 3]
        self.write("doc.json", {"embeddings": x, "W_O": w_o, "b_O": b_o})
        text = self.explain("doc.json", "--heads", 2)
        tables = self.tables(text)
        weights, merged = heads(x, x, x, 2)
        self.assertIn("head 0\n", text)
        self.assertIn("head 1\n", text)
        self.assertClose(tables["weights"], weights[0], 1e-5)
        self.assertClose(tables["weights (2)"], weights[1], 1e-5)
        self.assertClose(tables["output"], columns(merged, 0, 2), 1e-5)
        self.assertClose(tables["output (2)"], columns(merged, 2, 4), 1e-5)
        self.assertClose(tables["merged"], merged, 1e-5)
        self.assertClose(tables["final output"], plus(product(merged, w_o), b_o), 1e-5)
        self.assertNotIn("head 0\n", self.explain("doc.json", "--heads", 2, "--head", 1))

    def test_what_is_projected(self):
        x, w_q = numbers(3, 2, 1), numbers(2, 2, 2)
        self.write("doc.json", {"tokens": ["a", "b", "c"], "embeddings": x, "W_Q": w_q, "b_K": [1, 2]})
        tables = self.tables(self.explain("doc.json"))
        self.assertClose(tables["X"], x, 1e-5)
        self.assertClose(tables["W_Q"], w_q, 1e-5)
        self.assertEqual(tables["b_K"], [[1, 2]])
        self.assertClose(tables["Q"], product(x, w_q), 1e-5)
        self.assertClose(tables["K"], plus(x, [1, 2]), 1e-5)
        self.assertNotIn("X: ", self.explain(CAT))

    def test_one_product(self):
        q, k, v = numbers(2, 3, 1), numbers(3, 3, 2), numbers(3, 2, 3)
        self.write("doc.json", {"query": q, "key": k, "value": v, "tokens": ["a", "b"], "key_tokens": ["x", "y", "z"]})
        text = self.explain("doc.json", "--at", "1,2")
        self.assertIn("query 1 'b' times key 2 'z'", text)
        terms = self.tables(text)
        terms = next(rows for name, rows in terms.items() if name.startswith("query 1"))
        total = 0
        for row, (a, b) in zip(terms, zip(q[1], k[2])):
            total += a * b
            self.assertClose(row, [a, b, a * b, total], 1e-5)
        weights, output = attend(q, k, v)
        self.assertClose(float(re.search(r"weight .* = ([\d.]+)", text)[1]), weights[1][2], 1e-5)
        self.assertClose(float(re.search(r"scaled .* = (-?[\d.]+)", text)[1]), total / math.sqrt(3), 1e-5)
        share = self.tables(text)["what this key adds to the output of the query"]
        for row, value, out in zip(share, v[2], output[1]):
            self.assertClose(row, [weights[1][2], value, weights[1][2] * value, out], 1e-5)
        self.assertIn("blocked", self.explain(CAT, "--causal", "--at", "0,3"))
        two = self.explain(SAMPLES / "two-heads.json", "--at", "3,1", "--head", 1)
        self.assertIn("head 1", two)
        self.assertNotIn("head 0", two)

    def test_large_inputs_are_refused_clearly(self):
        self.write("x.json", numbers(40, 4, 1))
        done = self.run_cli("explain", "-X", "x.json", expect=2)
        self.assertError(done, r"40 queries.*32")
        self.assertIn("--at", done.err)
        self.assertIn("query 39 times key 0", self.explain("-X", "x.json", "--at", "39,0"))

    def test_wrong_places(self):
        for at in ("4,0", "0,4"): self.assertError(self.run_cli("explain", CAT, "--at", at, expect=2), r"--at.*4 queries")
        for at in ("1", "a,b", "-1,0", "1,2,3", ""): self.assertError(self.run_cli("explain", CAT, "--at", at, expect=2), "--at")
        self.assertError(self.run_cli("explain", CAT, "--head", 1, expect=2), "--head 1")
        self.assertError(self.run_cli("explain", "gone.json", expect=3), "gone.json")

    def test_batches(self):
        x = [numbers(2, 2, 1), numbers(2, 2, 2)]
        self.write("x.json", x)
        tables = self.tables(self.explain("-X", "x.json"))
        self.assertClose(tables["weights"], attend(x[0], x[0])[0], 1e-5)
        self.assertClose(tables["weights (2)"], attend(x[1], x[1])[0], 1e-5)

    def test_without_a_value(self):
        self.write("doc.json", {"query": [[1]], "key": [[2]]})
        text = self.explain("doc.json")
        self.assertIn("weights", text)
        self.assertNotIn("V:", text)


main()
