#include <algorithm>

#include "app/head_rows.hpp"

namespace attn::app {
namespace {

/// The rows of a chosen place, as rows of the whole array.
class ChosenVisibility : public Visibility {
 public:
  ChosenVisibility(const Visibility& all, const MatrixStack& stack, std::vector<Index> heads, bool reduced)
      : all_(all), stack_(stack), heads_(std::move(heads)), reduced_(reduced) {}

  void allowed_keys(Index row, std::vector<Range>& ranges) const override {
    const Index query = row % stack_.queries;
    const Index group = row / stack_.queries;
    const auto count = static_cast<Index>(heads_.size());
    if (!reduced_)
      return all_.allowed_keys(source(group / count, heads_[static_cast<std::size_t>(group % count)], query), ranges);
    std::vector<Range> found, head_ranges;
    for (const Index head : heads_) {
      all_.allowed_keys(source(group, head, query), head_ranges);
      found.insert(found.end(), head_ranges.begin(), head_ranges.end());
    }
    ranges = united(std::move(found));
  }

 private:
  Index source(Index batch, Index head, Index query) const { return (batch * stack_.heads + head) * stack_.queries + query; }

  static std::vector<Range> united(std::vector<Range> found) {
    std::sort(found.begin(), found.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
    std::vector<Range> result;
    for (const Range& range : found) {
      if (!result.empty() && range.begin <= result.back().end) {
        result.back().end = std::max(result.back().end, range.end);
      } else {
        result.push_back(range);
      }
    }
    return result;
  }

  const Visibility& all_;
  const MatrixStack stack_;
  const std::vector<Index> heads_;
  const bool reduced_;
};

class BothAllow : public Visibility {
 public:
  BothAllow(std::unique_ptr<Visibility> a, std::unique_ptr<Visibility> b) : a_(std::move(a)), b_(std::move(b)) {}

  void allowed_keys(Index row, std::vector<Range>& ranges) const override {
    std::vector<Range> x, y;
    a_->allowed_keys(row, x);
    b_->allowed_keys(row, y);
    ranges.clear();
    for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
      const Range common{std::max(x[i].begin, y[j].begin), std::min(x[i].end, y[j].end)};
      if (!common.empty()) ranges.push_back(common);
      if (x[i].end < y[j].end) {
        ++i;
      } else {
        ++j;
      }
    }
  }

 private:
  std::unique_ptr<Visibility> a_, b_;
};

}  // namespace

std::unique_ptr<Visibility> chosen_visibility(const Visibility& all, const MatrixStack& stack, const HeadWish& wish) {
  std::vector<Index> heads = wish.heads;
  for (Index head = 0; wish.heads.empty() && head < stack.heads; ++head) heads.push_back(head);
  return std::make_unique<ChosenVisibility>(all, stack, std::move(heads), wish.reduce != Reduce::none);
}

std::unique_ptr<Visibility> both_allow(std::unique_ptr<Visibility> a, std::unique_ptr<Visibility> b) {
  if (!a) return b;
  if (!b) return a;
  return std::make_unique<BothAllow>(std::move(a), std::move(b));
}

}  // namespace attn::app
