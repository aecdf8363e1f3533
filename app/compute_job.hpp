#pragma once

#include <memory>

#include "app/compute_args.hpp"
#include "app/inputs.hpp"
#include "app/prepare.hpp"

namespace attn::app {

/// One computation, ready to run: what will be done, and with what.
struct ComputeJob {
  ComputeRequest request;
  std::unique_ptr<InputFiles> files;
  Prepared prepared;
};

/// From the words of `compute` or `explain` to inputs that fit together: reads the document, merges its options, loads
/// and prepares everything.
ComputeJob load_job(const Words& words, Console& console);

}  // namespace attn::app
