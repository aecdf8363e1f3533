"""What the tool says when a file, a default or an option is not what it expects: the place, the limit, the nearest right one."""
from attn_test import CliTest, main

CAT = {"tokens": ["The", "cat"], "embeddings": [[1, 0], [0, 1]]}


class Messages(CliTest):
    def setUp(self):
        super().setUp()
        self.write("cat.json", CAT)
        self.write("q.csv", "1,0\n0,1\n")

    def fails(self, code, pattern, *words, hint=".", **kwargs):
        done = self.run_cli(*words, expect=code, **kwargs)
        self.assertError(done, pattern)
        self.assertRegex(done.err, hint)

    def test_ids_that_floats_would_merge(self):
        for ids in ([9007199254740992, 9007199254740993], [-9007199254740993, 1]):
            self.write("d.json", {**CAT, "documents": ids})
            self.fails(4, r"d\.json:/documents: the number at place 0", "compute", "d.json")
        self.write("ids.csv", "1,9007199254740993\n")
        self.fails(4, r"ids\.csv: the number at place 1", "compute", "cat.json", "--documents", "@ids.csv")
        self.run_cli("compute", "cat.json", "--documents", "9007199254740992,9007199254740993", "-w", "w.json")
        self.assertEqual(self.read_json("w.json")["weights"], [[1, 0], [0, 1]])

    def test_bundles_of_one_run_are_the_same_in_every_format(self):
        self.run_cli("compute", "cat.json", "--causal", "--bundle", "b.json", "--bundle", "b.npz", "--bundle", "b.safetensors")
        for other in ("b.npz", "b.safetensors"):
            self.run_cli("diff", "b.json", other)
            self.run_cli("diff", other, "b.json")

    def test_defaults_give_way_and_wait(self):
        self.write("align.json", {"align": "bottom-right"})
        self.write("offset.json", {"query-offset": 1})
        for config, word in (("align.json", ("--query-offset", "0")), ("offset.json", ("--align", "top-left"))):
            self.run_cli("compute", "cat.json", "--causal", "--config", config, *word, "-w", "w.json")
            self.assertEqual(self.read_json("w.json")["weights"][0], [1, 0])
        self.write("idle.json", {"mask-kind": "block", "stage": "masked", "prefix": 1})
        self.run_cli("compute", "cat.json", "--config", "idle.json")
        self.fails(2, "--mask-kind", "compute", "cat.json", "--mask-kind", "block")
        self.fails(2, "--prefix", "compute", "cat.json", "--prefix", "1")
        self.write("causal.json", {**CAT, "options": {"causal": True}})
        self.run_cli("compute", "causal.json", "--prefix", "1")

    def test_nearest_names(self):
        self.fails(2, "cvs", "compute", "cat.json", "-w", "-", "--format", "cvs", hint="mean 'csv'")
        self.fails(2, r"x\.cvs", "compute", "cat.json", "-w", "x.cvs", hint=r"mean 'x\.csv'")
        self.write("d.json", {**CAT, "mask": [[1, 1]], "mask_kind": "kep"})
        self.fails(3, "/mask_kind", "compute", "d.json", hint="mean 'keep'")

    def test_letters_and_options_of_others(self):
        self.fails(2, r"q\.csv", "compute", "cat.json", "-v", "q.csv", hint=r"-V q\.csv")
        self.fails(2, r"q\.csv", "compute", "cat.json", "-q", "q.csv", hint=r"-Q q\.csv")
        self.fails(2, "'-k'", "compute", "-q", "q.csv", "-k", "q.csv", hint=r"-K q\.csv")
        self.fails(2, "'-o'", "explain", "cat.json", "-o", "x.csv", hint="-o is an option of compute")

    def test_options_of_a_document_are_pointed_at(self):
        for options, place in (({"scale": "wide"}, r"/options/scale: found 'wide'"), ({"scale": None}, "'scale' is null"),
                               ([], "expected an object"), ({"prefix": 1}, "/options/prefix"),
                               ({"mask-kind": "add"}, "/options/mask-kind"), ({"window": [1]}, "/options/window: found")):
            self.write("d.json", {**CAT, "options": options})
            self.fails(3, rf"d\.json:.*{place}", "compute", "d.json")

    def test_defaults_are_named(self):
        self.fails(2, "ATTN_CLI_THREADS: ", "compute", "cat.json", env={"ATTN_CLI_THREADS": "0"})
        self.write("c.json", {"threads": 0})
        self.fails(2, r"config c\.json: ", "compute", "cat.json", "--config", "c.json")
        self.write("c.json", {"config": "d.json"})
        self.fails(2, "'config' .*cannot stand", "compute", "cat.json", "--config", "c.json")

    def test_limits_of_whole_numbers(self):
        self.fails(2, r"from -1099511627776 to 1099511627776", "compute", "cat.json", "--query-offset", "1" + "0" * 18)
        self.fails(2, r"from 1 to 1048576", "compute", "cat.json", "--heads", "9" * 20)
        self.fails(2, "a whole number", "compute", "cat.json", "--heads", "two")

    def test_true_and_false_in_csv(self):
        for text in ("true,false\ntrue,true\n", "TRUE,0\n1,True\n", "1 false\n1 1\n"):
            self.write("m.csv", text)
            self.run_cli("compute", "cat.json", "--mask", "m.csv", "-w", "w.json")
            self.assertEqual(self.read_json("w.json")["weights"][0], [1, 0])
        self.write("h.csv", "true,false\n0.25,0.75\n")
        self.assertIn("0.25", self.run_cli("inspect", "h.csv").out)

    def test_empty_results(self):
        self.write("k.csv", "1,0\n0,1\n1,1\n")
        self.write("none.csv", "query,0,1\n")
        self.run_cli("compute", "-Q", "none.csv", "-K", "k.csv", "-w", "w.csv", "-w", "w.npy")
        self.assertEqual(self.read("w.csv"), "query,0,1,2\n")
        self.run_cli("diff", "w.csv", "w.npy")
        self.run_cli("compute", "-Q", "k.csv", "-K", "none.csv", "-w", "w.csv", "-w", "w.npy")
        self.assertEqual(self.read("w.csv"), "query\n0\n1\n2\n")
        self.run_cli("diff", "w.csv", "w.npy")
        for picture in ("z.svg", "z.png", "z.pdf", "z.txt"):
            self.fails(4, "no rows, nothing to draw", "compute", "-Q", "none.csv", "-K", "k.csv", "--heatmap", picture)

    def test_a_square_weight_of_the_document_is_noted(self):
        self.write("d.json", {**CAT, "out_proj.weight": [[1, 2], [3, 4]]})
        self.assertIn("--weight-layout", self.run_cli("compute", "d.json", "-w", "w.json").err)

    def test_progress_ends_at_its_end(self):
        self.write("long.csv", "0.125,0.25\n" * 120000)
        lines = [l for l in self.run_cli("inspect", "long.csv", "--progress", "always").err.splitlines() if "reading" in l]
        self.assertRegex(lines[-1], "100 %")

    def test_one_of_a_thing(self):
        self.write("d.json", {"query": [[[1.0]]], "key": [[[1.0]], [[1.0]]]})
        self.fails(4, "2 batch items", "compute", "d.json")
        self.write("d.json", {"query": [[[1.0]], [[1.0]]], "key": [[[1.0]]]})
        self.fails(4, "1 batch item and", "compute", "d.json")

    def test_what_others_call_things_leads_to_our_names(self):
        for words, right in ((["render", "w.csv", "--cmap", "magma"], "--colormap"), (["compute", "cat.json", "--output-format", "csv"], "--format"),
                             (["compute", "cat.json", "--is_causal"], "--causal"), (["compute", "cat.json", "--attn-mask", "m.npy"], "--mask"),
                             (["compute", "cat.json", "--num_heads=2"], "--heads"), (["compute", "cat.json", "-cmap"], "--colormap")):
            self.fails(2, "unknown option", *words, hint=f"hint: did you mean '{right}'\\?")
        for usual, ours, option in (("q", "query", "-Q"), ("V", "value", "-V"), ("keys", "key", "-K"), ("x", "embeddings", "-X"), ("attn_mask", "mask", "--mask")):
            self.write("names.json", {usual: [[1, 2]]} if usual != "attn_mask" else {**CAT, usual: [[1, 0], [0, 1]]})
            self.fails(3, f"/{usual}: no field has the name '{usual}'", "compute", "names.json", hint=f"did you mean '{ours}'\\? As it is, {option} FILE:{usual} takes it")
        self.write("names.json", {"q": [[1, 0]], "k": [[1, 0], [0, 1]]})
        self.assertEqual(self.run_cli("compute", "-Q", "names.json:q", "-K", "names.json:k", "--scale", "0", "-w", "-", "--format", "csv").out, "0.5,0.5\n")
        for ending, instead in (("jpg", "png"), ("xlsx", "csv"), ("pt", "npz")):
            self.fails(2, "does not tell its format", "compute", "cat.json", "-w", f"w.{ending}", hint=f"hint: {ending} is not written; {instead} is")

    def test_only_pictures_are_offered_for_a_picture(self):
        self.fails(2, "known: png, svg, pdf, html or txt$", "render", "cat.json", "-o", "-", "--format", "nothing")
        self.fails(2, "known: png, svg, pdf, html or txt$", "render", "cat.json", "-o", "picture", hint="name it with --format")
        self.fails(2, "known: png, svg, pdf, html or txt$", "diff", "q.csv", "q.csv", "--heatmap", "picture", hint="name it with --format")
        self.fails(2, "known: npy, .* or txt$", "compute", "cat.json", "-w", "weights", hint="name it with --format")

    def test_a_page_is_not_written_under_another_name(self):
        for name in ("e.png", "e.csv", "e.npy"):
            self.fails(2, f"--html: '{name}' ends as", "explain", "cat.json", "--html", name)
            self.assertFalse((self.folder / name).exists())
        for name in ("e.html", "e.htm", "page"): self.run_cli("explain", "cat.json", "--html", name)

    def test_a_format_that_nothing_takes_is_noted(self):
        done = self.run_cli("compute", "cat.json", "--format", "csv")
        self.assertIn("note: --format is for - and names that do not tell one, and nothing is written: -w - writes the weights", done.err)
        self.assertIn("every output here has its own", self.run_cli("compute", "cat.json", "-w", "w.json", "--format", "csv").err)
        self.assertEqual(self.run_cli("compute", "cat.json", "-w", "w", "--format", "csv").err, "")
        self.assertEqual(self.run_cli("compute", "cat.json", "-w", "w.json", "-o", "-", "--format", "csv").err, "")
        self.write("format.json", {"format": "csv"})
        self.assertEqual(self.run_cli("compute", "cat.json", "--config", "format.json").err, "")

    def test_tokens_without_the_sign_for_a_file(self):
        self.run_cli("compute", "cat.json", "-w", "w.npy")
        self.write("tokens.json", ["a", "b"])
        self.fails(4, "found 1 token for the 2 rows", "render", "w.npy", "--tokens", "tokens.json", hint="hint: --tokens @tokens.json reads")
        self.run_cli("render", "w.npy", "--tokens", "@tokens.json")

    def test_a_padding_mask_of_a_batch(self):
        two = [[[[1, 0], [0, 1], [1, 1]]]] * 2
        self.write("d.json", {"query": two, "key": two, "mask": [[True, True, False], [True, False, False]]})
        self.fails(4, r"d\.json:/mask: shape \[2,3\] does not fit", "compute", "d.json", hint=r"each item of the batch has the shape \[2,1,1,3\]")
        self.write("d.json", {"query": two, "key": two, "mask": [[[[True, True, False]]], [[[True, False, False]]]]})
        self.run_cli("compute", "d.json", "-w", "w.json")
        weights = self.read_json("w.json")["weights"]
        self.assertEqual([row[2] for item in weights for row in item[0]], [0] * 6)
        self.assertEqual(weights[1][0], [[1, 0, 0]] * 3)

    def test_an_array_by_a_name_in_a_file_of_one(self):
        self.fails(3, "found no array 'x', expected no name: the file is one array", "render", "q.csv:x")

    def test_inspect_keeps_numbers_beside_long_tokens(self):
        self.write("w.csv", "query," + "z" * 60 + ", \n" + "a,0.75,0.25\nb,0.25,0.75\n")
        out = self.run_cli("inspect", "w.csv", "--top", "1").out
        self.assertRegex(out, "(?m)^a +z+… 0\\.75$")
        self.assertRegex(out, "(?m)^b +␣ 0\\.75$")

    def test_inspect_takes_embeddings_for_what_they_are(self):
        out = self.run_cli("inspect", "cat.json").out  # one-hot rows, which sum to 1
        self.assertNotIn("row sums", out)
        self.write("w.json", {"weights": [[1, 0], [0, 1]]})
        self.assertIn("row sums 1 to 1", self.run_cli("inspect", "w.json").out)

main()
