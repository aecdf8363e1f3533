#include "app/batch_run.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <new>

#include "app/config.hpp"
#include "app/console.hpp"
#include "attn/base/error.hpp"
#include "base/parallel.hpp"

namespace attn::app {
namespace {

using Clock = std::chrono::steady_clock;

void set_failure(JobResult& result, ErrorKind kind, std::string error, std::string hint = {}) {
  result.exit = static_cast<int>(kind);
  result.error = std::move(error);
  result.hint = std::move(hint);
}

void do_job(const BatchJob& job, const RunContext& run, JobResult& result) {
  if (job.fault) throw Error(*job.fault);
  result.inputs = stamps_of(job.inputs);  // before they are read: what changes meanwhile makes the job stale
  Words words = job.words;
  add_defaults(*job.command, words);
  Console console(run, words.value("--color", "auto"));
  result.exit = job.command->run(words, console);
  result.notes = console.take_notes();
  result.outputs = stamps_of(job.outputs);
}

JobResult result_of(const BatchJob& job, const RunContext& run) {
  JobResult result;
  const auto start = Clock::now();
  try {
    do_job(job, run, result);
  } catch (const Error& error) {
    set_failure(result, error.kind(), error.message(), error.hint());
  } catch (const std::bad_alloc&) {
    set_failure(result, ErrorKind::memory, "out of memory: the machine has no more for this job");
  } catch (const std::exception& error) {
    set_failure(result, ErrorKind::internal, concat("a fault of attn-cli itself: ", error.what()));
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

class Runner {
 public:
  Runner(const BatchPlan& plan, const DoneJobs& done, const std::function<bool(const BatchJob&, const JobResult&)>& report)
      : plan_(plan), done_(done), report_(report) {}

  void run(const std::vector<const BatchJob*>& jobs) {
    RunContext each = plan_.run;
    each.progress = nullptr;
    each.threads = std::max(1, plan_.run.threads / plan_.side_by_side);
    const auto count = static_cast<Index>(jobs.size());
    parallel_for(count, plan_.side_by_side, [&](Index i, int) { take(*jobs[static_cast<std::size_t>(i)], each, true); });
    each.threads = plan_.run.threads;
    std::sort(later_.begin(), later_.end(), [](const BatchJob* a, const BatchJob* b) { return a->line < b->line; });
    for (const BatchJob* job : later_) take(*job, each, false);
  }

 private:
  void take(const BatchJob& job, const RunContext& run, bool beside_others) {
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return;
    }
    const auto known = job.fault ? std::nullopt : done_.find(job);
    const JobResult result = known ? *known : result_of(job, run);
    const std::lock_guard lock(mutex_);
    if (beside_others && plan_.side_by_side > 1 && result.exit == static_cast<int>(ErrorKind::memory)) {
      later_.push_back(&job);
    } else if (!ended_) {
      ended_ = !report_(job, result);
    }
  }

  const BatchPlan& plan_;
  const DoneJobs& done_;
  const std::function<bool(const BatchJob&, const JobResult&)>& report_;
  std::mutex mutex_;
  bool ended_ = false;
  std::vector<const BatchJob*> later_;
};

}  // namespace

void run_jobs(const std::vector<const BatchJob*>& jobs, const BatchPlan& plan, const DoneJobs& done,
              const std::function<bool(const BatchJob&, const JobResult&)>& report) {
  Runner(plan, done, report).run(jobs);
}

}  // namespace attn::app
