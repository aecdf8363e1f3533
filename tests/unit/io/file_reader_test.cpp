#include "io/file_reader.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <thread>

#include "unit/io/child_support.hpp"
#include "unit/io/file_support.hpp"

namespace attn {
namespace {

std::string text_of(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

class Reader : public ::testing::Test {
 protected:
  std::unique_ptr<FileReader> open(const std::string& path) { return FileReader::open(path, MemoryBudget()); }
  /// A FIFO that someone fills with the text.
  std::string pipe_with(const std::string& text) {
    const std::string fifo = folder_ / "fifo";
    EXPECT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    writer_ = std::thread([=] { std::ofstream(fifo, std::ios::binary) << text; });
    return fifo;
  }
  void TearDown() override {
    if (writer_.joinable()) writer_.join();
  }

  TemporaryFolder folder_;
  std::thread writer_;
};

TEST_F(Reader, ReadsAFileAtAnyOffset) {
  write_file(folder_ / "f", "0123456789");
  const auto file = open(folder_ / "f");
  EXPECT_EQ(file->known_size(), 10u);
  EXPECT_EQ(file->size(), 10u);
  EXPECT_EQ(text_of(file->head(4)), "0123");
  char got[3] = {};
  file->read_at(7, got, 3);
  EXPECT_EQ(std::string(got, 3), "789");
  EXPECT_EQ(text_of(file->head(100)), "0123456789");
  EXPECT_EQ(text_of(file->whole()), "0123456789");
  file->read_at(0, got, 3);
  EXPECT_EQ(std::string(got, 3), "012");
}

TEST_F(Reader, ReadsAPipeOnlyAsFarAsNeeded) {
  const std::string text = std::string(100000, 'a') + std::string(200000, 'b');
  const auto file = open(pipe_with(text));
  EXPECT_EQ(file->known_size(), kUnknownSize);
  EXPECT_EQ(text_of(file->head(3)), "aaa");
  EXPECT_EQ(file->known_size(), kUnknownSize);
  char got[2] = {};
  file->read_at(99999, got, 2);
  EXPECT_EQ(std::string(got, 2), "ab");
  EXPECT_EQ(file->size(), 300000u);
  EXPECT_EQ(text_of(file->whole()), text);
  EXPECT_EQ(text_of(file->held()), text);
}

TEST_F(Reader, TakesAPipeWithoutHoldingIt) {
  const std::string text = std::string(100000, 'a') + std::string(200000, 'b');
  const auto file = open(pipe_with(text));
  EXPECT_EQ(text_of(file->head(3)), "aaa");
  std::string got(299999, '-');
  file->take(1, got.data(), 1);
  file->take(2, got.data() + 1, 249998);  // from what is held on into what is not
  EXPECT_EQ(file->take_some(250000, got.data() + 249999, 100000), 50000u);
  EXPECT_EQ(got, text.substr(1));
  EXPECT_EQ(file->known_size(), text.size());
  EXPECT_TRUE(file->held().empty());
  char more = 0;
  EXPECT_EQ(file->take_some(text.size(), &more, 1), 0u);
  expect_error(ErrorKind::malformed, "ends after 300000 bytes, expected at least 300001",
               [&] { file->take(text.size(), &more, 1); });
  expect_error(ErrorKind::internal, "read again", [&] { file->take(200000, &more, 1); });
  expect_error(ErrorKind::internal, "read again", [&] { file->read_at(200000, &more, 1); });
}

TEST_F(Reader, TakesAFileAsItReadsIt) {
  write_file(folder_ / "f", "0123456789");
  const auto file = open(folder_ / "f");
  char got[8] = {};
  file->take(7, got, 2);
  file->take(0, got + 2, 2);
  EXPECT_EQ(file->take_some(9, got + 4, 4), 1u);
  EXPECT_EQ(std::string(got), "78019");
  EXPECT_EQ(file->take_some(20, got, 1), 0u);
}

TEST_F(Reader, ShortFilesNameWhatIsMissing) {
  write_file(folder_ / "f", "0123");
  char got[8];
  expect_error(ErrorKind::malformed, "f: the file ends after 4 bytes, expected at least 6",
               [&] { open(folder_ / "f")->read_at(2, got, 4); });
  expect_error(ErrorKind::malformed, "ends after 4 bytes", [&] { open(folder_ / "f")->read_at(~0ull, got, 4); });
  expect_error(ErrorKind::malformed, "ends after 3 bytes", [&] { open(pipe_with("abc"))->read_at(0, got, 4); });
}

TEST_F(Reader, AFileThatShrinksWhileItIsRead) {
  write_file(folder_ / "f", "0123456789");
  const auto file = open(folder_ / "f");
  std::filesystem::resize_file(folder_ / "f", 5);
  char got[10];
  expect_error(ErrorKind::malformed, "the file changed while it was read", [&] { file->read_at(0, got, 10); });
}

TEST_F(Reader, FilesThatCannotBeOpened) {
  std::filesystem::create_symlink("b", folder_ / "a");
  std::filesystem::create_symlink("a", folder_ / "b");
  expect_error(ErrorKind::malformed, "cannot open '" + (folder_ / "missing") + "': No such file or directory",
               [&] { open(folder_ / "missing"); });
  expect_error(ErrorKind::malformed, "Too many levels of symbolic links", [&] { open(folder_ / "a"); });
  expect_error(ErrorKind::malformed, "it is a folder", [&] { open(folder_.path()); });
  expect_error(ErrorKind::malformed, "cannot open ''", [&] { open(""); });
  expect_error(ErrorKind::malformed, "'a\\nb'", [&] { open("a\nb"); });
  write_file(folder_ / "secret", "x");
  ::chmod((folder_ / "secret").c_str(), 0);
  ::chmod(folder_.path().c_str(), 0755);
  EXPECT_EQ(exit_code_of([&] {
              become_nobody();
              try {
                open(folder_ / "secret");
              } catch (const Error& error) {
                return error.kind() == ErrorKind::malformed && error.message().find("Permission denied") != std::string::npos ? 0
                                                                                                                              : 1;
              }
              return 2;
            }),
            0);
}

TEST_F(Reader, FilesThatHideTheirSize) {
  const auto file = open("/proc/self/status");
  EXPECT_NE(text_of(file->whole()).find("Name:"), std::string::npos);
  EXPECT_EQ(open("/dev/null")->size(), 0u);
  write_file(folder_ / "empty", "");
  EXPECT_EQ(open(folder_ / "empty")->size(), 0u);
  EXPECT_TRUE(open(folder_ / "empty")->head(10).empty());
}

TEST_F(Reader, DevicesWithoutAnEndAreRefusedSoon) {
  const auto zero = open("/dev/zero");
  EXPECT_EQ(zero->head(100).size(), 100u);
  expect_error(ErrorKind::malformed, "cannot read '/dev/zero': it is a device without an end", [&] { zero->whole(); });
}

TEST_F(Reader, StreamsObeyTheBudget) {
  const MemoryBudget budget(200000);
  const auto file = FileReader::open(pipe_with(std::string(150000, 'x')), budget);
  EXPECT_EQ(file->whole().size(), 150000u);
}

TEST_F(Reader, StreamsBeyondTheBudgetAreRefused) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  writer_ = std::thread([&] {
    const std::string block(50000, 'x');
    for (int i = 0; i < 10; ++i)
      if (::write(ends[1], block.data(), block.size()) < 0) break;
    ::close(ends[1]);
  });
  const auto file = FileReader::open("/dev/fd/" + std::to_string(ends[0]), MemoryBudget(200000));
  expect_error(ErrorKind::memory, "needs", [&] { file->whole(); });
  char rest[4096];
  while (::read(ends[0], rest, sizeof rest) > 0) continue;
  writer_.join();
  ::close(ends[0]);
}

/// Keeps what it is told.
class Watcher : public Progress {
 public:
  void update(std::string_view stage, Index done, Index total) override {
    EXPECT_EQ(stage, "reading");
    EXPECT_GE(done, last);
    last = done;
    last_total = total;
  }
  Index last = 0;
  Index last_total = -1;
};

TEST_F(Reader, LongReadsAreReported) {
  write_file(folder_ / "f", "");
  std::filesystem::resize_file(folder_ / "f", 20 << 20);
  Watcher watcher;
  const auto file = open(folder_ / "f");
  file->report_to(&watcher);
  file->head(100);
  EXPECT_EQ(watcher.last_total, -1);
  file->whole();
  EXPECT_EQ(watcher.last, 20 << 20);
  EXPECT_EQ(watcher.last_total, 20 << 20);
}

TEST_F(Reader, StandardInput) {
  write_file(folder_ / "f", "0123456789");
  const auto run = [&](off_t skipped, const std::string& right) {
    return exit_code_of([&] {
      const int number = ::open((folder_ / "f").c_str(), O_RDONLY);
      ::dup2(number, STDIN_FILENO);
      ::lseek(STDIN_FILENO, skipped, SEEK_SET);
      const auto file = open("-");
      if (file->name() != "standard input" || file->path() != "-") return 1;
      if (file->known_size() != (skipped == 0 ? 10 : kUnknownSize)) return 2;
      return text_of(file->whole()) == right ? 0 : 3;
    });
  };
  EXPECT_EQ(run(0, "0123456789"), 0);
  EXPECT_EQ(run(4, "456789"), 0);  // someone has read the first part
  EXPECT_EQ(exit_code_of([&] {
              ::close(STDIN_FILENO);
              try {
                open("-");
              } catch (const Error& error) {
                return error.message() == "cannot open standard input: Bad file descriptor" ? 0 : 1;
              }
              return 2;
            }),
            0);
}

}  // namespace
}  // namespace attn
