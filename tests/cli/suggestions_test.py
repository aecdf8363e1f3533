"""Every closed list of names answers a slip with the nearest right one: "attn-cli: hint: did you mean 'X'?"."""
import json

from attn_test import CliTest, SAMPLES, main

X = {"tokens": ["a", "b"], "embeddings": [[1, 0], [0, 1]]}
NAMES = """query key value embeddings context tokens query_tokens key_tokens context_tokens W_Q W_K W_V W_O W_QKV b_Q b_K b_V b_O b_QKV
in_proj_weight in_proj_bias q_proj_weight k_proj_weight v_proj_weight out_proj.weight out_proj.bias
mask mask_kind bias key_lengths past_key past_value sinks documents query_documents options meta""".split()
OPTIONS = """heads kv-heads scale softcap causal align query-offset window prefix mask-kind alibi empty-rows layout weight-layout
precision""".split()
PERSONAL = "colormap theme font dpi color progress threads max-memory".split()


def slip(name):
    """The name with a letter too many in its middle."""
    middle = (len(name) + 1) // 2
    return name[:middle] + "y" + name[middle:]


class Suggestions(CliTest):
    def setUp(self):
        super().setUp()
        self.write("x.json", X)
        self.write("w.csv", "query,a,b\na,1,0\nb,0.25,0.75\n")

    def means(self, name, code, *words, **kwargs):
        done = self.run_cli(*words, expect=code, **kwargs)
        self.assertError(done, ".")
        self.assertIn(f"attn-cli: hint: did you mean '{name}'?\n", done.err)

    def test_subcommands(self):
        for name in ("compute", "render", "inspect", "diff", "explain", "demo", "batch", "completion", "man"):
            self.means(name, 2, slip(name))
            self.means(name, 2, "help", slip(name))

    def test_options(self):
        for command, option in (("compute", "--causal"), ("compute", "--w-qkv"), ("render", "--colormap"), ("inspect", "--top"), ("diff", "--atol"),
                                ("explain", "--html"), ("demo", "--no-clobber"), ("batch", "--resume"), ("man", "--verbose"), ("completion", "--help")):
            self.means(option, 2, command, slip(option))
            self.means(option, 2, command, slip(option) + "=1")

    def test_values_that_are_words_among_others(self):
        self.means("none", 2, "render", "w.csv", "--labels", "nonee")
        self.means("blank", 2, "render", "w.csv", "--delimiter", "blnk")
        self.means("png", 2, "render", "w.csv", "-o", "-", "--format", "pgn")
        self.means("safetensors", 2, "compute", "x.json", "-w", "-", "--format", "safetensor")
        self.means("w.html", 2, "render", "w.csv", "-o", "w.htlm")
        self.means("DejaVu Sans", 2, "render", "w.csv", "-o", "w.png", "--font", "DejaVu Sanz")
        self.means("zsh", 2, "completion", "zhs")

    def test_instruction_sets(self):
        for name in ("sse2", "avx2", "avx512"): self.means(name, 2, "demo", env={"ATTN_CLI_SIMD": slip(name)})

    def test_names_in_a_document(self):
        for name in NAMES:
            self.write("d.json", {**X, slip(name): [[1]]})
            self.means(name, 3, "compute", "d.json")

    def test_names_in_the_options_of_a_document(self):
        for name in OPTIONS:
            self.write("d.json", {**X, "options": {slip(name): 1}})
            self.means(name, 3, "compute", "d.json")
        self.write("d.json", {**X, "options": {"align": "top-lefft"}})
        self.means("top-left", 3, "compute", "d.json")

    def test_tensors_of_archives(self):
        self.means("query", 3, "inspect", f"{SAMPLES}/grouped.npz:quary")
        self.means("query", 3, "compute", "-Q", f"{SAMPLES}/grouped.npz:qury", "-K", f"{SAMPLES}/grouped.npz:key")
        self.means("out_proj.weight", 3, "compute", "-X", "x.json", "--w-q", f"{SAMPLES}/layer.safetensors:out_proj.wieght")
        self.means("embeddings", 3, "render", "x.json:embedings")
        header = json.dumps({"querry": {"dtype": "F32", "shape": [1, 1], "data_offsets": [0, 4]}}).encode()
        self.write("s.safetensors", len(header).to_bytes(8, "little") + header + b"\0\0\0\0")
        self.means("query", 3, "compute", "s.safetensors")

    def test_keys_of_a_file_of_defaults(self):
        for name in [*PERSONAL, "heads", "causal", "weights", "bundle", "no-clobber"]:
            self.write("c.json", {slip(name): "1"})
            self.means(name, 2, "compute", "x.json", "--config", "c.json")
        (self.folder / ".config/attn-cli").mkdir(parents=True)
        for name in PERSONAL:
            self.write(".config/attn-cli/config.json", {slip(name): "1"})
            self.means(name, 2, "demo")

    def test_variables_of_the_environment(self):
        for name in [*PERSONAL, "simd"]:
            variable = "ATTN_CLI_" + name.upper().replace("-", "_")
            self.means(variable, 2, "demo", env={"ATTN_CLI_" + slip(name).upper().replace("-", "_"): "1"})
        # What is like none of ours belongs to somebody else.
        self.assertEqual(self.run_cli("demo", env={"ATTN_CLI_HOME": "/opt", "ATTN_CLI_BINARY": "x", "ATTN_CLI_": "y"}).err, "")

    def test_jobs_of_a_manifest(self):
        for job, meant in (({"command": "compte", "input": "x.json"}, "compute"), ({"command": "compute", "inptu": "x.json"}, "input"),
                           ({"command": "compute", "input": "x.json", "weigths": ["w.npy"]}, "weights"),
                           ({"command": "render", "input": "w.csv", "output": ["w.png"], "colormap": "magam"}, "magma")):
            self.write("jobs.jsonl", json.dumps(job) + "\n")
            result = json.loads(self.run_cli("batch", "jobs.jsonl", expect=2).out)
            self.assertEqual(result["hint"], f"did you mean '{meant}'?")
        self.write("jobs.jsonl", '{"comand":"compute","input":"x.json"}\n')
        self.assertEqual(json.loads(self.run_cli("batch", "jobs.jsonl", expect=2).out)["hint"], "did you mean 'command' by 'comand'?")

    def test_files(self):
        self.means("x.json", 3, "compute", "y.json")
        self.means("w.csv", 3, "render", "w.cvs")
        self.means("w.csv", 3, "diff", "x.json", "ww.csv")

    def test_no_suggestion_where_nothing_is_near(self):
        for words in (("frobnicate",), ("render", "w.csv", "--frobnicate"), ("render", "w.csv", "--reduce", "everything")):
            self.assertNotIn("did you mean", self.run_cli(*words, expect=2).err)


main()
