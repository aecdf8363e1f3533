#!/usr/bin/env python3
"""Reads and writes each format by CPU time on one core, ours beside what Python users have, in turns; then the peak of memory.

formats.py BENCH_FORMATS [ROUNDS [time|memory]]: needs a Python with numpy and safetensors; see README.md.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

SIDE = 2048
BIG = (64 * 1024, 1024)

# What Python users do, for the peak of memory in a process of its own. `n` is the file.
READERS = {
    "csv": "keep = np.loadtxt(n, delimiter=',')",
    "json": "keep = np.array(json.load(open(n))['weights'])",
    "npy": "keep = np.load(n)",
    "npz": "keep = np.load(n)['weights']",
    "safetensors": "from safetensors.numpy import load_file; keep = {k: np.array(v) for k, v in load_file(n).items()}",
}
WRITERS = {
    "csv": "np.savetxt(n, numbers, delimiter=',')",
    "json": "json.dump(numbers.tolist(), open(n, 'w'))",
    "npy": "np.save(n, numbers)",
    "npz": "np.savez(n, numbers)",
    "safetensors": "from safetensors.numpy import save_file; save_file({'weights': numbers}, n)",
}


def cpu(work):
    start = time.process_time()
    work()
    return time.process_time() - start


def ours(binary, what, name, stdin=None):
    """CPU seconds and peak MiB."""
    done = subprocess.run([binary, what, name, "1"], check=True, capture_output=True, text=True, stdin=stdin)
    return tuple(float(number) for number in done.stdout.split())


def peer_peak(statement, name, prepare=""):
    """Peak MiB above an interpreter that has loaded numpy."""
    report = "print(next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmHWM')) / 1024)"
    def run(*body): return float(subprocess.run([sys.executable, "-c", "\n".join(("import json, numpy as np", f"n = {name!r}", *body, report))],
                                                check=True, capture_output=True, text=True).stdout)
    return run(prepare, statement) - run(prepare if "numbers" in statement else "")



def make_files(binary):
    from safetensors.numpy import save_file
    big = np.random.default_rng(2).uniform(-1, 1, BIG).astype(np.float32)
    for extension in ("csv", "json"): ours(binary, "write", f"w.{extension}")
    np.save("b.npy", big)
    np.save("columns.npy", np.asfortranarray(big))
    np.savez("b.npz", weights=big)
    np.savez_compressed("packed.npz", weights=big[:len(big) // 4])
    save_file({"weights": big}, "b.safetensors")


def time_rows(binary):
    numbers = np.random.default_rng(1).uniform(0, 1 / SIDE, (SIDE, SIDE)).astype(np.float32)
    lists = numbers.astype(np.float64).tolist()
    seconds = lambda what, name: lambda: ours(binary, what, name)[0]
    rows = [
        ("CSV numbers in", "w.csv", seconds("read", "w.csv"), lambda: cpu(lambda: np.loadtxt("w.csv", delimiter=",")), "numpy.loadtxt", 2),
        ("CSV numbers out", "w.csv", seconds("write", "o.csv"), lambda: cpu(lambda: np.savetxt("p.csv", numbers, delimiter=",")), "numpy.savetxt", 4),
        ("JSON numbers in", "w.json", seconds("read", "w.json"), lambda: cpu(lambda: np.array(json.load(open("w.json"))["weights"])),
         "json + numpy.array", 1),
        ("JSON numbers out", "w.json", seconds("write", "o.json"), lambda: cpu(lambda: open("p.json", "w").write(json.dumps(lists))), "json.dumps", 6),
    ]
    for title, name in (("npy in", "b.npy"), ("npz in, stored", "b.npz"), ("safetensors in", "b.safetensors")):
        rows.append((title, name, seconds("read", name), seconds("bytes", name), "its bytes alone", 1 / 1.3))
    rows.append(("npz in, deflated", "packed.npz", seconds("read", "packed.npz"), lambda: cpu(lambda: np.load("packed.npz")["weights"]), "numpy.load", None))
    rows.append(("npy by columns in", "columns.npy", seconds("read", "columns.npy"),
                 lambda: cpu(lambda: np.ascontiguousarray(np.load("columns.npy"))), "numpy.load, to rows", None))
    return rows


def print_times(binary, rounds):
    print("| | MB | ours MB/s | peer MB/s | ratio | goal | peer |\n|---|---|---|---|---|---|---|")
    for title, name, mine, peer, who, goal in time_rows(binary):
        pairs = [(mine(), peer()) for _ in range(rounds)]
        us, them = (statistics.median(column) for column in zip(*pairs))
        # Each side by the bytes it reads or writes: savetxt's numbers are longer than ours.
        size = os.path.getsize(name) / 1e6
        theirs = os.path.getsize(name.replace("w.", "p.")) / 1e6 if " out" in title else size
        print(f"| {title} | {size:.0f} | {size / us:.0f} | {theirs / them:.0f} | {them / us:.2f} | {'' if goal is None else f'{goal:.2g}'} | {who} |", flush=True)


def print_memory(binary):
    """Peak MiB above the arrays that are held: ours of the whole process, Python's above an interpreter with numpy."""
    print("| | arrays MiB | ours above them MiB | Python above them MiB |\n|---|---|---|---|")
    def row(title, arrays, peak, peer):
        print(f"| {title} | {arrays:.0f} | {peak - arrays:.0f} | {'' if peer is None else f'{peer - arrays:.0f}'} |", flush=True)
    text, big = SIDE * SIDE * 8 / 2**20, BIG[0] * BIG[1] * 4 / 2**20
    files = (("CSV in", "w.csv", text), ("JSON in", "w.json", text), ("npy in", "b.npy", big), ("npy by columns in", "columns.npy", big),
             ("npz in, stored", "b.npz", big), ("npz in, deflated", "packed.npz", big / 4), ("safetensors in", "b.safetensors", big))
    for title, name, arrays in files:
        row(title, arrays, ours(binary, "read", name)[1], peer_peak(READERS[name.split(".")[1]], name))
    for title, name, arrays in files:
        cat = subprocess.Popen(["cat", name], stdout=subprocess.PIPE)
        peak = ours(binary, "read", "-", stdin=cat.stdout)[1]
        cat.stdout.close()
        cat.wait()
        row(title.replace(" in", " from a pipe"), arrays, peak, None)
    for title, name, arrays in files[2:]:
        if "columns" not in name: row(title.replace(" in", ", by rows"), 0, ours(binary, "rows", name)[1], None)
    for extension in WRITERS:
        prepare = f"numbers = np.zeros(({SIDE}, {SIDE}), np.float32)"
        row(f"{extension} out, 2048 x 2048", SIDE * SIDE * 4 / 2**20, ours(binary, "write", "o." + extension)[1],
            peer_peak(WRITERS[extension], "p." + extension, prepare) + SIDE * SIDE * 4 / 2**20)
    for extension in WRITERS:  # a row of 4 MB is in flight
        row(f"{extension} out, 64 x 1,000,000", 4, ours(binary, "long", "o." + extension)[1], None)


def main():
    binary, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    what = sys.argv[3] if len(sys.argv) > 3 else ""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    folder = tempfile.mkdtemp(prefix="attn-bench-", dir="/dev/shm")
    try:
        os.chdir(folder)
        make_files(binary)
        if what != "memory": print_times(binary, rounds)
        if what != "time": print_memory(binary)
    finally:
        os.chdir("/")
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
