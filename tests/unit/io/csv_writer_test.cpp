#include <cmath>

#include "text_support.hpp"

namespace attn::testing {
namespace {

using Numbers = std::vector<double>;
using Strings = std::vector<std::string>;

ArrayHeader header_of(std::string name, Shape shape, AxisLabels labels = {}) {
  ArrayHeader header;
  header.name = std::move(name);
  header.shape = std::move(shape);
  header.labels = std::move(labels);
  return header;
}

TEST(CsvWriter, WritesALabelledGrid) {
  EXPECT_EQ(written<float>("csv", header_of("weights", {2, 2}, {{"The", "cat"}, {"The", "cat"}}), {1, 0, 0.25f, 0.75f}),
            "query,The,cat\nThe,1,0\ncat,0.25,0.75\n");
  EXPECT_EQ(written<double>("tsv", header_of("weights", {1, 2}, {{","}, {"\t", "b"}}), {1, 0}), "query\t\"\t\"\tb\n,\t1\t0\n");
}

TEST(CsvWriter, QuotesLabelsByRfc4180) {
  const Strings tokens{",", "\"", "a\nb", "cat"};
  EXPECT_EQ(
      written<float>("csv", header_of("weights", {4, 4}, {tokens, tokens}), std::vector<float>(16, 0.25f)),
      "query,\",\",\"\"\"\",\"a\nb\",cat\n\",\",0.25,0.25,0.25,0.25\n\"\"\"\",0.25,0.25,0.25,0.25\n\"a\nb\",0.25,0.25,0.25,0.25\n"
      "cat,0.25,0.25,0.25,0.25\n");
  EXPECT_EQ(written<double>("csv", header_of("weights", {1, 1}, {{""}, {"a\rb"}}), {1}), "query,\"a\rb\"\n\"\",1\n");
}

TEST(CsvWriter, OneMatrixWithoutTokensIsBareNumbers) {
  EXPECT_EQ(written<double>("csv", header_of("weights", {2, 2}), {1, 2, 3, 4.5}), "1,2\n3,4.5\n");
  ArrayHeader header = header_of("weights", {1, 2, 2}, {{"a", "b"}, {}});
  header.with_labels = false;
  EXPECT_EQ(written<double>("csv", header, {1, 2, 3, 4.5}), "1,2\n3,4.5\n");
}

TEST(CsvWriter, MoreAxesComeFirstAsColumns) {
  const Numbers values{0, 1, 2, 3, 4, 5, 6, 7};
  for (const Index block : {1, 3, 8}) {
    EXPECT_EQ(written("csv", header_of("weights", {2, 2, 2}), values, block),
              "head,query,0,1\n0,0,0,1\n0,1,2,3\n1,0,4,5\n1,1,6,7\n");
    EXPECT_EQ(written("csv", header_of("weights", {2, 2, 1, 2}, {{"a"}, {"x", "y"}}), values, block),
              "batch,head,query,x,y\n0,0,a,0,1\n0,1,a,2,3\n1,0,a,4,5\n1,1,a,6,7\n");
    EXPECT_EQ(written("csv", header_of("output", {2, 2, 2}, {{"a", "b"}, {}}), values, block),
              "batch,query,0,1\n0,a,0,1\n0,b,2,3\n1,a,4,5\n1,b,6,7\n");
    ArrayHeader reduced = header_of("weights", {2, 2, 2});
    reduced.leading_axes = {"batch"};
    EXPECT_EQ(written("csv", reduced, values, block).substr(0, 16), "batch,query,0,1\n");
  }
}

TEST(CsvWriter, NamesRowsAndColumnsByWhatTheyAre) {
  EXPECT_EQ(written<double>("csv", header_of("output", {1, 2}, {{"The"}, {}}), {1, 2}), "query,0,1\nThe,1,2\n");
  EXPECT_EQ(written<double>("csv", header_of("present_key", {2, 1}, {{}, {"a", "b"}}), {1, 2}), "key,0\na,1\nb,2\n");
  EXPECT_EQ(written<double>("csv", header_of("present_value", {1, 1, 1, 1}, {{}, {"a"}}), {1}), "batch,head,key,0\n0,0,a,1\n");
  EXPECT_EQ(written<double>("csv", header_of("lse", {2}, {{"a", "b"}, {}}), {1, 2}), "query,lse\na,1\nb,2\n");
  EXPECT_EQ(written<double>("csv", header_of("lse", {2}), {1, 2}), "query,lse\n0,1\n1,2\n");
  EXPECT_EQ(written<double>("csv", header_of("lse", {2, 2}), {1, 2, 3, 4}), "head,query,lse\n0,0,1\n0,1,2\n1,0,3\n1,1,4\n");
  EXPECT_EQ(written<double>("csv", header_of("lse", {2, 1, 1}), {1, 2}), "batch,head,query,lse\n0,0,0,1\n1,0,0,2\n");
  ArrayHeader bare = header_of("lse", {2});
  bare.with_labels = false;
  EXPECT_EQ(written<double>("csv", bare, {1, 2}), "1\n2\n");
}

TEST(CsvWriter, WritesNonFiniteNumbersByName) {
  EXPECT_EQ(written<float>("csv", header_of("scores", {1, 4}), {NAN, INFINITY, -INFINITY, -0.0f}), "NaN,Infinity,-Infinity,0\n");
}

TEST(CsvWriter, GuardsLabelsThatASpreadsheetWouldRun) {
  const ArrayHeader header = header_of("weights", {1, 2}, {{"=1+1"}, {"@x", "b"}});
  EXPECT_EQ(written<double>("csv", header, {1, 0}), "query,@x,b\n=1+1,1,0\n");
  EXPECT_EQ(written<double>("csv", header, {1, 0}, 1, {.csv_safe = true}), "query,'@x,b\n'=1+1,1,0\n");
  ASSERT_EQ(label_notes("csv", header, {}).size(), 1u);
  EXPECT_NE(label_notes("csv", header, {})[0].find("=1+1"), std::string::npos);
  EXPECT_NE(label_notes("tsv", header, {})[0].find("--csv-safe"), std::string::npos);
  EXPECT_TRUE(label_notes("csv", header, {.csv_safe = true}).empty());
  EXPECT_TRUE(label_notes("json", header, {}).empty());
  for (const char* label : {"+1", "-x", "\tx", "\rx"})
    EXPECT_EQ(label_notes("csv", header_of("weights", {1, 1}, {{label}, {}}), {}).size(), 1u) << label;
  for (const char* label : {"a=b", "", "x-1", "1"})
    EXPECT_TRUE(label_notes("csv", header_of("weights", {1, 1}, {{label}, {}}), {}).empty()) << label;
}

TEST(CsvWriter, MissingRowsAreAFaultOfOurs) { EXPECT_THROW(written<double>("csv", header_of("weights", {3, 1}), {1, 2}), Error); }

class CsvRoundTrip : public TextFolder {
 protected:
  void expect_back(const ArrayHeader& header, const Numbers& values) {
    for (const std::string format : {"csv", "tsv"}) {
      const auto file = open("w." + format, written(format, header, values));
      EXPECT_EQ(file->members()[0].shape, header.shape) << format;
      EXPECT_EQ(file->members()[0].labels.query_tokens, header.labels.query_tokens);
      EXPECT_EQ(file->members()[0].labels.key_tokens, header.labels.key_tokens);
      EXPECT_EQ(numbers_of(*file), values);
    }
  }
};

TEST_F(CsvRoundTrip, ShapesAndLabelsComeBack) {
  const Strings odd{",", "\"", "a\nb", "\r", "\t", ";", " x ", "", "=1", "3", "query", std::string("a\0b", 3)};
  Numbers values;
  for (int i = 0; i < 144; ++i) values.push_back(i / 7.0);
  expect_back(header_of("weights", {12, 12}, {odd, odd}), values);
  expect_back(header_of("weights", {12, 12}), values);
  expect_back(header_of("weights", {3, 4, 12}, {{"a", "b", "c", "d"}, odd}), values);
  expect_back(header_of("weights", {3, 2, 2, 12}), values);
  expect_back(header_of("lse", {144}), values);
  expect_back(header_of("lse", {6, 2, 12}, {odd, {}}), values);
  expect_back(header_of("output", {2, 6, 12}), values);
  expect_back(header_of("weights", {0, 2}, {{}, {"a", "b"}}), {});
  expect_back(header_of("weights", {2, 0}, {{"a", "b"}, {}}), {});
  expect_back(header_of("weights", {4, 0}, {{" ", "\t", "", "  "}, {}}), {});
}

}  // namespace
}  // namespace attn::testing
