#!/usr/bin/env bash
# Sets up, builds and runs every test of the release build, then those of the readers under the address and
# undefined-behaviour sanitizers. Ends with a line "N passed, N failed".
#   bash scripts/test.sh [--no-install] [--full]
# --full adds the long sweeps, and all layers under the sanitizers.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/packages.sh"
cd "$root"

install=yes
full=no
for argument in "$@"; do
  case $argument in
    --no-install) install=no ;;
    --full) full=yes ;;
    *) echo "usage: bash scripts/test.sh [--no-install] [--full]" >&2; exit 2 ;;
  esac
done
require_packages "$install" "${build_packages[@]}" "${test_packages[@]}"

export ATTN_FULL=$full
passed=0
failed=0
jobs=$(nproc)

# build PRESET [TARGET...]: configures and builds (all, without a target), showing the log only when that fails.
build() {
  local preset=$1 log
  shift
  log=$(mktemp)
  echo "building: $preset"
  if ! { cmake --preset "$preset" && cmake --build --preset "$preset" ${1:+--target "$@"}; } >"$log" 2>&1; then
    tail -n 60 "$log"
    rm -f "$log"
    echo "0 passed, 1 failed"
    exit 1
  fi
  rm -f "$log"
}

# run_tests PRESET [CTEST_OPTIONS...]: runs the tests and adds to the counts.
run_tests() {
  local preset=$1 log total bad
  shift
  log=$(mktemp)
  echo "testing: $preset"
  ctest --preset "$preset" -j "$jobs" --no-tests=error "$@" >"$log" 2>&1 || true
  total=$(sed -n 's/.*tests failed out of \([0-9]*\).*/\1/p' "$log")
  bad=$(sed -n 's/.*tests passed, \([0-9]*\) tests failed out of.*/\1/p' "$log")
  if [ -z "$total" ] || [ "$bad" -gt 0 ]; then tail -n 200 "$log"; fi
  rm -f "$log"
  if [ -z "$total" ]; then total=1; bad=1; fi
  passed=$((passed + total - bad))
  failed=$((failed + bad))
}

build release
[ "$full" = yes ] && export ATTN_RANDOM_CASES=200000
run_tests release
if [ "$full" = yes ]; then
  build debug
  # The random problems are many times slower under the sanitizers, which look for other things than numbers.
  export ATTN_RANDOM_CASES=20000
  run_tests debug --label-exclude release-only
else
  # What reads files of strangers, and what stands below it; the rest takes longer to build than to run.
  build debug unit_base unit_io
  run_tests debug --tests-regex '^unit_(base|io)\.'
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
