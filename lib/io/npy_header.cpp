#include "io/npy_header.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/file_reader.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::size_t kMostHeaderBytes = 1 << 20;

struct NumberType {
  std::string_view spelling;  // without the byte order
  DType dtype;
};
constexpr std::array<NumberType, 12> kNumberTypes{{{"f2", DType::f16},
                                                   {"f4", DType::f32},
                                                   {"f8", DType::f64},
                                                   {"i1", DType::i8},
                                                   {"i2", DType::i16},
                                                   {"i4", DType::i32},
                                                   {"i8", DType::i64},
                                                   {"u1", DType::u8},
                                                   {"u2", DType::u16},
                                                   {"u4", DType::u32},
                                                   {"u8", DType::u64},
                                                   {"b1", DType::boolean}}};

struct Refusal {
  std::string_view spelling;  // how it begins, without the byte order; the first that fits counts
  std::string_view what;
  std::string_view hint;
};
constexpr std::array<Refusal, 9> kRefusals{{
    {"O", "Python objects (pickle), which are not read", "save numbers with array.astype('float32'), texts with array.astype(str)"},
    {"c", "complex numbers", "save the real part, or its magnitude"},
    {"f16", "128-bit floats", "save as float64: array.astype('float64')"},
    {"f12", "96-bit floats", "save as float64: array.astype('float64')"},
    {"V2", "raw bytes", "2 bytes each may be bfloat16, which .npy cannot say: save as float32, or as .safetensors"},
    {"V", "raw bytes", ""},
    {"M", "dates", ""},
    {"m", "spans of time", ""},
    {"t", "bit fields", ""},
}};

constexpr char kOtherOrder = std::endian::native == std::endian::little ? '>' : '<';

[[noreturn]] void refuse_type(std::string_view descr, std::string_view kind, const std::string& where) {
  for (const Refusal& refusal : kRefusals)
    if (kind.starts_with(refusal.spelling))
      fail_with_hint(ErrorKind::malformed, std::string(refusal.hint), where, ": holds ", refusal.what, " (dtype '",
                     printable(descr, 40), "'), expected numbers");
  fail(ErrorKind::malformed, where, ": has the dtype '", printable(descr, 40),
       "', expected f2 f4 f8, i1 i2 i4 i8, u1 u2 u4 u8 or b1");
}

/// "U5" and "S5": so many characters of 4 bytes or 1.
bool parse_text_type(std::string_view kind, NpyType& type) {
  if (kind.empty() || (kind[0] != 'U' && kind[0] != 'S')) return false;
  const auto length = parse_integer(kind.substr(1));
  if (!length || *length < 0 || *length > (Index{1} << 40)) return false;
  type.content = kind[0] == 'U' ? NpyType::Content::unicode : NpyType::Content::bytes;
  type.item = static_cast<std::size_t>(*length) * (kind[0] == 'U' ? 4 : 1);
  return true;
}

std::uint64_t data_bytes(const NpyHeader& header, const std::string& where) {
  const Index elements = checked_size(header.shape, where);
  Index needed = 0;
  if (__builtin_mul_overflow(elements, static_cast<Index>(header.type.item), &needed))
    fail(ErrorKind::malformed, where, ": shape ", shape_text(header.shape), " has more bytes than can be counted");
  return static_cast<std::uint64_t>(needed);
}

std::uint64_t little_endian(const unsigned char* bytes, int count) {
  std::uint64_t value = 0;
  for (int i = count; i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

}  // namespace

NpyType parse_npy_type(std::string_view descr, const std::string& where) {
  NpyType type;
  std::string_view kind = descr;
  if (!kind.empty() && std::string_view("<>|=").find(kind[0]) != std::string_view::npos) {
    type.swapped = kind[0] == kOtherOrder;
    kind.remove_prefix(1);
  }
  for (const NumberType& known : kNumberTypes) {
    if (kind != known.spelling) continue;
    type.dtype = known.dtype;
    type.item = item_size(known.dtype);
    return type;
  }
  if (!parse_text_type(kind, type)) refuse_type(descr, kind, where);
  return type;
}

void check_npy_size(const NpyHeader& header, std::uint64_t size, const std::string& where) {
  const std::uint64_t wanted = data_bytes(header, where);
  const std::uint64_t available = size - header.data_offset;
  if (available < wanted)
    fail(ErrorKind::malformed, where, ": shape ", shape_text(header.shape), " needs ", wanted, " bytes of data, found ",
         available);
  if (available > wanted) fail(ErrorKind::malformed, where, ": ", available - wanted, " bytes after the data");
}

NpyHeader read_npy_header(NpySource& source, const std::string& where) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  const std::uint64_t size = source.size();
  unsigned char start[12] = {};
  if (size < 10) fail(ErrorKind::malformed, where, ": has ", size, " bytes, shorter than an npy header");
  source.read_at(0, start, 10);
  if (std::memcmp(start, kMagic.data(), kMagic.size()) != 0) fail(ErrorKind::malformed, where, ": not an npy file");
  const int version = start[6];
  if (version < 1 || version > 3 || start[7] != 0)
    fail(ErrorKind::malformed, where, ": npy version ", version, ".", static_cast<int>(start[7]),
         " is not known, expected 1.0 to 3.0");
  const std::uint64_t begin = version == 1 ? 10 : 12;
  if (size < begin) fail(ErrorKind::malformed, where, ": has ", size, " bytes, shorter than an npy header");
  if (version > 1) source.read_at(10, start + 10, 2);
  const std::uint64_t length = little_endian(start + 8, version == 1 ? 2 : 4);
  if (length > kMostHeaderBytes)
    fail(ErrorKind::malformed, where, ": the npy header claims ", length, " bytes, expected at most ", kMostHeaderBytes);
  if (length > size - begin)
    fail(ErrorKind::malformed, where, ": the npy header claims ", length, " bytes, past the end of the file");
  std::string text(static_cast<std::size_t>(length), '\0');
  source.read_at(begin, text.data(), text.size());
  NpyHeader header = parse_npy_dict(text, where);
  header.data_offset = begin + length;
  if (size == kUnknownSize)
    data_bytes(header, where);  // must be countable
  else
    check_npy_size(header, size, where);
  return header;
}

}  // namespace v1
}  // namespace attn
