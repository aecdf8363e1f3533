"""attn-cli render: any matrix as a picture."""
import json, os, re, struct, subprocess, threading, zlib

import attn_test
from arrays import npy, npz, safetensors
from attn_test import CliTest, main

# Two batch items, three heads, four queries, five keys; every number tells its place.
STACK = [[[[b * 0.5 + h * 0.1 + q * 0.02 + k * 0.003 for k in range(5)] for q in range(4)] for h in range(3)] for b in range(2)]


def png_pixels(data):
    """Rows of (r, g, b) of an 8-bit RGB PNG without interlacing."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        chunks[kind] = chunks.get(kind, b"") + data[at + 8:at + 8 + size]
        at += 12 + size
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    raw, rows, before = zlib.decompress(chunks[b"IDAT"]), [], bytes(3 * width)
    for y in range(height):
        kind, line = raw[y * (3 * width + 1)], bytearray(raw[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)])
        if kind == 2: line = bytearray((a + b) & 255 for a, b in zip(line, before))
        elif kind != 0: raise AssertionError(f"filter {kind}")
        rows.append([tuple(line[3 * x:3 * x + 3]) for x in range(width)])
        before = bytes(line)
    return rows


class Pictures(CliTest):
    def setUp(self):
        super().setUp()
        self.write("w.csv", "query,The,cat\nThe,1,0\ncat,0.25,0.75\n")

    def table(self, text):
        """The numbers of a picture as text: {panel title: rows}."""
        panels, title = {}, ""
        for line in text.splitlines():
            if re.match(r"(batch|head) \d", line): title = line.strip()
            numbers = re.findall(r"(?<= )-?\d\.\d\d\b|·", line)
            if numbers and "rows:" not in line and not re.search("[░▒▓█]", line): panels.setdefault(title, []).append(numbers)
        return panels

    def test_to_the_terminal_by_default(self):
        text = self.run_cli("render", "w.csv").out
        self.assertEqual(self.table(text), {"": [["1.00", "0.00"], ["0.25", "0.75"]]})
        self.assertRegex(text, r"The +cat")

    def test_every_picture_format(self):
        starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "html": b"<!", "txt": b" "}
        self.run_cli("render", "w.csv", *[word for name in starts for word in ("-o", "w." + name)])
        for name, start in starts.items():
            self.assertTrue((self.folder / ("w." + name)).read_bytes().lower().startswith(start.lower()), name)
            done = self.run_cli("render", "w.csv", "-o", "-", "--format", name)
            self.assertEqual(done.out_bytes, (self.folder / ("w." + name)).read_bytes(), name)
        self.assertEqual(self.files(), ["w.csv"] + sorted("w." + name for name in starts if name != "csv"))

    def test_the_same_matrix_in_every_format_is_the_same_picture(self):
        values = [[1, 0], [0.25, 0.75]]
        self.write("m.csv", "1,0\n0.25,0.75\n"), self.write("m.tsv", "1\t0\n0.25\t0.75\n"), self.write("m.json", values)
        self.write("m.npy", npy(values)), self.write("f.npy", npy(values, "<f4"))
        self.write("m.npz", npz(value=values)), self.write("m.safetensors", safetensors(value=values))
        first = self.run_cli("render", "m.csv", "-o", "-", "--format", "png").out_bytes
        for name in ("m.tsv", "m.json", "m.npy", "f.npy", "m.npz", "m.safetensors", "m.npz:value"):
            self.assertEqual(self.run_cli("render", name, "-o", "-", "--format", "png").out_bytes, first, name)
        self.assertEqual(self.run_cli("render", "-", "-o", "-", "--format", "png", stdin=b"1,0\n0.25,0.75\n").out_bytes, first)

    def test_log_sum_exps_have_their_tokens_at_the_columns(self):
        rows = [[1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 0, 0]]
        self.write("doc.json", {"embeddings": rows, "tokens": ["The", "cat", "is"]})
        for heads, count in (("1", 1), ("2", 2)):
            names = ("lse.json", "lse.csv", "lse.tsv")
            self.run_cli("compute", "doc.json", "--heads", heads, *(w for n in names for w in ("--lse", n)), "--bundle", "b.npz")
            texts = {self.run_cli("render", n).out for n in names} | {self.run_cli("render", "b.npz:lse").out}
            for text in texts: self.assertRegex(text, r"The +cat +is")
            self.assertEqual({len(self.table(text)[""]) for text in texts}, {count})
        self.assertRegex(self.run_cli("render", "lse.json", "--tokens", "a b c").out, r"a +b +c")
        self.assertError(self.run_cli("render", "lse.json", "--tokens", "a b", expect=4), "2 tokens for the 3 columns of lse.json")

    def test_an_array_of_standard_input(self):
        self.write("doc.json", {"query": [[1, 0]], "key": [[0.25, 0.75]]})
        document = (self.folder / "doc.json").read_bytes()
        self.assertEqual(self.table(self.run_cli("render", "-:key", stdin=document).out)[""], [["0.25", "0.75"]])
        self.run_cli("inspect", "-:query", stdin=document)

    def test_data_formats_are_refused(self):
        self.assertError(self.run_cli("render", "w.csv", "-o", "x.npy", expect=2), "npy is a data format, and render draws pictures: png")
        self.assertError(self.run_cli("render", "w.csv", "-o", "x.xyz", expect=2), "x.xyz")
        self.assertEqual(self.files(), ["w.csv"])

    def test_what_compute_would_draw(self):
        self.write("doc.json", {"embeddings": [[1, 0], [0, 1]], "tokens": ["The", "cat"]})
        self.run_cli("compute", "doc.json", "--causal", "-w", "w.json", "-w", "direct.txt", "-w", "direct.svg", "--title", "T")
        self.run_cli("render", "w.json", "-o", "later.txt", "-o", "later.svg", "--title", "T")
        self.assertEqual(self.read("later.txt"), self.read("direct.txt"))
        self.assertEqual(self.read("later.svg"), self.read("direct.svg"))
        self.assertIn("·", self.read("later.txt"))

    def test_bundles_keep_blocked_cells(self):
        self.write("doc.json", {"embeddings": [[1, 0], [0, 1]], "tokens": ["The", "cat"]})
        for name in ("b.npz", "b.safetensors", "b.json"):
            self.run_cli("compute", "doc.json", "--causal", "--bundle", name)
            text = self.run_cli("render", name + ":weights").out
            self.assertEqual(self.table(text)[""][0], ["1.00", "·"], name)
            self.assertRegex(text, r"The +cat", name)

    def test_png_cells_have_the_colours_of_their_values(self):
        self.write("m.csv", "0,1\n1,0\n")
        self.run_cli("render", "m.csv", "-o", "m.png", "--cell", "40", "--annotate", "never", "--labels", "none", "--colormap", "grey")
        rows = png_pixels((self.folder / "m.png").read_bytes())
        black, white = (0, 0, 0), (255, 255, 255)
        # Somewhere there is the board: black and white cells of 40 pixels, the other way round 40 pixels below.
        boards = [(x, y) for y in range(20, len(rows) - 60, 5) for x in range(20, len(rows[0]) - 60, 5)
                  if {rows[y][x], rows[y + 40][x + 40]} == {black} and {rows[y][x + 40], rows[y + 40][x]} == {white}]
        self.assertTrue(boards)


class Choices(CliTest):
    table = Pictures.table

    def setUp(self):
        super().setUp()
        self.write("r4.npy", npy(STACK)), self.write("r3.npy", npy(STACK[0])), self.write("r3.json", STACK[0])

    def shown(self, matrix): return [[f"{x:.2f}" for x in row] for row in matrix]

    def test_all_heads(self):
        table = self.table(self.run_cli("render", "r3.npy").out)
        self.assertEqual(table, {f"head {h}": self.shown(STACK[0][h]) for h in range(3)})

    def test_lists_of_heads_keep_their_order(self):
        for name in ("r3.npy", "r3.json"):
            table = self.table(self.run_cli("render", name, "--head", "2,0").out)
            self.assertEqual(list(table.items()), [("head 2", self.shown(STACK[0][2])), ("head 0", self.shown(STACK[0][0]))])
            self.assertEqual(list(self.table(self.run_cli("render", name, "--head", "1-2").out)), ["head 1", "head 2"])
        piped = self.run_cli("render", "-", "--head", "2,0", stdin=npy(STACK[0])).out
        self.assertEqual(piped, self.run_cli("render", "r3.npy", "--head", "2,0").out)

    def test_one_head_of_batches(self):
        table = self.table(self.run_cli("render", "r4.npy", "--head", "1").out)
        self.assertEqual(list(table.values()), [self.shown(STACK[b][1]) for b in range(2)])

    def test_reduce(self):
        for how, combine in (("mean", lambda xs: sum(xs) / len(xs)), ("max", max), ("min", min)):
            want = [[[combine([STACK[b][h][q][k] for h in range(3)]) for k in range(5)] for q in range(4)] for b in range(2)]
            for name in ("r4.npy",):
                table = self.table(self.run_cli("render", name, "--reduce", how).out)
                self.assertEqual(list(table.values()), [self.shown(m) for m in want], how)
            for name in ("r3.npy", "r3.json"):
                self.assertEqual(self.table(self.run_cli("render", name, "--reduce", how).out), {"": self.shown(want[0])})
            piped = self.run_cli("render", "-", "--reduce", how, stdin=npy(STACK[0])).out
            self.assertEqual(piped, self.run_cli("render", "r3.npy", "--reduce", how).out)
        want = [[(STACK[0][0][q][k] + STACK[0][2][q][k]) / 2 for k in range(5)] for q in range(4)]
        self.assertEqual(self.table(self.run_cli("render", "r3.npy", "--reduce", "mean", "--head", "0,2").out), {"": self.shown(want)})

    def test_heads_that_are_not_there(self):
        self.assertError(self.run_cli("render", "r3.npy", "--head", "3", expect=4), r"--head 3: r3\.npy has 3 heads, numbered from 0")
        for text in ("a", "", "1-", "2-1", "-1", "0,0", "1.5"):
            self.assertError(self.run_cli("render", "r3.npy", "--head", text, expect=2), "--head")

    def test_tokens(self):
        self.write("m.csv", "1,0\n0,1\n")
        self.assertRegex(self.run_cli("render", "m.csv", "--tokens", "The cat").out, r"(?s)The +cat.*The .*cat ")
        self.assertRegex(self.run_cli("render", "m.csv", "--tokens", "The cat", "--key-tokens", "x y").out, r"(?s)x +y.*The .*cat ")
        self.write("t.json", ["a b", "c"])
        self.assertRegex(self.run_cli("render", "m.csv", "--tokens", "@t.json").out, r"(?s)a b +c")
        self.assertError(self.run_cli("render", "m.csv", "--tokens", "a", expect=4), r"--tokens: found 1 token for the 2 rows of m\.csv")
        self.assertError(self.run_cli("render", "m.csv", "--key-tokens", "a b c", expect=4), "--key-tokens: found 3 tokens for the 2 columns")

    def test_mask(self):
        self.write("m.csv", "1,0\n0.5,0.5\n")
        for kind, content in (("keep", "1,0\n1,1\n"), ("block", "0,1\n0,0\n"), ("add", "0,-inf\n5,0\n")):
            self.write("mask.csv", content)
            text = self.run_cli("render", "m.csv", "--mask", "mask.csv", "--mask-kind", kind).out
            self.assertEqual(self.table(text), {"": [["1.00", "·"], ["0.50", "0.50"]]}, kind)
        self.write("mask.csv", "1,0\n")
        self.assertEqual(self.table(self.run_cli("render", "m.csv", "--mask", "mask.csv").out)[""][1], ["0.50", "·"])
        self.write("mask.csv", "1,2\n1,1\n")
        self.assertError(self.run_cli("render", "m.csv", "--mask", "mask.csv", expect=4), "mask-kind add")
        self.write("mask.csv", "1,1,1\n")
        self.assertError(self.run_cli("render", "m.csv", "--mask", "mask.csv", expect=4), r"mask\.csv.*3")
        self.assertError(self.run_cli("render", "m.csv", "--mask-kind", "keep", expect=2), "without --mask")

    def test_mask_of_heads(self):
        mask = [[[1] * 5] * 4, [[1, 1, 1, 1, 0]] * 4, [[0] * 5] * 4]
        self.write("mask.json", mask)
        table = self.table(self.run_cli("render", "r3.npy", "--mask", "mask.json", "--head", "1").out)
        self.assertEqual([row[4] for row in table["head 1"]], ["·"] * 4)
        # A reduced cell is blocked only where all its heads block it.
        self.assertNotIn("·", str(self.table(self.run_cli("render", "r3.npy", "--mask", "mask.json", "--reduce", "mean").out)))
        table = self.table(self.run_cli("render", "r3.npy", "--mask", "mask.json", "--reduce", "max", "--head", "1,2").out)
        self.assertEqual([[cell == "·" for cell in row] for row in table[""]], [[False] * 4 + [True]] * 4)

    def test_which_array_of_an_archive(self):
        self.write("many.npz", npz(a=[[1.0]], b=[[0.5]]))
        done = self.run_cli("render", "many.npz", expect=2)
        self.assertError(done, r"many\.npz holds several arrays: a or b")
        self.assertIn("many.npz:a", done.err)
        self.assertIn("0.50", self.run_cli("render", "many.npz:b").out)
        done = self.run_cli("render", "many.npz:weigths", expect=3)
        self.assertError(done, "no array 'weigths'")
        self.write("w.npz", npz(weights=[[1.0]], other=[[0.5]], tokens=["cat"]))
        self.assertRegex(self.run_cli("render", "w.npz").out, r"(?s)cat.*1\.00")
        self.write("one.npz", npz(matrix=[[0.25]], row=[1.0, 2.0]))
        self.assertIn("0.25", self.run_cli("render", "one.npz").out)

    def test_html_shows_every_array_of_heads_in_natural_order(self):
        self.write("layers.npz", npz(layer10=STACK[0], layer2=STACK[0], layer1=STACK[1], row=[1.0]))
        self.run_cli("render", "layers.npz", "-o", "all.html")
        page = self.read("all.html")
        places = [page.index(f'"{name}"') for name in ("layer1", "layer2", "layer10")]
        self.assertEqual(places, sorted(places))
        self.run_cli("render", "layers.npz:layer2", "-o", "one.html")
        self.assertNotIn('"layer10"', self.read("one.html"))

    def test_html_and_png_of_one_archive(self):
        self.write("layers.npz", npz(weights=STACK[0], layer2=STACK[1]))
        self.run_cli("render", "layers.npz", "-o", "all.html", "-o", "w.png")
        self.assertIn('"layer2"', self.read("all.html"))
        self.run_cli("render", "layers.npz:weights", "-o", "v.png")
        self.assertEqual((self.folder / "w.png").read_bytes(), (self.folder / "v.png").read_bytes())
        done = self.run_cli("render", "-", "-o", "a.html", "-o", "b.png", stdin=(self.folder / "layers.npz").read_bytes(), expect=2)
        self.assertError(done, "only once")
        self.assertEqual(self.files(), ["all.html", "layers.npz", "r3.json", "r3.npy", "r4.npy", "v.png", "w.png"])

    def test_ranks(self):
        self.write("row.json", [0.25, 0.75])
        self.assertIn("0.75", self.run_cli("render", "row.json").out)
        self.write("r5.npy", npy([[[[[1.0]]]]]))
        self.assertError(self.run_cli("render", "r5.npy", expect=4), r"rank 5 and shape \[1,1,1,1,1\]")
        self.write("t.json", {"tokens": ["a"]})
        self.assertError(self.run_cli("render", "t.json", expect=4), "no array of numbers")


class Files(CliTest):
    def setUp(self):
        super().setUp()
        self.write("w.csv", "1,0\n0.5,0.5\n")

    def test_failures_leave_old_files(self):
        self.write("old.png", b"old")
        for words in (["no.csv"], ["w.csv", "--head", "5"], ["w.csv", "--tokens", "a"], ["w.csv", "-o", "none/x.png"], ["w.csv", "-o", "old.png"],
                      ["w.csv", "--max-memory", "100"]):
            self.run_cli("render", *words, "-o", "old.png", expect=(2, 3, 4, 5, 6))
            self.assertEqual((self.folder / "old.png").read_bytes(), b"old", words)
            self.assertEqual(self.files(), ["old.png", "w.csv"], words)

    def test_no_clobber(self):
        self.write("old.png", b"old")
        self.assertError(self.run_cli("render", "w.csv", "-o", "old.png", "--no-clobber", expect=5), r"old\.png")
        self.assertEqual((self.folder / "old.png").read_bytes(), b"old")
        self.run_cli("render", "w.csv", "-o", "old.png")
        self.assertNotEqual((self.folder / "old.png").read_bytes(), b"old")

    def test_full_device(self):
        for name in ("png", "svg", "pdf", "html", "txt"):
            self.assertError(self.run_cli("render", "w.csv", "--format", name, "-o", "/dev/full", expect=5), "/dev/full.*No space left")

    def test_fifos(self):
        os.mkfifo(self.folder / "in"), os.mkfifo(self.folder / "out")
        got = []
        reader = threading.Thread(target=lambda: got.append((self.folder / "out").read_bytes()))
        writer = threading.Thread(target=lambda: (self.folder / "in").write_bytes(b"1,0\n0.5,0.5\n"))
        reader.start(), writer.start()
        self.run_cli("render", "in", "-o", "out", "--format", "svg")
        reader.join(), writer.join()
        self.run_cli("render", "w.csv", "-o", "w.svg")
        self.assertEqual(got, [(self.folder / "w.svg").read_bytes()])

    def test_a_reader_that_went_away_replaces_nothing(self):
        self.write("old.png", b"old")
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([attn_test.BINARY, "render", "w.csv", "-o", "old.png", "-o", "-", "--format", "svg", "--title", "\U000f0000"],
                              cwd=self.folder, stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual((self.folder / "old.png").read_bytes(), b"old")
        self.assertEqual(self.files(), ["old.png", "w.csv"])

    def test_two_outputs_on_one_path(self):
        for other in ("w.png", "./w.png"):
            self.assertError(self.run_cli("render", "w.csv", "-o", "w.png", "-o", other, expect=2), r"w\.png")
        self.assertError(self.run_cli("render", "w.csv", "-o", "-", "-o", "-", "--format", "svg", expect=2), "standard output|-")
        self.assertEqual(self.files(), ["w.csv"])

    def test_the_same_bytes_for_every_number_of_threads(self):
        for name in ("png", "svg", "html"):
            one = self.run_cli("render", "w.csv", "-o", "-", "--format", name, "--threads", "1").out_bytes
            self.assertEqual(self.run_cli("render", "w.csv", "-o", "-", "--format", name, "--threads", "7").out_bytes, one)

    def test_a_large_matrix_is_not_held(self):
        side = 4096  # 64 MiB of float32
        with open(self.folder / "big.npy", "wb") as file:
            head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (side, side)
            head += " " * (-(len(head) + 11) % 64) + "\n"
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
            file.seek(4 * side * side - 4, 1)
            file.write(struct.pack("<f", 1))
        self.run_cli("render", "big.npy", "-o", "big.png", "--max-memory", "24M")


main()
