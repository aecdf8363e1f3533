# Debian 12 packages that the scripts need, and a function that installs the missing ones. Sourced, not run.

build_packages=(g++ cmake ninja-build pkg-config
  libcli11-dev nlohmann-json3-dev libxtensor-dev libxsimd-dev libstb-dev
  libcairo2-dev libpango1.0-dev zlib1g-dev
  fonts-dejavu-core fonts-noto-cjk)
package_packages=(dpkg-dev binutils gzip lintian)
test_packages=("${package_packages[@]}" libgtest-dev libgmock-dev libzip-dev python3 binutils git procps make parallel
  poppler-utils libxml2-utils strace bash-completion man-db locales
  chromium chromium-driver python3-selenium)
full_packages=(valgrind mmdebstrap)
fuzz_packages=(clang-14 libclang-rt-14-dev)

# require_packages INSTALL PACKAGE...: installs what is missing when INSTALL is yes, else says what to type and fails.
require_packages() {
  local install=$1; shift
  local missing=() package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null | cut -c1-2)" = ii ] || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  echo "${as_root[*]:+${as_root[*]} }apt-get install -y --no-install-recommends ${missing[*]}" >&2
  if [ "$install" != yes ]; then
    echo "$0: these packages are missing; run the line above, or leave out --no-install" >&2
    return 1
  fi
  if [ ${#as_root[@]} -gt 0 ] && ! command -v sudo >/dev/null; then
    echo "$0: not root and sudo is not installed: run the line above as root" >&2
    return 1
  fi
  "${as_root[@]}" apt-get update -qq >&2 &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}
