#include "io/safetensors.hpp"

#include <algorithm>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/metadata_text.hpp"
#include "io/npy_data.hpp"
#include "io/safetensors_header.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::uint64_t kLengthBytes = 8;

std::uint64_t header_length(const std::byte* bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) length = length << 8 | static_cast<std::uint64_t>(bytes[i]);
  return length;
}

class SafetensorsFile : public ArrayFile {
 public:
  SafetensorsFile(std::unique_ptr<FileReader> file, const MemoryBudget& budget) : file_(std::move(file)), source_(*file_) {
    name_ = file_->path();
    format_ = "safetensors";
    const std::uint64_t size = file_->size();
    if (size < kLengthBytes)
      fail(ErrorKind::malformed, file_->name(), ": has ", size, " bytes, shorter than the 8 of a header length");
    std::byte start[kLengthBytes];
    file_->read_at(0, start, sizeof start);
    const std::uint64_t length = header_length(start);
    if (length > size - kLengthBytes)
      fail(ErrorKind::malformed, file_->name(), ": header length ", length, " is past the end of the file");
    if (length > kMostTensorHeaderBytes)
      fail(ErrorKind::malformed, file_->name(), ": header length ", length, ", expected at most ", kMostTensorHeaderBytes);
    read_header(kLengthBytes + length, size, budget);
  }

  Array read(std::size_t member, const MemoryBudget& budget) override {
    require_array(members_.at(member));
    return read_npy_array(source_, places_[member], members_[member].where, budget);
  }

  void read_rows(std::size_t member, Index first, Index count, double* rows) override {
    require_array(members_.at(member));
    read_npy_rows(source_, places_[member], members_[member].where, {first, first + count}, rows);
  }

 private:
  void read_header(std::uint64_t data_offset, std::uint64_t size, const MemoryBudget& budget) {
    const auto length = static_cast<std::size_t>(data_offset - kLengthBytes);
    Buffer text = budget.allocate(length, file_->name());
    // What is kept of a header is of the size of its text.
    budget.require(length, file_->name());
    file_->read_at(kLengthBytes, text.data(), length);
    const std::string_view json(reinterpret_cast<const char*>(text.data()), length);
    const SafetensorsHeader header = parse_safetensors_header(json, size - data_offset, file_->name());
    for (const TensorEntry& tensor : header.tensors) add_tensor(tensor, data_offset);
    for (const auto& [name, value] : header.metadata)
      if (is_metadata_name(name)) add_metadata(name, value);
  }

  void add_tensor(const TensorEntry& tensor, std::uint64_t data_offset) {
    Member member;
    member.name = tensor.name;
    member.where = place(tensor.name);
    member.shape = tensor.shape;
    NpyHeader header;
    if (tensor.type.dtype) {
      member.dtype = *tensor.type.dtype;
      header.type = {NpyType::Content::numbers, member.dtype, item_size(member.dtype), false};
    } else {
      member.kind = MemberKind::other;
      member.found = concat(tensor.type.name, " numbers, which are not read");
    }
    header.shape = tensor.shape;
    header.data_offset = data_offset + tensor.begin;
    members_.push_back(std::move(member));
    places_.push_back(std::move(header));
  }

  void add_metadata(const std::string& name, const std::string& value) {
    if (find(name) != nullptr)
      fail(ErrorKind::malformed, place(name), ": is a tensor and stands in __metadata__ too, expected one of them");
    members_.push_back(metadata_member(name, value, place("__metadata__/" + name)));
    places_.emplace_back();
  }

  std::string place(const std::string& name) const { return concat(file_->name(), ":", printable(name, 60)); }

  std::unique_ptr<FileReader> file_;
  FileSource source_;
  std::vector<NpyHeader> places_;  // of each member, described as a .npy without a header of its own
};

}  // namespace

bool recognises_safetensors(std::span<const std::byte> head, std::uint64_t file_size) {
  if (head.size() <= kLengthBytes || head[kLengthBytes] != std::byte{'{'}) return false;
  const std::uint64_t length = header_length(head.data());
  return length >= 2 && length <= kMostTensorHeaderBytes && length <= file_size - kLengthBytes;
}

std::unique_ptr<ArrayFile> open_safetensors(std::unique_ptr<FileReader> file, const ReadOptions& /*options*/,
                                            const RunContext& run) {
  refuse_lfs_pointer(*file);
  file->report_to(run.progress);
  return std::make_unique<SafetensorsFile>(std::move(file), run.budget);
}

}  // namespace v1
}  // namespace attn
