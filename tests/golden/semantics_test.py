"""The numbers worked out by hand that define the tool's meaning, to six digits, through the binary."""
from attn_test import CliTest, main

EYE = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
THIRD = 1 / 3


class ByHand(CliTest):
    def compute(self, document, *options):
        self.write("doc.json", document)
        outputs = ["-w", "w.json"] + (["-o", "o.json"] if "value" in document or "embeddings" in document else [])
        self.run_cli("compute", "doc.json", *options, *outputs)
        weights = self.read_json("w.json")["weights"]
        return weights, self.read_json("o.json")["output"] if len(outputs) > 2 else None

    def test_the_cat_is_cute(self):
        weights, _ = self.compute({"tokens": "The cat is cute".split(), "embeddings": EYE}, "--causal")
        self.assertClose(weights, [[1, 0, 0, 0], [.377541, .622459, 0, 0], [.274069, .274069, .451863, 0],
                                   [.215113, .215113, .215113, .354661]])

    def test_three_keys_and_a_mask_with_an_empty_row(self):
        document = {"query": [[1, 0], [0, 1]], "key": [[1, 0], [0, 1], [1, 1]], "value": [[1], [2], [3]]}
        weights, output = self.compute(document)
        self.assertClose(weights, [[.401112, .197776, .401112], [.197776, .401112, .401112]])
        self.assertClose(output, [[2], [2.203336]])
        weights, output = self.compute({**document, "mask": [[1, 1, 0], [0, 0, 0]]})
        self.assertClose(weights, [[.669762, .330238, 0], [0, 0, 0]])
        self.assertClose(output, [[1.330238], [0]])

    def test_two_heads(self):
        document = {"embeddings": [[1, 0, 2, 0], [0, 1, 0, 2]], "W_Q": EYE, "W_K": EYE, "W_V": EYE, "W_O": EYE}
        weights, output = self.compute(document, "--heads", 2)
        self.assertClose(weights[0][0], [.669762, .330238])
        self.assertClose(weights[1][0], [.944193, .055807])
        self.assertClose(output[0], [.669762, .330238, 1.888386, .111614])
        mean, _ = self.compute(document, "--heads", 2, "--reduce", "mean")
        self.assertClose(mean[0], [.806977, .193023])

    def test_causal_alignment(self):
        document = {"query": [[0]] * 2, "key": [[0]] * 5, "value": [[1], [2], [3], [4], [5]]}
        self.assertClose(self.compute(document, "--causal")[0], [[1, 0, 0, 0, 0], [.5, .5, 0, 0, 0]])
        self.assertClose(self.compute(document, "--causal", "--align", "top-left")[0], [[1, 0, 0, 0, 0], [.5, .5, 0, 0, 0]])
        self.assertClose(self.compute(document, "--causal", "--align", "bottom-right")[0], [[.25] * 4 + [0], [.2] * 5])

    def test_softcap_mask_and_bias(self):
        document = {"query": [[1]], "key": [[10], [5]], "value": [[0], [1000]]}
        capped = ("--scale", 1, "--softcap", 2)
        self.assertClose(self.compute(document, *capped)[0], [[.506647, .493353]])
        weights, output = self.compute({**document, "mask": [[1, 0]]}, *capped)
        self.assertClose(weights, [[1, 0]])
        self.assertClose(output, [[0]])
        self.assertClose(self.compute({**document, "bias": [[0, 3]]}, *capped)[0], [[.048642, .951358]])

    def test_large_scores(self):
        document = {"query": [[1]], "key": [[10000], [9999]], "value": [[1], [2]]}
        self.assertClose(self.compute(document, "--scale", 1)[0], [[.731059, .268941]])
        document = {"query": [[2e19]], "key": [[2e19], [-2e19]], "value": [[1], [2]]}
        self.assertClose(self.compute(document, "--precision", "float64")[0], [[1, 0]])

    def test_window_and_alibi(self):
        document = {"query": [[0]] * 4, "key": [[0]] * 4, "value": [[1]] * 4}
        self.assertClose(self.compute(document, "--causal", "--window", "2,0")[0][3], [0, THIRD, THIRD, THIRD])
        # One head has slope 2^-8; the slope 0.5 of the hand calculation is the first of eight heads.
        document = {"query": [[0] * 8] * 3, "key": [[0] * 8] * 3, "value": [[1] * 8] * 3}
        weights, _ = self.compute(document, "--heads", 8, "--causal", "--alibi")
        self.assertClose(weights[0][2], [.186324, .307196, .506480])


main()
