#include "io/text_array_file.hpp"

#include <cstring>

#include "attn/base/error.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// Arrays up to this size are copied when they are read, so that they can be read again at no cost.
constexpr std::size_t kKeptBytes = std::size_t{1} << 20;

}  // namespace

TextArrayFile::TextArrayFile(std::string_view format, std::unique_ptr<FileReader> file, const ReadOptions& options,
                             const RunContext& run, TextParser parser)
    : file_(std::move(file)), options_(options), run_(run), parser_(parser) {
  name_ = file_->path();
  format_ = format;
  TextContent content = parser_(*file_, options_, run_);
  members_ = std::move(content.members);
  numbers_ = std::move(content.numbers);
}

Buffer& TextArrayFile::numbers_of(std::size_t member) {
  const Member& wanted = members_.at(member);
  if (wanted.kind != MemberKind::array) fail(ErrorKind::internal, wanted.where, ": read as an array, but it is none");
  if (numbers_[member].data() == nullptr) {
    TextContent again = parser_(*file_, options_, run_);
    if (member >= again.members.size() || again.members[member].shape != wanted.shape ||
        again.members[member].dtype != wanted.dtype)
      fail(ErrorKind::malformed, wanted.where, ": the file changed while it was read");
    numbers_[member] = std::move(again.numbers[member]);
  }
  return numbers_[member];
}

Array TextArrayFile::read(std::size_t member, const MemoryBudget& budget) {
  Buffer& numbers = numbers_of(member);
  const Member& description = members_[member];
  if (numbers.size() > kKeptBytes) {
    Array array;
    array.dtype = description.dtype;
    array.shape = description.shape;
    array.bytes = std::move(numbers);
    return array;
  }
  Array array = make_array(description.dtype, description.shape, budget, description.where);
  if (numbers.size() > 0) std::memcpy(array.bytes.data(), numbers.data(), numbers.size());
  return array;
}

void TextArrayFile::read_rows(std::size_t member, Index first, Index count, double* rows) {
  const Buffer& numbers = numbers_of(member);
  const Member& description = members_[member];
  const Index columns = description.shape.empty() ? 1 : description.shape.back();
  const std::size_t begin = static_cast<std::size_t>(first * columns) * item_size(description.dtype);
  convert_elements(description.dtype, numbers.data() + begin, count * columns, rows);
}

}  // namespace v1
}  // namespace attn
