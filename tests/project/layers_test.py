"""The layers: which part of the tree may include what. Reads every source of lib and app."""
import os, pathlib, re, unittest

SOURCE = pathlib.Path(os.environ.get("ATTN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)

# layer -> (layers it may include, third-party prefixes it may include)
TEXT = ("cairo", "pango", "fontconfig", "hb", "harfbuzz", "ft2build", "freetype", "glib")
RULES = {
    "base": ({"base"}, ()),
    "io": ({"base", "io"}, ("nlohmann", "zip.h", "zlib.h")),
    "core": ({"base", "core", "core/tile"}, ("xtensor",)),
    "core/tile": ({"core/tile"}, ("xsimd",)),
    "render": ({"base", "render"}, TEXT + ("stb_image_write.h", "zlib.h", "nlohmann")),
    "all": ({"base", "io", "core", "render"}, ()),  # attn/attn.hpp, for programs that use the library
    "app": ({"app", "base", "io", "core", "render"}, ("CLI", "nlohmann")),
}
THIRD_PARTY = re.compile(r"^(nlohmann|CLI|xtensor|xtl|xsimd|cairo|pango|fontconfig|hb|harfbuzz|ft2build|freetype|glib|stb|zip\.h|zlib\.h)")
# The standard library and the C and POSIX headers of the system have no prefix of their own.
SYSTEM = re.compile(r"^([a-z_0-9]+|[a-z_0-9]+\.h|(sys|linux|asm|netinet|arpa)/[a-z_0-9]+\.h)$")


def layer_of(path):
    """Layer of a file named as #include lines name it, or None for what is not ours."""
    parts = path.split("/")
    if parts[0] == "app": return "app"
    if path == "attn/attn.hpp": return "all"
    if path == "attn/version.hpp": return "base"
    if parts[0] == "attn" and len(parts) > 1: return parts[1]
    if path.startswith("core/tile/"): return "core/tile"
    if parts[0] in RULES: return parts[0]
    return None


def sources():
    for folder in ("lib", "app"):
        for path in sorted((SOURCE / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp", ".h", ".in"): yield path


def layer_of_file(path):
    relative = path.relative_to(SOURCE)
    if relative.parts[0] == "app": return "app"
    inside = "/".join(relative.parts[1:])
    return layer_of(inside[len("include/"):] if inside.startswith("include/") else inside)


class Layers(unittest.TestCase):
    def test_every_source_has_a_layer(self):
        files = list(sources())
        self.assertGreater(len(files), 30)
        for path in files: self.assertIn(layer_of_file(path), RULES, path)

    def test_includes_follow_the_layers(self):
        wrong = []
        for path in sources():
            layer = layer_of_file(path)
            allowed, third_party = RULES[layer]
            for bracket, name in INCLUDE.findall(path.read_text()):
                ours = layer_of(name)
                local = name == "version.hpp" or (path.parent / name).exists() and "/" not in name
                if bracket == '"' and ours:
                    if ours not in allowed: wrong.append(f"{path.relative_to(SOURCE)}: {layer} includes {name}")
                elif THIRD_PARTY.match(name):
                    if not name.startswith(tuple(third_party)): wrong.append(f"{path.relative_to(SOURCE)}: {layer} includes {name}")
                elif not SYSTEM.match(name) and not local and not name.startswith("generated/"):
                    wrong.append(f"{path.relative_to(SOURCE)}: {name} belongs to no layer")
        self.assertEqual(wrong, [])

    def test_public_headers_have_no_third_party_type(self):
        for path in sorted((SOURCE / "lib" / "include").rglob("*.hpp")):
            for bracket, name in INCLUDE.findall(path.read_text()):
                self.assertTrue(name.startswith("attn/") if bracket == '"' else SYSTEM.match(name) and not THIRD_PARTY.match(name), f"{path}: {name}")

    def test_heavy_headers_stay_out_of_headers(self):
        for path in sources():
            if path.suffix != ".hpp" or layer_of_file(path) == "core/tile": continue
            for _, name in INCLUDE.findall(path.read_text()):
                self.assertNotRegex(name, r"^(nlohmann|CLI|xtensor|xsimd)/", path)

    def test_known_traps_are_not_used(self):
        for path in sources():
            text = path.read_text()
            self.assertNotRegex(text, r"xt::load_(npy|csv|npz)|xt::from_json|stbi_write_png\(|setlocale\(|std::stod|std::stof", path)
        for path in [SOURCE / "CMakeLists.txt", *SOURCE.glob("*/**/CMakeLists.txt")]:
            self.assertNotRegex(path.read_text(), r"-ffast-math|-Ofast|FetchContent|ExternalProject|file\(DOWNLOAD", path)


unittest.main()
