#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "app/prepare.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn::app {

namespace {

/// Masks, biases and sinks keep the type of their file and do not decide the precision.
bool is_operand(Input input) { return input != Input::mask && input != Input::bias && input != Input::sinks; }

bool is_weight(Input input) { return input >= Input::w_q && input <= Input::b_qkv; }

bool needs_float64(const Source& source) {
  const DType dtype = source.array->dtype;
  return source.is_text || dtype == DType::f64 || dtype == DType::i32 || dtype == DType::i64 || dtype == DType::u32 ||
         dtype == DType::u64;
}

/// The end of a long place tells most: the file's name, and the member in it. Messages name several places in a line.
std::string short_place(const std::string& place) {
  constexpr std::size_t kMost = 80;
  if (place.size() <= kMost) return place;
  std::size_t begin = place.size() - (kMost - 3);
  while ((static_cast<unsigned char>(place[begin]) & 0xc0) == 0x80) ++begin;  // not within a character
  return concat("...", place.substr(begin));
}

/// What is true or false in a text is no number; archives have a type for both, and say so on purpose.
void refuse_booleans(const LoadedArray& loaded) {
  if (loaded.is_text && loaded.array.dtype == DType::boolean)
    fail(ErrorKind::malformed, loaded.origin, ": found true and false, expected numbers; only a mask may hold them");
}

Source source_of(Input input, LoadedArray loaded, bool from_option) {
  if (input != Input::mask) refuse_booleans(loaded);
  Source source;
  source.array = std::make_shared<const Array>(std::move(loaded.array));
  source.origin = short_place(loaded.origin);
  source.member = std::move(loaded.member);
  source.labels = std::move(loaded.labels.query_tokens);
  source.is_text = loaded.is_text;
  source.from_option = from_option;
  return source;
}

std::string place_text(const Array& array, Index element) {
  if (array.rank() == 1) return concat("[", element, "]");
  std::string text;
  for (std::size_t axis = array.shape.size(); axis-- > 0;) {
    text = concat(element % array.shape[axis], text.empty() ? "" : ",", text);
    element /= array.shape[axis];
  }
  return concat("[", text, "]");
}

/// A float64 beyond float32 would turn into infinity without a word.
void refuse_beyond_float32(const Array& array, const std::string& origin) {
  if (array.dtype != DType::f64) return;
  constexpr double kMost = 3.4028235677973366e38;  // halfway to the next power of two: rounds to infinity from here
  const double* values = array.data<double>();
  for (Index i = 0; i < array.size(); ++i)
    if (std::isfinite(values[i]) && std::fabs(values[i]) >= kMost)
      fail_with_hint(ErrorKind::mismatch, "compute with --precision float64", origin, ": ", format_number(values[i]), " at ",
                     place_text(array, i), " is beyond float32");
}

/// Converts each array once, however many inputs share it.
class Converter {
 public:
  Converter(DType dtype, const MemoryBudget& budget) : dtype_(dtype), budget_(budget) {}

  void convert(Source& source) {
    if (source.array->dtype == dtype_) return;
    std::shared_ptr<const Array>& converted = converted_[source.array.get()];
    if (!converted) {
      if (dtype_ == DType::f32) refuse_beyond_float32(*source.array, source.origin);
      converted = std::make_shared<const Array>(convert_array(*source.array, dtype_, budget_, source.origin));
    }
    source.array = converted;
  }

 private:
  DType dtype_;
  const MemoryBudget& budget_;
  std::map<const Array*, std::shared_ptr<const Array>> converted_;
};

bool is_regular_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

class Loader {
 public:
  Loader(const ComputeRequest& request, const Document& document, InputFiles& files)
      : request_(request), document_(document), files_(files) {}

  Sources load() {
    if (!request_.projections.empty()) projections_ = read_projections(request_.projections, files_);
    check_families();
    plan_memory();
    for (const auto& [input, file] : request_.files) load_option(input, file);
    for (const auto& [input, member] : projections_.arrays) load_field(projections_, input, *member);
    for (const auto& [input, member] : document_.arrays) load_field(document_, input, *member);
    if (document_.token_map && !sources_.has(Input::embeddings)) load_token_map();
    load_lists();
    load_tokens();
    check_weights();
    choose_precision();
    return std::move(sources_);
  }

 private:
  bool given(Input input) const { return request_.files.contains(input) || document_.has(input); }
  /// A contradiction is the command line's fault as soon as an option takes part in it.
  ErrorKind blame(std::initializer_list<Input> inputs) const {
    const bool typed = std::any_of(inputs.begin(), inputs.end(), [&](Input input) { return request_.files.contains(input); });
    return typed || !document_.file ? ErrorKind::usage : ErrorKind::malformed;
  }
  std::string place() const { return document_.file ? concat(shown_name(*document_.file), ": ") : std::string(); }

  void check_families() const {
    const bool matrices = given(Input::query) || given(Input::key) || given(Input::value);
    const bool embedded = given(Input::embeddings) || given(Input::context);
    if (matrices && embedded)
      fail(blame({Input::query, Input::key, Input::value, Input::embeddings, Input::context}), place(),
           "query, key and value do not go together with embeddings and context; give the one or the other");
    if (given(Input::context) && !given(Input::embeddings))
      fail(blame({Input::context}), place(), "a context needs embeddings, whose rows are the queries");
    if (!embedded && !matrices)
      fail_with_hint(blame({}), "give a document, or -Q, -K and -V, or -X", place(), "no query and no embeddings to work on");
    for (const Input input : {Input::query, Input::key})
      if (matrices && !given(input))
        fail_with_hint(blame({Input::query, Input::key, Input::value}),
                       input == Input::query ? "give it as -Q FILE" : "give it as -K FILE", place(), "no ",
                       option_of(input).substr(2), "; attention needs query and key, and a value for an output");
    check_pairs();
  }

  void check_pairs() const {
    const bool valued = given(Input::value) || given(Input::embeddings);
    if (given(Input::past_value) && !given(Input::past_key))
      fail(blame({Input::past_value}), place(), "past values without past keys");
    if (given(Input::past_key) && valued && !given(Input::past_value))
      fail(blame({Input::past_key}), place(), "past keys without past values");
    if (given(Input::past_value) && !valued) fail(blame({Input::past_value}), place(), "past values, but no value to go on with");
    for (const Input input : {Input::w_v, Input::w_o, Input::b_v, Input::b_o})
      if (request_.files.contains(input) && !valued) fail(ErrorKind::usage, option_of(input), " has no value to work on");
    if (!request_.mask_kind || given(Input::mask)) return;
    if (request_.mask_kind_rank == Rank::document)
      fail(ErrorKind::malformed, request_.mask_kind_source, " is given, but no mask");
    if (request_.mask_kind_rank == Rank::command_line) fail(ErrorKind::usage, "--mask-kind is given, but no mask");
  }

  /// Refuses from headers alone what would not fit.
  void plan_memory() {
    std::size_t bytes = 0;
    for (const auto& [input, member] : planned_arrays()) {
      const std::size_t one = checked_bytes(member->shape, member->dtype, member->where);
      files_.run().budget.require(one, member->where);
      bytes = add_sizes(bytes, one);
    }
    files_.run().budget.require(bytes, "reading the inputs");
    const std::size_t output = planned_output();
    if (output > 0) files_.run().budget.require(add_sizes(bytes, output), "the output, beside the inputs,");
  }

  static std::size_t add_sizes(std::size_t a, std::size_t b) {
    return a > std::numeric_limits<std::size_t>::max() - b ? std::numeric_limits<std::size_t>::max() : a + b;
  }

  /// The arrays whose size is known before they are read, each once. Text is read when it is opened, and pipes have to
  /// wait for their turn.
  std::map<Input, const Member*> planned_arrays() {
    std::map<Input, const Member*> planned;
    for (const Document* document : {&document_, static_cast<const Document*>(&projections_)})
      for (const auto& [input, member] : document->arrays)
        if (!request_.files.contains(input)) planned.emplace(input, member);
    std::set<const Member*> counted;
    for (const auto& [input, file] : request_.files) {
      const Member* member = member_in_regular_file(file);
      if (member && counted.insert(member).second) planned.emplace(input, member);
    }
    return planned;
  }

  const Member* planned_array(std::initializer_list<Input> inputs) {
    for (const Input input : inputs) {
      if (request_.files.contains(input)) return member_in_regular_file(request_.files.at(input));
      if (document_.arrays.contains(input)) return document_.arrays.at(input);
    }
    return nullptr;
  }

  /// The array that an option means; null where it takes reading to know.
  const Member* member_in_regular_file(const std::string& reference) {
    const FileReference place = parse_file_reference(reference);
    if (!is_regular_file(place.path)) return nullptr;
    const ArrayFile& file = files_.open(place.path);
    const Member* found = place.member.empty() ? nullptr : file.find(place.member);
    if (place.member.empty() && file.members().size() == 1) found = &file.members().front();
    return found && found->kind == MemberKind::array && !found->is_text ? found : nullptr;
  }

  /// What F(Q) takes at least, which is gathered in memory; 0 where projections make its size.
  std::size_t planned_output() {
    const auto weights = {Input::w_q, Input::w_k, Input::w_v, Input::w_o, Input::w_qkv};
    const bool projected = std::any_of(weights.begin(), weights.end(), [this](Input input) { return given(input); });
    if (!request_.wants(Result::output) || projected || !request_.projections.empty()) return 0;
    const Member* query = planned_array({Input::query, Input::embeddings});
    const Member* value = planned_array({Input::value, Input::context, Input::embeddings});
    if (!query || !value || query->shape.size() < 2 || value->shape.size() < 2) return 0;
    Shape shape = query->shape;
    shape.back() = value->shape.back();
    return checked_bytes(shape, DType::f32, "the output");
  }

  /// The input that was loaded already from the same file and member, such as -K of `-Q x.npy -K x.npy`.
  const Source* loaded_before(Input input, const std::string& file) const {
    for (const auto& [other, source] : sources_.arrays)
      if (other != input && request_.files.contains(other) && request_.files.at(other) == file && is_operand(other))
        return &source;
    return nullptr;
  }

  void load_option(Input input, const std::string& file) {
    const bool embedded = input == Input::embeddings || input == Input::context;
    if (const Source* same = loaded_before(input, file); same && is_operand(input) && !embedded) {
      files_.open(parse_file_reference(file).path);  // refuses a pipe, which cannot be read twice
      sources_.arrays.emplace(input, *same);
      return;
    }
    LoadedArray loaded = embedded ? load_embeddings(file, files_) : load_array(file, files_);
    sources_.arrays.emplace(input, source_of(input, std::move(loaded), true));
  }

  void load_field(const Document& document, Input input, const Member& member) {
    if (sources_.has(input)) return;
    sources_.arrays.emplace(input, source_of(input, read_member(*document.file, member, files_.run().budget), false));
  }

  void load_token_map() {
    sources_.arrays.emplace(Input::embeddings,
                            source_of(Input::embeddings, read_token_map(*document_.file, files_.run().budget), false));
  }

  std::vector<Index> list(std::string_view option, const std::optional<std::string>& typed, const Member* field) {
    if (typed) return number_list(option, *typed, files_);
    return field ? document_list(document_, *field, files_.run().budget) : std::vector<Index>();
  }

  void load_lists() {
    sources_.key_lengths = list("--key-lengths", request_.key_lengths, document_.key_lengths);
    sources_.documents = list("--documents", request_.documents, document_.documents);
    sources_.query_documents = list("--query-documents", request_.query_documents, document_.query_documents);
    if (!sources_.query_documents.empty() && sources_.documents.empty())
      fail(request_.query_documents ? ErrorKind::usage : ErrorKind::malformed, place(),
           "documents of queries are given, but none of keys (--documents)");
  }

  void load_tokens() {
    sources_.tokens = document_.tokens;
    sources_.tokens_where = document_.tokens_where;
    sources_.key_tokens = document_.key_tokens;
    sources_.key_tokens_where = document_.key_tokens_where;
    if (request_.tokens) {
      sources_.tokens = token_list("--tokens", *request_.tokens, files_);
      sources_.tokens_where = "--tokens";
    }
    if (request_.key_tokens) {
      sources_.key_tokens = token_list("--key-tokens", *request_.key_tokens, files_);
      sources_.key_tokens_where = "--key-tokens";
    }
  }

  void check_weights() const {
    const auto refuse = [&](Input packed, std::initializer_list<Input> parts) {
      if (!sources_.has(packed)) return;
      for (const Input part : parts)
        if (sources_.has(part))
          fail(blame({packed, part}), sources_.at(packed).origin, " and ", sources_.at(part).origin, " both give the same ",
               packed == Input::w_qkv ? "weights" : "biases", "; give them packed or one by one");
    };
    refuse(Input::w_qkv, {Input::w_q, Input::w_k, Input::w_v});
    refuse(Input::b_qkv, {Input::b_q, Input::b_k, Input::b_v});
  }

  void choose_precision() {
    sources_.dtype = request_.precision == Precision::float64 ? DType::f64 : DType::f32;
    for (const auto& [input, source] : sources_.arrays)
      if (request_.precision == Precision::automatic && is_operand(input) && needs_float64(source)) sources_.dtype = DType::f64;
    Converter converter(sources_.dtype, files_.run().budget);
    for (auto& [input, source] : sources_.arrays)
      if (is_operand(input)) converter.convert(source);
    for (const auto& [input, source] : sources_.arrays)
      if ((is_weight(input) || input == Input::sinks) && !request_.attention.allow_nonfinite) refuse_nonfinite(source);
  }

  const ComputeRequest& request_;
  const Document& document_;
  InputFiles& files_;
  Document projections_;
  Sources sources_;
};

}  // namespace

Sources load_sources(const ComputeRequest& request, const Document& document, InputFiles& files) {
  return Loader(request, document, files).load();
}

}  // namespace attn::app
