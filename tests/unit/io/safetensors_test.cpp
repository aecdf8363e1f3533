#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "attn/io/array_file.hpp"
#include "attn/io/array_writer.hpp"
#include "unit/io/file_support.hpp"
#include "unit/io/npy_support.hpp"

namespace attn {
namespace {

const std::vector<double> kSix{0, 1, 2, 3, 4, 5};

/// A file built by hand from its header and its data; `claimed` is the length that is written in front.
std::string tensors(const std::string& header, const std::string& data = "", std::uint64_t claimed = 0) {
  std::uint64_t length = claimed != 0 ? claimed : header.size();
  std::string file;
  for (int i = 0; i < 8; ++i, length >>= 8) file += static_cast<char>(length & 0xff);
  return file + header + data;
}

std::string entry(const std::string& name, const std::string& shape, const std::string& offsets,
                  const std::string& dtype = "F32") {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

class Safetensors : public ::testing::Test {
 protected:
  std::unique_ptr<ArrayFile> open(const std::string& content) {
    write_file(folder_ / "x.safetensors", content);
    return open_array_file(folder_ / "x.safetensors", {}, RunContext());
  }
  void refused(const std::string& content, std::string_view text) {
    expect_error(ErrorKind::malformed, text, [&] {
      const auto file = open(content);
      for (std::size_t i = 0; i < file->members().size(); ++i) all_numbers(*file, i);
    });
  }
  TemporaryFolder folder_;
};

TEST_F(Safetensors, ReadsTensorsInTheOrderOfTheHeader) {
  const auto file =
      open(tensors("{" + entry("q", "[2,3]", "[4,28]") + "," + entry("k", "[]", "[0,4]") + "}", f4({7}) + f4(kSix)));
  EXPECT_EQ(file->format(), "safetensors");
  ASSERT_EQ(file->members().size(), 2u);
  EXPECT_EQ(file->members()[0].name, "q");
  EXPECT_EQ(file->members()[0].shape, (Shape{2, 3}));
  EXPECT_EQ(file->members()[0].where, folder_ / "x.safetensors:q");
  EXPECT_EQ(file->members()[1].shape, Shape{});
  EXPECT_EQ(all_numbers(*file, 0), kSix);
  EXPECT_EQ(all_rows(*file, 0, 1), kSix);
  EXPECT_EQ(all_numbers(*file, 1), (std::vector<double>{7}));
}

TEST_F(Safetensors, DataMayBeginAtAnOddAddress) {
  for (const auto* blanks : {" ", "\r \t\n", ""})
    EXPECT_EQ(all_numbers(*open(tensors("{" + entry("q", "[2,3]", "[0,24]") + "}" + blanks, f4(kSix))), 0), kSix);
}

TEST_F(Safetensors, EmptyTensorsTakeNoRoom) {
  const auto file = open(
      tensors("{" + entry("a", "[2,0]", "[0,0]") + "," + entry("q", "[2,3]", "[0,24]") + "," + entry("z", "[0]", "[24,24]") + "}",
              f4(kSix)));
  EXPECT_EQ(file->members().size(), 3u);
  EXPECT_EQ(all_numbers(*file, 1), kSix);
  EXPECT_TRUE(all_numbers(*file, 0).empty());
  EXPECT_TRUE(open(tensors("{}"))->members().empty());
}

TEST_F(Safetensors, ReadsFilesOfTheFormatsOwnLibrary) {
  const auto file = open_array_file(data_path("all_types.safetensors"), {}, RunContext());
  int checked = 0;
  for (std::size_t i = 0; i < file->members().size(); ++i) {
    const Member& member = file->members()[i];
    if (member.kind != MemberKind::array || member.name == "scalar") continue;
    const std::string name(dtype_name(member.dtype));
    EXPECT_EQ(member.name, name);
    std::vector<double> right;  // as make_fixtures.py says
    for (int k = 0; k < 24; ++k)
      right.push_back(name == "bool" ? k % 2 : name[0] == 'u' ? k : name[0] == 'i' ? k - 3 : (k - 3) / 4.0);
    EXPECT_EQ(all_numbers(*file, i), right) << name;
    EXPECT_EQ(all_rows(*file, i, 4), right) << name;
    ++checked;
  }
  EXPECT_EQ(checked, 13);
  ASSERT_NE(file->find("fp8"), nullptr);
  EXPECT_EQ(file->find("fp8")->kind, MemberKind::other);
  EXPECT_NE(file->find("fp8")->found.find("F8_E4M3"), std::string::npos);
  EXPECT_EQ(file->find("tokens")->strings, (std::vector<std::string>{"The", "cat"}));
  EXPECT_EQ(file->find("options")->fields, (std::vector<std::pair<std::string, std::string>>{{"heads", "2"}}));
  EXPECT_EQ(file->find("mask_kind")->text, "keep");
  EXPECT_EQ(file->find("format"), nullptr);  // other metadata is no business of ours
}

TEST_F(Safetensors, MetadataIsJsonText) {
  const auto member = [&](const std::string& text) {
    std::string quoted = nlohmann::json(text).dump();
    return open(tensors("{\"__metadata__\":{\"meta\":" + quoted + "}}"))->members().at(0);
  };
  EXPECT_EQ(member("\"block\"").text, "block");
  EXPECT_EQ(member("\"block\"").kind, MemberKind::text);
  EXPECT_EQ(member("block").text, "block");
  EXPECT_EQ(member("2.50").kind, MemberKind::scalar);
  EXPECT_EQ(member("2.50").text, "2.50");
  EXPECT_EQ(member("[]").kind, MemberKind::strings);
  EXPECT_EQ(member("[\"a\",1]").kind, MemberKind::other);
  EXPECT_EQ(member("{\"a\":[1]}").kind, MemberKind::other);
  EXPECT_EQ(member("{\"a\":\"x\",\"b\":-1,\"c\":false}").fields,
            (std::vector<std::pair<std::string, std::string>>{{"a", "x"}, {"b", "-1"}, {"c", "false"}}));
  expect_error(ErrorKind::malformed, "__metadata__/meta: is not JSON", [&] { member("[\"a\""); });
  expect_error(ErrorKind::malformed, "has the name 'a' twice", [&] { member("{\"a\":1,\"a\":2}"); });
  expect_error(ErrorKind::malformed, "has a zero byte", [&] { member(std::string("[]\0", 3)); });
  EXPECT_EQ(member("keep it").strings, std::vector<std::string>{});
  expect_error(ErrorKind::malformed, "nested deeper", [&] { member(std::string(100000, '[')); });
}

TEST_F(Safetensors, RefusesWrongLengths) {
  refused(std::string("\1\0\0", 3), "3 bytes");
  refused(tensors("{" + entry("q", "[2,3]", "[0,24]") + "}", f4(kSix), 1000000), "header length 1000000 is past the end");
  refused(tensors("{}", "", ~0ull), "header length 18446744073709551615 is past the end");
  refused(tensors("{}", "", ~0ull - 7), "is past the end");
  write_file(folder_ / "x.safetensors", tensors("{}", "", 100'000'001));
  std::filesystem::resize_file(folder_ / "x.safetensors", 200'000'000);
  expect_error(ErrorKind::malformed, "expected at most 100000000",
               [&] { open_array_file(folder_ / "x.safetensors", {}, RunContext()); });
}

TEST_F(Safetensors, RefusesHeadersThatAreNotJson) {
  refused(tensors("\xff"), "not UTF-8 at byte 0");
  refused(tensors("{"), "not JSON");
  refused(tensors("  {}"), "must begin with '{'");
  refused(tensors("[]"), "must begin with '{'");
  refused(tensors("{} x"), "not JSON");
  refused(tensors(std::string("{}\0", 3)), "not JSON");
  refused(tensors("{\"q\":" + std::string(100000, '[')), "'q' is a list, expected an object");
  refused(tensors("{\"q\":{\"x\":" + std::string(100000, '[')), "nested deeper than 64");
}

TEST_F(Safetensors, RefusesHeadersOfAnotherForm) {
  const std::string data = f4(kSix);
  refused(tensors("{\"q\":1}"), "'q' is 1, expected an object");
  refused(tensors("{\"q\":{\"dtype\":\"F32\",\"shape\":[6]}}", data), "tensor 'q' has no data_offsets");
  refused(tensors("{\"q\":{\"dtype\":\"F32\",\"data_offsets\":[0,24]}}", data), "has no shape");
  refused(tensors("{\"q\":{\"shape\":[6],\"data_offsets\":[0,24]}}", data), "has no dtype");
  refused(tensors("{\"q\":{\"dtype\":7,\"shape\":[6],\"data_offsets\":[0,24]}}", data), "'q/dtype' is 7");
  refused(tensors("{\"q\":{\"dtype\":\"F32\",\"shape\":6,\"data_offsets\":[0,24]}}", data), "'q/shape' is 6");
  refused(tensors("{\"q\":{\"dtype\":\"F32\",\"shape\":[[6]],\"data_offsets\":[0,24]}}", data), "'q/shape' is a list");
  refused(tensors("{\"q\":{\"dtype\":\"F32\",\"shape\":null,\"data_offsets\":[0,24]}}", data), "'q/shape' is null");
  for (const auto* offsets :
       {"[-8,16]", "[0,24.0]", "[0,\"24\"]", "[0,18446744073709551616]", "[0,18446744073709551615]", "[0,true]", "{}"})
    refused(tensors("{" + entry("q", "[6]", offsets) + "}", data), "expected a list of whole numbers");
  for (const auto* offsets : {"[0]", "[0,24,48]", "[]"})
    refused(tensors("{" + entry("q", "[6]", offsets) + "}", data), "expected 2");
}

TEST_F(Safetensors, PassesOverFieldsItDoesNotKnow) {
  EXPECT_EQ(
      all_numbers(*open(tensors("{\"q\":{\"note\":{\"shape\":[1,[2]]},\"dtype\":\"F32\",\"shape\":[6],\"data_offsets\":[0,24]}}",
                                f4(kSix))),
                  0),
      kSix);
}

TEST_F(Safetensors, RefusesNamesThatAppearTwice) {
  refused(tensors("{" + entry("q", "[6]", "[0,24]") + "," + entry("q", "[6]", "[24,48]") + "}", f4(kSix) + f4(kSix)),
          "the name 'q' appears twice");
  refused(tensors("{\"q\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[6],\"data_offsets\":[0,24]}}", f4(kSix)),
          "'q/dtype' appears twice");
  refused(tensors("{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}"), "'__metadata__/a' appears twice");
  refused(tensors("{\"__metadata__\":{},\"__metadata__\":{}}"), "the name '__metadata__' appears twice");
  refused(tensors("{\"__metadata__\":{\"tokens\":\"[]\"}," + entry("tokens", "[6]", "[0,24]") + "}", f4(kSix)),
          "is a tensor and stands in __metadata__");
}

TEST_F(Safetensors, RefusesMetadataThatIsNoText) {
  refused(tensors("{\"__metadata__\":{\"a\":1}}"), "'__metadata__/a' is 1, expected a text");
  refused(tensors("{\"__metadata__\":{\"a\":{}}}"), "'__metadata__/a' is an object");
  refused(tensors("{\"__metadata__\":[]}"), "'__metadata__' is a list");
}

TEST_F(Safetensors, RefusesDataThatIsNotTiled) {
  const std::string data = f4(kSix);
  refused(tensors("{" + entry("q", "[6]", "[0,24]") + "," + entry("k", "[6]", "[0,24]") + "}", data),
          "inside that of another tensor");
  refused(tensors("{" + entry("q", "[6]", "[0,24]") + "," + entry("k", "[6]", "[32,56]") + "}", data + data + data.substr(0, 8)),
          "a hole of 8 bytes");
  refused(tensors("{" + entry("q", "[6]", "[8,32]") + "}", data + "12345678"), "a hole of 8 bytes");
  refused(tensors("{" + entry("q", "[6]", "[0,24]") + "}", data + "%PDF-1.4"), "8 bytes after the last tensor");
  refused(tensors("{}", "x"), "1 bytes after the last tensor");
  refused(tensors("{" + entry("q", "[6]", "[24,0]") + "}", data), "do not lie in the 24 bytes");
  refused(tensors("{" + entry("q", "[7]", "[0,28]") + "}", data), "do not lie in the 24 bytes");
}

TEST_F(Safetensors, RefusesShapesThatDoNotFitTheirRange) {
  refused(tensors("{" + entry("q", "[2,2]", "[0,24]") + "}", f4(kSix)),
          "shape [2,2] of F32 needs 16 bytes, data_offsets give 24");
  refused(tensors("{" + entry("q", "[6]", "[0,24]", "I8") + "}", f4(kSix)), "shape [6] of I8 needs 6 bytes");
  refused(tensors("{" + entry("q", "[2,9223372036854775807]", "[0,24]") + "}", f4(kSix)), "more elements than can be counted");
  refused(tensors("{" + entry("q", "[2,18446744073709551614]", "[0,24]") + "}", f4(kSix)), "expected a list of whole numbers");
  refused(tensors("{" + entry("q", "[4611686018427387905]", "[0,24]") + "}", f4(kSix)), "more bytes than can be counted");
}

TEST_F(Safetensors, UnknownTypesAreNamedAndSkipNoCheck) {
  refused(
      tensors("{" + entry("q", "[6]", "[0,24]") + "," + entry("x", "[1]", "[24,9223372036854775807]", "NOPE") + "}", f4(kSix)),
      "unknown dtype 'NOPE'");
  refused(
      tensors("{" + entry("q", "[6]", "[0,24]") + "," + entry("x", "[1]", "[24,9223372036854775807]", "F8_E4M3") + "}", f4(kSix)),
      "do not lie in");
  refused(tensors("{" + entry("x", "[3]", "[0,24]", "F8_E5M2") + "}", f4(kSix)), "needs 3 bytes");
  refused(tensors("{" + entry("x", "[3]", "[0,1]", "F4") + "}", "1"), "F4 needs 1 bytes");
}

TEST_F(Safetensors, RefusesBooleansThatAreNeither) {
  refused(tensors("{" + entry("m", "[3]", "[0,3]", "BOOL") + "}", std::string("\0\1\xff", 3)), "element 2 is 255");
}

TEST_F(Safetensors, NamesAGitLfsPointer) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n";
  refused(pointer, "this is a Git LFS pointer");
}

TEST_F(Safetensors, NamesAreEscapedInMessages) {
  const auto file = open(tensors("{" + entry("k\\u001b]0;pwn\\u0007", "[6]", "[0,24]") + "}", f4(kSix)));
  EXPECT_EQ(file->members()[0].name, "k\x1b]0;pwn\x07");
  EXPECT_EQ(file->members()[0].where, folder_ / "x.safetensors:k\\x1b]0;pwn\\x07");
}

TEST_F(Safetensors, LongNamesKeepMessagesShort) {
  const std::string folder = folder_ / std::string(200, 'd');
  std::filesystem::create_directory(folder);
  const std::string path = folder + "/" + std::string(200, 'f');
  write_file(path, tensors("{" + entry(std::string(5000, 'n'), "[7]", "[0,24]") + "}", f4(kSix)));
  try {
    open_array_file(path, {}, RunContext());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_LE(error.message().size(), 300u - std::string_view("attn-cli: error: ").size()) << error.message();
    EXPECT_NE(error.message().find("needs 28 bytes"), std::string::npos);
  }
}

TEST_F(Safetensors, TheHeaderCountsForTheBudget) {
  write_file(folder_ / "x.safetensors", tensors("{" + std::string(1000000, ' ') + "}"));
  RunContext run;
  run.budget = MemoryBudget(100000);
  expect_error(ErrorKind::memory, "x.safetensors", [&] { open_array_file(folder_ / "x.safetensors", {}, run); });
}

TEST_F(Safetensors, CutAndChangedFiles) {
  const std::string header =
      "{\"__metadata__\":{\"tokens\":\"[]\"}," + entry("q", "[2]", "[0,8]") + "," + entry("b", "[2]", "[8,10]", "BOOL") + "}";
  EXPECT_GT(torture(folder_, "x.safetensors", tensors(header, f4({1, 2}) + std::string("\0\1", 2))), 20);
  const std::string two = "{" + entry("k", "[1,2]", "[8,12]", "BF16") + "," + entry("", "[]", "[0,8]", "I64") + "} ";
  EXPECT_GT(torture(folder_, "y.safetensors", tensors(two, std::string(12, '\5'))), 20);
}

TEST_F(Safetensors, WritesAnArrayItsLabelsAndFacts) {
  ArrayHeader header;
  header.name = "weights";
  header.dtype = DType::f32;
  header.shape = {2, 3};
  header.labels = {{"The", "\"猫\""}, {"a", "b", "c"}};
  header.facts = {{"scale", 0.5}, {"mask_text", std::string("causal, top-left")}};
  MemorySink bytes;
  const auto sink = make_array_writer("safetensors", header, {}, bytes);
  const float values[] = {0, 1, 2, 3, 4, 5};
  sink->append({0, 2, 3, DType::f32, values, 3}, "");
  sink->finish();
  const std::string& file = bytes.content;
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  EXPECT_EQ(file.substr(8 + length), f4(kSix));
  const auto json = nlohmann::json::parse(file.substr(8, length));
  EXPECT_EQ(json["weights"], nlohmann::json::parse(R"({"dtype":"F32","shape":[2,3],"data_offsets":[0,24]})"));
  EXPECT_EQ(nlohmann::json::parse(json["__metadata__"]["query_tokens"].get<std::string>()),
            (std::vector<std::string>{"The", "\"猫\""}));
  EXPECT_EQ(json["__metadata__"]["scale"], "0.5");
  EXPECT_EQ(json["__metadata__"]["mask_text"], "causal, top-left");
  const auto again = open(file);
  EXPECT_EQ(all_numbers(*again, 0), kSix);
  EXPECT_EQ(again->find("query_tokens")->strings, header.labels.query_tokens);
  EXPECT_EQ(again->find("key_tokens")->strings, header.labels.key_tokens);
}

}  // namespace
}  // namespace attn
