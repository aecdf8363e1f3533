#pragma once

#include "app/compute_args.hpp"
#include "app/console.hpp"
#include "app/prepare.hpp"

namespace attn::app {

/// Prints shapes, scale and masks in words, and for small inputs the weights as a table: what `compute` says when no
/// output was asked for. Returns the report of the run.
AttentionReport print_summary(const ComputeRequest& request, const Prepared& prepared, Console& console);

/// The lines of words alone: sizes, precision, scale, masks.
std::string summary_text(const Prepared& prepared, const AttentionReport& report);

}  // namespace attn::app
