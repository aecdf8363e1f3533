"""Damaged, hostile and odd .npy, .npz and .safetensors, and right ones that few readers take, through the binary."""
import io, json, struct, warnings, zipfile

from attn_test import main
from hostile import Hostile

SIX = struct.pack("<6f", *range(6))
ROWS = [[0, 1, 2], [3, 4, 5]]


def header(shape="(2, 3)", descr="'<f4'", order="False"):
    return "{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)


def npy(text=None, data=SIX, version=1, total=None, length=None, magic=b"\x93NUMPY"):
    text = header() if text is None else text
    start = 10 if version == 1 else 12
    total = total or (start + len(text) + 64) // 64 * 64
    raw = (text + " " * (total - start - len(text) - 1) + "\n").encode()
    return magic + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(raw) if length is None else length) + raw + data


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


class Binary(Hostile):
    def accept(self, name, content, member=""):
        """The file's array, taken as query and key, gives what the same numbers as JSON give."""
        self.write(name, content)
        self.write("plain.json", ROWS)
        for source, out in ((name + member, "got.csv"), ("plain.json", "right.csv")):
            self.run_cli("compute", "-Q", source, "-K", source, "-w", out, "--precision", "float64")
        self.assertEqual(self.read("got.csv"), self.read("right.csv"))

    def refuse_array(self, name, content, pattern, exit=3):
        self.refuse(name, content, pattern, "-X", name, exit=exit)


class Npy(Binary):
    def bad(self, content, pattern, exit=3): self.refuse_array("x.npy", content, pattern, exit)

    def test_right_ones(self):
        self.accept("x.npy", npy())
        self.accept("x.npy", npy(total=192))
        self.accept("x.npy", npy(version=2, total=256))
        self.accept("x.npy", npy(version=3))
        self.accept("x.npy", npy("{'shape': (2, 3), 'descr': '<f4', 'fortran_order': False}"))
        self.accept("x.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L)}"))
        self.accept("x.npy", npy(header(descr="'>f4'"), struct.pack(">6f", *range(6))))
        self.accept("x.npy", npy(header(order="True"), struct.pack("<6f", 0, 3, 1, 4, 2, 5)))
        self.accept("x.npy", npy(header(descr="'<f2'"), struct.pack("<6e", *range(6))))
        self.accept("x.npy", npy(header(descr="'|u1'"), bytes(range(6))))

    def test_not_npy(self):
        self.bad(b"", r"x\.npy: .*0 bytes")
        self.bad(npy(magic=b"\x93NUMPX"), "not an npy file")
        self.bad(npy(version=9), r"npy version 9\.0")

    def test_headers(self):
        self.bad(npy(length=60000), "past the end of the file")
        self.bad(b"\x93NUMPY\x02\x00\xf0\xff\xff\xff", "claims 4294967280 bytes")
        self.bad(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'shape': (2, 3), }"), "'shape' twice")
        self.bad(npy(header("(2, 3)\0")), "control character")

    def test_shapes(self):
        for shape in ("(4294967296, 4294967296)", "(-1,)", "(2 3,)", "(abc, 2)", "(100, 3)", "(0, 18446744073709551615)",
                      "(" + "1, " * 5000 + ")"):
            self.bad(npy(header(shape)), r"x\.npy: ")
        self.bad(npy(header("()"), SIX[:4]), r"x\.npy.* shape \[\]", exit=4)
        self.bad(npy(header("(1, 1, 1, 1, 6)")), r"x\.npy", exit=(3, 4))
        self.write("none.npy", npy(header("(0, 3)"), b""))  # no rows are rows too
        self.run_cli("compute", "-X", "none.npy", "-w", "none.json")
        self.assertEqual(self.read_json("none.json")["weights"], [])

    def test_data(self):
        self.bad(npy() + b"PK-junk", "7 bytes after the data")
        self.bad(npy()[:-1], r"needs 24 bytes of data, found 23")

    def test_types(self):
        self.bad(npy(header(descr="'|O'"), b"cos\nsystem\n(S'id'\ntR."), "pickle")
        self.bad(npy(header(descr="[('a', '<f4')]")), "structured")
        self.bad(npy(header(descr="'<f99999999999'")), "dtype")
        self.bad(npy(header(descr="'<c8'")), "complex")

    def test_a_claim_of_terabytes_is_refused_from_the_header(self):
        path = self.write("x.npy", npy(header("(1000000, 1000000)"), b""))
        with open(path, "r+b") as file: file.truncate(file.seek(0, 2) + 4 * 10**12)
        self.refuse("x.npy", None, "memory", "-X", "x.npy", exit=6)


class Npz(Binary):
    def bad(self, content, pattern, exit=3): self.refuse("x.npz", content, pattern, exit=exit)

    def test_right_ones(self):
        class Forward(io.BytesIO):
            def seekable(self): return False
            def seek(self, *args): raise OSError
            def tell(self): raise OSError
        for content in (npz([("q.npy", npy())], 0, True), npz([("q.npy", npy())], 8, True), npz([("q.npy", npy())], 8, into=Forward()),
                        npz([("q", npy())])):
            self.accept("x.npz", content, ":q")

    def test_directories(self):
        good = npz([("query.npy", npy())])
        self.bad(good[:-30], "damaged archive")
        self.bad(good + b"junk", "end of central directory not found")
        self.bad(npz([("a%d.npy" % i, b"") for i in range(2000)]), r"x\.npz:a0: ")

    def test_entries(self):
        self.bad(poke(npz([("query.npy", npy()), ("key.npy", npy())]), 170, b"XX"), r"x\.npz:query: .*checksum")
        self.bad(npz([("query.npy", npy()), ("query.npy", npy())]), r"query\.npy: appears twice")
        self.bad(npz([("query.npy", npy())], 14), "compression method 14")
        self.bad(npz([("query.npy", npy())], 12), "compression method 12")
        self.bad(npz([("query.npy", b"not npy")]), r"x\.npz:query: ")
        locked = bytearray(npz([("query.npy", npy())]))
        locked[6] |= 1
        locked[locked.rfind(b"PK\1\2") + 8] |= 1
        self.bad(bytes(locked), "encrypted")

    def test_names_are_text(self):
        self.bad(npz([("../../etc/query.npy", npy()), ("a\x1b[31m.npy", npy())]), r"x\.npz")
        self.refuse("x.npz", npz([("a\x1b[31m.npy", npy())]), r"x\.npz", "-X", "x.npz:query", exit=3)

    def test_damaged_streams(self):
        self.bad(poke(npz([("query.npy", npy()), ("key.npy", npy())], 8), 45, bytes(20)), r"x\.npz:query: ")
        short = bytearray(npz([("query.npy", npy())], 8))
        at = short.rfind(b"PK\1\2")
        short[at + 24:at + 28] = short[22:26] = struct.pack("<I", 10)
        self.bad(bytes(short), r"x\.npz:query: .*more data than")

    def test_a_bomb_is_refused_from_its_header(self):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", 8) as archive, archive.open("query.npy", "w") as entry:
            entry.write(npy(header("(8192, 8192)"), b""))
            for _ in range(256): entry.write(bytes(1 << 20))
        self.refuse("x.npz", out.getvalue(), "memory", "-X", "x.npz:query", "--max-memory", "128M", exit=6)


class Safetensors(Binary):
    def bad(self, content, pattern, exit=3): self.refuse("x.safetensors", content, pattern, exit=exit)

    def test_right_ones(self):
        for blanks in ("", " ", "\r \t\n"):
            self.accept("x.safetensors", safetensors((json.dumps({"q": tensor()}) + blanks).encode(), SIX), ":q")

    def test_lengths(self):
        self.bad(b"\1\0\0", "3 bytes")
        self.bad(safetensors({"query": tensor()}, SIX, 10**6), "past the end of the file")
        self.bad(safetensors(b"{}", b"", 2**64 - 1), "past the end of the file")

    def test_headers(self):
        self.bad(safetensors(b"\xff"), "UTF-8")
        self.bad(safetensors(b"{"), "not JSON")
        self.bad(safetensors(b"  {}"), "must begin with")
        self.bad(safetensors(b'{"query":' + b"[" * 100000 + b"]" * 100000 + b"}"), r"x\.safetensors: header")
        self.bad(safetensors({"__metadata__": {"a": 1}, "query": tensor()}, SIX), "expected a text")

    def test_ranges(self):
        two = lambda a, b: {"query": tensor(offsets=a), "key": tensor(offsets=b)}
        self.bad(safetensors(two((0, 24), (0, 24)), SIX), "inside that of another tensor")
        self.bad(safetensors(two((0, 24), (32, 56)), SIX + SIX + bytes(8)), "a hole of 8 bytes")
        self.bad(safetensors({"query": tensor()}, SIX + b"%PDF-1.4"), "8 bytes after the last tensor")
        self.bad(safetensors({"query": tensor(offsets=(24, 0))}, SIX), "data_offsets")
        for offsets in ((-8, 16), (0, 24.0), (0, "24"), (0,), (0, 24, 48), (0, 2**64)):
            self.bad(safetensors({"query": tensor(offsets=offsets)}, SIX), r"x\.safetensors: ")
        self.bad(safetensors({"query": tensor((2, 2**63 - 1), (0, 24))}, SIX), "than can be counted")
        self.bad(safetensors({"query": tensor(), "x": tensor((1,), (24, 2**62), "NOPE")}, SIX), "NOPE")
        self.bad(safetensors({"query": tensor(dtype="I8")}, SIX), "needs 6 bytes")
        self.bad(safetensors({"query": tensor((2, 0), (0, 0))}), r"x\.safetensors", exit=(3, 4))

    def test_names_and_types(self):
        self.bad(safetensors({"k\x1b]0;pwn\x07": tensor()}, SIX), r"\\x1b")
        self.bad(safetensors({"query": tensor((24,), (0, 24), "F8_E4M3")}, SIX), "F8_E4M3")
        self.bad(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "Git LFS pointer")


warnings.simplefilter("ignore")  # zipfile warns of the name that is there twice
main()
