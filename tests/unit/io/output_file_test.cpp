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
#include "unit/io/file_support.hpp"

namespace attn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class Outputs : public ::testing::Test {
 protected:
  void SetUp() override { ::umask(022); }

  mode_t mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }

  /// Whether `call` throws this kind with the text in its message.
  template <typename Call>
  static bool fails(ErrorKind kind, std::string_view text, Call&& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.kind() == kind && error.message().find(text) != std::string::npos;
    }
    return false;
  }

  TemporaryFolder folder_;
};

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

TEST_F(Outputs, AFifoIsWrittenInPlace) {
  const std::string fifo = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read_file(fifo); });
  OutputFiles outputs(false);
  outputs.open(fifo).write(std::string(300000, 'x'));
  EXPECT_TRUE(outputs.commit());
  reader.join();
  EXPECT_EQ(got, std::string(300000, 'x'));
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
}

TEST_F(Outputs, AFifoWhoseReaderWentAwayReplacesNothing) {
  const std::string fifo = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  write_file(folder_ / "out", "old");
  EXPECT_EQ(exit_code_of([&] {
              install_signal_cleanup();
              const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
              OutputFiles outputs(false);
              outputs.open(folder_ / "out").write("new");
              ByteSink& sink = outputs.open(fifo);
              ::close(reader);
              for (int i = 0; i < 10; ++i) sink.write(std::string(300000, 'x'));
              return outputs.commit() ? 1 : 0;
            }),
            0);
  EXPECT_EQ(read_file(folder_ / "out"), "old");
}

/// Runs `work` in a child whose standard output is a file.
template <typename Work>
int with_stdout(const std::string& path, Work&& work) {
  return exit_code_of([&] {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(file, STDOUT_FILENO);
    ::close(file);
    return work();
  });
}

TEST_F(Outputs, StandardOutputComesAtCommit) {
  const std::string big(3000000, 'y');
  EXPECT_EQ(with_stdout(folder_ / "stdout",
                        [&] {
                          OutputFiles outputs(false);
                          outputs.open("-").write(big);
                          if (!read_file(folder_ / "stdout").empty()) return 1;
                          outputs.open(folder_ / "other").write("new");
                          return outputs.commit() ? 0 : 2;
                        }),
            0);
  EXPECT_EQ(read_file(folder_ / "stdout"), big);
  EXPECT_EQ(read_file(folder_ / "other"), "new");
}

TEST_F(Outputs, StandardOutputStaysEmptyWhenAnotherFails) {
  EXPECT_EQ(with_stdout(folder_ / "stdout",
                        [&] {
                          OutputFiles outputs(false);
                          outputs.open("-").write("result");
                          outputs.open("/dev/full").write("x");
                          return fails(ErrorKind::output, "No space left", [&] { outputs.commit(); }) ? 0 : 1;
                        }),
            0);
  EXPECT_EQ(read_file(folder_ / "stdout"), "");
}

TEST_F(Outputs, DevStdoutIsStandardOutputAndNeverRenamedOver) {
  struct stat before {
  }, after{};
  write_file(folder_ / "stdout", "");
  ::stat((folder_ / "stdout").c_str(), &before);
  for (const auto* path : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    EXPECT_EQ(with_stdout(folder_ / "stdout",
                          [&] {
                            OutputFiles outputs(false);
                            outputs.open(path).write("result");
                            return outputs.commit() ? 0 : 1;
                          }),
              0);
    ::stat((folder_ / "stdout").c_str(), &after);
    EXPECT_EQ(before.st_ino, after.st_ino);
    EXPECT_EQ(read_file(folder_ / "stdout"), "result");
  }
}

TEST_F(Outputs, AnotherDescriptorIsWrittenInPlace) {
  EXPECT_EQ(exit_code_of([&] {
              const int file = ::open((folder_ / "f").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
              if (::write(file, "before,", 7) != 7) return 2;
              OutputFiles outputs(false);
              outputs.open("/dev/fd/" + std::to_string(file)).write("after");
              return outputs.commit() ? 0 : 1;
            }),
            0);
  EXPECT_EQ(read_file(folder_ / "f"), "before,after");
  EXPECT_THAT(folder_.names(), ElementsAre("f"));
}

TEST_F(Outputs, ANamedFileThatIsStandardOutputTooIsRefused) {
  EXPECT_EQ(with_stdout(folder_ / "out",
                        [&] {
                          OutputFiles outputs(false);
                          outputs.open("-");
                          return fails(ErrorKind::usage, "same place", [&] { outputs.open(folder_ / "out"); }) ? 0 : 1;
                        }),
            0);
  EXPECT_EQ(with_stdout("/dev/null",
                        [&] {
                          OutputFiles outputs(false);
                          outputs.open("-").write("x");
                          outputs.open("/dev/null").write("x");
                          return outputs.commit() ? 0 : 1;
                        }),
            0);
}

TEST_F(Outputs, FullAndClosedStandardOutputAreErrors) {
  write_file(folder_ / "out", "old");
  const auto run = [&](std::string_view text) {
    OutputFiles outputs(false);
    outputs.open(folder_ / "out").write("new");
    outputs.open("-").write("result");
    return fails(ErrorKind::output, text, [&] { outputs.commit(); }) ? 0 : 1;
  };
  EXPECT_EQ(with_stdout("/dev/full", [&] { return run("cannot write standard output: No space left on device"); }), 0);
  EXPECT_EQ(exit_code_of([&] {
              ::close(STDOUT_FILENO);
              return run("cannot write standard output: Bad file descriptor");
            }),
            0);
  EXPECT_EQ(read_file(folder_ / "out"), "old");
  EXPECT_THAT(folder_.names(), ElementsAre("out"));
}

TEST_F(Outputs, AReaderOfStandardOutputThatWentAwayReplacesNothing) {
  write_file(folder_ / "out", "old");
  EXPECT_EQ(exit_code_of([&] {
              install_signal_cleanup();
              int ends[2];
              if (::pipe(ends) != 0) return 2;
              ::dup2(ends[1], STDOUT_FILENO);
              ::close(ends[0]);
              OutputFiles outputs(false);
              outputs.open("-").write("result");
              outputs.open(folder_ / "out").write("new");
              return outputs.commit() ? 1 : 0;
            }),
            0);
  EXPECT_EQ(read_file(folder_ / "out"), "old");
  EXPECT_THAT(folder_.names(), ElementsAre("out"));
}

TEST_F(Outputs, FilesTakeNoStandardStreamsPlace) {
  EXPECT_EQ(exit_code_of([&] {
              for (const int stream : {0, 1, 2}) ::close(stream);
              OutputFiles outputs(false);
              outputs.open(folder_ / "out").write("data");
              const bool none = ::write(1, "stray", 5) < 0 && ::write(2, "stray", 5) < 0;
              return outputs.commit() && none ? 0 : 1;
            }),
            0);
  EXPECT_EQ(read_file(folder_ / "out"), "data");
}

TEST_F(Outputs, AFileThatGrowsTooLargeIsAnError) {
  write_file(folder_ / "out", "old");
  EXPECT_EQ(exit_code_of([&] {
              install_signal_cleanup();
              const rlimit limit{1 << 20, 1 << 20};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              OutputFiles outputs(false);
              ByteSink& sink = outputs.open(folder_ / "out");
              return fails(ErrorKind::output, "File too large", [&] { sink.write(std::string(2 << 20, 'x')); }) ? 0 : 1;
            }),
            0);
  EXPECT_EQ(read_file(folder_ / "out"), "old");
  EXPECT_THAT(folder_.names(), ElementsAre("out"));
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

TEST_F(Outputs, SignalsRemoveTheTemporaries) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    write_file(folder_ / "out", "old");
    const int status = in_child([&] {
      install_signal_cleanup();
      OutputFiles outputs(false);
      outputs.open(folder_ / "out").write("new");
      outputs.open(folder_ / "other").write("new");
      if (folder_.names().size() != 3) return 1;
      ::raise(signal);
      return 2;
    });
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_EQ(read_file(folder_ / "out"), "old");
    EXPECT_THAT(folder_.names(), ElementsAre("out"));
  }
}

TEST_F(Outputs, ASignalBetweenRenamesTakesNoFinishedFile) {
  const int status = in_child([&] {
    install_signal_cleanup();
    OutputFiles outputs(false);
    outputs.open(folder_ / "out").write("new");
    if (!outputs.commit()) return 1;
    ::raise(SIGTERM);
    return 2;
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read_file(folder_ / "out"), "new");
}

TEST_F(Outputs, SignalsThatAreIgnoredStaySo) {
  EXPECT_EQ(exit_code_of([&] {
              ::signal(SIGHUP, SIG_IGN);
              install_signal_cleanup();
              OutputFiles outputs(false);
              outputs.open(folder_ / "out").write("new");
              ::raise(SIGHUP);
              return outputs.commit() ? 0 : 1;
            }),
            0);
  EXPECT_EQ(read_file(folder_ / "out"), "new");
}

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
