"""The line view: opacity is the weight."""
from browser import CAT, CAUSAL, CAUSAL_ALLOWED, BrowserTest, main, weights_document

LINES = """return [...document.querySelectorAll(arguments[0] + ' line')].map((line) => [Number(line.dataset.query),
    Number(line.dataset.key), Number(line.getAttribute('stroke-opacity')), line.getBoundingClientRect().top, line.getBoundingClientRect().height])"""


class Lines(BrowserTest):
    def lines(self, group="#line-base"):
        return {(q, k): opacity for q, k, opacity, *_ in self.run_js(LINES, group)}

    def test_opacity_is_the_weight(self):
        self.render(weights_document(CAUSAL, CAT, CAT, allowed=CAUSAL_ALLOWED))
        self.show("lines")
        want = {(i, j): CAUSAL[i][j] for i in range(4) for j in range(4) if CAUSAL[i][j] > 0}
        self.assertEqual(self.lines(), want)
        self.assertIn("Opacity of a line = weight", self.text("line-note"))

    def test_opacity_is_the_float32_weight_exactly(self):
        import struct
        weights = [[0.1, 0.3, 0.6], [1 / 3, 1 / 3, 1 / 3]]
        self.render(weights_document(weights, ["a", "b"], ["x", "y", "z"]))
        self.show("lines")
        single = lambda value: struct.unpack("<f", struct.pack("<f", value))[0]
        self.assertEqual(self.lines(), {(i, j): single(weights[i][j]) for i in range(2) for j in range(3)})

    def test_a_full_line_has_the_colour_of_the_theme_on_the_screen(self):
        self.render(weights_document([[1, 0], [0, 1]], ["a", "b"], ["a", "b"]))
        self.show("lines")
        box = self.run_js("const b = document.getElementById('line-art').getBoundingClientRect(); return [b.left + b.width / 2, b.top]")
        pixels = [row[0] for row in self.pixels(int(box[0]), int(box[1]), 1, 28)]
        self.assertIn((0x0b, 0x5c, 0xad), pixels)

    def test_lines_run_from_query_to_key(self):
        self.render(weights_document([[0, 0, 1]], ["a"], ["x", "y", "z"]))
        self.show("lines")
        tops = self.run_js("""const middle = (e) => { const b = e.getBoundingClientRect(); return b.top + b.height / 2; };
            const line = document.querySelector('#line-base line').getBoundingClientRect();
            return [line.top, middle(document.querySelector('#query-list .line-token')), line.bottom,
                    middle(document.querySelectorAll('#key-list .line-token')[2])]""")
        self.assertAlmostEqual(tops[0], tops[1], delta=1.5)
        self.assertAlmostEqual(tops[2], tops[3], delta=1.5)

    def test_two_token_lists_for_cross_attention(self):
        self.render(weights_document([[0.2] * 5] * 4, CAT, ["這", "隻", "貓", "很", "可愛"]))
        self.show("lines")
        side = lambda name: [e.text for e in self.driver.find_elements("css selector", f"#{name} .line-token")]
        self.assertEqual(side("query-list"), CAT)
        self.assertEqual(side("key-list"), ["這", "隻", "貓", "很", "可愛"])

    def test_pinning_shows_one_query(self):
        self.render(weights_document(CAUSAL, CAT, CAT))
        self.show("lines")
        self.driver.find_elements("css selector", "#query-list .line-token")[3].click()
        self.settle()
        self.assertEqual(self.lines("#line-focus"), {(3, j): CAUSAL[3][j] for j in range(4)})
        shades = self.run_js("return [...document.querySelectorAll('#key-list .line-token')].map((e) => Number(e.style.getPropertyValue('--shade')))")
        self.assertEqual(shades, CAUSAL[3])
        self.assertEqual(self.text("panel-title"), "Query 3: cute")

    def test_a_key_shows_who_looks_at_it(self):
        from selenium.webdriver.common.action_chains import ActionChains
        self.render(weights_document(CAUSAL, CAT, CAT))
        self.show("lines")
        ActionChains(self.driver).move_to_element(self.driver.find_elements("css selector", "#key-list .line-token")[1]).perform()
        self.settle()
        self.assertEqual(self.lines("#line-focus"), {(i, 1): CAUSAL[i][1] for i in (1, 2, 3)})

    def test_opacity_by_the_colour_scale(self):
        self.render(weights_document([[0.01, 0.04, 0.16]]))
        self.show("lines")
        self.click("relative")
        self.choose("scale", "sqrt")
        for (_, key), opacity in self.lines().items(): self.assertAlmostEqual(opacity, (0.25, 0.5, 1)[key], places=5)
        self.assertIn("colour scale", self.text("line-note"))

    def test_many_tokens_draw_the_strongest_lines_and_say_so(self):
        n = 300
        row = lambda i: ",".join(str(round(0.1 + ((i * 7 + j * 13) % 101) / 1000, 3)) for j in range(n))
        self.write("many.csv", "\n".join(map(row, range(n))) + "\n")
        self.render("many.csv")
        self.show("lines")
        drawn = self.lines()
        self.assertLessEqual(len(drawn), 2000)
        self.assertGreater(len(drawn), 1500)
        self.assertGreater(min(drawn.values()), 0.19)
        self.assertRegex(self.text("line-note"), r"The strongest [\d,]+ of 90,000 are drawn")
        tokens = len(self.driver.find_elements("css selector", "#query-list .line-token"))
        self.assertLess(tokens, n)
        self.run_js("document.getElementById('lines').scrollTop = 1e6")
        self.settle()
        self.assertIn(str(n - 1), [e.text for e in self.driver.find_elements("css selector", "#query-list .line-token")])

    def test_negative_scores_have_their_own_colour(self):
        self.render({"schema": "attn-cli/1", "shape": [1, 2], "scores": [[-2, 1]]})
        self.show("lines")
        self.assertEqual(self.lines(), {(0, 0): 1, (0, 1): 0.5})
        self.assertEqual(self.run_js("return document.querySelector('#line-base line[data-key=\"0\"]').getAttribute('class')"), "negative")


main()
