#include "io/npy.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <vector>

#include "attn/base/error.hpp"
#include "io/npy_data.hpp"

namespace attn {
inline namespace v1 {
namespace {

class NpyFile : public ArrayFile {
 public:
  NpyFile(std::unique_ptr<FileReader> file, const MemoryBudget& budget)
      : file_(std::move(file)), source_(*file_), budget_(budget), header_(read_npy_header(source_, file_->name())) {
    name_ = file_->path();
    format_ = "npy";
    if (header_.type.content != NpyType::Content::numbers) find_end();
    members_.push_back(describe_npy(source_, header_, file_->name(), budget));
  }

  Array read(std::size_t /*member*/, const MemoryBudget& budget) override {
    require_array(members_[0]);
    return load(budget);
  }

  void read_rows(std::size_t /*member*/, Index first, Index count, double* rows) override {
    require_array(members_[0]);
    const Range range{first, first + count};
    if (!header_.fortran_order) {
      find_end();
      return read_npy_rows(source_, header_, file_->name(), range, rows);
    }
    // Rows of a file that is stored by columns lie all over it.
    if (!held_) held_ = load(budget_);
    copy_rows(*held_, range, rows);
  }

 private:
  /// A long stream goes straight into the array: only rows are asked for more than once.
  Array load(const MemoryBudget& budget) {
    if (file_->known_size() != kUnknownSize) return read_npy_array(source_, header_, file_->name(), budget);
    OnePassSource stream(*file_);
    Array array = read_npy_array(stream, header_, file_->name(), budget);
    std::byte more{};
    if (file_->take_some(header_.data_offset + array.bytes.size(), &more, 1) > 0)
      fail(ErrorKind::malformed, file_->name(), ": bytes after the data");
    return array;
  }

  void find_end() {
    if (file_->known_size() == kUnknownSize) check_npy_size(header_, file_->size(), file_->name());
  }

  std::unique_ptr<FileReader> file_;
  FileSource source_;
  MemoryBudget budget_;
  NpyHeader header_;
  std::optional<Array> held_;
};

constexpr std::array<std::string_view, 13> kDescr{"<f2", "",    "<f4", "<f8", "|i1", "<i2", "<i4",
                                                  "<i8", "|u1", "<u2", "<u4", "<u8", "|b1"};  // in the order of DType

class NpyRowSink : public PlainRowSink {
 public:
  NpyRowSink(const ArrayHeader& header, ByteSink& bytes) : PlainRowSink(header.dtype, header.shape, bytes) {
    bytes.write(npy_preamble(npy_descr(header.dtype), header.shape));
  }
};

}  // namespace

bool recognises_npy(std::span<const std::byte> head, std::uint64_t /*file_size*/) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  return head.size() >= kMagic.size() && std::memcmp(head.data(), kMagic.data(), kMagic.size()) == 0;
}

std::unique_ptr<ArrayFile> open_npy(std::unique_ptr<FileReader> file, const ReadOptions& /*options*/, const RunContext& run) {
  refuse_lfs_pointer(*file);
  file->report_to(run.progress);
  return std::make_unique<NpyFile>(std::move(file), run.budget);
}

std::unique_ptr<RowSink> make_npy_writer(const ArrayHeader& header, const WriteOptions& /*options*/, ByteSink& bytes) {
  return std::make_unique<NpyRowSink>(header, bytes);
}

std::string_view npy_descr(DType dtype) { return kDescr[static_cast<std::size_t>(dtype)]; }

std::string npy_preamble(std::string_view descr, const Shape& shape) {
  std::string dict = concat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (");
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    dict += concat(shape[axis], shape.size() == 1 ? "," : axis + 1 < shape.size() ? ", " : "");
  dict += "), }";
  constexpr std::size_t kStart = 10;
  const std::size_t total = (kStart + dict.size() + 1 + 63) / 64 * 64;
  dict.append(total - kStart - dict.size() - 1, ' ');
  dict += '\n';
  std::string preamble("\x93NUMPY\x01\x00", 8);
  preamble += static_cast<char>(dict.size() & 0xff);
  preamble += static_cast<char>(dict.size() >> 8);
  return preamble + dict;
}

// Files of this tool are little-endian, and their numbers are written as they lie in memory.
static_assert(std::endian::native == std::endian::little);

void write_rows(const RowBlock& rows, DType dtype, ByteSink& bytes) {
  const std::size_t item = item_size(rows.dtype);
  const auto* next = static_cast<const std::byte*>(rows.data);
  const bool joined = rows.stride == rows.columns;
  const Index runs = joined ? 1 : rows.count;
  const Index run = joined ? rows.count * rows.columns : rows.columns;
  std::vector<std::byte> converted(rows.dtype == dtype ? 0 : static_cast<std::size_t>(run) * item_size(dtype));
  for (Index r = 0; r < runs; ++r, next += static_cast<std::size_t>(rows.stride) * item) {
    const std::byte* packed = next;
    if (rows.dtype != dtype) {
      if (dtype == DType::f32)
        convert_elements(rows.dtype, next, run, reinterpret_cast<float*>(converted.data()));
      else
        convert_elements(rows.dtype, next, run, reinterpret_cast<double*>(converted.data()));
      packed = converted.data();
    }
    bytes.write(packed, static_cast<std::size_t>(run) * item_size(dtype));
  }
}

PlainRowSink::PlainRowSink(DType dtype, const Shape& shape, ByteSink& bytes) : dtype_(dtype), rows_(1), bytes_(bytes) {
  checked_bytes(shape, dtype, "an output");
  for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) rows_ *= shape[axis];
}

void PlainRowSink::append(const RowBlock& rows, std::string_view /*encoded*/) {
  write_rows(rows, dtype_, bytes_);
  next_ += rows.count;
}

void PlainRowSink::finish() {
  if (next_ != rows_) fail(ErrorKind::internal, next_, " of ", rows_, " rows were written");
}

}  // namespace v1
}  // namespace attn
