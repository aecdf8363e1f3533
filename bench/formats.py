#!/usr/bin/env python3
"""Times reading and writing of each format by CPU time on one core, ours beside what Python users have, in turns.

formats.py BENCH_FORMATS [ROUNDS]: needs a Python with numpy and safetensors; see README.md.
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


def cpu(work):
    start = time.process_time()
    work()
    return time.process_time() - start


def ours(binary, what, name):
    return float(subprocess.run([binary, what, name, "1"], check=True, capture_output=True, text=True).stdout)


def load_safetensors(name):
    from safetensors.numpy import load_file
    return {key: np.array(value) for key, value in load_file(name).items()}


def main():
    binary, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    folder = tempfile.mkdtemp(prefix="attn-bench-", dir="/dev/shm")
    try:
        os.chdir(folder)
        numbers = np.random.default_rng(1).uniform(0, 1 / SIDE, (SIDE, SIDE)).astype(np.float32)
        big = np.random.default_rng(2).uniform(-1, 1, (64 * 1024, 1024)).astype(np.float32)
        for extension in ("csv", "json"): ours(binary, "write", f"w.{extension}")
        np.save("b.npy", big)
        np.savez("b.npz", weights=big)
        from safetensors.numpy import save_file
        save_file({"weights": big}, "b.safetensors")
        lists = numbers.astype(np.float64).tolist()
        rows = [
            ("CSV numbers in", "w.csv", lambda: ours(binary, "read", "w.csv"), lambda: cpu(lambda: np.loadtxt("w.csv", delimiter=",")), "numpy.loadtxt", 2),
            ("CSV numbers out", "w.csv", lambda: ours(binary, "write", "o.csv"), lambda: cpu(lambda: np.savetxt("p.csv", numbers, delimiter=",")), "numpy.savetxt", 4),
            ("JSON numbers in", "w.json", lambda: ours(binary, "read", "w.json"),
             lambda: cpu(lambda: np.array(json.load(open("w.json"))["weights"])), "json + numpy.array", 1),
            ("JSON numbers out", "w.json", lambda: ours(binary, "write", "o.json"), lambda: cpu(lambda: open("p.json", "w").write(json.dumps(lists))), "json.dumps", 6),
        ]
        for name in ("b.npy", "b.npz", "b.safetensors"):
            rows.append((f"{name[2:]} in", name, lambda name=name: ours(binary, "read", name), lambda name=name: ours(binary, "bytes", name),
                         "its bytes alone", 1 / 1.3))
        print(f"{'':18} {'MB':>6} {'ours MB/s':>10} {'peer MB/s':>10} {'ratio':>6}  {'goal':>5}  peer")
        for title, name, mine, peer, who, goal in rows:
            pairs = [(mine(), peer()) for _ in range(rounds)]
            us, them = (statistics.median(column) for column in zip(*pairs))
            # Each side by the bytes it reads or writes: savetxt's numbers are longer than ours.
            size = os.path.getsize(name) / 1e6
            theirs = os.path.getsize(name.replace("w.", "p.")) / 1e6 if " out" in title else size
            numbers_ratio = them / us
            print(f"{title:18} {size:6.0f} {size / us:10.0f} {theirs / them:10.0f} {numbers_ratio:6.2f}  {goal:5.2f}  {who}")
    finally:
        os.chdir("/")
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
