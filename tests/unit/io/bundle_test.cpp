#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "attn/io/array_file.hpp"
#include "attn/io/array_writer.hpp"
#include "unit/io/file_support.hpp"
#include "unit/io/npy_support.hpp"

namespace attn {
namespace {

/// Query q of any head sees the keys up to q; of head 1, if heads differ, up to q + 1; of batch 1 likewise.
class Causal : public Visibility {
 public:
  Causal(Index queries, Index keys, Index heads, bool by_head, bool by_batch)
      : queries_(queries), keys_(keys), heads_(heads), by_head_(by_head), by_batch_(by_batch) {}
  void allowed_keys(Index row, std::vector<Range>& ranges) const override {
    const Index head = row / queries_ % heads_, batch = row / queries_ / heads_;
    Index end = row % queries_ + 1 + (by_head_ ? head : 0) + (by_batch_ ? batch : 0);
    ranges = {{0, std::min(end, keys_)}};
  }

 private:
  Index queries_, keys_, heads_;
  bool by_head_, by_batch_;
};

ArrayHeader header_of(const std::string& name, const Shape& shape, DType dtype = DType::f32) {
  ArrayHeader header;
  header.name = name;
  header.shape = shape;
  header.dtype = dtype;
  return header;
}

Index rows_of(const Shape& shape) {
  Index rows = 1;
  for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) rows *= shape[axis];
  return rows;
}

/// Element i of array a is 100 a + i.
std::vector<double> values_of(std::size_t array, const Shape& shape) {
  std::vector<double> values(static_cast<std::size_t>(rows_of(shape) * shape.back()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(100 * array + i);
  return values;
}

class Bundle : public ::testing::TestWithParam<std::string> {
 protected:
  /// Feeds all arrays row by row, side by side, and finishes them from the last to the first.
  std::unique_ptr<ArrayFile> write(const std::vector<ArrayHeader>& headers) {
    MemorySink bytes;
    const auto bundle = make_bundle_writer(GetParam(), headers, {}, bytes);
    Index most = 0;
    std::vector<std::vector<double>> all;
    for (std::size_t i = 0; i < headers.size(); ++i) all.push_back(values_of(i, headers[i].shape));
    for (const ArrayHeader& header : headers) most = std::max(most, rows_of(header.shape));
    for (Index row = 0; row < most; ++row)
      for (std::size_t i = 0; i < headers.size(); ++i) {
        const Index width = headers[i].shape.back();
        if (row >= rows_of(headers[i].shape)) continue;
        const double* const wide = all[i].data() + row * width;
        const std::vector<float> narrow(wide, wide + width);
        RowBlock block{row, 1, width, headers[i].dtype, nullptr, width};
        if (headers[i].dtype == DType::f32)
          block.data = narrow.data();
        else
          block.data = wide;
        std::string encoded;
        bundle->sink(i).encode(block, encoded);
        bundle->sink(i).append(block, encoded);
      }
    for (std::size_t i = headers.size(); i-- > 0;) bundle->sink(i).finish();
    bundle->finish();
    content_ = bytes.content;
    write_file(folder_ / ("b." + GetParam()), content_);
    return open_array_file(folder_ / ("b." + GetParam()), {}, RunContext());
  }

  void expect_numbers(ArrayFile& file, const std::vector<ArrayHeader>& headers) {
    for (std::size_t i = 0; i < headers.size(); ++i) {
      const Member* member = file.find(headers[i].name);
      ASSERT_NE(member, nullptr) << headers[i].name;
      EXPECT_EQ(member->shape, headers[i].shape);
      EXPECT_EQ(all_numbers(file, static_cast<std::size_t>(member - file.members().data())), values_of(i, headers[i].shape))
          << headers[i].name;
    }
  }

  TemporaryFolder folder_;
  std::string content_;
};

TEST_P(Bundle, AllArraysComeBack) {
  std::vector<ArrayHeader> headers{header_of("weights", {2, 3, 4}), header_of("output", {3, 2}),
                                   header_of("lse", {2, 3}, DType::f64), header_of("key", {4, 2})};
  headers[0].labels = {{"a", "b", "猫"}, {"1", "2", "3", "4"}};
  headers[0].facts = {{"scale", 0.25}, {"mask_text", std::string("causal")}};
  const auto file = write(headers);
  expect_numbers(*file, headers);
  if (GetParam() == "json") return;
  EXPECT_EQ(file->find("query_tokens")->strings, headers[0].labels.query_tokens);
  EXPECT_EQ(file->find("key_tokens")->strings, headers[0].labels.key_tokens);
  EXPECT_EQ(file->find("allowed"), nullptr);
}

TEST_P(Bundle, ALargeArrayGoesThroughTheSpool) {
  const std::vector<ArrayHeader> headers{header_of("weights", {2, 2}), header_of("output", {700, 500})};
  expect_numbers(*write(headers), headers);
}

TEST_P(Bundle, ArraysWithoutElements) {
  const std::vector<ArrayHeader> headers{header_of("output", {3, 2}), header_of("scores", {0, 3}), header_of("weights", {2, 0, 4}),
                                         header_of("query", {4, 0}), header_of("key", {2, 3})};
  expect_numbers(*write(headers), headers);
}

TEST_P(Bundle, TheSmallestAllowedThatBroadcasts) {
  struct Case {
    Shape weights;
    bool by_head, by_batch;
    Shape allowed;
  };
  for (const Case& c : std::vector<Case>{{{3, 4}, false, false, {3, 4}},
                                         {{2, 3, 4}, false, false, {3, 4}},
                                         {{2, 3, 4}, true, false, {2, 3, 4}},
                                         {{2, 2, 3, 4}, false, false, {3, 4}},
                                         {{2, 2, 3, 4}, false, true, {2, 1, 3, 4}},
                                         {{2, 2, 3, 4}, true, false, {2, 2, 3, 4}},
                                         {{2, 2, 3, 4}, true, true, {2, 2, 3, 4}}}) {
    std::vector<ArrayHeader> headers{header_of("output", {3, 2}), header_of("weights", c.weights)};
    const Index heads = c.weights.size() > 2 ? c.weights[c.weights.size() - 3] : 1;
    const Causal causal(3, 4, heads, c.by_head, c.by_batch);
    headers[1].visibility = &causal;
    const auto file = write(headers);
    expect_numbers(*file, headers);
    if (GetParam() == "json") continue;
    const Member* allowed = file->find("allowed");
    ASSERT_NE(allowed, nullptr);
    EXPECT_EQ(allowed->dtype, DType::boolean);
    EXPECT_EQ(allowed->shape, c.allowed) << shape_text(c.weights);
    const auto cells = all_numbers(*file, static_cast<std::size_t>(allowed - file->members().data()));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Index key = static_cast<Index>(i) % 4, query = static_cast<Index>(i) / 4 % 3, matrix = static_cast<Index>(i) / 12;
      const Index stored_heads = c.allowed.size() > 2 ? c.allowed[c.allowed.size() - 3] : 1;
      const Index end = query + 1 + (c.by_head ? matrix % stored_heads : 0) + (c.by_batch ? matrix / stored_heads : 0);
      ASSERT_EQ(cells[i], key < end ? 1 : 0) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Bundle, ::testing::Values("npz", "safetensors", "json"),
                         [](const auto& test) { return test.param; });

TEST(BundleOfSafetensors, IsSortedByElementSizeThenName) {
  MemorySink bytes;
  const std::vector<ArrayHeader> headers{header_of("weights", {1, 1}), header_of("output", {1, 1}),
                                         header_of("lse", {1}, DType::f64)};
  const auto bundle = make_bundle_writer("safetensors", headers, {}, bytes);
  const float one = 1, two = 2;
  const double three = 3;
  bundle->sink(0).append({0, 1, 1, DType::f32, &one, 1}, "");
  bundle->sink(1).append({0, 1, 1, DType::f32, &two, 1}, "");
  bundle->sink(2).append({0, 1, 1, DType::f64, &three, 1}, "");
  for (std::size_t i = 0; i < 3; ++i) bundle->sink(i).finish();
  bundle->finish();
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.content.data(), 8);
  const auto json = nlohmann::ordered_json::parse(bytes.content.substr(8, length));
  std::vector<std::string> names;
  for (const auto& item : json.items()) names.push_back(item.key());
  EXPECT_EQ(names, (std::vector<std::string>{"__metadata__", "lse", "output", "weights"}));
  const std::string data = bytes.content.substr(8 + length);
  EXPECT_EQ(data.substr(8), f4({2, 1}));
  EXPECT_EQ(json["output"]["data_offsets"], (std::vector<int>{8, 12}));
}

TEST(BundleOfJson, HasTheLayoutOfADocument) {
  MemorySink bytes;
  std::vector<ArrayHeader> headers{header_of("weights", {1, 2}), header_of("lse", {1})};
  headers[0].labels = {{"a"}, {"b", "c"}};
  headers[0].facts = {{"scale", 0.5}};
  const Causal causal(1, 2, 1, false, false);
  headers[0].visibility = &causal;
  const auto bundle = make_bundle_writer("json", headers, {}, bytes);
  const float weights[] = {1, 0}, lse = 2.5;
  for (std::size_t i = 0; i < 2; ++i) {
    const RowBlock block{0, 1, i == 0 ? 2 : 1, DType::f32, i == 0 ? weights : &lse, i == 0 ? 2 : 1};
    std::string encoded;
    bundle->sink(i).encode(block, encoded);
    bundle->sink(i).append(block, encoded);
    bundle->sink(i).finish();
  }
  bundle->finish();
  const auto json = nlohmann::json::parse(bytes.content);
  EXPECT_EQ(json, nlohmann::json::parse(R"({"schema":"attn-cli/1","query_tokens":["a"],"key_tokens":["b","c"],"scale":0.5,
    "allowed":[[[0,1]]],"weights":[[1,0]],"lse":[2.5]})"));
}

TEST(BundleOfOthers, IsRefusedByName) {
  MemorySink bytes;
  expect_error(ErrorKind::usage, "cannot be written as 'csv', expected one of npz, safetensors, json", [&] {
    make_bundle_writer("csv", {header_of("weights", {1, 1})}, {}, bytes);
  });
}

}  // namespace
}  // namespace attn
