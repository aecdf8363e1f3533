"""Binary array files byte by byte, right and wrong ones."""
import io, json, struct, zipfile

SIX = struct.pack("<6f", *range(6))


def floats(*values): return struct.pack(f"<{len(values)}f", *values)


def header(shape="(2, 3)", descr="'<f4'", order="False"):
    return "{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)


def npy(text=None, data=SIX, version=1, total=None, length=None, magic=b"\x93NUMPY"):
    """A .npy; `total` bytes of preamble and header, of which the preamble claims `length`."""
    text = header() if text is None else text
    start = 12 if version in (2, 3) else 10
    total = total or (start + len(text) + 64) // 64 * 64
    raw = (text + " " * (total - start - len(text) - 1) + "\n").encode()
    return magic + bytes([version, 0]) + struct.pack("<H" if start == 10 else "<I", len(raw) if length is None else length) + raw + data


def matrix(rows, columns, values): return npy(header(f"({rows}, {columns})"), floats(*values))


def npz(members, method=0, zip64=False, into=None):
    out = into or io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            with archive.open(info, "w", force_zip64=zip64) as entry: entry.write(data)
    return out.getvalue()


def poke(data, at, new): return data[:at] + new + data[at + len(new):]


def tensor(shape=(2, 3), offsets=(0, 24), dtype="F32"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def safetensors(head, data=b"", length=None):
    raw = head if isinstance(head, bytes) else json.dumps(head).encode()
    return struct.pack("<Q", len(raw) if length is None else length) + raw + data
