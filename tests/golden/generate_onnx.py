"""Makes data/onnx.json: the Attention operator of ONNX, opsets 23 to 25, by onnx's own reference evaluator."""
import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from fixtures import case, inputs, save

RNG = np.random.default_rng(20240623)
ORDER = ["Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"]
INFINITY = float("inf")


def attention(opset=23, **given):
    """Runs one Attention node; the names of ORDER are inputs, the rest are attributes (float32, and the square root of the
    scale is used twice: squares of short numbers stay exact)."""
    tensors = {name: given.pop(name) for name in ORDER if given.get(name) is not None}
    last = max(ORDER.index(name) for name in tensors)
    names = [name if name in tensors else "" for name in ORDER[:last + 1]]
    outputs = ["Y", "present_key", "present_value", "qk"] if "past_key" in tensors else ["Y", "", "", "qk"]
    node = helper.make_node("Attention", names, outputs, **given)
    value = lambda name, dtype: helper.make_tensor_value_info(name, dtype, None)
    graph = helper.make_graph([node], "attention", [value(n, helper.np_dtype_to_tensor_dtype(t.dtype)) for n, t in tensors.items()],
                              [value(n, TensorProto.DOUBLE) for n in outputs if n])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    return dict(zip([n for n in outputs if n], ReferenceEvaluator(model).run(None, tensors)))


def options(Q, K, attributes, tensors):
    """The attributes of the operator in the words of attn-cli."""
    args = []
    if attributes.get("is_causal"): args += ["--causal"]
    if "scale" in attributes: args += ["--scale", repr(attributes["scale"])]
    if attributes.get("softcap"): args += ["--softcap", repr(attributes["softcap"])]
    if Q.ndim == 3: args += ["--heads", attributes["q_num_heads"], "--kv-heads", attributes["kv_num_heads"]]
    window = [attributes.get(f"{side}_window_size", -1) for side in ("left", "right")]
    if window != [-1, -1]: args += ["--window", f"{window[0]},{window[1]}"]
    if "nonpad_kv_seqlen" in tensors: args += ["--align", "bottom-right"]
    mask = tensors.get("attn_mask")
    if mask is not None and mask.dtype != np.bool_: args += ["--mask-kind", "add"]
    return args


def made(name, Q, K, V, opset=23, **rest):
    tensors = {n: rest.pop(n) for n in list(rest) if n in ORDER}
    run = lambda mode: attention(opset, Q=Q, K=K, V=V, **tensors, **rest, qk_matmul_output_mode=mode)
    softcap = rest.get("softcap", 0)
    result = run(3)
    document = {"query": Q, "key": K, "value": V, "mask": tensors.get("attn_mask"), "past_key": tensors.get("past_key"),
                "past_value": tensors.get("past_value"), "key_lengths": tensors.get("nonpad_kv_seqlen")}
    # Mode 0 is the product before softcap only when there is none; mode 1 is after softcap, mode 2 has the masks too.
    return case(name, document, options(Q, K, rest, tensors), weights=result["qk"], output=result["Y"],
                raw=run(0)["qk"] if not softcap else None, capped=run(1)["qk"] if softcap else None, masked=run(2)["qk"],
                present_key=result.get("present_key"), present_value=result.get("present_value"))


def qkv(B=2, H=2, G=2, n=3, m=4, d=4, v=3):
    return inputs(RNG, B, H, n, d), inputs(RNG, B, G, m, d), inputs(RNG, B, G, m, v)


def flat(B=2, H=2, G=2, n=3, m=4, d=4, v=3):
    return inputs(RNG, B, n, H * d), inputs(RNG, B, m, G * d), inputs(RNG, B, m, G * v)


def keep(*shape):
    mask = RNG.random(shape) < 0.6
    mask[..., 0] = True
    return mask


def added(*shape):
    mask = inputs(RNG, *shape)
    mask[RNG.random(shape) < 0.3] = -INFINITY
    mask[..., 0] = 0
    return mask


def cases():
    yield made("plain, 4-D", *qkv())
    yield made("value size differs", *qkv(v=5))
    yield made("causal, square", *qkv(n=4), is_causal=1)
    yield made("causal, fewer queries than keys is top-left", *qkv(n=2, m=5), is_causal=1)
    yield made("causal, more queries than keys", *qkv(n=5, m=3), is_causal=1)
    yield made("scale", *qkv(), scale=0.25)
    yield made("softcap", *qkv(), softcap=0.5)
    yield made("softcap and a boolean mask", *qkv(), softcap=0.5, attn_mask=keep(3, 4))
    yield made("softcap and an added mask", *qkv(), softcap=0.5, attn_mask=added(3, 4))
    yield made("softcap, causal and scale", *qkv(n=4), softcap=2.0, is_causal=1, scale=0.25)
    for shape in ((3, 4), (1, 4), (2, 3, 4), (1, 3, 4), (2, 1, 3, 4), (2, 2, 3, 4), (1, 2, 1, 4)):
        yield made(f"boolean mask {list(shape)}", *qkv(), attn_mask=keep(*shape))
        yield made(f"added mask {list(shape)}", *qkv(), attn_mask=added(*shape))
    yield made("boolean mask and causal", *qkv(n=4), attn_mask=keep(4, 4), is_causal=1)
    yield made("added mask and causal", *qkv(n=4), attn_mask=added(2, 4, 4), is_causal=1)
    yield made("a row without keys is zero", *qkv(), attn_mask=np.array([[1, 1, 0, 1], [0, 0, 0, 0], [1, 0, 0, 0]], bool))
    yield made("a row of -inf is zero", *qkv(), attn_mask=np.array([[0, 1, 0, .5], [-INFINITY] * 4, [1, 0, 0, -INFINITY]]))
    yield made("causal and left padding leave rows without keys", *qkv(n=4), attn_mask=np.array([[0, 0, 1, 1]] * 4, bool), is_causal=1)
    yield made("grouped heads", *qkv(H=4, G=2))
    yield made("one key head for all", *qkv(H=3, G=1), is_causal=1)
    yield made("grouped heads, mask of heads", *qkv(H=4, G=2), attn_mask=keep(4, 3, 4))
    yield made("3-D", *flat(), q_num_heads=2, kv_num_heads=2)
    yield made("3-D, grouped, value size differs", *flat(H=4, G=2, v=5), q_num_heads=4, kv_num_heads=2)
    yield made("3-D, causal and mask", *flat(n=4), q_num_heads=2, kv_num_heads=2, is_causal=1, attn_mask=keep(4, 4))
    past = dict(past_key=inputs(RNG, 2, 2, 3, 4), past_value=inputs(RNG, 2, 2, 3, 3))
    yield made("past, not causal", *qkv(n=2, m=2), **past)
    yield made("past, causal", *qkv(n=2, m=2), is_causal=1, **past)
    yield made("past, causal, one new token", *qkv(n=1, m=1), is_causal=1, **past)
    yield made("past, causal, added mask", *qkv(n=2, m=2), is_causal=1, attn_mask=added(2, 5), **past)
    yield made("past, 3-D, causal, softcap", *flat(n=2, m=2), q_num_heads=2, kv_num_heads=2, is_causal=1, softcap=1.0, **past)
    lengths = dict(opset=24, nonpad_kv_seqlen=np.array([3, 5]))
    yield made("valid keys", *qkv(n=2, m=5), **lengths)
    yield made("valid keys, causal is bottom-right", *qkv(n=2, m=5), is_causal=1, **lengths)
    yield made("valid keys, causal, more queries than keys", *qkv(n=4, m=5), is_causal=1, **lengths)
    yield made("valid keys, mask", *qkv(n=2, m=5), attn_mask=keep(2, 5), **lengths)
    yield made("window", *qkv(n=6, m=6), opset=25, left_window_size=2, right_window_size=1)
    yield made("window and causal", *qkv(n=6, m=6), opset=25, is_causal=1, left_window_size=2, right_window_size=0)
    yield made("window open to the left", *qkv(n=3, m=6), opset=25, right_window_size=1)
    yield made("window with a past", *qkv(n=2, m=2), opset=25, is_causal=1, left_window_size=1, **past)
    yield made("window and valid keys", *qkv(n=2, m=5), **{**lengths, "opset": 25}, left_window_size=1, right_window_size=0)
    yield made("everything at once", *qkv(H=4, G=2, n=4, m=6, v=5), opset=25, is_causal=1, left_window_size=3, softcap=1.5, scale=0.5625,
               attn_mask=added(2, 4, 4, 6))


save("onnx.json", {"onnx": onnx.__version__, "numpy": np.__version__, "operator": "Attention, opsets 23, 24 and 25", "precision": "float64"},
     ["A mask whose last axis is shorter than the keys is padded with blocked keys by ONNX, one of length 1 too; attn-cli repeats an axis of 1 and "
      "refuses other lengths (exit 4).",
      "qk_matmul_output_mode 0 is the product after softcap when there is a softcap; --stage raw is always before it.",
      "The evaluator of onnx 1.18 to 1.20 put the softcap after the mask (so that blocked keys leak) and numbered the modes the other way round: "
      "1 with the mask, 2 after the softcap. In 1.23, as in attn-cli, the softcap comes first: 1 is --stage capped, 2 is --stage masked.",
      "Rows without an allowed key are 0 in onnx 1.23 and in attn-cli; onnx 1.18 to 1.20 gave NaN."],
     list(cases()))
