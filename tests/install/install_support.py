"""What the tests of installing share: programs built against an installed library, with CMake and with pkg-config."""
import math, os, pathlib, subprocess

SOURCE = pathlib.Path(os.environ["ATTN_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["ATTN_BUILD_DIR"])
TEN_LINES = SOURCE / "tests" / "install" / "ten_lines.cpp"

# tests/install/ten_lines.cpp: two rows whose scores are 5/2 with themselves and 0 with each other.
TEN_LINES_SUM = f"{2 * math.log(math.exp(2.5) + 1):.6g}"
# One-hot embeddings of four tokens: a score is 1/2 with itself, 0 with another.
CAT = [[1 / (i + math.exp(.5)) if j < i else math.exp(.5) / (i + math.exp(.5)) if j == i else 0 for j in range(4)] for i in range(4)]


def run(*command, **options):
    """The finished process; an AssertionError with all its output when it fails."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=900, **options)
    if done.returncode != 0: raise AssertionError(f"{command}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def clean_environment(**more):
    """Without what would lead to another installation or change how the program behaves."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("ATTN_CLI") and k not in ("PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH", "DESTDIR")}
    return {**kept, **more}


def version_in_cmake():
    """What project() says: the one place where the version stands."""
    import re
    return re.search(r"project\(attn-cli VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]


def printed_weights(text):
    """Rows of numbers at the start of what the sample prints."""
    return [[float(x) for x in line.split()] for line in text.splitlines() if not line.startswith("mask:")]
