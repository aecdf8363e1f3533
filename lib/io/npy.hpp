#pragma once

#include <memory>
#include <string>

#include "attn/base/row_sink.hpp"
#include "attn/io/array_writer.hpp"
#include "io/format.hpp"

namespace attn {
inline namespace v1 {

/// The .npy row of THE LIST.
bool recognises_npy(std::span<const std::byte> head, std::uint64_t file_size);
std::unique_ptr<ArrayFile> open_npy(std::unique_ptr<FileReader> file, const ReadOptions& options, const RunContext& run);
std::unique_ptr<RowSink> make_npy_writer(const ArrayHeader& header, const WriteOptions& options, ByteSink& bytes);

/// The bytes in front of the data of a .npy: version 1.0, C order, padded to 64. `descr` is such as "<f4".
std::string npy_preamble(std::string_view descr, const Shape& shape);
/// How a number type is spelled in a `descr`.
std::string_view npy_descr(DType dtype);

/// Writes the elements of rows one after the other as `dtype` (f32 or f64), converting where the rows differ.
void write_rows(const RowBlock& rows, DType dtype, ByteSink& bytes);

/// Rows written as they are, after something of the writer's own.
class PlainRowSink : public RowSink {
 public:
  PlainRowSink(DType dtype, const Shape& shape, ByteSink& bytes);
  void encode(const RowBlock& /*rows*/, std::string& /*encoded*/) const override {}
  void append(const RowBlock& rows, std::string_view encoded) override;
  /// Throws `internal` if rows are missing.
  void finish() override;

 private:
  DType dtype_;
  Index rows_;
  Index next_ = 0;
  ByteSink& bytes_;
};

}  // namespace v1
}  // namespace attn
