#!/usr/bin/env python3
"""Runs every section of the catalogue and counts: ATTN_CLI=BINARY PYTHONPATH=tests/support python3 tests/catalogue/all.py

Each section is a process of its own: a child's peak memory counts from that of the process it came from.
"""
import pathlib, re, subprocess, sys

COUNTS = re.compile(r"catalogue: (\d+) entries, (\d+) automated by (\d+) cases, (\d+) passed")


def main():
    total, good = [0] * 4, True
    for path in sorted(pathlib.Path(__file__).parent.glob("*_test.py")):
        done = subprocess.run([sys.executable, "-B", str(path)], capture_output=True, text=True)
        counts = [int(number) for number in COUNTS.search(done.stderr).groups()]
        total = [a + b for a, b in zip(total, counts)]
        print(f"{path.stem[:-len('_test')]:12}", "{:4} entries {:4} automated {:4} cases {:4} passed".format(*counts))
        good = good and done.returncode == 0
        if done.returncode: print(done.stderr)
    print(f"{'':12} {total[0]:4} entries {total[1]:4} automated {total[2]:4} cases {total[3]:4} passed")
    sys.exit(not good)


if __name__ == "__main__": main()
