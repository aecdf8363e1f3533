// Preloaded before attn-cli: counts its allocations and makes some of them fail, as the environment says.
//   ATTN_FAULTS_COUNT=FILE  16 bytes, two 64-bit numbers: allocations of our own, allocations of other libraries
//   ATTN_FAULTS_WHO=own|library   whose allocations fail
//   ATTN_FAULTS_AT=N        the N-th fails (0: none), ATTN_FAULTS_EVER=1 and all after it
//   ATTN_FAULTS_LIBC=1      what the C library allocates (realpath, strdup, ...) counts as our own
// Whose an allocation is, the caller of malloc says: the program itself and what works for nobody else in this process
// (the C++ library, zlib; the C library where nothing is drawn), or Pango, cairo, fontconfig, GLib and what stands below.
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

struct Range {
  std::uintptr_t begin, end;
};

struct Faults {
  std::array<Range, 32> own{};
  std::size_t ranges = 0;
  std::atomic<std::uint64_t>* counts = nullptr;  // own, library; nothing is counted before it is set
  std::uint64_t at = 0;
  bool ever = false;
  int who = 0;
};

constinit Faults faults;

int note_ranges(dl_phdr_info* info, std::size_t, void* with_libc) {
  const char* name = info->dlpi_name;
  bool own = name[0] == '\0';
  for (const char* part : {"libstdc++", "libz.so"}) own = own || std::strstr(name, part) != nullptr;
  if (with_libc != nullptr) own = own || std::strstr(name, "libc.so") != nullptr;
  for (int i = 0; own && i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0 || faults.ranges == faults.own.size()) continue;
    const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    faults.own[faults.ranges++] = {begin, begin + header.p_memsz};
  }
  return 0;
}

void* real_mmap(void* address, std::size_t size, int protection, int flags, int file, off_t offset) {
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, size, protection, flags, file, offset));
}

[[gnu::constructor]] void begin() {
  const char* count = std::getenv("ATTN_FAULTS_COUNT");
  const char* who = std::getenv("ATTN_FAULTS_WHO");
  const char* at = std::getenv("ATTN_FAULTS_AT");
  const char* ever = std::getenv("ATTN_FAULTS_EVER");
  if (count == nullptr) return;
  dl_iterate_phdr(note_ranges, std::getenv("ATTN_FAULTS_LIBC"));
  faults.who = who != nullptr && std::strcmp(who, "library") == 0;
  faults.at = at != nullptr ? std::strtoull(at, nullptr, 10) : 0;
  faults.ever = ever != nullptr && *ever == '1';
  const int file = open(count, O_RDWR | O_CLOEXEC);
  void* shared = real_mmap(nullptr, 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (shared == MAP_FAILED) std::abort();
  faults.counts = static_cast<std::atomic<std::uint64_t>*>(shared);
}

/// Whether this allocation is one that fails.
bool fails(const void* caller) {
  if (faults.counts == nullptr) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  int who = 1;
  for (std::size_t i = 0; i < faults.ranges; ++i)
    if (address >= faults.own[i].begin && address < faults.own[i].end) who = 0;
  const std::uint64_t number = ++faults.counts[who];
  const bool hit = who == faults.who && faults.at != 0 && (faults.ever ? number >= faults.at : number == faults.at);
  if (hit) errno = ENOMEM;
  return hit;
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) noexcept { return fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(size); }

void* calloc(std::size_t count, std::size_t size) noexcept {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* old, std::size_t size) noexcept {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_realloc(old, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, size);
}

int posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept {
  if (fails(__builtin_return_address(0))) return ENOMEM;
  *result = __libc_memalign(alignment, size);
  return *result == nullptr ? ENOMEM : 0;
}

void* mmap(void* address, std::size_t size, int protection, int flags, int file, off_t offset) noexcept {
  return fails(__builtin_return_address(0)) ? MAP_FAILED : real_mmap(address, size, protection, flags, file, offset);
}
}
