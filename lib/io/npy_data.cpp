#include "io/npy_data.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::size_t kScratchBytes = 1 << 20;
/// Columns of a Fortran array that are turned at once: enough of them that whole cache lines of the target are written.
constexpr Index kColumnBytes = 32 << 20;

template <typename Word, Word (*Swap)(Word)>
void swap_words(std::byte* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, bytes + i * sizeof word, sizeof word);
    word = Swap(word);
    std::memcpy(bytes + i * sizeof word, &word, sizeof word);
  }
}

std::uint16_t swap16(std::uint16_t word) { return __builtin_bswap16(word); }
std::uint32_t swap32(std::uint32_t word) { return __builtin_bswap32(word); }
std::uint64_t swap64(std::uint64_t word) { return __builtin_bswap64(word); }

void swap_bytes(std::byte* bytes, std::size_t count, std::size_t item) {
  if (item == 2) swap_words<std::uint16_t, swap16>(bytes, count);
  if (item == 4) swap_words<std::uint32_t, swap32>(bytes, count);
  if (item == 8) swap_words<std::uint64_t, swap64>(bytes, count);
}

/// Brings elements just read to native order and checks them; `first` is the number of the first.
void settle(std::byte* bytes, std::size_t count, std::uint64_t first, const NpyType& type, const std::string& where) {
  if (type.swapped) swap_bytes(bytes, count, type.item);
  if (type.dtype == DType::boolean) check_booleans(bytes, count, first, where);
}

/// One matrix of [rows, columns] in Fortran order, whose columns lie `pitch` elements apart, to C order, whose rows lie
/// `stride` apart. By blocks, so that both sides stay in the cache.
template <typename Word>
struct Transposition {
  Index rows, columns, pitch, stride;

  void run(const Word* source, Word* target) const {
    constexpr Index kBlock = 32;
    for (Index row = 0; row < rows; row += kBlock)
      for (Index column = 0; column < columns; column += kBlock) block(source, target, row, column, kBlock);
  }

  void block(const Word* source, Word* target, Index row, Index column, Index size) const {
    for (Index r = row; r < std::min(rows, row + size); ++r)
      for (Index c = column; c < std::min(columns, column + size); ++c) target[r * stride + c] = source[c * pitch + r];
  }
};

/// A piece of an array in Fortran order: elements [begin, end) of each of `slices` slices, counted from `first`. A slice
/// is what has one index of the last axis; it lies in the source without a gap.
struct ColumnPiece {
  Index first, slices, begin, end;
};

/// The elements of one piece, `end - begin` apart from slice to slice, to their places in C order. The first axis is
/// contiguous in the source, the last one in the target.
template <typename Word>
void place_columns(const std::byte* from, const Shape& shape, const ColumnPiece& piece, std::byte* to) {
  const std::size_t rank = shape.size();
  std::vector<Index> far(rank);  // strides in the target
  Index step = 1;
  for (std::size_t axis = rank; axis-- > 0; step *= shape[axis]) far[axis] = step;
  for (Index at = piece.begin, run = 0; at < piece.end; at += run) {
    const Index row = at % shape.front();
    run = std::min(shape.front() - row, piece.end - at);
    Index target = row * far.front() + piece.first;
    Index rest = at / shape.front();
    for (std::size_t axis = 1; axis + 1 < rank; rest /= shape[axis], ++axis) target += rest % shape[axis] * far[axis];
    const Transposition<Word> plane{run, piece.slices, piece.end - piece.begin, far.front()};
    plane.run(reinterpret_cast<const Word*>(from) + (at - piece.begin), reinterpret_cast<Word*>(to) + target);
  }
}

void place_columns(const std::byte* from, const Shape& shape, std::size_t item, const ColumnPiece& piece, std::byte* to) {
  if (item == 1) place_columns<std::uint8_t>(from, shape, piece, to);
  if (item == 2) place_columns<std::uint16_t>(from, shape, piece, to);
  if (item == 4) place_columns<std::uint32_t>(from, shape, piece, to);
  if (item == 8) place_columns<std::uint64_t>(from, shape, piece, to);
}

/// Reads an array of rank 2 or more that is stored in Fortran order, through a buffer of a few columns.
void read_columns(NpySource& source, const NpyHeader& header, const std::string& where, const MemoryBudget& budget,
                  Array& array) {
  const Index item = static_cast<Index>(header.type.item);
  const Index last = header.shape.back();
  const Index slice = array.size() / last;
  const Index most = std::max<Index>(1, kColumnBytes / item);  // elements at once
  const Index slices = std::clamp<Index>(most / slice, 1, last);
  const Index length = std::min(slice, most);
  Buffer columns = budget.allocate(static_cast<std::size_t>(slices * length * item), where);
  for (Index first = 0; first < last; first += slices)
    for (Index begin = 0; begin < slice; begin += length) {
      const ColumnPiece piece{first, std::min(slices, last - first), begin, std::min(slice, begin + length)};
      const Index element = first * slice + begin;
      const auto count = static_cast<std::size_t>(piece.slices * (piece.end - begin));
      source.read_at(header.data_offset + static_cast<std::uint64_t>(element * item), columns.data(), count * header.type.item);
      settle(columns.data(), count, static_cast<std::uint64_t>(element), header.type, where);
      place_columns(columns.data(), header.shape, header.type.item, piece, array.bytes.data());
    }
}

void append_utf8(std::string& text, std::uint32_t code, const std::string& where) {
  const auto byte = [&](std::uint32_t value) { text += static_cast<char>(value); };
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
    fail(ErrorKind::malformed, where, ": a text holds ", code, ", which is no Unicode character");
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      byte(0xe0 | code >> 12);
    } else {
      byte(0xf0 | code >> 18);
      byte(0x80 | (code >> 12 & 0x3f));
    }
    byte(0x80 | (code >> 6 & 0x3f));
  }
  byte(0x80 | (code & 0x3f));
}

/// One fixed-width text; the zeros that fill it up are no part of it.
std::string decode_text(std::byte* bytes, const NpyType& type, const std::string& where) {
  std::string text;
  if (type.content == NpyType::Content::bytes) {
    text.assign(reinterpret_cast<const char*>(bytes), type.item);
    return text.substr(0, text.find_last_not_of('\0') + 1);
  }
  if (type.swapped) swap_bytes(bytes, type.item / 4, 4);
  std::size_t length = type.item / 4;
  const auto character = [&](std::size_t i) {
    std::uint32_t code;
    std::memcpy(&code, bytes + 4 * i, sizeof code);
    return code;
  };
  while (length > 0 && character(length - 1) == 0) --length;
  for (std::size_t i = 0; i < length; ++i) append_utf8(text, character(i), where);
  return text;
}

std::vector<std::string> read_texts(NpySource& source, const NpyHeader& header, const std::string& where,
                                    const MemoryBudget& budget) {
  const auto count = static_cast<std::size_t>(checked_size(header.shape, where));
  budget.require(count * sizeof(std::string) + 2 * count * header.type.item, where);
  Buffer content = budget.allocate(count * header.type.item, where);
  source.read_at(header.data_offset, content.data(), content.size());
  std::vector<std::string> texts(count);
  for (std::size_t i = 0; i < count; ++i) texts[i] = decode_text(content.data() + i * header.type.item, header.type, where);
  return texts;
}

}  // namespace

void check_booleans(const std::byte* bytes, std::size_t count, std::uint64_t first, const std::string& where) {
  std::byte all{0};
  for (std::size_t i = 0; i < count; ++i) all |= bytes[i];
  if (all <= std::byte{1}) return;
  const std::byte* bad = std::find_if(bytes, bytes + count, [](std::byte b) { return b > std::byte{1}; });
  fail(ErrorKind::malformed, where, ": element ", first + static_cast<std::uint64_t>(bad - bytes), " is ", static_cast<int>(*bad),
       ", expected a boolean, 0 or 1");
}

void require_array(const Member& member) {
  if (member.kind != MemberKind::array) fail(ErrorKind::internal, member.where, ": read as an array, but it is none");
}

Index row_width(const Shape& shape) { return shape.empty() ? 1 : shape.back(); }

void copy_rows(const Array& array, Range rows, double* target) {
  const Index width = row_width(array.shape);
  const auto offset = static_cast<std::size_t>(rows.begin * width) * item_size(array.dtype);
  convert_elements(array.dtype, array.bytes.data() + offset, (rows.end - rows.begin) * width, target);
}

Member describe_npy(NpySource& source, const NpyHeader& header, const std::string& where, const MemoryBudget& budget) {
  Member member;
  member.where = where;
  member.shape = header.shape;
  member.dtype = header.type.dtype;
  if (header.type.content == NpyType::Content::numbers) return member;
  if (header.shape.size() > 1)
    fail(ErrorKind::malformed, where, ": holds texts of shape ", shape_text(header.shape),
         ", expected numbers or a list of texts");
  std::vector<std::string> texts = read_texts(source, header, where, budget);
  member.kind = header.shape.empty() ? MemberKind::text : MemberKind::strings;
  if (header.shape.empty())
    member.text = std::move(texts.front());
  else
    member.strings = std::move(texts);
  return member;
}

Array read_npy_array(NpySource& source, const NpyHeader& header, const std::string& where, const MemoryBudget& budget) {
  Array array = make_array(header.type.dtype, header.shape, budget, where);
  const auto count = static_cast<std::size_t>(array.size());
  if (header.fortran_order && header.shape.size() > 1 && count > 0) {
    read_columns(source, header, where, budget, array);
    return array;
  }
  source.read_at(header.data_offset, array.bytes.data(), count * header.type.item);
  settle(array.bytes.data(), count, 0, header.type, where);
  return array;
}

void read_npy_rows(NpySource& source, const NpyHeader& header, const std::string& where, Range rows, double* target) {
  const Index width = row_width(header.shape);
  auto element = static_cast<std::uint64_t>(rows.begin * width);
  auto left = static_cast<std::size_t>((rows.end - rows.begin) * width);
  const std::size_t item = header.type.item;
  std::vector<std::byte> scratch(std::min(kScratchBytes / item * item, left * item));
  while (left > 0) {
    const std::size_t count = std::min(left, scratch.size() / item);
    source.read_at(header.data_offset + element * item, scratch.data(), count * item);
    settle(scratch.data(), count, element, header.type, where);
    convert_elements(header.type.dtype, scratch.data(), static_cast<Index>(count), target);
    target += count;
    element += count;
    left -= count;
  }
}

}  // namespace v1
}  // namespace attn
