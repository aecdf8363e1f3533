"""Defaults of one's own: the command line, --config FILE, ATTN_CLI_..., config.json; which of them wins, and what they may say."""
from attn_test import CliTest, main

WEIGHTS = "query,a,b\na,1,0\nb,0.25,0.75\n"


class Defaults(CliTest):
    def setUp(self):
        super().setUp()
        self.write("w.csv", WEIGHTS)

    def personal(self, content):
        (self.folder / ".config" / "attn-cli").mkdir(parents=True, exist_ok=True)
        self.write(".config/attn-cli/config.json", content)

    def sources(self, *words, **kwargs):
        """{option: (value, source)} as -v tells them."""
        found = {}
        for line in self.run_cli("render", "w.csv", "-v", *words, **kwargs).err.splitlines():
            option, rest = line.removeprefix("attn-cli: ").split(" ", 1)
            if ": from " in rest: found[option] = tuple(rest.split(": from "))
        return found

    def test_each_place_is_read(self):
        self.personal({"theme": "dark"})
        self.write("mine.json", {"colormap": "magma"})
        self.assertEqual(self.sources("--config", "mine.json", env={"ATTN_CLI_DPI": "200"}),
                         {"--theme": ("dark", f"config {self.folder}/.config/attn-cli/config.json"),
                          "--colormap": ("magma", "config mine.json"), "--dpi": ("200", "ATTN_CLI_DPI")})

    def test_the_nearer_place_wins(self):
        self.personal({"colormap": "grey"})
        self.assertEqual(self.sources()["--colormap"][0], "grey")
        environment = {"ATTN_CLI_COLORMAP": "magma"}
        self.assertEqual(self.sources(env=environment)["--colormap"], ("magma", "ATTN_CLI_COLORMAP"))
        self.write("mine.json", {"colormap": "plasma"})
        self.assertEqual(self.sources("--config", "mine.json", env=environment)["--colormap"], ("plasma", "config mine.json"))
        self.assertNotIn("--colormap", self.sources("--config", "mine.json", "--colormap", "Reds", env=environment))

    def test_a_default_acts(self):
        self.personal({"color": "always"})
        self.assertIn("\033[", self.run_cli("render", "w.csv").out)
        self.assertNotIn("\033", self.run_cli("render", "w.csv", "--color", "never").out)
        self.write("mine.json", {"title": "from the file", "annotate": "never", "no-clobber": False})
        text = self.run_cli("render", "w.csv", "--config", "mine.json").out
        self.assertIn("from the file", text)
        self.assertNotIn("0.75", text)

    def test_lists_are_repetitions(self):
        self.write("mine.json", {"output": ["a.txt", "b.txt"]})
        self.run_cli("render", "w.csv", "--config", "mine.json")
        self.assertEqual(self.read("a.txt"), self.read("b.txt"))
        self.write("mine.json", {"title": ["a", "b"]})
        self.assertError(self.run_cli("render", "w.csv", "--config", "mine.json", expect=2), "'title': found 2 values, expected one")

    def test_unknown_keys_get_the_nearest(self):
        self.write("mine.json", {"colrmap": "magma"})
        done = self.run_cli("render", "w.csv", "--config", "mine.json", expect=2)
        self.assertError(done, r"mine\.json: 'colrmap' is not an option")
        self.assertIn("did you mean 'colormap'?", done.err)
        self.personal({"thread": 1})
        done = self.run_cli("demo", expect=2)
        self.assertError(done, "config.json: 'thread' is not a default of one's own")
        self.assertIn("did you mean 'threads'?", done.err)

    def test_each_of_the_eight_acts_from_both_places(self):
        """As if it had been typed: colormap, theme, font, dpi, color, progress, threads, max-memory."""
        render = lambda name: (["render", "w.csv", "-o", name], lambda done: (self.folder / name).read_bytes())
        shown = (["render", "w.csv"], lambda done: done.out)
        told = (["inspect", "w.csv"], lambda done: "reading" in done.err)
        code = (["compute", "big.json", "-w", "w.npy"], lambda done: (done.code, "the limit is 1 KiB" in done.err))
        self.write("big.json", {"query": [[0.5] * 64] * 64, "key": [[0.5] * 64] * 64})
        for name, value, (words, look) in (("colormap", "magma", render("x.svg")), ("theme", "dark", render("x.svg")), ("font", "DejaVu Sans Mono", render("x.svg")),
                                           ("dpi", "37", render("x.png")), ("color", "always", shown), ("progress", "always", told), ("max-memory", "1K", code)):
            run = lambda *more, **kwargs: look(self.run_cli(*words, *more, expect=None, **kwargs))
            typed = run("--" + name, value)
            self.assertNotEqual(typed, run(), name)
            self.assertEqual(run(env={"ATTN_CLI_" + name.upper().replace("-", "_"): value}), typed, name)
            self.personal({name: value})
            self.assertEqual(run(), typed, name)
            self.assertEqual(self.sources()["--" + name], (value, f"config {self.folder}/.config/attn-cli/config.json"))
            self.personal({})
        self.assertEqual(self.sources(env={"ATTN_CLI_THREADS": "1"})["--threads"], ("1", "ATTN_CLI_THREADS"))
        self.assertEqual(self.run_cli("demo", "--threads", "0", expect=2).err.replace("attn-cli: error: ", ""),
                         self.run_cli("demo", env={"ATTN_CLI_THREADS": "0"}, expect=2).err.replace("attn-cli: error: ATTN_CLI_THREADS: ", ""))

    def test_the_environment_says_nothing_of_what_is_computed(self):
        for name in ("SCALE", "HEADS", "CAUSAL", "OUTPUT", "MASK_KIND", "FORMAT", "INPUT_FORMAT", "QUIET", "CSV_SAFE"):
            done = self.run_cli("demo", env={"ATTN_CLI_" + name: "1"}, expect=2)
            self.assertError(done, f"ATTN_CLI_{name} is not a default of one's own")
            self.assertIn(f"--{name.lower().replace('_', '-')} can be typed, or stand in a file that --config names", done.err)

    def test_an_empty_variable_says_nothing(self):
        self.assertEqual(self.sources(env={"ATTN_CLI_COLORMAP": "", "ATTN_CLI_THREADS": ""}), {})

    def test_values_are_taken_whole(self):
        """No comment sign, no quotes, no blanks mean anything: JSON text is the value."""
        self.write("mine.json", {"title": "a # b; 'c' = \"d\""})
        self.assertIn("a # b; 'c' = \"d\"", self.run_cli("render", "w.csv", "--config", "mine.json").out)

    def test_a_config_that_is_named_twice_or_empty(self):
        self.write("mine.json", {"threads": 1, "threads ": 2})
        self.assertError(self.run_cli("demo", "--config", "mine.json", expect=2), "'threads ' is not an option")
        self.write("mine.json", '{"threads": 1, "threads": 2}')
        self.assertError(self.run_cli("demo", "--config", "mine.json", expect=3), "threads")

    def test_the_personal_file_says_nothing_of_what_is_computed(self):
        for key, value in (("heads", 2), ("scale", 1), ("causal", True), ("output", "x.png"), ("mask", "m.csv"), ("verbose", True), ("config", "x.json")):
            self.personal({key: value})
            self.assertError(self.run_cli("demo", expect=2), f"'{key}' is not a default of one's own")

    def test_wrong_values_name_their_place(self):
        self.personal({"theme": "drak"})
        done = self.run_cli("render", "w.csv", expect=2)
        self.assertError(done, r"config\.json: 'theme': found 'drak', expected light or dark")
        self.assertIn("did you mean 'dark'?", done.err)
        self.personal({})
        self.assertError(self.run_cli("demo", env={"ATTN_CLI_THREADS": "two"}, expect=2), "ATTN_CLI_THREADS: found 'two'")
        self.assertError(self.run_cli("demo", env={"ATTN_CLI_COLORMAP": "virdis"}, expect=2), "ATTN_CLI_COLORMAP: found 'virdis'")
        self.write("mine.json", {"causal": 1})
        self.assertError(self.run_cli("demo", "--config", "mine.json", expect=2), "'causal': found '1', expected true or false")
        self.write("mine.json", {"theme": {"a": 1}})
        self.assertError(self.run_cli("demo", "--config", "mine.json", expect=2), "'theme': found what no option takes")

    def test_files_that_are_no_object(self):
        for content in ("[1,2]", '"x"', "{", "", "{\"threads\": 1} x"):
            self.personal(content)
            self.assertError(self.run_cli("demo", expect=3), r"config\.json")
        self.assertError(self.run_cli("demo", "--config", "no.json", env={"XDG_CONFIG_HOME": "/none"}, expect=3), r"no\.json.*No such file")

    def test_an_empty_object_is_fine(self):
        self.personal({})
        self.assertEqual(self.run_cli("demo").err, "")

    def test_options_of_other_subcommands_wait_for_them(self):
        self.write("mine.json", {"heads": 2, "atol": 1e-3, "threads": 1})
        self.assertEqual(self.run_cli("demo", "--config", "mine.json").err, "")

    def test_the_command_line_beats_the_document_beats_the_config(self):
        self.write("doc.json", {"query": [[2.0]], "key": [[1.0], [0.0]], "options": {"scale": 1}})
        self.write("mine.json", {"scale": 3, "causal": True})
        weights = lambda *words: (self.run_cli("compute", "doc.json", "-w", "w.json", *words), self.read_json("w.json")["weights"])[1]
        self.assertClose(weights(), [[0.880797, 0.119203]])
        self.assertClose(weights("--config", "mine.json"), [[1, 0]])
        self.assertEqual(self.read_json("w.json")["scale"], 1)
        self.assertClose(weights("--scale", "0"), [[0.5, 0.5]])
        told = self.run_cli("compute", "doc.json", "--config", "mine.json", "-v").err
        self.assertRegex(told, r"(?m)^attn-cli: --scale 1: from .*doc\.json")
        self.assertEqual(told.count("--causal"), 1)
        self.write("doc.json", {"query": [[2.0]], "key": [[1.0], [0.0]], "options": {"causal": False}})
        self.assertClose(weights("--config", "mine.json"), [[0.997527, 0.002473]])

    def test_xdg_config_home_and_home(self):
        self.personal({"theme": "dark"})
        self.assertIn("--theme", self.sources(env={"XDG_CONFIG_HOME": ""}))
        self.assertEqual(self.sources(env={"XDG_CONFIG_HOME": "relative"}).get("--theme", ("",))[0], "dark")
        self.assertNotIn("--theme", self.sources(env={"XDG_CONFIG_HOME": "/none"}))


main()
