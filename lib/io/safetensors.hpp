#pragma once

#include <memory>
#include <span>
#include <vector>

#include "attn/io/array_writer.hpp"
#include "io/format.hpp"

namespace attn {
inline namespace v1 {

/// The .safetensors row of THE LIST.
bool recognises_safetensors(std::span<const std::byte> head, std::uint64_t file_size);
std::unique_ptr<ArrayFile> open_safetensors(std::unique_ptr<FileReader> file, const ReadOptions& options, const RunContext& run);
std::unique_ptr<RowSink> make_safetensors_writer(const ArrayHeader& header, const WriteOptions& options, ByteSink& bytes);
std::unique_ptr<BundleWriter> make_safetensors_bundle(const std::vector<ArrayHeader>& headers, const WriteOptions& options,
                                                      ByteSink& bytes);

}  // namespace v1
}  // namespace attn
