#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/batch_manifest.hpp"
#include "app/batch_results.hpp"
#include "attn/base/run.hpp"

namespace attn::app {

/// How the jobs of one batch run.
struct BatchPlan {
  int side_by_side = 1;  ///< jobs at once, at most as many as threads
  RunContext run;        ///< threads and memory of all of them together
  std::string config;    ///< --config of the batch, for jobs that name none; or ""
};

/// Runs every job and hands its result to `report`, one call at a time, as each ends; until one returns false. What
/// `report` throws ends the batch. A job that found no memory beside others is run again alone, so that its result does
/// not depend on its neighbours.
void run_jobs(const std::vector<const BatchJob*>& jobs, const BatchPlan& plan, const DoneJobs& done,
              const std::function<bool(const BatchJob&, const JobResult&)>& report);

}  // namespace attn::app
