"""Damaged and hostile JSON documents, and odd ones that are right."""
import json

from attn_test import main
from hostile import Hostile, rest


class Syntax(Hostile):
    def test_nothing_in_it(self):
        self.refuse("x.json", b"", r"x\.json: empty file")
        self.refuse("x.json", b" \n\n", r"x\.json:3:1: the file ends here")

    def test_cut_off(self):
        self.refuse("x.json", b'{"query":[[1,2],[3,', r"x\.json:1:20: the file ends here, expected a value")
        self.refuse("x.json", b'{"query":[[1]],"no', r"x\.json:1:16: this string has no closing quote")

    def test_more_after_the_end(self):
        good = rest("[[1]]")
        self.refuse("x.json", good + b" x", r"x\.json:1:\d+: found 'x', expected the end of the document")
        self.refuse("x.json", good + good, r"x\.json:1:\d+: found '\{'")

    def test_commas_and_comments(self):
        self.refuse("x.json", b'{"query":[[1,],],}//c', r"x\.json:1:14: found '\]', expected a value")
        self.refuse("x.json", rest("[[1]]") + b"//c", r"found '/'")
        self.refuse("x.json", b"{'query':[[1]]}", r"x\.json:1:2: found '''")

    def test_utf16(self):
        self.refuse("x.json", b"\xff\xfe{\0", r"x\.json: .*UTF-16")
        self.refuse("x.json", '{"query":[[1]]}'.encode("utf-16"), r"x\.json: .*UTF-16")

    def test_bytes_that_are_not_utf8(self):
        self.refuse("x.json", b'{"tokens":["\xff"],"embeddings":[[1]]}', r"x\.json:1:13: invalid UTF-8")
        self.refuse("x.json", b'{"tokens":["\\ud800"],"embeddings":[[1]]}', r"surrogate")
        self.refuse("x.json", b'{"tokens":["\\udc00\\ud800"],"embeddings":[[1]]}', r"surrogate")

    def test_deep_nesting_even_in_names_that_are_not_used(self):
        deep = b"[" * 200000 + b"]" * 200000
        self.refuse("x.json", b'{"meta":' + deep + b',"query":[[1]]}', r"x\.json:1:\d+: .*64 deep")
        self.refuse("x.json", b'{"meta":' + b'{"a":' * 200000 + b"1" + b"}" * 200000 + b"}", r"x\.json:1:\d+: .*64 deep")

    def test_the_same_name_twice(self):
        self.refuse("x.json", b'{"query":[[1]],"query":[[2]],"key":[[1]]}', r"x\.json:/query: .*twice")
        self.refuse("x.json", b'{"tokens":["a"],"embeddings":{"a":[1],"a":[2]}}', r"x\.json:/embeddings/a: .*twice")
        self.refuse("x.json", b'{"embeddings":[[1]],"options":{"causal":true,"causal":false}}', r"x\.json:/options/causal: .*twice")


class Values(Hostile):
    def test_rows_of_several_lengths(self):
        self.refuse("x.json", rest("[[1,2],[3]]"), r"x\.json:/query/1: row has 1 value, row 0 has 2")
        self.refuse("x.json", rest("[[1],2]"), r"x\.json:/query/1: expected a list, found a number")

    def test_what_is_no_number(self):
        for text, found in (('"1"', "a string"), ("null", "null"), ("{}", "an object"), ("[1]", "a list")):
            self.refuse("x.json", rest("[[0,%s]]" % text), r"x\.json:/query/0/1: expected a number, found " + found)
        self.refuse("x.json", rest("[[5,true]]"), r"x\.json:/query/0/1: expected a number, found true")

    def test_numbers_that_json_does_not_know(self):
        for text in ("01", "1.", ".5", "+1", "0x1", "1_000", "nan", "inf", "1e", "--1", "1,5e"):
            self.refuse("x.json", rest("[[%s]]" % text), r"x\.json:1:\d+: ")

    def test_out_of_range(self):
        self.refuse("x.json", rest("[[1e400]]"), r"x\.json:/query/0/0: .*1e400 is out of range")
        self.refuse("x.json", rest("[[" + "1" * 10**6 + "]]"), r"x\.json:/query/0/0: .*out of range")
        self.refuse("x.json", rest("[[" + "1" * (3 << 20) + "]]"), r"over 1 MiB", exit=6)

    def test_empty_lists(self):
        self.refuse("x.json", rest("[]"), r"x\.json:/query: empty list")

    def test_long_and_hostile_names_stay_on_one_short_line(self):
        name = "\x1b[31m\n" + "a" * 100000
        self.refuse("x.json", json.dumps({name: [[1], [1, 2]]}).encode(), r"x\.json:/")
        self.refuse("x.json", json.dumps({"embeddings": [[1], [1, 2]], name: 1}).encode(), r"x\.json:/embeddings/1")

    def test_endless_input(self):
        def numbers():
            yield b'{"query":[['
            while True: yield b"1," * 50000
        self.refuse_stream(numbers(), "limit", 6, "-", "--max-memory", "32M")

        def string():
            yield b'{"tokens":["'
            while True: yield b"x" * 100000
        self.refuse_stream(string(), "string of over 16 MiB", 6, "-", "--max-memory", "128M")
        self.refuse("x.json", None, "/dev/zero", "/dev/zero")
        self.refuse("x.json", None, "/dev/zero", "/dev/zero", "--input-format", "json")


class Odd(Hostile):
    """Unusual documents that are right: the weights are those of the plain form."""

    def weights(self, content, *args, stdin=None):
        if stdin is None: self.write("x.json", content)
        self.run_cli("compute", "x.json" if stdin is None else "-", "-w", "w.json", *args, stdin=stdin or b"")
        return self.read_json("w.json")

    def test_byte_order_mark(self):
        self.assertEqual(self.weights(b"\xef\xbb\xbf" + rest("[[1]]"))["weights"], [[1]])

    def test_tiny_numbers(self):
        plain = self.weights(rest("[[0],[0],[1e-40]]"))["weights"]
        self.assertEqual(self.weights(rest("[[1e-400],[-0.0],[1e-40]]"))["weights"], plain)

    def test_python_infinity(self):
        doc = b'{"query":[[0]],"key":[[0],[0]],"value":[[1],[2]],"mask":[[0,-Infinity]],"mask_kind":"add"}'
        self.assertEqual(self.weights(doc)["weights"], [[1, 0]])
        self.assertEqual(self.weights(doc.replace(b"-Infinity", b'"-Infinity"'))["weights"], [[1, 0]])

    def test_nul_in_a_token_is_kept(self):
        doc = self.weights(b'{"tokens":["a\\u0000b"],"embeddings":[[1]]}')
        self.assertEqual(doc["query_tokens"], ["a\0b"])

    def test_streams(self):
        self.assertEqual(self.weights(None, stdin=rest("[[1]]"))["weights"], [[1]])

    def test_blanks_of_every_kind(self):
        spread = rest("[[1]]").replace(b",", b"\r\n\t , ").replace(b":", b" \n: ")
        self.assertEqual(self.weights(spread)["weights"], [[1]])


main()
