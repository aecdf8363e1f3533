"""Values, and what is computed of them."""
import math, struct

from array_bytes import floats, header, matrix, npy
from catalogue import Catalogue, case, refused, run

QKV = ("compute", "-Q", "q.npy", "-K", "k.npy", "-V", "v.npy")
SIX = [1, 2, 3, 4, 5, 6]


def files(q=SIX, k=SIX, v=SIX): return {"q.npy": matrix(2, 3, q), "k.npy": matrix(2, 3, k), "v.npy": matrix(2, 3, v)}


def with_one(value): return [1, 2, value, 4, 5, 6]


def ulps(a, b): return abs(a - b) / 2.0**-24 / max(abs(b), 2.0**-126)


class Values(Catalogue):
    CODES = "V01 V02 V03 V05 V06 V07 V09 V10 V11 V13"
    CASES = [
        refused("V01", "a NaN in the query", files(q=with_one(math.nan)), r"q\.npy: row 0, column 2 is NaN", *QKV, exit=4),
        refused("V01", "a NaN in the value", files(v=with_one(math.nan)), r"v\.npy: row 0, column 2 is NaN", *QKV, exit=4),
        refused("V02", "an infinity in the key", files(k=with_one(math.inf)), r"k\.npy: row 0, column 2 is Infinity", *QKV, exit=4),
        refused("V02", "a negative one", files(k=with_one(-math.inf)), r"k\.npy: row 0, column 2 is -Infinity", *QKV, exit=4),
        refused("V03", "products that overflow", files(q=[1e20] * 6, k=[1e20] * 6), "score of query 0 and key 0 overflows", *QKV, exit=4),
        *[refused("V09", f"a scale of {scale}", files(), "--scale", *QKV, "--scale", scale, exit=2) for scale in ("nan", "inf", "-inf", "1e999", "")],
        refused("V09", "a scale that makes scores overflow", files(q=[100] * 6, k=[100] * 6), "score of query 0 and key 0 overflows", *QKV, "--scale", "1e38", exit=4),
    ]

    def put(self, content):
        for name, data in content.items(): self.write(name, data)

    def numbers(self, content, *words, result="-o"):
        """What the tool computes of these files: floats, packed as in the file."""
        self.put(content)
        self.run_cli(*(words if words and words[0] == "compute" else (*QKV, *words)), result, "out.npy")
        data = (self.folder / "out.npy").read_bytes()
        data = data[10 + struct.unpack_from("<H", data, 8)[0]:]
        return struct.unpack(f"<{len(data) // 4}f", data)

    @case("V01", "a NaN that is let in stays in its row")
    def nan(self):
        clean = self.numbers(files())
        got = self.numbers(files(q=with_one(math.nan)), "--allow-nonfinite")
        self.assertTrue(all(math.isnan(x) for x in got[:3]))
        self.assertEqual(got[3:], clean[3:])

    @case("V02", "an infinity that is let in is a rule, not an accident")
    def infinity(self):
        for value in (math.inf, -math.inf):
            got = self.numbers(files(k=with_one(value)), "--allow-nonfinite", result="-w")
            for row in (got[:2], got[2:]):  # inf - inf has no value; -inf never is the largest
                self.assertTrue(all(math.isnan(x) for x in row) if value > 0 else row == (0, 1), row)

    @case("V03", "the same products in float64")
    def wide(self):
        self.put(files(q=[1e20] * 6, k=[1e20] * 6))
        self.run_cli(*QKV, "--precision", "float64", "-w", "w.csv")
        self.assertEqual(self.read("w.csv"), "0.5,0.5\n0.5,0.5\n")

    @case("V05", "a row that may look at nothing")
    def masked_row(self):
        self.put({**files(), "m.npy": npy(header("(2, 2)", "'|b1'"), bytes([0, 0, 1, 1]))})
        for result in ("-w", "-o"):
            done = self.run_cli(*QKV, "--mask", "m.npy", "--mask-kind", "keep", result, "out.csv")
            self.assertEqual(set(self.read("out.csv").splitlines()[0].split(",")), {"0"})
            self.assertRegex(done.err, "^attn-cli: note: .*row.*\n$")
        self.refuse((*QKV, "--mask", "m.npy", "--mask-kind", "keep", "--empty-rows", "error"), "row 0", 4)

    @case("V06", "more queries than keys, causal")
    def causal(self):
        content = {"q.npy": matrix(5, 3, range(15)), "k.npy": matrix(3, 3, range(9)), "v.npy": matrix(3, 3, range(9))}
        got = self.numbers(content, "--causal", "--align", "bottom-right", result="-w")
        self.assertEqual(got[:6], (0,) * 6)
        self.assertEqual(got[6:9], (1, 0, 0))
        self.assertEqual(self.numbers(content, "--causal", "--align", "top-left", result="-w")[:3], (1, 0, 0))
        text = self.run_cli("compute", "--help").out
        self.assertIn("top-left", text)
        self.assertIn("bottom-right", text)

    @case("V07", "poison behind a mask")
    def poison(self):
        mask = {"m.npy": npy(header("(2, 2)", "'|b1'"), bytes([1, 0, 1, 0]))}
        for softcap in ((), ("--softcap", "5")):
            words = ("--mask", "m.npy", "--mask-kind", "keep", *softcap)
            clean = self.numbers({**files(), **mask}, *words)
            for poison in (1e30, math.inf, -math.inf, math.nan):
                more = () if math.isfinite(poison) else ("--allow-nonfinite",)
                self.assertEqual(self.numbers({**files(k=[1, 2, 3] + [poison] * 3), **mask}, *words, *more), clean, poison)
                self.assertEqual(self.numbers({**files(v=[1, 2, 3] + [poison] * 3), **mask}, *words, *more), clean, poison)

    @case("V09", "scales of 0 and below")
    def scales(self):
        self.assertEqual(self.numbers(files(), "--scale", "0"), (2.5, 3.5, 4.5) * 2)
        forward = self.numbers(files(), "--scale", "-1", result="-w")
        mirrored = self.numbers(files(k=[-x for x in SIX]), "--scale", "1", result="-w")
        self.assertEqual(forward, mirrored)

    @case("V10", "keys that are all the same")
    def ties(self):
        for count in (1, 2, 3, 1000):
            content = {"q.npy": matrix(1, 2, [1, 2]), "k.npy": matrix(count, 2, [0.5] * 2 * count)}
            got = self.numbers(content, "compute", "-Q", "q.npy", "-K", "k.npy", result="-w")
            self.assertEqual(len(set(got)), 1)
            self.assertLessEqual(ulps(got[0], 1 / count), 4)

    @case("V11", "scores that are all far below zero")
    def negative(self):
        self.assertEqual(self.numbers(files(q=[-100] * 6, k=[100] * 6), result="-w"), (0.5,) * 4)
        self.assertEqual(self.numbers(files(q=[-100] * 6, k=[100] * 6)), (2.5, 3.5, 4.5) * 2)

    @case("V13", "a long column of one value")
    def long_sums(self):
        value = struct.unpack("<f", struct.pack("<f", 1.1))[0]
        for count in (1, 63, 64, 65, 3000, 100000):
            content = {"q.npy": matrix(1, 1, [1]), "k.npy": npy(header(f"({count}, 1)"), floats(*[i % 17 / 8 for i in range(count)])),
                       "v.npy": npy(header(f"({count}, 1)"), floats(1.1) * count)}
            for kernel in ("reference", "tiled"):
                got = self.numbers(content, "--kernel", kernel)
                self.assertLessEqual(ulps(got[0], value), 64, (count, kernel))


if __name__ == "__main__": run()
