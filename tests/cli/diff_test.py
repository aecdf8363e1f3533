"""attn-cli diff: do two files agree."""
import json, os, subprocess

import attn_test
from arrays import npy, npz, safetensors
from attn_test import CliTest, main

NAN, INF = float("nan"), float("inf")


class Diff(CliTest):
    def answer(self, a, b, *words, expect):
        return json.loads(self.run_cli("diff", a, b, "--json", *words, expect=expect).out)

    def one(self, a, b, *words, expect):
        """The comparison of two matrices written as .npy."""
        self.write("a.npy", npy(a)), self.write("b.npy", npy(b))
        answer = self.answer("a.npy", "b.npy", *words, expect=expect)
        self.assertEqual(answer["same"], expect == 0)
        return answer["arrays"][0]

    def test_the_same_in_all_formats(self):
        values = [[1.5, -2.0], [0.0, 8.0]]
        self.write("m.csv", "1.5,-2\n0,8\n"), self.write("m.json", values), self.write("m.npy", npy(values))
        self.write("m.npz", npz(m=values)), self.write("m.safetensors", safetensors(m=values))
        names = ("m.csv", "m.json", "m.npy", "m.npz", "m.safetensors")
        for a in names:
            for b in names: self.assertTrue(self.answer(a, b, expect=0)["same"], (a, b))
        self.assertEqual(self.run_cli("diff", "-", "m.csv", stdin=b"1.5,-2\n0,8\n").code, 0)
        self.assertEqual(self.run_cli("diff", "m.csv", "-", stdin=b"1.5,-2\n0,9\n", expect=1).code, 1)

    def test_decimal_text_is_the_float32_that_it_was_written_for(self):
        values = [[0.1, 1 / 3], [1e-40, 3.4028234663852886e38]]
        self.write("m.npy", npy(values, "<f4"))
        self.run_cli("compute", "-Q", "m.npy", "-K", "m.npy", "--scale", "0", "--present-key", "m.csv", "-w", "w.csv")
        for a, b in (("m.csv", "m.npy"), ("m.npy", "m.csv")):
            answer = self.answer(a, b, "--atol", "0", "--rtol", "0", expect=0)
            self.assertEqual((answer["same"], answer["arrays"][0]["outside"]), (True, 0))
        self.write("more.csv", "0.1,0.33333333333333331\n1e-40,3.4028235e38\n")  # has digits that a float32 does not have
        self.assertGreater(self.answer("more.csv", "m.npy", "--atol", "0", "--rtol", "0", expect=1)["arrays"][0]["max_absolute"]["value"], 0)
        self.write("wide.json", [[1e300, 0.1]])
        self.write("narrow.npy", npy([[0.5, 0.1]], "<f4"))
        self.answer("wide.json", "narrow.npy", expect=1)

    def test_one_pipe_for_both_is_refused_before_it_is_opened(self):
        os.mkfifo(self.folder / "pipe")
        self.assertError(self.run_cli("diff", "pipe", "pipe", expect=2), "pipe is named for more than one input")

    def test_the_tolerance_is_that_of_the_reference(self):
        # |a-b| <= atol + rtol·|b| with b the second file: 0.1 against 1 and against 1.1.
        self.one([[1.1]], [[1.0]], "--atol", "0", "--rtol", "0.095", expect=1)
        self.one([[1.0]], [[1.1]], "--atol", "0", "--rtol", "0.095", expect=0)
        self.one([[1.0]], [[1.0 + 1.5e-6]], expect=0)      # defaults: 1e-6 + 1e-5
        self.one([[0.0]], [[1.5e-6]], expect=1)
        self.one([[0.0]], [[0.9e-6]], expect=0)
        self.one([[2.0]], [[1.0]], "--atol", "1", "--rtol", "0", expect=0)

    def test_figures(self):
        array = self.one([[1.0, 2.0], [3.0, 4.5]], [[1.0, 2.5], [3.0, 4.0]], expect=1)
        self.assertEqual((array["count"], array["outside"]), (4, 2))
        self.assertEqual(array["max_absolute"], {"value": 0.5, "at": [0, 1]})
        self.assertEqual(array["max_relative"], {"value": 0.2, "at": [0, 1]})
        self.assertEqual(array["mean_absolute"], 0.25)
        self.assertEqual(array["worst_row_sum"], {"value": 0.5, "row": [0]})
        dot, a, b = 1 + 5 + 9 + 18, 1 + 4 + 9 + 20.25, 1 + 6.25 + 9 + 16
        self.assertClose(array["cosine"], dot / (a * b) ** 0.5, 1e-12)
        text = self.run_cli("diff", "a.npy", "b.npy", expect=1).out
        self.assertIn("different: the arrays [2,2], 2 of 4 numbers outside 1e-06 + 1e-05 |b|", text.replace("0.000001", "1e-06").replace("0.00001", "1e-05"))
        self.assertIn("maximum absolute error  0.5 at [0,1]: 2, reference 2.5", text)

    def test_place_in_a_stack(self):
        a = [[[[0.0] * 3 for _ in range(2)] for _ in range(2)] for _ in range(2)]
        b = json.loads(json.dumps(a))
        b[1][0][1][2] = 1.0
        array = self.one(a, b, expect=1)
        self.assertEqual((array["max_absolute"]["at"], array["worst_row_sum"]["row"]), ([1, 0, 1, 2], [1, 0, 1]))

    def test_nan_equals_nan_in_the_same_place(self):
        self.one([[NAN, INF, -INF, 1]], [[NAN, INF, -INF, 1]], expect=0)
        for a, b in ((NAN, 0), (0, NAN), (INF, -INF), (INF, 1e308), (1, INF), (NAN, INF)):
            array = self.one([[a, 1]], [[b, 1]], "--rtol", "1e300", expect=1)
            self.assertEqual(array["outside"], 1, (a, b))

    def test_other_shapes_are_different(self):
        for a, b in (([[1.0, 2.0]], [[1.0], [2.0]]), ([1.0], [[1.0]]), ([[1.0]], [[1.0, 1.0]])):
            array = self.one(a, b, expect=1)
            self.assertNotIn("count", array)
        self.assertRegex(self.run_cli("diff", "a.npy", "b.npy", expect=1).out, r"different: .* \[1,1\] and \[1,2\]")

    def test_archives_compare_all_names(self):
        self.write("a.npz", npz(q=[[1.0]], k=[[2.0]])), self.write("b.safetensors", safetensors(k=[[2.0]], q=[[1.0]]))
        self.assertEqual([x["name"] for x in self.answer("a.npz", "b.safetensors", expect=0)["arrays"]], ["k", "q"])
        self.write("c.npz", npz(q=[[1.0]], v=[[2.0]]))
        answer = self.answer("a.npz", "c.npz", expect=1)
        self.assertEqual((answer["only_in_a"], answer["only_in_b"], answer["arrays"][0]["same"]), (["k"], ["v"], True))
        text = self.run_cli("diff", "a.npz", "c.npz", expect=1).out
        self.assertIn("only a.npz has k", text)
        self.assertIn("only c.npz has v", text)
        self.write("d.npz", npz(x=[[1.0]])), self.write("e.npz", npz(y=[[1.0]]))
        self.assertFalse(self.answer("d.npz", "e.npz", expect=1)["same"])
        self.assertTrue(self.answer("d.npz:x", "e.npz:y", expect=0)["same"])
        self.assertTrue(self.answer("a.npz:k", "b.safetensors:k", expect=0)["same"])
        self.write("k.csv", "2\n")
        self.assertTrue(self.answer("a.npz:k", "k.csv", expect=0)["same"])

    def test_what_compute_writes_agrees_in_every_format(self):
        self.write("doc.json", {"embeddings": [[1, 0.5], [0.25, 1], [3, 2]], "tokens": ["a", "b", "c"]})
        names = ["w." + f for f in ("json", "csv", "tsv", "npy", "npz", "safetensors")]
        self.run_cli("compute", "doc.json", *[word for name in names for word in ("-w", name)])
        for name in names: self.assertTrue(self.answer(name, "w.json", "--atol", "0", "--rtol", "0", expect=0)["same"], name)

    def test_labels_that_differ_get_a_note(self):
        self.write("a.csv", "query,x,y\nx,1,0\ny,0,1\n"), self.write("b.csv", "query,x,z\nx,1,0\nz,0,1\n")
        done = self.run_cli("diff", "a.csv", "b.csv")
        self.assertRegex(done.err, r"\Aattn-cli: note: the labels of a\.csv and b\.csv differ")
        self.write("bare.csv", "1,0\n0,1\n")
        self.assertEqual(self.run_cli("diff", "a.csv", "bare.csv").err, "")

    def test_heatmap(self):
        self.write("a.csv", "query,x,y\nx,1,0\ny,0,1\n"), self.write("b.csv", "query,x,y\nx,0.5,0\ny,0.25,1\n")
        self.run_cli("diff", "a.csv", "b.csv", "--heatmap", "d.txt", "--heatmap", "d.png", expect=1)
        self.assertRegex(self.read("d.txt"), r"(?s)x.* 0\.50.* 0\.00.*y.*−0\.25.* 0\.00")
        self.assertTrue((self.folder / "d.png").read_bytes().startswith(b"\x89PNG"))
        self.write("bare.csv", "1\n")
        done = self.run_cli("diff", "a.csv", "bare.csv", "--heatmap", "e.png", expect=1)
        self.assertIn("no heatmap", done.err)
        self.assertNotIn("e.png", self.files())

    def test_heatmap_of_numbers_that_are_not_finite(self):
        self.write("a.csv", "nan,inf\n1,nan\n"), self.write("b.csv", "nan,inf\n1,1\n")
        self.run_cli("diff", "a.csv", "b.csv", "--heatmap", "d.txt", expect=1)
        self.assertRegex(self.read("d.txt"), r"0\.00 +0\.00")

    def test_no_heatmap_without_an_answer(self):
        self.write("a.csv", "1\n"), self.write("b.csv", "2\n"), self.write("d.png", "old")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([attn_test.BINARY, "diff", "a.csv", "b.csv", "--heatmap", "d.png"], cwd=self.folder, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, self.read("d.png")), (5, "old"))
        self.assertError(self.run_cli("diff", "a.csv", "b.csv", "--heatmap", "-", "--format", "txt", expect=2), "--heatmap -")

    def test_wrong_use(self):
        self.write("a.csv", "1\n")
        self.assertError(self.run_cli("diff", "-", "-", expect=2), "read only once")
        self.assertError(self.run_cli("diff", "a.csv", "a.csv", "--atol", "-1", expect=2), "--atol and --rtol")
        self.assertError(self.run_cli("diff", "a.csv", "a.csv", "--atol", "nan", expect=2), "--atol: found 'nan'")
        self.assertError(self.run_cli("diff", "a.csv", "a.csv", "--heatmap", "x.csv", expect=2), "no picture")
        self.assertError(self.run_cli("diff", "a.csv", "no.csv", expect=3), r"no\.csv")
        self.write("t.json", {"tokens": ["x"]})
        self.assertError(self.run_cli("diff", "t.json", "t.json", expect=4), "no array of numbers")


main()
