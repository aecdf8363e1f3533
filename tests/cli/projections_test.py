"""Projections of compute: names, orientations, packed forms, biases, self- and cross-attention, heads that share keys."""
from array_files import npz, safetensors
from attn_test import CliTest, main
from plain_attention import beside, heads, numbers, plus, product, transpose

X, C = numbers(4, 6, 1), numbers(5, 6, 2)
W_Q, W_K, W_V, W_O = (numbers(6, 6, seed) for seed in (3, 4, 5, 6))
B_Q, B_K, B_V, B_O = (numbers(1, 6, seed)[0] for seed in (7, 8, 9, 10))


def expected(x=X, context=None, count=2, kv_count=None, w_q=W_Q, w_k=W_K, w_v=W_V, biased=False):
    c = x if context is None else context
    q, k, v = product(x, w_q), product(c, w_k), product(c, w_v)
    if biased: q, k, v = plus(q, B_Q), plus(k, B_K), plus(v, B_V)
    weights, merged = heads(q, k, v, count, kv_count)
    output = product(merged, W_O)
    return weights, plus(output, B_O) if biased else output


class Projections(CliTest):
    def check(self, want, *args):
        self.done = self.run_cli("compute", *args, "-w", "w.json", "-o", "o.json")
        self.assertClose(self.read_json("w.json")["weights"], want[0], 1e-9)
        self.assertClose(self.read_json("o.json")["output"], want[1], 1e-9)

    def refuse(self, code, pattern, *args):
        before = self.files()
        self.assertError(self.run_cli("compute", *args, "-w", "new.json", expect=code), pattern)
        self.assertEqual(self.files(), before)

    def paper(self): return {"W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O}
    def torch(self):
        return {"q_proj_weight": transpose(W_Q), "k_proj_weight": transpose(W_K), "v_proj_weight": transpose(W_V),
                "out_proj.weight": transpose(W_O)}

    def test_paper_names(self):
        self.write("doc.json", {"embeddings": X, **self.paper()})
        self.check(expected(), "doc.json", "--heads", 2)
        self.write("doc.json", {"embeddings": X, **self.paper(), "b_Q": B_Q, "b_K": B_K, "b_V": B_V, "b_O": B_O})
        self.check(expected(biased=True), "doc.json", "--heads", 2)
        self.write("doc.json", {"embeddings": X, "W_QKV": beside([W_Q, W_K, W_V]), "W_O": W_O, "b_QKV": B_Q + B_K + B_V, "b_O": B_O})
        self.check(expected(biased=True), "doc.json", "--heads", 2)
        self.write("doc.json", {"embeddings": X, "context": C, **self.paper()})
        self.check(expected(context=C), "doc.json", "--heads", 2)

    def test_torch_names(self):
        self.write("doc.json", {"embeddings": X, **self.torch()})
        self.check(expected(), "doc.json", "--heads", 2)
        packed = {"in_proj_weight": transpose(W_Q) + transpose(W_K) + transpose(W_V), "in_proj_bias": B_Q + B_K + B_V,
                  "out_proj.weight": transpose(W_O), "out_proj.bias": B_O}
        self.write("doc.json", {"embeddings": X, **packed})
        self.check(expected(biased=True), "doc.json", "--heads", 2)
        self.write("doc.json", {"embeddings": X, "context": C, **packed})
        self.check(expected(context=C, biased=True), "doc.json", "--heads", 2)
        self.write("doc.json", {"embeddings": X, **self.torch(), "in_proj_bias": B_Q + B_K + B_V, "out_proj.bias": B_O})
        self.check(expected(biased=True), "doc.json", "--heads", 2)

    def test_projections_file(self):
        x = self.write("x.json", X)
        for name, content in (("p.npz", npz(self.torch())), ("p.safetensors", safetensors(self.torch(), {"format": "pt"})),
                              ("p.json", self.torch())):
            self.write(name, content)
            self.check(expected(), "-X", x, "--heads", 2, "--projections", name)
        self.write("w.csv", "\n".join(",".join(map(str, row)) for row in W_K))
        self.check(expected(w_q=W_K), "-X", x, "--heads", 2, "--projections", "p.json", "--w-q", "w.csv")
        self.write("bad.json", {**self.torch(), "q_proj_wieght": W_Q})
        self.refuse(3, "q_proj_wieght", "-X", x, "--projections", "bad.json")
        self.write("bad.json", {"embeddings": X})
        self.refuse(3, "embeddings", "-X", x, "--projections", "bad.json")

    def test_separate_files_and_biases_in_csv(self):
        csv = lambda rows: "\n".join(",".join(map(str, row)) for row in rows) + "\n"
        names = {"x": X, "wq": W_Q, "wk": W_K, "wv": W_V, "wo": W_O, "bq": [B_Q], "bk": [[b] for b in B_K], "bv": [B_V], "bo": [B_O]}
        for name, rows in names.items(): self.write(name + ".csv", csv(rows))
        args = ["-X", "x.csv", "--heads", 2]
        for role in "qkvo": args += [f"--w-{role}", f"w{role}.csv", f"--b-{role}", f"b{role}.csv"]
        self.check(expected(biased=True), *args)
        self.write("wqkv.csv", csv(beside([W_Q, W_K, W_V])))
        self.write("bqkv.csv", csv([B_Q + B_K + B_V]))
        self.check(expected(biased=True), "-X", "x.csv", "--heads", 2, "--w-qkv", "wqkv.csv", "--b-qkv", "bqkv.csv", "--w-o", "wo.csv",
                   "--b-o", "bo.csv")

    def test_weight_layout(self):
        self.write("doc.json", {"embeddings": X, **{name: transpose(w) for name, w in self.paper().items()}})
        self.check(expected(), "doc.json", "--heads", 2, "--weight-layout", "out_in")
        self.write("doc.json", {"embeddings": X, **{name: transpose(w) for name, w in self.torch().items()}})
        self.check(expected(), "doc.json", "--heads", 2, "--weight-layout", "in_out")
        self.write("doc.json", {"embeddings": X, **self.torch(), "options": {"weight-layout": "auto", "heads": 2}})
        self.check(expected(), "doc.json")

    def test_square_matrix_of_a_weight_member_gets_a_note(self):
        self.write("x.json", X)
        self.write("m.safetensors", safetensors({"layers.0.q_proj.weight": W_Q, "layers.0.in_proj_weight": transpose(beside([W_Q, W_K, W_V]))}))
        done = self.run_cli("compute", "-X", "x.json", "--w-q", "m.safetensors:layers.0.q_proj.weight", "-w", "w.json")
        self.assertRegex(done.err, r"note: .*q_proj\.weight is square .*\[in,out\].*--weight-layout out_in")
        want, _ = heads(product(X, W_Q), X, X, 1)
        self.assertClose(self.read_json("w.json")["weights"], want[0], 1e-9)
        done = self.run_cli("compute", "-X", "x.json", "--w-q", "m.safetensors:layers.0.q_proj.weight", "-w", "w.json", "--weight-layout", "out_in")
        self.assertEqual(done.err, "")
        want, _ = heads(product(X, transpose(W_Q)), X, X, 1)
        self.assertClose(self.read_json("w.json")["weights"], want[0], 1e-9)
        done = self.run_cli("compute", "-X", "x.json", "--w-qkv", "m.safetensors:layers.0.in_proj_weight", "-w", "w.json", "--heads", 2)
        self.assertEqual(done.err, "")
        self.assertClose(self.read_json("w.json")["weights"], expected()[0], 1e-9)

    def test_missing_projections_are_the_identity(self):
        self.write("doc.json", {"embeddings": X, "W_K": W_K, "b_V": B_V})
        weights, merged = heads(X, product(X, W_K), plus(X, B_V), 2)
        self.check((weights, merged), "doc.json", "--heads", 2)

    def test_projections_of_separate_matrices(self):
        self.write("doc.json", {"query": X, "key": C, "value": C, **self.paper()})
        self.check(expected(context=C), "doc.json", "--heads", 2)

    def test_grouped_heads_packed(self):
        w_k, w_v = numbers(6, 2, 11), numbers(6, 2, 12)
        packed = transpose(W_Q) + transpose(w_k) + transpose(w_v)
        self.write("doc.json", {"embeddings": X, "in_proj_weight": packed, "out_proj.weight": transpose(W_O)})
        self.check(expected(count=3, kv_count=1, w_k=w_k, w_v=w_v), "doc.json", "--heads", 3, "--kv-heads", 1)

    def test_packed_with_values_of_their_own_size(self):
        w_v, w_o = numbers(6, 8, 13), numbers(8, 5, 14)
        self.write("doc.json", {"embeddings": X, "W_QKV": beside([W_Q, W_K, w_v]), "W_O": w_o})
        weights, merged = heads(product(X, W_Q), product(X, W_K), product(X, w_v), 2)
        self.check((weights, product(merged, w_o)), "doc.json", "--heads", 2)

    def test_batches(self):
        self.write("doc.json", {"embeddings": [X, C[:4]], **self.paper()})
        first, second = expected(), expected(x=C[:4])
        self.check(([first[0], second[0]], [first[1], second[1]]), "doc.json", "--heads", 2)

    def test_refusals(self):
        self.write("x.json", X)
        self.write("w.json.in", W_Q)
        self.write("doc.json", {"embeddings": X, "W_Q": W_Q, "q_proj_weight": W_Q})
        self.refuse(3, "q_proj_weight", "doc.json")
        self.write("doc.json", {"embeddings": X, "W_Q": W_Q, "W_QKV": beside([W_Q, W_K, W_V])})
        self.refuse(3, "W_QKV", "doc.json")
        self.refuse(2, "w-qkv.*w-q", "-X", "x.json", "--w-q", "w.json.in", "--w-qkv", "w.json.in")
        self.write("doc.json", {"embeddings": X, "W_Q": numbers(5, 6, 1)})
        self.refuse(4, r"5.*6", "doc.json")
        self.write("doc.json", {"embeddings": X, "b_Q": [1, 2, 3]})
        self.refuse(4, r"3.*6", "doc.json")
        self.write("doc.json", {"embeddings": X, "W_QKV": numbers(6, 17, 1)})
        self.refuse(4, r"17", "doc.json")
        self.write("doc.json", {"embeddings": X, "W_O": numbers(5, 6, 1)})
        self.refuse(4, r"W_O.*5.*6", "doc.json")
        self.write("doc.json", {"embeddings": X, "b_QKV": [0] * 18})
        self.refuse(4, r"b_QKV", "doc.json")
        self.write("doc.json", {"embeddings": X, "W_Q": [[[1]]]})
        self.refuse(4, r"W_Q.*\[1,1,1\]", "doc.json")
        self.write("doc.json", {"query": [[X]], "key": [[X]], "W_Q": W_Q})
        self.refuse(4, r"query", "doc.json")
        self.write("doc.json", {"query": X, "key": X})
        self.refuse(2, "--w-v", "doc.json", "--w-v", "w.json.in")
        bad = [row[:] for row in W_Q]
        bad[2][1] = "NaN"
        self.write("doc.json", {"embeddings": X, "W_Q": bad})
        self.refuse(4, r"doc\.json:/W_Q.*row 2, column 1", "doc.json")


main()
