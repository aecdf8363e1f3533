#include "attn/base/memory.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>
#include <string>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
constexpr std::align_val_t kAlignment{64};

[[noreturn]] void refuse(std::size_t bytes, std::size_t used, std::size_t limit, std::string_view what) {
  const std::string in_use = used == 0 ? std::string() : concat(", of which ", format_bytes(used), " are in use");
  fail(ErrorKind::memory, what, " needs ", format_bytes(bytes), " of memory, the limit is ", format_bytes(limit), in_use);
}

/// The whole of a small file of /proc or /sys; empty if it cannot be read.
std::string read_small_file(const std::string& path) {
  std::string text;
  if (std::FILE* file = std::fopen(path.c_str(), "re")) {
    char block[4096];
    text.assign(block, std::fread(block, 1, sizeof block, file));
    std::fclose(file);
  }
  return text;
}

/// The number a cgroup file starts with; kNoLimit for "max" or no such file.
std::size_t cgroup_value(const std::string& path) {
  const std::string text = read_small_file(path);
  const auto value = parse_integer(std::string_view(text).substr(0, text.find('\n')));
  return value && *value >= 0 ? static_cast<std::size_t>(*value) : kNoLimit;
}

/// The tightest limit of a cgroup and of those above it.
std::size_t tightest_limit(const std::string& root, std::string group, const char* file) {
  std::size_t least = cgroup_value(root + "/" + file);
  while (group.size() > 1) {
    least = std::min(least, cgroup_value(root + group + "/" + file));
    group.resize(group.rfind('/'));
  }
  return least;
}

/// The memory limit of this process's cgroup: version 2 ("0::/path") or version 1 ("4:memory:/path").
std::size_t cgroup_limit() {
  const std::string groups = read_small_file("/proc/self/cgroup");
  std::size_t least = kNoLimit;
  for (std::size_t begin = 0; begin < groups.size();) {
    const std::size_t end = std::min(groups.find('\n', begin), groups.size());
    const std::string line = groups.substr(begin, end - begin);
    begin = end + 1;
    if (line.rfind("0::/", 0) == 0) least = std::min(least, tightest_limit("/sys/fs/cgroup", line.substr(3), "memory.max"));
    if (const auto at = line.find(":memory:/"); at != std::string::npos)
      least = std::min(least, tightest_limit("/sys/fs/cgroup/memory", line.substr(at + 8), "memory.limit_in_bytes"));
  }
  return least;
}

/// Large blocks are mappings of their own: they grow without copying, go back to the system at once, and may use huge
/// pages, which makes the first write to them several times faster.
bool is_mapped(std::size_t bytes) { return bytes >= (std::size_t{4} << 20); }

/// Null when there is none.
std::byte* get_memory(std::size_t bytes) {
  if (!is_mapped(bytes)) {
    // At least one byte, so that an empty array still has an address to copy from.
    return static_cast<std::byte*>(::operator new(bytes == 0 ? 1 : bytes, kAlignment, std::nothrow));
  }
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

void release_memory(std::byte* memory, std::size_t bytes) {
  if (is_mapped(bytes))
    ::munmap(memory, bytes);
  else
    ::operator delete(memory, kAlignment);
}

/// A block of another size with the same content; null, and the block as it was, when there is no memory.
std::byte* move_memory(std::byte* memory, std::size_t bytes, std::size_t wanted) {
  if (is_mapped(bytes) && is_mapped(wanted)) {
    void* moved = ::mremap(memory, bytes, wanted, MREMAP_MAYMOVE);
    return moved == MAP_FAILED ? nullptr : static_cast<std::byte*>(moved);
  }
  std::byte* fresh = get_memory(wanted);
  if (fresh == nullptr) return nullptr;
  std::memcpy(fresh, memory, std::min(bytes, wanted));
  release_memory(memory, bytes);
  return fresh;
}

}  // namespace

Buffer::~Buffer() {
  if (data_ == nullptr) return;
  release_memory(data_, size_);
  used_->fetch_sub(size_);
}

MemoryBudget::MemoryBudget() : MemoryBudget(kNoLimit) {}

MemoryBudget::MemoryBudget(std::size_t limit_bytes) : limit_(limit_bytes), used_(std::make_shared<std::atomic<std::size_t>>(0)) {}

void MemoryBudget::require(std::size_t bytes, std::string_view what) const {
  const std::size_t used = used_->load();
  if (used > limit_ || bytes > limit_ - used) refuse(bytes, used, limit_, what);
}

void MemoryBudget::take(std::size_t bytes, std::string_view what) const {
  std::size_t used = used_->load();
  do {
    if (used > limit_ || bytes > limit_ - used) refuse(bytes, used, limit_, what);
  } while (!used_->compare_exchange_weak(used, used + bytes));
}

Buffer MemoryBudget::allocate(std::size_t bytes, std::string_view what) const {
  take(bytes, what);
  std::byte* memory = get_memory(bytes);
  if (memory == nullptr) {
    used_->fetch_sub(bytes);
    fail(ErrorKind::memory, what, " needs ", format_bytes(bytes), " of memory, which the machine does not have");
  }
  Buffer buffer;
  buffer.data_ = memory;
  buffer.size_ = bytes;
  buffer.used_ = used_;
  return buffer;
}

void MemoryBudget::resize(Buffer& buffer, std::size_t bytes, std::string_view what) const {
  if (buffer.data_ == nullptr) {
    buffer = allocate(bytes, what);
    return;
  }
  const std::size_t more = bytes - std::min(bytes, buffer.size_);
  take(more, what);
  std::byte* moved = move_memory(buffer.data_, buffer.size_, bytes);
  if (moved == nullptr) {
    used_->fetch_sub(more);
    fail(ErrorKind::memory, what, " needs ", format_bytes(bytes), " of memory, which the machine does not have");
  }
  used_->fetch_sub(buffer.size_ - std::min(bytes, buffer.size_));
  buffer.data_ = moved;
  buffer.size_ = bytes;
}

std::size_t default_memory_limit() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  std::size_t memory = pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : kNoLimit;
  memory = std::min(memory, cgroup_limit());
  rlimit address_space{};
  if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY)
    memory = std::min<std::size_t>(memory, address_space.rlim_cur);
  return memory / 5 * 4;
}

}  // namespace v1
}  // namespace attn
