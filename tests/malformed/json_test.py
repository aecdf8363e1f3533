"""Damaged and hostile JSON documents, and odd ones that are right."""
import json

from attn_test import main
from hostile import Hostile, rest


class Syntax(Hostile):
    def test_the_same_name_twice(self):
        self.refuse("x.json", b'{"query":[[1]],"query":[[2]],"key":[[1]]}', r"x\.json:/query: .*twice")
        self.refuse("x.json", b'{"tokens":["a"],"embeddings":{"a":[1],"a":[2]}}', r"x\.json:/embeddings/a: .*twice")
        self.refuse("x.json", b'{"embeddings":[[1]],"options":{"causal":true,"causal":false}}', r"x\.json:/options/causal: .*twice")


class Values(Hostile):
    def test_long_and_hostile_names_stay_on_one_short_line(self):
        name = "\x1b[31m\n" + "a" * 100000
        self.refuse("x.json", json.dumps({name: [[1], [1, 2]]}).encode(), r"x\.json:/")
        self.refuse("x.json", json.dumps({"embeddings": [[1], [1, 2]], name: 1}).encode(), r"x\.json:/embeddings/1")


class Odd(Hostile):
    """Unusual documents that are right: the weights are those of the plain form."""

    def weights(self, content, *args, stdin=None):
        if stdin is None: self.write("x.json", content)
        self.run_cli("compute", "x.json" if stdin is None else "-", "-w", "w.json", *args, stdin=stdin or b"")
        return self.read_json("w.json")

    def test_python_infinity(self):
        doc = b'{"query":[[0]],"key":[[0],[0]],"value":[[1],[2]],"mask":[[0,-Infinity]],"mask_kind":"add"}'
        self.assertEqual(self.weights(doc)["weights"], [[1, 0]])
        self.assertEqual(self.weights(doc.replace(b"-Infinity", b'"-Infinity"'))["weights"], [[1, 0]])

    def test_streams(self):
        self.assertEqual(self.weights(None, stdin=rest("[[1]]"))["weights"], [[1]])

    def test_blanks_of_every_kind(self):
        spread = rest("[[1]]").replace(b",", b"\r\n\t , ").replace(b":", b" \n: ")
        self.assertEqual(self.weights(spread)["weights"], [[1]])


main()
