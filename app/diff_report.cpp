#include "app/diff_report.hpp"

#include <algorithm>

#include "app/json_text.hpp"
#include "app/row_reader.hpp"
#include "app/suggest.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn::app {
namespace {

std::string shown(double value) { return format_rounded(value, 6); }

std::string shown_name(const std::string& name) { return name.empty() ? "the arrays" : printable(name); }

/// "0.5 at [1,0]: 0.7, reference 0.2"
std::string error_text(double error, Index at, const Shape& shape, double a, double b) {
  if (at < 0) return shown(error);
  return concat(shown(error), " at ", shape_text(place_of(at, shape)), ": ", shown(a), ", reference ", shown(b));
}

Shape row_place(const ArrayComparison& array) {
  const Shape leading(array.shape.begin(), array.shape.empty() ? array.shape.begin() : array.shape.end() - 1);
  return place_of(array.difference.worst_row, leading);
}

void append_figures(std::string& text, const ArrayComparison& array) {
  const Difference& d = array.difference;
  text += concat("  maximum absolute error  ",
                 error_text(d.max_absolute, d.max_absolute_at, array.shape, array.absolute_a, array.absolute_b), "\n");
  text += concat("  maximum relative error  ",
                 error_text(d.max_relative, d.max_relative_at, array.shape, array.relative_a, array.relative_b), "\n");
  text += concat("  mean absolute error     ", shown(d.mean_absolute()), "\n");
  text += concat("  cosine similarity       ", format_rounded(d.cosine(), 9), "\n");
  text += concat("  worst row sum           ", shown(d.worst_row_sum));
  if (d.worst_row >= 0 && d.worst_row_sum > 0 && array.shape.size() > 1) text += concat(" in row ", shape_text(row_place(array)));
  text += '\n';
}

void append_array(std::string& text, const ArrayComparison& array, double atol, double rtol) {
  if (array.shapes_differ()) {
    text += concat("different: ", shown_name(array.name), " have the shapes ", shape_text(array.shape), " and ",
                   shape_text(array.reference_shape), "\n");
    return;
  }
  const Difference& d = array.difference;
  text += array.same() ? "same: " : "different: ";
  text += concat(shown_name(array.name), " ", shape_text(array.shape), ", ", d.outside, " of ", d.count,
                 d.count == 1 ? " number" : " numbers", " outside ", format_number(atol), " + ", format_number(rtol), " |b|\n");
  append_figures(text, array);
}

void error_json(JsonText& json, std::string_view name, double error, Index at, const Shape& shape) {
  json.begin_object(name).number("value", error);
  if (at >= 0) json.indices("at", place_of(at, shape));
  json.end();
}

void array_json(JsonText& json, const ArrayComparison& array) {
  json.begin_object().text("name", array.name).boolean("same", array.same());
  json.indices("shape", array.shape).indices("reference_shape", array.reference_shape);
  if (!array.shapes_differ()) {
    const Difference& d = array.difference;
    json.integer("count", d.count).integer("outside", d.outside);
    error_json(json, "max_absolute", d.max_absolute, d.max_absolute_at, array.shape);
    error_json(json, "max_relative", d.max_relative, d.max_relative_at, array.shape);
    json.number("mean_absolute", d.mean_absolute()).number("cosine", d.cosine());
    json.begin_object("worst_row_sum").number("value", d.worst_row_sum);
    if (d.worst_row >= 0) json.indices("row", row_place(array));
    json.end();
  }
  json.end();
}

void names_json(JsonText& json, std::string_view name, const std::vector<std::string>& names) {
  json.begin_array(name);
  for (const std::string& text : names) json.text({}, text);
  json.end();
}

}  // namespace

void ArrayComparison::add_row(const double* a, const double* reference, Index columns, double atol, double rtol) {
  const Index begin = difference.rows_seen * columns;
  const Index absolute = difference.max_absolute_at, relative = difference.max_relative_at;
  difference.add_row(a, reference, columns, atol, rtol);
  if (difference.max_absolute_at != absolute) {
    absolute_a = a[difference.max_absolute_at - begin];
    absolute_b = reference[difference.max_absolute_at - begin];
  }
  if (difference.max_relative_at != relative) {
    relative_a = a[difference.max_relative_at - begin];
    relative_b = reference[difference.max_relative_at - begin];
  }
}

bool DiffReport::same() const {
  return only_a.empty() && only_b.empty() && std::all_of(arrays.begin(), arrays.end(), [](const auto& x) { return x.same(); });
}

std::string DiffReport::text() const {
  std::string text;
  for (const ArrayComparison& array : arrays) append_array(text, array, atol, rtol);
  if (!only_a.empty()) text += concat("different: only ", printable(a), " has ", word_list(only_a), "\n");
  if (!only_b.empty()) text += concat("different: only ", printable(b), " has ", word_list(only_b), "\n");
  return text;
}

std::string DiffReport::json() const {
  JsonText json;
  json.begin_object().text("schema", "attn-cli/1").text("a", a).text("b", b).boolean("same", same());
  json.number("atol", atol).number("rtol", rtol);
  json.begin_array("arrays");
  for (const ArrayComparison& array : arrays) array_json(json, array);
  json.end();
  names_json(json, "only_in_a", only_a);
  names_json(json, "only_in_b", only_b);
  return json.end().take();
}

}  // namespace attn::app
