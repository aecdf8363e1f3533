"""Labels, and how they are drawn."""
import csv, html.parser, io, json, math, re, unicodedata
import xml.etree.ElementTree as xml

from array_bytes import floats, header, npy
from catalogue import Case, Catalogue, case, run

PAYLOADS = {
    "L01": ["<script>alert(1)</script>", "<svg onload=alert(1)>", "{{script}}", "${alert(1)}"],
    "L02": ['"><img src=x onerror=alert(1)>', "' onmouseover='alert(1)", "a&quot;b", "javascript:alert(1)"],
    "L03": ["</script><script>alert(1)//", "<!--<script>", "\u2028\u2029", "]]>"],
    "L05": ["&lt;&amp;", "&#60;b&#62;"],
    "L06": ["\x1b[2J\x1b]0;x\x07", "\u009b2J", "a\x7fb", "a\rb", "\b\b\b"],
    "L07": ["\u202eabc\u200b\ufeff", "\u2066x\u2069", "a\u00adb"],
    "L09": ['a,"b"\nc', "a;b\tc", '"', "a\r\nb"],
    "L10": ["\b\ufffe\0", "\uffff", "\U000fffff"],
    "L13": ["%s%n{}%x", "%1$n", "\\x41\\n"],
}


class Outline(html.parser.HTMLParser):
    """The tags of a page with the names of their attributes, and its text."""
    def __init__(self, page):
        super().__init__()
        self.tags, self.blocks, self.inside = [], {}, None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, tuple(name for name, _ in attributes)))
        self.inside = dict(attributes).get("id", tag)

    def handle_endtag(self, tag): self.inside = None

    def handle_data(self, data):
        if self.inside: self.blocks[self.inside] = self.blocks.get(self.inside, "") + data


def described_label(text):
    """As it stands in the description of a picture: what cannot be seen is named, what cannot be written is replaced."""
    signs = {"\n": "\u21b5", "\r": "\u21b5", "\t": "\u21e5"}
    def shown(c):
        if c in signs: return signs[c]
        if unicodedata.category(c) in ("Cf", "Zl", "Zp") or 0x7f <= ord(c) < 0xa0: return f"\\u{ord(c):04x}"
        return "\ufffd" if unicodedata.category(c) in ("Cc", "Cn", "Co") else c
    return "".join(map(shown, text))


def payload_cases(check):
    """One case for each payload of each code."""
    return [Case(code, ascii(text), lambda test, text=text: check(test, text)) for code, texts in PAYLOADS.items() for text in texts]


def draw(test, *labels):
    count = len(labels)
    test.write("x.json", json.dumps({"tokens": list(labels), "embeddings": [[i] for i in range(count)]}))
    test.run_cli("compute", "x.json", "-w", "w.html", "-w", "w.svg", "-w", "w.txt", "-w", "w.csv", "-w", "w.json", "-w", "w.npz", "-w",
                 "w.safetensors", "-w", "w.png", "-w", "w.pdf")


def check_label(test, text):
    draw(test, text, "b")
    check_page(test, text)
    check_svg(test, text)
    check_plain(test, test.read("w.txt"))
    for name in ("inspect", "render"): check_plain(test, test.run_cli(name, "w.json").out)
    test.assertEqual(test.read_json("w.json")["query_tokens"], [text, "b"])
    table = list(csv.reader(io.StringIO((test.folder / "w.csv").read_bytes().decode(), newline="")))
    if "\0" not in text: test.assertEqual((table[0], table[1][0]), (["query", text, "b"], text))
    for name in ("w.csv", "w.npz", "w.safetensors"):
        if name == "w.csv" and "\0" in text: continue
        test.run_cli("render", name, "-o", "again.html")
        description = json.loads(Outline(test.read("again.html")).blocks["description"])
        if name != "w.npz" or not text.endswith("\0"): test.assertIn(text, str_list(description), name)


def str_list(value):
    """Every text in a JSON value."""
    if isinstance(value, str): return [value]
    if isinstance(value, dict): value = list(value.values())
    return [text for part in value for text in str_list(part)] if isinstance(value, list) else []


def check_page(test, text):
    page = Outline(test.read("w.html"))
    draw_tags = test.harmless_tags
    test.assertEqual(page.tags, draw_tags, "a label became part of the page")
    test.assertIn(text, str_list(json.loads(page.blocks["description"])))
    test.assertFalse(re.findall("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u2028\u2029]", test.read("w.html")))


def check_svg(test, text):
    tree = xml.fromstring((test.folder / "w.svg").read_bytes())  # fails unless it is well-formed
    names = {element.tag.split("}")[-1] for element in tree.iter()}
    test.assertFalse(names & {"script", "foreignObject", "a", "iframe"}, names)
    for element in tree.iter():
        for name in element.attrib: test.assertFalse(name.lower().startswith("on"), name)
    described = "".join(element.text or "" for element in tree.iter() if element.tag.split("}")[-1] in ("desc", "title"))
    # Blanks of every kind are one to the reader of a description.
    squeeze = lambda words: re.sub(r"\s+", " ", words)
    test.assertIn(squeeze(described_label(text).strip()), squeeze(described))


def check_plain(test, shown):
    bad = [c for c in shown if c != "\n" and (unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") or c in "\u202e\u2066\u2069\u200b\ufeff")]
    test.assertEqual(bad, [], ascii(shown))


class Labels(Catalogue):
    CODES = "L01 L02 L03 L05 L06 L07 L09 L10 L11 L13 L14 L15"
    CASES = payload_cases(check_label)

    def setUp(self):
        super().setUp()
        draw(self, "a", "b")
        self.harmless_tags = Outline(self.read("w.html")).tags

    @case("L06", "the same in messages")
    def messages(self):
        for text in ("\x1b[2J", "\u009b2J", "\u202e", "a\nb"):
            self.write("x.json", json.dumps({text: [[1]], "query": [[1]]}))
            self.refuse(("compute", "x.json"), r"x\.json", 3)

    @case("L11", "a label of 100,000 letters")
    def long(self):
        for text in ("x" * 100000, "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 5000, "e\u0301" * 50000):
            draw(self, text, "b")
            self.assertLess(max(len(line) for line in self.read("w.txt").splitlines()), 300)
            self.assertIn("\u2026", self.read("w.txt"))
            width, height = [float(xml.fromstring(self.read("w.svg")).get(name).rstrip("pt")) for name in ("width", "height")]
            self.assertLess(max(width, height), 5000)
            png = (self.folder / "w.png").read_bytes()
            self.assertLess(max(int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")), 5000)
            self.assertEqual(self.read_json("w.json")["query_tokens"][0], text)

    @case("L14", "matrices without a range")
    def ranges(self):
        inf, nan = math.inf, math.nan
        for values in ([nan] * 6, [0.5] * 6, [0, 1, inf, 2, 3, 4], [-inf, 1, inf, nan, 0, 0], [3e38, -3e38, 0, 0, 0, 0], [1e-45] * 6, [0] * 6):
            self.write("w.npy", npy(header(), floats(*values)))
            for scale in ("linear", "sqrt", "log"):
                for kind in ("png", "svg", "html", "txt", "pdf"):
                    with self.subTest(values=values, scale=scale, kind=kind):
                        done = self.run_tool("render", "w.npy", "-o", "drawn." + kind, "--color-scale", scale)
                        negative = scale == "log" and any(x < 0 and x != -inf for x in values)
                        self.assertIn(done.code, (4,) if negative else (0, 4) if scale == "log" else (0,), done.err)
        self.write("w.npy", npy(header(), floats(*[nan] * 6)))
        self.run_cli("render", "w.npy", "-o", "nan.svg")
        self.write("w.npy", npy(header(), floats(*[0.5] * 6)))
        self.run_cli("render", "w.npy", "-o", "same.svg")
        fills = [set(re.findall(r"rgb\([^)]*\)", self.read(name))) for name in ("nan.svg", "same.svg")]
        self.assertNotEqual(fills[0], fills[1])

    @case("L15", "nothing from elsewhere")
    def outside(self):
        draw(self, "http://example.org/x.png", "//example.org")
        page = Outline(self.read("w.html"))
        self.assertFalse([tag for tag in page.tags if set(tag[1]) & {"src", "href", "action", "data", "srcset"}])
        self.assertNotIn("@import", self.read("w.html"))
        self.assertIn("default-src 'none'", self.read("w.html"))
        svg = self.read("w.svg")
        for reference in re.findall(r'(?:href|src)="([^"]*)"', svg): self.assertRegex(reference, r"^(#|data:image/png;base64,)")
        named = set(re.findall(r'xmlns(?::\w+)?="([^"]*)"', svg))
        self.assertTrue(named <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}, named)
        self.assertNotRegex(svg, r"@import|url\((?!#)")


if __name__ == "__main__": run()
