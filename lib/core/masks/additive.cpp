#include <algorithm>
#include <cmath>
#include <limits>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "core/masks/makers.hpp"
#include "core/masks/mask_cells.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr Index kPiece = 256;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// At or below this a finite number looks like somebody's minus infinity.
constexpr double kSuspicious = -1e4;

/// What kinds of numbers an added array holds: 0 or 1 for each, so that many are looked at at once.
struct AddendKinds {
  unsigned minus_infinity = 0;
  unsigned one = 0;
  unsigned other = 0;       // anything but 0, 1 and minus infinity
  unsigned suspicious = 0;  // finite, <= -1e4
  unsigned unusable = 0;    // NaN or plus infinity
};

/// Looks at one row: its kinds, and allowed[i] = 0 where minus infinity stands.
template <typename T>
void look_at(const T* values, Index count, AddendKinds& kinds, std::uint8_t* allowed) {
  constexpr T kInfinite = std::numeric_limits<T>::infinity();
  AddendKinds seen;
  for (Index i = 0; i < count; ++i) {
    const T value = values[i];
    const unsigned blocked = value == -kInfinite, zero = value == 0, one = value == 1;
    allowed[i] = static_cast<std::uint8_t>(1u - blocked);
    seen.minus_infinity |= blocked;
    seen.one |= one;
    seen.other |= 1u - (blocked | zero | one);
    seen.suspicious |= static_cast<unsigned>(value <= T(kSuspicious)) & (1u - blocked);
    seen.unusable |= 1u - static_cast<unsigned>(value < kInfinite);
  }
  kinds.minus_infinity |= seen.minus_infinity;
  kinds.one |= seen.one;
  kinds.other |= seen.other;
  kinds.suspicious |= seen.suspicious;
  kinds.unusable |= seen.unusable;
}

/// Whether a row has nothing but ordinary numbers; a fraction of the work of look_at().
template <typename T>
bool is_ordinary(const T* values, Index count) {
  unsigned ordinary = 1;
  for (Index i = 0; i < count; ++i)
    ordinary &=
        static_cast<unsigned>(values[i] > T(kSuspicious)) & static_cast<unsigned>(values[i] < std::numeric_limits<T>::infinity());
  return ordinary != 0;
}

/// The addend of one cell in the precision of the run: minus infinity blocks and adds nothing; what is too large for the
/// precision becomes its largest number. NaN and plus infinity stay what they are.
template <typename T>
T addend(double value) {
  constexpr double kMost = std::numeric_limits<T>::max();
  if (value == -kInfinity) return 0;
  if (value > kMost && value != kInfinity) return std::numeric_limits<T>::max();
  return value < -kMost ? std::numeric_limits<T>::lowest() : static_cast<T>(value);
}

/// The same for packed cells that are already of the precision.
template <typename T>
void add_packed(const T* cells, Index count, T* bias) {
  for (Index i = 0; i < count; ++i) bias[i] += cells[i] == -std::numeric_limits<T>::infinity() ? T(0) : cells[i];
}

/// An array that is added to the scores. Only minus infinity blocks.
class AdditiveMask final : public Mask {
 public:
  AdditiveMask(const MaskArray& array, const AttentionSizes& sizes, bool allow_nonfinite)
      : cells_(array, sizes), summary_(cells_.rows(), sizes.keys) {
    std::vector<double> values(static_cast<std::size_t>(cells_.row_length()));
    std::vector<std::uint8_t> allowed(values.size());
    for (Index row = 0; row < cells_.rows(); ++row) {
      if (is_known_kind(row)) {
        summary_.set_row(row, true);
        continue;
      }
      if (cells_.dtype() == DType::f32) {
        look_at(reinterpret_cast<const float*>(cells_.cell(row, 0)), cells_.row_length(), kinds_, allowed.data());
      } else {
        convert_elements(cells_.dtype(), cells_.cell(row, 0), cells_.row_length(), values.data());
        look_at(values.data(), cells_.row_length(), kinds_, allowed.data());
      }
      if (kinds_.unusable && !allow_nonfinite) refuse(row);
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
  bool blocks() const override { return kinds_.minus_infinity != 0; }
  Range visible_keys(const QueryBlock& block) const override { return cells_.visible_keys(block, summary_); }
  Coverage coverage(const QueryBlock& block, Range keys) const override { return cells_.coverage(block, keys, summary_); }

  void block(Index batch, Index head, Index query, Range keys, std::uint8_t* allowed) const override {
    const Index row = cells_.row_of(batch, head, query);
    if (!cells_.one_for_all_keys())
      find_minus_infinity(cells_.dtype(), cells_.cell(row, keys.begin), keys.end - keys.begin, allowed);
    else if (summary_.span(row).empty())
      std::fill(allowed, allowed + (keys.end - keys.begin), std::uint8_t{0});
  }

  bool biases() const override { return (kinds_.one | kinds_.other) != 0; }
  void add(Index batch, Index head, Index query, Range keys, double* bias) const override {
    add_cells(cells_.row_of(batch, head, query), keys, bias);
  }
  void add(Index batch, Index head, Index query, Range keys, float* bias) const override {
    add_cells(cells_.row_of(batch, head, query), keys, bias);
  }

 private:
  /// A row like those before it, in which nothing blocks and nothing is to be noted.
  bool is_known_kind(Index row) const {
    return kinds_.other && cells_.dtype() == DType::f32 &&
           is_ordinary(reinterpret_cast<const float*>(cells_.cell(row, 0)), cells_.row_length());
  }

  [[noreturn]] void refuse(Index row) const {
    std::vector<double> values(static_cast<std::size_t>(cells_.row_length()));
    convert_elements(cells_.dtype(), cells_.cell(row, 0), cells_.row_length(), values.data());
    const auto wrong = std::find_if(values.begin(), values.end(), [](double v) { return !(v < kInfinity); });
    fail(ErrorKind::mismatch, printable(cells_.origin()), ": ", cells_.place(row, wrong - values.begin()), " is ",
         format_number(*wrong), "; an added mask holds finite numbers and -Infinity (--allow-nonfinite lets others through)");
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
    if (cells_.dtype() == kDTypeOf<T>) return add_packed(reinterpret_cast<const T*>(cells_.cell(row, keys.begin)), count, bias);
    if (cells_.dtype() == DType::f32) {
      const float* const cells = reinterpret_cast<const float*>(cells_.cell(row, keys.begin));
      for (Index i = 0; i < count; ++i)
        bias[i] += cells[i] == -std::numeric_limits<float>::infinity() ? T{0} : static_cast<T>(cells[i]);
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

}  // namespace v1
}  // namespace attn
