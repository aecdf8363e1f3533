#include "render/html_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace attn {
inline namespace v1 {
namespace {

constexpr std::uint32_t kNoKey = 0xffffffff;

void put_u32(std::vector<unsigned char>& bytes, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<unsigned char>(value >> shift & 0xff));
}

void put_f32(std::vector<unsigned char>& bytes, float value) { put_u32(bytes, std::bit_cast<std::uint32_t>(value)); }

/// The nearest float; what is too large for one becomes infinite.
float to_float(double value) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (std::isnan(value)) return std::numeric_limits<float>::quiet_NaN();
  if (value > kLargest) return std::numeric_limits<float>::infinity();
  if (value < -kLargest) return -std::numeric_limits<float>::infinity();
  return static_cast<float>(value);
}

}  // namespace

void HtmlFacts::add(const HtmlFacts& other) {
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  least = std::min(least, other.least);
  step = std::max(step, other.step);
  nan += other.nan;
  infinite += other.infinite;
  blocked += other.blocked;
  empty += other.empty;
  rounded += other.rounded;
}

void HtmlRowPacker::pack(const RowBlock& rows, Index r, const std::vector<Range>* allowed, std::vector<unsigned char>& bytes,
                         HtmlFacts& facts) {
  const std::size_t end = bytes.size() + layer_->row_bytes;
  read(rows, r, allowed, facts);
  note_values(facts);
  if (packing_ == HtmlPacking::float32) put_floats(bytes);
  if (packing_ == HtmlPacking::uint8) put_codes(bytes, facts);
  if (packing_ == HtmlPacking::strongest)
    put_strongest(bytes);
  else if (layer_->masked)
    put_mask(bytes);
  bytes.resize(end, 0);
}

void HtmlRowPacker::read(const RowBlock& rows, Index r, const std::vector<Range>* allowed, HtmlFacts& facts) {
  const auto keys = static_cast<std::size_t>(layer_->keys);
  values_.resize(keys);
  if (rows.dtype == DType::f32) {
    std::copy_n(rows.row<float>(r), keys, values_.begin());
  } else {
    const double* source = rows.row<double>(r);
    for (std::size_t j = 0; j < keys; ++j) {
      values_[j] = to_float(source[j]);
      if (!std::isnan(source[j]) && static_cast<double>(values_[j]) != source[j]) ++facts.rounded;
    }
  }
  allowed_.assign(keys, allowed == nullptr ? 1 : 0);
  if (allowed == nullptr) return;
  for (const Range& range : *allowed) std::fill(allowed_.begin() + range.begin, allowed_.begin() + range.end, 1);
}

void HtmlRowPacker::note_values(HtmlFacts& facts) const {
  Index open = 0, hidden = 0;
  for (std::size_t j = 0; j < values_.size(); ++j) {
    if (allowed_[j] == 0) continue;
    ++open;
    const double value = values_[j];
    if (std::isnan(value))
      ++facts.nan;
    else if (value == -std::numeric_limits<double>::infinity())
      ++hidden;  // the score of a blocked cell
    else if (std::isinf(value))
      ++facts.infinite;
    else {
      facts.min = std::min(facts.min, value);
      facts.max = std::max(facts.max, value);
      if (value > 0) facts.least = std::min(facts.least, value);
    }
  }
  facts.blocked += layer_->keys - open + hidden;
  if (open == 0 && layer_->keys > 0) ++facts.empty;
}

void HtmlRowPacker::put_floats(std::vector<unsigned char>& bytes) const {
  for (const float value : values_) put_f32(bytes, value);
}

void HtmlRowPacker::put_codes(std::vector<unsigned char>& bytes, HtmlFacts& facts) const {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t j = 0; j < values_.size(); ++j) {
    if (allowed_[j] == 0 || values_[j] == 0 || !std::isfinite(values_[j])) continue;  // zero has a code of its own
    low = std::min(low, static_cast<double>(values_[j]));
    high = std::max(high, static_cast<double>(values_[j]));
  }
  if (low > high) low = high = 0;
  // The page computes with the rounded numbers, so the codes are chosen for them.
  const float low_held = static_cast<float>(low);
  const float step = static_cast<float>((high - low) / double{kHtmlLastStep});
  facts.step = std::max(facts.step, static_cast<double>(step));
  put_f32(bytes, low_held);
  put_f32(bytes, step);
  for (std::size_t j = 0; j < values_.size(); ++j) {
    const double value = values_[j];
    if (value == 0)
      bytes.push_back(kHtmlZero);
    else if (std::isinf(value))
      bytes.push_back(value > 0 ? kHtmlInf : kHtmlMinusInf);
    // A blocked number need not lie in the range of the others: it is not kept.
    else if (std::isnan(value) || allowed_[j] == 0)
      bytes.push_back(kHtmlNaN);
    else if (step == 0)
      bytes.push_back(0);
    else
      bytes.push_back(static_cast<unsigned char>(std::clamp(std::round((value - low_held) / step), 0.0, double{kHtmlLastStep})));
  }
}

void HtmlRowPacker::put_strongest(std::vector<unsigned char>& bytes) {
  order_.clear();
  for (Index j = 0; j < layer_->keys; ++j)
    if (allowed_[static_cast<std::size_t>(j)] != 0) order_.push_back(j);
  put_u32(bytes, order_.empty() ? 0 : static_cast<std::uint32_t>(order_.front()));
  put_u32(bytes, order_.empty() ? 0 : static_cast<std::uint32_t>(order_.back() + 1));
  const auto strength = [this](Index key) {
    const float value = std::abs(values_[static_cast<std::size_t>(key)]);
    return std::isnan(value) ? std::numeric_limits<float>::infinity() : value;
  };
  const auto kept = static_cast<std::size_t>(layer_->kept);
  if (order_.size() > kept) {
    std::nth_element(order_.begin(), order_.begin() + layer_->kept - 1, order_.end(), [&](Index a, Index b) {
      const float first = strength(a), second = strength(b);
      return first != second ? first > second : a < b;
    });
    order_.resize(kept);
    std::sort(order_.begin(), order_.end());
  }
  for (std::size_t i = 0; i < kept; ++i) put_u32(bytes, i < order_.size() ? static_cast<std::uint32_t>(order_[i]) : kNoKey);
  for (std::size_t i = 0; i < kept; ++i) put_f32(bytes, i < order_.size() ? values_[static_cast<std::size_t>(order_[i])] : 0.0F);
}

void HtmlRowPacker::put_mask(std::vector<unsigned char>& bytes) const {
  for (std::size_t start = 0; start < allowed_.size(); start += 8) {
    unsigned byte = 0;
    for (std::size_t bit = 0; bit < 8 && start + bit < allowed_.size(); ++bit)
      byte |= static_cast<unsigned>(allowed_[start + bit]) << bit;
    bytes.push_back(static_cast<unsigned char>(byte));
  }
}

}  // namespace v1
}  // namespace attn
