"""What the page gives away: CSV and PNG of the shown head."""
import csv, io, struct

from browser import CAT, CAUSAL, CAUSAL_ALLOWED, BrowserTest, main, read_png, weights_document, write_npz

single = lambda value: struct.unpack("<f", struct.pack("<f", value))[0]


class Export(BrowserTest):
    def csv(self):
        data, name = self.downloaded(lambda: self.click("save-csv"))
        self.assertTrue(name.endswith(".csv"))
        return list(csv.reader(io.StringIO(data.decode("utf-8"), newline="")))

    def test_csv_is_what_the_page_holds(self):
        weights = [[0.1, 0.2, 0.7], [1e-30, 0.123456789, 1 / 3]]
        tokens = ['a,"b"\nc', "=1+1"]
        keys = ["貓", "", "</script>"]
        self.render(weights_document(weights, tokens, keys))
        rows = self.csv()
        self.assertEqual(rows[0], ["query", *keys])
        self.assertEqual([row[0] for row in rows[1:]], tokens)
        for i in range(2): self.assertEqual([float(cell) for cell in map(single, map(float, rows[i + 1][1:]))], [single(v) for v in weights[i]])

    def test_csv_has_the_fewest_digits(self):
        self.render(weights_document([[0.1, 0.30000001192092896, 1 / 3, 0, 1]]))
        self.assertEqual(self.csv()[1][1:], ["0.1", "0.3", "0.33333334", "0", "1"])

    def test_csv_is_the_shown_head_and_renders_again(self):
        heads = [CAUSAL, [[0.25] * 4] * 4]
        self.render(weights_document(heads, CAT, CAT))
        self.choose("head", 1)
        data, name = self.downloaded(lambda: self.click("save-csv"))
        self.assertIn("head-1", name)
        self.write("again.csv", data)
        self.render("again.csv")
        self.press("\ue015")
        self.assertEqual(self.text("readout"), "query cat → key The: 0.25")

    def test_csv_says_what_is_no_number(self):
        self.render(weights_document([["NaN", 0.5], [0, 0]], allowed=[[[0, 2]], []]))
        self.assertEqual(self.csv()[1:], [["0", "NaN", "0.5"], ["1", "0", "0"]])

    def test_csv_of_eight_bits_is_within_one_255th_of_the_range(self):
        n, heads = 512, 40
        cells = [((i * 2654435761) & 0xffffff) / 0xffffff / 3 for i in range(n * n)]
        head = struct.pack(f"<{n * n}f", *cells)
        write_npz(self.folder / "large.npz", {"weights": ((heads, n, n), head * heads)})
        self.render("large.npz")
        self.assertIn("8 bits", self.text("precision"))
        rows = self.csv()
        worst = max(abs(float(rows[i + 1][j + 1]) - cells[i * n + j]) for i in range(n) for j in range(n))
        spread = max(cells) - min(cells)
        self.assertLessEqual(worst, spread / 255)
        stated = float(self.text("precision").split("off by at most ")[1].split(". ")[0])
        self.assertLessEqual(worst, stated * 1.05)

    def test_csv_of_the_strongest_leaves_the_others_out(self):
        self.render(weights_document([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]]), "--top-k", "2")
        self.assertIn("2 strongest keys", self.text("precision"))
        self.assertEqual(self.csv()[1:], [["0", "", "0.2", "0.7"], ["1", "0.5", "0.3", ""]])
        self.press("\ue012")
        self.assertEqual(self.text("readout"), "query 0 → key 0: not held, not among the 2 strongest")

    def test_png_shows_the_cells(self):
        self.render(weights_document([[0, 0.25], [0.5, 1]], ["a", "b"], ["c", "d"]), "--annotate", "never", "--title", "T & <T>")
        data, name = self.downloaded(lambda: self.click("save-png"))
        self.assertEqual(name, "T-T.png")
        pixels = read_png(data)
        counts = {}
        for row in pixels:
            for pixel in row: counts[pixel] = counts.get(pixel, 0) + 1
        cell = float(self.element("map").get_attribute("data-cell-width")) ** 2
        for color in ((68, 1, 84), (59, 82, 139), (33, 145, 140), (253, 231, 37)): self.assertGreaterEqual(counts.get(color, 0), cell * 0.99)
        self.assertLess(counts[(68, 1, 84)], cell * 1.2)

    def test_png_of_the_lines(self):
        self.render(weights_document([[1, 0], [0, 1]], ["a", "b"], ["c", "d"]))
        self.show("lines")
        data, _ = self.downloaded(lambda: self.click("save-png"))
        full = sum(pixel == (0x0b, 0x5c, 0xad) for row in read_png(data) for pixel in row)
        self.assertGreater(full, 2 * 300)

    def test_exports_are_no_requests(self):
        self.render(weights_document(CAUSAL, CAT, CAT))
        self.downloaded(lambda: self.click("save-csv"))
        self.downloaded(lambda: self.click("save-png"))
        self.assertEqual([url for url in self.requests() if not url.startswith("blob:")], [])


main()
