"""Tensors of .safetensors files."""
import json, struct

from array_bytes import SIX, safetensors, tensor
from catalogue import Catalogue, case, refused, run, same

QKV = {"query": tensor(), "key": tensor(offsets=(24, 48)), "value": tensor(offsets=(48, 72))}
PLAIN = safetensors(QKV, 3 * SIX)
NAME = "k\x1b]0;pwn\x07"


def bad(code, fault, content, says, exit=3, **how): return refused(code, fault, {"x.safetensors": content}, says, exit=exit, **how)


def good(code, fault, content): return same(code, fault, {"x.safetensors": content}, {"x.safetensors": PLAIN}, outputs=("-w", "-o"))


def two(a, b, data=SIX): return safetensors({"query": tensor(offsets=a), "key": tensor(offsets=b)}, data)


def text(head, data=SIX): return safetensors(head.encode(), data)


class Safetensors(Catalogue):
    CODES = "S01 S02 S03 S05 S06 S07 S09 S10 S11 S13 S14 S15 S17 S18 S19 S21 S22 S23 S25 S26"
    CASES = [
        bad("S01", "three bytes", b"\1\0\0", "3 bytes"),
        bad("S02", "a header past the end", safetensors({"query": tensor()}, SIX, 10**6), "header length 1000000 is past the end of the file"),
        bad("S03", "a length that wraps", safetensors(b"{}", b"", 2**64 - 1), "past the end of the file"),
        bad("S05", "a header that is not UTF-8", safetensors(b"\xff"), "UTF-8"),
        bad("S05", "a name that is not UTF-8", safetensors(b'{"\xff":{}}'), "UTF-8"),
        bad("S06", "a header that is not JSON", safetensors(b"{"), "not JSON"),
        bad("S07", "blanks before the header", safetensors(b"  {}"), "must begin with"),
        good("S07", "blanks after it", safetensors((json.dumps(QKV) + "\r \t\n").encode(), 3 * SIX)),
        bad("S09", "two tensors in one place", two((0, 24), (0, 24)), "inside that of another tensor"),
        bad("S09", "two that overlap", two((0, 24), (12, 36), SIX + SIX[:12]), "inside that of another tensor"),
        bad("S10", "a hole", two((0, 24), (32, 56), SIX + SIX + bytes(8)), "a hole of 8 bytes"),
        bad("S10", "a hole at the start", safetensors({"query": tensor(offsets=(8, 32))}, bytes(8) + SIX), "a hole of 8 bytes"),
        bad("S11", "bytes after the last tensor", safetensors({"query": tensor()}, SIX + b"%PDF-1.4"), "8 bytes after the last tensor"),
        bad("S13", "an end before its beginning", safetensors({"query": tensor(offsets=(24, 0))}, SIX), "data_offsets"),
        *[bad("S14", f"data_offsets {offsets}", safetensors({"query": tensor(offsets=offsets)}, SIX), r"x\.safetensors: ")
          for offsets in ((-8, 16), (0, 24.0), (0, "24"), (0,), (0, 24, 48), (0, 2**64), ())],
        *[bad("S15", f"an axis of {axis}", text('{"query":{"dtype":"F32","shape":[2,%d],"data_offsets":[0,24]}}' % axis), "than can be counted")
          for axis in (2**63 - 1, 2**62)],
        bad("S15", "an axis beyond 64 bits", text('{"query":{"dtype":"F32","shape":[2,18446744073709551614],"data_offsets":[0,24]}}'), r"x\.safetensors: "),
        bad("S15", "a negative axis", safetensors({"query": tensor((-2, -3))}, SIX), r"x\.safetensors: "),
        bad("S17", "an unknown dtype outside the data", safetensors({"query": tensor(), "x": tensor((1,), (24, 2**63), "NOPE")}, SIX), r"x\.safetensors: "),
        bad("S17", "an unknown dtype", safetensors({"query": tensor((24,), (0, 24), "NOPE")}, SIX), "NOPE"),
        bad("S18", "no columns", safetensors({"query": tensor((2, 0), (0, 0)), "key": tensor((2, 0), (0, 0))}), r"x\.safetensors", exit=(3, 4)),
        bad("S19", "another size than the dtype asks for", safetensors({"query": tensor(dtype="I8")}, SIX), "needs 6 bytes"),
        bad("S19", "a dtype of 8-bit floats", safetensors({"query": tensor((24,), (0, 24), "F8_E4M3")}, SIX), "F8_E4M3"),
        bad("S21", "metadata that is no text", safetensors({"__metadata__": {"a": 1}, "query": tensor()}, SIX), "expected a text"),
        bad("S21", "metadata that is a list", safetensors({"__metadata__": [], "query": tensor()}, SIX), r"x\.safetensors: "),
        good("S22", "data at an odd address", safetensors((json.dumps(QKV) + " " * (1 - len(json.dumps(QKV)) % 2)).encode(), 3 * SIX)),
        bad("S23", "deep lists", safetensors(b'{"query":' + b"[" * 100000 + b"]" * 100000 + b"}"), r"x\.safetensors: header"),
        refused("S25", "a name with control characters", {"x.safetensors": safetensors({NAME: tensor()}, SIX)},
                r"no array 'query'; it has: k\\x1b\]0;pwn\\x07", "compute", "-X", "x.safetensors:query"),
        bad("S25", "the same in a document", safetensors({NAME: tensor()}, SIX), r"k\\x1b\]0;pwn\\x07"),
        bad("S26", "a pointer to the data", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "Git LFS pointer"),
        bad("S26", "one name twice", text('{"query":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"query":{"dtype":"F32","shape":[2,3],'
                                          '"data_offsets":[0,24]}}'), "twice"),
    ]

    @case("S01", "every cut of a good file")
    def cuts(self):
        good = safetensors({"query": tensor()}, SIX)
        for length in range(len(good)):
            self.write("x.safetensors", good[:length])
            done = self.run_tool("compute", "-X", "x.safetensors", "-w", "new.csv")
            self.assertEqual(done.code, 3, f"{length} bytes: {done.err}")
            self.assertRefusal(done, r"x\.safetensors")
            self.assertFalse((self.folder / "new.csv").exists())

    @case("S02", "a header of 200 MB in a file to match")
    def long_header(self):
        path = self.write("x.safetensors", safetensors(b'{"query":1}', b"", 200 << 20))
        with open(path, "r+b") as file: file.truncate(300 << 20)
        self.refuse(("compute", "-X", "x.safetensors"), "header length 209715200, expected at most", 3, memory=64 << 10)

    @case("S19", "half precision and bfloat16 are read, double precision too")
    def widths(self):
        self.write("plain.json", [[0, 1, 2], [3, 4, 5]])
        for dtype, data in (("F16", struct.pack("<6e", *range(6))), ("F64", struct.pack("<6d", *range(6))), ("I64", struct.pack("<6q", *range(6))),
                            ("BF16", b"".join(struct.pack("<f", x)[2:] for x in range(6)))):
            self.write("x.safetensors", safetensors({"x": tensor(offsets=(0, len(data)), dtype=dtype)}, data))
            self.run_cli("diff", "x.safetensors", "plain.json", "--atol", "0", "--rtol", "0")


if __name__ == "__main__": run()
