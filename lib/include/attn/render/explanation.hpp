#pragma once

#include <string>
#include <vector>

#include "attn/base/row_sink.hpp"
#include "attn/render/picture.hpp"

namespace attn {
inline namespace v1 {

/// A matrix to be read as a table, row by row.
struct ExplainedMatrix {
  std::string title;
  Index rows = 0;
  Index columns = 0;
  std::vector<double> values;           ///< [rows, columns]
  std::vector<std::string> row_labels;  ///< empty: by index
};

/// Every step of one head of one batch item; n queries, m keys, head size d, value size v.
struct ExplainedHead {
  std::string name;  ///< "head 1", "batch item 0, head 1"
  Index head_size = 0;
  Index value_size = 0;              ///< 0 without values
  std::vector<double> query;         ///< [n,d]
  std::vector<double> key;           ///< [m,d]
  std::vector<double> value;         ///< [m,v]
  std::vector<double> products;      ///< [n,m], not yet scaled
  std::vector<double> scaled;        ///< [n,m]
  std::vector<double> capped;        ///< [n,m], empty without a softcap
  std::vector<double> masked;        ///< [n,m], biases added, blocked keys minus infinity
  std::vector<double> maximum;       ///< [n], minus infinity where no key is allowed
  std::vector<double> exponentials;  ///< [n,m], of score minus maximum
  std::vector<double> sink;          ///< [n], the exponential of the sink; empty without one
  std::vector<double> sum;           ///< [n], of the exponentials and the sink
  std::vector<double> weights;       ///< [n,m]
  std::vector<double> output;        ///< [n,v]
};

/// One small computation, told step by step.
struct Explanation {
  std::string title;
  std::string version;  ///< of the tool
  Theme theme = Theme::light;
  AxisLabels labels;
  bool prettify = false;
  Index queries = 0;
  Index keys = 0;
  double scale = 1;
  double softcap = 0;     ///< 0 is off
  std::string mask_text;  ///< "causal, top-left", "none"
  std::vector<ExplainedHead> heads;
  std::vector<ExplainedMatrix> before;  ///< what Q, K and V were made of
  std::vector<ExplainedMatrix> after;   ///< what became of the heads' outputs
  Index first_query = 0;                ///< where the reader starts
  Index first_key = 0;
};

/// Writes a page like those of make_picture("html"): one file that loads and sends nothing. Throws what the byte sink
/// throws.
void write_explanation(const Explanation& explanation, ByteSink& bytes);

}  // namespace v1
}  // namespace attn
