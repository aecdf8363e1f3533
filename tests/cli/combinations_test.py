"""Random combinations of forms, heads, pasts, masks and biases through the binary, against attention in plain Python."""
import json, math, os, random
from attn_test import CliTest, main
from plain_attention import attend, beside, numbers

RUNS = int(os.environ.get("ATTN_TEST_COMBINATIONS", "60"))


class Problem:
    """One random computation: `document` and `args` for the binary, and what it must give."""

    def __init__(self, seed):
        self.random = r = random.Random(seed)
        self.rank = r.choice([2, 2, 3, 4])
        self.layout = r.choice(["bhnd", "bnhd"]) if self.rank == 4 else "bhnd"
        self.batch = 1 if self.rank == 2 else r.randint(1, 2)
        self.kv_heads = r.randint(1, 2)
        self.heads = self.kv_heads * r.randint(1, 3)
        self.n, self.new, self.past = r.randint(1, 5), r.randint(1, 6), r.choice([0, 0, 2])
        self.m, self.d, self.v = self.new + self.past, r.randint(1, 4), r.randint(1, 3)
        make = lambda heads, rows, width: [[numbers(rows, width, r.randrange(10 ** 6)) for _ in range(heads)] for _ in range(self.batch)]
        self.q = make(self.heads, self.n, self.d)
        self.k, self.values = make(self.kv_heads, self.m, self.d), make(self.kv_heads, self.m, self.v)
        self.document, self.args = {}, []
        self.rules, self.addends, self.sinks = [], [], None  # each rule and addend: f(batch, head, i, j)
        self.lengths = None
        self.describe_inputs()
        for describe in (self.position_masks, self.key_masks, self.arrays, self.formula): describe()

    def form(self, tensor):
        """[B][heads][rows][columns] as the rank and layout at hand have it."""
        if self.rank == 4: return tensor if self.layout == "bhnd" else [[[h[i] for h in item] for i in range(len(item[0]))] for item in tensor]
        merged = [beside(item) for item in tensor]
        return merged[0] if self.rank == 2 else merged

    def part(self, tensor, begin, end): return [[rows[begin:end] for rows in item] for item in tensor]

    def describe_inputs(self):
        fresh = (self.past, self.m)
        self.document.update(query=self.form(self.q), key=self.form(self.part(self.k, *fresh)), value=self.form(self.part(self.values, *fresh)))
        if self.past:
            old = [self.part(t, 0, self.past) for t in (self.k, self.values)]
            form = (lambda t: t) if self.random.random() < .5 and self.layout == "bhnd" else self.form
            self.document.update(past_key=form(old[0]), past_value=form(old[1]))
        if self.rank < 4: self.args += ["--heads", self.heads]
        if self.layout == "bnhd": self.args += ["--layout", "bnhd"]

    def position_masks(self):
        r = self.random
        self.offset = lambda b: self.past
        kind = r.choice(["none", "none", "top-left", "bottom-right", "offset"])
        if r.random() < .3:
            self.lengths = [r.randint(0, self.m) for _ in range(self.batch)]
            self.args += ["--key-lengths", ",".join(map(str, self.lengths))]
            self.rules.append(lambda b, h, i, j: j < self.lengths[b])
        if kind == "bottom-right": self.offset = lambda b: (self.lengths[b] if self.lengths else self.m) - self.n
        if kind == "offset":
            place = r.randint(-2, self.m)
            self.offset = lambda b: place
            self.args += ["--query-offset", place]
        elif kind != "none": self.args += ["--align", kind]
        if r.random() < .4:
            prefix = r.choice([0, 0, 2])
            self.args += ["--causal"] + (["--prefix", prefix] if prefix else [])
            self.rules.append(lambda b, h, i, j: j <= i + self.offset(b) or j < prefix)
        if r.random() < .3:
            left, right = r.choice([-1, 0, 1, 2]), r.choice([-1, 0, 1])
            self.args += ["--window", f"{left},{right}"]
            self.rules.append(lambda b, h, i, j: (left < 0 or j >= i + self.offset(b) - left) and (right < 0 or j <= i + self.offset(b) + right))
        if r.random() < .2 and self.heads in (1, 2, 4):
            self.args.append("--alibi")
            self.addends.append(lambda b, h, i, j: -2 ** (-8 * (h + 1) / self.heads) * abs(i + self.offset(b) - j))

    def key_masks(self):
        r = self.random
        if r.random() < .25:
            keys, queries = ([[r.randint(0, 2) for _ in range(size)] for _ in range(self.batch)] for size in (self.m, self.n))
            self.document.update(documents=keys, query_documents=queries)
            self.rules.append(lambda b, h, i, j: keys[b][j] == queries[b][i])

    def broadcast(self, cell):
        """A random array that broadcasts to [B,H,n,m], and a function that reads it."""
        r = self.random
        sizes = [self.batch, self.heads, self.n, self.m]
        rank = r.randint(1, 4)
        shape = [size if r.random() < .6 else 1 for size in sizes[4 - rank:]]
        if rank == 1: shape = [self.m]
        build = lambda axes: [build(axes[1:]) for _ in range(axes[0])] if axes else cell()
        array = build(shape)

        def read(*place):
            value = array
            for size, at in zip(shape, place[4 - rank:]): value = value[at if size > 1 else 0]
            return value
        return array, read

    def arrays(self):
        r = self.random
        if r.random() < .4:
            kind = r.choice(["keep", "block", "add"])
            cell = (lambda: r.choice([0, 1, 1])) if kind != "add" else (lambda: r.choice([0.25, -1.5, "-Infinity", 3]))
            array, read = self.broadcast(cell)
            self.document.update(mask=array, mask_kind=kind)
            if kind == "keep": self.rules.append(lambda *at: read(*at) == 1)
            elif kind == "block": self.rules.append(lambda *at: read(*at) == 0)
            else:
                self.rules.append(lambda *at: read(*at) != "-Infinity")
                self.addends.append(lambda *at: 0 if read(*at) == "-Infinity" else read(*at))
        if r.random() < .3:
            self.document["bias"], read_bias = self.broadcast(lambda: r.uniform(-2, 2))
            self.addends.append(read_bias)
        if r.random() < .25:
            self.sinks = [r.uniform(-1, 1) for _ in range(self.heads)]
            self.document["sinks"] = self.sinks

    def formula(self):
        r = self.random
        self.scale = r.choice([None, None, 0.3, -1, 2])
        self.softcap = r.choice([0, 0, 0.8])
        if self.scale is not None: self.args += ["--scale", self.scale]
        if self.softcap: self.args += ["--softcap", self.softcap]

    def answer(self):
        weights, outputs = [], []
        for b in range(self.batch):
            weights.append([]), outputs.append([])
            for h in range(self.heads):
                g = h // (self.heads // self.kv_heads)
                w, o = attend(self.q[b][h], self.k[b][g], self.values[b][g], self.scale, self.softcap,
                              lambda i, j: all(rule(b, h, i, j) for rule in self.rules),
                              lambda i, j: sum(add(b, h, i, j) for add in self.addends), self.sinks[h] if self.sinks else None)
                weights[b].append(w), outputs[b].append(o)
        if self.rank == 2: weights = weights[0] if self.heads > 1 else weights[0][0]
        return weights, self.form(outputs)


class Combinations(CliTest):
    def test_random_problems(self):
        for seed in range(RUNS):
            problem = Problem(seed)
            self.write("doc.json", problem.document)
            kernel = ["reference", "tiled"][seed % 2]
            self.run_cli("compute", "doc.json", *problem.args, "--kernel", kernel, "-w", "w.json", "-o", "o.json", "--present-key", "p.json")
            weights, output = problem.answer()
            told = f"seed {seed}: {' '.join(map(str, problem.args))} {sorted(problem.document)}"
            self.assertClose(self.read_json("w.json")["weights"], weights, 1e-9, told)
            self.assertClose(self.read_json("o.json")["output"], output, 1e-9, told)
            present = self.read_json("p.json")["present_key"]
            whole = problem.k if problem.past and problem.rank != 4 and present and len(self.read_json("p.json")["shape"]) == 4 else problem.form(problem.k)
            self.assertClose(present, whole, 1e-12, told)


main()
