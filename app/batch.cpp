#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "app/batch_manifest.hpp"
#include "app/batch_results.hpp"
#include "app/batch_run.hpp"
#include "app/batch_shard.hpp"
#include "app/commands.hpp"
#include "app/console.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "io/file_reader.hpp"

namespace attn::app {
namespace {

std::string_view text_of(FileReader& file) {
  const auto content = file.whole();
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

std::vector<BatchJob> read_jobs(const std::string& manifest, const std::string& config, const RunContext& run) {
  const auto file = FileReader::open(manifest, run.budget);
  std::vector<BatchJob> jobs = parse_manifest(text_of(*file), file->name(), manifest == "-" ? "" : folder_before(manifest));
  for (BatchJob& job : jobs) {
    if (job.fault || config.empty() || job.words.has("--config")) continue;
    job.words.add("--config", config);
    job.inputs.push_back({config, config});
  }
  refuse_shared_paths(jobs, file->name());
  return jobs;
}

/// Results that are redirected to a file must not be replaced by a job's output, nor the file that is resumed from.
void refuse_results_as_outputs(std::vector<BatchJob>& jobs, const std::string& resume) {
  struct stat results {};
  const bool redirected = fstat(STDOUT_FILENO, &results) == 0 && S_ISREG(results.st_mode);
  struct stat resumed {};
  const bool resuming = !resume.empty() && stat(resume.c_str(), &resumed) == 0;
  if (!redirected && !resuming) return;
  const auto same = [](const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; };
  for (BatchJob& job : jobs)
    for (const JobFile& file : job.outputs) {
      struct stat status {};
      if (job.fault || stat(file.path.c_str(), &status) != 0) continue;
      if ((redirected && same(status, results)) || (resuming && same(status, resumed)))
        job.fault = Error(ErrorKind::usage, concat("line ", job.line, " writes '", printable_end(file.written),
                                                   "', where the results of the batch go"));
    }
}

/// Whether standard output is a file whose last line was cut off, as by a kill: results must not go on in that line.
bool continues_cut_line() {
  struct stat status {};
  if (fstat(STDOUT_FILENO, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return false;
  const bool appends = (fcntl(STDOUT_FILENO, F_GETFL) & O_APPEND) != 0;
  if (!appends && lseek(STDOUT_FILENO, 0, SEEK_CUR) != status.st_size) return false;
  const int descriptor = open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  char last = '\n';
  const bool read = pread(descriptor, &last, 1, status.st_size - 1) == 1;
  close(descriptor);
  return read && last != '\n';
}

/// Tells of the jobs as they end, and adds up.
class Report {
 public:
  Report(Console& console, std::size_t jobs) : console_(console), jobs_(static_cast<Index>(jobs)) {
    // On a terminal the results themselves show how far it is.
    progress_ = console.output_is_terminal() ? nullptr : console.run().progress;
  }

  bool add(const BatchJob& job, const JobResult& result) {
    ++ended_;
    failed_ += result.exit != 0;
    skipped_ += result.skipped;
    exit_ = std::max(exit_, result.exit);
    if (progress_) progress_->update(concat("job ", ended_, " of ", jobs_, ","), ended_, jobs_);
    return console_.print_now(result_line(job, result));
  }

  /// The total; nothing if the reader of the results went away.
  int finish(const Shard& shard, double seconds) {
    if (ended_ < jobs_) return 0;
    const std::string part =
        shard.source.empty() ? "" : concat(" of shard ", shard.index, "/", shard.count, " (", shard.source, ")");
    console_.say(concat(jobs_, jobs_ == 1 ? " job" : " jobs", part, ": ", ended_ - failed_ - skipped_, " done, ", skipped_,
                        " skipped, ", failed_, " failed, ", format_rounded(seconds, 3), " s"));
    return exit_;
  }

 private:
  Console& console_;
  Index jobs_;
  Progress* progress_;
  Index ended_ = 0, failed_ = 0, skipped_ = 0;
  int exit_ = 0;
};

BatchPlan batch_plan(const Words& words, const Console& console) {
  constexpr int kMostJobs = 128;  // each holds a few files open, and the names of its temporaries
  BatchPlan plan;
  plan.run = console.run();
  const int threads = std::max(1, std::min(plan.run.threads, kMostJobs));
  plan.side_by_side = threads;
  if (words.has("--jobs"))
    plan.side_by_side = std::min(threads, static_cast<int>(integer_value("--jobs", words.value("--jobs"), 1, kMostJobs)));
  return plan;
}

int run_batch(const Words& words, Console& console) {
  const auto start = std::chrono::steady_clock::now();
  const Shard shard = chosen_shard(words);
  const BatchPlan plan = batch_plan(words, console);
  const std::string resume = words.value("--resume");
  if (resume == "-" && words.inputs[0] == "-")
    fail(ErrorKind::usage, "standard input (-) is named for the manifest and for --resume; it can be read once");
  DoneJobs done;
  if (!resume.empty()) {
    const auto file = FileReader::open(resume, plan.run.budget);
    done.read(text_of(*file), file->name());
  }
  std::vector<BatchJob> jobs = read_jobs(words.inputs[0], words.value("--config"), plan.run);
  refuse_results_as_outputs(jobs, resume);
  std::vector<const BatchJob*> chosen;
  for (const BatchJob& job : jobs)
    if (shard.takes(job.hash)) chosen.push_back(&job);
  // What cannot run is told before anything runs.
  std::stable_partition(chosen.begin(), chosen.end(), [](const BatchJob* job) { return job->fault.has_value(); });
  Report report(console, chosen.size());
  if (!chosen.empty() && continues_cut_line()) console.print_now("\n");
  run_jobs(chosen, plan, done, [&](const BatchJob& job, const JobResult& result) { return report.add(job, result); });
  return report.finish(shard, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

std::vector<OptionSpec> batch_options() {
  constexpr std::string_view kGroup = "Batch";
  return {{.name = "--jobs",
           .value = "N",
           .kind = ValueKind::integer,
           .group = kGroup,
           .help = "how many jobs run side by side; they share --threads and --max-memory",
           .default_text = "--threads"},
          {.name = "--shard",
           .value = "I/N",
           .kind = ValueKind::text,
           .group = kGroup,
           .help = "only part I (from 0) of N; the parts are disjoint and complete",
           .default_text = "SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX, else all"},
          {.name = "--resume",
           .value = "RESULTS.jsonl",
           .kind = ValueKind::file,
           .group = kGroup,
           .help = "skip the jobs that these results tell to be done, by this version, with files untouched since"}};
}

}  // namespace

const Command& batch_command() {
  static const Command command{
      .name = "batch",
      .summary = "many compute and render jobs from one manifest: side by side, in shards, resumed",
      .usage = "batch MANIFEST.jsonl [--jobs N] [--shard I/N] [--resume RESULTS.jsonl]",
      .examples = {"attn-cli batch jobs.jsonl --quiet > results.jsonl",
                   "attn-cli batch jobs.jsonl --quiet --resume results.jsonl >> results.jsonl",
                   "attn-cli batch jobs.jsonl --quiet --shard 0/2 --jobs 1"},
      .description =
          "Each line is one job: {\"command\": \"compute\", \"input\": \"doc.json\", \"causal\": true, \"weights\": "
          "[\"w.csv\"]}. "
          "The keys are the names of the long options, a flag is true, a repeated option is a list; paths are relative to the "
          "manifest. One line of JSON tells what became of each job; a job that fails does not stop the others. The exit code is "
          "the largest of the jobs'.",
      .min_inputs = 1,
      .max_inputs = 1,
      .options = batch_options(),
      .run = run_batch};
  return command;
}

}  // namespace attn::app
