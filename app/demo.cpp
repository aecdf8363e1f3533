#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "app/commands.hpp"
#include "app/console.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "attn/core/attention.hpp"
#include "attn/io/array_writer.hpp"
#include "attn/io/output_file.hpp"
#include "attn/render/picture.hpp"
#include "version.hpp"

namespace attn::app {
namespace {

constexpr Index kTokens = 4;
constexpr std::array<std::string_view, kTokens> kSentence{"The", "cat", "is", "cute"};

/// One embedding a token, each its own direction: the rows of the identity.
constexpr std::array<double, kTokens * kTokens> kEmbeddings{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

constexpr std::string_view kDocument = R"({
  "tokens": ["The", "cat", "is", "cute"],
  "embeddings": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
  "options": {"causal": true}
}
)";

AttentionInputs demo_inputs() {
  AttentionInputs inputs;
  TensorView& x = inputs.query;
  x.data = kEmbeddings.data();
  x.rows = x.columns = x.row_stride = kTokens;
  x.batch_stride = x.head_stride = kTokens * kTokens;
  x.origin = "the demo";
  inputs.key = x;
  inputs.masks.causal = true;
  return inputs;
}

AxisLabels demo_labels() {
  const std::vector<std::string> tokens(kSentence.begin(), kSentence.end());
  return {tokens, tokens};
}

std::unique_ptr<Picture> demo_picture(std::string_view format, const Visibility* visibility, const Console& console,
                                      ByteSink& bytes) {
  PictureSpec spec;
  PictureLayer layer;
  layer.name = "weights";
  layer.shape = {kTokens, kTokens};
  layer.labels = demo_labels();
  layer.visibility = visibility;
  spec.layers = {layer};
  spec.options.title = "The cat is cute, causal";
  if (format == "txt") spec.options.terminal_color = console.color();
  spec.options.terminal_columns = console.columns();
  spec.version = kVersion;
  return make_picture(format, spec, bytes, console.run().budget);
}

void make_folder(const std::string& folder) {
  constexpr mode_t kAll = 0777;  // less the umask
  if (mkdir(folder.c_str(), kAll) != 0 && errno != EEXIST)
    fail(ErrorKind::output, printable(folder), ": cannot make this folder: ", std::strerror(errno));
}

/// What is written and where it leads next.
std::string demo_files(const std::string& folder) {
  const std::string shown = printable(folder);
  return concat("\nWrote ", shown, "/document.json, ", shown, "/weights.json, ", shown, "/weights.csv and ", shown,
                "/heatmap.png. Go on with:\n  attn-cli compute ", shown, "/document.json -w weights.svg\n");
}

std::string demo_text() {
  return "\nEach row is a query: how much of its attention a token gives to itself and to the tokens before it.\n"
         "The embeddings are the rows of the identity, so the score of a token with itself is 1/sqrt(4) = 0.5\n"
         "and 0 with every other; softmax turns the scores of a row into weights. Go on with:\n"
         "  attn-cli demo -o DIR             its JSON, CSV and PNG\n"
         "  attn-cli compute doc.json        your own tokens and embeddings\n";
}

/// Takes the picture's text, to be printed.
class TextSink : public ByteSink {
 public:
  using ByteSink::write;
  void write(const void* bytes, std::size_t count) override { text.append(static_cast<const char*>(bytes), count); }
  std::string text;
};

/// The sinks of -o DIR; the files stand when commit has been called.
class DemoFolder {
 public:
  DemoFolder(const Words& words, const Visibility* visibility, double scale, const Console& console)
      : files_(words.has("--no-clobber")) {
    const std::string folder = words.value("--output");
    make_folder(folder);
    files_.open(folder + "/document.json").write(kDocument.data(), kDocument.size());
    ArrayHeader header;
    header.name = "weights";
    header.shape = {kTokens, kTokens};
    header.labels = demo_labels();
    header.facts = {{"scale", scale}, {"mask_text", std::string("causal, top-left")}};
    header.visibility = visibility;
    for (const char* format : {"json", "csv"})
      sinks_.push_back(make_array_writer(format, header, {}, files_.open(concat(folder, "/weights.", format))));
    sinks_.push_back(demo_picture("png", visibility, console, files_.open(folder + "/heatmap.png")));
  }

  void add_to(std::vector<RowSink*>& sinks) const {
    for (const auto& sink : sinks_) sinks.push_back(sink.get());
  }
  void finish() {
    for (const auto& sink : sinks_) sink->finish();
  }
  void commit() { files_.commit(); }

 private:
  OutputFiles files_;
  std::vector<std::unique_ptr<RowSink>> sinks_;
};

int run_demo(const Words& words, Console& console) {
  const AttentionInputs inputs = demo_inputs();
  AttentionOptions options;
  options.simd = forced_simd();
  const auto visibility = make_visibility(inputs, {}, Reduce::none);
  TextSink text;
  const auto picture = demo_picture("txt", visibility.get(), console, text);
  AttentionOutputs outputs;
  outputs.weights.sinks = {picture.get()};
  std::unique_ptr<DemoFolder> folder;
  if (words.has("--output")) {
    folder = std::make_unique<DemoFolder>(words, visibility.get(), check_attention(inputs, options).scale, console);
    folder->add_to(outputs.weights.sinks);
  }
  attend(inputs, options, outputs, console.run());
  picture->finish();
  console.print(text.text);
  if (folder) folder->finish();
  console.print(folder ? demo_files(words.value("--output")) : demo_text());
  // The text first: when it cannot be written, no file is replaced.
  if (console.flush() && folder) folder->commit();
  return 0;
}

}  // namespace

const Command& demo_command() {
  static const Command command{
      .name = "demo",
      .summary = "show the example \"The cat is cute\", causal",
      .usage = "demo [-o DIR]",
      .examples = {"attn-cli demo", "attn-cli demo -o out"},
      .description = "Four tokens with one-hot embeddings attend to themselves and to the tokens before them.",
      .options = {{.name = "--output",
                   .letter = 'o',
                   .value = "DIR",
                   .kind = ValueKind::file,
                   .group = "Output",
                   .help =
                       "write document.json, weights.json, weights.csv and heatmap.png into this folder, made if it is missing"},
                  {.name = "--no-clobber", .group = "Output", .help = "refuse to replace a file"}},
      .run = run_demo};
  return command;
}

}  // namespace attn::app
