"""Small .npy, .npz and .safetensors files made by hand, for tests (standard library only)."""
import io, json, struct, zipfile

CODES = {"<f4": "f", "<f8": "d", "|b1": "?", "<i8": "q", "|u1": "B"}


def shape_of(values): return [len(values)] + (shape_of(values[0]) if values else []) if isinstance(values, list) else []


def flat(values): return [x for v in values for x in flat(v)] if isinstance(values, list) else [values]


def npy(values, dtype="<f8"):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (dtype, "".join(f"{n}, " for n in shape_of(values)))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    numbers = flat(values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<" + CODES[dtype] * len(numbers), *numbers)


def npy_strings(strings):
    width = max(map(len, strings))
    head = "{'descr': '<U%d', 'fortran_order': False, 'shape': (%d,), }" % (width, len(strings))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    data = b"".join(s.encode("utf-32-le").ljust(4 * width, b"\0") for s in strings)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data


def npz(**members):
    """Values are nested lists (float64), lists of strings, or the bytes of an .npy."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in members.items():
            strings = isinstance(value, list) and value and isinstance(value[0], str)
            archive.writestr(name + ".npy", value if isinstance(value, bytes) else npy_strings(value) if strings else npy(value))
    return out.getvalue()


def safetensors(**members):
    head, data = {}, b""
    for name, value in members.items():
        numbers = flat(value)
        head[name] = {"dtype": "F64", "shape": shape_of(value), "data_offsets": [len(data), len(data) + 8 * len(numbers)]}
        data += struct.pack("<%dd" % len(numbers), *numbers)
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data
