#pragma once

#include <memory>
#include <string_view>

#include "attn/io/array_writer.hpp"

namespace attn {
inline namespace v1 {

/// Whether an array is written as a labelled grid: not with --no-labels, and not one matrix without tokens.
bool has_csv_labels(const ArrayHeader& header);
/// Whether a spreadsheet would take the label for a formula: = + - @ tab or CR in front.
bool is_spreadsheet_formula(std::string_view label);

/// Delimited text by RFC 4180 with LF line ends: a grid with a line for each row, labelled if has_csv_labels says so.
std::unique_ptr<RowSink> make_csv_writer(const ArrayHeader& header, const WriteOptions& options, ByteSink& bytes);
std::unique_ptr<RowSink> make_tsv_writer(const ArrayHeader& header, const WriteOptions& options, ByteSink& bytes);

}  // namespace v1
}  // namespace attn
