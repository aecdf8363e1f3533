// The library in one page: two matrices in, causal attention weights out, as numbers and as a picture.
//   attention-sample                     "The cat is cute", each token its own direction
//   attention-sample QUERY KEY           two matrices of any format that attn reads, such as q.npy k.npy
// Prints one row of weights per query and writes heatmap.png.
#include <cstdio>
#include <memory>
#include <string>

#include "attn/attn.hpp"

namespace {

/// The only or first array of a file as float64, [n,d].
attn::Array read_matrix(const std::string& path, const attn::RunContext& run) {
  const std::unique_ptr<attn::ArrayFile> file = attn::open_array_file(path, {}, run);
  attn::Array array = attn::convert_array(file->read(0, run.budget), attn::DType::f64, run.budget, path);
  if (array.rank() != 2)
    attn::fail(attn::ErrorKind::mismatch, path, ": found shape ", attn::shape_text(array.shape), ", expected [n,d]");
  return array;
}

/// The identity: n tokens, each its own direction, [n,n].
attn::Array one_hot(attn::Index n, const attn::RunContext& run) {
  attn::Array array = attn::make_array(attn::DType::f64, {n, n}, run.budget, "the embeddings");
  for (attn::Index i = 0; i < n; ++i)
    for (attn::Index j = 0; j < n; ++j) array.data<double>()[i * n + j] = i == j ? 1 : 0;
  return array;
}

/// A view of one head: the library reads the numbers where they are.
attn::TensorView one_head(const attn::Array& array, const std::string& origin) {
  attn::TensorView view;
  view.dtype = array.dtype;
  view.data = array.data<double>();
  view.rows = array.shape[0];
  view.columns = view.row_stride = array.shape[1];
  view.batch_stride = view.head_stride = view.rows * view.columns;
  view.origin = origin;
  return view;
}

/// Takes finished rows of weights as they come; here they are printed.
class PrintedRows : public attn::RowSink {
 public:
  void encode(const attn::RowBlock& rows, std::string& encoded) const override {
    for (attn::Index r = 0; r < rows.count; ++r)
      for (attn::Index j = 0; j < rows.columns; ++j)
        encoded += attn::format_rounded(rows.row<double>(r)[j], 6) + (j + 1 < rows.columns ? " " : "\n");
  }
  void append(const attn::RowBlock&, std::string_view encoded) override {
    std::fwrite(encoded.data(), 1, encoded.size(), stdout);
  }
  void finish() override {}
};

void run_sample(const attn::Array& query, const attn::Array& key, const attn::AxisLabels& labels, const attn::RunContext& run) {
  attn::AttentionInputs inputs;
  inputs.query = one_head(query, "query");
  inputs.key = one_head(key, "key");
  inputs.masks.causal = true;

  attn::PictureLayer layer;
  layer.shape = {query.shape[0], key.shape[0]};
  layer.labels = labels;
  const std::unique_ptr<attn::Visibility> visibility = attn::make_visibility(inputs, {}, attn::Reduce::none);
  layer.visibility = visibility.get();
  attn::PictureSpec spec;
  spec.layers = {layer};
  spec.options.title = "causal attention";

  attn::OutputFiles files(false);  // heatmap.png is replaced when it is complete, or stays as it was
  const auto picture = attn::make_picture("png", spec, files.open("heatmap.png"), run.budget);
  PrintedRows printed;
  attn::AttentionOutputs outputs;
  outputs.weights.sinks = {&printed, picture.get()};
  const attn::AttentionReport report = attn::attend(inputs, {}, outputs, run);
  picture->finish();
  files.commit();
  for (const std::string& note : report.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  std::printf("mask: %s, scale: %s\n", report.mask_text.c_str(), attn::format_rounded(report.scale, 6).c_str());
}

}  // namespace

int main(int argc, char** argv) try {
  attn::RunContext run;
  run.threads = 2;
  run.budget = attn::MemoryBudget(attn::default_memory_limit());
  if (argc == 3) {
    run_sample(read_matrix(argv[1], run), read_matrix(argv[2], run), {}, run);
  } else {
    const std::vector<std::string> tokens{"The", "cat", "is", "cute"};
    const attn::Array embeddings = one_hot(static_cast<attn::Index>(tokens.size()), run);
    run_sample(embeddings, embeddings, {tokens, tokens}, run);
  }
  return 0;
} catch (const attn::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.kind());
}
