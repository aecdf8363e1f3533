#include "base/parallel.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "attn/base/error.hpp"
#include "base/row_delivery.hpp"

namespace attn {
namespace {

TEST(ParallelFor, EveryTaskRunsOnce) {
  for (const int threads : {1, 2, 7, 100}) {
    std::vector<std::atomic<int>> runs(1000);
    parallel_for(1000, threads, [&](Index task, int worker) {
      ASSERT_GE(worker, 0);
      ASSERT_LT(worker, threads);
      ++runs[static_cast<std::size_t>(task)];
    });
    for (const auto& count : runs) ASSERT_EQ(count.load(), 1);
  }
}

TEST(ParallelFor, NoTasksNoWork) {
  parallel_for(0, 4, [](Index, int) { FAIL(); });
}

TEST(ParallelFor, TheLowestFailureWins) {
  for (const int threads : {1, 3, 8}) {
    for (int round = 0; round < 20; ++round) {
      std::string message;
      try {
        parallel_for(200, threads, [](Index task, int) {
          // The lower failing task is made the slower one.
          if (task == 40) std::this_thread::sleep_for(std::chrono::milliseconds(2));
          if (task >= 40) fail(ErrorKind::mismatch, "task ", task);
        });
      } catch (const Error& error) {
        message = error.message();
      }
      ASSERT_EQ(message, "task 40") << threads;
    }
  }
}

TEST(ParallelFor, ManySmallCallsOneAfterTheOther) {
  // Helpers sleep and wake between calls; none may enter the wrong one or be left behind.
  for (int call = 0; call < 20000; ++call) {
    std::atomic<int> sum{0};
    const int threads = 2 + call % 3;
    parallel_for(3, threads, [&](Index task, int worker) {
      ASSERT_LT(worker, threads);
      sum += 1 + static_cast<int>(task);
    });
    ASSERT_EQ(sum.load(), 6) << call;
  }
}

TEST(ParallelFor, CallsInsideCallsAndFromSeveralThreads) {
  std::atomic<int> runs{0};
  const auto outer = [&] { parallel_for(8, 3, [&](Index, int) { parallel_for(5, 2, [&](Index, int) { ++runs; }); }); };
  std::thread other(outer), third(outer);
  outer();
  other.join();
  third.join();
  EXPECT_EQ(runs.load(), 3 * 8 * 5);
}

TEST(ParallelFor, SeveralThreadsWorkAtOnce) {
  std::atomic<int> waiting{0};
  parallel_for(2, 2, [&](Index, int) {
    ++waiting;
    // Ends only when the other task runs too.
    for (int i = 0; i < 10000 && waiting < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  EXPECT_EQ(waiting.load(), 2);
}

TEST(ParallelFor, HelpersKeepOffTheCoreOfTheirCaller) {
  // Where the caller has one core alone, its helpers share it.
  const bool others = available_threads() > 1;
  int seen = 0;
  for (int attempt = 0; attempt < 100 && seen < 5; ++attempt) {
    const int before = ::sched_getcpu();
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> helped{0};
    std::atomic<bool> allowed{false};
    parallel_for(2, 2, [&](Index, int) {
      for (int i = 0; std::this_thread::get_id() == caller && i < 10000 && helped == 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (std::this_thread::get_id() == caller) return;
      cpu_set_t cores;
      if (::sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_ISSET(before, &cores)) allowed = true;
      ++helped;
    });
    // The caller itself may be moved by the system before or while it calls.
    if (::sched_getcpu() != before) continue;
    ++seen;
    EXPECT_GE(helped, 1) << attempt;
    EXPECT_EQ(allowed, !others) << attempt;
  }
  EXPECT_GT(seen, 0);
}

TEST(ParallelFor, AChildOfTheProcessGetsHelpersOfItsOwn) {
  parallel_for(2, 2, [](Index, int) {});
  const pid_t child = ::fork();
  if (child == 0) {
    std::atomic<int> waiting{0};
    parallel_for(2, 2, [&](Index, int) {
      ++waiting;
      for (int i = 0; i < 10000 && waiting < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    ::_exit(waiting == 2 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(ParallelFor, AtLeastOneThreadIsAvailable) { EXPECT_GE(available_threads(), 1); }

/// Collects rows as text; may fail at a row.
class Collector : public RowSink {
 public:
  explicit Collector(Index bad_row = -1) : bad_row_(bad_row) {}
  void encode(const RowBlock& rows, std::string& encoded) const override {
    for (Index r = 0; r < rows.count; ++r) encoded += std::to_string(*rows.row<double>(r)) + ";";
  }
  void append(const RowBlock& rows, std::string_view encoded) override {
    if (bad_row_ >= rows.first && bad_row_ < rows.first + rows.count) fail(ErrorKind::output, "row ", bad_row_);
    EXPECT_EQ(rows.first, next_);
    next_ += rows.count;
    text += encoded;
  }
  void finish() override {}

  std::string text;

 private:
  Index next_ = 0;
  Index bad_row_;
};

void deliver_all(std::vector<RowSink*> sinks, Index blocks, int threads) {
  RowDelivery delivery(std::move(sinks));
  std::vector<std::vector<std::string>> scratch(static_cast<std::size_t>(threads));
  parallel_for(blocks, threads, [&](Index block, int worker) {
    const double values[2] = {static_cast<double>(2 * block), static_cast<double>(2 * block + 1)};
    delivery.deliver(block, {2 * block, 2, 1, DType::f64, values, 1}, scratch[static_cast<std::size_t>(worker)]);
  });
}

TEST(RowDelivery, RowsArriveInOrderWhateverTheThreads) {
  std::string right;
  for (int row = 0; row < 400; ++row) right += std::to_string(static_cast<double>(row)) + ";";
  for (const int threads : {1, 2, 5}) {
    Collector a, b;
    deliver_all({&a, &b}, 200, threads);
    EXPECT_EQ(a.text, right);
    EXPECT_EQ(b.text, right);
  }
}

TEST(RowDelivery, AFailingSinkEndsTheRunWithItsOwnError) {
  for (const int threads : {1, 2, 5}) {
    Collector bad(101);
    try {
      deliver_all({&bad}, 200, threads);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), "row 101");
    }
  }
}

TEST(RowDelivery, AFailureBeforeDeliveryFreesThoseBehindAndNotThoseBefore) {
  for (int round = 0; round < 20; ++round) {
    Collector sink;
    RowDelivery delivery({&sink});
    std::vector<std::vector<std::string>> scratch(4);
    try {
      parallel_for(50, 4, [&](Index block, int worker) {
        if (block == 9) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (block == 10) {
          delivery.cancel(block);
          fail(ErrorKind::memory, "block 10");
        }
        const double value = static_cast<double>(block);
        delivery.deliver(block, {block, 1, 1, DType::f64, &value, 1}, scratch[static_cast<std::size_t>(worker)]);
      });
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), "block 10");
    }
    std::string right;
    for (int row = 0; row < 10; ++row) right += std::to_string(static_cast<double>(row)) + ";";
    EXPECT_EQ(sink.text, right);
  }
}

TEST(RowDelivery, CancellingAllNeverHidesTheCause) {
  for (int round = 0; round < 20; ++round) {
    Collector sink;
    RowDelivery delivery({&sink});
    std::vector<std::vector<std::string>> scratch(4);
    try {
      parallel_for(50, 4, [&](Index block, int worker) {
        if (block == 10) {
          delivery.cancel();
          fail(ErrorKind::memory, "block 10");
        }
        const double value = 1;
        delivery.deliver(block, {block, 1, 1, DType::f64, &value, 1}, scratch[static_cast<std::size_t>(worker)]);
      });
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), "block 10");
    }
  }
}

}  // namespace
}  // namespace attn
