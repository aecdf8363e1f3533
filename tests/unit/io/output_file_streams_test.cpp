#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <string>
#include <thread>

#include "attn/io/output_file.hpp"
#include "unit/io/child_support.hpp"
#include "unit/io/output_support.hpp"

namespace attn {
namespace {

using ::testing::ElementsAre;

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

bool handled_already(int signal) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  return action.sa_handler != SIG_DFL;
}

TEST_F(Outputs, SignalsRemoveTheTemporaries) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGUSR1, SIGABRT, SIGSEGV}) {
    if (signal == SIGSEGV && handled_already(SIGSEGV)) continue;  // by a sanitizer, which is to tell what happened
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

}  // namespace
}  // namespace attn
