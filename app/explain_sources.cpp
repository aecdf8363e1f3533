#include "app/explain_sources.hpp"

#include "attn/base/error.hpp"

namespace attn::app {

std::vector<ShownArray> arrays_before(const Prepared& prepared) {
  if (!prepared.query.projected && !prepared.key.projected && !(prepared.value && prepared.value->projected)) return {};
  enum class Rows { numbered, queries, keys };
  struct Row {
    Input input;
    std::string_view title;
    Rows rows = Rows::numbered;
  };
  constexpr Row kRows[] = {{Input::embeddings, "X: the embeddings", Rows::queries},
                           {Input::context, "context: what keys and values come from", Rows::keys},
                           {Input::query, "query before its projection", Rows::queries},
                           {Input::key, "key before its projection", Rows::keys},
                           {Input::value, "value before its projection", Rows::keys},
                           {Input::w_q, "W_Q: makes Q"},
                           {Input::w_k, "W_K: makes K"},
                           {Input::w_v, "W_V: makes V"},
                           {Input::w_qkv, "W_QKV: makes Q, K and V"},
                           {Input::b_q, "b_Q: added to Q"},
                           {Input::b_k, "b_K: added to K"},
                           {Input::b_v, "b_V: added to V"},
                           {Input::b_qkv, "b_QKV: added to Q, K and V"}};
  std::vector<ShownArray> shown;
  for (const Row& row : kRows) {
    if (!prepared.sources.has(row.input)) continue;
    ShownArray one{std::string(row.title), prepared.sources.at(row.input).array.get(), {}};
    if (row.rows == Rows::queries) one.labels = prepared.labels.query_tokens;
    if (row.rows == Rows::keys) one.labels = prepared.labels.key_tokens;
    shown.push_back(std::move(one));
  }
  return shown;
}

std::vector<ShownArray> arrays_after(const Prepared& prepared, const AttentionSteps& steps) {
  const bool several = prepared.shape.heads > 1;
  const std::vector<std::string>& queries = prepared.labels.query_tokens;
  std::vector<ShownArray> shown;
  if (steps.output && several) shown.push_back({"merged: the outputs of the heads side by side", &*steps.output, queries});
  if (!steps.projected) return shown;
  if (prepared.sources.has(Input::w_o))
    shown.push_back({"W_O: makes the output", prepared.sources.at(Input::w_o).array.get(), {}});
  if (prepared.sources.has(Input::b_o))
    shown.push_back({"b_O: added to the output", prepared.sources.at(Input::b_o).array.get(), {}});
  shown.push_back(
      {concat("final output: ", several ? "merged heads" : "the output", " through W_O and b_O"), &*steps.projected, queries});
  return shown;
}

TensorView rows_of(const Array& array) {
  TensorView view;
  view.dtype = array.dtype;
  view.data = array.bytes.data();
  view.columns = width_of(array);
  view.rows = array.rank() == 1 ? 1 : row_count(array, TensorLayout::bhnd);
  view.batch = array.rank() > 2 ? array.shape[0] : 1;
  view.row_stride = view.columns;
  view.batch_stride = view.rows * view.columns;
  return view;
}

}  // namespace attn::app
