"""JSON documents."""
import struct

from catalogue import Catalogue, case, refused, run, same


def query(text):
    """A document whose query is the given JSON text and whose key and value are good."""
    return b'{"query":' + (text if isinstance(text, bytes) else text.encode()) + b',"key":[[1]],"value":[[1]]}'


def embeddings(text): return b'{"embeddings":' + text.encode() + b"}"


def bad(code, fault, content, says, **how): return refused(code, fault, {"x.json": content}, says, **how)


GOOD = query("[[1]]")
DEEP = 200000


class Json(Catalogue):
    CODES = "J01 J02 J03 J05 J06 J07 J09 J10 J11 J13 J14 J15 J17 J18 J19 J21 J22 J23"
    CASES = [
        bad("J01", "an empty file", b"", r"x\.json: empty file"),
        bad("J01", "nothing but blanks", b" \n\n", r"x\.json:3:1: the file ends here"),
        same("J02", "a byte order mark", {"x.json": b"\xef\xbb\xbf" + GOOD}, {"x.json": GOOD}),
        bad("J03", "UTF-16, cut off", b"\xff\xfe{\0", r"x\.json: .*UTF-16.*UTF-8"),
        bad("J03", "UTF-16, little-endian", GOOD.decode().encode("utf-16"), r"x\.json: .*UTF-16"),
        bad("J03", "UTF-32, big-endian", b"\0\0\xfe\xff\0\0\0{", r"x\.json: .*UTF-16"),
        bad("J05", "deep lists under a name that is not used", b'{"meta":' + b"[" * DEEP + b"]" * DEEP + b',"query":[[1]]}', r"x\.json:1:\d+: .*64 deep"),
        bad("J05", "deep lists under a name that is not known", b'{"note":' + b"[" * DEEP + b"]" * DEEP + b',"query":[[1]]}', r"x\.json:1:\d+: .*64 deep"),
        bad("J05", "deep objects", b'{"meta":' + b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"}", r"x\.json:1:\d+: .*64 deep"),
        bad("J05", "deep lists that never end", b"[" * DEEP, r"x\.json:1:\d+: .*64 deep"),
        bad("J06", "cut off in a row", b'{"query":[[1,2],[3,', r"x\.json:1:20: the file ends here, expected a value"),
        bad("J06", "cut off in a name", b'{"query":[[1]],"no', r"x\.json:1:16: this string has no closing quote"),
        bad("J06", "cut off in a word", b'{"meta":tru', r"x\.json:1:9: "),
        bad("J07", "text after the document", GOOD + b" x", r"x\.json:1:\d+: found 'x', expected the end of the document"),
        bad("J07", "two documents in a row", GOOD + GOOD, r"x\.json:1:\d+: found '\{', expected the end"),
        bad("J07", "two documents on two lines", GOOD + b"\n" + GOOD, r"x\.json:2:1: found '\{', expected the end"),
        bad("J09", "a row that is shorter", query("[[1,2],[3]]"), r"x\.json:/query/1: row has 1 value, row 0 has 2"),
        bad("J09", "a row that is longer", query("[[1],[2,3]]"), r"x\.json:/query/1: row has 2 values, row 0 has 1"),
        bad("J10", "a number in place of a row", query("[[1],2]"), r"x\.json:/query/1: expected a list, found a number"),
        bad("J10", "a row in place of a number", query("[[1],[[2]]]"), r"x\.json:/query/1/0: expected a number, found a list"),
        bad("J11", "a string in place of a number", query('[["1"]]'), r"x\.json:/query/0/0: expected a number, found a string"),
        bad("J11", "null in place of a number", query("[[0,null]]"), r"x\.json:/query/0/1: expected a number, found null"),
        bad("J11", "true in place of a number", query("[[5,true]]"), r"x\.json:/query/0/1: expected a number, found true"),
        bad("J11", "an object in place of a number", query("[[0,{}]]"), r"x\.json:/query/0/1: expected a number, found an object"),
        bad("J11", "nothing but booleans", query("[[true]]"), r"x\.json:/query: found true and false, expected numbers"),
        *[bad("J11", f"{text} is no number of JSON", query(f"[[{text}]]"), r"x\.json:1:\d+: ")
          for text in ("01", "1.", ".5", "+1", "0x1", "1_000", "nan", "inf", "1e", "--1", "1,5e")],
        bad("J13", "a number beyond float64", query("[[1e400]]"), r"x\.json:/query/0/0: .*1e400 is out of range"),
        bad("J13", "a negative one", query("[[0,-1e400]]"), r"x\.json:/query/0/1: .*-1e400 is out of range"),
        bad("J14", "a number beyond float32", query("[[3.4e39]]"), r"/query: 3\.4e\+?39 at \[0,0\] is beyond float32", exit=4,
            options=("--precision", "float32")),
        same("J14", "which is right in float64, the precision of text", {"x.json": query("[[3.4e39]]")}, {"x.json": query("[[34e38]]")}),
        same("J15", "numbers that are nearly zero", {"x.json": query("[[1e-46],[-0.0],[1e-400]]")}, {"x.json": query(
            "[[0.0000000000000000000000000000000000000000000001],[-0],[0]]")}, outputs=("-w", "--scores")),
        bad("J17", "a byte that is not UTF-8", b'{"tokens":["\xff"],"embeddings":[[1]]}', r"x\.json:1:13: invalid UTF-8"),
        bad("J17", "half a pair of surrogates", b'{"tokens":["\\ud800"],"embeddings":[[1]]}', r"x\.json:1:\d+: .*surrogate"),
        bad("J17", "a pair in the wrong order", b'{"tokens":["\\udc00\\ud800"],"embeddings":[[1]]}', "surrogate"),
        bad("J17", "an overlong NUL", b'{"tokens":["\xc0\x80"],"embeddings":[[1]]}', "invalid UTF-8"),
        bad("J19", "a number of a million digits", query("[[" + "1" * 10**6 + "]]"), r"x\.json:/query/0/0: .*out of range"),
        bad("J19", "a number of three million digits", query("[[" + "1" * (3 << 20) + "]]"), "over 1 MiB", exit=6),
        bad("J21", "an empty list", query("[]"), r"x\.json:/query: empty list"),
        bad("J21", "empty rows", query("[[]]"), r"x\.json:/query", exit=(3, 4)),
        bad("J22", "a comma too many", b'{"query":[[1,],],}//c', r"x\.json:1:14: found '\]', expected a value"),
        bad("J22", "a comma before the brace", b'{"query":[[1]],}', r"x\.json:1:16: found '\}'"),
        bad("J22", "a comment", GOOD + b"//c", r"x\.json:1:\d+: found '/'"),
        bad("J22", "single quotes", b"{'query':[[1]]}", r"x\.json:1:2: found '''"),
        bad("J23", "a list in place of a document", b"[[1,2],[3,4]]", r"x\.json"),
        bad("J23", "a number in place of a document", b"1", r"x\.json"),
        same("J23", "a list where one matrix is asked for", {"m.json": b"[[1,2],[3,4]]"}, {"m.json": b'{"a":[[1,2],[3,4]]}'}, "compute", "-X", "m.json"),
    ]

    @case("J15", "a subnormal number is not flushed to zero")
    def subnormal(self):
        self.write("x.json", b'{"query":[[1]],"key":[[1]],"value":[[1e-40,-0.0,5e-324]]}')
        self.run_cli("compute", "x.json", "--present-value", "v.npy", "-w", "w.json")
        self.assertEqual((self.folder / "v.npy").read_bytes()[-24:],
                         b"".join(struct.pack("<d", x) for x in (1e-40, -0.0, 5e-324)))

    @case("J18", "a NUL in a token")
    def nul(self):
        self.write("x.json", b'{"tokens":["a\\u0000b","c"],"embeddings":[[1],[0]]}')
        self.run_cli("compute", "x.json", "-w", "w.json", "-w", "w.svg", "-w", "w.html", "-w", "w.txt")
        self.assertEqual(self.read_json("w.json")["query_tokens"], ["a\0b", "c"])
        for name in ("w.svg", "w.html", "w.txt"):
            self.assertNotIn(b"\0", (self.folder / name).read_bytes(), name)
            self.assertIn("b", self.read(name))

    @case("J19", "lists and strings without an end")
    def endless(self):
        def numbers():
            yield b'{"query":[['
            while True: yield b"1," * 50000

        def string():
            yield b'{"tokens":["'
            while True: yield b"x" * 100000
        self.refuse(("compute", "-", "--max-memory", "32M"), "limit", 6, stdin=numbers())
        self.refuse(("compute", "-", "--max-memory", "128M"), "string of over 16 MiB", 6, stdin=string())


if __name__ == "__main__": run()
