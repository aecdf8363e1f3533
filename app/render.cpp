#include <algorithm>
#include <filesystem>

#include "app/array_pick.hpp"
#include "app/commands.hpp"
#include "app/head_rows.hpp"
#include "app/inputs.hpp"
#include "app/outputs.hpp"
#include "app/suggest.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "version.hpp"

namespace attn::app {
namespace {

/// One array to be drawn, with what stands beside its cells.
struct Layer {
  std::size_t member = 0;
  PictureLayer picture;
  std::unique_ptr<Visibility> visibility;
};

struct Target {
  std::string path;
  std::string format;
};

struct Job {
  OpenedInput input;
  HeadWish wish;
  ReadOptions reading;
  AxisLabels labels;  ///< as typed; empty: those of the file
  std::optional<LoadedArray> mask;
  MaskKind mask_kind = MaskKind::keep;
  std::vector<std::string> notes;  ///< of the pictures, for after the commit
};

std::vector<Target> render_targets(const Words& words, const Console& console) {
  std::vector<Target> targets;
  for (const std::string& path : words.values("--output")) {
    const std::string format = output_format(path, words, console, FormatKind::picture);
    if (picture_format_of(format).empty())
      fail(ErrorKind::usage, "'", printable(path), "': ", format,
           " is a data format, and render draws pictures: ", word_list(picture_format_names()));
    targets.push_back({path, format});
  }
  if (!targets.empty()) return targets;
  const std::string format = words.has("--format") ? output_format("-", words, console, FormatKind::picture) : "txt";
  if (picture_format_of(format).empty()) fail(ErrorKind::usage, "--format: ", format, " is no picture");
  return {{"-", format}};
}

void check_token_count(std::string_view option, const std::vector<std::string>& tokens, Index expected, const Member& member) {
  if (tokens.empty() || static_cast<Index>(tokens.size()) == expected) return;
  std::error_code status;
  const bool file = tokens.size() == 1 && std::filesystem::is_regular_file(tokens.front(), status);
  fail_with_hint(ErrorKind::mismatch,
                 file ? concat(option, " @", printable_end(tokens.front(), 80), " reads the tokens of that file") : std::string(),
                 option, ": found ", tokens.size(), tokens.size() == 1 ? " token for the " : " tokens for the ", expected,
                 option == "--tokens" && !queries_are_columns(member) ? " rows of " : " columns of ", printable(member.where));
}

AxisLabels layer_labels(const Job& job, const MatrixStack& stack, const Member& member) {
  AxisLabels labels = labels_of(*job.input.file, member);
  if (queries_are_columns(member)) {
    check_token_count("--tokens", job.labels.query_tokens, stack.keys, member);
    if (!job.labels.query_tokens.empty()) labels.key_tokens = job.labels.query_tokens;
    return labels;
  }
  check_token_count("--tokens", job.labels.query_tokens, stack.queries, member);
  check_token_count("--key-tokens", job.labels.key_tokens, stack.keys, member);
  if (!job.labels.query_tokens.empty()) {
    labels.query_tokens = job.labels.query_tokens;
    if (stack.queries == stack.keys) labels.key_tokens = labels.query_tokens;
  }
  if (!job.labels.key_tokens.empty()) labels.key_tokens = job.labels.key_tokens;
  return labels;
}

/// What --mask says of the cells, by the rules of compute: the array broadcasts to [B,H,n,m].
std::unique_ptr<Visibility> mask_visibility(const MaskArray& mask, const MatrixStack& stack, const HeadWish& wish) {
  AttentionInputs inputs;
  inputs.query.batch = inputs.key.batch = stack.batch;
  inputs.query.heads = inputs.key.heads = stack.heads;
  inputs.query.rows = stack.queries;
  inputs.key.rows = stack.keys;
  inputs.query.columns = inputs.key.columns = 1;  // a head size, which masks do not depend on
  inputs.masks.arrays = {mask};
  check_attention(inputs, {});
  return make_visibility(inputs, wish.heads, wish.reduce);
}

/// "allowed" of an archive: a boolean array that broadcasts to the weights.
std::optional<std::size_t> allowed_array(const OpenedInput& input, const Member& member) {
  if (member.name != "weights") return std::nullopt;
  for (std::size_t i = 0; i < input.file->members().size(); ++i) {
    const Member& other = input.member(i);
    if (other.name == "allowed" && other.kind == MemberKind::array && other.dtype == DType::boolean) return i;
  }
  return std::nullopt;
}

/// Everything that must outlive the pictures.
struct Held {
  std::vector<Layer> layers;
  std::vector<std::unique_ptr<Array>> arrays;
};

std::unique_ptr<Visibility> layer_visibility(const Job& job, const Member& member, const MatrixStack& stack,
                                             const Console& console, Held& held) {
  std::unique_ptr<Visibility> visibility;
  if (member.allowed) visibility = chosen_visibility(*member.allowed, stack, job.wish);
  if (const auto allowed = allowed_array(job.input, member)) {
    OpenedInput again = job.input;
    if (again.reopens()) again.file = open_array_file(again.path, job.reading, console.run());
    held.arrays.push_back(std::make_unique<Array>(again.file->read(*allowed, console.run().budget)));
    const MaskArray mask{held.arrays.back().get(), MaskKind::keep, job.input.member(*allowed).where};
    visibility = both_allow(std::move(visibility), mask_visibility(mask, stack, job.wish));
  }
  if (job.mask) {
    const MaskArray mask{&job.mask->array, job.mask_kind, job.mask->origin};
    visibility = both_allow(std::move(visibility), mask_visibility(mask, stack, job.wish));
  }
  return visibility;
}

Layer make_layer(const Job& job, std::size_t index, const Console& console, Held& held) {
  const Member& member = job.input.member(index);
  const MatrixStack stack = matrix_stack(member);
  Layer layer;
  layer.member = index;
  layer.visibility = layer_visibility(job, member, stack, console, held);
  PictureLayer& picture = layer.picture;
  picture.name = member.name;
  picture.where = member.where;
  picture.shape = chosen_shape(stack, job.wish);
  picture.heads = chosen_heads(stack, job.wish, member.where);
  if (!stack.has_heads) picture.heads.clear();  // a lone matrix is no "head 0"
  picture.reduced = job.wish.reduce != Reduce::none;
  picture.labels = layer_labels(job, stack, member);
  picture.visibility = layer.visibility.get();
  // A bare matrix does not say what it is; a labelled one without a name is a CSV of weights.
  picture.kind = !member.name.empty() ? member.name : member.labels.key_tokens.empty() ? "value" : "weights";
  return layer;
}

/// The arrays that one output shows: in HTML all of rank 3 and 4, else one.
std::vector<std::size_t> shown_members(const OpenedInput& input, const std::string& format) {
  std::vector<std::size_t> shown;
  if (format == "html" && !input.named)
    for (const std::size_t index : array_members(*input.file)) {
      const std::size_t rank = input.member(index).shape.size();
      if ((rank == 3 || rank == 4) && input.member(index).name != "allowed") shown.push_back(index);
    }
  return shown.empty() ? std::vector{pick_array(input)} : shown;
}

void draw(Job& job, const std::vector<std::size_t>& members, const std::vector<std::pair<Target, ByteSink*>>& outputs,
          const Words& words, Console& console) {
  Held held;
  for (const std::size_t member : members) held.layers.push_back(make_layer(job, member, console, held));
  PictureSpec spec;
  for (Layer& layer : held.layers) spec.layers.push_back(layer.picture);
  spec.version = kVersion;
  std::vector<std::unique_ptr<Picture>> pictures;
  std::vector<RowSink*> sinks;
  for (const auto& [target, bytes] : outputs) {
    spec.options = picture_options_for(target.path, picture_options(words, console), words);
    pictures.push_back(make_picture(target.format, spec, *bytes, console.run().budget));
    sinks.push_back(pictures.back().get());
  }
  Index first = 0;
  for (const Layer& layer : held.layers) {
    deliver_heads(job.input, layer.member, job.wish, job.reading, console, first, sinks);
    Index rows = 1;
    for (std::size_t axis = 0; axis + 1 < layer.picture.shape.size(); ++axis) rows *= layer.picture.shape[axis];
    first += rows;
  }
  for (const auto& picture : pictures) {
    picture->finish();
    const auto notes = picture->notes();
    job.notes.insert(job.notes.end(), notes.begin(), notes.end());
  }
}

Job open_job(const Words& words, Console& console) {
  Job job;
  job.reading = read_options(words);
  job.wish = head_wish(words);
  job.input = open_input(words.inputs.front(), job.reading, console);
  if (words.has("--tokens")) job.labels.query_tokens = token_list("--tokens", words.value("--tokens"), job.reading, console);
  if (words.has("--key-tokens"))
    job.labels.key_tokens = token_list("--key-tokens", words.value("--key-tokens"), job.reading, console);
  const std::string kind = words.value("--mask-kind", "keep");
  job.mask_kind = kind == "keep" ? MaskKind::keep : kind == "block" ? MaskKind::block : MaskKind::add;
  if (words.has("--mask")) job.mask = load_array(words.value("--mask"), job.reading, console);
  if (!job.mask && words.has("--mask-kind") && words.rank("--mask-kind") == Rank::command_line)
    fail(ErrorKind::usage, "--mask-kind is given without --mask");
  return job;
}

int run_render(const Words& words, Console& console) {
  const std::vector<Target> targets = render_targets(words, console);
  picture_options(words, console);  // wrong values are refused before a file is read
  Job job = open_job(words, console);
  OutputFiles files(words.has("--no-clobber"));
  // Outputs that show the same arrays share one pass over the input.
  std::vector<std::pair<std::vector<std::size_t>, std::vector<std::pair<Target, ByteSink*>>>> passes;
  for (const Target& target : targets) {
    const auto shown = shown_members(job.input, target.format);
    auto pass = std::find_if(passes.begin(), passes.end(), [&](const auto& p) { return p.first == shown; });
    if (pass == passes.end()) pass = passes.insert(passes.end(), {shown, {}});
    pass->second.emplace_back(target, &files.open(target.path));
  }
  if (passes.size() > 1 && !job.input.reopens())
    fail_with_hint(ErrorKind::usage, "save the input to a file first, or draw the pictures one by one",
                   "these outputs need the input twice, and ", printable(job.input.path), " can be read only once");
  for (std::size_t i = 0; i < passes.size(); ++i) {
    if (i > 0) job.input.file = open_array_file(job.input.path, job.reading, console.run());
    draw(job, passes[i].first, passes[i].second, words, console);
  }
  console.clear_progress();
  if (!files.commit()) return 0;  // the reader of standard output went away: no message either
  for (const std::string& note : job.notes) console.note(note);
  return 0;
}

std::vector<OptionSpec> output_specs() {
  return {{.name = "--output",
           .letter = 'o',
           .value = "FILE",
           .kind = ValueKind::file,
           .group = "Output",
           .help = "the picture: .png, .svg, .pdf, .html or .txt",
           .default_text = "the terminal",
           .repeatable = true},
          format_option("Output", "the format of - and of names that do not tell one", true),
          {.name = "--no-clobber", .group = "Output", .help = "refuse to replace a file"}};
}

std::vector<OptionSpec> choice_specs() {
  return {{.name = "--head",
           .value = "LIST",
           .kind = ValueKind::text,
           .group = "What is drawn",
           .help = "the heads: 3 or 0-3,7",
           .default_text = "all"},
          {.name = "--reduce",
           .value = "HOW",
           .kind = ValueKind::choice,
           .group = "What is drawn",
           .help = "one matrix from the heads",
           .default_text = "none",
           .choices = {"none", "mean", "max", "min"}},
          {.name = "--tokens",
           .value = "TEXT|@FILE",
           .kind = ValueKind::text,
           .group = "What is drawn",
           .help = "names of the queries, split at blanks; of the keys too if there are as many",
           .default_text = "those of the file"},
          {.name = "--key-tokens",
           .value = "TEXT|@FILE",
           .kind = ValueKind::text,
           .group = "What is drawn",
           .help = "names of the keys"},
          {.name = "--mask",
           .value = "FILE",
           .kind = ValueKind::file,
           .group = "What is drawn",
           .help = "which cells a mask had blocked; they get a look of their own"},
          {.name = "--mask-kind",
           .value = "WHICH",
           .kind = ValueKind::choice,
           .group = "What is drawn",
           .help = "whether a 1 of the mask lets through, blocks, or is added (-inf blocks)",
           .default_text = "keep",
           .choices = {"keep", "block", "add"}}};
}

std::vector<OptionSpec> render_options() {
  std::vector<OptionSpec> options = output_specs();
  for (const auto& specs : {choice_specs(), picture_option_specs()}) options.insert(options.end(), specs.begin(), specs.end());
  options.insert(options.end(), reading_options().begin(), reading_options().end());
  return options;
}

}  // namespace

const Command& render_command() {
  static const Command command{
      .name = "render",
      .summary = "draw a picture of any matrix",
      .usage = "render INPUT [-o FILE.png|svg|pdf|html|txt]... [options]",
      .examples = {"attn-cli render query.csv", "attn-cli compute cat.json --causal -w weights.json",
                   "attn-cli render weights.json -o heatmap.png --title \"The cat is cute\"",
                   "attn-cli render weights.json -o heatmap.svg --colormap magma --annotate always"},
      .description =
          "Draws the matrix of a CSV, JSON, npy, npz or safetensors file: rows are queries, columns are keys. "
          "One array of an archive is named as ARCHIVE:NAME; in HTML every array of rank 3 or 4 is a layer.",
      .min_inputs = 1,
      .max_inputs = 1,
      .options = render_options(),
      .run = run_render};
  return command;
}

}  // namespace attn::app
