#include "io/safetensors_header.hpp"

#include <algorithm>
#include <array>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/safetensors_json.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::array<TensorType, 22> kTypes{{{"F64", 64, DType::f64},          {"F32", 32, DType::f32},
                                             {"F16", 16, DType::f16},          {"BF16", 16, DType::bf16},
                                             {"I64", 64, DType::i64},          {"I32", 32, DType::i32},
                                             {"I16", 16, DType::i16},          {"I8", 8, DType::i8},
                                             {"U64", 64, DType::u64},          {"U32", 32, DType::u32},
                                             {"U16", 16, DType::u16},          {"U8", 8, DType::u8},
                                             {"BOOL", 8, DType::boolean},      {"F8_E4M3", 8, std::nullopt},
                                             {"F8_E5M2", 8, std::nullopt},     {"F8_E8M0", 8, std::nullopt},
                                             {"F8_E4M3FNUZ", 8, std::nullopt}, {"F8_E5M2FNUZ", 8, std::nullopt},
                                             {"C64", 64, std::nullopt},        {"F6_E2M3", 6, std::nullopt},
                                             {"F6_E3M2", 6, std::nullopt},     {"F4", 4, std::nullopt}}};

class Checker {
 public:
  Checker(std::uint64_t data_size, const std::string& file) : data_size_(data_size), file_(file) {}

  TensorEntry entry(RawTensor& raw) const {
    TensorEntry entry{std::move(raw.name), type_of(raw), std::move(raw.shape), 0, 0};
    entry.begin = static_cast<std::uint64_t>(raw.offsets[0]);
    entry.end = static_cast<std::uint64_t>(raw.offsets[1]);
    if (entry.end < entry.begin || entry.end > data_size_)
      refuse(entry, concat("data_offsets [", entry.begin, ",", entry.end, "] do not lie in the ", data_size_, " bytes of data"));
    const Index elements = checked_size(entry.shape, concat(file_, ":", printable(entry.name, 60)));
    Index bits = 0;
    if (__builtin_mul_overflow(elements, Index{entry.type.bits}, &bits))
      refuse(entry, concat("shape ", shape_text(entry.shape), " has more bytes than can be counted"));
    const auto needed = static_cast<std::uint64_t>(bits) / 8;
    if (bits % 8 != 0 || entry.end - entry.begin != needed)
      refuse(entry, concat("shape ", shape_text(entry.shape), " of ", entry.type.name, " needs ", needed,
                           " bytes, data_offsets give ", entry.end - entry.begin));
    return entry;
  }

  /// Sorted by their place, each tensor must begin where the one before it ended.
  void check_tiling(const std::vector<TensorEntry>& tensors) const {
    std::vector<const TensorEntry*> order;
    for (const TensorEntry& tensor : tensors) order.push_back(&tensor);
    std::sort(order.begin(), order.end(),
              [](auto* a, auto* b) { return std::pair(a->begin, a->end) < std::pair(b->begin, b->end); });
    std::uint64_t next = 0;
    for (const TensorEntry* tensor : order) {
      if (tensor->begin < next) refuse(*tensor, concat("its data begins at ", tensor->begin, ", inside that of another tensor"));
      if (tensor->begin > next) refuse(*tensor, concat("a hole of ", tensor->begin - next, " bytes in front of its data"));
      next = tensor->end;
    }
    if (next < data_size_) fail(ErrorKind::malformed, file_, ": ", data_size_ - next, " bytes after the last tensor");
  }

 private:
  TensorType type_of(const RawTensor& raw) const {
    for (const TensorType& type : kTypes)
      if (raw.dtype == type.name) return type;
    std::string known;
    for (const TensorType& type : kTypes)
      if (type.dtype) known += concat(known.empty() ? "" : " ", type.name);
    fail(ErrorKind::malformed, file_, ": tensor '", printable(raw.name, 60), "' has the unknown dtype '",
         printable(raw.dtype, 40), "', expected ", known);
  }

  [[noreturn]] void refuse(const TensorEntry& tensor, std::string_view what) const {
    fail(ErrorKind::malformed, file_, ": tensor '", printable(tensor.name, 60), "': ", what);
  }

  std::uint64_t data_size_;
  const std::string& file_;
};

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_size, const std::string& file) {
  if (const std::size_t bad = utf8_error(json); bad < json.size())
    fail(ErrorKind::malformed, file, ": header: not UTF-8 at byte ", bad);
  // The JSON library takes a zero byte for the end and would not look at what follows.
  if (const std::size_t zero = json.find('\0'); zero != std::string_view::npos)
    fail(ErrorKind::malformed, file, ": header: not JSON from byte ", zero, " on (a zero byte)");
  if (json.empty() || json.front() != '{') fail(ErrorKind::malformed, file, ": header: must begin with '{'");
  RawHeader raw = parse_safetensors_json(json, file);
  SafetensorsHeader header;
  header.metadata = std::move(raw.metadata);
  const Checker checker(data_size, file);
  for (RawTensor& tensor : raw.tensors) header.tensors.push_back(checker.entry(tensor));
  checker.check_tiling(header.tensors);
  return header;
}

std::string_view tensor_type_name(DType dtype) {
  for (const TensorType& type : kTypes)
    if (type.dtype == dtype) return type.name;
  fail(ErrorKind::internal, "an element type without a name");
}

}  // namespace v1
}  // namespace attn
