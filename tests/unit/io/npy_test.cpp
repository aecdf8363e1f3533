#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>

#include "attn/io/array_file.hpp"
#include "attn/io/array_writer.hpp"
#include "io/npy_data.hpp"
#include "unit/io/file_support.hpp"
#include "unit/io/npy_support.hpp"

namespace attn {
namespace {

class Npy : public ::testing::Test {
 protected:
  std::unique_ptr<ArrayFile> open(const std::string& content) {
    write_file(folder_ / "x.npy", content);
    return open_array_file(folder_ / "x.npy", {}, RunContext());
  }
  std::vector<double> numbers(const std::string& content) { return all_numbers(*open(content), 0); }
  void refused(const std::string& content, std::string_view text) {
    expect_error(ErrorKind::malformed, text, [&] { numbers(content); });
  }

  TemporaryFolder folder_;
};

const std::vector<double> kSix{0, 1, 2, 3, 4, 5};

TEST_F(Npy, ReadsAPlainFile) {
  const auto file = open(npy_file(npy_dict(), f4(kSix)));
  EXPECT_EQ(file->format(), "npy");
  ASSERT_EQ(file->members().size(), 1u);
  const Member& member = file->members()[0];
  EXPECT_EQ(member.name, "");
  EXPECT_EQ(member.kind, MemberKind::array);
  EXPECT_EQ(member.dtype, DType::f32);
  EXPECT_EQ(member.shape, (Shape{2, 3}));
  EXPECT_EQ(member.where, folder_ / "x.npy");
  EXPECT_FALSE(member.is_text);
  EXPECT_EQ(all_numbers(*file, 0), kSix);
}

TEST_F(Npy, ReadsEveryWayTheHeaderMayBeWritten) {
  for (const auto* dict :
       {"{'shape': (2, 3), 'descr': '<f4', 'fortran_order': False}", "{\"descr\": \"<f4\", 'fortran_order':False,'shape':(2,3),}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }",
        "  { 'descr' : '=f4' , 'fortran_order' : False , 'shape' : ( 2 , 3 , ) , }  "})
    EXPECT_EQ(numbers(npy_file(dict, f4(kSix))), kSix) << dict;
  EXPECT_EQ(numbers(npy_file(npy_dict(), f4(kSix), {.total = 192})), kSix);
  EXPECT_EQ(numbers(npy_file(npy_dict(), f4(kSix), {.total = 1000})), kSix);
  EXPECT_EQ(numbers(npy_file(npy_dict(), f4(kSix), {.version = 2})), kSix);
  EXPECT_EQ(numbers(npy_file(npy_dict(), f4(kSix), {.version = 3})), kSix);
  EXPECT_EQ(numbers(npy_file(npy_dict(), f4(kSix), {.version = 2, .total = 256})), kSix);
  // The data need not begin at a multiple of anything.
  EXPECT_EQ(numbers(npy_file(npy_dict(), f4(kSix), {.total = 101})), kSix);
}

TEST_F(Npy, ReadsFilesOfNumpy) {
  std::vector<double> quarters, wholes;
  for (int i = 0; i < 24; ++i) quarters.push_back((i - 3) / 4.0);
  for (const auto* name : {"fortran.npy", "big_endian.npy", "version2.npy", "version3.npy"}) {
    const auto file = open_array_file(data_path(name), {}, RunContext());
    EXPECT_EQ(file->members()[0].shape, (Shape{2, 3, 4})) << name;
    EXPECT_EQ(all_numbers(*file, 0), quarters) << name;
    EXPECT_EQ(all_rows(*file, 0, 1), quarters) << name;
    EXPECT_EQ(all_rows(*file, 0, 4), quarters) << name;
  }
}

TEST_F(Npy, FortranOrderOfAnyRank) {
  // Element (i,j,k,l) of shape (2,3,2,5) is its number in C order; in the file the first axis runs fastest.
  std::vector<double> stored, right;
  for (int l = 0; l < 5; ++l)
    for (int k = 0; k < 2; ++k)
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 2; ++i) stored.push_back(((i * 3 + j) * 2 + k) * 5 + l);
  for (int i = 0; i < 60; ++i) right.push_back(i);
  EXPECT_EQ(numbers(npy_file(npy_dict("(2, 3, 2, 5)", "<f4", "True"), f4(stored))), right);
  EXPECT_EQ(numbers(npy_file(npy_dict("(6,)", "<f4", "True"), f4(kSix))), kSix);
  EXPECT_EQ(numbers(npy_file(npy_dict("()", "<f4", "True"), f4({7}))), (std::vector<double>{7}));
  EXPECT_EQ(numbers(npy_file(npy_dict("(0, 3)", "<f4", "True"), "")), (std::vector<double>{}));
  EXPECT_EQ(numbers(npy_file(npy_dict("(1, 6)", "<f4", "True"), f4(kSix))), kSix);
  EXPECT_EQ(numbers(npy_file(npy_dict("(6, 1)", "<f4", "True"), f4(kSix))), kSix);
}

TEST_F(Npy, FortranOrderOfAMatrixLargerThanTheBlocks) {
  std::vector<double> stored, right;
  for (int j = 0; j < 75; ++j)
    for (int i = 0; i < 70; ++i) stored.push_back(i * 75 + j);
  for (int i = 0; i < 70 * 75; ++i) right.push_back(i);
  EXPECT_EQ(numbers(npy_file(npy_dict("(70, 75)", "<f4", "True"), f4(stored))), right);
}

/// A .npy too long to hold in a test: element i is a byte that i tells, of an array in Fortran order.
class CountingSource : public NpySource {
 public:
  explicit CountingSource(std::uint64_t size) : size_(size) {}
  std::uint64_t size() override { return size_; }
  void read_at(std::uint64_t offset, void* target, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) static_cast<unsigned char*>(target)[i] = byte(offset + i);
    longest = std::max(longest, count);
  }
  static unsigned char byte(std::uint64_t i) { return static_cast<unsigned char>((i ^ i >> 8 ^ i >> 16) * 31); }
  std::size_t longest = 0;

 private:
  std::uint64_t size_;
};

TEST_F(Npy, FortranOrderTakesLittleMoreThanTheArray) {
  // Slices longer than the buffer, slices of which it holds several, a single one.
  for (const Shape& shape : {Shape{1 << 20, 17, 3}, Shape{3000, 20000}, Shape{40 << 20, 1}}) {
    NpyHeader header;
    header.type = {NpyType::Content::numbers, DType::u8, 1, false};
    header.fortran_order = true;
    header.shape = shape;
    const Index size = checked_size(shape, "x");
    CountingSource source(static_cast<std::uint64_t>(size));
    const MemoryBudget budget(static_cast<std::size_t>(size) + (std::size_t{32} << 20));
    const Array array = read_npy_array(source, header, "x", budget);
    EXPECT_LE(source.longest, std::size_t{32} << 20);
    const Index middle = shape.size() == 3 ? shape[1] : 1, last = shape.back();
    Index wrong = 0, at = 0;
    for (Index i = 0; i < shape[0]; ++i)
      for (Index j = 0; j < middle; ++j)
        for (Index k = 0; k < last; ++k, ++at)
          wrong += array.data<unsigned char>()[at] !=
                   CountingSource::byte(static_cast<std::uint64_t>(i + shape[0] * (j + middle * k)));
    EXPECT_EQ(wrong, 0) << shape_text(shape);
  }
}

/// The content of a FIFO, which a child writes.
class NpyStream : public Npy {
 protected:
  std::unique_ptr<ArrayFile> open_stream(const std::string& content, const RunContext& run) {
    write_file(folder_ / "content", content);
    ::unlink((folder_ / "fifo").c_str());
    EXPECT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
    if (writer_.joinable()) writer_.join();
    writer_ = std::thread([fifo = folder_ / "fifo", content] { std::ofstream(fifo, std::ios::binary) << content; });
    return open_array_file(folder_ / "fifo", {}, run);
  }
  void TearDown() override {
    if (writer_.joinable()) writer_.join();
  }
  std::thread writer_;
};

constexpr int kLong = 700000;  // elements: more than is held of a stream

TEST_F(NpyStream, GoesStraightIntoTheArray) {
  std::vector<double> values;
  for (int i = 0; i < kLong; ++i) values.push_back(i % 1000);
  const RunContext run;
  for (const std::string order : {"False", "True"}) {
    std::vector<double> right = values;
    if (order == "True")
      for (int i = 0; i < kLong; ++i)
        right[static_cast<std::size_t>(i)] = values[static_cast<std::size_t>(i % 7 * 100000 + i / 7)];
    const std::string content = npy_file(npy_dict("(100000, 7)", "<f4", order), f4(values));
    EXPECT_EQ(all_numbers(*open_stream(content, run), 0), right) << order;
    EXPECT_EQ(all_rows(*open_stream(content, run), 0, 1000), right) << order;
  }
}

TEST_F(NpyStream, NeedsNoMoreMemoryThanTheArray) {
  RunContext run;
  run.budget = MemoryBudget(4 * kLong + (std::size_t{3} << 20));
  const auto file = open_stream(npy_file(npy_dict("(700000,)"), f4(std::vector<double>(kLong, 1))), run);
  EXPECT_EQ(file->read(0, run.budget).size(), kLong);
}

TEST_F(NpyStream, OfAnotherLengthThanItsHeaderSays) {
  const RunContext run;
  const std::string data = f4(std::vector<double>(kLong, 1));
  const std::string good = npy_file(npy_dict("(700000,)"), data);
  expect_error(ErrorKind::malformed, "fifo: bytes after the data", [&] { open_stream(good + "x", run)->read(0, run.budget); });
  expect_error(ErrorKind::malformed, "fifo: the file ends after 2800127 bytes, expected at least 2800128",
               [&] { open_stream(good.substr(0, good.size() - 1), run)->read(0, run.budget); });
  std::vector<double> row(1);
  expect_error(ErrorKind::malformed, "1 bytes after the data",
               [&] { open_stream(good + "x", run)->read_rows(0, 0, 1, row.data()); });
}

TEST_F(Npy, ScalarsAndEmptyAxes) {
  EXPECT_EQ(numbers(npy_file(npy_dict("()"), f4({2.5}))), (std::vector<double>{2.5}));
  for (const auto* shape : {"(0, 3)", "(3, 0)", "(0,)"}) EXPECT_TRUE(numbers(npy_file(npy_dict(shape), "")).empty()) << shape;
  EXPECT_EQ(open(npy_file(npy_dict("(1,1,1,1,1,1,2,3)"), f4(kSix)))->members()[0].shape.size(), 8u);
}

TEST_F(Npy, RowsAreFlattenedToTheLastAxis) {
  const auto file = open(npy_file(npy_dict("(2, 2, 2)", "<i2"), std::string("\1\0\2\0\3\0\4\0\5\0\6\0\7\0\xff\xff", 16)));
  double rows[4] = {};
  file->read_rows(0, 1, 2, rows);
  EXPECT_EQ(std::vector<double>(rows, rows + 4), (std::vector<double>{3, 4, 5, 6}));
  file->read_rows(0, 3, 1, rows);
  EXPECT_EQ(rows[1], -1);
}

TEST_F(Npy, ListsOfTextsAndOneText) {
  const std::string cat("c\0\0\0a\0\0\0t\0\0\0\0\0\0\0", 16), is("i\0\0\0s\0\0\0\0\0\0\0\0\0\0\0", 16);
  const auto list = open(npy_file(npy_dict("(2,)", "<U4"), cat + is));
  EXPECT_EQ(list->members()[0].kind, MemberKind::strings);
  EXPECT_EQ(list->members()[0].strings, (std::vector<std::string>{"cat", "is"}));
  const auto text = open(npy_file(npy_dict("()", "|S3"), std::string("ab\0", 3)));
  EXPECT_EQ(text->members()[0].kind, MemberKind::text);
  EXPECT_EQ(text->members()[0].text, "ab");
  const auto big = open(npy_file(npy_dict("(1,)", ">U1"), std::string("\0\0\x73\x2b", 4)));
  EXPECT_EQ(big->members()[0].strings, (std::vector<std::string>{"猫"}));
  refused(npy_file(npy_dict("(1, 1)", "<U1"), std::string("a\0\0\0", 4)), "texts of shape [1,1]");
  refused(npy_file(npy_dict("(1,)", "<U1"), std::string("\0\xd8\0\0", 4)), "no Unicode character");
  refused(npy_file(npy_dict("(1,)", "<U1"), std::string("\0\0\x11\0", 4)), "no Unicode character");
}

TEST_F(Npy, RefusesWhatIsNotNpy) {
  write_file(folder_ / "x.npy", "");
  expect_error(ErrorKind::malformed, "0 bytes", [&] { open_array_file(folder_ / "x.npy", {}, RunContext()); });
  refused("\x93NUMPX" + npy_file(npy_dict(), f4(kSix)).substr(6), "not an npy file");
  refused(npy_file(npy_dict(), f4(kSix), {.version = 9}), "npy version 9.0");
  std::string minor = npy_file(npy_dict(), f4(kSix));
  minor[7] = 1;
  refused(minor, "npy version 1.1");
}

TEST_F(Npy, RefusesHeadersThatLieAboutTheirLength) {
  refused(npy_file(npy_dict(), f4(kSix), {.claimed = 60000}), "claims 60000 bytes, past the end");
  refused(std::string("\x93NUMPY\x02\x00\xf0\xff\xff\xff", 12), "claims 4294967280 bytes");
  refused(npy_file(npy_dict(), f4(kSix), {.claimed = 20}), "npy header");
}

TEST_F(Npy, RefusesHeadersThatAreNotTheDict) {
  refused(npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'shape': (2, 3), }", f4(kSix)), "'shape' twice");
  refused(npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'x': 1}", f4(kSix)), "the key 'x'");
  refused(npy_file("{'descr': '<f4', 'fortran_order': False}", f4(kSix)), "no 'shape'");
  refused(npy_file("{'fortran_order': False, 'shape': (2, 3)}", f4(kSix)), "no 'descr'");
  refused(npy_file("{'descr': '<f4', 'shape': (2, 3)}", f4(kSix)), "no 'fortran_order'");
  refused(npy_file("{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}", f4(kSix)), "True or False");
  refused(npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} x", f4(kSix)), "text after the dict");
  refused(npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)", f4(kSix)), "expected '}'");
  refused(npy_file("{'descr: <f4}", f4(kSix)), "not closed");
  refused(npy_file("", f4(kSix)), "expected '{'");
  refused(npy_file(npy_dict(std::string("(2, 3)\0", 7)), f4(kSix)), "control character (\\x00)");
  refused(npy_file(npy_dict("(2, 3)\x1b[31m"), f4(kSix)), "control character (\\x1b)");
}

TEST_F(Npy, RefusesShapesThatCannotBe) {
  refused(npy_file(npy_dict("(4294967296, 4294967296)"), f4(kSix)), "more elements than can be counted");
  refused(npy_file(npy_dict("(4611686018427387905,)"), f4(kSix)), "more bytes than can be counted");
  refused(npy_file(npy_dict("(0, 4294967296, 4294967296)"), ""), "more elements than can be counted");
  for (const auto* axis : {"-1", "2 3", "abc", "0x2", "1.0", "02", "1_0", "18446744073709551615", "+2", ""})
    refused(npy_file(npy_dict(concat("(", axis, ", 3)")), f4(kSix)), *axis == '2' ? "expected ','" : "bad dimension");
  refused(npy_file(npy_dict("(6)"), f4(kSix)), "expected '(n,)'");
  refused(npy_file(npy_dict("[2, 3]"), f4(kSix)), "expected '('");
  std::string many = "(";
  for (int i = 0; i < 5000; ++i) many += "1, ";
  refused(npy_file(npy_dict(many + ")"), f4({1})), "more than 8 axes");
}

TEST_F(Npy, RefusesDataOfAnotherSize) {
  refused(npy_file(npy_dict("(100, 3)"), f4(kSix)), "shape [100,3] needs 1200 bytes of data, found 24");
  refused(npy_file(npy_dict(), f4(kSix) + "PK-junk"), "7 bytes after the data");
}

TEST_F(Npy, RefusesTypesByName) {
  const std::string data = f4(kSix);
  refused(npy_file(npy_dict("(1,)", "|O"), "cos\nsystem\n"), "Python objects (pickle)");
  refused(npy_file(npy_dict("(3,)", "<c8"), data), "complex numbers (dtype '<c8')");
  refused(npy_file(npy_dict("(1,)", "<f16"), data.substr(0, 16)), "128-bit floats");
  refused(npy_file(npy_dict("(12,)", "|V2"), data), "raw bytes (dtype '|V2')");
  refused(npy_file(npy_dict("(3,)", "<M8[ns]"), data), "dates");
  refused(npy_file(npy_dict("(3,)", "<f99999999999"), data), "has the dtype '<f99999999999'");
  refused(npy_file(npy_dict("(3,)", "<f3"), data), "has the dtype '<f3'");
  refused(npy_file(npy_dict("(3,)", ""), data), "has the dtype ''");
  refused(npy_file(npy_dict("(3,)", "<U99999999999999"), data), "has the dtype");
  refused(npy_file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}", data), "records of a structured dtype");
  refused(npy_file("{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (3,)}", data), "records of a structured dtype");
  try {
    open_array_file(data_path("bfloat16.npy"), {}, RunContext());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.hint().find("bfloat16"), std::string::npos);
  }
}

TEST_F(Npy, RefusesBooleansThatAreNeither) {
  EXPECT_EQ(numbers(npy_file(npy_dict("(3,)", "|b1"), std::string("\1\0\1", 3))), (std::vector<double>{1, 0, 1}));
  const std::string bad = npy_file(npy_dict("(3,)", "|b1"), std::string("\1\0\2", 3));
  refused(bad, "element 2 is 2");
  const auto file = open(bad);
  double rows[3];
  expect_error(ErrorKind::malformed, "element 2 is 2", [&] { file->read_rows(0, 0, 1, rows); });
}

TEST_F(Npy, RefusesFromTheHeaderWhatIsTooBig) {
  write_file(folder_ / "x.npy", npy_file(npy_dict("(1000000, 1000000)"), ""));
  std::filesystem::resize_file(folder_ / "x.npy", 128 + 4000000000000);
  RunContext run;
  run.budget = MemoryBudget(128 << 20);
  const auto file = open_array_file(folder_ / "x.npy", {}, run);
  expect_error(ErrorKind::memory, "3.6 TiB", [&] { file->read(0, run.budget); });
  double row[1000] = {};
  write_file(folder_ / "y.npy", npy_file(npy_dict("(1000000, 1000)"), ""));
  std::filesystem::resize_file(folder_ / "y.npy", 128 + 4000000000);
  const auto sparse = open_array_file(folder_ / "y.npy", {}, run);
  sparse->read_rows(0, 999999, 1, row);  // rows need no memory for the whole
  EXPECT_EQ(row[999], 0);
}

TEST_F(Npy, WritesWhatNumpyWrites) {
  // The bytes of numpy.save for float32 [[0,1,2],[3,4,5]], as its format page defines them.
  ArrayHeader header;
  header.dtype = DType::f32;
  header.shape = {2, 3};
  MemorySink bytes;
  const auto sink = make_array_writer("npy", header, {}, bytes);
  const float values[] = {0, 1, 2, 9, 3, 4, 5, 9};
  sink->append({0, 2, 3, DType::f32, values, 4}, "");
  sink->finish();
  EXPECT_EQ(bytes.content, npy_file(npy_dict(), f4(kSix), {.total = 128}));
}

TEST_F(Npy, WritesShapesAsTuples) {
  for (const auto& [shape, text] : {std::pair<Shape, std::string>{{3}, "(3,)"}, {{1, 1, 3}, "(1, 1, 3)"}}) {
    ArrayHeader header;
    header.shape = shape;
    MemorySink bytes;
    const auto sink = make_array_writer("npy", header, {}, bytes);
    const double values[] = {1, 2, 3};
    sink->append({0, 1, 3, DType::f64, values, 3}, "");
    sink->finish();
    EXPECT_NE(bytes.content.find("'descr': '<f8', 'fortran_order': False, 'shape': " + text), std::string::npos);
    EXPECT_EQ((bytes.content.size() - 24) % 64, 0u);
    EXPECT_EQ(numbers(bytes.content), (std::vector<double>{1, 2, 3}));
  }
}

TEST_F(Npy, RowsOfAnotherTypeAreConverted) {
  ArrayHeader header;
  header.dtype = DType::f32;
  header.shape = {1, 2};
  MemorySink bytes;
  const auto sink = make_array_writer("npy", header, {}, bytes);
  const double values[] = {0.1, 2};
  sink->append({0, 1, 2, DType::f64, values, 2}, "");
  sink->finish();
  EXPECT_EQ(numbers(bytes.content), (std::vector<double>{0.1f, 2}));
}

TEST_F(Npy, MissingRowsAreAFaultOfOurs) {
  ArrayHeader header;
  header.shape = {2, 1};
  MemorySink bytes;
  const auto sink = make_array_writer("npy", header, {}, bytes);
  EXPECT_THROW(sink->finish(), Error);
}

TEST_F(Npy, CutAndChangedFiles) {
  EXPECT_GT(torture(folder_, "x.npy", npy_file(npy_dict(), f4(kSix), {.total = 96})), 50);
  EXPECT_GT(torture(folder_, "y.npy",
                    npy_file(npy_dict("(3, 2)", ">i2", "True"), std::string("\0\1\0\2\0\3\0\4\0\5\0\6", 12), {.total = 80})),
            20);
}

}  // namespace
}  // namespace attn
