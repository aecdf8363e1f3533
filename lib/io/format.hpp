#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "attn/io/array_file.hpp"
#include "attn/io/array_writer.hpp"
#include "io/file_reader.hpp"

namespace attn {
inline namespace v1 {

/// One row of THE LIST of array formats. What a format cannot do is null.
struct ArrayFormat {
  std::string_view name;
  std::vector<std::string_view> extensions;  ///< with the point, lower case: ".npy"
  bool binary = false;                       ///< never written to a terminal
  /// Whether the first bytes of a file (up to kHeadBytes) are this format's; `file_size` is FileReader::known_size.
  bool (*recognises)(std::span<const std::byte> head, std::uint64_t file_size) = nullptr;
  std::unique_ptr<ArrayFile> (*open)(std::unique_ptr<FileReader> file, const ReadOptions& options,
                                     const RunContext& run) = nullptr;
  std::unique_ptr<RowSink> (*writer)(const ArrayHeader& header, const WriteOptions& options, ByteSink& bytes) = nullptr;
  std::unique_ptr<BundleWriter> (*bundle)(const std::vector<ArrayHeader>& headers, const WriteOptions& options,
                                          ByteSink& bytes) = nullptr;
};

/// How many bytes at the start of a file are enough to recognise a format.
inline constexpr std::size_t kHeadBytes = 4096;

/// THE LIST, in the order in which magic bytes are tried.
std::span<const ArrayFormat> array_formats();

/// The format of that name, or null.
const ArrayFormat* find_format(std::string_view name);

}  // namespace v1
}  // namespace attn
