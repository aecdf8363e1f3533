#include "attn/io/output_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <string>
#include <thread>

#include "unit/io/child_support.hpp"
#include "unit/io/output_support.hpp"

namespace attn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_F(Outputs, ANewFileAppearsAtCommit) {
  const std::string path = folder_ / "out";
  OutputFiles outputs(false);
  ByteSink& sink = outputs.open(path);
  sink.write("hello ");
  sink.write("world");
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_EQ(folder_.names().size(), 1u);
  EXPECT_EQ(folder_.names()[0].rfind(".attn-", 0), 0u);
  EXPECT_TRUE(outputs.commit());
  EXPECT_EQ(read_file(path), "hello world");
  EXPECT_THAT(folder_.names(), ElementsAre("out"));
}

TEST_F(Outputs, WritesOfAllSizesKeepTheirOrder) {
  std::string all;
  OutputFiles outputs(false);
  ByteSink& sink = outputs.open(folder_ / "out");
  for (const std::size_t size : {0, 1, 100, 262144, 262143, 5, 1000000, 262145, 3, 2500000, 7}) {
    const std::string piece(size, static_cast<char>('a' + size % 26));
    sink.write(piece);
    all += piece;
  }
  EXPECT_TRUE(outputs.commit());
  EXPECT_EQ(read_file(folder_ / "out"), all);
}

TEST_F(Outputs, WithoutCommitTheOldFileStays) {
  write_file(folder_ / "out", "old");
  {
    OutputFiles outputs(false);
    outputs.open(folder_ / "out").write("new");
  }
  EXPECT_EQ(read_file(folder_ / "out"), "old");
  EXPECT_THAT(folder_.names(), ElementsAre("out"));
}

TEST_F(Outputs, AReplacedFileKeepsItsMode) {
  for (const mode_t mode : {0600, 0640, 0755, 0666}) {
    write_file(folder_ / "out", "old");
    ASSERT_EQ(::chmod((folder_ / "out").c_str(), mode), 0);
    OutputFiles outputs(false);
    outputs.open(folder_ / "out").write("new");
    EXPECT_TRUE(outputs.commit());
    EXPECT_EQ(read_file(folder_ / "out"), "new");
    EXPECT_EQ(mode_of(folder_ / "out"), mode);
  }
}

TEST_F(Outputs, ANewFileFollowsTheUmask) {
  for (const mode_t mask : {022, 077, 027}) {
    ::umask(mask);
    const std::string path = folder_ / std::to_string(mask);
    OutputFiles outputs(false);
    outputs.open(path);
    EXPECT_TRUE(outputs.commit());
    EXPECT_EQ(mode_of(path), 0666u & ~mask);
    EXPECT_EQ(::umask(022), mask);
  }
}

TEST_F(Outputs, LinksAreFollowed) {
  std::filesystem::create_directory(folder_ / "d");
  write_file(folder_ / "d/real", "old");
  std::filesystem::create_symlink("d/real", folder_ / "link");
  std::filesystem::create_symlink("link", folder_ / "chain");
  std::filesystem::create_symlink("new", folder_ / "d/dangling");
  OutputFiles outputs(false);
  outputs.open(folder_ / "chain").write("new");
  outputs.open(folder_ / "d/dangling").write("made");
  EXPECT_TRUE(outputs.commit());
  EXPECT_EQ(read_file(folder_ / "d/real"), "new");
  EXPECT_EQ(read_file(folder_ / "d/new"), "made");
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "chain"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "d/dangling"));
}

TEST_F(Outputs, TwoOutputsInOnePlaceAreRefused) {
  std::filesystem::create_directory(folder_ / "d");
  std::filesystem::create_symlink("d", folder_ / "e");
  write_file(folder_ / "old", "old");
  std::filesystem::create_symlink("old", folder_ / "link");
  std::filesystem::create_symlink("d/new", folder_ / "to_new");
  std::filesystem::create_hard_link(folder_ / "old", folder_ / "hard");
  struct Pair {
    std::string a, b;
  };
  for (const Pair& pair :
       {Pair{folder_ / "out", folder_ / "out"}, Pair{folder_ / "out", folder_ / "./out"},
        Pair{folder_ / "d/new", folder_ / "e/new"}, Pair{folder_ / "d/new", folder_ / "d/../e/new"},
        Pair{folder_ / "old", folder_ / "link"}, Pair{folder_ / "to_new", folder_ / "e/new"},
        Pair{folder_ / "old", folder_ / "hard"}, Pair{"-", "-"}, Pair{"-", "/dev/stdout"}, Pair{"/dev/fd/1", "-"}}) {
    OutputFiles outputs(false);
    outputs.open(pair.a);
    expect_error(ErrorKind::usage, "two outputs go to the same place", [&] { outputs.open(pair.b); });
  }
  OutputFiles outputs(false);
  outputs.open(folder_ / "a");
  outputs.open(folder_ / "d/a");
  outputs.open(folder_ / "A");
}

TEST_F(Outputs, PlacesThatCannotBeWritten) {
  write_file(folder_ / "file", "x");
  std::filesystem::create_symlink("b", folder_ / "a");
  std::filesystem::create_symlink("a", folder_ / "b");
  OutputFiles outputs(false);
  const auto refused = [&](const std::string& path, std::string_view text) {
    expect_error(ErrorKind::output, text, [&] { outputs.open(path); });
  };
  refused(folder_.path(), "'" + folder_.path() + "': Is a directory");
  refused(folder_ / "nodir/out", "nodir/out': No such file or directory");
  refused(folder_ / "nodir/", "No such file or directory");
  refused(folder_ / "file/out", "Not a directory");
  refused(folder_ / "file/", "Not a directory");
  refused(folder_ / "a", "Too many levels of symbolic links");
  refused("", "''");
  refused(folder_ / std::string(300, 'x'), "File name too long");
  refused("/dev/fd/987", "Bad file descriptor");
  EXPECT_THAT(folder_.names(), UnorderedElementsAre("file", "a", "b"));
}

TEST_F(Outputs, RightsAreRespected) {
  write_file(folder_ / "locked", "old");
  std::filesystem::create_directory(folder_ / "closed");
  ::chmod((folder_ / "locked").c_str(), 0444);
  ::chmod((folder_ / "closed").c_str(), 0555);
  ::chmod(folder_.path().c_str(), 0777);
  EXPECT_EQ(exit_code_of([&] {
              become_nobody();
              OutputFiles outputs(false);
              const bool closed = fails(ErrorKind::output, "Permission denied", [&] { outputs.open(folder_ / "closed/out"); });
              const bool locked = fails(ErrorKind::output, "Permission denied", [&] { outputs.open(folder_ / "locked"); });
              return closed && locked ? 0 : 1;
            }),
            0);
  EXPECT_EQ(read_file(folder_ / "locked"), "old");
}

TEST_F(Outputs, NoClobberRefusesBeforeAnyWork) {
  write_file(folder_ / "out", "old");
  OutputFiles outputs(true);
  expect_error(ErrorKind::output, "exists and is not to be replaced", [&] { outputs.open(folder_ / "out"); });
  outputs.open(folder_ / "new").write("new");
  outputs.open("/dev/null").write("x");
  EXPECT_TRUE(outputs.commit());
  EXPECT_EQ(read_file(folder_ / "new"), "new");
}

TEST_F(Outputs, NoClobberSparesAFileThatCameLater) {
  OutputFiles outputs(true);
  outputs.open(folder_ / "out").write("new");
  write_file(folder_ / "out", "of someone else");
  expect_error(ErrorKind::output, "File exists", [&] { outputs.commit(); });
  EXPECT_EQ(read_file(folder_ / "out"), "of someone else");
}

TEST_F(Outputs, DevicesAreWrittenInPlace) {
  OutputFiles outputs(false);
  outputs.open("/dev/null").write("x");
  EXPECT_TRUE(outputs.commit());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(Outputs, AFullDeviceReplacesNothing) {
  write_file(folder_ / "a", "old");
  write_file(folder_ / "b", "old");
  for (const std::size_t size : {1, 1000000}) {
    OutputFiles outputs(false);
    outputs.open(folder_ / "a").write("new");
    outputs.open(folder_ / "b").write("new");
    expect_error(ErrorKind::output, "cannot write '/dev/full': No space left on device", [&] {
      outputs.open("/dev/full").write(std::string(size, 'x'));
      outputs.commit();
    });
  }
  EXPECT_EQ(read_file(folder_ / "a") + read_file(folder_ / "b"), "oldold");
  EXPECT_THAT(folder_.names(), UnorderedElementsAre("a", "b"));
}

TEST_F(Outputs, ManyAtOnceLeaveOneWholeFile) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      OutputFiles outputs(false);
      outputs.open(folder_ / "out").write(std::string(500000, static_cast<char>('a' + i)));
      ::_exit(outputs.commit() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const std::string content = read_file(folder_ / "out");
  EXPECT_EQ(content, std::string(500000, content.at(0)));
  EXPECT_THAT(folder_.names(), ElementsAre("out"));
}

}  // namespace
}  // namespace attn
