#include <gtest/gtest.h>

#include "attn/base/error.hpp"
#include "attn/io/array_file.hpp"
#include "attn/io/array_writer.hpp"

namespace attn {
namespace {

class NoSink : public ByteSink {
 public:
  void write(const void*, std::size_t) override {}
};

template <typename Call>
std::string hint_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.hint();
  }
  return "nothing was thrown";
}

ArrayHeader header() {
  ArrayHeader header;
  header.name = "weights";
  header.shape = {1, 1};
  return header;
}

TEST(Suggestions, FormatsThatAreWritten) {
  NoSink sink;
  EXPECT_EQ(hint_of([&] { make_array_writer("cvs", header(), {}, sink); }), "did you mean 'csv'?");
  EXPECT_EQ(hint_of([&] { make_array_writer("safetensor", header(), {}, sink); }), "did you mean 'safetensors'?");
  EXPECT_EQ(hint_of([&] { make_array_writer("parquet", header(), {}, sink); }), "");
}

TEST(Suggestions, FormatsOfBundles) {
  NoSink sink;
  EXPECT_EQ(hint_of([&] { make_bundle_writer("npx", {header()}, {}, sink); }), "did you mean 'npz'?");
}

TEST(Suggestions, FormatsThatAreRead) {
  ReadOptions options;
  options.format = "jsn";
  EXPECT_EQ(hint_of([&] { open_array_file("x", options, {}); }), "did you mean 'json'?");
}

}  // namespace
}  // namespace attn
