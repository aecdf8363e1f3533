"""What the generate_*.py scripts share: short numbers, JSON documents, one file of cases.

The scripts run once, in a virtual environment outside the tree (python3 -m venv; pip install numpy onnx torch); their
results are kept in data/ and read by the tests, which need nothing but the standard library.
"""
import json, math, pathlib

import numpy as np

DATA = pathlib.Path(__file__).parent / "data"


def inputs(rng, *shape):
    """Normal numbers with two decimals: exact in the file, short to read."""
    return np.round(rng.standard_normal(shape), 2)


def plain(value):
    """Nested lists with ten digits; non-finite numbers as the strings of our JSON."""
    if hasattr(value, "detach"): value = value.detach().numpy()
    if isinstance(value, np.ndarray): return plain(value.tolist())
    if isinstance(value, (list, tuple)): return [plain(v) for v in value]
    if isinstance(value, bool): return int(value)
    if isinstance(value, float):
        if math.isnan(value): return "NaN"
        if math.isinf(value): return "Infinity" if value > 0 else "-Infinity"
        short = float(f"{value:.10g}")
        return int(short) if short.is_integer() and abs(short) < 1e15 else short
    return value


def case(name, document, args, **expect):
    """One run of the tool: the document, the options, and what must come out."""
    return {"name": name, "document": {k: plain(v) for k, v in document.items() if v is not None}, "args": list(map(str, args)),
            "expect": {k: plain(v) for k, v in expect.items() if v is not None}}


def save(name, made_by, differences, cases):
    """`differences` says in words where the peer does something else than attn-cli, or did in another version."""
    names = [c["name"] for c in cases]
    assert len(set(names)) == len(names)
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    text = '{"made_by":%s,\n"differences":%s,\n"cases":[\n%s\n]}\n' % (json.dumps(made_by), json.dumps(differences, indent=1), lines)
    (DATA / name).write_text(text)
    print(f"{name}: {len(cases)} cases, {len(text)} bytes")
