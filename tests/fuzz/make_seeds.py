"""Writes the first inputs of the fuzzers: good files of every format and element type, and the hostile ones that readers
are known to fall for. usage: make_seeds.py FOLDER [TARGET...]   (FOLDER/<target>/<name>; only the standard library)

scripts/fuzz.sh starts from the committed corpora, which were grown from these; run this again for a new format or case.
"""
import io, json, pathlib, random, struct, sys, zipfile

DTYPES = {"<f2": "e", "<f4": "f", "<f8": "d", "|i1": "b", "<i2": "h", "<i4": "i", "<i8": "q",
          "|u1": "B", "<u2": "H", "<u4": "I", "<u8": "Q", "|b1": "?"}
TENSORS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1,
           "U64": 8, "U32": 4, "U16": 2, "U8": 1, "BOOL": 1, "F8_E4M3": 1, "C64": 8}


def floats(*numbers): return struct.pack(f"<{len(numbers)}f", *numbers)


def dict_text(descr="'<f4'", order="False", shape="(2, 3)"):
    return "{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)


def npy(header=None, data=None, version=(1, 0), total=128, length=None):
    header = dict_text() if header is None else header
    start = 10 if version[0] == 1 else 12
    raw = header.encode("utf-8")
    raw += b" " * max(0, total - start - len(raw) - 1) + b"\n"
    size = len(raw) if length is None else length
    packed = struct.pack("<H" if version[0] == 1 else "<I", size & (0xffff if version[0] == 1 else 0xffffffff))
    return b"\x93NUMPY" + bytes(version) + packed + raw + (floats(*range(6)) if data is None else data)


def npy_seeds():
    yield "good", npy()
    for descr, code in DTYPES.items():
        body = [1, 0, 1, 1, 0, 1]
        yield "type-" + descr[1:], npy(dict_text(repr(descr)), struct.pack("<6" + code, *body))
        if descr[0] == "<":
            swapped = ">" + descr[1:]
            yield "big-" + descr[1:], npy(dict_text(repr(swapped), "True"), struct.pack(">6" + code, *body))
    for name, shape, count in [("scalar", "()", 1), ("list", "(3,)", 3), ("four", "(1, 2, 1, 3)", 6), ("eight", "(1, 1, 1, 1, 1, 1, 2, 3)", 6),
                               ("nine", "(1, 1, 1, 1, 1, 1, 1, 2, 3)", 6), ("no-rows", "(0, 3)", 0), ("no-columns", "(3, 0)", 0),
                               ("python2", "(2L, 3L)", 6), ("wraps", "(4294967296, 4294967296)", 0), ("negative", "(-1,)", 0),
                               ("blank", "(2 3,)", 6), ("too-many", "(100, 3)", 6), ("huge", "(0, 18446744073709551615)", 0), ("long", "(" + "1, " * 60 + ")", 1)]:
        yield "shape-" + name, npy(dict_text(shape=shape), floats(*range(count)))
    for descr in ["'|O'", "[('a', '<f4')]", "'<f99999999999'", "'<c8'", "'|V2'", "'<U3'", "'|S4'", "'=f4'", "'<f16'", "'<M8[ns]'", "''"]:
        yield "descr-" + "".join(c for c in descr if c.isalnum()), npy(dict_text(descr))
    text = "".join(word.ljust(3, "\0") for word in ("The", "cat", "\u732b"))
    yield "words", npy(dict_text("'<U3'", shape="(3,)"), text.encode("utf-32-le"))
    yield "word", npy(dict_text("'<U3'", shape="()"), "abc".encode("utf-32-le"))
    yield "bytes", npy(dict_text("'|S4'", shape="(2,)"), b"ab\0\0\xff\xfe\0\0")
    yield "empty", b""
    yield "cut", npy()[:40]
    yield "trailing", npy() + b"PK-junk"
    yield "version2", npy(version=(2, 0))
    yield "version3", npy(dict_text().replace("2", "2"), version=(3, 0))
    yield "version9", npy(version=(9, 0))
    yield "long-header", npy(total=192)
    yield "header-past-end", npy(length=60000)
    yield "header-4gib", b"\x93NUMPY\x02\x00\xf0\xff\xff\xff"
    yield "other-order", npy("{'shape': (2, 3), \"descr\": \"<f4\", 'fortran_order': False}")
    yield "key-twice", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'shape': (2, 3), }")
    yield "key-missing", npy("{'descr': '<f4', 'shape': (2, 3), }")
    yield "key-other", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'x': 1}")
    yield "control", npy(dict_text(shape="(2, 3)\0"))
    yield "boolean", npy(dict_text("'|b1'"), b"\0\1\2\0\1\0")
    yield "nan", npy(data=struct.pack("<6I", 0x7fc00001, 0x7f800001, 0xffc12345, 0x80000000, 1, 0x7f800000))


def zip_of(items, method=0, zip64=False, streamed=False):
    """A streamed archive has its sizes behind the data, as one written to a pipe."""
    class Pipe(io.RawIOBase):
        def __init__(self): self.bytes = b""
        def writable(self): return True
        def write(self, piece): self.bytes += bytes(piece); return len(piece)
    target = Pipe() if streamed else io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, data in items:
            entry = zipfile.ZipInfo(name)
            entry.compress_type = method
            with archive.open(entry, "w", force_zip64=zip64) as stream: stream.write(data)
    return target.bytes if streamed else target.getvalue()


def put(content, at, new): return content[:at] + new + content[at + len(new):]


def zip_seeds():
    small = npy(dict_text("'<i2'", shape="(2,)"), b"\1\0\2\0", total=80)
    three = [("query.npy", small), ("key.npy", small), ("value", small)]
    yield "stored", zip_of(three)
    yield "as-numpy", zip_of(three, zip64=True)
    yield "deflated", zip_of(three, 8)
    yield "deflated-as-numpy", zip_of([("q.npy", npy())], 8, True)
    yield "streamed", zip_of(three, 8, streamed=True)
    yield "columns-first", zip_of([("q.npy", npy(dict_text(order="True")))], 8)
    yield "empty", zip_of([])
    yield "folder", zip_of([("a/", b""), ("a/q.npy", small)])
    yield "no-end", zip_of(three)[:-30]
    yield "wrong-checksum", put(zip_of([("q.npy", npy())]), 60, b"XX")
    yield "bomb", zip_of([("q.npy", npy(dict_text(shape="(128, 128)"), bytes(4 * 128 * 128)))], 8)
    yield "twice", zip_of([("q.npy", small), ("r.npy", small)]).replace(b"r.npy", b"q.npy")
    yield "two-endings", zip_of([("q.npy", small), ("q", small)])
    yield "odd-names", zip_of([("../../etc/q.npy", small), ("/q.npy", small), ("a\x1b[31m.npy", small)])
    for name, method in [("bzip2", 12), ("lzma", 14)]: yield name, zip_of([("q.npy", small)], method)
    good = bytearray(zip_of([("q.npy", npy())], 8))
    directory = good.rfind(b"PK\1\2")
    lying = good[:]
    lying[directory + 24:directory + 28] = lying[22:26] = struct.pack("<I", 10)
    yield "declares-less", bytes(lying)
    locked = good[:]
    locked[6] |= 1
    locked[directory + 8] |= 1
    yield "encrypted", bytes(locked)
    yield "broken-stream", put(bytes(good), 45, bytes(15))
    yield "not-npy", zip_of([("q.npy", b"not npy")])
    yield "torch", zip_of([("archive/data.pkl", b"x")])
    words = npy(dict_text("'<U1'", shape="(2,)"), "ab".encode("utf-32-le"), total=80)
    yield "tokens", zip_of([("query.npy", small), ("query_tokens.npy", words), ("meta.npy", npy(dict_text("'<U9'", shape="()"), '{"a": "b"}'[:9].encode("utf-32-le"), total=80))])
    whole = zip_of([("q.npy", small)])
    end = whole.rfind(b"PK\5\6")
    place = struct.unpack("<I", whole[end + 16:end + 20])[0]
    record = struct.pack("<IQHHIIQQQQ", 0x06064b50, 44, 45, 45, 0, 0, 1, 1, end - place, place) + struct.pack("<IIQI", 0x07064b50, 0, end, 1)
    yield "zip64-end", whole[:end] + record + put(whole[end:], 8, b"\xff" * 12)
    yield "in-front", b"x" + whole
    yield "comment", put(whole, len(whole) - 2, b"\5\0") + b"hello"


def st(head, data=b"", length=None):
    head = head if isinstance(head, bytes) else (head if isinstance(head, str) else json.dumps(head, separators=(",", ":"))).encode()
    return struct.pack("<Q", len(head) if length is None else length) + head + data


def tensor(shape=(2, 3), offsets=None, dtype="F32"):
    size = TENSORS.get(dtype, 4)
    for axis in shape: size *= axis
    return {"dtype": dtype, "shape": list(shape), "data_offsets": offsets or [0, size]}


def safetensors_seeds():
    six = floats(*range(6))
    yield "good", st({"q": tensor()}, six)
    for dtype, size in TENSORS.items(): yield "type-" + dtype, st({"q": tensor((2, 1), dtype=dtype)}, bytes([1, 0] * size))
    yield "half-bytes", st({"q": {"dtype": "F4", "shape": [2, 2], "data_offsets": [0, 2]}}, b"\1\2")
    yield "three", st({"q": tensor((1, 2)), "k": tensor((2,), [8, 16]), "s": tensor((), [16, 20])}, floats(1, 2, 3, 4, 5))
    yield "metadata", st({"__metadata__": {"tokens": '["a","b"]', "options": '{"heads":2}', "format": "pt"}, "q": tensor()}, six)
    yield "metadata-broken", st({"__metadata__": {"tokens": "[1,"}, "q": tensor()}, six)
    yield "metadata-number", st({"__metadata__": {"a": 1}, "q": tensor()}, six)
    yield "short", b"\1\0\0"
    yield "header-past-end", st({"q": tensor()}, six, 10**6)
    yield "header-wraps", st(b"{}", length=2**64 - 1)
    for name, head in [("not-utf8", b"\xff"), ("open", b"{"), ("blanks-first", b"  {}"), ("blanks-last", b"{}\r \t\n"), ("nothing", b"{}"), ("zero", b"{}\0x"), ("list", b"[]")]:
        yield name, st(head)
    yield "overlap", st({"q": tensor(), "k": tensor()}, six)
    yield "hole", st({"q": tensor(), "k": tensor(offsets=[32, 56])}, bytes(56))
    yield "starts-late", st({"q": tensor(offsets=[8, 32])}, bytes(32))
    yield "trailing", st({"q": tensor()}, six + b"%PDF-1.4")
    yield "reversed", st({"q": tensor(offsets=[24, 0])}, six)
    for name, offsets in [("negative", "[-8,16]"), ("decimal", "[0,24.0]"), ("text", '[0,"24"]'), ("one", "[0]"), ("many", "[0,24,48]"), ("huge", "[0,18446744073709551616]")]:
        yield "offsets-" + name, st('{"q":{"dtype":"F32","shape":[2,3],"data_offsets":%s}}' % offsets, six)
    for name, shape in [("overflow", "[2,9223372036854775807]"), ("wraps", "[2,18446744073709551614]"), ("zero-hides", "[0,9223372036854775807,2]")]:
        yield "shape-" + name, st('{"q":{"dtype":"F32","shape":%s,"data_offsets":[0,16]}}' % shape, bytes(16))
    yield "unknown-type", st({"q": tensor(), "x": {"dtype": "NOPE", "shape": [1], "data_offsets": [24, 2**63]}}, six)
    yield "no-columns", st({"q": tensor((2, 0), [0, 0])})
    yield "size-differs", st({"q": tensor(dtype="F64", offsets=[0, 24])}, six)
    yield "odd-address", st(json.dumps({"q": tensor()}) + " ", six)
    yield "deep", st('{"q":' + "[" * 70 + "]" * 70 + "}")
    yield "field-unknown", st('{"q":{"x":[{"y":1}],"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}', six)
    yield "name-twice", st('{"q":%s,"q":%s}' % (json.dumps(tensor((2, 3))), json.dumps(tensor((0,), [24, 24]))), six)
    yield "odd-name", st({"k\x1b]0;x\x07": tensor()}, six)
    yield "lfs", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    yield "boolean", st({"q": tensor((2, 2), dtype="BOOL")}, b"\0\1\2\1")


def json_seeds():
    for name, text in {
        "good": '{"query":[[1,-2.5e-3,0],[3,4,1E5]],"tokens":["a","b"]}', "list": "[[1,2],[3,4]]", "row": "[1,2,3]", "scalar": "3.5", "rank4": "[[[[1],[2]]]]",
        "non-finite": '[NaN,"Infinity",-Infinity,"nan",Infinity]', "booleans": '{"mask":[[true,false],[false,true]]}', "options": '{"options":{"heads":2,"window":[-1,0],"causal":true}}',
        "meta": '{"meta":{"x":[null,{"y":[]}]},"query":[[1]]}', "by-token": '{"embeddings":{"The":[1,2],"caf\\u00e9":[3,4],"\\ud83d\\ude00":[5,6]}}',
        "records": '[{"token":"a","embedding":[1,2]},{"embedding":[3,4],"token":"b"}]', "token-lists": '[["a",[1,2]],["b",[3,4]]]',
        "ours": '{"schema":"attn-cli/1","shape":[1,2,2],"query_tokens":["a","b"],"key_tokens":["a","b"],"scale":0.5,"mask_text":"causal","allowed":[[[[0,1]],[[0,2]]]],"weights":[[[1,0],[0.5,0.5]]]}',
        "ours-empty": '{"schema":"attn-cli/1","shape":[2,0,3],"weights":[[],[]]}', "bundle": '{"schema":"attn-cli/1","shapes":{"a":[0,2],"b":[1,1]},"a":[],"b":[[1]]}',
        "mark": '\ufeff{"q":[[1]]}', "deep": "[" * 70 + "]" * 70, "deep-unused": '{"note":' + "[" * 63 + "]" * 63 + ',"q":[[1]]}', "cut": '{"q":[[1,2],[3,', "behind": '{"q":[[1]]} x', "two": '[1] [2]',
        "ragged": '{"q":[[1,2],[3]]}', "mixed": '{"q":[[1],2]}', "text": '{"q":[["1"]]}', "null": '{"q":[null]}', "too-large": '{"q":[[1e400]]}', "small": '{"q":[[1e-46,-0.0,1e-400,5e-324]]}',
        "surrogate": '{"labels":["\\ud800"]}', "zero": '{"labels":["a\\u0000b"]}', "digits": '{"q":[[' + "1" * 400 + "]]}", "nothing": '{"q":[]}', "no-columns": '{"q":[[]]}',
        "commas": '{"q":[[1,],],}//c', "twice": '{"q":[1],"q":[2]}', "escapes": '["\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9"]', "bad-escape": '["\\x"]', "leading-zero": "[01]", "point": "[1.]", "plus": "[+1]", "words": "[nan,True]",
        "empty-object": "{}", "empty-list": "[]", "blanks": " \t\r\n[ 1 , 2 ]\n ", "scalars": '{"scale":0.5,"causal":true,"x":null,"kind":"keep"}'}.items():
        yield name, text.encode("utf-8")
    yield "empty", b""
    yield "utf16", b"\xff\xfe{\0}\0"
    yield "not-utf8", b'{"labels":["\xff"]}'
    yield "control", b'["a\x01b"]'


def csv_seeds():
    cases = {"good": "1,2\n3,4\n", "heading": "a,b\n1,2\n3,4\n", "labels": "x,a,b\ny,1,2\nz,3,4\n", "ours": 'query,"a ""b""",c\n0,1,2\n1,3,4\n', "heads": "head,query,a,b\n0,x,1,2\n0,y,3,4\n1,x,5,6\n1,y,7,8\n",
             "batches": "batch,head,key,a\n0,0,x,1\n0,1,x,2\n1,0,x,3\n1,1,x,4\n", "column": "query,lse\nThe,1.5\ncat,2\n", "names-only": "query,a,b\n", "one": "3.14", "row": "1,2,3", "down": "1\n2\n3", "semicolons": "1;2\n3;4\n",
             "tabs": "The\t1\t2\ncat\t3\t4\n", "blanks": "1.25  2\n3 4e5\n", "flags": "true,false\n0,1\n", "quoted": '"1.5","2"\n" 3 ",4\n', "newline": '"a\nb",c\n1,2\n', "crlf": "1,2\r\n3,4\r\n", "cr": "1,2\r3,4\r", "mark": "\ufeff1,2\n",
             "ragged": "1,2\n3\n", "hole": "1,,2\n", "trailing": "1,2,\n", "non-finite": "1,nan\ninf,-Infinity\n", "payload": "NaN(7),1\n", "hex": "0x1p3,1_0,1e\n", "small": "7,1e-46,5e-324,1e-400\n", "large": "1,1e39,1e400\n", "spaces": " 1 ,\t2\n",
             "groups": "1 000,2\n", "blank-line": "1,2\n\n3,4\n", "open-quote": '1,"2\n', "behind-quote": '"1"x,2\n', "text": "a,b,c\n", "only-blank": "\n \n", "cr-space": "a\r b\r c\n", "plus": "+1,-.5\n", "formula": "query,=1+1,@x\n-a,1,2\n",
             "indices": "query,0,1\n0,1,2\n1,3,4\n", "digits": "1" * 400 + ",2\n"}
    for name, text in cases.items():
        for option in (0x0e, 0x0f): yield f"{name}-{option & 1}", bytes([option]) + text.encode("utf-8")
        for option in (0x00, 0x1e, 0x2e, 0x4e, 0x9e, 0x04): yield f"{name}-{option:02x}", bytes([option]) + text.encode("utf-8")
    yield "zero", b"\x0e1,2\0,3\n"
    yield "utf16", b"\x0e\xff\xfe1\0"
    yield "not-utf8", b"\x0equery,\xff\xfe\n\x80,1\n"


def float_text_seeds():
    """Numbers at the ends of what floats and doubles can be, then a number as text."""
    for name, pattern in {"zero": 0, "minus-zero": 0x80000000, "least": 1, "least-normal": 0x00800000, "one": 0x3f800000, "tenth": 0x3dcccccd,
                          "most": 0x7f7fffff, "infinity": 0x7f800000, "nan": 0x7fc00001, "minus-nan": 0xffc12345}.items():
        yield "float-" + name, struct.pack("<I", pattern)
    for name, pattern in {"least": 1, "least-normal": 1 << 52, "tenth": 0x3fb999999999999a, "most": 0x7fefffffffffffff, "infinity": 0x7ff << 52,
                          "minus-infinity": 0xfff << 52, "nan": 0x7ff8000000000001, "even": 0x4340000000000001, "five-ulp": 0x44b52d02c7e14af6}.items():
        yield "double-" + name, struct.pack("<Q", pattern)
    for name, text in {"plain": "-12.5e-3", "point": ".5", "long": "0." + "1" * 40, "underflow": "1e-400", "overflow": "1e400", "words": "-Infinity", "halfway": "9007199254740993"}.items():
        yield "text-" + name, struct.pack("<Q", 0x3ff0000000000000) + text.encode()


def safetensors_struct_seeds():
    source = random.Random(5)
    for number in range(24): yield f"random-{number}", bytes(source.randrange(256) for _ in range(source.choice((0, 3, 40, 120, 300))))
    # Three tensors of types 1, 0 and 12 with two letters in their names, and no byte changed.
    yield "plain", bytes([3, 1, 2, 97, 98, 2, 2, 3]) + bytes(24) + bytes([0, 0, 1, 1]) + bytes(8) + bytes([12, 0, 1, 4, 1, 0, 1, 0]) + bytes(8)


TOKENS = ["The", " cat", "", "\u732b", "\U0001f600", "a\nb", "\x1b[2J\x1b]0;x\x07", "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "&lt;&amp;",
          "\u202eabc\u200b\ufeff", 'a,"b"', "\x08\ufffe\0", "%s%n{}", "\u0120cat", "\u2581cat", "##ing", "\u010a", "=1+1", "</script><!--", "x" * 90, "e\u0301\u0301",
          "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "  ", "0", "1", "\u2028", "query", "lse", "NaN", "]]>", "{{data}}", "{{title}}"]


def token_bytes(source, count):
    return b"\xfe".join(source.choice(TOKENS).encode("utf-8", "surrogatepass") for _ in range(count))


def labels_seeds():
    for number, token in enumerate(TOKENS): yield f"token-{number}", bytes([number % 40, 40]) + token.encode("utf-8")
    yield "not-utf8", b"\x05\x20\xff\xc0\x80\xed\xa0\x80\xfea\x80"
    yield "indices", b"\x05\x200\xfe1\xfe2"
    source = random.Random(7)
    for number in range(8): yield f"several-{number}", bytes([source.randrange(40), source.randrange(110)]) + token_bytes(source, 6)


def png_seeds():
    source = random.Random(8)
    for width, height in [(1, 1), (64, 64), (3, 7), (64, 1), (1, 64), (17, 5)]:
        for name, pixels in [("flat", b"\x80"), ("steps", bytes(range(256))), ("noise", bytes(source.randrange(256) for _ in range(997))), ("none", b"")]:
            yield f"{name}-{width}x{height}", bytes([0, width - 1, height - 1]) + pixels


def picture_bytes(source, most):
    """Rows, columns, options, kind of numbers; then the numbers and the title and the tokens of the axes."""
    rows, columns, kind = source.randrange(most), source.randrange(most), source.randrange(4)
    head = bytes([rows, columns, source.randrange(256), source.randrange(256), source.randrange(101), kind])
    size = {0: 1, 1: 4, 2: 1, 3: 1}[kind] if kind != 3 else 1
    numbers = bytes(source.randrange(256) for _ in range(size * (rows + 1) * (columns + 1)))
    return head + numbers + token_bytes(source, rows + 2) + b"\xfe\1" + token_bytes(source, columns + 1)


def terminal_seeds():
    source = random.Random(9)
    for number in range(40): yield f"picture-{number}", picture_bytes(source, 12)


def html_seeds():
    source = random.Random(10)
    for number in range(40): yield f"picture-{number}", picture_bytes(source, 6)


def svg_seeds():
    source = random.Random(11)
    for number in range(30): yield f"picture-{number}", picture_bytes(source, 5)


def attention_seeds():
    source = random.Random(12)
    for number in range(60): yield f"problem-{number}", bytes(source.randrange(256) for _ in range(source.choice((4, 12, 60, 200, 500, 900))))


def arguments_seeds():
    """The first byte is the subcommand: compute is 0."""
    lines = ["-Q q.npy -K k.npy -V v.npy -o out.json", "doc.json -w w.csv --heatmap=w.png", "--query=q.csv --key k.csv --causal --scale 0.5 --window -1,0 -o -", "--no-such", "-o", "--threads 1 --threads 2",
             "--threads -1", "--scale=", "--scale 1e999", "--scale 0x10", "--threads 010", "-- -x.npy", "-o=x", "-w --causal", "--help", "--version", "doc.json --heads 2 --kv-heads 1 --softcap 30 --head 0-1,0",
             "doc.json -o a.json -o a.json", "doc.json --weights w.npz --bundle b.json --max-memory 128M --precision float32", "doc.json --mask m.npy --mask-kind add --align bottom-right --query-offset 2",
             "doc.json --tokens [\"a\",\"b\"] --empty-rows nan --alibi --reduce mean", "doc.json --format csv -o -", "-qkv q.csv", "--causal=5", "--kernel tiled --stage masked --scores s.csv doc.json"]
    for number, line in enumerate(lines):
        yield f"compute-{number}", b"\0" + line.encode().replace(b" ", b"\0")
        yield f"other-{number}", bytes([number % 9 + 1]) + line.encode().replace(b" ", b"\0")


def main(folder, targets):
    makers = {name[:-len("_seeds")]: maker for name, maker in globals().items() if name.endswith("_seeds")}
    for target, maker in makers.items():
        if targets and target not in targets: continue
        place = pathlib.Path(folder, target)
        place.mkdir(parents=True, exist_ok=True)
        for name, content in maker():
            (place / name).write_bytes(content)


if __name__ == "__main__":
    if len(sys.argv) < 2: sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
