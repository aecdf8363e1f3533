#!/bin/bash
# run.sh kernels|peers|processes|formats [ROUNDS [PART OF A NAME]]: builds what is needed in build-bench and prints one table.
# peers, processes and formats need a Python with numpy, safetensors, onnx, onnxruntime, torch and matplotlib: set ATTN_BENCH_PYTHON (see README.md).
set -euo pipefail
what=${1:-}
shift || true
root=$(cd "$(dirname "$0")/.." && pwd)
build=${ATTN_BENCH_BUILD:-$root/build-bench}
python=${ATTN_BENCH_PYTHON:-python3}

build() {
  cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DATTN_BUILD_BENCH=ON -DATTN_BUILD_TESTS=OFF > /dev/null
  cmake --build "$build" --parallel --target "$1" > /dev/null
}

# Old OpenBLAS builds need these set on some processors; they slow down current ones.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
export OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2 LC_ALL=C

case $what in
  kernels)
    build bench-kernels
    exec "$build/bench-kernels" "$@"
    ;;
  peers)
    build attn-bench
    exec "$python" -B "$root/bench/peers.py" "$build/bench/libattn-bench.so" "$@"
    ;;
  processes)
    build attn-cli
    exec "$python" -B "$root/bench/processes.py" "$build/attn-cli" "$@"
    ;;
  formats)
    build bench-formats
    exec "$python" -B "$root/bench/formats.py" "$build/bench-formats" "$@"
    ;;
  *)
    echo "usage: bench/run.sh kernels|peers|processes|formats [ROUNDS [PART OF A NAME]]" >&2
    exit 2
    ;;
esac
