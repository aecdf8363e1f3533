"""NumPy arrays (.npy)."""
import struct

from array_bytes import SIX, header, npy
from catalogue import Case, Catalogue, array, case, refused, run


def bad(code, fault, content, says, exit=3): return array(code, fault, "x.npy", content, says, exit=exit)


def good(code, fault, content):
    """Odd, but right: the numbers are 0 to 5."""
    def check(test):
        test.write("x.npy", content)
        test.write("plain.json", [[0, 1, 2], [3, 4, 5]])
        test.run_cli("diff", "x.npy", "plain.json", "--atol", "0", "--rtol", "0")
    return Case(code, fault, check)


def shaped(shape, data=SIX): return npy(header(shape), data)


class Npy(Catalogue):
    CODES = "N01 N02 N03 N05 N06 N07 N09 N10 N11 N13 N14 N15 N17 N18 N19 N21 N22 N23 N25 N26 N27 N29 N30"
    CASES = [
        bad("N01", "an empty file", b"", r"x\.npy: .*0 bytes.*npy header"),
        bad("N02", "another magic", npy(magic=b"\x93NUMPX"), r"x\.npy: not an npy file"),
        bad("N03", "version 9", npy(version=9), r"x\.npy: npy version 9\.0 is not known"),
        bad("N03", "version 0", npy(version=0), r"x\.npy: npy version 0\.0 is not known"),
        bad("N05", "a header past the end", npy(length=60000), r"claims 60000 bytes, past the end of the file"),
        bad("N06", "a header of 4 GiB in 12 bytes", b"\x93NUMPY\x02\x00\xf0\xff\xff\xff", "claims 4294967280 bytes, expected at most 1048576"),
        good("N07", "a header of 182 bytes", npy(total=192)),
        good("N07", "a header of 244 bytes, version 2", npy(version=2, total=256)),
        good("N09", "version 3", npy(version=3)),
        good("N10", "keys in another order", npy("{'shape': (2, 3), 'descr': '<f4', 'fortran_order': False}")),
        good("N10", "long integers of Python 2", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L)}")),
        good("N10", "double quotes", npy('{"descr": "<f4", "fortran_order": False, "shape": (2, 3), }')),
        bad("N11", "a key twice", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'shape': (2, 3), }"), "'shape' twice"),
        bad("N11", "a key too many", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'x': 1}"), "the key 'x'"),
        bad("N11", "a key missing", npy("{'descr': '<f4', 'shape': (2, 3)}"), "no 'fortran_order'"),
        bad("N13", "a product that wraps to 0", shaped("(4294967296, 4294967296)"), r"x\.npy: "),
        bad("N13", "bytes that wrap to 0", shaped("(4611686018427387904, 1)"), r"x\.npy: "),
        bad("N14", "a negative axis", shaped("(-1,)"), r"x\.npy: .*-1"),
        bad("N14", "a pair of them", shaped("(-2, -3)"), r"x\.npy: "),
        bad("N15", "a blank within a number", shaped("(2 3,)"), r"x\.npy: "),
        bad("N15", "a word for a number", shaped("(abc, 2)"), r"x\.npy: "),
        bad("N17", "less data than the shape asks for", shaped("(100, 3)"), "needs 1200 bytes of data, found 24"),
        bad("N18", "bytes after the data", npy() + b"PK-junk", "7 bytes after the data"),
        good("N19", "big-endian", npy(header(descr="'>f4'"), struct.pack(">6f", *range(6)))),
        good("N19", "Fortran order", npy(header(order="True"), struct.pack("<6f", 0, 3, 1, 4, 2, 5))),
        good("N19", "half precision", npy(header(descr="'<f2'"), struct.pack("<6e", *range(6)))),
        good("N19", "bytes", npy(header(descr="'|u1'"), bytes(range(6)))),
        bad("N21", "a pickle", npy(header(descr="'|O'"), b"cos\nsystem\n(S'id'\ntR."), "pickle"),
        bad("N22", "a structured dtype", npy(header(descr="[('a', '<f4')]")), "structured"),
        bad("N22", "complex numbers", npy(header(descr="'<c8'")), "complex"),
        bad("N23", "numbers of absurd width", npy(header(descr="'<f99999999999'")), "dtype '<f99999999999'"),
        bad("N23", "texts of absurd width", npy(header(descr="'<U99999999999'")), r"x\.npy: "),
        bad("N25", "no axis", shaped("()", SIX[:4]), r"x\.npy.* shape \[\]", exit=4),
        bad("N25", "one axis", shaped("(6,)"), r"x\.npy.* shape \[6\]", exit=4),
        bad("N25", "five axes", shaped("(1, 1, 1, 1, 6)"), r"x\.npy.* shape \[1,1,1,1,6\]", exit=4),
        bad("N26", "no row, and more columns than can be", shaped("(0, 18446744073709551615)", b""), r"x\.npy: "),
        bad("N27", "5000 axes", shaped("(" + "1, " * 5000 + ")", SIX[:4]), r"x\.npy: .*8"),
        bad("N29", "a control character in the header", shaped("(2, 3)\0"), "control character"),
        bad("N29", "an escape sequence in the dtype", npy(header(descr="'\x1b[2J'")), r"x\.npy: "),
    ]

    @case("N01", "every cut of a good file")
    def cuts(self):
        good = npy()
        self.assertEqual(len(good), 152)
        for length in range(len(good)): self.cut(good, length)

    def cut(self, good, length):
        self.write("x.npy", good[:length])
        done = self.run_tool("compute", "-X", "x.npy", "-w", "new.csv")
        self.assertEqual(done.code, 3, f"{length} bytes: {done.err}")
        self.assertRefusal(done, r"x\.npy: ")
        self.assertFalse((self.folder / "new.csv").exists())

    @case("N26", "no row is a number of rows like any other")
    def no_row(self):
        self.write("none.npy", npy(header("(0, 3)"), b""))
        self.run_cli("compute", "-X", "none.npy", "-w", "none.json")
        self.assertEqual(self.read_json("none.json")["weights"], [])

    @case("N30", "a claim of 4 TB with a file to match")
    def terabytes(self):
        path = self.write("x.npy", shaped("(1000000, 1000000)", b""))
        with open(path, "r+b") as file: file.truncate(file.seek(0, 2) + 4 * 10**12)
        self.refuse(("compute", "-X", "x.npy"), r"needs .* of memory, the limit is", 6, memory=64 << 10)


if __name__ == "__main__": run()
