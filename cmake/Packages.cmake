# CPack: attn-cli_*.deb and libattn-dev_*.deb. scripts/package.sh is the one command that makes them.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME attn-cli)
set(CPACK_PACKAGE_VENDOR "the authors of attn-cli")
set(CPACK_PACKAGE_CONTACT "attn-cli maintainers <maintainers@users.noreply.a-seed-c33b7cbf.example>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_COMPONENTS_ALL runtime development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SOURCE attn-cli)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# Folders as Debian has them, whatever the umask of whoever builds.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME attn-cli)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION science)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
# Without any font there are no numbers and no labels; without the second one Chinese, Japanese and Korean ones are boxes.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "fonts-dejavu-core")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "fonts-noto-cjk")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "bash-completion")
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "exact attention weights and their pictures
attn-cli takes matrices or token embeddings and gives the weights of plain,
self, cross, masked and multi-head attention, as numbers (JSON, CSV, npy, npz,
safetensors) or as pictures (PNG, SVG, PDF, HTML, terminal).

Each mask, bias and head layout has one written meaning; files are read
strictly; two results are compared with a verdict; every step of a small
example can be followed as a table. Long sequences are computed in tiles, so
that the matrix of weights is never held. No Python, no network, no GPU.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libattn-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libcairo2-dev, libpango1.0-dev, zlib1g-dev, pkg-config")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "fonts-dejavu-core, fonts-noto-cjk, cmake")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "exact attention weights and their pictures - library
The static C++20 library behind attn-cli: attention with masks, biases, heads
and projections in tiles, strict readers and streaming writers of JSON, CSV,
npy, npz and safetensors, and pictures as PNG, SVG, PDF, HTML and text.

This package has the headers, the library, a sample program, and what CMake
(find_package(attn)) and pkg-config (attn) need to find them.")
include(CPack)
