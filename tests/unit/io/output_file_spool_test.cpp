#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "attn/io/output_file.hpp"
#include "unit/io/child_support.hpp"
#include "unit/io/file_support.hpp"

namespace attn {
namespace {

TEST(SpoolTest, GivesBackWhatItTook) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{10}, std::size_t{1} << 20, (std::size_t{1} << 20) + 1, std::size_t{5000000}}) {
    Spool spool;
    std::string all;
    while (all.size() < size) {
      const std::string piece(std::min<std::size_t>(size - all.size(), 70001), static_cast<char>('a' + all.size() % 23));
      spool.write(piece.data(), piece.size());
      all += piece;
    }
    EXPECT_EQ(spool.size(), size);
    for (int round = 0; round < 2; ++round) {
      MemorySink sink;
      spool.copy_to(sink);
      EXPECT_EQ(sink.content, all);
    }
  }
}

TEST(SpoolTest, LivesInTheFolderForTemporaryFilesUnseen) {
  const TemporaryFolder folder;
  EXPECT_EQ(exit_code_of([&] {
              ::setenv("TMPDIR", folder.path().c_str(), 1);
              Spool spool;
              spool.write(std::string(3 << 20, 'x').data(), 3 << 20);
              return folder.names().empty() && spool.size() == 3 << 20 ? 0 : 1;
            }),
            0);
  EXPECT_EQ(exit_code_of([&] {
              ::setenv("TMPDIR", (folder / "nowhere").c_str(), 1);
              Spool spool;
              spool.write(std::string(3 << 20, 'x').data(), 3 << 20);
              return spool.size() == 3 << 20 ? 0 : 1;
            }),
            0);
}

TEST(WriteStream, TellsAGoneReaderFromAnError) {
  EXPECT_EQ(exit_code_of([] {
              install_signal_cleanup();
              int ends[2];
              if (::pipe(ends) != 0 || !write_stream(ends[1], "text")) return 1;
              char got[4];
              if (::read(ends[0], got, 4) != 4 || std::string_view(got, 4) != "text") return 2;
              ::close(ends[0]);
              return write_stream(ends[1], "text") ? 3 : 0;
            }),
            0);
  const int full = ::open("/dev/full", O_WRONLY);
  expect_error(ErrorKind::output, "No space left", [&] { write_stream(full, "text"); });
  ::close(full);
}

TEST(WriteStream, WaitsForAPipeThatIsFull) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
  std::size_t got = 0;
  std::thread reader([&] {
    char block[4096];
    for (ssize_t count; (count = ::read(ends[0], block, sizeof block)) > 0;) got += static_cast<std::size_t>(count);
  });
  EXPECT_TRUE(write_stream(ends[1], std::string(1000000, 'x')));
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  EXPECT_EQ(got, 1000000u);
}

}  // namespace
}  // namespace attn
