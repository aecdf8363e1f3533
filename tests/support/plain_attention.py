"""Attention in plain Python lists and double precision, written from the formula alone, to compare the binary with.

    weights, output = attend(q, k, v, scale=None, softcap=0, allowed=None, bias=None, sink=None)

One head: q [n][d], k [m][d], v [m][v] or None; allowed(i, j) says whether query i may see key j, bias(i, j) is added.
"""
import math


def product(a, b): return [[sum(x * y for x, y in zip(row, col)) for col in zip(*b)] for row in a]
def transpose(a): return [list(row) for row in zip(*a)]
def columns(a, begin, end): return [row[begin:end] for row in a]
def beside(parts): return [sum((part[i] for part in parts), []) for i in range(len(parts[0]))]
def plus(a, row): return [[x + y for x, y in zip(r, row)] for r in a]


def scores(q, k, scale=None, softcap=0):
    scale = 1 / math.sqrt(len(q[0])) if scale is None else scale
    raw = [[scale * s for s in row] for row in product(q, transpose(k))]
    return [[softcap * math.tanh(s / softcap) for s in row] for row in raw] if softcap else raw


def attend(q, k, v=None, scale=None, softcap=0, allowed=None, bias=None, sink=None):
    weights = []
    for i, row in enumerate(scores(q, k, scale, softcap)):
        keys = [j for j in range(len(k)) if allowed is None or allowed(i, j)]
        row = {j: row[j] + (bias(i, j) if bias else 0) for j in keys}
        top = max(list(row.values()) + ([sink] if sink is not None else []), default=0)
        exps = {j: math.exp(s - top) for j, s in row.items()}
        total = sum(exps.values()) + (math.exp(sink - top) if sink is not None else 0)
        weights.append([exps[j] / total if j in exps else 0.0 for j in range(len(k))])
    return weights, product(weights, v) if v is not None else None


def heads(q, k, v, count, kv_count=None, **options):
    """Multi-head over [n][H*d]: weights by head, and the merged output. An option given as a list has one per head."""
    kv_count = kv_count or count
    d, width = len(q[0]) // count, len(v[0]) // kv_count
    weights, outputs = [], []
    for h in range(count):
        g = h // (count // kv_count)
        own = {name: value[h] if isinstance(value, list) else value for name, value in options.items()}
        w, o = attend(columns(q, h * d, (h + 1) * d), columns(k, g * d, (g + 1) * d), columns(v, g * width, (g + 1) * width), **own)
        weights.append(w)
        outputs.append(o)
    return weights, beside(outputs)


def numbers(rows, columns, seed):
    """A matrix of small numbers with no pattern, the same every time."""
    state, out = seed * 7919 + 17, []
    for _ in range(rows):
        out.append([])
        for _ in range(columns):
            state = (state * 1103515245 + 12345) % 2 ** 31
            out[-1].append((state >> 8) % 2001 / 1000 - 1)
    return out
