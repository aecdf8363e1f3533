#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "text_support.hpp"

namespace attn::testing {
namespace {

using Strings = std::vector<std::string>;

class ArrayFileTest : public TextFolder {
 protected:
  std::string format_of(const std::string& name, std::string_view content, const std::string& given = "") {
    ReadOptions options;
    options.format = given;
    return std::string(open(name, content, options)->format());
  }
};

std::string npy_bytes() {
  ArrayHeader header;
  header.name = "weights";
  header.shape = {1, 2};
  return written<double>("npy", header, {1, 2});
}

TEST_F(ArrayFileTest, MagicBytesComeBeforeTheExtension) {
  EXPECT_EQ(format_of("a.csv", npy_bytes()), "npy");
  EXPECT_EQ(format_of("a.json", npy_bytes()), "npy");
  EXPECT_EQ(format_of("a", npy_bytes()), "npy");
}

TEST_F(ArrayFileTest, TheExtensionComesBeforeTheContent) {
  EXPECT_EQ(format_of("a.json", "[1]"), "json");
  EXPECT_EQ(format_of("a.JSON", "[1]"), "json");
  EXPECT_EQ(format_of("a.csv", "1,2"), "csv");
  EXPECT_EQ(format_of("a.tsv", "1\t2"), "tsv");
  EXPECT_EQ(fault("a.csv", "{\"q\":1}").substr(0, 8), "3: a.csv");
  EXPECT_EQ(fault("a.json", "1,2\n3,4"), "3: a.json:1:2: found ',', expected the end of the document");
}

TEST_F(ArrayFileTest, OtherNamesAreJudgedByContent) {
  EXPECT_EQ(format_of("a", " \n{\"q\":[[1]]}"), "json");
  EXPECT_EQ(format_of("a.x", "\xef\xbb\xbf[1]"), "json");
  EXPECT_EQ(format_of("a.txt", "[[1]]"), "json");
  EXPECT_EQ(format_of("a", "1,2\n"), "csv");
  EXPECT_EQ(format_of("a.dat", "1 2\n"), "csv");
  EXPECT_EQ(fault("a", ""), "3: a: empty file");
  EXPECT_NE(fault("a.png", "\x89PNG\r\n\x1a\n").find("tell a format that can be read"), std::string::npos);
  EXPECT_NE(fault("a", std::string_view("\xff\xfe"
                                        "1\0",
                                        4))
                .find("UTF-16"),
            std::string::npos);
}

TEST_F(ArrayFileTest, InputFormatWins) {
  EXPECT_EQ(format_of("a.csv", "[[1]]", "json"), "json");
  EXPECT_EQ(format_of("a.json", "1\t2", "tsv"), "tsv");
  try {
    format_of("a.csv", "1", "jsn");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(error.hint(), "did you mean 'json'?");
  }
}

TEST_F(ArrayFileTest, FilesThatCannotBeReadAreNamed) {
  EXPECT_THROW(open_array_file("missing.npy", {}, run), Error);
  try {
    open_array_file("missing.npy", {}, run);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::malformed);
    EXPECT_EQ(error.message(), "cannot open 'missing.npy': No such file or directory");
  }
  EXPECT_THROW(open_array_file(".", {}, run), Error);
  EXPECT_THROW(open_array_file("/dev/zero", {}, run), Error);
}

TEST_F(ArrayFileTest, StreamsAreReadAsFilesAre) {
  ASSERT_EQ(::mkfifo("pipe", 0600), 0);
  std::string text = "[[0,0]";
  for (int i = 1; i < 100000; ++i) text += ",[" + std::to_string(i) + ",0.5]";
  text += "]";
  for (const auto& [content, format] : {std::pair{text, "json"}, std::pair{std::string("1,2\n3,4\n"), "csv"}}) {
    if (::fork() == 0) {
      std::FILE* pipe = std::fopen("pipe", "wb");
      std::fwrite(content.data(), 1, content.size(), pipe);
      std::fclose(pipe);
      ::_exit(0);
    }
    const auto file = open_array_file("pipe", {}, run);
    EXPECT_EQ(file->format(), format);
    const std::vector<double> values = numbers_of(*file);
    if (values.size() < 200000)
      EXPECT_EQ(numbers_of(*file).size(), values.size()) << "a second time";
    else
      EXPECT_THROW(numbers_of(*file), Error) << "a long stream is not held";
    EXPECT_EQ(values[values.size() - 2], values.size() == 200000 ? 99999 : 3);
  }
}

TEST_F(ArrayFileTest, FindsMembersByName) {
  const auto file = open("a.json", R"({"x":[1],"y":[2]})");
  EXPECT_EQ(file->find("y"), &file->members()[1]);
  EXPECT_EQ(file->find("z"), nullptr);
  EXPECT_EQ(file->name(), "a.json");
}

TEST_F(ArrayFileTest, SplitsArchiveAndMember) {
  write_file("dump.npz", "x");
  write_file("odd:name.npy", "x");
  const auto split = [](const std::string& text) {
    const FileReference reference = parse_file_reference(text);
    return reference.path + "|" + reference.member;
  };
  EXPECT_EQ(split("dump.npz"), "dump.npz|");
  EXPECT_EQ(split("dump.npz:q"), "dump.npz|q");
  EXPECT_EQ(split("dump.npz:a:b"), "dump.npz|a:b");
  EXPECT_EQ(split("odd:name.npy"), "odd:name.npy|");
  EXPECT_EQ(split("odd:name.npy:q"), "odd:name.npy|q");
  EXPECT_EQ(split("missing.npz:q"), "missing.npz:q|");
  EXPECT_EQ(split("-:q"), "-|q");
  EXPECT_EQ(split("-"), "-|");
  EXPECT_EQ(split(":q"), ":q|");
}

TEST(FormatList, NamesWhatCanBeReadAndWritten) {
  const Strings in = input_format_names();
  const Strings out = output_format_names();
  for (const char* name : {"json", "csv", "tsv", "npy", "npz", "safetensors"}) {
    EXPECT_NE(std::find(in.begin(), in.end(), name), in.end()) << name;
    EXPECT_NE(std::find(out.begin(), out.end(), name), out.end()) << name;
    EXPECT_EQ(data_format_of(name), name);
    EXPECT_EQ(data_format_of("some/folder.x/w." + std::string(name)), name);
  }
  EXPECT_EQ(data_format_of("W.CSV"), "csv");
  for (const char* name : {"w.png", "w.txt", "w", "", "csv.d/w", "w.csv.gz", "/.csv/"})
    EXPECT_EQ(data_format_of(name), "") << name;
}

TEST(ArrayWriter, RefusesUnknownFormats) {
  TextSink sink;
  ArrayHeader header;
  header.shape = {1, 1};
  for (const char* name : {"png", "txt", "", "xml"}) {
    try {
      make_array_writer(name, header, {}, sink);
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_NE(error.message().find("csv"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace attn::testing
