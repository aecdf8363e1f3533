"""Documents of compute: every form they may have, their names, their options, and what is refused."""
import json, os
from array_files import npy, npz, read_npz, read_safetensors, safetensors
from attn_test import SAMPLES, CliTest, main
from plain_attention import attend, heads, numbers, plus, product, transpose

X = numbers(4, 3, 1)
TOKENS = ["The", "cat", "is", "cute"]
WEIGHTS, OUTPUT = attend(X, X, X)
CAUSAL, _ = attend(X, X, X, allowed=lambda i, j: j <= i)


class Documents(CliTest):
    def weights(self, *args, stdin=b""):
        self.done = self.run_cli("compute", *args, "-w", "w.json", stdin=stdin)
        self.result = self.read_json("w.json")
        return self.result["weights"]

    def check(self, *args, tokens=TOKENS, want=WEIGHTS, tolerance=1e-9, stdin=b""):
        self.assertClose(self.weights(*args, stdin=stdin), want, tolerance)
        self.assertEqual(self.result.get("query_tokens"), tokens)
        self.assertEqual(self.result.get("key_tokens"), tokens)

    def refuse(self, code, pattern, *args, stdin=b""):
        before = self.files()
        done = self.run_cli("compute", *args, "-w", "new.json", expect=code, stdin=stdin)
        self.assertError(done, pattern)
        self.assertEqual(self.files(), before)
        return done

    def document(self, **fields): self.write("doc.json", {"tokens": TOKENS, "embeddings": X, **fields})

    def test_json(self):
        self.document()
        self.check("doc.json")
        self.check("-", stdin=json.dumps({"tokens": TOKENS, "embeddings": X}).encode())
        self.document(meta={"any": ["thing", {"at": None}]})
        self.check("doc.json")

    def test_tokens_and_embeddings_together(self):
        records = [{"token": t, "embedding": row} for t, row in zip(TOKENS, X)]
        self.write("doc.json", records)
        self.check("doc.json")
        self.check("-X", "doc.json")
        self.write("doc.json", {"embeddings": records})
        self.check("doc.json")
        self.write("doc.json", dict(zip(TOKENS, X)))
        self.check("doc.json")
        self.check("-X", "doc.json")
        self.write("doc.json", '{"a": [1, 2], "b": [1, 2, 3]}')
        self.refuse(3, r"doc\.json:/b", "doc.json")
        self.write("doc.json", '{"The": [1, 2], "The": [3, 4]}')
        self.refuse(3, "The", "doc.json")

    def test_a_map_with_a_nearly_known_name_is_a_slip(self):
        self.write("doc.json", {"embeding": [1, 2], "The": [1, 2]})
        done = self.refuse(3, "embeding", "doc.json")
        self.assertIn("embeddings", done.err)

    def test_bare_matrix(self):
        self.write("x.json", X)
        self.check("-X", "x.json", tokens=None)
        self.check("-X", "x.json", "--tokens", " ".join(TOKENS))
        done = self.refuse(3, r"x\.json", "x.json")
        self.assertIn("-X", done.err)

    def test_npz(self):
        self.write("doc.npz", npz({"tokens": TOKENS, "embeddings": X, "options": '{"causal": true}', "meta": '{"a": 1}'}))
        self.check("doc.npz", want=CAUSAL)
        self.write("doc.npz", npz({"query": X, "key": X, "mask": [[1, 0, 0, 0]] * 4, "mask_kind": "block"}))
        self.assertEqual([row[0] for row in self.weights("doc.npz")], [0] * 4)
        self.write("doc.npz", npz({"query": X, "key": X, "kee": X}))
        self.assertIn("key", self.refuse(3, "kee", "doc.npz").err)

    def test_safetensors(self):
        self.write("doc.safetensors", safetensors({"embeddings": X}, {"tokens": json.dumps(TOKENS), "options": '{"causal": true}',
                                                                     "format": "pt", "anything": "{"}))
        self.check("doc.safetensors", want=CAUSAL)
        self.write("doc.safetensors", safetensors({"query": X, "key": X, "mask": [[1, 0, 0, 0]] * 4}, {"mask_kind": '"block"'}))
        self.assertEqual([row[0] for row in self.weights("doc.safetensors")], [0] * 4)
        self.write("doc.safetensors", safetensors({"query": X, "keys": X}))
        self.refuse(3, "keys", "doc.safetensors")

    def test_members_of_archives(self):
        self.write("dump.npz", npz({"q": X, "k": X[:2], "value": X[:2]}))
        want, _ = attend(X, X[:2])
        self.assertClose(self.weights("-Q", "dump.npz:q", "-K", "dump.npz:k"), want, 1e-9)
        done = self.refuse(3, r"dump\.npz.*'valeu'.*q, k", "-Q", "dump.npz:q", "-K", "dump.npz:valeu")
        self.assertIn("did you mean 'value'", done.err)
        self.refuse(3, r"dump\.npz.*3 arrays", "-Q", "dump.npz", "-K", "dump.npz:k")
        self.write("one.npz", npz({"k": X}))
        self.check("-Q", "one.npz", "-K", "one.npz:k", tokens=None)
        self.refuse(2, r"one\.npz:k", "one.npz:k")
        self.write("a:b.npy", npy(X))
        self.check("-Q", "a:b.npy", "-K", "a:b.npy", tokens=None)

    def test_csv_with_labels(self):
        rows = "".join(f"{t},{','.join(map(str, r))}\n" for t, r in zip(TOKENS, X))
        self.write("x.csv", rows)
        self.check("-X", "x.csv")
        self.write("q.csv", "".join(line.split(",", 1)[1] + "\n" for line in rows.splitlines()))
        self.weights("-Q", "q.csv", "-K", "x.csv")
        self.assertNotIn("query_tokens", self.result)
        self.assertEqual(self.result["key_tokens"], TOKENS)
        self.check("-X", "x.csv", "--tokens", "a b c d", tokens=["a", "b", "c", "d"])

    def test_tokens(self):
        self.write("q.json", X)
        self.write("k.json", X[:2])
        both = ["-Q", "q.json", "-K", "k.json"]
        self.weights(*both, "--tokens", "a b  c\td", "--key-tokens", "x y")
        self.assertEqual((self.result["query_tokens"], self.result["key_tokens"]), (["a", "b", "c", "d"], ["x", "y"]))
        self.weights(*both, "--tokens", "a b c d")
        self.assertNotIn("key_tokens", self.result)
        self.write("t.txt", "a\n[CLS]\n b \nd\n")
        self.weights(*both, "--tokens", "@t.txt")
        self.assertEqual(self.result["query_tokens"], ["a", "[CLS]", " b ", "d"])
        self.write("t.json", ["x y", "z"])
        self.weights(*both, "--key-tokens", "@t.json")
        self.assertEqual(self.result["key_tokens"], ["x y", "z"])
        self.write("t.npz", npz({"tokens": ["p", "q"]}))
        self.weights(*both, "--key-tokens", "@t.npz:tokens")
        self.assertEqual(self.result["key_tokens"], ["p", "q"])
        self.refuse(4, r"--tokens.*3.*4", *both, "--tokens", "a b c")
        self.refuse(4, r"--key-tokens.*3.*2", *both, "--key-tokens", "a b c")
        self.refuse(3, "gone", *both, "--tokens", "@gone.txt")
        self.document(tokens=TOKENS[:3])
        self.refuse(4, r"doc\.json:/tokens.*3.*4", "doc.json")
        self.write("doc.json", {"query": X, "key": X[:2], "query_tokens": TOKENS, "context_tokens": ["a", "b"]})
        self.weights("doc.json")
        self.assertEqual((self.result["query_tokens"], self.result["key_tokens"]), (TOKENS, ["a", "b"]))

    def test_options_of_a_document(self):
        self.document(options={"causal": True, "scale": 0.25})
        want, _ = attend(X, X, scale=0.25, allowed=lambda i, j: j <= i)
        self.check("doc.json", want=want)
        want, _ = attend(X, X, scale=2, allowed=lambda i, j: j <= i)
        self.check("doc.json", "--scale", 2, want=want)
        self.document(options={"causal": False, "window": [1, 0]})
        want, _ = attend(X, X, allowed=lambda i, j: i - 1 <= j <= i)
        self.check("doc.json", want=want)
        self.document(options={"window": "1,0", "prefix": 1, "causal": True, "query-offset": 1})
        want, _ = attend(X, X, allowed=lambda i, j: i <= j <= i + 1)
        self.check("doc.json", want=want)
        self.document(options={"causal": True, "query-offset": 2})
        self.check("doc.json", "--align", "top-left", want=CAUSAL)
        self.document(options={"precision": "float32"})
        self.check("doc.json", tolerance=1e-6)
        self.assertEqual(self.result["precision"], "float32")

    def test_options_a_document_cannot_set(self):
        for name, value in (("mask", "m.npy"), ("weights", "w.csv"), ("max-memory", "1G"), ("threads", 3), ("kernel", "tiled")):
            self.document(options={name: value})
            self.refuse(3, rf"doc\.json:/options.*{name}", "doc.json")
        self.document(options={"casual": True})
        self.assertIn("causal", self.refuse(3, "casual", "doc.json").err)
        for options in ({"scale": "wide"}, {"causal": 1}, {"window": [1]}, {"align": "left"}, {"heads": 0}, {"heads": 1.5},
                        {"align": "top-left", "query-offset": 1}):
            self.document(options=options)
            self.refuse(3, r"doc\.json:/options", "doc.json")
        self.document(options=[1])
        self.refuse(3, r"doc\.json:/options", "doc.json")

    def test_mask_kind_said_twice(self):
        mask = [[1, 0, 0, 1]] * 4
        want, _ = attend(X, X, allowed=lambda i, j: j in (1, 2))
        self.document(mask=mask, mask_kind="block", options={"mask-kind": "block"})
        self.check("doc.json", want=want)
        self.document(mask=mask, mask_kind="block", options={"mask-kind": "keep"})
        self.refuse(3, r"block.*keep", "doc.json")
        self.document(mask=mask, mask_kind="block")
        want, _ = attend(X, X, allowed=lambda i, j: j in (0, 3))
        self.check("doc.json", "--mask-kind", "keep", want=want)
        self.document(mask=mask, mask_kind="hide")
        self.refuse(3, r"mask_kind.*hide", "doc.json")
        self.document(mask_kind="keep")
        self.refuse(3, r"mask_kind", "doc.json")

    def test_an_option_beside_a_document_wins(self):
        self.write("v.json", numbers(4, 2, 9))
        self.write("doc.json", {"query": X, "key": X, "value": X, "tokens": TOKENS})
        self.run_cli("compute", "doc.json", "-V", "v.json", "-o", "o.json")
        self.assertClose(self.read_json("o.json")["output"], attend(X, X, numbers(4, 2, 9))[1], 1e-9)
        self.check("doc.json", "--tokens", "a b c d", tokens=list("abcd"))

    def test_sources_that_do_not_go_together(self):
        self.write("x.json", X)
        self.write("doc.json", {"query": X, "embeddings": X})
        self.refuse(3, "embeddings", "doc.json")
        self.write("doc.json", {"query": X, "key": X})
        self.refuse(2, "embeddings", "doc.json", "-X", "x.json")
        self.refuse(2, "--query.*--embeddings", "-Q", "x.json", "-X", "x.json")
        self.refuse(2, "context", "--context", "x.json")
        self.refuse(2, "query", "-K", "x.json", "-V", "x.json")
        self.refuse(2, "key", "-Q", "x.json")
        self.refuse(2, "query.*embeddings")
        self.write("doc.json", {"key": X})
        self.refuse(3, "query", "doc.json")
        self.write("doc.json", {"tokens": TOKENS})
        self.refuse(3, "embeddings", "doc.json")
        self.write("doc.json", {"query": X, "key": X, "past_key": X})
        self.write("doc.json", {"embeddings": X, "past_key": X})
        self.refuse(3, "past", "doc.json")
        self.write("doc.json", {"query": X, "key": X, "query_tokens": TOKENS, "tokens": TOKENS})
        self.refuse(3, "tokens", "doc.json")
        self.write("doc.json", {"query": X, "key": X, "query_documents": [1, 2, 3, 4]})
        self.refuse(3, "documents", "doc.json")

    def test_wrong_kinds_of_content(self):
        for fields in ({"query": "text", "key": X}, {"query": {"a": 1}, "key": X}, {"query": None, "key": X}, {"query": X, "key": X, "tokens": X},
                       {"query": X, "key": X, "mask_kind": 3, "mask": X}, {"query": X, "key": X, "key_lengths": "two"},
                       {"query": X, "key": X, "key_lengths": 1.5}):
            self.write("doc.json", fields)
            self.refuse(3, r"doc\.json:/", "doc.json")

    def test_pipes_are_read_once(self):
        for args in (["-Q", "-", "-K", "-"], ["-", "--mask", "-"], ["doc.json", "--tokens", "@-", "--bias", "-"]):
            self.document()
            self.refuse(2, r"standard input", *args, stdin=b"[[1]]")
        os.mkfifo(self.folder / "pipe")  # nobody writes into it: opening it would wait forever
        self.refuse(2, r"pipe is named for more than one input", "-Q", "pipe", "-K", "pipe", "-V", "pipe")
        self.refuse(2, r"pipe is named for more than one input", "doc.json", "--mask", "pipe", "--bias", "pipe")

    def test_only_masks_are_true_or_false(self):
        for fields in ({"query": [[True, False]], "key": X}, {"query": X, "key": [[1, True]] * 3}, {"embeddings": [[True, False]]},
                       {"embeddings": {"The": [True, False]}}, {"embeddings": X, "W_Q": [[True, False]] * 2},
                       {"query": X, "key": X, "sinks": [True]}, {"query": X, "key": X, "bias": [[True] * 3] * 3}):
            self.write("doc.json", fields)
            self.refuse(3, r"doc\.json:/(query|key|embeddings|W_Q|sinks|bias)", "doc.json")
        self.write("map.json", {"The": [1, 0], "cat": [True, False]})
        self.refuse(3, r"map\.json:/cat", "-X", "map.json")
        self.write("q.json", [[True, False]])
        self.refuse(3, r"q\.json: found true and false, expected numbers", "-Q", "q.json", "-K", "q.json")
        self.document(mask=[[True, False, 0, 1]] * 4)
        self.run_cli("compute", "doc.json")

    def test_files_that_are_not_there_or_not_right(self):
        self.refuse(3, r"gone\.json", "gone.json")
        self.write("doc.json", '{"query": [[1,2],')
        self.refuse(3, r"doc\.json:1:", "doc.json")
        self.write("doc.json", '{"query": [[1,2],[3]], "key": [[1,2]]}')
        self.refuse(3, r"doc\.json:/query/1", "doc.json")
        (self.folder / "folder").mkdir()
        self.refuse(3, "folder", "folder")

    def test_results_are_no_documents(self):
        self.document()
        self.run_cli("compute", "doc.json", "-w", "w.json", "--bundle", "b.npz")
        for name in ("w.json", "b.npz"): self.assertIn("results", self.refuse(3, name, name).err)
        self.check("-Q", "b.npz:query", "-K", "b.npz:key", "--tokens", " ".join(TOKENS))

    def test_samples(self):
        for name in ("cat.json", "chinese.json", "two-heads.json", "translation.json"):
            out = self.run_cli("compute", SAMPLES / name).out
            self.assertIn("precision  float64", out)
        self.assertIn("可愛", self.run_cli("compute", SAMPLES / "chinese.json", "--causal").out)
        self.run_cli("compute", SAMPLES / "layer.safetensors", "-w", "w.npz", "-o", "o.npz")
        document, _ = read_safetensors((SAMPLES / "layer.safetensors").read_bytes())
        x, w, b = (document[name][2] for name in ("embeddings", "in_proj_weight", "in_proj_bias"))
        q, k, v = (plus(product(x, transpose(w[i:i + 4])), b[i:i + 4]) for i in (0, 4, 8))
        want, merged = heads(q, k, v, 2)
        output = plus(product(merged, transpose(document["out_proj.weight"][2])), document["out_proj.bias"][2])
        self.assertClose(read_npz((self.folder / "w.npz").read_bytes())["weights"][2], want, 1e-6)
        self.assertClose(read_npz((self.folder / "o.npz").read_bytes())["output"][2], output, 1e-6)
        self.run_cli("compute", SAMPLES / "grouped.npz", "-w", "w.json")
        document = {name: rows[2] for name, rows in read_npz((SAMPLES / "grouped.npz").read_bytes()).items() if name in ("query", "key", "value")}
        want, _ = heads(*(document[name][0] for name in ("query", "key", "value")), 4, 2, allowed=lambda i, j: j <= i + 2)
        self.assertClose(self.read_json("w.json")["weights"], [want], 1e-6)
        self.run_cli("compute", "-Q", SAMPLES / "query.csv", "-K", SAMPLES / "key.csv", "-V", SAMPLES / "value.csv", "-o", "o.csv")
        self.assertRegex(self.read("o.csv"), r"^2\n2\.2033")


main()
