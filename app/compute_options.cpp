#include "app/compute_args.hpp"
#include "app/outputs.hpp"

namespace attn::app {

namespace {

constexpr std::string_view kInputs = "Inputs";
constexpr std::string_view kProjections = "Projections";
constexpr std::string_view kAttention = "Attention";
constexpr std::string_view kMasks = "Masks and biases";
constexpr std::string_view kOutputs = "Outputs";

OptionSpec file_option(std::string_view group, std::string_view name, std::string_view help, char letter = 0) {
  return {.name = name, .letter = letter, .value = "FILE", .kind = ValueKind::file, .group = group, .help = help};
}

OptionSpec output_option(std::string_view name, std::string_view help, char letter = 0) {
  OptionSpec option = file_option(kOutputs, name, help, letter);
  option.repeatable = true;
  return option;
}

OptionSpec value_option(std::string_view group, std::string_view name, std::string_view value, ValueKind kind,
                        std::string_view help, std::string_view default_text = {}) {
  return {.name = name, .value = value, .kind = kind, .group = group, .help = help, .default_text = default_text};
}

OptionSpec choice_option(std::string_view group, std::string_view name, std::vector<std::string_view> choices,
                         std::string_view help, std::string_view default_text) {
  return {.name = name,
          .value = "WHICH",
          .kind = ValueKind::choice,
          .group = group,
          .help = help,
          .default_text = default_text,
          .choices = std::move(choices)};
}

OptionSpec flag(std::string_view group, std::string_view name, std::string_view help) {
  return {.name = name, .group = group, .help = help};
}

std::vector<OptionSpec> input_specs() {
  return {
      file_option(kInputs, "--query", "the matrix Q, [n,d], [B,n,H*d] or [B,H,n,d]", 'Q'),
      file_option(kInputs, "--key", "the matrix K", 'K'),
      file_option(kInputs, "--value", "the matrix V; without it only weights and scores are known", 'V'),
      file_option(kInputs, "--embeddings", "token embeddings X: self-attention of X", 'X'),
      file_option(kInputs, "--context", "cross-attention: keys and values come from these embeddings"),
      value_option(kInputs, "--tokens", "TEXT|@FILE", ValueKind::text, "names of the queries, split at blanks"),
      value_option(kInputs, "--key-tokens", "TEXT|@FILE", ValueKind::text, "names of the keys", "--tokens, if there are as many"),
      file_option(kInputs, "--past-key", "projected keys of a cache, put before the new ones"),
      file_option(kInputs, "--past-value", "projected values of a cache"),
      value_option(kInputs, "--heads", "H", ValueKind::integer, "query heads, for inputs of rank 2 and 3", "1"),
      value_option(kInputs, "--kv-heads", "G", ValueKind::integer, "key/value heads", "key width / head size"),
      choice_option(kInputs, "--layout", {"bhnd", "bnhd"}, "the axes of inputs of rank 4", "bhnd"),
      choice_option(kInputs, "--precision", {"auto", "float32", "float64"}, "what is computed with", "auto"),
  };
}

std::vector<OptionSpec> projection_specs() {
  return {
      file_option(kProjections, "--w-q", "W_Q, [in,out]: Q = X W_Q + b_Q"),
      file_option(kProjections, "--w-k", "W_K"),
      file_option(kProjections, "--w-v", "W_V"),
      file_option(kProjections, "--w-o", "W_O, applied to the merged heads"),
      file_option(kProjections, "--w-qkv", "W_Q, W_K and W_V side by side in one matrix"),
      file_option(kProjections, "--b-q", "b_Q"),
      file_option(kProjections, "--b-k", "b_K"),
      file_option(kProjections, "--b-v", "b_V"),
      file_option(kProjections, "--b-o", "b_O"),
      file_option(kProjections, "--b-qkv", "b_Q, b_K and b_V in one row"),
      file_option(kProjections, "--projections", "a file with all of them, named as torch or the paper names them"),
      choice_option(kProjections, "--weight-layout", {"auto", "in_out", "out_in"},
                    "the axes of the weights; auto: torch's names are out_in, all others in_out", "auto"),
  };
}

std::vector<OptionSpec> score_specs() {
  return {
      value_option(kAttention, "--scale", "S", ValueKind::number, "factor of the scores", "1/sqrt(head size)"),
      value_option(kAttention, "--softcap", "C", ValueKind::number, "C tanh(score / C) before masks and biases; 0 is off", "0"),
      choice_option(kAttention, "--empty-rows", {"zero", "nan", "error"}, "what a query that may see no key gets", "zero"),
      flag(kAttention, "--allow-nonfinite", "carry NaN and infinity of the inputs through"),
      choice_option(kAttention, "--kernel", {"auto", "reference", "tiled"}, "how it is computed", "auto"),
      file_option(kAttention, "--sinks", "one more logit for each head, whose column is dropped"),
  };
}

std::vector<OptionSpec> mask_specs() {
  return {
      flag(kMasks, "--causal", "a query sees no key after it"),
      choice_option(kMasks, "--align", {"top-left", "bottom-right"}, "where the first query stands when n and m differ",
                    "top-left"),
      value_option(kMasks, "--query-offset", "K", ValueKind::integer, "the place of the first query among the keys",
                   "length of the past"),
      value_option(kMasks, "--window", "LEFT,RIGHT", ValueKind::text, "how many keys before and after are seen; -1: all"),
      value_option(kMasks, "--prefix", "P", ValueKind::integer, "with --causal: every query sees the first P keys", "0"),
      file_option(kMasks, "--mask", "which keys each query may see"),
      choice_option(kMasks, "--mask-kind", {"keep", "block", "add"}, "whether a 1 lets through, blocks, or is added", "keep"),
      file_option(kMasks, "--bias", "added to the scores"),
      value_option(kMasks, "--key-lengths", "LIST|@FILE", ValueKind::text, "keys that are no padding, for all or for each item"),
      value_option(kMasks, "--documents", "LIST|@FILE", ValueKind::text, "the document of each key; others are not seen"),
      value_option(kMasks, "--query-documents", "LIST|@FILE", ValueKind::text, "the document of each query",
                   "--documents, if there are as many"),
      flag(kMasks, "--alibi", "a bias that falls with the distance"),
  };
}

void append(std::vector<OptionSpec>& list, const std::vector<OptionSpec>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

}  // namespace

std::vector<OptionSpec> attention_option_specs() {
  std::vector<OptionSpec> specs = input_specs();
  append(specs, projection_specs());
  append(specs, score_specs());
  append(specs, mask_specs());
  const auto reading = reading_options();
  specs.insert(specs.end(), reading.begin(), reading.end());
  return specs;
}

std::vector<OptionSpec> compute_output_specs() {
  std::vector<OptionSpec> specs{
      output_option("--weights", "the weights, as data (json csv tsv npy npz safetensors) or picture (png svg pdf html txt)",
                    'w'),
      output_option("--output", "F(Q), as data", 'o'),
      output_option("--heatmap", "the weights, as a picture"),
      output_option("--scores", "the scores of all heads"),
      choice_option(kOutputs, "--stage", {"raw", "capped", "masked"}, "which scores", "raw"),
      output_option("--lse", "the log-sum-exp of each row, as data"),
      output_option("--present-key", "past and new keys, as data"),
      output_option("--present-value", "past and new values, as data"),
      output_option("--bundle", "all of these and the labels in one npz, safetensors or json"),
      format_option(kOutputs, "the format of - and of names that do not tell one", false),
      value_option(kOutputs, "--head", "LIST", ValueKind::text, "the heads whose weights are written: 3 or 0-3,7", "all"),
      choice_option(kOutputs, "--reduce", {"none", "mean", "max", "min"}, "one matrix from the heads", "none"),
      flag(kOutputs, "--no-labels", "bare numbers in CSV"),
      flag(kOutputs, "--no-clobber", "refuse to replace a file"),
  };
  append(specs, picture_option_specs());
  return specs;
}

}  // namespace attn::app
