"""Makes data/decimal.json: attention of small problems in 40-digit decimal arithmetic, straight from the formula.

Standard library only. Problems with the same options are the batch items of one document. `limit` bounds what float64 may be
off by: units of last place from the scores (A, their largest Σ|q·k|), from exp (R, their range) and from the sums.
"""
import json, pathlib, random
from decimal import Decimal, getcontext

getcontext().prec = 40
ITEMS = 25
DICE = random.Random(40)


def number(scale=1.0): return round(DICE.gauss(0, 1) * scale, 2)
def matrix(rows, columns, scale=1.0): return [[number(scale) for _ in range(columns)] for _ in range(rows)]


def as_float64(x):
    """The exact value of the double nearest to a short decimal: what the tool computes with."""
    return Decimal(float(x))


def tanh(x):
    up, down = x.exp(), (-x).exp()
    return (up - down) / (up + down)


def attend(query, key, value, allowed, bias, scale, softcap, sink):
    """One head. Returns weights, output, log-sum-exps, A and R."""
    weights, output, lse, most_a, most_r = [], [], [], Decimal(0), Decimal(0)
    for i, q in enumerate(query):
        scores = {}
        for j, k in enumerate(key):
            if not allowed(i, j): continue
            products = [as_float64(a) * as_float64(b) for a, b in zip(q, k)]
            score = scale * sum(products)
            if softcap: score = softcap * tanh(score / softcap)
            scores[j] = score + as_float64(bias[i][j])
            most_a = max(most_a, abs(scale) * sum(map(abs, products)) + abs(as_float64(bias[i][j])) + 4 * softcap)
        exps = {j: s.exp() for j, s in scores.items()}
        total = sum(exps.values(), sink.exp() if sink is not None else Decimal(0))
        row = [exps[j] / total if j in exps else Decimal(0) for j in range(len(key))]
        weights.append(row)
        output.append([sum(p * as_float64(v[c]) for p, v in zip(row, value)) for c in range(len(value[0]))])
        lse.append(total.ln() if total else None)
        if scores: most_r = max(most_r, max(scores.values()) - min(scores.values()))
    return weights, output, lse, most_a, most_r


def group(name, n, m, d, v, args=(), spread=1.0, scale=None, softcap=0, sink=None, allowed=None, keep=False, add=False):
    batch = {"query": [], "key": [], "value": []}
    masks, results, limit = [], {"weights": [], "output": [], "lse": []}, Decimal(0)
    for _ in range(ITEMS):
        q, k, values = matrix(n, d, spread), matrix(m, d, spread), matrix(m, v)
        mask = [[1] * m for _ in range(n)]
        if keep: mask = [[int(DICE.random() < 0.6) for _ in range(m)] for _ in range(n)]
        if add: mask = [["-Infinity" if DICE.random() < 0.3 else number(3) for _ in range(m)] for _ in range(n)]
        sees = lambda i, j: (allowed is None or allowed(i, j)) and mask[i][j] not in (0, "-Infinity") if keep else \
            (allowed is None or allowed(i, j)) and mask[i][j] != "-Infinity"
        bias = [[mask[i][j] if add and sees(i, j) else 0 for j in range(m)] for i in range(n)]
        # The default scale as the tool has it: a double.
        factor = as_float64(scale if scale is not None else 1 / d ** 0.5)
        weights, output, lse, a, r = attend(q, k, values, sees, bias, factor, as_float64(softcap), None if sink is None else as_float64(sink))
        for field, content in (("query", q), ("key", k), ("value", values)): batch[field].append(content)
        masks.append([mask])
        results["weights"].append([weights])
        results["output"].append(output)
        results["lse"].append([lse])
        limit = max(limit, (2 * (d + 8) * a + 2 * r + 40) * Decimal(2) ** -53)
    document = dict(batch)
    if keep or add: document["mask"] = masks
    if sink is not None: document["sinks"] = [sink]
    args = list(args)
    if scale is not None: args += ["--scale", repr(scale)]
    if softcap: args += ["--softcap", repr(softcap)]
    if add: args += ["--mask-kind", "add"]
    digits = lambda x: [digits(y) for y in x] if isinstance(x, list) else ("-Infinity" if x is None else float(x))
    return {"name": name, "document": document, "args": args, "limit": float(f"{limit:.3g}"), "expect": {k: digits(v) for k, v in results.items()}}



GROUPS = [
    group("plain", 3, 4, 3, 2),
    group("negative scale", 3, 4, 3, 2, scale=-0.7),
    group("softcap", 2, 5, 2, 3, softcap=1.5, scale=2.0),
    group("causal", 4, 4, 3, 1, args=["--causal"], allowed=lambda i, j: j <= i),
    group("causal, bottom-right", 2, 5, 3, 2, args=["--causal", "--align", "bottom-right"], allowed=lambda i, j: j <= i + 3),
    group("window", 4, 6, 2, 2, args=["--window", "1,2"], allowed=lambda i, j: i - 1 <= j <= i + 2),
    group("keep mask", 3, 5, 3, 2, keep=True),
    group("added mask", 3, 5, 3, 2, add=True),
    group("added mask after softcap", 3, 4, 2, 2, add=True, softcap=0.75),
    group("sink", 3, 4, 3, 2, sink=0.5),
    group("large scores", 3, 4, 4, 2, spread=12.0, scale=1.0),
]

text = '{"made_by":"Python decimal, 40 digits",\n"groups":[\n%s\n]}\n' % ",\n".join(json.dumps(g, separators=(",", ":")) for g in GROUPS)
(pathlib.Path(__file__).parent / "data" / "decimal.json").write_text(text)
print(len(GROUPS) * ITEMS, "problems,", len(text), "bytes")
