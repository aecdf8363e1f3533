"""Without a mouse and without seeing: keyboard, spoken lines, names, roles, contrast, narrow windows."""
from selenium.webdriver.common.keys import Keys

from browser import CAT, CAUSAL, CAUSAL_ALLOWED, BrowserTest, main, weights_document
from contrast import CONTRAST


class Keyboard(BrowserTest):
    def spoken(self): return self.run_js("return document.getElementById('spoken').textContent")

    def test_a_walk_speaks_the_right_cells(self):
        for view in ("heatmap", "lines"):
            self.render(weights_document(CAUSAL, CAT, CAT, allowed=CAUSAL_ALLOWED))
            self.show(view)
            steps = [(Keys.ARROW_DOWN, "query cat → key The: 0.5"), (Keys.ARROW_DOWN, "query is → key The: 0.25"),
                     (Keys.ARROW_RIGHT, "query is → key cat: 0.25"), (Keys.ARROW_RIGHT, "query is → key is: 0.5"),
                     (Keys.ARROW_RIGHT, "query is → key cute: blocked by the mask"), (Keys.ARROW_RIGHT, "query is → key cute: blocked by the mask"),
                     (Keys.ARROW_LEFT, "query is → key is: 0.5"), (Keys.ARROW_UP, "query cat → key is: blocked by the mask"),
                     (Keys.PAGE_DOWN, "query cute → key is: 0.25"), (Keys.END, "query cute → key cute: 0.375"),
                     (Keys.HOME, "query cute → key The: 0.125"), (Keys.PAGE_UP, "query The → key The: 1")]
            for key, sentence in steps:
                self.press(key)
                self.assertEqual(self.spoken(), sentence)
                self.assertEqual(self.text("readout"), sentence)

    def test_the_sentence_of_the_contract(self):
        self.render(weights_document([[0.1, 0.42]], ["cat"], ["dog", "cute"]))
        self.press(Keys.ARROW_RIGHT)
        self.assertEqual(self.spoken(), "query cat → key cute: 0.42")
        self.assertEqual(self.element("spoken").get_attribute("aria-live"), "polite")

    def test_what_has_no_number_is_said_in_words(self):
        self.render(weights_document([["NaN", 1], [0, 0]], allowed=[[[0, 2]], []]))
        self.press(Keys.HOME)
        self.assertEqual(self.spoken(), "query 0 → key 0: not a number")
        self.press(Keys.ARROW_DOWN)
        self.assertEqual(self.spoken(), "query 1 → key 0: blocked by the mask, no key is allowed")

    def test_pinning_and_heads_by_key(self):
        self.render(weights_document([CAUSAL, CAUSAL[::-1]], CAT, CAT))
        self.press(Keys.ARROW_DOWN, Keys.ENTER)
        self.assertEqual(self.element("pin").get_attribute("aria-pressed"), "true")
        self.press(Keys.ARROW_DOWN)
        self.assertEqual(self.text("panel-title"), "Query 1: cat")
        self.press(Keys.ESCAPE)
        self.assertEqual(self.element("pin").get_attribute("aria-pressed"), "false")
        self.press("]")
        self.assertEqual(self.spoken(), "head 1")
        self.assertEqual(self.element("head").get_property("value"), "1")
        self.press("[")
        self.assertEqual(self.element("head").get_property("value"), "0")

    def test_the_cell_walked_to_is_scrolled_into_sight(self):
        n = 100
        self.write("w.csv", "".join(",".join("0.01" for _ in range(n)) + "\n" for _ in range(n)))
        self.render("w.csv")
        for _ in range(7): self.click("zoom-in")
        self.press(Keys.END, *[Keys.PAGE_DOWN] * 10)
        self.settle()
        self.assertEqual(self.spoken(), "query 99 → key 99: 0.01")
        x, y = self.cell_centre(99, 99)
        box = self.run_js("const b = document.getElementById('heatmap').getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]")
        self.assertTrue(box[0] < x < box[2] and box[1] < y < box[3], (x, y, box))

    def test_everything_is_reached_by_tab_and_shows_it(self):
        self.render(weights_document([CAUSAL, CAUSAL], CAT, CAT))
        reached = []
        for _ in range(25):
            self.driver.switch_to.active_element.send_keys(Keys.TAB)
            name, outline = self.run_js("const e = document.activeElement, s = getComputedStyle(e.name === 'view' ? e.closest('.switch') : e);"
                                        "return [e.id || e.className || e.name, s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2]")
            if not name: break
            self.assertTrue(outline, f"{name}: the focus is not seen")
            reached.append(name)
        for name in ("theme", "head", "view", "scale", "range", "zoom-in", "search", "save-png", "save-csv", "thumbnail", "pin"):
            self.assertIn(name, reached)

    def test_names_and_roles(self):
        self.render(weights_document([CAUSAL, CAUSAL], CAT, CAT))
        self.driver.execute_cdp_cmd("Accessibility.enable", {})
        tree = [node for node in self.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"] if not node.get("ignored")]
        found = {}
        for node in tree:
            found.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
        for role in ("button", "combobox", "radio", "searchbox", "application", "heading", "table", "image"):
            self.assertIn(role, found)
            if role != "table":
                for name in found[role]: self.assertTrue(name.strip(), f"a {role} has no name")
        self.assertIn("Heatmap of Attention weights, 4 queries × 4 keys, head 0", found["application"])
        self.assertIn("Save CSV", found["button"])
        self.assertIn("Head", found["combobox"])
        self.assertIn("Find token", found["searchbox"])
        for landmark in ("main", "banner", "contentinfo", "complementary"): self.assertIn(landmark, found)
        self.assertEqual(self.run_js("return document.documentElement.lang"), "en")
        ids = self.run_js("return [...document.querySelectorAll('[id]')].map((e) => e.id)")
        self.assertEqual(len(ids), len(set(ids)))

    def test_contrast(self):
        for theme in ("light", "dark"):
            self.media(theme)
            for view in ("heatmap", "lines"):
                self.render(weights_document([CAUSAL, CAUSAL], CAT, CAT, allowed=[CAUSAL_ALLOWED] * 2))
                self.show(view)
                self.type_into("search", "cat")
                for pinned in (0, 3):
                    self.press(*[Keys.ARROW_UP] * 3, *[Keys.ARROW_DOWN] * pinned, Keys.ESCAPE, Keys.ENTER)
                    count, bad = self.run_js(CONTRAST)
                    self.assertGreater(count, 20)
                    self.assertEqual(bad, [], f"{theme} {view}")

    def test_a_phone(self):
        self.size(375, 700, scale=2)
        tokens = ["antidisestablishmentarianism" * 3] + CAT[1:]
        for view in ("heatmap", "lines"):
            self.render(weights_document([CAUSAL] * 12, tokens, tokens, allowed=[CAUSAL_ALLOWED] * 12), "--title", "A" * 90)
            self.show(view)
            width, beyond = self.run_js("""return [document.documentElement.scrollWidth, [...document.querySelectorAll('main *, header *, footer *')]
                .filter((e) => e.getClientRects().length && e.getBoundingClientRect().right > 375.5 && !e.closest('#heads, .scroller, .unseen, tbody th'))
                .map((e) => `${e.localName}#${e.id} ${e.getBoundingClientRect().right}`)]""")
            self.assertLessEqual(width, 375)
            self.assertEqual(beyond, [])
            small = self.run_js("""return [...document.querySelectorAll('button, select, .switch span')].filter((e) => e.getClientRects().length
                && e.getBoundingClientRect().height < 24).map((e) => e.id || e.textContent)""")
            self.assertEqual(small, [])

    def test_nothing_to_show_is_said(self):
        self.write("none.npy", b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4), }".ljust(117) + b"\n")
        done = self.run_cli("render", "none.npy", "-o", "page.html", expect=None)
        if done.code == 0:
            self.open("page.html")
            self.assertIn("nothing to show", self.text("readout"))
            self.assertEqual(self.complaints(), [])
        else:
            self.assertEqual(done.code, 2, done.err)


main()
