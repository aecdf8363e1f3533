"""What compute writes: every result in every format, shapes and labels, heads picked and reduced, and nothing on failure."""
import json, os, stat
from array_files import npy, npz, read_npy, read_npz, read_safetensors
from attn_test import CliTest, main
from plain_attention import attend, columns, heads, numbers, scores

X = numbers(3, 4, 1)
TOKENS = ["The", "cat", "is"]
ONE, OUT = attend(X, X, X)
TWO, OUT2 = heads(X, X, X, 2)


class Outputs(CliTest):
    def setUp(self):
        super().setUp()
        self.write("x.json", X)
        self.write("doc.json", {"tokens": TOKENS, "embeddings": X})

    def compute(self, *args, **kw): return self.run_cli("compute", *args, **kw)

    def refuse(self, code, pattern, *args, **kw):
        before = {p.name: p.read_bytes() for p in self.folder.iterdir()}
        self.assertError(self.compute(*args, expect=code, **kw), pattern)
        self.assertEqual({p.name: p.read_bytes() for p in self.folder.iterdir()}, before)

    def array(self, name, key):
        data = self.read_json(name)
        self.assertEqual(data["schema"], "attn-cli/1")
        return data["shape"], data[key]

    def test_weights_in_every_data_format(self):
        self.compute("doc.json", *sum((["-w", f"w.{e}"] for e in ("json", "csv", "tsv", "npy", "npz", "safetensors")), []))
        self.assertEqual(self.array("w.json", "weights")[0], [3, 3])
        exact = self.array("w.json", "weights")[1]
        self.assertClose(exact, ONE, 1e-12)
        self.assertEqual(read_npy((self.folder / "w.npy").read_bytes()), ("<f8", [3, 3], exact))
        archive = read_npz((self.folder / "w.npz").read_bytes())
        self.assertEqual(archive["weights"], ("<f8", [3, 3], exact))
        tensors, metadata = read_safetensors((self.folder / "w.safetensors").read_bytes())
        self.assertEqual(tensors["weights"], ("F64", [3, 3], exact))
        self.assertIn("cat", metadata["query_tokens"])
        table = [line.split(",") for line in self.read("w.csv").splitlines()]
        self.assertEqual(table[0], ["query", *TOKENS])
        self.assertEqual([row[0] for row in table[1:]], TOKENS)
        self.assertEqual([[float(x) for x in row[1:]] for row in table[1:]], exact)
        self.assertEqual(self.read("w.tsv"), self.read("w.csv").replace(",", "\t"))

    def test_pictures(self):
        self.compute("doc.json", "-w", "w.png", "-w", "w.svg", "--heatmap", "w.pdf", "--heatmap", "w.html", "-w", "w.txt", "--title", "A title")
        for name, magic in (("w.png", b"\x89PNG"), ("w.svg", b"<?xml"), ("w.pdf", b"%PDF"), ("w.html", b"<!")):
            self.assertTrue((self.folder / name).read_bytes().startswith(magic), name)
        self.assertIn("A title", self.read("w.txt"))
        self.assertIn("cat", self.read("w.txt"))
        self.compute("doc.json", "--scores", "s.svg")
        self.assertIn(b"<svg", (self.folder / "s.svg").read_bytes())

    def test_bare_numbers_without_tokens_and_on_demand(self):
        self.compute("-X", "x.json", "-w", "w.csv")
        self.assertRegex(self.read("w.csv"), r"^0\.\d+,0\.\d+,0\.\d+\n")
        self.compute("doc.json", "-w", "w.csv", "--no-labels")
        self.assertRegex(self.read("w.csv"), r"^0\.\d+,0\.\d+,0\.\d+\n")
        self.compute("-X", "x.json", "-w", "w.csv", "--heads", 2)
        self.assertEqual(self.read("w.csv").splitlines()[0], "head,query,0,1,2")
        self.assertEqual([line[:4] for line in self.read("w.csv").splitlines()[1:]], ["0,0,", "0,1,", "0,2,", "1,0,", "1,1,", "1,2,"])
        self.write("b.json", [X, X])
        self.compute("-X", "b.json", "-w", "w.csv", "-o", "o.csv", "--head", 0, "--tokens", "a b c")
        self.assertEqual(self.read("w.csv").splitlines()[0], "batch,query,a,b,c")
        self.assertEqual(self.read("o.csv").splitlines()[0], "batch,query,0,1,2,3")
        self.assertTrue(self.read("o.csv").splitlines()[4].startswith("1,a,"))

    def test_output_scores_and_lse(self):
        self.compute("doc.json", "-o", "o.json", "-o", "o.csv", "--scores", "s.json", "--lse", "l.json", "--lse", "l.csv")
        self.assertClose(self.array("o.json", "output")[1], OUT, 1e-12)
        self.assertEqual(self.read("o.csv").splitlines()[0], "query,0,1,2,3")
        self.assertClose(self.array("s.json", "scores")[1], scores(X, X), 1e-12)
        shape, lse = self.array("l.json", "lse")
        self.assertEqual(shape, [3])
        self.assertEqual(self.read("l.csv").splitlines()[0], "query,lse")
        self.assertEqual([float(line.split(",")[1]) for line in self.read("l.csv").splitlines()[1:]], lse)

    def test_stages(self):
        mask = [[1, 0, 1]] * 3
        self.write("doc.json", {"embeddings": X, "mask": mask, "bias": [[0.5, 0.25, 1]]})
        for stage in ("raw", "capped", "masked"):
            self.compute("doc.json", "--softcap", 0.5, "--scores", f"{stage}.json", "--stage", stage)
        self.assertClose(self.array("raw.json", "scores")[1], scores(X, X), 1e-12)
        capped = scores(X, X, softcap=0.5)
        self.assertClose(self.array("capped.json", "scores")[1], capped, 1e-12)
        masked = self.array("masked.json", "scores")[1]
        for row, want in zip(masked, capped):
            self.assertClose([row[0], row[2]], [want[0] + 0.5, want[2] + 1], 1e-12)
            self.assertEqual(row[1], "-Infinity")
        self.refuse(2, "--stage", "doc.json", "-w", "w.json", "--stage", "raw")

    def test_heads(self):
        shapes = {}
        for name, options in {"all": [], "one": ["--head", "1"], "list": ["--head", "1,0"], "range": ["--head", "0-1"],
                              "mean": ["--reduce", "mean"], "max": ["--reduce", "max"], "min": ["--reduce", "min"],
                              "part": ["--head", "1", "--reduce", "mean"]}.items():
            self.compute("doc.json", "--heads", 2, *options, "-w", "w.json", "-o", "o.json", "--scores", "s.json", "--lse", "l.json")
            shapes[name] = self.array("w.json", "weights")
            self.assertClose(self.array("o.json", "output")[1], OUT2, 1e-12)
            self.assertEqual(self.array("s.json", "scores")[0], [2, 3, 3])
            self.assertEqual(self.array("l.json", "lse")[0], [2, 3])
        zipped = lambda f: [[f(a, b) for a, b in zip(r, s)] for r, s in zip(*TWO)]
        wanted = {"all": TWO, "one": TWO[1], "list": [TWO[1], TWO[0]], "range": TWO, "mean": zipped(lambda a, b: (a + b) / 2),
                  "max": zipped(max), "min": zipped(min), "part": TWO[1]}
        for name, (shape, got) in shapes.items(): self.assertClose(got, wanted[name], 1e-12, name)
        self.refuse(2, r"--head 2.*2 heads", "doc.json", "--heads", 2, "--head", "2", "-w", "w2.json")
        self.refuse(2, "--head", "doc.json", "--head", "0,0", "-w", "w2.json")
        self.compute("doc.json", "--head", "0-0", "-w", "w.json")
        self.assertEqual(self.array("w.json", "weights")[0], [1, 3, 3])

    def test_ranks_and_layouts(self):
        split = [columns(X, 0, 2), columns(X, 2, 4)]
        bhnd, bnhd = [split], [[[row[:2], row[2:]] for row in X]]
        merged = [[row[:2], row[2:]] for row in OUT2]
        self.write("3.json", [X])
        self.compute("-X", "3.json", "--heads", 2, "-w", "w.json", "-o", "o.json", "--lse", "l.json")
        self.assertClose(self.array("w.json", "weights")[1], [TWO], 1e-12)
        self.assertClose(self.array("o.json", "output")[1], [OUT2], 1e-12)
        self.assertEqual(self.array("l.json", "lse")[0], [1, 2, 3])
        self.write("4.json", bhnd)
        self.compute("-X", "4.json", "-w", "w.json", "-o", "o.json")
        self.assertClose(self.array("w.json", "weights")[1], [TWO], 1e-12)
        self.assertClose(self.array("o.json", "output")[1], [[columns(OUT2, 0, 2), columns(OUT2, 2, 4)]], 1e-12)
        self.write("4.json", bnhd)
        self.compute("-X", "4.json", "--layout", "bnhd", "-w", "w.json", "-o", "o.json")
        self.assertClose(self.array("w.json", "weights")[1], [TWO], 1e-12)
        self.assertClose(self.array("o.json", "output")[1], [merged], 1e-12)
        self.write("wo.json", [[2, 0], [0, 1], [1, 0], [0, 1]])
        self.compute("-X", "4.json", "--layout", "bnhd", "--w-o", "wo.json", "-o", "o.json")
        self.assertClose(self.array("o.json", "output")[1], [[[2 * r[0] + r[2], r[1] + r[3]] for r in OUT2]], 1e-12)

    def test_past_and_present(self):
        past = numbers(2, 4, 5)
        want, out = attend(X, past + X, past + X, allowed=lambda i, j: j <= i + 2)
        args = ["doc.json", "--causal", "-w", "w.json", "-o", "o.json", "--present-key", "pk.json", "--present-value", "pv.json"]
        self.write("p.json", past)
        self.compute(*args, "--past-key", "p.json", "--past-value", "p.json")
        self.assertClose(self.array("w.json", "weights")[1], want, 1e-12)
        self.assertClose(self.array("o.json", "output")[1], out, 1e-12)
        self.assertEqual(self.array("pk.json", "present_key"), ([5, 4], past + X))
        self.write("p.json", [[columns(past, 0, 2), columns(past, 2, 4)]])
        self.compute(*args, "--heads", 2, "--past-key", "p.json", "--past-value", "p.json")
        full = past + X
        self.assertEqual(self.array("pk.json", "present_key"), ([1, 2, 5, 2], [[columns(full, 0, 2), columns(full, 2, 4)]]))
        self.compute("doc.json", "--heads", 2, "-w", "a.json", "--past-key", "p.json", "--past-value", "p.json", "--key-tokens", "p q The cat is")
        self.assertClose(self.array("a.json", "weights")[1], heads(X, full, full, 2)[0], 1e-12)
        self.compute("doc.json", "--present-key", "pk.csv", "--present-value", "pv.json")
        self.assertEqual(self.read("pk.csv").splitlines()[0], "key,0,1,2,3")
        self.assertTrue(self.read("pk.csv").splitlines()[2].startswith("cat,"))
        self.refuse(4, r"past_key.*\[3,3\]", "doc.json", "--past-key", self.write("bad.json", numbers(3, 3, 1)), "--past-value", "p.json", "-w", "n.json")
        self.refuse(4, r"5 past keys.*2 past values", "doc.json", "--heads", 2, "--past-key", self.write("five.json", numbers(5, 4, 1)), "--past-value",
                    "p.json", "-w", "n.json")
        self.refuse(2, "past", "doc.json", "--past-key", "p.json", "-w", "n.json")
        self.refuse(4, r"--key-tokens.*3.*5.*past", "doc.json", "--heads", 2, "--past-key", "p.json", "--past-value", "p.json", "--key-tokens", "a b c",
                    "-w", "n.json")

    def test_a_past_that_can_be_read_in_two_ways_says_how(self):
        key = [[[[1, 0], [0, 2]]]]  # [B,n,G,d] of one row, two heads
        past = [[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]]
        self.write("d.json", {"query": key, "key": key})
        self.write("p.json", past)
        done = self.run_cli("compute", "d.json", "--layout", "bnhd", "--past-key", "p.json", "--scale", "1", "--scores", "s.json")
        self.assertIn("note: past_key [1,2,2,2] may be [B,p,G,d] or [B,G,p,d]; it is read as [B,p,G,d]", done.err)
        # Head 0 sees the first row of each past position, head 1 the second.
        self.assertEqual(self.read_json("s.json")["scores"], [[[[1, 5, 1]], [[8, 16, 4]]]])
        self.write("p.json", [past[0][:1]])
        self.assertEqual(self.run_cli("compute", "d.json", "--layout", "bnhd", "--past-key", "p.json", "--scores", "s.json").err, "")

    def test_bundles(self):
        names = {"weights", "output", "scores", "lse", "query", "key", "value", "present_key", "present_value"}
        self.compute("doc.json", "--causal", "--bundle", "b.npz", "--bundle", "b.safetensors", "--bundle", "b.json", "-w", "w.npy")
        archive = read_npz((self.folder / "b.npz").read_bytes())
        self.assertLessEqual(names, set(archive))
        self.assertEqual(archive["weights"], read_npy((self.folder / "w.npy").read_bytes()))
        self.assertClose(archive["query"][2], X, 1e-12)
        tensors, _ = read_safetensors((self.folder / "b.safetensors").read_bytes())
        data = self.read_json("b.json")
        for name in names:
            self.assertEqual(tensors[name][2], archive[name][2], name)
            self.assertEqual(data[name], archive[name][2], name)
        self.run_cli("render", "b.json", "-o", "b.png")
        self.run_cli("diff", "b.npz", "b.safetensors")
        self.run_cli("inspect", "b.npz")
        self.write("qk.json", {"query": X, "key": X})
        self.compute("qk.json", "--bundle", "b.npz")
        self.assertEqual(set(read_npz((self.folder / "b.npz").read_bytes())) - {"allowed"}, {"weights", "scores", "lse", "query", "key", "present_key"})
        self.refuse(2, r"b\.csv", "doc.json", "--bundle", "b.csv")

    def test_bundles_without_queries_are_whole(self):
        self.write("q.npy", npy([], shape=[0, 4]))
        self.write("k.npy", npy(X))
        self.compute("-Q", "q.npy", "-K", "k.npy", "-V", "k.npy", "--bundle", "b.npz")
        archive = read_npz((self.folder / "b.npz").read_bytes())  # zipfile compares every checksum
        self.assertEqual([archive[name][1] for name in ("weights", "output", "scores", "query", "key")], [[0, 3], [0, 4], [0, 3], [0, 4], [3, 4]])

    def test_bundles_read_back_with_past_and_layouts(self):
        self.write("p.json", numbers(2, 4, 5))
        self.compute("doc.json", "--past-key", "p.json", "--past-value", "p.json", "--key-tokens", "p q The cat is", "--bundle", "b.json")
        self.run_cli("inspect", "b.json")
        self.write("4.json", [[[row[:2], row[2:]] for row in X]])
        self.compute("-X", "4.json", "--layout", "bnhd", "--tokens", "a b c", "--bundle", "b.json", "-o", "o.json", "-o", "o.csv",
                     "--present-key", "p.json")
        for name in ("b.json", "o.json", "p.json"): self.run_cli("inspect", name)

    def test_json_facts(self):
        self.compute("doc.json", "--causal", "--heads", 2, "--reduce", "mean", "-w", "w.json")
        data = self.read_json("w.json")
        self.assertEqual((data["query_tokens"], data["key_tokens"]), (TOKENS, TOKENS))
        self.assertClose(data["scale"], 0.5 ** 0.5)
        self.assertEqual((data["mask_text"], data["precision"], data["heads"], data["reduce"]), ("causal, top-left", "float64", 2, "mean"))
        self.assertEqual(data["allowed"], [[[0, 1]], [[0, 2]], [[0, 3]]])
        self.compute("doc.json", "-w", "w.json")
        self.assertNotIn("allowed", self.read_json("w.json"))

    def test_standard_output(self):
        done = self.compute("doc.json", "-w", "-", "--format", "csv", "-o", "o.json")
        self.assertTrue(done.out.startswith("query,The,cat,is\n"))
        self.refuse(2, "--format|format", "doc.json", "-w", "-")
        self.refuse(2, "-", "doc.json", "-w", "-", "-o", "-", "--format", "csv")

    def test_formats(self):
        self.compute("doc.json", "-w", "plain", "--format", "json")
        self.read_json("plain")
        self.compute("doc.json", "-w", "w.csv", "--format", "json")
        self.assertTrue(self.read("w.csv").startswith("query,"))
        self.refuse(2, "w.xyz", "doc.json", "-w", "w.xyz")
        self.refuse(2, "jsn", "doc.json", "-w", "w", "--format", "jsn")
        self.refuse(2, "png", "doc.json", "-o", "o.png")
        self.refuse(2, "svg", "doc.json", "--lse", "l.svg")
        self.refuse(2, "csv", "doc.json", "--heatmap", "w2.csv")

    def test_two_outputs_on_one_path(self):
        self.refuse(2, "w2.json", "doc.json", "-w", "w2.json", "-o", "w2.json")
        self.refuse(2, "w2.json", "doc.json", "-w", "w2.json", "-o", "./w2.json")

    def test_outputs_that_need_a_value(self):
        self.write("doc.json", {"query": X, "key": X})
        self.compute("doc.json", "-w", "w.json", "--scores", "s.json", "--lse", "l.json", "--present-key", "p.json")
        self.refuse(2, "--output.*value", "doc.json", "-o", "o.json")
        self.refuse(2, "--present-value.*value", "doc.json", "--present-value", "p.json")

    def test_failures_leave_old_files_alone(self):
        self.write("w.csv", "old\n")
        self.write("bad.json", {"embeddings": [[1, "NaN"]]})
        self.refuse(4, "NaN", "bad.json", "-w", "w.csv")
        self.refuse(5, "no/such", "doc.json", "-w", "w.csv", "-o", "no/such/o.csv")
        self.refuse(5, "w.csv", "doc.json", "-w", "w.csv", "--no-clobber")
        self.refuse(5, "full", "doc.json", "-w", "w.csv", "-o", "/dev/full", "--format", "csv")
        self.compute("doc.json", "-w", "w.csv")
        self.assertTrue(self.read("w.csv").startswith("query,"))

    def test_links_modes_and_devices(self):
        self.write("real.csv", "old")
        os.chmod(self.folder / "real.csv", 0o600)
        os.symlink("real.csv", self.folder / "link.csv")
        self.compute("doc.json", "-w", "link.csv", "-o", "/dev/null", "--format", "csv")
        self.assertTrue((self.folder / "link.csv").is_symlink())
        self.assertEqual(stat.S_IMODE(os.stat(self.folder / "real.csv").st_mode), 0o600)
        self.assertTrue(self.read("real.csv").startswith("query,"))

    def test_same_bytes_for_every_thread_count(self):
        self.write("big.npy", npy(numbers(150, 16, 3), "<f4"))
        for threads in (1, 2, 5):
            self.compute("-X", "big.npy", "--heads", 2, "--causal", "--threads", threads, "-w", f"w{threads}.json", "-o", f"o{threads}.csv")
        for name in ("w{}.json", "o{}.csv"):
            self.assertEqual(self.read(name.format(1)), self.read(name.format(2)))
            self.assertEqual(self.read(name.format(1)), self.read(name.format(5)))

    def test_labels_that_a_spreadsheet_would_run(self):
        self.write("doc.json", {"tokens": ["=1+1", "b", "c"], "embeddings": X})
        self.assertIn("note", self.compute("doc.json", "-w", "w.csv").err)
        self.assertIn("\n=1+1,", self.read("w.csv"))
        self.assertEqual(self.compute("doc.json", "-w", "w.csv", "--csv-safe", "on").err, "")
        self.assertIn("\n'=1+1,", self.read("w.csv"))


main()
