"""The page asks for nothing and runs nothing but its own script, whatever its tokens are."""
import base64, hashlib, re

from browser import CAT, CAUSAL, CAUSAL_ALLOWED, BrowserTest, main, weights_document

HOSTILE = ["</script><img src=x onerror=document.title='run'>", '"><img src=x onerror=alert(1)>', "\u202eabc\u200b\ufeff",
           "\x1b[2J\x1b]0;x\x07", "\U0001F468\u200d\U0001F469\u200d\U0001F467\u200d\U0001F466", "貓", "<!--", "&lt;&amp;",
           "javascript:alert(1)", "{{script}}", "${alert(1)}", "</title></style><svg onload=alert(1)>", "a\nb", "", " ", "x" * 5000]


class Safety(BrowserTest):
    def test_no_request_is_attempted_whatever_one_does(self):
        self.render(weights_document([CAUSAL, CAUSAL[::-1]], CAT, CAT))
        for view in ("lines", "heatmap"): self.show(view)
        self.choose("head", 1)
        for scale in ("sqrt", "log"): self.choose("scale", scale)
        for button in ("theme", "zoom-in", "zoom-out", "zoom-fit", "pin"): self.click(button)
        self.type_into("search", "cat")
        self.assertEqual(self.requests(), [])
        self.assertEqual(self.complaints(), [])

    def test_a_request_would_be_refused(self):
        self.render(weights_document(CAUSAL, CAT, CAT))
        refused = self.driver.execute_async_script("""
            const done = arguments[0], seen = [];
            document.addEventListener('securitypolicyviolation', (event) => seen.push(event.effectiveDirective));
            const image = document.createElement('img'); document.body.append(image);
            image.onerror = () => seen.push('no image'); image.src = 'https://example.invalid/x.png';
            const script = document.createElement('script'); script.textContent = 'document.title = "run"'; document.body.append(script);
            const style = document.createElement('style'); style.textContent = 'p{}'; document.body.append(style);
            document.body.append(Object.assign(document.createElement('iframe'), {src: 'https://example.invalid/'}));
            fetch('https://example.invalid/').catch(() => setTimeout(() => done(seen), 500));""")
        for directive in ("no image", "script-src-elem", "style-src-elem", "connect-src", "frame-src"): self.assertIn(directive, refused)
        self.assertNotEqual(self.driver.title, "run")

    def test_the_policy_names_exactly_the_script_and_the_style(self):
        self.render(weights_document(CAUSAL, CAT, CAT))
        page = self.read("page.html")
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1)
        self.assertTrue(policy.startswith("default-src 'none'; "))
        self.assertNotIn("unsafe", policy)
        digest = lambda text: "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
        scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
        styles = re.findall(r"<style>(.*?)</style>", page, re.S)
        self.assertEqual((len(scripts), len(styles)), (1, 1))
        self.assertIn(f"script-src {digest(scripts[0])};", policy)
        self.assertIn(f"style-src {digest(styles[0])};", policy)

    def test_the_file_names_no_other_place(self):
        self.render(weights_document(CAUSAL, CAT, CAT, allowed=CAUSAL_ALLOWED))
        self.assertEqual(re.findall(r"https?://|src=|href=|@import|url\(", self.read("page.html")), [])

    def test_hostile_tokens_are_text(self):
        n = len(HOSTILE)
        weights = [[(1 + (i + j) % 3) / (2 * n) for j in range(n)] for i in range(n)]
        for view in ("heatmap", "lines"):
            self.render(weights_document(weights, HOSTILE, HOSTILE), "--title", HOSTILE[0])
            self.show(view)
            self.press("\ue015" * 3)  # down
            self.click("more-keys")
            self.assertEqual(self.requests(), [])
            self.assertEqual(self.complaints(), [])
            self.assertEqual(self.driver.title, HOSTILE[0])
            self.assertEqual(self.driver.find_elements("css selector", "img, iframe, object, embed, svg[onload], a"), [])
            self.assertEqual(self.run_js("return document.scripts.length - document.querySelectorAll('script[type]').length"), 1)
            shown = self.run_js("return [...document.querySelectorAll('#panel-rows bdi')].map((e) => e.textContent)")
            for token in (HOSTILE[0], HOSTILE[1], HOSTILE[4], HOSTILE[5], "<!--", "&lt;&amp;", "{{script}}", "${alert(1)}"):
                self.assertIn(token, shown)
            for text in shown: self.assertIsNone(re.search("[\x00-\x1f\x7f\u202a-\u202e\u200b\ufeff]", text), ascii(text))
            self.assertTrue(any("202e" in text.lower() for text in shown), shown)

    def test_a_token_stays_apart_from_the_text_around_it(self):
        self.render(weights_document([[0.25, 0.75]], ["\u05d0\u05d1"], ["\u0633\u0644\u0627\u0645", "b"]))
        self.show("lines")
        self.assertEqual(self.run_js("return [...document.querySelectorAll('.token')].filter((e) => e.localName !== 'bdi' || "
                                     "getComputedStyle(e).unicodeBidi !== 'isolate').length"), 0)
        self.assertGreater(len(self.driver.find_elements("css selector", ".line-token bdi.token")), 2)

    def test_same_input_same_bytes(self):
        self.render(weights_document(CAUSAL, CAT, CAT), name="a.html")
        for threads in ("1", "2"):
            self.run_cli("render", "weights.json", "-o", "b.html", "--threads", threads)
            self.assertEqual(self.read("a.html"), self.read("b.html"))


main()
