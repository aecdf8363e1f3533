#include "attn/io/array_writer.hpp"

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/csv_writer.hpp"
#include "io/format.hpp"

namespace attn {
inline namespace v1 {
namespace {

const ArrayFormat& writable_format(std::string_view name) {
  const ArrayFormat* format = find_format(name);
  if (format != nullptr && format->writer != nullptr) return *format;
  const std::vector<std::string> names = output_format_names();
  std::string known;
  for (const std::string& each : names) known += (known.empty() ? "" : ", ") + each;
  fail_with_hint(ErrorKind::usage, did_you_mean(name, names), "cannot write format '", printable(name, 40), "', expected one of ",
                 known);
}

/// The first label of either axis that `holds` is true of, or null.
const std::string* find_label(const AxisLabels& labels, bool (*holds)(std::string_view)) {
  for (const auto* axis : {&labels.query_tokens, &labels.key_tokens})
    for (const std::string& label : *axis)
      if (holds(label)) return &label;
  return nullptr;
}

}  // namespace

std::unique_ptr<RowSink> make_array_writer(std::string_view format, const ArrayHeader& header, const WriteOptions& options,
                                           ByteSink& bytes) {
  return writable_format(format).writer(header, options, bytes);
}

std::vector<std::string> label_notes(std::string_view format, const ArrayHeader& header, const WriteOptions& options) {
  std::vector<std::string> notes;
  const ArrayFormat& row = writable_format(format);
  const bool is_csv = row.name == "csv" || row.name == "tsv";
  if (is_csv && (options.csv_safe || !has_csv_labels(header))) return notes;
  if (is_csv) {
    if (const std::string* label = find_label(header.labels, is_spreadsheet_formula))
      notes.push_back(concat("a spreadsheet would run the label '", printable(*label, 60),
                             "' as a formula; --csv-safe on writes a ' before such labels"));
    return notes;
  }
  if (row.name == "npy") return notes;  // has no place for labels
  if (const std::string* label = find_label(header.labels, [](std::string_view text) { return !is_utf8(text); }))
    notes.push_back(concat("the label '", printable(*label, 60), "' is not UTF-8: the ", row.name,
                           " file has U+FFFD in place of the wrong bytes"));
  return notes;
}

}  // namespace v1
}  // namespace attn
