#!/usr/bin/env bash
# Sets up, builds and runs attn-cli.
#   bash scripts/run.sh                 the tutorial's example into out/: weights.json, weights.csv, heatmap.png
#   bash scripts/run.sh ARGUMENTS...    attn-cli ARGUMENTS...
#   bash scripts/run.sh --no-install …  the same without installing packages
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/packages.sh"

install=yes
if [ "${1-}" = --no-install ]; then install=no; shift; fi
require_packages "$install" "${build_packages[@]}"

# The tests need more packages than the program; test.sh switches them on.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Only what concerns the user reaches the terminal: a build that goes well says nothing on standard output.
[ -x "$root/build/attn-cli" ] || echo "building attn-cli (a few minutes the first time) ..." >&2
if ! { { [ -f "$root/build/build.ninja" ] || (cd "$root" && cmake --preset release -DATTN_BUILD_TESTS=OFF); } && cmake --build "$root/build" --target attn-cli; } >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi

if [ $# -gt 0 ]; then
  rm -f "$log"
  exec "$root/build/attn-cli" "$@"
fi

mkdir -p "$root/out"
"$root/build/attn-cli" compute "$root/samples/cat.json" --causal --title "The cat is cute, causal" \
  -w "$root/out/weights.json" -w "$root/out/weights.csv" -w "$root/out/heatmap.png"
echo "weights:  $root/out/weights.json"
echo "          $root/out/weights.csv"
echo "picture:  $root/out/heatmap.png"
