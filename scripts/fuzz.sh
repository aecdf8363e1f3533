#!/usr/bin/env bash
# Builds the fuzzers with clang and runs each for so many seconds, two at a time, from the committed corpora; then prints
# what each did. Inputs that were found on the way stay in build-fuzz/corpus, findings in build-fuzz/findings.
# Fails if there is a finding.
#   bash scripts/fuzz.sh [--no-install] SECONDS [TARGET...]
#   bash scripts/fuzz.sh --minimise [TARGET...]   makes the committed corpora anew from those and build-fuzz/corpus
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/packages.sh"
cd "$root"

usage() { echo "usage: bash scripts/fuzz.sh [--no-install] SECONDS [TARGET...] | --minimise [TARGET...]" >&2; exit 2; }
install=yes
minimise=no
words=()
for argument in "$@"; do
  case $argument in
    --no-install) install=no ;;
    --minimise) minimise=yes ;;
    -*) usage ;;
    *) words+=("$argument") ;;
  esac
done
seconds=0
if [ $minimise = no ]; then
  seconds=${words[0]:-}
  [[ $seconds =~ ^[1-9][0-9]*$ ]] || usage
  words=("${words[@]:1}")
fi
all=()
for source in tests/fuzz/*_fuzz.cpp; do source=${source##*/}; all+=("${source%_fuzz.cpp}"); done
targets=("${words[@]:-${all[@]}}")
for target in "${targets[@]}"; do
  [ -f "tests/fuzz/${target}_fuzz.cpp" ] || { echo "unknown target '$target', expected ${all[*]}" >&2; exit 2; }
done
require_packages "$install" "${build_packages[@]}" "${fuzz_packages[@]}"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "building: fuzz"
if ! { cmake --preset fuzz && cmake --build --preset fuzz --target "${targets[@]/#/fuzz_}"; } >"$log" 2>&1; then
  tail -n 60 "$log"
  exit 1
fi

# Shorter inputs are tried more often. The headers of binary formats need some room.
most_bytes() {
  case $1 in
    csv | float_text) echo 256 ;;
    json | labels | svg | safetensors_struct) echo 512 ;;
    *) echo 1024 ;;
  esac
}
# One block of memory beyond what the harnesses allow their readers is a finding; so is an input that takes 20 seconds.
options=(-entropic=0 -timeout=20 -rss_limit_mb=1024 -malloc_limit_mb=512 -print_final_stats=1)
export ASAN_OPTIONS=quarantine_size_mb=16:allocator_may_return_null=0:malloc_context_size=1
export UBSAN_OPTIONS=print_stacktrace=1
# What the libraries for text keep until the end is no leak of ours.
export LSAN_OPTIONS=suppressions=$root/tests/support/leaks.supp:print_suppressions=0

if [ $minimise = yes ]; then
  for target in "${targets[@]}"; do
    corpus=tests/fuzz/corpus/$target
    fresh=$(mktemp -d)
    # Inputs with names instead of digests are there for a reason: they stay.
    find "$corpus" -type f ! -regex '.*/[0-9a-f]*' -exec cp {} "$fresh" \;
    found=()
    [ -d "build-fuzz/corpus/$target" ] && found=("build-fuzz/corpus/$target")
    "build-fuzz/fuzz_$target" -merge=1 "${options[@]}" "-max_len=$(most_bytes "$target")" "$fresh" "$corpus" "${found[@]}" >"$log" 2>&1 ||
      { tail -n 20 "$log"; exit 1; }
    rm -rf "$corpus"
    mv "$fresh" "$corpus"
    chmod -R u=rwX,go=rX "$corpus"
    echo "$target: $(find "$corpus" -type f | wc -l) files, $(du -sb "$corpus" | cut -f1) bytes"
  done
  exit 0
fi

run_target() {
  local target=$1 dictionary=()
  mkdir -p "build-fuzz/corpus/$target" "build-fuzz/findings/$target"
  [ -f "tests/fuzz/dictionaries/$target.dict" ] && dictionary=("-dict=tests/fuzz/dictionaries/$target.dict")
  "build-fuzz/fuzz_$target" "build-fuzz/corpus/$target" "tests/fuzz/corpus/$target" "${dictionary[@]}" "${options[@]}" \
    "-max_len=$(most_bytes "$target")" "-max_total_time=$seconds" "-artifact_prefix=build-fuzz/findings/$target/" \
    >"build-fuzz/$target.log" 2>&1 || touch "build-fuzz/$target.failed"
}

echo "fuzzing: ${#targets[@]} targets, $seconds s each, two at a time"
for target in "${targets[@]}"; do
  rm -f "build-fuzz/$target.failed"
  run_target "$target" &
  [ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n
done
wait

findings=0
printf '%-20s %12s %10s  %s\n' target executions 'per s' findings
for target in "${targets[@]}"; do
  count=$(sed -n 's/^stat::number_of_executed_units: *//p' "build-fuzz/$target.log" | tail -n 1)
  note=none
  if [ -f "build-fuzz/$target.failed" ]; then
    findings=$((findings + 1))
    note=$(grep -aoE 'broken invariant: .*|ERROR: .*|runtime error: .*' "build-fuzz/$target.log" | head -n 1 || true)
    note="${note:-see} (build-fuzz/$target.log)"
  fi
  printf '%-20s %12s %10s  %s\n' "$target" "${count:-0}" "$((${count:-0} / seconds))" "$note"
done
echo "findings: $findings"
[ "$findings" -eq 0 ]
