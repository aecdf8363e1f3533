#!/usr/bin/env python3
"""Times attention beside ONNX Runtime, PyTorch and numpy in one process, call by call in turn.

usage: peers.py LIBRARY [ROUNDS [PART OF A NAME]]     (bench/run.sh peers does it; see bench/README.md for what it needs)

Every contender gets the same arrays and the same two threads. A round calls each once; the order turns from round to round.
The mask of ours is copied inside the timed call, as a caller without our array type would have to. Weights in fresh memory are
that for all: ONNX Runtime's arena, which hands the same pages out again, is switched off there, and has a case of its own.
"""
import ctypes
import statistics
import sys
import time

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper

THREADS = 2
PAUSE = 0.2  # thread pools of the last contender spin for a while before they sleep: 0.02 s still cost the next one a third


class Call(ctypes.Structure):
    """AttnBenchCall of peer_library.cpp."""
    _fields_ = [(name, ctypes.c_void_p) for name in ("query", "key", "value", "output", "weights", "mask")] + [
        (name, ctypes.c_long) for name in ("batch", "heads", "kv_heads", "queries", "keys", "head_size", "value_size", "window_left")
    ] + [(name, ctypes.c_int) for name in ("wide", "causal", "bottom_right", "threads")]


class Case:
    def __init__(self, name, H=8, G=None, n=2048, m=None, d=64, causal=False, mask=False, weights=None, dtype=np.float32):
        self.name, self.H, self.G, self.n, self.m, self.d = name, H, G or H, n, m or n, d
        self.causal, self.weights, self.dtype = causal, weights, dtype
        rng = np.random.default_rng(1)
        uniform = lambda *shape: rng.uniform(-1.7, 1.7, shape).astype(dtype)
        self.q, self.k, self.v = uniform(1, H, n, d), uniform(1, self.G, self.m, d), uniform(1, self.G, self.m, d)
        self.mask = uniform(n, self.m) if mask else None
        pairs = n * (n + 1) / 2 if causal else n * self.m
        self.flop = 4.0 * d * H * pairs


def ours(case, library):
    out = np.empty_like(case.q)
    call = Call(query=case.q.ctypes.data, key=case.k.ctypes.data, value=case.v.ctypes.data, output=out.ctypes.data,
                mask=case.mask.ctypes.data if case.mask is not None else None, batch=1, heads=case.H, kv_heads=case.G, queries=case.n,
                keys=case.m, head_size=case.d, value_size=case.d, window_left=-1, wide=case.dtype == np.float64, causal=case.causal,
                bottom_right=0, threads=THREADS)

    new_weights = lambda: np.empty((1, case.H, case.n, case.m), case.dtype)
    kept = new_weights() if case.weights == "reused" else None

    def run():
        if case.weights:
            run.weights = new_weights() if kept is None else kept
            call.weights = run.weights.ctypes.data
        if library.attn_bench_run(ctypes.byref(call)) != 0:
            raise RuntimeError("the library refused the call")
        return out
    return run


def session(nodes, inputs, outputs, opsets, arena=True):
    graph = helper.make_graph(nodes, "attention", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(name, version) for name, version in opsets], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = THREADS, 1
    options.enable_cpu_mem_arena = arena
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def ort_multi_head(case):
    """com.microsoft MultiHeadAttention on [B,n,H·d]; the transposition it does inside is part of what it is."""
    if case.G != case.H or case.weights or case.dtype != np.float32:
        return None
    flat = lambda x: np.ascontiguousarray(x.transpose(0, 2, 1, 3).reshape(1, x.shape[2], -1))
    feed = {"query": flat(case.q), "key": flat(case.k), "value": flat(case.v)}
    names = ["query", "key", "value"]
    if case.mask is not None:
        feed["bias"] = np.ascontiguousarray(np.broadcast_to(case.mask, (1, 1, case.n, case.m)))
        names += ["", "", "bias"]
    node = helper.make_node("MultiHeadAttention", names, ["output"], domain="com.microsoft", num_heads=case.H, unidirectional=int(case.causal))
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in feed.items()]
    run = session([node], infos, [helper.make_tensor_value_info("output", TensorProto.FLOAT, feed["query"].shape)], [("", 17), ("com.microsoft", 1)])
    return lambda: run.run(None, feed)[0].reshape(1, case.n, case.H, case.d).transpose(0, 2, 1, 3)


def ort_attention(case):
    """ai.onnx Attention of opset 23 on [B,H,n,d]."""
    if case.dtype != np.float32:
        return None
    feed = {"Q": case.q, "K": case.k, "V": case.v}
    if case.mask is not None:
        feed["mask"] = case.mask
    outputs = ["Y"] + (["", "", "W"] if case.weights else [])
    attributes = {"is_causal": int(case.causal)}
    if case.weights:
        attributes["qk_matmul_output_mode"] = 3  # after the softmax
    node = helper.make_node("Attention", list(feed), outputs, **attributes)
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in feed.items()]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs if name]
    run = session([node], infos, results, [("", 23)], arena=case.weights != "fresh")
    return lambda: run.run(None, feed)[0]


def torch_sdpa(case):
    q, k, v = (torch.from_numpy(x) for x in (case.q, case.k, case.v))
    mask = torch.from_numpy(case.mask) if case.mask is not None else None
    if case.weights == "reused":
        return None
    if case.weights:  # what people write who want the weights
        def run():
            with torch.no_grad():
                run.weights = torch.softmax(q @ k.transpose(-2, -1) * (case.d ** -0.5), dim=-1)
                return (run.weights @ v).numpy()
        return run

    def run():
        with torch.no_grad():
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, mask, is_causal=case.causal, enable_gqa=case.G != case.H).numpy()
    return run


def numpy_plain(case):
    if case.weights == "reused":
        return None
    k, v = (np.repeat(x, case.H // case.G, axis=1) for x in (case.k, case.v))
    blocked = np.triu(np.full((case.n, case.m), -np.inf, case.dtype), 1) if case.causal else None
    factor = case.dtype(case.d ** -0.5)

    def run():
        scores = case.q @ k.transpose(0, 1, 3, 2)
        scores *= factor
        for addend in (blocked, case.mask):
            if addend is not None:
                scores += addend
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(-1, keepdims=True)
        run.weights = scores
        return scores @ v
    return run


MAKERS = {"ours": None, "ORT MHA": ort_multi_head, "ORT Attention": ort_attention, "torch": torch_sdpa, "numpy": numpy_plain}


def cases():
    for n in (128, 512, 1024, 2048, 4096):
        yield lambda n=n: Case(f"full d64 {n}", n=n)
    for d in (32, 80, 128, 256):
        yield lambda d=d: Case(f"full d{d} 2048", d=d)
    for n in (128, 512, 1024, 2048, 4096):
        yield lambda n=n: Case(f"causal d64 {n}", n=n, causal=True)
    yield lambda: Case("causal d128 2048", d=128, causal=True)
    yield lambda: Case("cross 512 x 4096", n=512, m=4096)
    yield lambda: Case("odd 1000 x 777", n=1000, m=777)
    yield lambda: Case("added n x m mask 2048", mask=True)
    yield lambda: Case("GQA 32/8 d128 1024", H=32, G=8, n=1024, d=128)
    for d in (64, 128):
        yield lambda d=d: Case(f"decode 32/8 heads, 8192 keys, d{d}", H=32, G=8, n=1, m=8192, d=d)
    for memory in ("fresh", "reused"):
        yield lambda memory=memory: Case(f"weights, {memory} memory, 2048", weights=memory)
    yield lambda: Case("float64 d64 2048", dtype=np.float64)


def measure(case, library, rounds):
    contenders = {}
    for name, maker in MAKERS.items():
        try:
            run = ours(case, library) if maker is None else maker(case)
            if run is not None:
                contenders[name] = (run, np.array(run()))
        except Exception as error:  # a peer that cannot do it is no contender
            print(f"  {name}: {str(error).splitlines()[0][:150]}", file=sys.stderr)
    exact = contenders["numpy"][1] if "numpy" in contenders else contenders["ours"][1]
    for name, (_, result) in contenders.items():
        off = float(np.max(np.abs(result - exact)))
        if not off < 1e-4:
            print(f"  {name} differs from numpy by {off:.1e}", file=sys.stderr)
    start = time.perf_counter()
    for run, _ in contenders.values():
        run()
    brief = time.perf_counter() - start < 0.1
    times = {name: [] for name in contenders}
    peaks = []
    names = list(contenders)
    for round_ in range(max(rounds, 25) if brief else rounds):
        for name in names[round_ % len(names):] + names[:round_ % len(names)]:
            time.sleep(PAUSE)
            start = time.perf_counter()
            contenders[name][0]()
            times[name].append(time.perf_counter() - start)
        time.sleep(PAUSE)
        peaks.append(max(library.attn_bench_peak(int(case.dtype == np.float64), THREADS) for _ in range(3)))  # the first one wakes the cores
    return times, statistics.median(peaks)


def report(case, times, peak):
    medians = {name: statistics.median(t) for name, t in times.items()}
    cells = " ".join(f"{1e3 * medians[name]:9.2f}" if name in medians else f"{'-':>9}" for name in MAKERS)
    runtime = [name for name in medians if name.startswith("ORT")]
    verdict = ""
    if runtime:
        best = min(runtime, key=medians.get)
        verdict = f"{medians[best] / medians['ours']:5.2f}x / {min(times[best]) / min(times['ours']):.2f}x"
    others = " ".join(f"{name} {medians[name] / medians['ours']:.1f}x" for name in ("torch", "numpy") if name in medians)
    of_peak = lambda name: f"{case.flop / medians[name] / peak:4.2f}" if name in medians else "   -"
    shares = f"{of_peak('ours')} {of_peak(best) if runtime else '   -'}"
    print(f"{case.name:36} {cells}  {shares:9}  {verdict:15}  {others}", flush=True)


def main():
    library = ctypes.CDLL(sys.argv[1])
    library.attn_bench_peak.restype = ctypes.c_double
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    part = sys.argv[3] if len(sys.argv) > 3 else ""
    torch.set_num_threads(THREADS)
    print(f"onnxruntime {onnxruntime.__version__}, torch {torch.__version__}, numpy {np.__version__}; {THREADS} threads; {rounds} rounds, more of short ones")
    print(f"{'milliseconds, median':36} " + " ".join(f"{name[-9:]:>9}" for name in MAKERS) + f"  {'of peak: ours, ORT':9}  {'ORT best / ours':15}  others / ours")
    for make in cases():
        case = make()
        if part in case.name:
            report(case, *measure(case, library, rounds))


if __name__ == "__main__":
    main()
