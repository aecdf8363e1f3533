// Builds a right .safetensors, which must be accepted and read to what went in, then changes up to three of its bytes: a
// second reader must agree on whether that is accepted.
#include <cstring>

#include "fuzz/support/check.hpp"
#include "fuzz/support/draws.hpp"
#include "fuzz/support/plain_safetensors.hpp"
#include "fuzz/support/reading.hpp"

using namespace attn;
using namespace attn::fuzz;

namespace {

struct Tensor {
  std::string name, dtype;
  DType type = DType::u8;
  Shape shape;
  std::string data;
};

Tensor drawn_tensor(Draws& draws, std::size_t number) {
  static constexpr std::pair<const char*, DType> kTypes[] = {
      {"F64", DType::f64}, {"F32", DType::f32}, {"F16", DType::f16},     {"BF16", DType::bf16}, {"I64", DType::i64},
      {"I32", DType::i32}, {"I16", DType::i16}, {"I8", DType::i8},       {"U64", DType::u64},   {"U32", DType::u32},
      {"U16", DType::u16}, {"U8", DType::u8},   {"BOOL", DType::boolean}};
  Tensor tensor;
  const auto& [dtype, type] = kTypes[draws.between(0, 12)];
  tensor.dtype = dtype, tensor.type = type;
  tensor.name = concat(to_utf8(draws.take(static_cast<std::size_t>(draws.between(0, 6)))), number);
  for (Index rank = draws.between(0, 4); rank > 0; --rank) tensor.shape.push_back(draws.between(0, 4));
  tensor.data.resize(checked_bytes(tensor.shape, type, "tensor"));
  for (char& byte : tensor.data) byte = static_cast<char>(type == DType::boolean ? draws.byte() & 1 : draws.byte());
  return tensor;
}

std::string file_of(const std::vector<Tensor>& tensors, Draws& draws) {
  std::string header = "{", data;
  if (draws.flag()) {
    header += "\"__metadata__\":{\"x\":";
    append_json_string(header, draws.take(4));
    header += "}";
  }
  std::vector<std::string> entries;
  for (const Tensor& tensor : tensors) {
    std::string entry;
    append_json_string(entry, tensor.name);
    entry += concat(":{\"dtype\":\"", tensor.dtype, "\",\"shape\":", shape_text(tensor.shape), ",\"data_offsets\":[", data.size(),
                    ",", data.size() + tensor.data.size(), "]}");
    data += tensor.data;
    entries.push_back(entry);
  }
  // The header may name them in any order.
  while (!entries.empty()) {
    const auto next = entries.begin() + draws.between(0, static_cast<std::int64_t>(entries.size()) - 1);
    header += concat(header.size() > 1 ? "," : "", *next);
    entries.erase(next);
  }
  header += "}" + std::string(static_cast<std::size_t>(draws.between(0, 7)), ' ');
  std::string file(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(file.data(), &length, sizeof length);
  return file + header + data;
}

void require_read(const std::vector<Tensor>& tensors, const Contents& contents) {
  require(contents.members.size() == tensors.size(), "as many tensors as went in");
  for (const Tensor& tensor : tensors) {
    std::size_t at = 0;
    while (at < contents.members.size() && contents.members[at].name != tensor.name) ++at;
    require(at < contents.members.size(), "a tensor is not found by its name");
    const Array& array = contents.arrays[at];
    require(array.shape == tensor.shape && array.dtype == tensor.type, "a tensor has another shape or type");
    require(std::memcmp(array.bytes.data(), tensor.data.data(), tensor.data.size()) == 0 || tensor.data.empty(),
            "a tensor has other bytes");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Draws draws(data, size);
  std::vector<Tensor> tensors;
  for (std::int64_t count = draws.between(0, 8); count > 0; --count) tensors.push_back(drawn_tensor(draws, tensors.size()));
  std::string file = file_of(tensors, draws);
  std::string refusal;
  const auto whole = read_contents(file, {.format = "safetensors"}, &refusal);
  require(whole.has_value(), "a right file is refused: " + refusal);
  require_read(tensors, *whole);
  const std::int64_t flips = draws.between(0, 3);
  for (std::int64_t i = 0; i < flips; ++i) {
    const std::size_t at = static_cast<std::size_t>(draws.bits<std::uint16_t>()) % file.size();
    file[at] = static_cast<char>(file[at] ^ draws.byte());
  }
  if (flips == 0) return 0;
  const auto changed = read_contents(file, {.format = "safetensors"}, &refusal);
  const PlainSafetensors plain(file);
  require(!changed || plain.valid(), "accepted, but refused by a second reader");
  require(changed || !plain.valid() || plain.may_be_refused_later(), "refused, but accepted by a second reader: " + refusal);
  return 0;
}
