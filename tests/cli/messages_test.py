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


main()
