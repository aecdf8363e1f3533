#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zip.h>
#include <zlib.h>

#include <map>
#include <string>
#include <thread>

#include "attn/io/array_file.hpp"
#include "attn/io/array_writer.hpp"
#include "unit/io/file_support.hpp"
#include "unit/io/npy_support.hpp"

namespace attn {
namespace {

const std::vector<double> kSix{0, 1, 2, 3, 4, 5};

std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value & 0xff);
  return text;
}

std::string deflated(const std::string& data) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(data.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// An entry of an archive built by hand; what is not set is as it should be.
struct Entry {
  std::string name;
  std::string data;
  int method = 0;
  int flags = 0;
  long size = -1;
  long crc = -1;
  std::string packed = {};  // instead of the packed data
  bool zip64 = false;
  long offset = -1;
};

struct Archive {
  std::vector<Entry> entries;
  std::string before_directory = {};
  std::string before_end = {};
  long count = -1;

  std::string bytes() const {
    std::string body, directory;
    for (const Entry& e : entries) {
      const std::string packed = !e.packed.empty() ? e.packed : e.method == 8 ? deflated(e.data) : e.data;
      const auto true_crc = crc32(0, reinterpret_cast<const Bytef*>(e.data.data()), static_cast<uInt>(e.data.size()));
      const auto crc = e.crc >= 0 ? static_cast<std::uint64_t>(e.crc) : true_crc;
      const auto size = e.size >= 0 ? static_cast<std::uint64_t>(e.size) : e.data.size();
      const auto offset = e.offset >= 0 ? static_cast<std::uint64_t>(e.offset) : body.size();
      const std::string extra = e.zip64 ? little(1, 2) + little(16, 2) + little(size, 8) + little(packed.size(), 8) : "";
      const std::string sizes =
          e.zip64 ? little(0xffffffff, 4) + little(0xffffffff, 4) : little(packed.size(), 4) + little(size, 4);
      const std::string common = little(static_cast<unsigned>(e.flags), 2) + little(static_cast<unsigned>(e.method), 2) +
                                 little(0, 4) + little(crc, 4) + sizes + little(e.name.size(), 2) + little(extra.size(), 2);
      body += "PK\3\4" + little(20, 2) + common + e.name + extra + packed;
      directory += "PK\1\2" + little(20, 2) + little(20, 2) + common + little(0, 2) + little(0, 2) + little(0, 2) + little(0, 4) +
                   little(offset, 4) + e.name + extra;
    }
    const auto entry_count = count >= 0 ? static_cast<std::uint64_t>(count) : entries.size();
    body += before_directory;
    const std::string end = "PK\5\6" + little(0, 4) + little(entry_count, 2) + little(entry_count, 2) +
                            little(directory.size(), 4) + little(body.size(), 4) + little(0, 2);
    return body + directory + before_end + end;
  }
};

std::string matrix() { return npy_file(npy_dict(), f4(kSix)); }

class Npz : public ::testing::Test {
 protected:
  std::unique_ptr<ArrayFile> open(const std::string& content) {
    write_file(folder_ / "x.npz", content);
    return open_array_file(folder_ / "x.npz", {}, RunContext());
  }
  void refused(const std::string& content, std::string_view text) {
    expect_error(ErrorKind::malformed, text, [&] {
      const auto file = open(content);
      for (std::size_t i = 0; i < file->members().size(); ++i) all_numbers(*file, i);
    });
  }

  TemporaryFolder folder_;
};

TEST_F(Npz, ReadsStoredAndDeflatedMembers) {
  for (const int method : {0, 8})
    for (const bool zip64 : {false, true}) {
      const auto file = open(Archive{{{.name = "q.npy", .data = matrix(), .method = method, .zip64 = zip64},
                                      {.name = "sub/k", .data = npy_file(npy_dict("(6,)"), f4(kSix)), .method = method}}}
                                 .bytes());
      EXPECT_EQ(file->format(), "npz");
      ASSERT_EQ(file->members().size(), 2u);
      EXPECT_EQ(file->members()[0].name, "q");
      EXPECT_EQ(file->members()[1].name, "sub/k");
      EXPECT_EQ(file->members()[0].where, folder_ / "x.npz:q");
      EXPECT_EQ(file->members()[1].shape, (Shape{6}));
      EXPECT_EQ(all_numbers(*file, 0), kSix);
      EXPECT_EQ(all_rows(*file, 1, 1), kSix);
      EXPECT_EQ(all_rows(*file, 0, 1), kSix);
      EXPECT_EQ(all_numbers(*file, 0), kSix);  // again, after others
    }
}

// Element i of the fixtures, as make_fixtures.py says.
double fixture_value(const std::string& name, int i) {
  if (name.find("bool") != std::string::npos) return i % 2;
  if (name.find("uint") != std::string::npos) return i;
  if (name.find("int") != std::string::npos || name == "big_fortran") return i - 3;
  return (i - 3) / 4.0;
}

TEST_F(Npz, ReadsArchivesOfNumpy) {
  for (const auto* name : {"numpy.npz", "numpy_compressed.npz"}) {
    const auto file = open_array_file(data_path(name), {}, RunContext());
    int checked = 0;
    for (std::size_t i = 0; i < file->members().size(); ++i) {
      const Member& member = file->members()[i];
      if (member.name == "scalar" || member.name == "empty") continue;
      std::vector<double> right;
      for (int k = 0; k < 24; ++k) right.push_back(fixture_value(member.name, k));
      ASSERT_EQ(member.shape, (Shape{2, 3, 4})) << member.name;
      EXPECT_EQ(all_numbers(*file, i), right) << name << ":" << member.name;
      EXPECT_EQ(all_rows(*file, i, 5), right) << name << ":" << member.name;
      ++checked;
    }
    EXPECT_EQ(checked, 23) << name;
    ASSERT_NE(file->find("scalar"), nullptr);
    EXPECT_EQ(file->find("scalar")->shape, Shape{});
    EXPECT_EQ(file->find("empty")->shape, (Shape{0, 3}));
    EXPECT_EQ(file->find("float16")->dtype, DType::f16);
    EXPECT_EQ(file->find("bool")->dtype, DType::boolean);
    EXPECT_EQ(file->find("uint64")->dtype, DType::u64);
  }
}

TEST_F(Npz, ReadsAStreamedArchive) {
  const auto file = open_array_file(data_path("streamed.npz"), {}, RunContext());
  ASSERT_EQ(file->members().size(), 1u);
  EXPECT_EQ(all_numbers(*file, 0)[23], 5.0);
}

TEST_F(Npz, ReadsTexts) {
  const auto file = open_array_file(data_path("texts.npz"), {}, RunContext());
  const Member* tokens = file->find("tokens");
  ASSERT_NE(tokens, nullptr);
  EXPECT_EQ(tokens->kind, MemberKind::strings);
  EXPECT_EQ(tokens->strings, (std::vector<std::string>{"The", "cat", "is", "naïve", "猫😀", ""}));
  EXPECT_EQ(file->find("bytes")->strings, (std::vector<std::string>{"a", "bcd"}));
  EXPECT_EQ(file->find("mask_kind")->kind, MemberKind::text);
  EXPECT_EQ(file->find("mask_kind")->text, "keep");
  const Member* options = file->find("options");
  EXPECT_EQ(options->kind, MemberKind::object);
  EXPECT_EQ(options->fields,
            (std::vector<std::pair<std::string, std::string>>{{"heads", "2"}, {"causal", "true"}, {"mask-kind", "keep"}}));
}

TEST_F(Npz, ReadsFromAPipe) {
  const std::string content = read_file(data_path("numpy.npz"));
  const std::string fifo = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(fifo, std::ios::binary) << content; });
  const auto file = open_array_file(fifo, {}, RunContext());
  writer.join();
  EXPECT_EQ(file->members().size(), 25u);
  EXPECT_EQ(all_numbers(*file, 0).size(), 24u);
}

TEST_F(Npz, AnArchiveWithoutEntriesHasNoMembers) { EXPECT_TRUE(open(Archive{}.bytes())->members().empty()); }

TEST_F(Npz, FoldersAreNoMembers) {
  EXPECT_EQ(open(Archive{{{.name = "d/", .data = ""}, {.name = "d/q.npy", .data = matrix()}}}.bytes())->members().size(), 1u);
}

TEST_F(Npz, NamesArePlainText) {
  const auto file = open(Archive{{{.name = "../../etc/q.npy", .data = matrix()},
                                  {.name = "/q.npy", .data = matrix()},
                                  {.name = "a\x1b[31m.npy", .data = matrix()}}}
                             .bytes());
  EXPECT_EQ(file->members()[0].name, "../../etc/q");
  EXPECT_EQ(file->members()[1].name, "/q");
  EXPECT_EQ(file->members()[2].name, "a\x1b[31m");
  EXPECT_EQ(file->members()[2].where, folder_ / "x.npz:a\\x1b[31m");
}

TEST_F(Npz, RefusesNamesThatAppearTwice) {
  refused(Archive{{{.name = "q.npy", .data = matrix()}, {.name = "q.npy", .data = matrix()}}}.bytes(),
          "entry q.npy: appears twice");
  refused(Archive{{{.name = "q.npy", .data = matrix()}, {.name = "q", .data = matrix()}}}.bytes(),
          "x.npz:q: the name appears twice");
}

TEST_F(Npz, RefusesDamagedData) {
  std::string bad = Archive{{{.name = "q.npy", .data = matrix()}}}.bytes();
  bad[35 + 130] ^= 1;  // in the data, behind the headers of the zip and of the npy
  refused(bad, "x.npz:q: the checksum");
  refused(Archive{{{.name = "q.npy", .data = matrix(), .method = 8, .crc = 7}}}.bytes(), "x.npz:q: the checksum");
  std::string stream = deflated(matrix());
  for (std::size_t i = 20; i < 40; ++i) stream[i] = 0;
  refused(Archive{{{.name = "q.npy", .data = matrix(), .method = 8, .packed = stream}}}.bytes(), "x.npz:q: ");
  const std::string whole = deflated(matrix());
  refused(Archive{{{.name = "q.npy", .data = matrix(), .method = 8, .packed = whole.substr(0, whole.size() - 4)}}}.bytes(),
          "cut off");
  refused(Archive{{{.name = "q.npy", .data = matrix(), .method = 8, .packed = whole + "junk"}}}.bytes(),
          "bytes after the compressed data");
  refused(Archive{{{.name = "q.npy", .data = matrix(), .method = 8, .packed = "\xff\xff\xff\xff"}}}.bytes(),
          "the compressed data is damaged");
}

TEST_F(Npz, RefusesSizesThatLie) {
  // The npy header asks for what the archive says is there; the deflate stream has more, or less.
  refused(
      Archive{{{.name = "q.npy", .data = matrix() + "more", .method = 8, .size = static_cast<long>(matrix().size())}}}.bytes(),
      "holds more data than");
  refused(Archive{{{.name = "q.npy", .data = matrix().substr(0, 140), .method = 8, .size = static_cast<long>(matrix().size())}}}
              .bytes(),
          "ends before the 152 bytes");
  refused(Archive{{{.name = "q.npy", .data = matrix(), .method = 8, .size = 10}}}.bytes(), "holds more data than the 10 bytes");
  refused(Archive{{{.name = "q.npy", .data = matrix(), .size = 1000}}}.bytes(), "stored with two different sizes");
  refused(Archive{{{.name = "q.npy", .data = npy_file(npy_dict("(100, 3)"), f4(kSix))}}}.bytes(),
          "needs 1200 bytes of data, found 24");
}

TEST_F(Npz, RefusesABombFromItsHeader) {
  const std::string head = npy_file(npy_dict("(16384, 16384)"), "");
  const long size = static_cast<long>(head.size()) + (1L << 30);
  write_file(folder_ / "x.npz",
             Archive{{{.name = "q.npy", .data = head + std::string(1000, '\0'), .method = 8, .size = size}}}.bytes());
  RunContext run;
  run.budget = MemoryBudget(128 << 20);
  const auto file = open_array_file(folder_ / "x.npz", {}, run);
  expect_error(ErrorKind::memory, "1 GiB", [&] { file->read(0, run.budget); });
}

TEST_F(Npz, RefusesEncryptionAndOtherMethods) {
  refused(Archive{{{.name = "q.npy", .data = matrix(), .flags = 1}}}.bytes(), "encrypted entries are not read");
  refused(Archive{{{.name = "q.npy", .data = matrix(), .method = 14}}}.bytes(), "compression method 14");
  refused(Archive{{{.name = "q.npy", .data = matrix(), .method = 12}}}.bytes(), "compression method 12");
}

TEST_F(Npz, RefusesDamagedDirectories) {
  const Archive good{{{.name = "q.npy", .data = matrix()}, {.name = "k.npy", .data = matrix()}}};
  refused(good.bytes() + "x", "end of central directory not found");
  refused("x" + good.bytes(), "damaged archive");
  Archive bad = good;
  bad.before_end = "????";
  refused(bad.bytes(), "the directory is not where its end says");
  bad = good;
  bad.count = 1;
  refused(bad.bytes(), "the directory has 2 entries, expected 1");
  bad.count = 3;
  refused(bad.bytes(), "too short for its number of entries");
  bad.count = 60000;
  refused(bad.bytes(), "too short for its number of entries");
  bad = good;
  bad.entries[1].offset = 0;
  refused(bad.bytes(), "overlaps");
  bad.entries[1].offset = 20;
  refused(bad.bytes(), "overlaps the entry before it");
  bad.entries[1].offset = 100000;
  refused(bad.bytes(), "lies outside the archive");
  bad = good;
  bad.entries[0].offset = 5;
  refused(bad.bytes(), "no header where the directory says");
  bad = good;
  bad.entries[1].data += std::string(100, 'x');
  bad.entries[1].packed = matrix();
  refused(bad.bytes(), "two different sizes");
}

TEST_F(Npz, BytesBetweenEntriesAndTheDirectoryAreAllowed) {
  // Streaming writers put data descriptors there.
  Archive archive{{{.name = "q.npy", .data = matrix()}}};
  archive.before_directory = "PK\7\10............";
  EXPECT_EQ(all_numbers(*open(archive.bytes()), 0), kSix);
}

TEST_F(Npz, NamesWhatAMemberIsNot) {
  refused(Archive{{{.name = "q.npy", .data = "this is no npy"}}}.bytes(), "x.npz:q: not an npy file");
  refused(Archive{{{.name = "archive/data.pkl", .data = "x"}}}.bytes(), "PyTorch file");
}

TEST_F(Npz, CutAndChangedFiles) {
  const std::string small = npy_file(npy_dict("(2,)", "<i2"), std::string("\1\0\2\0", 4), {.total = 80});
  EXPECT_GT(torture(folder_, "x.npz",
                    Archive{{{.name = "q.npy", .data = small}, {.name = "k.npy", .data = small, .method = 8}}}.bytes()),
            10);
  EXPECT_GT(torture(folder_, "y.npz", Archive{{{.name = "q.npy", .data = small, .zip64 = true}}}.bytes()), 10);
}

// ---- writing: what libzip, which has no part in the writer, finds in the archive ----

std::map<std::string, std::string> read_with_libzip(const std::string& path) {
  std::map<std::string, std::string> entries;
  int error = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &error);
  EXPECT_NE(archive, nullptr) << error;
  if (archive == nullptr) return entries;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive, 0); ++i) {
    zip_stat_t status;
    zip_stat_index(archive, static_cast<zip_uint64_t>(i), 0, &status);
    EXPECT_EQ(status.comp_method, ZIP_CM_STORE);
    std::string content(status.size + 1, '\0');
    zip_file_t* file = zip_fopen_index(archive, static_cast<zip_uint64_t>(i), 0);
    const zip_int64_t got = zip_fread(file, content.data(), content.size());
    EXPECT_EQ(got, static_cast<zip_int64_t>(status.size));
    EXPECT_EQ(zip_fread(file, content.data(), 1), 0) << "the checksum is wrong";
    zip_fclose(file);
    content.resize(status.size);
    if (status.size > 0) {
      file = zip_fopen_index(archive, static_cast<zip_uint64_t>(i), 0);
      zip_fread(file, content.data(), content.size());
      zip_fclose(file);
    }
    entries[status.name] = content;
  }
  zip_close(archive);
  return entries;
}

TEST_F(Npz, WritesAnArrayAndItsLabels) {
  ArrayHeader header;
  header.name = "weights";
  header.dtype = DType::f32;
  header.shape = {2, 3};
  header.labels = {{"The", "猫"}, {"a", "", "naïve\xff"}};
  MemorySink bytes;
  const auto sink = make_array_writer("npz", header, {}, bytes);
  const float values[] = {0, 1, 2, 3, 4, 5};
  sink->append({0, 1, 3, DType::f32, values, 3}, "");
  sink->append({1, 1, 3, DType::f32, values + 3, 3}, "");
  sink->finish();
  write_file(folder_ / "w.npz", bytes.content);
  const auto entries = read_with_libzip(folder_ / "w.npz");
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries.at("weights.npy"), npy_file(npy_dict(), f4(kSix)));
  EXPECT_NE(entries.at("query_tokens.npy").find("'<U3'"), std::string::npos);
  EXPECT_NE(entries.at("query_tokens.npy").find("(2,)"), std::string::npos);
  const auto file = open_array_file(folder_ / "w.npz", {}, RunContext());
  EXPECT_EQ(all_numbers(*file, 0), kSix);
  EXPECT_EQ(file->find("query_tokens")->strings, header.labels.query_tokens);
  EXPECT_EQ(file->find("key_tokens")->strings, (std::vector<std::string>{"a", "", "naïve\xef\xbf\xbd"}));
}

TEST_F(Npz, TheSameNumbersGiveTheSameBytes) {
  ArrayHeader header;
  header.name = "lse";
  header.shape = {2};
  std::string first;
  for (int round = 0; round < 2; ++round) {
    MemorySink bytes;
    const auto sink = make_array_writer("npz", header, {}, bytes);
    const double values[] = {1, 2};
    sink->append({0, 1, 2, DType::f64, values, 2}, "");
    sink->finish();
    if (round == 0) first = bytes.content;
    EXPECT_EQ(bytes.content, first);
  }
}

}  // namespace
}  // namespace attn
