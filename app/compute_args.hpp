#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/command.hpp"
#include "app/console.hpp"
#include "attn/core/attention.hpp"
#include "attn/core/projection.hpp"
#include "attn/io/array_file.hpp"
#include "attn/render/picture.hpp"

namespace attn::app {

/// Every array of numbers that `compute` can be given, by an option or by a name in a document.
enum class Input {
  query,
  key,
  value,
  embeddings,
  context,
  past_key,
  past_value,
  w_q,
  w_k,
  w_v,
  w_o,
  w_qkv,
  b_q,
  b_k,
  b_v,
  b_o,
  b_qkv,
  mask,
  bias,
  sinks,
};

/// The option that gives an input ("--w-q").
std::string_view option_of(Input input);

/// What a run can write.
enum class Result { weights, scores, output, lse, present_key, present_value, bundle };

struct OutputRequest {
  Result result = Result::weights;
  std::string option;  ///< as typed, for messages: "--heatmap"
  std::string path;
  std::string format;    ///< "csv", "png", ...
  bool picture = false;  ///< the format is one of pictures
};

enum class TensorLayout { bhnd, bnhd };
enum class Precision { automatic, float32, float64 };

/// The part of a request that says which heads of the weights are written, and how.
struct HeadChoice {
  std::vector<Index> heads;  ///< empty: all
  bool single = false;       ///< one number was given: the head axis is dropped
  Reduce reduce = Reduce::none;

  bool drops_axis() const { return single || reduce != Reduce::none; }
};

/// What will be done: the words of a command line (and of a document's options), checked and with defaults filled in.
struct ComputeRequest {
  std::string document;                ///< "" without one
  std::map<Input, std::string> files;  ///< "FILE" or "ARCHIVE:NAME" of each option that was given
  std::string projections;             ///< --projections, or ""
  ReadOptions reading;

  // Text, or @FILE; unset: not given.
  std::optional<std::string> tokens, key_tokens, key_lengths, documents, query_documents;

  std::optional<Index> heads, kv_heads;
  std::optional<TensorLayout> layout;
  std::optional<WeightLayout> weight_layout;  ///< unset: by the names
  std::optional<MaskKind> mask_kind;
  Rank mask_kind_rank = Rank::command_line;  ///< who gave it
  std::string mask_kind_source;              ///< and where
  MaskOptions masks;                         ///< without its arrays and lists, which are files
  AttentionOptions attention;
  Precision precision = Precision::automatic;
  std::vector<std::string> notes;

  std::vector<OutputRequest> outputs;
  Stage stage = Stage::raw;
  HeadChoice head_choice;
  PictureOptions picture;
  bool color_files = false;  ///< --color always: text pictures in files have colours too
  bool with_labels = true;
  bool no_clobber = false;
  bool csv_safe = false;

  bool wants(Result result) const;
  /// Every file that is read, as it was typed.
  std::vector<std::string> named_files() const;
};

/// The rows of the options that say what is computed (shared with `explain`), and of those that say what is written.
std::vector<OptionSpec> attention_option_specs();
std::vector<OptionSpec> compute_output_specs();

/// Checks and completes the words. Throws Error{usage} for values and for conflicts. Files are not looked at.
ComputeRequest resolve_compute(const Words& words, const Console& console);

/// Refuses what has nothing to act on, once the document has had its say.
void refuse_idle_options(const Words& words);

/// The outputs and their formats; part of resolve_compute.
std::vector<OutputRequest> requested_outputs(const Words& words, const Console& console);

}  // namespace attn::app
