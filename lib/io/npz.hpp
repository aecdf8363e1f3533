#pragma once

#include <memory>
#include <span>
#include <vector>

#include "attn/io/array_writer.hpp"
#include "io/format.hpp"

namespace attn {
inline namespace v1 {

/// The .npz row of THE LIST.
bool recognises_npz(std::span<const std::byte> head, std::uint64_t file_size);
std::unique_ptr<ArrayFile> open_npz(std::unique_ptr<FileReader> file, const ReadOptions& options, const RunContext& run);
std::unique_ptr<RowSink> make_npz_writer(const ArrayHeader& header, const WriteOptions& options, ByteSink& bytes);
std::unique_ptr<BundleWriter> make_npz_bundle(const std::vector<ArrayHeader>& headers, const WriteOptions& options,
                                              ByteSink& bytes);

}  // namespace v1
}  // namespace attn
