#!/usr/bin/env bash
# Sets up, builds and runs every test of the release build, then the layers, the corpora of the fuzzers and the binary
# under the address and undefined-behaviour sanitizers. Before the last line, "N passed, N failed", it tells what the
# tests of faults counted, and what could not be tested here.
#   bash scripts/test.sh [--no-install] [--full]
# --full adds the long sweeps, the comparison of kernels under these sanitizers, the thread sanitizer, and valgrind.
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
[ "$full" = yes ] && test_packages+=("${full_packages[@]}")
require_packages "$install" "${build_packages[@]}" "${test_packages[@]}"

export ATTN_FULL=$full
passed=0
failed=0
told=
jobs=$(nproc)

folder_of() { [ "$1" = release ] && echo build || echo "build-$1"; }

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
  told+=$(grep -ohE '(counts|NOT TESTED): .*' "$(folder_of "$preset")/Testing/Temporary/LastTest.log" || true)$'\n'
  passed=$((passed + total - bad))
  failed=$((failed + bad))
}

build release
[ "$full" = yes ] && export ATTN_RANDOM_CASES=200000
run_tests release
# Limits of memory and time mean something only without the sanitizers: what looks at those was run above.
if [ "$full" = yes ]; then
  build debug
  # The random problems are many times slower under the sanitizers, which look for other things than numbers.
  export ATTN_RANDOM_CASES=20000
  run_tests debug --label-exclude release-only
  build tsan unit_base unit_core agreement
  export ATTN_RANDOM_CASES=400
  # The thread sanitizer cannot follow a process that forks and then starts threads.
  run_tests tsan --tests-regex '^(unit_(base|core)|agreement)\.' --exclude-regex AChildOfTheProcess
else
  # All but the comparison of kernels, which looks for other things and takes long.
  build debug attn-cli unit_base unit_io unit_core unit_render unit_app fuzz_replay
  run_tests debug --label-exclude release-only --tests-regex '^(unit_.*|fuzz|golden|malformed|catalogue)\.'
fi

echo "$told" | sed -n 's/^counts: //p' | sort
echo "$told" | sed -n 's/^NOT TESTED: /NOT TESTED HERE: /p'
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
