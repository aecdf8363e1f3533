#include <cmath>
#include <limits>

#include "io/json_parts.hpp"
#include "text_support.hpp"

namespace attn::testing {
namespace {

using Numbers = std::vector<double>;
using Strings = std::vector<std::string>;

ArrayHeader header_of(std::string name, Shape shape) {
  ArrayHeader header;
  header.name = std::move(name);
  header.shape = std::move(shape);
  return header;
}

TEST(JsonWriter, WritesTheDocumentOfTheContract) {
  ArrayHeader header = header_of("weights", {2, 3});
  header.labels = {{"The", "cat"}, {"x", "y\n", "\""}};
  header.facts = {
      {"scale", 0.5}, {"mask_text", std::string("causal, top-left")}, {"odd", std::numeric_limits<double>::infinity()}};
  const StoredVisibility visibility({{{0, 1}}, {{0, 1}, {2, 3}}});
  header.visibility = &visibility;
  EXPECT_EQ(written<float>("json", header, {1, 0, -0.0f, 0.1f, 0, 0.9f}),
            "{\"schema\":\"attn-cli/1\",\n"
            " \"shape\":[2,3],\n"
            " \"query_tokens\":[\"The\",\"cat\"],\n"
            " \"key_tokens\":[\"x\",\"y\\n\",\"\\\"\"],\n"
            " \"scale\":0.5,\n"
            " \"mask_text\":\"causal, top-left\",\n"
            " \"odd\":\"Infinity\",\n"
            " \"allowed\":[\n [[0,1]],\n [[0,1],[2,3]]],\n"
            " \"weights\":[\n [1,0,0],\n [0.1,0,0.9]]}\n");
}

TEST(JsonWriter, NestsAnyRankWhateverTheBlocks) {
  const Numbers values{0, 1, 2, 3, 4, 5, 6, 7};
  for (const Index block : {1, 2, 3, 8}) {
    EXPECT_EQ(written("json", header_of("w", {2, 2, 2}), values, block),
              "{\"schema\":\"attn-cli/1\",\n \"shape\":[2,2,2],\n \"w\":[\n [[0,1],\n  [2,3]],\n [[4,5],\n  [6,7]]]}\n");
    EXPECT_EQ(written("json", header_of("w", {2, 1, 2, 2}), values, block),
              "{\"schema\":\"attn-cli/1\",\n \"shape\":[2,1,2,2],\n \"w\":[\n [[[0,1],\n   [2,3]]],\n [[[4,5],\n   [6,7]]]]}\n");
    EXPECT_EQ(written("json", header_of("lse", {8}), values, block),
              "{\"schema\":\"attn-cli/1\",\n \"shape\":[8],\n \"lse\":[0,1,2,3,4,5,6,7]}\n");
  }
}

TEST(JsonWriter, WritesZeroSizeAxes) {
  const auto value = [](Shape shape) {
    const std::string text = written<double>("json", header_of("w", std::move(shape)), {});
    return text.substr(text.find("\"w\":"));
  };
  EXPECT_EQ(value({0}), "\"w\":[]}\n");
  EXPECT_EQ(value({0, 3}), "\"w\":[]}\n");
  EXPECT_EQ(value({2, 0}), "\"w\":[[],[]]}\n");
  EXPECT_EQ(value({2, 0, 3}), "\"w\":[[],[]]}\n");
  EXPECT_EQ(value({1, 2, 0}), "\"w\":[[[],[]]]}\n");
}

TEST(JsonWriter, WritesNonFiniteNumbersAsStrings) {
  EXPECT_NE(written<double>("json", header_of("lse", {4}), {NAN, INFINITY, -INFINITY, -0.0})
                .find("[\"NaN\",\"Infinity\",\"-Infinity\",0]"),
            std::string::npos);
}

TEST(JsonWriter, ReplacesBytesThatAreNotUtf8) {
  ArrayHeader header = header_of("weights", {1, 1});
  header.labels.query_tokens = {"a\xff"};
  EXPECT_NE(written<double>("json", header, {1}).find("[\"a\xef\xbf\xbd\"]"), std::string::npos);
  const auto notes = label_notes("json", header, {});
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("a\\xff"), std::string::npos);
  EXPECT_NE(notes[0].find("U+FFFD"), std::string::npos);
  EXPECT_TRUE(label_notes("csv", header, {}).empty()) << "text files keep the bytes";
  EXPECT_TRUE(label_notes("npy", header, {}).empty());
}

TEST(JsonWriter, MissingRowsAreAFaultOfOurs) { EXPECT_THROW(written<double>("json", header_of("w", {3, 1}), {1, 2}), Error); }

TEST(JsonWriter, ThePiecesMakeADocumentOfSeveralArrays) {
  TextSink sink;
  const auto writer = make_json_value_writer(header_of("w", {1, 2}), sink);
  const double row[] = {1, 2};
  const RowBlock block{0, 1, 2, DType::f64, row, 2};
  std::string encoded;
  writer->encode(block, encoded);
  writer->append(block, encoded);
  writer->finish();
  EXPECT_EQ(sink.text, "[\n [1,2]]");
}

class JsonRoundTrip : public TextFolder {};

TEST_F(JsonRoundTrip, EverythingComesBack) {
  ArrayHeader header = header_of("weights", {2, 2, 3});
  header.labels = {{"The", "a\"b\\\n\xc3\xa9"}, {"", "1", "NaN"}};
  header.facts = {{"scale", 0.1}, {"mask_text", std::string("none")}};
  const StoredVisibility visibility({{}, {{0, 3}}, {{1, 2}}, {{0, 1}, {2, 3}}});
  header.visibility = &visibility;
  const Numbers values{0, 1, 2, .1, .2, .3, 1e300, 5e-324, -1, NAN, INFINITY, -INFINITY};
  const auto file = open("w.json", written("json", header, values));
  const Member& weights = *file->find("weights");
  EXPECT_EQ(weights.shape, header.shape);
  EXPECT_EQ(weights.labels.query_tokens, header.labels.query_tokens);
  EXPECT_EQ(weights.labels.key_tokens, header.labels.key_tokens);
  EXPECT_EQ(file->find("scale")->text, "0.1");
  ASSERT_NE(weights.allowed, nullptr);
  for (Index row = 0; row < 4; ++row) {
    std::vector<Range> expected, got;
    visibility.allowed_keys(row, expected);
    weights.allowed->allowed_keys(row, got);
    EXPECT_EQ(got, expected);
  }
  const Numbers back = numbers_of(*file, member_at(*file, "weights"));
  ASSERT_EQ(back.size(), values.size());
  EXPECT_TRUE(std::isnan(back[9]));
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_TRUE(back[i] == values[i] || i == 9) << i;
  for (const Shape& shape : {Shape{0, 3}, Shape{2, 0}, Shape{2, 0, 3}, Shape{0, 0}, Shape{0}}) {
    const StoredVisibility none(std::vector<std::vector<Range>>(shape == Shape{2, 0} ? 2 : 0));
    ArrayHeader empty = header_of("weights", shape);
    empty.visibility = &none;
    EXPECT_EQ(open("e.json", written<double>("json", empty, {}))->find("weights")->shape, shape);
  }
}

TEST_F(JsonRoundTrip, ABundleKeepsTheShapesOfEmptyArrays) {
  const std::vector<ArrayHeader> headers{header_of("weights", {0, 3}), header_of("output", {0, 2}), header_of("key", {3, 2})};
  TextSink sink;
  const auto bundle = make_bundle_writer("json", headers, {}, sink);
  const double key[] = {1, 2, 3, 4, 5, 6};
  const RowBlock rows{0, 3, 2, DType::f64, key, 2};
  std::string encoded;
  bundle->sink(2).encode(rows, encoded);
  bundle->sink(2).append(rows, encoded);
  for (std::size_t i = 0; i < headers.size(); ++i) bundle->sink(i).finish();
  bundle->finish();
  const auto file = open("b.json", sink.text);
  for (const ArrayHeader& header : headers) EXPECT_EQ(file->find(header.name)->shape, header.shape) << header.name;
  EXPECT_EQ(numbers_of(*file, member_at(*file, "key")), (Numbers{1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace attn::testing
