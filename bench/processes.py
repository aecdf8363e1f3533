#!/usr/bin/env python3
"""Times whole processes: what a user types, ours beside numpy, PyTorch and matplotlib. Wall time and peak memory, medians.

usage: processes.py ATTN-CLI [RUNS [PART OF A NAME]]     (bench/run.sh processes does it; see bench/README.md)

All files are on tmpfs; runs are interleaved; the Python is the one that runs this script.
"""
import os
import shutil
import statistics
import sys
import tempfile
import time

NUMPY = """
import numpy as np
q, k, v = (np.load(name + '.npy') for name in ('q', 'k', 'v'))
s = q @ k.transpose(0, 1, 3, 2)
s *= np.float32(q.shape[-1] ** -0.5)
s -= s.max(-1, keepdims=True)
np.exp(s, out=s)
s /= s.sum(-1, keepdims=True)
np.save('numpy-out.npy', s @ v)
"""
TORCH = """
import numpy as np, torch
torch.set_num_threads(2)
q, k, v = (torch.from_numpy(np.load(name + '.npy')) for name in ('q', 'k', 'v'))
with torch.no_grad():
    np.save('torch-out.npy', torch.nn.functional.scaled_dot_product_attention(q, k, v).numpy())
"""
TORCH_WEIGHTS = """
import numpy as np, torch
torch.set_num_threads(2)
q, k, v = (torch.from_numpy(np.load(name + '.npy')) for name in ('q', 'k', 'v'))
with torch.no_grad():
    w = torch.softmax(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5, -1)
    np.save('torch-w.npy', w.numpy())
    np.save('torch-out.npy', (w @ v).numpy())
"""
ONE_HEAD = """
import numpy as np
q, k, v = (np.load(name + '1.npy') for name in ('q', 'k', 'v'))
s = q @ k.T * np.float32(q.shape[-1] ** -0.5)
w = np.exp(s - s.max(-1, keepdims=True))
w /= w.sum(-1, keepdims=True)
"""
TOY = """
import json, numpy as np
doc = json.load(open('cat.json'))
x = np.array(doc['embeddings'], float)
s = x @ x.T / np.sqrt(x.shape[1])
w = np.exp(s - s.max(-1, keepdims=True))
w /= w.sum(-1, keepdims=True)
"""
PLOT = TOY + """
import matplotlib
matplotlib.use('Agg')
import matplotlib.pyplot as plt
figure, axes = plt.subplots()
axes.imshow(w)
axes.set_xticks(range(len(w)), doc['tokens'])
axes.set_yticks(range(len(w)), doc['tokens'])
for i in range(len(w)):
    for j in range(len(w)):
        axes.text(j, i, f'{w[i, j]:.2f}', ha='center', va='center')
figure.savefig('numpy-toy.png')
"""

IMSHOW = """
import numpy as np, matplotlib
matplotlib.use('Agg')
import matplotlib.pyplot as plt
figure, axes = plt.subplots()
axes.imshow(np.load('p.npy'))
figure.savefig('numpy-p.png')
"""


def tasks(binary):
    heads = [binary, "compute", "-Q", "q.npy", "-K", "k.npy", "-V", "v.npy", "-o", "out.npy"]
    one = [binary, "compute", "-Q", "q1.npy", "-K", "k1.npy", "-V", "v1.npy"]
    python = lambda script: [sys.executable, "-c", script]
    yield "8 x 2048 x 64 npy -> output npy", {"ours": heads, "numpy": python(NUMPY), "torch": python(TORCH)}
    yield "the same and weights npy (134 MB)", {"ours": heads + ["-w", "w.npy"], "numpy": python(NUMPY + "np.save('numpy-w.npy', s)"),
                                                "torch": python(TORCH_WEIGHTS)}
    yield "4 tokens json -> weights csv", {"ours": [binary, "compute", "cat.json", "-w", "toy.csv"],
                                           "numpy": python(TOY + "np.savetxt('numpy-toy.csv', w, delimiter=',')")}
    yield "4 tokens json -> labelled png", {"ours": [binary, "compute", "cat.json", "-w", "toy.png"], "matplotlib": python(PLOT)}
    yield "2048 x 2048 weights csv", {"ours": one + ["-w", "w.csv", "--no-labels"],
                                      "savetxt %.6g": python(ONE_HEAD + "np.savetxt('numpy-w.csv', w, '%.6g', ',')"),
                                      "savetxt": python(ONE_HEAD + "np.savetxt('numpy-w.csv', w, delimiter=',')")}
    yield "2048 x 2048 weights json", {"ours": one + ["-w", "w.json"],
                                       "json.dump": python("import json\n" + ONE_HEAD + "json.dump(w.tolist(), open('numpy-w.json', 'w'))")}
    yield "2048 x 2048 weights png", {"ours": one + ["-w", "w.png"],
                                      "imsave": python(ONE_HEAD + "import matplotlib.image\nmatplotlib.image.imsave('numpy-w.png', w)")}
    yield "4096 x 4096 npy -> png, default size", {"ours": [binary, "render", "p.npy", "-o", "p.png"], "imshow + savefig": python(IMSHOW)}
    yield "12 heads x 2048 tokens npy -> png grid", {"ours": [binary, "render", "g.npy", "-o", "g.png"]}
    yield "32768 x 32768 weights -> pooled png", {"ours": [binary, "compute", "-Q", "qw.npy", "-K", "kw.npy", "-w", "long.png"]}
    yield "8 x 32768 x 64 causal -> output npy", {"ours": [binary, "compute", "-Q", "ql.npy", "-K", "kl.npy", "-V", "vl.npy", "--causal",
                                                           "-o", "outl.npy"]}


# By another process: peak memory of a child counts what its parent held when it was started.
INPUTS = """
import json
import numpy as np
rng = np.random.default_rng(1)
for suffix, shape in (('', (1, 8, 2048, 64)), ('1', (2048, 64)), ('l', (1, 8, 32768, 64))):
    for name in 'qkv':
        np.save(f'{name}{suffix}.npy', rng.uniform(-1.7, 1.7, shape).astype(np.float32))
for name in 'qk':
    np.save(f'{name}w.npy', rng.uniform(-1.7, 1.7, (32768, 64)).astype(np.float32))
np.save('p.npy', rng.uniform(0, 1, (4096, 4096)).astype(np.float32))
np.save('g.npy', rng.uniform(0, 1, (12, 2048, 2048)).astype(np.float32))
document = {'tokens': ['The', 'cat', 'is', 'cute'], 'embeddings': rng.uniform(-1, 1, (4, 8)).tolist()}
json.dump(document, open('cat.json', 'w'))
"""


def run(command):
    """Wall seconds, CPU seconds and peak MB of one process."""
    quiet = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_WRONLY, 0) for fd in (1, 2)]
    start = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=quiet)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - start
    if status != 0:
        raise RuntimeError(f"{' '.join(command)[:120]} ended with {os.waitstatus_to_exitcode(status)}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    binary = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    part = sys.argv[3] if len(sys.argv) > 3 else ""
    folder = tempfile.mkdtemp(prefix="attn-bench-", dir="/dev/shm")
    try:
        os.chdir(folder)
        run([sys.executable, "-c", INPUTS])
        print(f"{'whole process':38} {'':14} {'wall s':>8} {'CPU s':>8} {'peak MB':>8}   wall / ours")
        for name, commands in tasks(binary):
            if part not in name:
                continue
            results = {who: [] for who in commands}
            for _ in range(1 if "32768" in name else runs):
                for who, command in commands.items():
                    results[who].append(run(command))
            middle = {who: [statistics.median(column) for column in zip(*rows)] for who, rows in results.items()}
            for who, (wall, cpu, peak) in middle.items():
                print(f"{name:38} {who:14} {wall:8.3f} {cpu:8.3f} {peak:8.1f}   {wall / middle['ours'][0]:.1f}x", flush=True)
                name = ""
    finally:
        os.chdir("/")
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
