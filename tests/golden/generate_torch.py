"""Makes data/torch.json: nn.MultiheadAttention and F.scaled_dot_product_attention of PyTorch, in float64 on the CPU."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from fixtures import case, inputs, save

RNG = np.random.default_rng(20240624)
INFINITY = float("inf")
torch.set_default_dtype(torch.float64)


def tensor(array): return torch.from_numpy(array)


def shorten(module):
    """Weights with two decimals."""
    for parameter in module.parameters():
        parameter.data = tensor(np.round(RNG.standard_normal(tuple(parameter.shape)) * 0.5, 2))
    return module.eval()


def sdpa(name, q, k, v, mask=None, args=(), **options):
    query, key, value = map(tensor, (q, k, v))
    attn_mask = None if mask is None else tensor(mask)
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=attn_mask, **options)
    # The plain path of the same function also gives the weights; it takes added masks only.
    if mask is not None and mask.dtype == np.bool_: attn_mask = tensor(np.where(mask, 0.0, -INFINITY))
    again, weights = torch.ops.aten._scaled_dot_product_attention_math(query, key, value, attn_mask, 0.0, options.get("is_causal", False), None,
                                                                      scale=options.get("scale"), enable_gqa=options.get("enable_gqa", False))
    assert torch.allclose(output, again, rtol=1e-12, atol=1e-12, equal_nan=True)
    args = list(args)
    if options.get("is_causal"): args += ["--causal"]
    if options.get("scale") is not None: args += ["--scale", repr(options["scale"])]
    if mask is not None and mask.dtype != np.bool_: args += ["--mask-kind", "add"]
    return case("sdpa: " + name, {"query": q, "key": k, "value": v, "mask": mask}, args, weights=weights, output=output)


def qkv(B=2, H=2, G=2, n=3, m=4, d=4, v=3):
    return inputs(RNG, B, H, n, d), inputs(RNG, B, G, m, d), inputs(RNG, B, G, m, v)


def keep(*shape):
    mask = RNG.random(shape) < 0.6
    mask[..., 0] = True
    return mask


def added(*shape):
    mask = inputs(RNG, *shape)
    mask[RNG.random(shape) < 0.3] = -INFINITY
    mask[..., 0] = 0
    return mask


def sdpa_cases():
    yield sdpa("plain", *qkv())
    yield sdpa("causal", *qkv(n=4), is_causal=True)
    yield sdpa("causal, fewer queries than keys is top-left", *qkv(n=2, m=5), is_causal=True)
    yield sdpa("causal, more queries than keys", *qkv(n=5, m=2), is_causal=True)
    yield sdpa("scale", *qkv(), scale=0.3)
    yield sdpa("negative scale", *qkv(), scale=-1.0)
    yield sdpa("grouped heads", *qkv(H=4, G=2), enable_gqa=True)
    yield sdpa("one key head, causal", *qkv(H=3, G=1, n=4), enable_gqa=True, is_causal=True)
    yield sdpa("value size differs", *qkv(v=7))
    yield sdpa("large scores", *[100 * x for x in qkv()])
    for shape in ((3, 4), (1, 4), (3, 1), (2, 3, 4), (2, 1, 3, 4), (2, 2, 3, 4)):
        yield sdpa(f"boolean mask {list(shape)}", *qkv(), mask=keep(*shape))
        yield sdpa(f"added mask {list(shape)}", *qkv(), mask=added(*shape))
    yield sdpa("a row without keys is zero", *qkv(), mask=np.array([[1, 1, 0, 1], [0, 0, 0, 0], [1, 0, 0, 0]], bool))
    yield sdpa("a row of -inf is zero", *qkv(), mask=np.array([[0, 1, 0, .5], [-INFINITY] * 4, [1, 0, 0, -INFINITY]]))
    yield sdpa("the lowest float is a bias", *qkv(n=1), mask=np.full((1, 4), -3.4028234663852886e38))
    yield sdpa("one query, many keys", *qkv(B=1, H=1, G=1, n=1, m=60, d=8, v=8))


def mha(name, module, query, key=None, value=None, *, args=(), mask=None, mask_kind=None, average=False, document=None, **options):
    """Self-attention without a key; else cross-attention, with `value` apart from `key` or the same."""
    q = tensor(query)
    k = q if key is None else tensor(key)
    v = k if value is None else tensor(value)
    output, weights = module(q, k, v, need_weights=True, average_attn_weights=average, **options)
    fields = {"embeddings": query} if key is None else {"query": query, "key": key, "value": key if value is None else value}
    for parameter, content in module.named_parameters(): fields[parameter] = content
    fields["mask"] = mask
    args = ["--heads", module.num_heads, *args]
    if mask_kind: args += ["--mask-kind", mask_kind]
    if average: args += ["--reduce", "mean"]
    return case("mha: " + name, fields, args, weights=weights, output=output)


def mha_cases():
    E, H, B, n, m = 6, 2, 2, 3, 4
    make = lambda heads=H, **options: shorten(nn.MultiheadAttention(E, heads, batch_first=True, **options))
    x, context = inputs(RNG, B, n, E), inputs(RNG, B, m, E)
    yield mha("packed, self", make(), x)
    yield mha("packed, self, averaged", make(), x, average=True)
    yield mha("packed, without biases", make(bias=False), x)
    yield mha("packed, one head", make(heads=1), x)
    yield mha("packed, six heads", make(heads=6), x)
    yield mha("packed, not batched", make(), inputs(RNG, n, E))
    yield mha("packed, not batched, averaged", make(), inputs(RNG, n, E), average=True)
    yield mha("packed, cross", make(), x, context)
    yield mha("packed, cross, value apart", make(), x, context, inputs(RNG, B, m, E))
    kdim, vdim = 5, 4
    yield mha("separate projections", make(kdim=kdim, vdim=vdim), x, inputs(RNG, B, m, kdim), inputs(RNG, B, m, vdim))
    yield mha("separate projections, without biases, averaged", make(kdim=kdim, vdim=vdim, bias=False), x, inputs(RNG, B, m, kdim),
              inputs(RNG, B, m, vdim), average=True)
    causal = np.triu(np.ones((n, n), bool), 1)
    yield mha("boolean attn_mask: 1 blocks", make(), x, attn_mask=tensor(causal), mask=causal, mask_kind="block")
    yield mha("boolean attn_mask is causal", make(), x, attn_mask=tensor(causal), args=["--causal"])
    bias = added(n, n)
    yield mha("added attn_mask", make(), x, attn_mask=tensor(bias), mask=bias, mask_kind="add")
    per_head = ~keep(B, H, n, n)
    yield mha("attn_mask of each head", make(), x, attn_mask=tensor(per_head.reshape(B * H, n, n)), mask=per_head, mask_kind="block")
    padding = np.array([[0, 0, 1], [0, 0, 0]], bool)
    yield mha("key_padding_mask: 1 blocks", make(), x, key_padding_mask=tensor(padding), mask=padding.reshape(B, 1, 1, n), mask_kind="block")
    yield mha("key_padding_mask is key lengths", make(), x, key_padding_mask=tensor(padding), args=["--key-lengths", "2,3"])
    yield mha("key_padding_mask and causal", make(), x, key_padding_mask=tensor(padding), attn_mask=tensor(causal),
              args=["--causal", "--key-lengths", "2,3"], average=True)
    yield mha("padding of the context", make(), x, context, key_padding_mask=tensor(np.array([[0, 0, 0, 1], [0, 1, 1, 1]], bool)),
              args=["--key-lengths", "3,1"])
    blocked = np.array([[0, 1, 1], [1, 1, 1], [0, 0, 1]], bool)
    yield mha("a row without keys is NaN in torch", make(), x, attn_mask=tensor(blocked), mask=blocked, mask_kind="block",
              args=["--empty-rows", "nan"])


save("torch.json", {"torch": torch.__version__, "numpy": np.__version__, "functions": "nn.MultiheadAttention, F.scaled_dot_product_attention",
                    "precision": "float64"},
     ["A row without an allowed key: F.scaled_dot_product_attention of 2.15 gives 0 (older versions NaN), nn.MultiheadAttention with weights "
      "still NaN. attn-cli gives 0, or NaN with --empty-rows nan.",
      "attn_mask is broadcast as [n,m] or, for each head, [B·H,n,m] by nn.MultiheadAttention; attn-cli takes [B,H,n,m] for the latter.",
      "add_bias_kv and add_zero_attn have no counterpart; a zero key and value can be put into the inputs."],
     [*sdpa_cases(), *mha_cases()])
