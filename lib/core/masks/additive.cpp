#include <algorithm>
#include <cmath>
#include <limits>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "core/masks/makers.hpp"
#include "core/masks/mask_cells.hpp"

namespace attn {
namespace {

constexpr Index kPiece = 256;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// At or below this a finite number looks like somebody's minus infinity.
constexpr double kSuspicious = -1e4;

/// What kinds of numbers an added array holds.
struct AddendKinds {
  bool minus_infinity = false;
  bool one = false;
  bool other = false;       // anything but 0, 1 and minus infinity
  bool suspicious = false;  // finite, <= -1e4
};

/// The addend of one cell in the precision of the run: minus infinity blocks and adds nothing; what is too large for the
/// precision becomes its largest number. NaN and plus infinity stay what they are.
template <typename T>
T addend(double value) {
  constexpr double kMost = std::numeric_limits<T>::max();
  if (value == -kInfinity) return 0;
  if (value > kMost && value != kInfinity) return std::numeric_limits<T>::max();
  return value < -kMost ? std::numeric_limits<T>::lowest() : static_cast<T>(value);
}

/// An array that is added to the scores. Only minus infinity blocks.
class AdditiveMask final : public Mask {
 public:
  AdditiveMask(const MaskArray& array, const AttentionSizes& sizes, bool allow_nonfinite)
      : cells_(array, sizes), summary_(cells_.rows(), sizes.keys) {
    std::vector<double> values(static_cast<std::size_t>(cells_.row_length()));
    std::vector<std::uint8_t> allowed(values.size());
    for (Index row = 0; row < cells_.rows(); ++row) {
      convert_elements(cells_.dtype(), cells_.cell(row, 0), cells_.row_length(), values.data());
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (!allow_nonfinite && (std::isnan(values[i]) || values[i] == kInfinity)) refuse(row, static_cast<Index>(i), values[i]);
        allowed[i] = values[i] != -kInfinity;
        see(values[i]);
      }
      if (cells_.row_length() == sizes.keys)
        summary_.set_row(row, allowed.data());
      else
        summary_.set_row(row, allowed[0] != 0);
    }
  }

  void describe(std::vector<std::string>& notes) const {
    if (kinds_.one && !kinds_.other && !kinds_.minus_infinity)
      notes.push_back(
          concat(printable(cells_.origin()),
                 ": holds only 0 and 1 and is added to the scores; a 0/1 mask that selects is --mask-kind keep or block"));
    if (kinds_.suspicious)
      notes.push_back(concat(printable(cells_.origin()),
                             ": holds finite numbers of -1e4 or less; they are a literal bias and do not block, only -inf does"));
  }

  std::string text() const override { return concat("added mask ", cells_.shape()); }
  bool varies_by_head() const override { return cells_.varies_by_head(); }
  bool blocks() const override { return kinds_.minus_infinity; }
  Range visible_keys(const QueryBlock& block) const override { return cells_.visible_keys(block, summary_); }
  Coverage coverage(const QueryBlock& block, Range keys) const override { return cells_.coverage(block, keys, summary_); }

  void block(Index batch, Index head, Index query, Range keys, std::uint8_t* allowed) const override {
    const Index row = cells_.row_of(batch, head, query);
    if (!cells_.one_for_all_keys())
      find_minus_infinity(cells_.dtype(), cells_.cell(row, keys.begin), keys.end - keys.begin, allowed);
    else if (summary_.span(row).empty())
      std::fill(allowed, allowed + (keys.end - keys.begin), std::uint8_t{0});
  }

  bool biases() const override { return kinds_.one || kinds_.other; }
  void add(Index batch, Index head, Index query, Range keys, double* bias) const override {
    add_cells(cells_.row_of(batch, head, query), keys, bias);
  }
  void add(Index batch, Index head, Index query, Range keys, float* bias) const override {
    add_cells(cells_.row_of(batch, head, query), keys, bias);
  }

 private:
  [[noreturn]] void refuse(Index row, Index column, double value) const {
    fail(ErrorKind::mismatch, printable(cells_.origin()), ": ", cells_.place(row, column), " is ", format_number(value),
         "; an added mask holds finite numbers and -Infinity (--allow-nonfinite lets others through)");
  }

  void see(double value) {
    if (value == -kInfinity)
      kinds_.minus_infinity = true;
    else if (value == 1)
      kinds_.one = true;
    else if (value != 0)
      kinds_.other = true;
    if (value <= kSuspicious && value != -kInfinity) kinds_.suspicious = true;
  }

  template <typename T>
  void add_cells(Index row, Range keys, T* bias) const {
    const Index count = keys.end - keys.begin;
    double values[kPiece];
    if (cells_.one_for_all_keys()) {
      convert_elements(cells_.dtype(), cells_.cell(row, 0), 1, values);
      for (Index i = 0; i < count; ++i) bias[i] += addend<T>(values[0]);
      return;
    }
    for (Index at = 0; at < count; at += kPiece) {
      const Index length = std::min(kPiece, count - at);
      convert_elements(cells_.dtype(), cells_.cell(row, keys.begin + at), length, values);
      for (Index i = 0; i < length; ++i) bias[at + i] += addend<T>(values[i]);
    }
  }

  MaskCells cells_;
  CellSummary summary_;
  AddendKinds kinds_;
};

}  // namespace

void make_additive(const MaskContext& context, std::vector<std::unique_ptr<Mask>>& masks) {
  for (const MaskArray& array : context.options.arrays) {
    if (array.kind != MaskKind::add) continue;
    auto mask = std::make_unique<AdditiveMask>(array, context.sizes, context.allow_nonfinite);
    mask->describe(context.notes);
    masks.push_back(std::move(mask));
  }
}

}  // namespace attn
