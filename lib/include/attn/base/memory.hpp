#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace attn {
inline namespace v1 {

/// Uninitialised memory, 64-byte aligned, given back to its budget when destroyed. Move-only.
class Buffer {
 public:
  /// No bytes.
  Buffer() = default;
  /// Leaves the other one empty.
  Buffer(Buffer&& other) noexcept { swap(other); }
  /// Gives back what it held, leaves the other one empty.
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer taken(std::move(other));
    swap(taken);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  /// The first byte, 64-byte aligned; null when there is none.
  std::byte* data() noexcept { return data_; }
  /// The same, read-only.
  const std::byte* data() const noexcept { return data_; }
  /// In bytes.
  std::size_t size() const noexcept { return size_; }

 private:
  friend class MemoryBudget;
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(used_, other.used_);
  }

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::shared_ptr<std::atomic<std::size_t>> used_;  // the budget's counter
};

/// How much memory a run may hold in arrays. Copies share one count. Thread-safe.
class MemoryBudget {
 public:
  /// No limit but the machine's.
  MemoryBudget();
  /// At most this many bytes at a time.
  explicit MemoryBudget(std::size_t limit_bytes);

  /// In bytes; the largest number there is when there is no limit.
  std::size_t limit() const noexcept { return limit_; }
  /// Bytes held now by the buffers of all copies.
  std::size_t used() const noexcept { return used_->load(); }

  /// Throws ErrorKind::memory, naming `what`, the need and the limit, if `bytes` more would pass the limit.
  /// Nothing is allocated: for refusals from a header alone.
  void require(std::size_t bytes, std::string_view what) const;

  /// Uninitialised memory; throws ErrorKind::memory like require, and when the machine has none left.
  Buffer allocate(std::size_t bytes, std::string_view what) const;

  /// Makes a buffer longer or shorter and keeps what it holds; large ones move without being copied. It must be empty or
  /// come from this budget. On failure (as allocate) it stays as it was.
  void resize(Buffer& buffer, std::size_t bytes, std::string_view what) const;

 private:
  void take(std::size_t bytes, std::string_view what) const;

  std::size_t limit_;
  std::shared_ptr<std::atomic<std::size_t>> used_;
};

/// 80 % of the memory of the machine or of its cgroup, whichever is less, in bytes.
std::size_t default_memory_limit();

}  // namespace v1
}  // namespace attn
