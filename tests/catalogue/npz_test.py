"""NumPy archives (.npz), which are zip files."""
import io, struct, warnings, zipfile

from array_bytes import header, npy, npz, poke
from catalogue import Catalogue, case, refused, run, same

QKV = [("query.npy", npy()), ("key.npy", npy()), ("value.npy", npy())]
PLAIN = npz(QKV)


class Forward(io.BytesIO):
    """A stream that cannot go back: the sizes stand behind the data."""
    def seekable(self): return False
    def seek(self, *args): raise OSError
    def tell(self): raise OSError


def bad(code, fault, content, says, exit=3, **how): return refused(code, fault, {"x.npz": content}, says, exit=exit, **how)


def good(code, fault, content): return same(code, fault, {"x.npz": content}, {"x.npz": PLAIN}, outputs=("-w", "-o"))


def marked(data, *changes):
    """With little-endian 16-bit or 32-bit words (place in the local header, in the central one, format, value) changed."""
    raw = bytearray(data)
    central = raw.rfind(b"PK\1\2")
    for local_at, central_at, form, value in changes:
        for at in (local_at, central + central_at): struct.pack_into(form, raw, at, value)
    return bytes(raw)


def bomb():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", 8, compresslevel=1) as archive, archive.open("query.npy", "w") as entry:
        entry.write(npy(header("(8192, 8192)"), b""))
        for _ in range(256): entry.write(bytes(1 << 20))
    return out.getvalue()


ONE = npz([("query.npy", npy())])
PACKED = npz([("query.npy", npy())], 8)


def alone(code, fault, content, says, exit=3, **how):
    """The array of an archive that has no other."""
    return refused(code, fault, {"x.npz": content}, says, "compute", "-X", "x.npz", exit=exit, **how)


class Npz(Catalogue):
    CODES = "Z01 Z02 Z03 Z05 Z06 Z07 Z09 Z10 Z11 Z13 Z14 Z15 Z17 Z18 Z19"
    CASES = [
        good("Z01", "zip64 sizes in every local header", npz(QKV, 0, True)),
        good("Z02", "deflated, zip64", npz(QKV, 8, True)),
        good("Z03", "a stream with sizes behind the data", npz(QKV, 8, into=Forward())),
        good("Z03", "the same, stored", npz(QKV, 0, into=Forward())),
        good("Z03", "names without .npy", npz([(name[:-4], data) for name, data in QKV])),
        bad("Z05", "the end cut off", ONE[:-30], "damaged archive"),
        bad("Z05", "bytes after the archive", ONE + b"junk", "end of central directory not found"),
        bad("Z06", "a changed byte of stored data", poke(PLAIN, 170, b"XX"), r"x\.npz:query: .*checksum"),
        alone("Z06", "another checksum in the directory", marked(PACKED, (14, 16, "<I", 7)), r"x\.npz:query: .*checksum"),
        alone("Z07", "256 MiB in a quarter of a MB", bomb, "memory", exit=6, options=("--max-memory", "128M")),
        bad("Z09", "one name twice", npz([QKV[0], QKV[0]]), r"query\.npy: appears twice"),
        bad("Z09", "one name with and without .npy", npz([QKV[0], ("query", npy())]), "appears twice"),
        bad("Z10", "names that are paths", npz([("../../etc/query.npy", npy()), ("/query.npy", npy()), ("a\x1b[31m.npy", npy())]), r"x\.npz"),
        refused("Z10", "names that are paths, in a list of names", {"x.npz": npz([("../../etc/query.npy", npy()), ("/query.npy", npy()), (
            "a\x1b[31m.npy", npy())])}, r"no array 'query'; it has: \.\./\.\./etc/query, /query.*a\\x1b\[31m", "compute", "-X", "x.npz:query"),
        alone("Z11", "more data than is claimed", marked(PACKED, (22, 24, "<I", 10)), r"x\.npz:query: .*"),
        alone("Z11", "less data than is claimed", marked(PACKED, (22, 24, "<I", 1000)), r"x\.npz:query: .*"),
        bad("Z11", "two sizes of stored data", marked(ONE, (22, 24, "<I", 10)), r"query\.npy: is stored with two different sizes"),
        bad("Z13", "encrypted", marked(ONE, (6, 8, "<H", 1)), "encrypted"),
        bad("Z14", "LZMA", npz([("query.npy", npy())], 14), "compression method 14"),
        bad("Z14", "bzip2", npz([("query.npy", npy())], 12), "compression method 12"),
        bad("Z15", "70000 entries", lambda: npz([("a%d.npy" % i, b"") for i in range(70000)]), r"x\.npz:a0: "),
        bad("Z17", "a broken stream", poke(npz(QKV, 8), 45, bytes(20)), r"x\.npz:query: (?!.*(invalid|zlib|inflate))"),
        alone("Z17", "a stream cut short", marked(PACKED, (18, 20, "<I", 20)), r"x\.npz"),
        refused("Z18", "an array that is not there", {"x.npz": npz([("k.npy", npy())])}, r"x\.npz: has no array 'query'; it has: k$", "compute", "-X",
                "x.npz:query"),
        refused("Z18", "one of many", {"x.npz": npz([("array%d.npy" % i, npy()) for i in range(50)])}, r"no array 'query'; it has: array0, .*\.\.\.$",
                "compute", "-X", "x.npz:query"),
        bad("Z18", "a document without a key", npz([("query.npy", npy())]), r"x\.npz: no key"),
        bad("Z19", "a member that is none", npz([("query.npy", b"not npy")]), r"x\.npz:query: "),
        bad("Z19", "a member that is empty", npz([("query.npy", b"")]), r"x\.npz:query: .*0 bytes"),
    ]

    @case("Z05", "every cut of a good archive")
    def cuts(self):
        for length in range(0, len(ONE), 3):
            self.write("x.npz", ONE[:length])
            done = self.run_tool("compute", "x.npz", "-w", "new.csv")
            self.assertEqual(done.code, 3, f"{length} bytes: {done.err}")
            self.assertRefusal(done, r"x\.npz")
            self.assertFalse((self.folder / "new.csv").exists())


warnings.simplefilter("ignore")  # zipfile warns of the name that is there twice
if __name__ == "__main__": run()
