#pragma once

#include <string>
#include <vector>

#include "attn/base/row_sink.hpp"
#include "attn/io/array_file.hpp"
#include "io/file_reader.hpp"
#include "io/npy_header.hpp"

namespace attn {
inline namespace v1 {

/// A whole file as the source.
class FileSource : public NpySource {
 public:
  explicit FileSource(FileReader& file) : file_(file) {}
  std::uint64_t size() override {
    constexpr std::size_t kLongStream = std::size_t{1} << 20;
    file_.head(file_.known_size() == kUnknownSize ? kLongStream : 0);
    return file_.known_size();
  }
  void read_at(std::uint64_t offset, void* target, std::size_t count) override { file_.read_at(offset, target, count); }

 private:
  FileReader& file_;
};

/// A file that is read once, from front to back.
class OnePassSource : public NpySource {
 public:
  explicit OnePassSource(FileReader& file) : file_(file) {}
  std::uint64_t size() override { return file_.known_size(); }
  void read_at(std::uint64_t offset, void* target, std::size_t count) override { file_.take(offset, target, count); }

 private:
  FileReader& file_;
};

/// The member that a .npy becomes: numbers are described, texts are read (`malformed` if there is more than a list).
Member describe_npy(NpySource& source, const NpyHeader& header, const std::string& where, const MemoryBudget& budget);

/// All numbers in C order and native byte order.
Array read_npy_array(NpySource& source, const NpyHeader& header, const std::string& where, const MemoryBudget& budget);

/// Rows [first, first + count) of numbers in C order, converted to double, through a scratch block.
void read_npy_rows(NpySource& source, const NpyHeader& header, const std::string& where, Range rows, double* target);

/// Throws `malformed` if a boolean is neither 0 nor 1; `first` is the number of the first element.
void check_booleans(const std::byte* bytes, std::size_t count, std::uint64_t first, const std::string& where);

/// Throws `internal` if a member is no array: what was asked for cannot be read as numbers.
void require_array(const Member& member);

/// Rows of an array already in memory, converted to double.
void copy_rows(const Array& array, Range rows, double* target);
/// Elements of a row: the last axis, 1 for a scalar.
Index row_width(const Shape& shape);

}  // namespace v1
}  // namespace attn
