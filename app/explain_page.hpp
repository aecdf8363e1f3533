#pragma once

#include <string>

#include "app/explain_steps.hpp"
#include "attn/base/row_sink.hpp"
#include "attn/render/picture.hpp"

namespace attn::app {

/// How the page looks and where its reader starts.
struct ExplainPage {
  std::string title;
  Theme theme = Theme::light;
  bool prettify = false;
  Index query = 0;
  Index key = 0;
};

/// Writes every step of the chosen heads as a page for a browser. `steps` holds all queries.
void write_explain_page(const ComputeJob& job, const AttentionSteps& steps, const ExplainPage& page, ByteSink& bytes);

}  // namespace attn::app
