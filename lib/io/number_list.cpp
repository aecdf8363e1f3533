#include "io/number_list.hpp"

#include <algorithm>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::size_t kFirstCount = 16;
constexpr std::size_t kLargestStep = std::size_t{8} << 20;  // numbers, 64 MiB

}  // namespace

void NumberList::grow() {
  const std::size_t count = static_cast<std::size_t>(size());
  const std::size_t room = (budget_.limit() - std::min(budget_.limit(), budget_.used())) / sizeof(double);
  // A quarter more at a time for large lists, so that little is held in vain; the last bytes of the budget are used too.
  const std::size_t wanted = count < (std::size_t{1} << 19) ? std::max(count, kFirstCount) : std::min(count / 4, kLargestStep);
  const std::size_t more = std::min(room, wanted);
  if (more == 0)
    fail(ErrorKind::memory, what_, ": more than ", count, " numbers do not fit the memory limit of ",
         format_bytes(budget_.limit()));
  budget_.resize(block_, (count + more) * sizeof(double), what_);
  next_ = begin() + count;
  end_ = next_ + more;
}

Buffer NumberList::release(DType dtype) {
  const std::size_t count = static_cast<std::size_t>(size());
  if (dtype == DType::boolean) {
    // Byte i lies at or before double i, so the numbers not yet read stay untouched.
    for (std::size_t i = 0; i < count; ++i) block_.data()[i] = static_cast<std::byte>(begin()[i] != 0);
  }
  budget_.resize(block_, count * item_size(dtype), what_);
  next_ = end_ = nullptr;
  return std::move(block_);
}

}  // namespace v1
}  // namespace attn
