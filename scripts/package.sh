#!/usr/bin/env bash
# Sets up, builds and packs: out/attn-cli_VERSION_ARCH.deb and out/libattn-dev_VERSION_ARCH.deb, judged by lintian.
#   bash scripts/package.sh [--no-install]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/packages.sh"

install=yes
case ${1-} in
  '') ;;
  --no-install) install=no ;;
  *) echo "usage: bash scripts/package.sh [--no-install]" >&2; exit 2 ;;
esac
require_packages "$install" "${build_packages[@]}" "${package_packages[@]}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The same sources give the same packages: times of files are those of the last change.
if time=$(git -C "$root" log -1 --format=%ct 2>/dev/null); then export SOURCE_DATE_EPOCH=$time; fi
echo "building: release"
if ! { { [ -f "$root/build/build.ninja" ] || (cd "$root" && cmake --preset release -DATTN_BUILD_TESTS=OFF); } &&
  cmake --build "$root/build" --target attn-cli attn attn_manual &&
  cpack --config "$root/build/CPackConfig.cmake" -B "$work"; } >"$work/log" 2>&1; then
  tail -n 60 "$work/log" >&2
  exit 1
fi

mkdir -p "$root/out"
for package in "$work"/*.deb; do
  cp "$package" "$root/out/"
  printf '%s  %s KB, installed %s KB\n' "out/${package##*/}" "$(($(stat -c %s "$package") / 1000))" "$(dpkg-deb -f "$package" Installed-Size)"
done
user=()
[ "$(id -u)" -ne 0 ] || user=(--allow-root)
lintian "${user[@]}" --fail-on error,warning "$work"/*.deb
