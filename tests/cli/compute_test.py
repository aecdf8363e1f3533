"""compute: options of the formula, shapes, precision, numbers that are not finite, memory, the summary."""
import math
from array_files import npy, npz, safetensors
from attn_test import SAMPLES, CliTest, main
from plain_attention import attend, columns, heads, numbers, product

Q, K, V = numbers(3, 4, 1), numbers(5, 4, 2), numbers(5, 2, 3)


class Compute(CliTest):
    def weights(self, *args, **kw):
        self.done = self.run_cli("compute", *args, "-w", "w.json", **kw)
        return self.read_json("w.json")["weights"]

    def document(self, **fields): self.write("doc.json", {"query": Q, "key": K, "value": V, **fields})

    def refuse(self, code, pattern, *args):
        before = self.files()
        done = self.run_cli("compute", *args, "-w", "new.json", expect=code)
        self.assertError(done, pattern)
        self.assertEqual(self.files(), before)
        self.assertLessEqual(len(done.err.splitlines()[0]), 330)
        return done

    def test_scale(self):
        self.document()
        for scale in (0.125, 3, -1, 0):
            self.assertClose(self.weights("doc.json", "--scale", scale), attend(Q, K, scale=scale)[0], 1e-9)
        self.assertClose(self.weights("doc.json"), attend(Q, K, scale=0.5)[0], 1e-9)

    def test_default_scale_is_of_the_head_not_the_model(self):
        x = numbers(3, 8, 4)
        self.write("doc.json", {"embeddings": x})
        self.weights("doc.json", "--heads", 4)
        self.assertClose(self.read_json("w.json")["scale"], 1 / math.sqrt(2))

    def test_softcap(self):
        self.document()
        self.assertClose(self.weights("doc.json", "--softcap", 0.5), attend(Q, K, softcap=0.5)[0], 1e-9)
        self.assertClose(self.weights("doc.json", "--softcap", 0), attend(Q, K)[0], 1e-9)

    def test_kernels_agree(self):
        self.document()
        reference = self.weights("doc.json", "--kernel", "reference", "--causal")
        self.assertClose(self.weights("doc.json", "--kernel", "tiled", "--causal"), reference, 1e-12)
        self.assertIn("tiled", self.refuse(2, "--kernel", "doc.json", "--kernel", "tiles").err)

    def test_grouped_heads(self):
        q, k, v = numbers(3, 8, 1), numbers(5, 4, 2), numbers(5, 6, 3)
        self.write("doc.json", {"query": q, "key": k, "value": v})
        want, out = heads(q, k, v, 4, 2)
        for options in ([], ["--kv-heads", 2]):
            self.assertClose(self.weights("doc.json", "--heads", 4, *options, "-o", "o.json"), want, 1e-9)
            self.assertClose(self.read_json("o.json")["output"], out, 1e-9)
            self.assertEqual(self.read_json("w.json")["kv_heads"], 2)

    def test_grouped_heads_are_repeated_heads_bit_for_bit(self):
        q, k, v = numbers(3, 8, 1), numbers(5, 4, 2), numbers(5, 4, 3)
        twice = lambda m: [row[:2] * 2 + row[2:] * 2 for row in m]
        self.write("few.json", {"query": q, "key": k, "value": v})
        self.write("all.json", {"query": q, "key": twice(k), "value": twice(v)})
        for name in ("few", "all"): self.run_cli("compute", f"{name}.json", "--heads", 4, "-w", f"{name}w.json", "-o", f"{name}o.json")
        self.assertEqual(self.read_json("feww.json")["weights"], self.read_json("allw.json")["weights"])
        self.assertEqual(self.read_json("fewo.json")["output"], self.read_json("allo.json")["output"])

    def test_rank_four_grouped(self):
        q, k = numbers(3, 8, 1), numbers(5, 4, 2)
        split = lambda m, n: [[columns(m, 2 * h, 2 * h + 2) for h in range(n)]]
        self.write("doc.json", {"query": split(q, 4), "key": split(k, 2), "value": split(k, 2)})
        want, _ = heads(q, k, k, 4, 2)
        self.assertClose(self.weights("doc.json"), [want], 1e-9)
        self.assertClose(self.weights("doc.json", "--heads", 4, "--kv-heads", 2), [want], 1e-9)
        self.refuse(4, r"--heads 2.*4", "doc.json", "--heads", 2)
        self.refuse(4, r"--kv-heads 4.*2", "doc.json", "--kv-heads", 4)

    def test_shapes_that_do_not_fit(self):
        zeros = lambda *s: [zeros(*s[1:]) for _ in range(s[0])] if s else 0
        for query, key, value, options, pattern in (
                (zeros(2, 4), zeros(3, 5), zeros(3, 1), [], r"5 columns.*4|4.*5"),
                (zeros(2, 4), zeros(3, 8), zeros(3, 1), [], r"8.*4|4.*8"),
                (zeros(2, 4), zeros(3, 4), zeros(2, 1), [], r"3.*2"),
                (zeros(2, 4), zeros(3, 4), zeros(3, 1), ["--heads", 3], r"3 heads.*4 columns"),
                (zeros(2, 6), zeros(3, 4), zeros(3, 2), ["--heads", 3], r"2 key/value heads.*3 query heads"),
                (zeros(2, 6), zeros(3, 5), zeros(3, 2), ["--heads", 3], r"5 columns.*size 2"),
                (zeros(2, 6), zeros(3, 6), zeros(3, 2), ["--heads", 3, "--kv-heads", 1], r"--kv-heads 1.*2.*6"),
                (zeros(2, 6), zeros(3, 6), zeros(3, 4), ["--heads", 3], r"3 key/value heads.*4 columns"),
                (zeros(1, 2, 4), zeros(3, 4), zeros(3, 1), [], r"rank 2.*rank 3|rank 3.*rank 2"),
                (zeros(2, 2, 4), zeros(3, 3, 4), zeros(3, 3, 1), [], r"3 batch.*2"),
                (zeros(1, 2, 3, 4), zeros(1, 2, 3, 5), zeros(1, 2, 3, 1), [], r"5.*4"),
                (zeros(1, 2, 3, 4), zeros(1, 2, 3, 4), zeros(1, 1, 3, 1), [], r"1 head .*2"),
                ([1, 2], zeros(1, 2), zeros(1, 1), [], r"\[2\]"),
                (zeros(1, 1, 1, 1, 1), zeros(1, 1), zeros(1, 1), [], r"\[1,1,1,1,1\]")):
            self.write("doc.json", {"query": query, "key": key, "value": value})
            self.refuse(4, pattern, "doc.json", *options)
        for options in (["--heads", "0"], ["--heads", "-2"], ["--heads", "2.0"], ["--kv-heads", "0"], ["--heads", "010"]):
            self.document()
            self.refuse(2, options[0], "doc.json", *options)

    def test_axes_of_size_zero(self):
        self.write("q.npy", npy([], "<f4", [0, 4]))
        self.write("k.npy", npy(K, "<f4"))
        self.assertEqual(self.weights("-Q", "q.npy", "-K", "k.npy"), [])
        self.write("q.npy", npy(Q, "<f4"))
        self.write("k.npy", npy([], "<f4", [0, 4]))
        self.write("v.npy", npy([], "<f4", [0, 2]))
        self.assertEqual(self.weights("-Q", "q.npy", "-K", "k.npy", "-V", "v.npy", "-o", "o.json"), [[], [], []])
        self.assertEqual(self.read_json("o.json")["output"], [[0, 0]] * 3)
        self.assertIn("3 rows", self.done.err)
        self.write("q.npy", npy([], "<f4", [3, 0]))
        self.refuse(4, r"q\.npy.*0 columns", "-Q", "q.npy", "-K", "q.npy")

    def test_precision(self):
        def precision(*args, expect="float32"):
            self.weights(*args)
            self.assertEqual(self.read_json("w.json")["precision"], expect, args)
        for dtype, expect in (("<f2", "float32"), ("<f4", "float32"), ("<f8", "float64"), ("<i1", "float32"), ("<i4", "float64"),
                              ("<u4", "float64"), ("<i8", "float64")):
            self.write("q.npy", npy([[1, 2], [3, 4]], dtype))
            precision("-Q", "q.npy", "-K", "q.npy", expect=expect)
        self.write("q.npy", npy([[1, 2], [3, 4]], "<f4"))
        self.write("m.json", [[1, 0]])
        self.write("w.npy", npy([[1, 0], [0, 1]], "<f8"))
        precision("-Q", "q.npy", "-K", "q.npy", "--mask", "m.json", "--bias", "m.json", "--sinks", self.write("s.json", [1.5]))
        precision("-Q", "q.npy", "-K", "q.npy", "--w-q", "w.npy", expect="float64")
        precision("-Q", "q.npy", "-K", "q.npy", "--precision", "float64", expect="float64")
        self.document()
        precision("doc.json", expect="float64")
        precision("doc.json", "--precision", "float32")
        self.assertClose(self.read_json("w.json")["weights"], attend(Q, K)[0], 1e-6)
        self.assertNotEqual(self.read_json("w.json")["weights"], attend(Q, K)[0])

    def test_half_and_bfloat16(self):
        self.write("q.safetensors", safetensors({"query": [[1.5, 2]], "key": [[1, 0.5], [0, 1]]}, dtype="F16"))
        self.assertClose(self.weights("q.safetensors"), attend([[1.5, 2]], [[1, 0.5], [0, 1]])[0], 1e-6)

    def test_numbers_beyond_float32(self):
        self.document(query=[[1, 2, 3, 4], [5, 1e39, 7, 8], [1, 1, 1, 1]])
        self.refuse((3, 4), r"doc\.json:/query.*1e\+?39", "doc.json", "--precision", "float32")
        self.document(query=[[2e19, 0, 0, 0]], key=[[2e19, 0, 0, 0], [1, 0, 0, 0]], value=[[1], [2]])
        self.assertEqual(self.weights("doc.json"), [[1, 0]])
        self.refuse(4, r"query.*key", "doc.json", "--precision", "float32", "--scale", 1)

    def test_not_finite(self):
        bad = [row[:] for row in K]
        bad[2][3] = "NaN"
        self.document(key=bad)
        self.refuse(4, r"doc\.json:/key: row 2, column 3 is NaN", "doc.json")
        self.refuse(4, r"doc\.json:/key: row 2, column 3 is NaN", "doc.json", "--heads", 2)
        self.weights("doc.json", "--key-lengths", 2)
        got = self.weights("doc.json", "--allow-nonfinite")
        self.assertEqual(got[0], ["NaN"] * 5)
        self.write("k.csv", "\n".join(",".join(map(str, row)) for row in bad))
        self.write("q.json", Q)
        self.refuse(4, r"k\.csv: row 2, column 3", "-Q", "q.json", "-K", "k.csv")
        self.document(value=[[1, 2], [3, "Infinity"], [1, 1], [1, 1], [1, 1]])
        self.refuse(4, r"doc\.json:/value: row 1, column 1 is Infinity", "doc.json")
        self.document(query=[["-Infinity", 1, 1, 1]])
        self.refuse(4, r"doc\.json:/query: row 0, column 0 is -Infinity", "doc.json")

    def test_not_finite_only_where_it_is_read(self):
        mask = [[1, 1, 0, 1, 1]] * 3
        bad = [row[:] if i != 2 else ["NaN"] * 4 for i, row in enumerate(K)]
        self.document(key=bad, mask=mask)
        self.assertClose(self.weights("doc.json"), attend(Q, K, allowed=lambda i, j: j != 2)[0], 1e-9)
        queries = [Q[0], ["NaN"] * 4, Q[2]]
        self.document(query=queries, mask=[[1] * 5, [0] * 5, [1] * 5])
        self.assertEqual(self.weights("doc.json")[1], [0] * 5)
        per_head = [[[1] * 5] * 3, [[1, 1, 1, 1, 0]] * 3]
        hidden = [row[:] for row in K]
        hidden[4][3] = "NaN"  # of head 1 alone, which may not see key 4
        self.document(key=hidden, mask=per_head)
        self.weights("doc.json", "--heads", 2)
        hidden[4][1] = "NaN"
        self.document(key=hidden, mask=per_head)
        self.refuse(4, r"/key: row 4, column 1 is NaN", "doc.json", "--heads", 2)

    def test_not_finite_in_what_is_projected(self):
        x = numbers(4, 4, 5)
        x[3][1] = "NaN"
        self.write("doc.json", {"embeddings": x, "W_K": numbers(4, 4, 6)})
        self.refuse(4, r"doc\.json:/embeddings: row 3, column 1 is NaN", "doc.json")
        self.write("doc.json", {"embeddings": numbers(4, 4, 5), "context": x, "W_Q": numbers(4, 4, 6), "W_K": numbers(4, 4, 7), "W_V": numbers(4, 4, 8)})
        self.refuse(4, r"doc\.json:/context: row 3, column 1 is NaN", "doc.json", "--heads", 2)
        self.weights("doc.json", "--heads", 2, "--key-lengths", 3)

    def test_not_finite_in_batches_and_pasts(self):
        q = [[[1, 2], [3, 4]], [[5, 6], ["NaN", 8]]]
        self.write("doc.json", {"embeddings": q})
        self.refuse(4, r"/embeddings: batch 1, row 1, column 0 is NaN", "doc.json")
        self.write("doc.json", {"query": Q, "key": Q, "past_key": [[1, 1, 1, 1], [1, 1, "NaN", 1]]})
        self.refuse(4, r"/past_key: row 1, column 2 is NaN", "doc.json")
        self.write("doc.json", {"query": [[[[1, 2], [3, 4]], [["NaN", 6], [7, 8]]]], "key": [[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]]})
        self.refuse(4, r"/query: \[0,1,0,0\] is NaN", "doc.json")

    def test_memory(self):
        self.write("q.npy", npy([0.5] * 60000, "<f4", [30000, 2]))
        done = self.refuse(6, r"needs? .*(KiB|MiB)", "-X", "q.npy", "--max-memory", "100K")
        self.assertRegex(done.err, "limit")
        self.run_cli("compute", "-Q", self.write("one.npy", npy([[1, 1]], "<f4")), "-K", "q.npy", "-w", "w.npy", "--max-memory", "64M")
        self.write("big.npz", npz({"embeddings": npy([0.5] * 60000, "<f4", [30000, 2])}))
        self.refuse(6, r"limit", "big.npz", "--max-memory", "100K")

    def test_summary(self):
        out = self.run_cli("compute", SAMPLES / "cat.json", "--causal").out
        for pattern in (r"query +\[4,4\]", r"scale +0\.5", r"mask +causal, top-left", "cute", r"0\.35", r"precision +float64"):
            self.assertRegex(out, pattern)
        self.assertNotIn("\x1b", out)
        self.assertIn("\x1b[", self.run_cli("compute", SAMPLES / "cat.json", "--color", "always").out)
        self.write("x.npy", npy(numbers(40, 4, 1), "<f4"))
        out = self.run_cli("compute", "-X", "x.npy").out
        self.assertRegex(out, r"\[40,40\].*-w")
        out = self.run_cli("compute", SAMPLES / "two-heads.json").out
        self.assertRegex(out, r"(?s)head 0.*head 1")
        self.assertNotIn("head 1", self.run_cli("compute", SAMPLES / "two-heads.json", "--head", 0).out)
        self.document(mask=[[1] * 5, [0] * 5, [1] * 5])
        self.assertRegex(self.run_cli("compute", "doc.json").err, r"note: 1 row")
        self.assertEqual(self.run_cli("compute", "doc.json", "-q").err, "")

    def test_notes(self):
        self.document()
        for options, pattern in ((["--align", "bottom-right"], "--align changes nothing"), (["--layout", "bnhd"], "--layout"),
                                 (["--causal"], "top-left")):
            self.weights("doc.json", *options)
            self.assertEqual(len(self.done.err.splitlines()), 1)
            self.assertRegex(self.done.err, f"^attn-cli: note: .*{pattern}")
        self.weights("doc.json", "--mask-kind", "add", "--mask", self.write("m.json", [[1, 0, 0, 0, 0]]))
        self.assertRegex(self.done.err, "note")

    def test_wrong_use(self):
        self.document()
        for options in (["--hedas", "2"], ["--causl"], ["--scale", "1e999"], ["--scale", "0x10"], ["--scale", ""], ["--reduce", "sum"],
                        ["--stage", "all"], ["--precision", "f16"], ["--layout", "hnd"], ["--weight-layout", "io"], ["--head", "a"]):
            self.refuse(2, options[0], "doc.json", *options)
        self.refuse(2, "doc", "doc.json", "doc.json")
        self.assertIn("-K", self.refuse(2, "'-k'", "-q", "doc.json", "-k", "doc.json").err)

    def test_reading_options(self):
        self.write("k.txt", "1;2\n3;4\n")
        self.assertClose(self.weights("-X", "k.txt"), attend([[1, 2], [3, 4]], [[1, 2], [3, 4]])[0], 1e-9)
        self.write("k.csv", "a,b\n1,2\n3,4\n")
        self.assertEqual(len(self.weights("-X", "k.csv")), 2)
        self.refuse(3, "k.csv", "-X", "k.csv", "--header", "no")
        self.write("k.dat", "1|2\n3|4\n")
        self.assertEqual(len(self.weights("-X", "k.dat", "--delimiter", "|", "--input-format", "csv")), 2)
        self.refuse(2, "--delimiter", "-X", "k.csv", "--delimiter", "ab")


main()
