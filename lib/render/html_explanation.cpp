#include "attn/render/explanation.hpp"
#include "render/html_json.hpp"
#include "render/html_page.hpp"

namespace attn {
inline namespace v1 {
namespace {

std::string describe_head(const ExplainedHead& head) {
  JsonObject object;
  object.text("name", head.name);
  object.integer("head_size", head.head_size);
  object.integer("value_size", head.value_size);
  const std::pair<std::string_view, const std::vector<double>*> matrices[] = {
      {"query", &head.query},       {"key", &head.key},         {"value", &head.value},
      {"products", &head.products}, {"scaled", &head.scaled},   {"capped", &head.capped},
      {"masked", &head.masked},     {"maximum", &head.maximum}, {"exponentials", &head.exponentials},
      {"sink", &head.sink},         {"sum", &head.sum},         {"weights", &head.weights},
      {"output", &head.output}};
  for (const auto& [name, values] : matrices) object.raw(name, json_list(*values));
  return object.close();
}

std::string describe_matrices(const std::vector<ExplainedMatrix>& matrices, bool prettify) {
  std::string json = "[";
  for (const ExplainedMatrix& matrix : matrices) {
    JsonObject object;
    object.text("title", matrix.title);
    object.integer("rows", matrix.rows);
    object.integer("columns", matrix.columns);
    object.raw("values", json_list(matrix.values));
    object.raw("labels", json_tokens(matrix.row_labels, prettify));
    if (json.size() > 1) json += ',';
    json += object.close();
  }
  return json + "]";
}

std::string describe(const Explanation& explanation) {
  JsonObject object;
  object.text("version", explanation.version);
  object.integer("queries", explanation.queries);
  object.integer("keys", explanation.keys);
  object.number("scale", explanation.scale);
  object.number("softcap", explanation.softcap);
  object.text("mask_text", explanation.mask_text);
  object.raw("query_tokens", json_tokens(explanation.labels.query_tokens, explanation.prettify));
  object.raw("key_tokens", json_tokens(explanation.labels.key_tokens, explanation.prettify));
  object.integer("first_query", explanation.first_query);
  object.integer("first_key", explanation.first_key);
  object.raw("before", describe_matrices(explanation.before, explanation.prettify));
  object.raw("after", describe_matrices(explanation.after, explanation.prettify));
  std::string heads = "[";
  for (const ExplainedHead& head : explanation.heads) {
    if (heads.size() > 1) heads += ',';
    heads += describe_head(head);
  }
  object.raw("heads", heads + "]");
  return object.close();
}

}  // namespace

void write_explanation(const Explanation& explanation, ByteSink& bytes) {
  PageWriter writer(explanation_page(), bytes);
  writer.begin(explanation.title, explanation.theme == Theme::dark ? "dark" : "");
  writer.data(data_block("application/json", "explanation") + escape_json_for_script(describe(explanation)) + "</script>\n");
  writer.end();
}

}  // namespace v1
}  // namespace attn
