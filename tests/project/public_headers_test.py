"""The public headers: every declaration says what it is, and nothing but public headers and the standard library is included."""
import os, pathlib, re, unittest

SOURCE = pathlib.Path(os.environ.get("ATTN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
INCLUDE = SOURCE / "lib" / "include"
# The language defines what these do; what they do here besides is said at the class.
PLAIN = re.compile(r"\w_;$|= (default|delete);|^~|^virtual ~|^(using|friend class|friend bool operator==)|operator=\(const")


def declarations(text):
    """(line number, text, whether a comment stands before it or beside it, depth) of what begins at namespace or public class level."""
    opened, hidden, documented = [], False, False  # opened: kind of each open brace
    parentheses = 0
    for number, line in enumerate(text.splitlines(), 1):
        code = re.sub(r'//.*', "", line).strip()
        level = [kind for kind in opened if kind != "namespace"]
        beside = "///<" in line
        if code in ("public:", "protected:"): hidden = False
        elif code == "private:": hidden = True
        elif "detail" in opened or hidden and level or parentheses: pass
        elif code and not code.startswith(("#", "}")) and not re.match(r"(inline )?namespace\b", code):
            if all(kind in ("struct", "class") for kind in level) and not code.startswith(("template", ":", "requires")) and not PLAIN.search(code):
                yield number, code, documented or beside, level[-1] if level else "namespace"
            if not code.startswith("template"): documented = False
        parentheses += code.count("(") - code.count(")")
        for brace in re.findall(r"[{}]", re.sub(r'"[^"]*"', "", code)):
            if brace == "}":
                if opened.pop() in ("class", "struct"): hidden = False
            else:
                kind = re.match(r"(?:inline )?(namespace detail|namespace|struct|class|enum)", code)
                opened.append("detail" if kind and kind[1] == "namespace detail" else kind[1] if kind and brace == "{" else "body")
        if line.strip().startswith("///") and not beside: documented = True
        elif not code: documented = documented and line.strip().startswith("//")
    assert not opened, opened


class PublicHeaders(unittest.TestCase):
    def headers(self):
        found = sorted(INCLUDE.rglob("*.hpp"))
        self.assertGreater(len(found), 14)
        return found

    def test_every_declaration_says_what_it_is(self):
        bare, seen = [], 0
        for path in self.headers():
            for line, code, documented, place in declarations(path.read_text()):
                seen += 1
                # The fields of a struct may leave it to the sentence over the struct.
                field = place == "struct" and "(" not in code.split("=")[0]
                if not documented and not field and re.match(r"[\w:<>&*~\[\] ]+", code): bare.append(f"{path.relative_to(INCLUDE)}:{line}: {code}")
        self.assertGreater(seen, 150)
        self.assertEqual(bare, [])

    def test_everything_is_in_the_versioned_namespace(self):
        for path in self.headers():
            text = path.read_text()
            if path.name == "attn.hpp": continue
            self.assertIn("namespace attn {\ninline namespace v1 {\n", text, path)
            self.assertTrue(text.endswith("}  // namespace v1\n}  // namespace attn\n"), path)

    def test_only_public_headers_and_the_standard_library(self):
        for path in self.headers():
            for bracket, name in re.findall(r'#include ([<"])([^>"]+)', path.read_text()):
                if bracket == '"': self.assertTrue((INCLUDE / name).is_file(), f"{path}: {name}")
                else: self.assertRegex(name, r"^[a-z_]+$", path)

    def test_the_whole_library_is_one_include(self):
        listed = set(re.findall(r'#include "([^"]+)"', (INCLUDE / "attn" / "attn.hpp").read_text()))
        self.assertEqual(listed, {p.relative_to(INCLUDE).as_posix() for p in self.headers()} - {"attn/attn.hpp"})


unittest.main()
