#include "io/csv_reader.hpp"

#include <algorithm>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/csv_labels.hpp"
#include "io/csv_scanner.hpp"
#include "io/number_list.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::size_t kSampleBytes = std::size_t{64} << 10;

char delimiter_of(TextWindow& window, const ReadOptions& options) {
  if (options.delimiter) return *options.delimiter;
  window.ensure(kSampleBytes);
  return detect_delimiter(
      std::string_view(window.next, std::min<std::size_t>(kSampleBytes, static_cast<std::size_t>(window.end - window.next))));
}

bool is_number(const CsvCell& cell) {
  double value = 0;
  return parse_number(trimmed(cell.text), value) != NumberStatus::not_a_number;
}

/// A cell that keeps its line from being a heading.
bool looks_like_number(const CsvCell& cell) {
  const std::string_view text = trimmed(cell.text);
  return !text.empty() && (std::string_view("0123456789+-.").find(text.front()) != std::string_view::npos || is_number(cell));
}

/// Digits in groups ("1 000", "1,000.5", "1_000") or of base 16: meant as a number, though it is none here.
bool is_odd_number(const CsvCell& cell) {
  constexpr std::string_view kDigits = "0123456789", kGroups = "0123456789. ,'_", kHex = "0123456789abcdefABCDEF";
  const std::string_view text = trimmed(cell.text);
  const std::string_view digits = text.substr(std::min(text.size(), text.find_first_not_of("+-")));
  if (digits.size() < 3 || kDigits.find(digits.front()) == std::string_view::npos) return false;
  if (digits.starts_with("0x") || digits.starts_with("0X")) return digits.find_first_not_of(kHex, 2) == std::string_view::npos;
  return digits.find_first_of(" ,'_") != std::string_view::npos && digits.find_first_not_of(kGroups) == std::string_view::npos;
}

/// Of true, false (in any case), 1 and 0.
std::optional<double> flag_value(std::string_view cell) {
  constexpr std::string_view kFalse = "false", kTrue = "true";
  const auto is_word = [&](std::string_view word) {
    return std::equal(cell.begin(), cell.end(), word.begin(), word.end(), [](char a, char b) { return (a | 0x20) == b; });
  };
  if (cell == "1" || is_word(kTrue)) return 1;
  if (cell == "0" || is_word(kFalse)) return 0;
  return std::nullopt;
}

class CsvReader {
 public:
  CsvReader(FileReader& file, const ReadOptions& options, const RunContext& run)
      : window_(start(file, run)),
        scanner_(window_, delimiter_of(window_, options)),
        options_(options),
        budget_(run.budget),
        numbers_(run.budget, file.name()) {}

  TextContent read() {
    flags_ = options_.header != Tristate::yes && options_.label_column != Tristate::yes && holds_flags();
    if (!scanner_.begin_line()) fail(ErrorKind::malformed, window_.name(), ": no numbers, only blank lines");
    first_line_ = scanner_.line();
    read_first_line();
    while (scanner_.begin_line()) read_row();
    if (rows_ == 0 && !ours_) refuse_text_only();
    TextContent content;
    Member member = describe();
    const DType dtype = member.dtype;
    content.add(std::move(member), numbers_.release(dtype));
    return content;
  }

 private:
  static TextWindow start(FileReader& file, const RunContext& run) {
    TextWindow window(file, run);
    skip_byte_order_mark(window);
    return window;
  }

  /// Whether the file, as far as its beginning tells, holds nothing but true, false, 0 and 1, not all of them numbers.
  bool holds_flags() {
    constexpr std::string_view kBetween = ",;|: \t\r\n\"";
    window_.ensure(kSampleBytes);
    std::string_view sample(window_.next, static_cast<std::size_t>(window_.end - window_.next));
    if (sample.size() >= kSampleBytes) sample = sample.substr(0, sample.find_last_of(kBetween) + 1);  // the last may be cut
    bool words = false;
    for (std::size_t begin = 0; (begin = sample.find_first_not_of(kBetween, begin)) != std::string_view::npos;) {
      const std::string_view cell = sample.substr(begin, sample.find_first_of(kBetween, begin) - begin);
      if (!flag_value(cell)) return false;
      words = words || cell.size() > 1;
      begin += cell.size();
    }
    return words;
  }

  /// A heading, or the first row of numbers.
  void read_first_line() {
    if (options_.header != Tristate::no && !flags_) {
      do {
        heading_.emplace_back();
        scanner_.cell(heading_.back());
        if (heading_.size() == 1 && is_ours(heading_[0])) ours_ = true;
        keep_text(heading_.back().text);
        if (options_.header == Tristate::automatic && !ours_ && looks_like_number(heading_.back())) {
          read_row_after(std::move(heading_));
          heading_.clear();
          return;
        }
      } while (!scanner_.line_ended());
      width_ = heading_.size();
      if (ours_) label_columns_ = grid_.read_heading(heading_);
      return;
    }
    read_row();
  }

  bool is_ours(const CsvCell& cell) const { return options_.label_column != Tristate::no && is_axis_name(cell.text); }

  void read_row() { read_row_after({}); }

  /// `taken` are the cells of the row that were read already.
  void read_row_after(std::vector<CsvCell> taken) {
    const std::uint64_t line = taken.empty() ? scanner_.line() : taken.front().line;
    std::size_t index = 0;
    const bool several = taken.size() > 1;
    for (CsvCell& cell : taken) take(cell, index++, !several && scanner_.line_ended());
    while (index == 0 || !scanner_.line_ended()) {
      double value = 0;
      // The first cell of all is looked at: it may be a label.
      if (!flags_ && index >= label_columns_ && index + rows_ > 0 && scanner_.number(value)) {
        numbers_.push(value);
      } else {
        scanner_.cell(cell_);
        take(cell_, index, index == 0 && scanner_.line_ended());
      }
      ++index;
    }
    end_row(line, index);
  }

  void end_row(std::uint64_t line, std::size_t cells) {
    if (width_ == 0) width_ = cells;
    if (cells != width_)
      // The first cell that is missing, or that is too much.
      fail(ErrorKind::malformed, scanner_.place(line, static_cast<Index>(std::min(cells, width_)) + 1), "line has ", cells,
           cells == 1 ? " cell" : " cells", ", line ", first_line_, " has ", width_);
    ++rows_;
    if (ours_) grid_.end_row(line, scanner_);
  }

  /// `alone`: the line has no other cell.
  void take(CsvCell& cell, std::size_t index, bool alone) {
    if (ours_ && index < label_columns_) {
      keep_text(cell.text);
      grid_.take(index, cell, scanner_);
      return;
    }
    if (!ours_ && index == 0 && takes_label(cell, alone)) {
      keep_text(cell.text);
      labels_.push_back(std::move(cell.text));
      return;
    }
    take_number(cell);
  }

  /// Decides on the first row whether column 1 holds labels, and holds later rows to it.
  bool takes_label(const CsvCell& cell, bool alone) {
    if (flags_) return false;
    if (options_.label_column == Tristate::yes) label_columns_ = 1;
    if (options_.label_column != Tristate::automatic) return label_columns_ == 1;
    const bool number = is_number(cell);
    if (rows_ == 0 && !number && !alone && !trimmed(cell.text).empty()) {
      if (is_odd_number(cell))
        fail_with_hint(ErrorKind::malformed, "--label-column yes takes the first column as labels",
                       scanner_.place(cell.line, cell.column), "'", printable(cell.text, 60), "' is not a number");
      label_columns_ = 1;
      first_label_ = cell;
    }
    if (label_columns_ == 1 && number)
      fail_with_hint(ErrorKind::malformed, "--label-column yes takes the first column as labels",
                     scanner_.place(first_label_.line, first_label_.column), "'", printable(first_label_.text, 40),
                     "' is not a number, and as line ", cell.line, " has a number there it is no label");
    if (label_columns_ == 1 && cell.text.empty()) refuse_number(cell);
    return label_columns_ == 1;
  }

  void take_flag(const CsvCell& cell) {
    const std::string_view text = trimmed(cell.text);
    const auto value = flag_value(text);
    if (!value && text.empty()) refuse_number(cell);
    if (!value)
      fail(ErrorKind::malformed, scanner_.place(cell.line, cell.column), "'", printable(cell.text, 60),
           "' in a file of true and false, expected true, false, 0 or 1");
    numbers_.push(*value);
  }

  void take_number(const CsvCell& cell) {
    if (flags_) return take_flag(cell);
    double value = 0;
    const NumberStatus status = parse_number(trimmed(cell.text), value);
    if (status == NumberStatus::not_a_number) refuse_number(cell);
    if (status == NumberStatus::out_of_range)
      fail(ErrorKind::malformed, scanner_.place(cell.line, cell.column), "the number ", printable(cell.text, 40),
           " is out of range (at most 1.8e308)");
    numbers_.push(value);
  }

  [[noreturn]] void refuse_number(const CsvCell& cell) const {
    const std::string place = scanner_.place(cell.line, cell.column);
    if (trimmed(cell.text).empty()) fail(ErrorKind::malformed, place, "empty cell, expected a number");
    fail(ErrorKind::malformed, place, "'", printable(cell.text, 60), "' is not a number");
  }

  [[noreturn]] void refuse_text_only() const {
    fail_with_hint(ErrorKind::malformed, "a heading needs rows of numbers below it", scanner_.place(first_line_, 1), "'",
                   printable(heading_.front().text, 60), "' is not a number, and no line has any");
  }

  void keep_text(const std::string& text) {
    constexpr std::size_t kStep = std::size_t{1} << 20;
    text_bytes_ += text.size() + sizeof(CsvCell);
    if (text_bytes_ - checked_bytes_ < kStep) return;
    budget_.require(text_bytes_, "the labels in " + window_.name());
    checked_bytes_ = text_bytes_;
  }

  Member describe() {
    Member member;
    member.where = window_.name();
    member.is_text = true;
    member.dtype = flags_ ? DType::boolean : DType::f64;
    const Index columns = static_cast<Index>(width_ - label_columns_);
    member.shape = ours_ ? grid_.finish(scanner_) : Shape{static_cast<Index>(rows_)};
    const bool is_column = ours_ && columns == 1 && heading_.back().text == "lse";
    if (!is_column) member.shape.push_back(columns);
    member.labels.query_tokens = std::move(ours_ ? grid_.row_labels() : labels_);
    if (!is_column)
      for (std::size_t i = label_columns_; i < heading_.size(); ++i)
        member.labels.key_tokens.push_back(std::move(heading_[i].text));
    if (ours_) {
      drop_index_labels(member.labels.query_tokens);
      drop_index_labels(member.labels.key_tokens);
    }
    return member;
  }

  TextWindow window_;
  CsvScanner scanner_;
  const ReadOptions& options_;
  MemoryBudget budget_;
  NumberList numbers_;
  std::vector<CsvCell> heading_;
  std::vector<std::string> labels_;
  GridRows grid_;  // of a file of ours
  bool ours_ = false;
  bool flags_ = false;  // true and false instead of numbers
  std::size_t label_columns_ = 0;
  std::size_t width_ = 0;  // cells in a line, labels and all; 0 before the first
  std::size_t rows_ = 0;
  std::uint64_t first_line_ = 1;
  CsvCell cell_;
  CsvCell first_label_;
  std::size_t text_bytes_ = 0;
  std::size_t checked_bytes_ = 0;
};

}  // namespace

TextContent parse_csv(FileReader& file, const ReadOptions& options, const RunContext& run) {
  return CsvReader(file, options, run).read();
}

std::unique_ptr<ArrayFile> open_csv(std::unique_ptr<FileReader> file, const ReadOptions& options, const RunContext& run) {
  return std::make_unique<TextArrayFile>("csv", std::move(file), options, run, parse_csv);
}

std::unique_ptr<ArrayFile> open_tsv(std::unique_ptr<FileReader> file, const ReadOptions& options, const RunContext& run) {
  ReadOptions tabs = options;
  if (!tabs.delimiter) tabs.delimiter = '\t';
  return std::make_unique<TextArrayFile>("tsv", std::move(file), tabs, run, parse_csv);
}

}  // namespace v1
}  // namespace attn
