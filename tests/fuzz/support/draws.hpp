#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace attn::fuzz {

/// Takes numbers and texts from the bytes of an input; zeros once they are used up.
class Draws {
 public:
  Draws(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const char taken = rest_.front();
    rest_.remove_prefix(1);
    return static_cast<std::uint8_t>(taken);
  }
  bool flag() { return (byte() & 1) != 0; }
  /// A whole number, both ends included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    const auto choices = static_cast<std::uint64_t>(high - low) + 1;
    const std::uint64_t drawn = choices <= 256 ? byte() : static_cast<std::uint64_t>(byte()) << 8 | byte();
    return low + static_cast<std::int64_t>(drawn % choices);
  }
  /// A value with the bits of the next bytes.
  template <typename Value>
  Value bits() {
    Value value{};
    const std::string_view taken = take(sizeof value);
    std::memcpy(&value, taken.data(), taken.size());
    return value;
  }
  /// The next bytes, fewer at the end.
  std::string_view take(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  /// What stands before the next byte `end`, which is dropped.
  std::string until(char end) {
    const std::size_t length = rest_.find(end);
    const std::string taken(rest_.substr(0, length));
    rest_.remove_prefix(length == std::string_view::npos ? rest_.size() : length + 1);
    return taken;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

}  // namespace attn::fuzz
