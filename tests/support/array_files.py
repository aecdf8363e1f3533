"""Writes and reads .npy, .npz and .safetensors with the standard library, for the tests.

    write: npy(values, "<f4"), npz({"q": values, "tokens": ["a", "b"], "meta": "{}"}), safetensors({"q": values}, {"k": "text"})
    read:  read_npz(bytes) and read_safetensors(bytes) -> {name: (dtype, shape, nested list)}
"""
import io, json, math, struct, zipfile

CODES = {"f2": "e", "f4": "f", "f8": "d", "i1": "b", "i4": "i", "i8": "q", "u1": "B", "u4": "I", "b1": "?"}
SAFE = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "BOOL": "|b1", "U8": "|u1"}


def shape_of(v): return [len(v)] + (shape_of(v[0]) if v else []) if isinstance(v, list) else []
def flat(v): return [x for item in v for x in flat(item)] if isinstance(v, list) else [v]


def nested(values, shape):
    if not shape: return values[0]
    step = math.prod(shape[1:])
    return [nested(values[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


def pack(values, dtype):
    code = CODES[dtype[1:]]
    convert = (lambda v: v) if code in "?" else float if code in "efd" else int
    return struct.pack("<" + code * len(values), *map(convert, values))


def unpack(data, dtype):
    code = CODES[dtype[1:]]
    return list(struct.unpack("<" + code * (len(data) // struct.calcsize("<" + code)), data))


def npy_header(descr, shape):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (descr, "".join(f"{n}, " for n in shape))
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def npy(values, dtype="<f8", shape=None):
    if isinstance(values, str): return npy_header(f"<U{max(1, len(values))}", []) + values.ljust(max(1, len(values)), "\0").encode("utf-32-le")
    items = flat(values)
    if items and isinstance(items[0], str):
        width = max(map(len, items))
        return npy_header(f"<U{width}", [len(items)]) + b"".join(s.ljust(width, "\0").encode("utf-32-le") for s in items)
    return npy_header(dtype, shape_of(values) if shape is None else shape) + pack(items, dtype)


def npz(members, dtype="<f8"):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, values in members.items(): archive.writestr(name + ".npy", values if isinstance(values, bytes) else npy(values, dtype))
    return out.getvalue()


def safetensors(members, metadata=None, dtype="F64"):
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    for name, values in members.items():
        packed = pack(flat(values), SAFE[dtype])
        header[name] = {"dtype": dtype, "shape": shape_of(values), "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def read_npy(data):
    size, = struct.unpack("<H", data[8:10])
    header = eval(data[10:10 + size].decode(), {"__builtins__": {}})
    shape, dtype, body = list(header["shape"]), header["descr"], data[10 + size:]
    if "U" in dtype:
        width = int(dtype[2:]) * 4
        items = [body[i:i + width].decode("utf-32-le").rstrip("\0") for i in range(0, len(body), width)]
        return dtype, shape, nested(items, shape)
    return dtype, shape, nested(unpack(body, dtype), shape)


def read_npz(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive: return {n[:-4]: read_npy(archive.read(n)) for n in archive.namelist()}


def read_safetensors(data):
    size, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    metadata, body, out = header.pop("__metadata__", {}), data[8 + size:], {}
    for name, row in header.items():
        begin, end = row["data_offsets"]
        out[name] = (row["dtype"], row["shape"], nested(unpack(body[begin:end], SAFE[row["dtype"]]), row["shape"]))
    return out, metadata
