"""A real browser (Debian's chromium, headless) for pages that attn-cli wrote. Every request it could make is refused, and
all it tries to make are counted."""
import base64, json, pathlib, shutil, struct, tempfile, time, zipfile, zlib

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from attn_test import CliTest, main

NOWHERE = "127.0.0.1:9"  # a proxy that does not exist
ID = By.ID


def start_browser(width=1280, height=900, downloads=None):
    options = Options()
    for switch in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-color-profile=srgb",
                   "--force-device-scale-factor=1", "--disable-background-networking", "--disable-component-update", "--no-first-run",
                   f"--proxy-server={NOWHERE}", "--host-resolver-rules=MAP * ~NOTFOUND", f"--window-size={width},{height}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    driver.set_script_timeout(120)
    driver.set_page_load_timeout(120)
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["http://*", "https://*", "ws://*", "wss://*", "ftp://*"]})
    if downloads:
        driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
    return driver


class BrowserTest(CliTest):
    """One browser for a class, one page for a test."""

    @classmethod
    def setUpClass(cls):
        cls.downloads = pathlib.Path(tempfile.mkdtemp(prefix="attn-downloads-"))
        cls.addClassCleanup(shutil.rmtree, cls.downloads, ignore_errors=True)
        cls.driver = start_browser(downloads=cls.downloads)
        cls.addClassCleanup(cls.driver.quit)

    def setUp(self):
        super().setUp()
        self.size(1280, 900)
        self.media("light")

    # --- pages ---

    def render(self, document, *options, name="page.html"):
        """The page that `render` makes of a document (a dict) or of a file, opened."""
        source = document if isinstance(document, str) else self.write("weights.json", document).name
        self.run_cli("render", source, "-o", name, *options, timeout=300)
        return self.open(name)

    def open(self, name):
        self.driver.get_log("performance")
        self.driver.get_log("browser")
        self.driver.get((self.folder / name).as_uri())
        self.settle()
        return self.driver

    def size(self, width, height, scale=1):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False})

    def media(self, theme):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]})

    def settle(self):
        """Two frames later everything that was asked for is drawn."""
        self.driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));")

    # --- what a reader does ---

    def element(self, name): return self.driver.find_element(ID, name)
    def text(self, name): return self.element(name).text

    def click(self, name):
        self.element(name).click()
        self.settle()

    def choose(self, name, value):
        self.driver.execute_script("const e = document.getElementById(arguments[0]); e.value = arguments[1];"
                                   "e.dispatchEvent(new Event('change', {bubbles: true}));", name, str(value))
        self.settle()

    def show(self, view):
        self.driver.execute_script("document.querySelector(`input[name=view][value=${arguments[0]}]`).click();", view)
        self.settle()

    def press(self, *keys):
        self.element("view").send_keys(*keys)
        self.settle()

    def type_into(self, name, text):
        field = self.element(name)
        field.clear()
        field.send_keys(text)
        self.settle()

    # --- what the reader sees ---

    def run_js(self, script, *arguments): return self.driver.execute_script(script, *arguments)

    def cell_centre(self, query, key):
        """Of a cell of the heatmap, in CSS pixels of the window."""
        return self.run_js("""
            const map = document.getElementById('map'), box = map.getBoundingClientRect(), at = (name) => Number(map.dataset[name]);
            const cell = (index, pool, size) => (Math.floor(index / at(pool)) + 0.5) * at(size);
            return [box.left + at('left') + cell(arguments[1], 'poolColumns', 'cellWidth') - at('offsetX'),
                    box.top + at('top') + cell(arguments[0], 'poolRows', 'cellHeight') - at('offsetY')];""", query, key)

    def pixels(self, x, y, width, height):
        """A part of what is on the screen: rows of (red, green, blue)."""
        clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "clip": clip})
        return read_png(base64.b64decode(shot["data"]))

    def cell_pixels(self, query, key, reach=3):
        """Around the centre of a cell."""
        x, y = self.cell_centre(query, key)
        return self.pixels(int(x) - reach, int(y) - reach, 2 * reach, 2 * reach)

    def requests(self):
        """Addresses of everything the page has asked for since it was opened, but itself."""
        own = self.driver.current_url
        urls = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] != "Network.requestWillBeSent": continue
            url = message["params"]["request"]["url"]
            if url != own: urls.append(url)
        return urls

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def downloaded(self, action):
        """The bytes of the file that `action` offers, and its name."""
        for old in self.downloads.iterdir(): old.unlink()
        action()
        for _ in range(300):
            fresh = [p for p in self.downloads.iterdir() if not p.name.endswith(".crdownload") and not p.name.startswith(".")]
            if fresh and fresh[0].stat().st_size > 0:
                time.sleep(0.05)
                return fresh[0].read_bytes(), fresh[0].name
            time.sleep(0.05)
        self.fail("no file was offered")


def read_png(data):
    """8-bit RGB or RGBA, not interlaced -> rows of (red, green, blue)."""
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR": width, height, depth, color = struct.unpack(">IIBB", body[:10])
        if kind == b"IDAT": packed += body
        at += size + 12
    channels = {2: 3, 6: 4}[color]
    raw, stride, previous, rows = zlib.decompress(packed), width * channels, bytes(width * channels), []
    for y in range(height):
        line = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        unfilter(raw[y * (stride + 1)], line, previous, channels)
        rows.append([tuple(line[x:x + 3]) for x in range(0, stride, channels)])
        previous = line
    return rows


def unfilter(kind, line, above, step):
    for x in range(len(line)):
        a = line[x - step] if x >= step else 0
        b = above[x]
        c = above[x - step] if x >= step else 0
        if kind == 1: line[x] = line[x] + a & 255
        elif kind == 2: line[x] = line[x] + b & 255
        elif kind == 3: line[x] = line[x] + (a + b) // 2 & 255
        elif kind == 4:
            p = a + b - c
            near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[x] = line[x] + near & 255


def weights_document(weights, queries=None, keys=None, **more):
    """What compute writes, of nested lists [n,m] or [H,n,m]."""
    shape, level = [], weights
    while isinstance(level, list):
        shape.append(len(level))
        level = level[0] if level else None
    document = {"schema": "attn-cli/1", "shape": shape, "weights": weights, **more}
    if queries is not None: document["query_tokens"] = queries
    if keys is not None: document["key_tokens"] = keys
    return document


def write_npz(path, arrays):
    """{name: (shape, bytes of float32)}"""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, (shape, data) in arrays.items():
            head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }" % ", ".join(map(str, shape))
            head += " " * (-(len(head) + 11) % 64) + "\n"
            archive.writestr(name + ".npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)


CAT = ["The", "cat", "is", "cute"]
CAUSAL = [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25, 0.25, 0.5, 0], [0.125, 0.25, 0.25, 0.375]]
CAUSAL_ALLOWED = [[[0, 1]], [[0, 2]], [[0, 3]], [[0, 4]]]
