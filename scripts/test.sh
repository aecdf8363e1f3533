#!/usr/bin/env bash
# Sets up, builds and runs every test: the release build, then the same tests under the address and undefined-behaviour
# sanitizers. Ends with a line "N passed, N failed".
#   bash scripts/test.sh [--no-install] [--full]
# --full adds the long sweeps.
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

# build PRESET: configures and builds, showing the log only when that fails.
build() {
  local log
  log=$(mktemp)
  echo "building: $1"
  if ! { cmake --preset "$1" && cmake --build --preset "$1"; } >"$log" 2>&1; then
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
build debug
# The random problems are many times slower under the sanitizers, which look for other things than numbers.
if [ "$full" = yes ]; then export ATTN_RANDOM_CASES=20000; else export ATTN_RANDOM_CASES=600; fi
run_tests debug --label-exclude release-only

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
