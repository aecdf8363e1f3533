#include "app/compute_args.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "app/inputs.hpp"
#include "app/outputs.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn::app {

namespace {

struct InputOption {
  Input input;
  std::string_view option;
};

constexpr std::array<InputOption, 20> kInputOptions = {{
    {Input::query, "--query"},
    {Input::key, "--key"},
    {Input::value, "--value"},
    {Input::embeddings, "--embeddings"},
    {Input::context, "--context"},
    {Input::past_key, "--past-key"},
    {Input::past_value, "--past-value"},
    {Input::w_q, "--w-q"},
    {Input::w_k, "--w-k"},
    {Input::w_v, "--w-v"},
    {Input::w_o, "--w-o"},
    {Input::w_qkv, "--w-qkv"},
    {Input::b_q, "--b-q"},
    {Input::b_k, "--b-k"},
    {Input::b_v, "--b-v"},
    {Input::b_o, "--b-o"},
    {Input::b_qkv, "--b-qkv"},
    {Input::mask, "--mask"},
    {Input::bias, "--bias"},
    {Input::sinks, "--sinks"},
}};

/// Far above any model, so that products with it stay within an Index.
constexpr long long kMostHeads = 1 << 20;
constexpr long long kMostKeys = 1LL << 40;

std::optional<std::string> optional_text(const Words& words, std::string_view option) {
  if (!words.has(option)) return std::nullopt;
  return words.value(option);
}

std::optional<Index> optional_integer(const Words& words, std::string_view option, long long least, long long most) {
  if (!words.has(option)) return std::nullopt;
  return integer_value(option, words.value(option), least, most);
}

/// The value that stands beside the name that was typed; nothing if the option was not given.
template <typename Value, std::size_t N>
std::optional<Value> named_value(const Words& words, std::string_view option,
                                 const std::array<std::pair<std::string_view, Value>, N>& table) {
  if (!words.has(option)) return std::nullopt;
  std::vector<std::string_view> names;
  for (const auto& row : table) names.push_back(row.first);
  const std::string name = choice_value(option, words.value(option), names);
  for (const auto& row : table)
    if (row.first == name) return row.second;
  return std::nullopt;
}

void resolve_inputs(const Words& words, ComputeRequest& request) {
  if (!words.inputs.empty()) request.document = words.inputs.front();
  for (const InputOption& row : kInputOptions)
    if (words.has(row.option)) request.files[row.input] = words.value(row.option);
  request.projections = words.value("--projections");
  request.reading = read_options(words);
  request.tokens = optional_text(words, "--tokens");
  request.key_tokens = optional_text(words, "--key-tokens");
  request.key_lengths = optional_text(words, "--key-lengths");
  request.documents = optional_text(words, "--documents");
  request.query_documents = optional_text(words, "--query-documents");
  request.heads = optional_integer(words, "--heads", 1, kMostHeads);
  request.kv_heads = optional_integer(words, "--kv-heads", 1, kMostHeads);
  request.layout =
      named_value<TensorLayout, 2>(words, "--layout", {{{"bhnd", TensorLayout::bhnd}, {"bnhd", TensorLayout::bnhd}}});
  using Layout = std::optional<WeightLayout>;
  request.weight_layout =
      named_value<Layout, 3>(words, "--weight-layout",
                             {{{"auto", Layout{}}, {"in_out", WeightLayout::in_out}, {"out_in", WeightLayout::out_in}}})
          .value_or(Layout{});
  request.precision = named_value<Precision, 3>(
                          words, "--precision",
                          {{{"auto", Precision::automatic}, {"float32", Precision::float32}, {"float64", Precision::float64}}})
                          .value_or(Precision::automatic);
}

void resolve_window(const Words& words, MaskOptions& masks) {
  if (!words.has("--window")) return;
  const std::string text = words.value("--window");
  const std::size_t comma = text.find(',');
  const auto left = parse_integer(text.substr(0, comma));
  const auto right = comma == std::string::npos ? std::nullopt : parse_integer(text.substr(comma + 1));
  if (!left || !right || *left < -1 || *right < -1 || *left > kMostKeys || *right > kMostKeys)
    fail(ErrorKind::usage, "--window: found '", printable(text, 80),
         "', expected LEFT,RIGHT: two whole numbers of at least 0, or -1 for an open side");
  masks.window_left = *left;
  masks.window_right = *right;
}

/// Refuses an option that has nothing to act on; in a file of defaults, which serves many runs, it may wait for one that has.
void refuse_idle(const Words& words, std::string_view option, std::string_view why) {
  if (words.rank(option) == Rank::document) fail(ErrorKind::malformed, words.source(option), ": ", why);
  if (words.rank(option) == Rank::command_line) fail(ErrorKind::usage, why);
}

void resolve_masks(const Words& words, ComputeRequest& request) {
  MaskOptions& masks = request.masks;
  masks.causal = words.has("--causal");
  masks.alibi = words.has("--alibi");
  masks.align = named_value<Align, 2>(words, "--align", {{{"top-left", Align::top_left}, {"bottom-right", Align::bottom_right}}});
  masks.query_offset = optional_integer(words, "--query-offset", -kMostKeys, kMostKeys);
  resolve_window(words, masks);
  const Index prefix = optional_integer(words, "--prefix", 0, kMostKeys).value_or(0);
  masks.prefix = masks.causal ? prefix : 0;
  request.mask_kind = named_value<MaskKind, 3>(words, "--mask-kind",
                                               {{{"keep", MaskKind::keep}, {"block", MaskKind::block}, {"add", MaskKind::add}}});
  request.mask_kind_rank = words.rank("--mask-kind");
  request.mask_kind_source = words.source("--mask-kind");
  if (masks.align && masks.query_offset)
    fail(ErrorKind::usage, "--align and --query-offset both say where the first query stands; give one of them");
  const bool moves = masks.causal || masks.alibi || masks.window_left >= 0 || masks.window_right >= 0;
  for (const std::string_view option : {"--align", "--query-offset"})
    if (words.has(option) && !moves)
      request.notes.push_back(concat(option, " changes nothing without --causal, --window or --alibi"));
}

void resolve_attention(const Words& words, ComputeRequest& request) {
  AttentionOptions& attention = request.attention;
  if (words.has("--scale")) attention.scale = number_value("--scale", words.value("--scale"));
  if (words.has("--softcap")) attention.softcap = number_value("--softcap", words.value("--softcap"));
  if (attention.softcap < 0)
    fail(ErrorKind::usage, "--softcap: found ", format_number(attention.softcap), ", expected a number above 0, or 0 for off");
  attention.empty_rows =
      named_value<EmptyRows, 3>(words, "--empty-rows",
                                {{{"zero", EmptyRows::zero}, {"nan", EmptyRows::nan}, {"error", EmptyRows::error}}})
          .value_or(EmptyRows::zero);
  attention.allow_nonfinite = words.has("--allow-nonfinite");
  const std::vector<std::string> kernels = kernel_names();
  std::vector<std::string_view> names{"auto"};
  names.insert(names.end(), kernels.begin(), kernels.end());
  if (words.has("--kernel")) attention.kernel = choice_value("--kernel", words.value("--kernel"), names);
  attention.simd = forced_simd();
}

void resolve_writing(const Words& words, const Console& console, ComputeRequest& request) {
  request.outputs = requested_outputs(words, console);
  const auto takes_format = [](const OutputRequest& output) { return output.path == "-" || format_of_name(output.path).empty(); };
  if (words.has("--format") && words.rank("--format") == Rank::command_line &&
      std::none_of(request.outputs.begin(), request.outputs.end(), takes_format))
    request.notes.push_back(
        request.outputs.empty()
            ? "--format is for - and names that do not tell one, and nothing is written: -w - writes the weights"
            : "--format is for - and names that do not tell one; every output here has its own");
  request.stage =
      named_value<Stage, 3>(words, "--stage", {{{"raw", Stage::raw}, {"capped", Stage::capped}, {"masked", Stage::masked}}})
          .value_or(Stage::raw);
  if (words.has("--head")) {
    const auto heads = index_list_value("--head", words.value("--head"), &request.head_choice.single);
    request.head_choice.heads.assign(heads.begin(), heads.end());
  }
  request.head_choice.reduce =
      named_value<Reduce, 4>(words, "--reduce",
                             {{{"none", Reduce::none}, {"mean", Reduce::mean}, {"max", Reduce::max}, {"min", Reduce::min}}})
          .value_or(Reduce::none);
  request.picture = picture_options(words, console);
  request.color_files = words.value("--color") == "always";
  request.with_labels = !words.has("--no-labels");
  request.no_clobber = words.has("--no-clobber");
  request.csv_safe = words.value("--csv-safe", "off") == "on";
  if (words.has("--stage") && !request.wants(Result::scores) && !request.wants(Result::bundle))
    refuse_idle(words, "--stage", "--stage says which scores are written; it needs --scores or --bundle");
}

void refuse_mixtures(const Words& words) {
  const auto typed = [&](std::initializer_list<std::string_view> options) -> std::string_view {
    for (const std::string_view option : options)
      if (words.has(option)) return option;
    return {};
  };
  const std::string_view matrix = typed({"--query", "--key", "--value"});
  const std::string_view embedding = typed({"--embeddings", "--context"});
  if (!matrix.empty() && !embedding.empty())
    fail(ErrorKind::usage, matrix, " and ", embedding,
         " do not go together: give -Q, -K and -V, or -X with or without --context");
  const std::string_view part = typed({"--w-q", "--w-k", "--w-v"});
  if (words.has("--w-qkv") && !part.empty()) fail(ErrorKind::usage, "--w-qkv and ", part, " both give the same weights");
  const std::string_view bias = typed({"--b-q", "--b-k", "--b-v"});
  if (words.has("--b-qkv") && !bias.empty()) fail(ErrorKind::usage, "--b-qkv and ", bias, " both give the same biases");
}

/// "-" can be read once, by whichever input names it.
void refuse_second_stdin(const ComputeRequest& request) {
  const std::vector<std::string> all = request.named_files();
  if (std::count(all.begin(), all.end(), "-") > 1)
    fail(ErrorKind::usage, "standard input (-) is named for more than one input; it can be read once");
}

}  // namespace

std::string_view option_of(Input input) {
  for (const InputOption& row : kInputOptions)
    if (row.input == input) return row.option;
  return {};
}

void refuse_idle_options(const Words& words) {
  if (words.has("--prefix") && !words.has("--causal"))
    refuse_idle(words, "--prefix", "--prefix opens a causal mask; it needs --causal");
}

std::vector<std::string> ComputeRequest::named_files() const {
  std::vector<std::string> all;
  for (const std::string& file : {document, projections})
    if (!file.empty()) all.push_back(file);
  for (const auto& [input, file] : files) all.push_back(file);
  for (const auto& list : {tokens, key_tokens, key_lengths, documents, query_documents})
    if (list && list->starts_with('@')) all.push_back(list->substr(1));
  return all;
}

bool ComputeRequest::wants(Result result) const {
  return std::any_of(outputs.begin(), outputs.end(), [&](const OutputRequest& output) { return output.result == result; });
}

ComputeRequest resolve_compute(const Words& words, const Console& console) {
  ComputeRequest request;
  refuse_mixtures(words);
  resolve_inputs(words, request);
  refuse_second_stdin(request);
  resolve_masks(words, request);
  resolve_attention(words, request);
  resolve_writing(words, console, request);
  return request;
}

namespace {

struct OutputOption {
  std::string_view option;
  Result result;
  bool data;      ///< may be written as data
  bool pictures;  ///< may be drawn
};

constexpr std::array<OutputOption, 8> kOutputOptions = {{
    {"--weights", Result::weights, true, true},
    {"--heatmap", Result::weights, false, true},
    {"--output", Result::output, true, false},
    {"--scores", Result::scores, true, true},
    {"--lse", Result::lse, true, false},
    {"--present-key", Result::present_key, true, false},
    {"--present-value", Result::present_value, true, false},
    {"--bundle", Result::bundle, true, false},
}};

void check_format(const OutputOption& option, const OutputRequest& request) {
  const std::string where = concat(option.option, " '", printable(request.path), "': ");
  if (request.picture && !option.pictures)
    fail_with_hint(ErrorKind::usage, concat("--heatmap ", printable(request.path, 120), " draws the weights"), where,
                   request.format, " is a picture; this option writes data (json, csv, tsv, npy, npz, safetensors)");
  if (!request.picture && !option.data)
    fail_with_hint(ErrorKind::usage, "--weights writes data too", where, request.format,
                   " is no picture; expected png, svg, pdf, html or txt");
  const bool archive = request.format == "npz" || request.format == "safetensors" || request.format == "json";
  if (request.result == Result::bundle && !archive)
    fail(ErrorKind::usage, where, request.format, " holds one array; a bundle is npz, safetensors or json");
}

}  // namespace

std::vector<OutputRequest> requested_outputs(const Words& words, const Console& console) {
  std::vector<OutputRequest> requests;
  for (const OutputOption& option : kOutputOptions)
    for (const std::string& path : words.values(option.option)) {
      OutputRequest request{option.result, std::string(option.option), path, output_format(path, words, console), false};
      request.picture = !picture_format_of(request.format).empty();
      check_format(option, request);
      for (const OutputRequest& other : requests)
        if (other.path == path)
          fail(ErrorKind::usage, "two outputs go to '", printable(path), "': ", other.option, " and ", option.option);
      requests.push_back(std::move(request));
    }
  return requests;
}

}  // namespace attn::app
