"""Every mask and bias of compute acts as its meaning says, alone and together."""
import math
from attn_test import CliTest, main
from plain_attention import attend, heads, numbers

Q, K, V = numbers(4, 3, 1), numbers(5, 3, 2), numbers(5, 2, 3)


class Masks(CliTest):
    def weights(self, *options, expect=0, **fields):
        """Of Q, K and V above with further fields, as [n][m] or [H][n][m]."""
        self.write("doc.json", {"query": Q, "key": K, "value": V, **fields})
        self.done = self.run_cli("compute", "doc.json", *options, "-w", "w.json", "-o", "o.json", expect=expect)
        return self.read_json("w.json")["weights"] if expect == 0 else None

    def check(self, options, allowed=None, added=None, **fields):
        want, output = attend(Q, K, V, allowed=allowed, bias=added)
        self.assertClose(self.weights(*options, **fields), want, 1e-9)
        self.assertClose(self.read_json("o.json")["output"], output, 1e-9)

    def test_no_mask(self): self.check([])

    def test_causal(self):
        self.check(["--causal"], lambda i, j: j <= i)
        self.assertIn("top-left", self.done.err)
        self.check(["--causal", "--align", "top-left"], lambda i, j: j <= i)
        self.assertEqual(self.done.err, "")
        self.check(["--causal", "--align", "bottom-right"], lambda i, j: j <= i + 1)
        self.check(["--causal", "--query-offset", "2"], lambda i, j: j <= i + 2)
        self.check(["--causal", "--query-offset", "-1"], lambda i, j: j <= i - 1)
        self.assertRegex(self.done.err, r"note: .*row")

    def test_prefix(self): self.check(["--causal", "--prefix", "3"], lambda i, j: j < 3 or j <= i)

    def test_window(self):
        self.check(["--window", "1,0"], lambda i, j: i - 1 <= j <= i)
        self.check(["--window", "-1,1"], lambda i, j: j <= i + 1)
        self.check(["--window", "0,-1"], lambda i, j: j >= i)
        self.check(["--window", "1,1", "--align", "bottom-right"], lambda i, j: i <= j <= i + 2)

    def test_key_lengths(self): self.check(["--key-lengths", "3"], lambda i, j: j < 3)

    def test_bottom_right_counts_from_the_valid_keys(self):
        self.check(["--causal", "--align", "bottom-right", "--key-lengths", "4"], lambda i, j: j < 4 and j <= i)

    def test_documents(self):
        keys, queries = [0, 0, 1, 1, 2], [0, 1, 1, 2]
        self.check(["--documents", "0,0,1,1,2", "--query-documents", "0,1,1,2"], lambda i, j: keys[j] == queries[i])
        self.check([], lambda i, j: keys[j] == queries[i], documents=keys, query_documents=queries)
        self.weights("--documents", "0,0,1,1,2", expect=4)
        self.assertError(self.done, "quer")

    def test_mask_kinds(self):
        mask = [[1, 0, 1, 1, 0], [0, 1, 1, 0, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 1]]
        self.check([], lambda i, j: mask[i][j], mask=mask)
        self.check(["--mask-kind", "keep"], lambda i, j: mask[i][j], mask=[[bool(x) for x in row] for row in mask])
        self.check(["--mask-kind", "block"], lambda i, j: not mask[i][j], mask=mask)
        self.check([], lambda i, j: not mask[i][j], mask=mask, mask_kind="block")
        added = [["-Infinity" if x else 0.5 * j for j, x in enumerate(row)] for row in mask]
        self.check(["--mask-kind", "add"], lambda i, j: not mask[i][j], lambda i, j: 0.5 * j, mask=added)

    def test_mask_file_in_other_formats(self):
        self.write("mask.csv", "1,0,1,1,0\n")
        self.check(["--mask", "mask.csv"], lambda i, j: j not in (1, 4))

    def test_broadcasts(self):
        self.check([], lambda i, j: j > 1, mask=[0, 0, 1, 1, 1])
        self.check([], lambda i, j: i != 2, mask=[[1], [1], [0], [1]])
        self.check([], lambda i, j: j > 1, mask=[[[[0, 0, 1, 1, 1]]]])

    def test_masks_that_do_not_fit(self):
        for mask in ([1, 1, 1], [[1, 1, 1, 1, 1]] * 3, [[[1] * 5] * 4] * 2, [[1] * 4] * 5):
            self.weights(mask=mask, expect=4)
            self.assertError(self.done, r"doc\.json:/mask")

    def test_keep_takes_only_zero_and_one(self):
        self.weights(mask=[[1, 1, 0.5, 1, 1]], expect=4)
        self.assertError(self.done, r"--mask-kind add")

    def test_bias(self):
        bias = numbers(4, 5, 9)
        self.check([], added=lambda i, j: bias[i][j], bias=bias)
        self.write("bias.json", bias)
        self.check(["--bias", "bias.json"], added=lambda i, j: bias[i][j])
        self.check([], lambda i, j: not (i == 0 and j == 2), lambda i, j: j / 4,
                   bias=[[j / 4 if (i, j) != (0, 2) else "-Infinity" for j in range(5)] for i in range(4)])

    def test_bias_is_not_scaled(self):
        bias = numbers(4, 5, 9)
        want, _ = attend(Q, K, V, scale=0.1, bias=lambda i, j: bias[i][j])
        self.assertClose(self.weights("--scale", "0.1", bias=bias), want, 1e-9)

    def test_nan_in_a_bias_is_refused(self):
        self.weights(bias=[["NaN", 0, 0, 0, 0]], expect=4)
        self.assertError(self.done, "bias")

    def test_alibi_slopes(self):
        self.check(["--alibi"], added=lambda i, j: -2 ** -8 * abs(i - j))
        q, k, v = numbers(3, 12, 4), numbers(3, 12, 5), numbers(3, 12, 6)
        slopes = [2 ** -2, 2 ** -4, 2 ** -6, 2 ** -8, 2 ** -1, 2 ** -3]  # 6 heads: those of 4, then every other of 8
        self.write("doc.json", {"query": q, "key": k, "value": v})
        self.run_cli("compute", "doc.json", "--heads", 6, "--alibi", "-w", "w.json")
        want, _ = heads(q, k, v, 6, bias=[lambda i, j, s=s: -s * abs(i - j) for s in slopes])
        self.assertClose(self.read_json("w.json")["weights"], want, 1e-9)

    def test_masks_intersect_and_biases_add(self):
        mask = [[1, 1, 1, 1, 0]] * 4
        bias = numbers(4, 5, 9)
        self.check(["--causal", "--window", "2,0", "--key-lengths", "4", "--alibi"],
                   lambda i, j: i - 2 <= j <= i and j < 4 and mask[i][j], lambda i, j: bias[i][j] - 2 ** -8 * abs(i - j),
                   mask=mask, bias=bias)

    def test_empty_rows(self):
        mask = [[1] * 5, [0] * 5, [1] * 5, [0] * 5]
        weights = self.weights(mask=mask)
        self.assertEqual(weights[1], [0] * 5)
        self.assertEqual(self.read_json("o.json")["output"][3], [0, 0])
        self.assertRegex(self.done.err, r"^attn-cli: note: .*rows.*1.*3")
        weights = self.weights("--empty-rows", "nan", mask=mask)
        self.assertEqual(weights[1], ["NaN"] * 5)
        self.weights("--empty-rows", "error", mask=mask, expect=4)
        self.assertError(self.done, r"row")

    def test_poison_behind_every_mask(self):
        clean = {"query": Q, "key": K, "value": V}
        for options, blocked in ((["--key-lengths", "4"], 4), (["--causal"], 4), (["--window", "-1,0"], 4),
                                 (["--documents", "0,0,0,0,9", "--query-documents", "0,0,0,0"], 4)):
            self.write("doc.json", clean)
            self.run_cli("compute", "doc.json", *options, "-w", "a.json", "-o", "ao.json")
            poisoned = [["NaN"] * len(row) if j == blocked else row for j, row in enumerate(K)]
            values = [["Infinity"] * len(row) if j == blocked else row for j, row in enumerate(V)]
            self.write("doc.json", {**clean, "key": poisoned, "value": values})
            self.run_cli("compute", "doc.json", *options, "-w", "b.json", "-o", "bo.json")
            self.assertEqual(self.read_json("a.json")["weights"], self.read_json("b.json")["weights"], options)
            self.assertEqual(self.read_json("ao.json")["output"], self.read_json("bo.json")["output"], options)

    def test_mask_and_values_near_the_lowest_float(self):
        self.weights("--mask-kind", "add", mask=[[-1e9] * 5])
        self.assertRegex(self.done.err, "note: .*-1e4")

    def test_sinks(self):
        want, output = attend(Q, K, V, sink=0.7)
        self.assertClose(self.weights(sinks=[0.7]), want, 1e-9)
        self.assertClose(self.read_json("o.json")["output"], output, 1e-9)
        self.assertRegex(self.done.err, "sum to less than 1")
        self.write("sinks.csv", "0.7\n")
        self.assertClose(self.weights("--sinks", "sinks.csv"), want, 1e-9)
        self.weights(sinks=[0.7, 1], expect=4)
        self.assertError(self.done, "1")

    def test_lse(self):
        self.write("doc.json", {"query": Q, "key": K, "mask": [[1] * 5, [0] * 5, [1] * 5, [1] * 5]})
        self.run_cli("compute", "doc.json", "--scale", 1, "--lse", "l.json", "--sinks", self.write("s.json", [0.3]))
        lse = self.read_json("l.json")["lse"]
        dots = [sum(a * b for a, b in zip(Q[0], k)) for k in K]
        self.assertClose(lse[0], math.log(sum(map(math.exp, dots)) + math.exp(0.3)), 1e-9)
        self.assertClose(lse[1], 0.3)
        self.run_cli("compute", "doc.json", "--scale", 1, "--lse", "l.json")
        self.assertEqual(self.read_json("l.json")["lse"][1], "-Infinity")

    def test_batches_have_their_own_masks(self):
        q, k = [numbers(2, 3, 1), numbers(2, 3, 2)], [numbers(3, 3, 3), numbers(3, 3, 4)]
        self.write("doc.json", {"query": q, "key": k, "key_lengths": [1, 3], "documents": [[0, 0, 0], [5, 5, 7]],
                                "query_documents": [[0, 0], [5, 7]]})
        self.run_cli("compute", "doc.json", "-w", "w.json")
        first, _ = attend(q[0], k[0], allowed=lambda i, j: j < 1)
        second, _ = attend(q[1], k[1], allowed=lambda i, j: [5, 5, 7][j] == [5, 7][i])
        self.assertClose(self.read_json("w.json")["weights"], [[first], [second]], 1e-9)

    def test_options_that_contradict(self):
        for options in (["--align", "top-left", "--query-offset", "1"], ["--prefix", "1"], ["--window", "1"], ["--window", "1,-2"],
                        ["--window", "a,b"], ["--mask-kind", "add"], ["--mask-kind", "kep"], ["--softcap", "-1"], ["--scale", "nan"],
                        ["--scale", "1e999"], ["--empty-rows", "none"], ["--key-lengths", "1,x"]):
            self.weights(*options, expect=2)
            self.assertError(self.done, options[0])
        for options in (["--key-lengths", "6"], ["--key-lengths", "1,2"], ["--documents", "1,2"], ["--key-lengths", "-1"]):
            self.weights(*options, expect=4)
            self.assertError(self.done, r"doc|--|key")


main()
