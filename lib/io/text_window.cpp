#include "io/text_window.hpp"

#include <algorithm>
#include <cstring>

#include "attn/base/error.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

}  // namespace

TextWindow::TextWindow(FileReader& file, const RunContext& run) : file_(file), run_(run) {}

bool TextWindow::fill() {
  const std::uint64_t size = file_.known_size();
  const auto more = static_cast<std::size_t>(std::min<std::uint64_t>(size - end_offset_, kPieceBytes));
  std::byte first{};  // nothing moves at the end
  if (more == 0 || file_.take_some(end_offset_, &first, 1) == 0) return false;
  const std::size_t kept = static_cast<std::size_t>(end - next);
  if (kept + more <= piece_.size()) {
    if (kept > 0) std::memmove(piece_.data(), next, kept);
  } else {
    Buffer larger = run_.budget.allocate(kept + more, file_.name());
    if (kept > 0) std::memcpy(larger.data(), next, kept);
    piece_ = std::move(larger);
  }
  piece_.data()[kept] = first;
  const std::size_t got = 1 + file_.take_some(end_offset_ + 1, piece_.data() + kept + 1, more - 1);
  next = reinterpret_cast<const char*>(piece_.data());
  end = next + kept + got;
  end_offset_ += got;
  if (run_.progress != nullptr)
    run_.progress->update("reading", static_cast<Index>(end_offset_), size == kUnknownSize ? 0 : static_cast<Index>(size));
  return true;
}

void skip_byte_order_mark(TextWindow& window) {
  if (!window.ensure(1)) fail(ErrorKind::malformed, window.name(), ": empty file");
  window.ensure(4);
  const std::string_view start(window.next, std::min<std::size_t>(4, static_cast<std::size_t>(window.end - window.next)));
  const std::string_view pair = start.substr(0, 2);
  using namespace std::string_view_literals;
  if (pair == "\xff\xfe"sv || pair == "\xfe\xff"sv || start == "\0\0\xfe\xff"sv)
    fail(ErrorKind::malformed, window.name(), ": this looks like UTF-16 or UTF-32 text, expected UTF-8; save it as UTF-8");
  if (start.substr(0, 3) == "\xef\xbb\xbf") window.next += 3;
}

}  // namespace v1
}  // namespace attn
