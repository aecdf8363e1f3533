"""explain --html: the steps of one query after the other, with the numbers of the tutorial's example."""
import math, re

from selenium.webdriver.common.keys import Keys

from browser import CAT, BrowserTest, main
from contrast import CONTRAST

DOCUMENT = {"tokens": CAT, "query": [[1, 0], [0, 1], [1, 1], [2, -1]], "key": [[1, 0], [0, 1], [1, 1], [-1, 2]],
            "value": [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]}


def softmax(scores):
    exps = [math.exp(s - max(scores)) for s in scores]
    return [e / sum(exps) for e in exps]


class Explain(BrowserTest):
    def explain(self, document, *options):
        self.write("doc.json", document)
        self.run_cli("explain", "doc.json", "--html", "page.html", *options)
        return self.open("page.html")

    def table(self, caption):
        """The texts of the rows of a table, without bars."""
        return self.run_js("""const table = [...document.querySelectorAll('table')].find((t) => t.caption && t.caption.textContent === arguments[0]);
            return [...table.querySelectorAll('tbody tr, tfoot tr')].map((r) => [...r.cells].map((c) => c.textContent));""", caption)

    def headings(self): return [h.text.split("\n")[-1] for h in self.driver.find_elements("css selector", ".step h2")]

    def number(self, text): return float(text.replace("−", "-").replace("∞", "inf"))

    def choose_query(self, query):
        self.driver.find_elements("css selector", "#queries button")[query].click()

    def test_every_step_of_every_query(self):
        self.explain(DOCUMENT, "--causal")
        self.assertEqual(self.headings(), ["A query and all keys", "How well do they fit? The dot product", "Scale", "Mask",
                                           "Softmax: from scores to weights", "Output: the weighted sum of the values", "All queries"])
        for i, q in enumerate(DOCUMENT["query"]):
            self.choose_query(i)
            products = [sum(a * b for a, b in zip(q, k)) for k in DOCUMENT["key"]]
            scores = [p / math.sqrt(2) for p in products]
            weights = softmax(scores[:i + 1]) + [0] * (3 - i)
            output = [sum(w * row[c] for w, row in zip(weights, DOCUMENT["value"])) for c in range(3)]
            self.assertEqual([row[0] for row in self.table("q · k for each key")], CAT)
            self.assertClose([self.number(row[-1]) for row in self.table("q · k for each key")], products, 1e-5)
            self.assertClose([self.number(row[-1]) for row in self.table("scores")], scores, 1e-5)
            masked = self.table("masked scores")
            self.assertEqual([row[2] for row in masked], ["seen"] * (i + 1) + ["blocked"] * (3 - i))
            self.assertEqual([row[3] for row in masked[i + 1:]], ["−∞"] * (3 - i))
            rows = self.table("weights")
            self.assertClose([self.number(row[4]) for row in rows[:4]], weights, 1e-5)
            self.assertEqual(rows[4][0], "sum")
            self.assertAlmostEqual(self.number(rows[4][4]), 1, places=5)
            self.assertClose([self.number(c) for c in self.table("weight times the row of V")[-1][2:]], output, 1e-5)

    def test_terms_are_told(self):
        self.explain(DOCUMENT)
        self.choose_query(3)
        self.assertEqual(self.table("q · k for each key")[3][1:], ["2 × (−1) + (−1) × 2", "−4"])
        self.driver.find_element("id", "key-3").click()
        self.assertEqual(self.table("term by term"), [["0", "2", "−1", "−2", "−2"], ["1", "−1", "2", "−2", "−4"]])
        self.assertEqual(self.driver.switch_to.active_element.get_attribute("id"), "key-3")

    def test_all_queries_by_button_row_and_key(self):
        self.explain(DOCUMENT)
        current = lambda: self.driver.find_element("css selector", "#queries [aria-pressed=true]").text
        self.assertEqual(current(), "The")
        self.click("next")
        self.assertEqual(current(), "cat")
        self.assertEqual(self.run_js("return document.getElementById('spoken').textContent"), "query cat, 2 of 4")
        self.click("row-3")
        self.assertEqual(current(), "cute")
        self.assertFalse(self.element("next").is_enabled())
        self.driver.find_elements("css selector", "#queries button")[3].send_keys(Keys.ARROW_LEFT)
        self.assertEqual(current(), "is")

    def test_at_says_where_to_start(self):
        self.explain(DOCUMENT, "--at", "2,1")
        self.assertEqual(self.driver.find_element("css selector", "#queries [aria-pressed=true]").text, "is")
        self.assertEqual(self.driver.find_element("css selector", "tr.chosen th").text, "cat")
        self.run_cli("explain", "doc.json", "--html", "x.html", "--at", "4,0", expect=2)

    def test_heads_projections_and_softcap(self):
        document = {"tokens": ["a", "b"], "embeddings": [[1, 2], [3, 4]], "W_Q": [[1, 0], [0, 1]], "W_K": [[1, 0], [0, 1]], "W_V": [[2, 0], [0, 2]],
                    "W_O": [[1, 1], [0, 1]]}
        self.explain(document, "--heads", "2", "--softcap", "5")
        self.assertEqual(self.headings()[0], "Where query, key and value come from")
        self.assertIn("Scale and cap", self.headings())
        self.assertEqual(self.headings()[-1], "All heads together")
        self.assertEqual([o.text for o in self.element("head").find_elements("tag name", "option")], ["head 0", "head 1"])
        self.choose("head", 1)
        scaled = [2 * 2, 2 * 4]
        capped = [5 * math.tanh(s / 5) for s in scaled]
        self.assertClose([self.number(row[-1]) for row in self.table("scores")], capped, 1e-5)
        weights = softmax(capped)
        self.assertClose([self.number(row[4]) for row in self.table("weights")[:2]], weights, 1e-5)
        self.driver.find_element("css selector", "summary").click()
        titles = [h.text for h in self.driver.find_elements("css selector", "details h3")]
        self.assertEqual(titles, ["X: the embeddings", "W_Q: makes Q", "W_K: makes K", "W_V: makes V"])

    def test_sinks_biases_and_empty_rows(self):
        document = {"query": [[1.0], [1.0]], "key": [[1.0], [2.0]], "value": [[1.0], [2.0]], "sinks": [0.5],
                    "bias": [[0.25, 0], [0, 0]], "mask": [[1, 1], [0, 0]]}
        self.explain(document)
        self.assertEqual(self.table("masked scores")[0][1:], ["1", "seen, + 0.25", "1.25"])
        rows = self.table("weights")
        exps = [math.exp(s - 2) for s in (1.25, 2)]
        total = sum(exps) + math.exp(0.5 - 2)
        self.assertClose([self.number(row[4]) for row in rows[:2]], [e / total for e in exps], 1e-5)
        self.assertEqual(rows[2][0], "(sink)")
        self.choose_query(1)
        self.assertClose([self.number(row[4]) for row in self.table("weights")[:2]], [0, 0], 1e-5)
        del document["sinks"]
        self.explain(document)
        self.choose_query(1)
        self.assertIn("No key is allowed", self.driver.find_element("tag name", "main").text)

    def test_without_values_the_walk_ends_with_the_weights(self):
        self.explain({k: v for k, v in DOCUMENT.items() if k != "value"})
        self.assertNotIn("Output: the weighted sum of the values", self.headings())

    def test_hostile_tokens_and_no_request(self):
        tokens = ["</script><img src=x onerror=document.title='run'>", '"><svg onload=alert(1)>', "\u202eabc", "\x1b[2J"]
        self.explain({**DOCUMENT, "tokens": tokens}, "--title", tokens[0])
        for query in range(4): self.choose_query(query)
        self.assertEqual(self.driver.title, tokens[0])
        self.assertEqual(self.driver.find_elements("css selector", "img, svg, iframe"), [])
        self.assertEqual(self.requests(), [])
        self.assertEqual(self.complaints(), [])
        page = self.read("page.html")
        self.assertEqual(re.findall(r"https?://|src=[^x]|href=|@import|url\(", page), [])
        names = [b.text for b in self.driver.find_elements("css selector", "#queries button")]
        self.assertEqual(names[:2], tokens[:2])
        self.assertIsNone(re.search("[\x00-\x1f\u202e]", "".join(names)))

    def test_contrast_names_and_a_phone(self):
        for theme in ("light", "dark"):
            self.media(theme)
            self.explain(DOCUMENT, "--causal", "--at", "1,1")
            count, bad = self.run_js(CONTRAST)
            self.assertGreater(count, 60)
            self.assertEqual(bad, [], theme)
        self.size(375, 700)
        self.settle()
        self.assertLessEqual(self.run_js("return document.documentElement.scrollWidth"), 375)
        self.driver.execute_cdp_cmd("Accessibility.enable", {})
        for node in self.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]:
            if not node.get("ignored") and node["role"]["value"] in ("button", "combobox", "heading", "region", "table"):
                self.assertTrue(node.get("name", {}).get("value", "").strip(), node["role"])

    def test_too_large_is_refused_and_options_need_the_page(self):
        n = 40
        self.write("big.json", {"query": [[1.0]] * n, "key": [[1.0]] * n})
        self.assertError(self.run_cli("explain", "big.json", "--html", "page.html", expect=2), "too large to read")
        self.assertNotIn("page.html", self.files())
        self.write("doc.json", DOCUMENT)
        self.assertError(self.run_cli("explain", "doc.json", "--title", "T", expect=2), "--title")


main()
