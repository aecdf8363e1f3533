#include "render/html_plan.hpp"

#include <algorithm>
#include <string>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "render/html_page.hpp"

namespace attn {
inline namespace v1 {
namespace {

constexpr std::size_t kAlignment = 12;

HtmlLayer measure(const PictureLayer& layer) {
  const Index rank = static_cast<Index>(layer.shape.size());
  if (rank < 2 || rank > 4) fail(ErrorKind::usage, "a page shows arrays of rank 2 to 4, not ", shape_text(layer.shape));
  HtmlLayer plan;
  plan.queries = layer.shape[static_cast<std::size_t>(rank - 2)];
  plan.keys = layer.shape[static_cast<std::size_t>(rank - 1)];
  plan.masked = layer.visibility != nullptr;
  plan.has_heads = rank == 4 || (rank == 3 && !layer.reduced);
  plan.has_batches = rank == 4 || (rank == 3 && layer.reduced);
  if (plan.has_batches) plan.batches = layer.shape[0];
  if (plan.has_heads) plan.heads = layer.shape[static_cast<std::size_t>(rank - 3)];
  return plan;
}

/// Fills what depends on the packing; gives false when the page would be too large.
bool lay_out(HtmlPlan& plan, Index top_k) {
  double letters = 0;
  for (HtmlLayer& layer : plan.layers) {
    layer.kept = plan.packing == HtmlPacking::strongest ? std::min(top_k, layer.keys) : layer.keys;
    layer.row_bytes = html_row_bytes(plan.packing, layer);
    letters += static_cast<double>(layer.rows()) * static_cast<double>(base64_size(layer.row_bytes));
  }
  if (letters > static_cast<double>(kHtmlLargestData)) return false;
  plan.data_letters = static_cast<std::size_t>(letters);
  return true;
}

/// The largest round k with which the page would open, or 0.
Index suitable_top_k(HtmlPlan plan) {
  plan.packing = HtmlPacking::strongest;
  for (const Index k : {Index{64}, Index{32}, Index{16}, Index{8}, Index{4}, Index{1}})
    if (lay_out(plan, k)) return k;
  return 0;
}

[[noreturn]] void refuse(const HtmlPlan& plan) {
  const Index k = suitable_top_k(plan);
  std::string hint = "choose heads with --head";
  if (k > 0) hint = concat("keep only the strongest keys of each query with --top-k ", k, ", or ", hint);
  fail_with_hint(ErrorKind::usage, hint, "the page would hold more than ", format_bytes(kHtmlLargestData),
                 " of numbers, more than browsers open");
}

}  // namespace

std::size_t html_row_bytes(HtmlPacking packing, const HtmlLayer& layer) {
  const auto keys = static_cast<std::size_t>(layer.keys);
  const std::size_t mask_bytes = layer.masked ? (keys + 7) / 8 : 0;
  std::size_t bytes = 0;
  if (packing == HtmlPacking::float32) bytes = 4 * keys + mask_bytes;
  if (packing == HtmlPacking::uint8) bytes = 8 + keys + mask_bytes;
  if (packing == HtmlPacking::strongest) bytes = 8 + 8 * static_cast<std::size_t>(layer.kept);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

const HtmlLayer& HtmlPlan::layer_of(Index row) const {
  std::size_t at = 0;
  while (at + 1 < layers.size() && row >= layers[at].first_row + layers[at].rows()) ++at;
  return layers.at(at);
}

HtmlPlan plan_html(const PictureSpec& spec) {
  HtmlPlan plan;
  Index cells = 0, first_row = 0, most_keys = 0;
  for (const PictureLayer& layer : spec.layers) {
    cells += checked_size(layer.shape, "the picture");
    plan.layers.push_back(measure(layer));
    plan.layers.back().first_row = first_row;
    first_row += plan.layers.back().rows();
    most_keys = std::max(most_keys, plan.layers.back().keys);
  }
  const Index top_k = spec.options.top_k.value_or(0);
  if (spec.options.top_k && top_k < 1) fail(ErrorKind::usage, "--top-k is ", top_k, ", expected 1 or more");
  if (top_k > 0 && top_k < most_keys)
    plan.packing = HtmlPacking::strongest;
  else if (cells > kHtmlFloatCells)
    plan.packing = HtmlPacking::uint8;
  if (!lay_out(plan, top_k)) refuse(plan);
  return plan;
}

}  // namespace v1
}  // namespace attn
