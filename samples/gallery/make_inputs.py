"""Writes the inputs of the gallery that are too large or too odd to keep as samples (standard library only).

    python3 make_inputs.py FOLDER

Random numbers are seeded, so that every run writes the same files.
"""
import array, json, math, pathlib, random, sys


def write_npy(path, shape, values):
    """Values in C order as float32."""
    header = repr({"descr": "<f4", "fortran_order": False, "shape": tuple(shape)}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    data = array.array("f", values)
    if sys.byteorder == "big": data.byteswap()
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data.tobytes())


def normal(rng, count, scale=1.0):
    return [rng.gauss(0, scale) for _ in range(count)]


def rows(rng, count, width, scale=1.0):
    return [normal(rng, width, scale) for _ in range(count)]


def write_document(path, tokens, embeddings, **more):
    path.write_text(json.dumps({"tokens": tokens, "embeddings": embeddings, **more}, ensure_ascii=False))


def sentence(rng, path, heads=12, size=8):
    """Heads with habits: some look at the token before, some at the first, some at likeness."""
    tokens = "The cat sat on the mat because it was tired .".split()
    n, width = len(tokens), heads * size
    query, key = [[0.0] * width for _ in range(n)], [[0.0] * width for _ in range(n)]
    for head in range(heads):
        habit = head % 3
        for i in range(n):
            for c in range(size):
                column, noise = head * size + c, rng.gauss(0, 0.6)
                angle = 2 * math.pi * (i + (1 if habit == 0 else 0)) / 13 * (1 + c // 2)
                wave = (math.cos if c % 2 else math.sin)
                key[i][column] = 2.2 * wave(angle) if habit == 0 else noise + (2.5 if habit == 1 and i == 0 else 0)
                query[i][column] = 2.2 * wave(2 * math.pi * i / 13 * (1 + c // 2)) if habit == 0 else noise + (0.8 if habit == 1 else 0)
    path.write_text(json.dumps({"query": query, "key": key, "tokens": tokens, "options": {"heads": heads}}))


def long_heads(rng, folder, n=2048, heads=12, size=8):
    """Queries and keys of slow waves: bands, and a sink at the first key."""
    query, key = [], []
    for i in range(n):
        for head in range(heads):
            period = 64 * (1 + head)
            for c in range(size):
                angle = 2 * math.pi * i * (1 + c // 2) / period
                value = 2.0 * (math.cos if c % 2 else math.sin)(angle)
                query.append(value + rng.gauss(0, 0.2) + (0.5 if head % 4 == 3 else 0))
                key.append(value + (3.0 if head % 4 == 3 and i == 0 else 0))
    write_npy(folder / "long-query.npy", (n, heads * size), query)
    write_npy(folder / "long-key.npy", (n, heads * size), key)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(20)
    sentence(rng, folder / "sentence.json")
    long_heads(rng, folder)
    words = ("It was the best of times , it was the worst of times , it was the age of wisdom , it was the age of "
             "foolishness , it was the epoch of belief , it was the epoch of incredulity , it was the season of Light").split()
    meaning = {word: normal(rng, 16) for word in words}
    write_document(folder / "novel.json", words, [[x + rng.gauss(0, 0.3) for x in meaning[word]] for word in words])
    clause = [words[:i].count(",") // 2 for i in range(len(words))]
    write_document(folder / "clauses.json", words, [[x + rng.gauss(0, 0.3) for x in meaning[word]] for word in words], documents=clause)
    write_document(folder / "tokens512.json", [f"token{i}" for i in range(512)], rows(rng, 512, 8, 1.2))
    write_document(folder / "long-words.json", ["Donaudampfschifffahrtsgesellschaftskapitän", "was", "internationalization", "?",
                                               "supercalifragilisticexpialidocious", "x" * 200], rows(rng, 6, 4, 1.3))
    write_document(folder / "arabic.json", "القطة لطيفة جدا اليوم".split(), rows(rng, 4, 4, 1.3))
    write_document(folder / "emoji.json", ["I", "😀", "love", "👨‍👩‍👧‍👦", "🐱", " cats", "\n"], rows(rng, 7, 4, 1.3))
    write_document(folder / "hostile.json", ["</script><img src=x onerror=alert(1)>", "\x1b[2J", "\u202eabc", "$<&_", "", "\x00"], rows(rng, 6, 4, 1.3))
    write_document(folder / "bpe.json", ["The", "Ġcat", "Ġis", "Ġun", "believ", "ably", "Ġcute", "Ċ", "æĹ¥"], rows(rng, 9, 4, 1.3))
    write_document(folder / "one.json", ["cat"], [[1.0, 0.0]])
    write_npy(folder / "row.npy", (1, 5000), [abs(math.sin(i / 300)) ** 9 * rng.random() for i in range(5000)])
    write_npy(folder / "equal.npy", (8, 8), [0.125] * 64)
    odd = [rng.random() for _ in range(36)]
    odd[8], odd[21] = math.nan, math.nan
    write_npy(folder / "nan.npy", (6, 6), odd)
    base = [rng.random() for _ in range(144)]
    write_npy(folder / "weights-a.npy", (12, 12), base)
    write_npy(folder / "weights-b.npy", (12, 12), [x + rng.gauss(0, 2e-6) for x in base])


main()
