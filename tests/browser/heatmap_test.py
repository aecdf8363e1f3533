"""The heatmap: exact colours, looks of cells without a value, scales, ranges, pooling, themes."""
import re
from pathlib import Path

from browser import CAT, CAUSAL, CAUSAL_ALLOWED, BrowserTest, main, weights_document

# viridis of matplotlib, by index into its 256 colours.
VIRIDIS = {0: (68, 1, 84), 64: (59, 82, 139), 128: (33, 145, 140), 192: (94, 201, 98), 255: (253, 231, 37)}


class Heatmap(BrowserTest):
    def assertCell(self, query, key, color):
        """Every pixel around the centre, where no number stands."""
        for row in self.cell_pixels(query, key):
            for pixel in row: self.assertEqual(pixel, color, f"cell {query},{key}")

    def test_cells_have_the_colours_of_the_map(self):
        self.render(weights_document([[0, 0.25, 0.5], [0.75, 1, 0]]), "--annotate", "never")
        for (query, key), index in {(0, 0): 0, (0, 1): 64, (0, 2): 128, (1, 0): 192, (1, 1): 255, (1, 2): 0}.items():
            self.assertCell(query, key, VIRIDIS[index])

    def test_numbers_are_rounded_as_in_the_other_pictures(self):
        self.render(weights_document([[0, 0.25], [0.5, 1]]))
        source = (Path(__file__).parents[2] / "lib/render/web/heatmap.js").read_text()
        function = re.search(r"^function toFixedEven.*?^}", source, re.M | re.S)[0]
        self.assertIn(function.split("\n")[1].strip(), self.read("page.html"))
        for value, digits in ((0.125, 2), (0.375, 2), (-0.625, 2), (0.135, 2), (2.5, 0), (3.5, 0), (0.5, 0), (0.0625, 3), (0.377541, 2), (1e-9, 2)):
            self.assertEqual(self.run_js(f"{function}; return toFixedEven({value}, {digits})"), f"{value:.{digits}f}")

    def test_cells_are_whole_and_meet_without_a_seam(self):
        self.render(weights_document([[0, 1], [1, 0]]), "--annotate", "never")
        x0, y0 = self.cell_centre(0, 0)
        x1, _ = self.cell_centre(0, 1)
        line = self.pixels(int(x0), int(y0), int(x1 - x0), 1)[0]
        self.assertEqual(set(line), {VIRIDIS[0], VIRIDIS[255]})
        self.assertEqual(line.index(VIRIDIS[255]), len(line) // 2)

    def test_two_device_pixels_to_one(self):
        self.size(1280, 900, scale=2)
        self.render(weights_document([[0, 0.25], [0.5, 1]]), "--annotate", "never")
        self.assertCell(0, 1, VIRIDIS[64])
        self.assertCell(1, 0, VIRIDIS[128])

    def test_the_chosen_colormap_is_used(self):
        self.render(weights_document([[0, 1]]), "--annotate", "never", "--colormap", "grey")
        low, high = self.cell_pixels(0, 0)[0][0], self.cell_pixels(0, 1)[0][0]
        for color in (low, high): self.assertEqual(len(set(color)), 1)
        self.assertEqual({low, high}, {(0, 0, 0), (255, 255, 255)})

    def test_range_of_the_page_and_of_one_head(self):
        self.render(weights_document([[[0, 0.5]], [[0, 1]]]), "--annotate", "never")
        self.assertCell(0, 1, VIRIDIS[128])
        self.choose("range", "head")
        self.assertCell(0, 1, VIRIDIS[255])
        self.choose("range", "own")
        self.type_into("low", "0")
        self.type_into("high", "2")
        self.assertCell(0, 1, VIRIDIS[64])
        self.type_into("high", "wrong")
        self.assertEqual(self.element("high").get_attribute("aria-invalid"), "true")

    def test_typed_options_are_where_the_page_starts(self):
        self.render(weights_document([[0, 0.5, 1]]), "--annotate", "never", "--vmin", "-1", "--vmax", "1", "--color-scale", "linear")
        self.assertCell(0, 0, VIRIDIS[128])
        self.assertCell(0, 1, VIRIDIS[192])
        self.render(weights_document([[0, 0.25, 1]]), "--annotate", "never", "--color-scale", "sqrt")
        self.assertEqual(self.element("scale").get_property("value"), "sqrt")
        self.assertCell(0, 1, VIRIDIS[128])

    def test_square_root_and_logarithm(self):
        self.render(weights_document([[0.0001, 0.0101, 0.25, 1]]), "--annotate", "never")
        self.choose("scale", "sqrt")
        self.assertCell(0, 2, VIRIDIS[128])
        self.choose("scale", "log")  # four decades from 0.0001 to 1
        self.assertCell(0, 0, VIRIDIS[0])
        self.assertCell(0, 1, VIRIDIS[128])
        self.assertCell(0, 3, VIRIDIS[255])

    def test_signed_values_diverge_from_zero(self):
        self.render({"schema": "attn-cli/1", "shape": [1, 3], "scores": [[-2, 0, 1]]}, "--annotate", "never")
        red, middle, blue = (self.cell_pixels(0, key)[0][0] for key in range(3))
        self.assertGreater(red[0], red[2])
        self.assertGreater(blue[2], blue[0])
        self.assertGreater(min(middle), 235)
        self.assertTrue(self.run_js("return document.querySelector('#scale option[value=log]').disabled"))

    def test_cells_without_a_value_look_like_none(self):
        document = weights_document([[0.5, 0, 0.5], [0, 0, 0], ["NaN", "NaN", 0]], CAT[:3], CAT[:3],
                                    allowed=[[[0, 1], [2, 3]], [], [[0, 2]]])
        looks = {}
        for theme in ("light", "dark"):
            self.media(theme)
            self.render(document, "--annotate", "never")
            colors = set(self.run_js("""return Array.from({length: 256}, (_, i) =>
                JSON.parse(document.getElementById('facts').textContent).colors.slice(6 * i, 6 * i + 6))"""))
            for name, cell in {"blocked": (0, 1), "empty": (1, 1), "nan": (2, 0)}.items():
                pixels = {pixel for row in self.cell_pixels(*cell, reach=10) for pixel in row}
                self.assertEqual(len(pixels), 2, name)
                for pixel in pixels: self.assertNotIn("%02x%02x%02x" % pixel, colors, name)
                looks[theme, name] = frozenset(pixels)
            self.assertEqual(self.text("looks").split("\n"), ["blocked", "no key allowed", "not a number"])
        self.assertEqual(len({looks["light", n] for n in ("blocked", "empty", "nan")}), 3)
        self.assertEqual(len({looks["dark", n] for n in ("blocked", "empty", "nan")}), 3)

    def test_without_a_mask_nothing_is_hidden(self):
        self.render(weights_document(CAUSAL), "--annotate", "never")
        self.assertCell(0, 3, VIRIDIS[0])
        self.assertEqual(self.text("looks"), "")

    def test_constant_matrices_are_one_colour(self):
        for value, index in ((0.25, 255), (0, 0)):
            self.render(weights_document([[value] * 3] * 3), "--annotate", "never")
            self.assertCell(0, 0, VIRIDIS[index])
            self.assertCell(2, 2, VIRIDIS[index])
            self.assertEqual(self.complaints(), [])

    def test_less_than_a_pixel_shows_the_maximum_and_says_so(self):
        n = 3000
        self.write("eye.csv", "".join(",".join("1" if i == j else "0" for j in range(n)) + "\n" for i in range(n)))
        self.render("eye.csv")
        self.assertRegex(self.text("map-note"), r"1 pixel = max of (\d+)×\1 cells")
        for query in (0, 1234, n - 1): self.assertEqual(self.pixel_at(query, query), VIRIDIS[255])
        self.assertEqual(self.pixel_at(100, 2000), VIRIDIS[0])
        self.click("zoom-in")
        self.assertNotIn("pixel =", self.text("map-note"))

    def pixel_at(self, query, key):
        x, y = self.cell_centre(query, key)
        return self.pixels(int(x), int(y), 1, 1)[0][0]

    def test_long_and_thin(self):
        self.write("row.csv", ",".join(str(j % 7 / 7) for j in range(5000)) + "\n")
        self.render("row.csv")
        height = float(self.element("map").get_attribute("data-cell-height"))
        self.assertGreaterEqual(height, 20)
        self.assertEqual(self.complaints(), [])

    def test_zoom_and_scroll_show_the_right_cells(self):
        n = 100
        self.write("eye.csv", "".join(",".join("1" if i == j else "0" for j in range(n)) + "\n" for i in range(n)))
        self.render("eye.csv", "--annotate", "never")
        for _ in range(6): self.click("zoom-in")
        size = float(self.element("map").get_attribute("data-cell-width"))
        self.assertGreaterEqual(size, 20)
        self.run_js("const s = document.getElementById('heatmap'); s.scrollLeft = s.scrollTop = arguments[0];", int(70 * size))
        self.settle()
        self.assertCell(75, 75, VIRIDIS[255])
        self.assertCell(75, 76, VIRIDIS[0])

    def test_hover_reads_and_click_pins(self):
        from selenium.webdriver.common.action_chains import ActionChains
        self.render(weights_document(CAUSAL, CAT, CAT, allowed=CAUSAL_ALLOWED))
        go = lambda query, key: ActionChains(self.driver).move_by_offset(0, 0).move_to_element_with_offset(
            self.element("map"), *self.from_middle(query, key))
        go(2, 1).perform()
        self.settle()
        self.assertEqual(self.text("readout"), "query is → key cat: 0.25")
        self.assertEqual(self.text("panel-title"), "Query 2: is")
        go(0, 3).perform()
        self.settle()
        self.assertEqual(self.text("readout"), "query The → key cute: blocked by the mask")
        go(3, 0).click().perform()
        self.settle()
        go(1, 1).perform()
        self.settle()
        self.assertEqual(self.text("panel-title"), "Query 3: cute")
        rows = self.run_js("return [...document.querySelectorAll('#panel-rows tr')].map((r) => [...r.cells].map((c) => c.textContent))")
        self.assertEqual(rows, [["cute", "3", "", "0.375"], ["cat", "1", "", "0.25"], ["is", "2", "", "0.25"], ["The", "0", "", "0.125"]])
        go(3, 0).click().perform()
        self.settle()
        go(1, 1).perform()
        self.settle()
        self.assertEqual(self.text("panel-title"), "Query 1: cat")

    def from_middle(self, query, key):
        x, y = self.cell_centre(query, key)
        box = self.run_js("const b = document.getElementById('map').getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]")
        return round(x - box[0]), round(y - box[1])

    def test_cell_size_and_labels_are_as_asked(self):
        n = 40
        self.write("w.csv", "".join(",".join("0.5" for _ in range(n)) + "\n" for _ in range(n)))
        self.render("w.csv", "--cell", "9")
        self.assertEqual(self.element("map").get_attribute("data-cell-width"), "9")
        self.assertIn("every 2 tokens", self.text("map-note"))
        self.render("w.csv", "--labels", "5")
        self.assertIn("every 5 tokens", self.text("map-note"))
        left = float(self.element("map").get_attribute("data-left"))
        self.render("w.csv", "--labels", "none")
        self.assertLess(float(self.element("map").get_attribute("data-left")), left)

    def test_numbers_in_cells_are_dark_on_light_and_light_on_dark(self):
        self.render(weights_document([[0, 1]]), "--annotate", "always")
        luminance = lambda pixel: sum(pixel)
        on_dark = max(luminance(p) for row in self.cell_pixels(0, 0, reach=12) for p in row)
        on_light = min(luminance(p) for row in self.cell_pixels(0, 1, reach=12) for p in row)
        self.assertGreater(on_dark, 600)
        self.assertLess(on_light, 100)

    def test_theme_follows_the_reader_the_button_and_the_option(self):
        ground = lambda: self.pixels(2, 2, 1, 1)[0][0]
        self.render(weights_document(CAUSAL, CAT, CAT))
        self.assertGreater(min(ground()), 200)
        self.media("dark")
        self.settle()
        self.assertLess(max(ground()), 60)
        self.click("theme")
        self.assertGreater(min(ground()), 200)
        self.media("light")
        self.render(weights_document(CAUSAL, CAT, CAT), "--theme", "dark")
        self.assertLess(max(ground()), 60)

    def test_a_head_that_was_picked_is_named(self):
        self.render({"weights": [CAUSAL, CAUSAL, CAUSAL]}, "--head", "2")
        self.assertEqual(self.text("subtitle"), "4 queries × 4 keys · head 2")
        self.render({"weights": [CAUSAL, CAUSAL, CAUSAL]}, "--reduce", "mean")
        self.assertEqual(self.text("subtitle"), "4 queries × 4 keys · heads reduced")

    def test_single_characters_stand_upright(self):
        """Turned texts as the canvas is told of them; the title of the queries' axis always is one."""
        def turned(tokens):
            count = len(tokens)
            self.render({"weights": [[float(i == j) for j in range(count)] for i in range(count)], "query_tokens": tokens, "key_tokens": tokens})
            self.run_js("""window.turns = 0; const rotate = CanvasRenderingContext2D.prototype.rotate;
                CanvasRenderingContext2D.prototype.rotate = function (angle) { window.turns += Math.abs(angle) > 0.1; rotate.call(this, angle); };""")
            self.click("theme")
            self.settle()
            return self.run_js("return window.turns")

        tokens = list("自注意力机制让模型在处理每个词元时都能关注到序列中的其他词元")
        self.assertEqual(turned(tokens), 1)
        self.assertGreater(turned([token * 3 for token in tokens]), len(tokens) // 2)

    def test_pickers_choose_layer_batch_and_head(self):
        from browser import write_npz
        import struct
        values = [v / 100 for v in range(24)]
        data = lambda shift: struct.pack("<24f", *(v + shift for v in values))
        write_npz(self.folder / "layers.npz", {"layer.10": ((2, 3, 2, 2), data(0.5)), "layer.9": ((2, 3, 2, 2), data(0))})
        self.render("layers.npz")
        self.assertEqual([o.text for o in self.element("layer").find_elements("tag name", "option")], ["layer.9", "layer.10"])
        self.choose("batch", 1)
        self.choose("head", 2)
        self.assertTrue(self.text("readout").endswith(": 0.2"), self.text("readout"))
        self.choose("layer", 1)
        self.assertTrue(self.text("readout").endswith(": 0.7"), self.text("readout"))
        self.assertEqual(self.text("subtitle"), "2 queries × 2 keys · layer.10, batch 1, head 2")
        self.driver.find_elements("css selector", ".thumbnail")[0].click()
        self.settle()
        self.assertTrue(self.text("readout").endswith(": 0.62"), self.text("readout"))

    def test_heads_keep_their_numbers(self):
        self.render(weights_document([[[0, 1]], [[1, 0]], [[0.5, 0.5]]]), "--head", "0,2")
        self.assertEqual([o.text for o in self.element("head").find_elements("tag name", "option")], ["0", "2"])
        self.assertEqual([b.text for b in self.driver.find_elements("css selector", ".thumbnail")], ["head 0", "head 2"])

    def test_search_finds_tokens_on_both_axes(self):
        self.render(weights_document([[0.5, 0.5, 0], [0.2, 0.2, 0.6]], ["cat", "dog"], ["Cat", "bird", "catfish"]))
        self.type_into("search", "CAT")
        self.assertEqual(self.text("found"), "1 in queries, 2 in keys")
        self.type_into("search", "bird")
        self.assertEqual(self.text("found"), "0 in queries, 1 in keys")
        self.element("search").send_keys("\ue007")
        self.settle()
        self.assertEqual(self.run_js("return document.getElementById('spoken').textContent"), "query cat → key bird: 0.5")


main()
