#include "app/document.hpp"

#include <algorithm>
#include <array>

#include "app/suggest.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn::app {

namespace {

enum class FieldKind { array, weight, list, tokens, key_tokens, mask_kind, options, meta };

/// One name that may stand in a document.
struct FieldName {
  std::string_view name;
  FieldKind kind;
  Input input = Input::query;  ///< of arrays and weights
  bool torch = false;          ///< the matrix is [out,in]
};

constexpr FieldName array_name(std::string_view name, Input input) { return {name, FieldKind::array, input}; }
constexpr FieldName paper_name(std::string_view name, Input input) { return {name, FieldKind::weight, input}; }
constexpr FieldName torch_name(std::string_view name, Input input) { return {name, FieldKind::weight, input, true}; }

/// THE LIST of names.
constexpr FieldName kFieldNames[] = {
    array_name("query", Input::query),
    array_name("key", Input::key),
    array_name("value", Input::value),
    array_name("embeddings", Input::embeddings),
    array_name("context", Input::context),
    {"tokens", FieldKind::tokens},
    {"query_tokens", FieldKind::tokens},
    {"key_tokens", FieldKind::key_tokens},
    {"context_tokens", FieldKind::key_tokens},
    paper_name("W_Q", Input::w_q),
    paper_name("W_K", Input::w_k),
    paper_name("W_V", Input::w_v),
    paper_name("W_O", Input::w_o),
    paper_name("W_QKV", Input::w_qkv),
    paper_name("b_Q", Input::b_q),
    paper_name("b_K", Input::b_k),
    paper_name("b_V", Input::b_v),
    paper_name("b_O", Input::b_o),
    paper_name("b_QKV", Input::b_qkv),
    torch_name("in_proj_weight", Input::w_qkv),
    torch_name("in_proj_bias", Input::b_qkv),
    torch_name("q_proj_weight", Input::w_q),
    torch_name("k_proj_weight", Input::w_k),
    torch_name("v_proj_weight", Input::w_v),
    torch_name("out_proj.weight", Input::w_o),
    torch_name("out_proj.bias", Input::b_o),
    array_name("mask", Input::mask),
    {"mask_kind", FieldKind::mask_kind},
    array_name("bias", Input::bias),
    {"key_lengths", FieldKind::list},
    array_name("past_key", Input::past_key),
    array_name("past_value", Input::past_value),
    array_name("sinks", Input::sinks),
    {"documents", FieldKind::list},
    {"query_documents", FieldKind::list},
    {"options", FieldKind::options},
    {"meta", FieldKind::meta},
};

/// Names that others give to these things.
struct UsualName {
  std::string_view usual, meant, option;
};
constexpr UsualName kUsualNames[] = {{"q", "query", "-Q"},
                                     {"Q", "query", "-Q"},
                                     {"queries", "query", "-Q"},
                                     {"k", "key", "-K"},
                                     {"K", "key", "-K"},
                                     {"keys", "key", "-K"},
                                     {"v", "value", "-V"},
                                     {"V", "value", "-V"},
                                     {"values", "value", "-V"},
                                     {"x", "embeddings", "-X"},
                                     {"X", "embeddings", "-X"},
                                     {"hidden_states", "embeddings", "-X"},
                                     {"attn_mask", "mask", "--mask"},
                                     {"attention_mask", "mask", "--mask"}};

/// What a document's options may set: what numbers mean, never a file, a limit or an output.
constexpr std::string_view kOptionNames[] = {"heads", "kv-heads",     "scale",  "softcap",       "causal",
                                             "align", "query-offset", "window", "prefix",        "mask-kind",
                                             "alibi", "empty-rows",   "layout", "weight-layout", "precision"};

const FieldName* find_name(std::string_view name) {
  const auto row =
      std::find_if(std::begin(kFieldNames), std::end(kFieldNames), [&](const FieldName& f) { return f.name == name; });
  return row == std::end(kFieldNames) ? nullptr : row;
}

std::vector<std::string> known_names(bool weights_only) {
  std::vector<std::string> names;
  for (const FieldName& field : kFieldNames)
    if (!weights_only || field.kind == FieldKind::weight) names.emplace_back(field.name);
  return names;
}

[[noreturn]] void fail_kind(const Member& member, std::string_view expected) {
  constexpr std::string_view kFound[] = {"an array of numbers", "a list of strings", "a text", "a single value", "an object"};
  const std::string_view found = member.kind == MemberKind::other ? member.found : kFound[static_cast<std::size_t>(member.kind)];
  fail(ErrorKind::malformed, member.where, ": found ", printable(found, 60), ", expected ", expected);
}

/// Takes a text that may stand as it is or quoted, as in the metadata of safetensors.
std::string plain_text(const Member& member) {
  if (member.kind != MemberKind::text) fail_kind(member, "a text");
  if (const auto quoted = parse_string_list(concat("[", member.text, "]")); quoted && quoted->size() == 1) return quoted->front();
  return member.text;
}

std::vector<std::string> string_list(const Member& member) {
  if (member.kind == MemberKind::strings) return member.strings;
  if (member.kind == MemberKind::text)
    if (auto list = parse_string_list(member.text)) return *list;
  fail_kind(member, "a list of strings");
}

class Reader {
 public:
  Reader(ArrayFile& file, bool weights_only) : weights_only_(weights_only) { document_.file = &file; }

  Document read() {
    for (const Member& member : document_.file->members()) take(member);
    return std::move(document_);
  }

 private:
  void take(const Member& member) {
    const FieldName* field = find_name(member.name);
    if (field && weights_only_ && field->kind != FieldKind::weight && field->kind != FieldKind::meta) field = nullptr;
    if (!field) return refuse_unknown(member);
    switch (field->kind) {
      case FieldKind::array:
      case FieldKind::weight:
        return take_array(*field, member);
      case FieldKind::list:
        return take_list(*field, member);
      case FieldKind::tokens:
        return take_tokens(member, document_.tokens, document_.tokens_where);
      case FieldKind::key_tokens:
        return take_tokens(member, document_.key_tokens, document_.key_tokens_where);
      case FieldKind::mask_kind:
        document_.mask_kind = plain_text(member);
        document_.mask_kind_where = member.where;
        return;
      case FieldKind::options:
        return take_options(member);
      case FieldKind::meta:
        return;
    }
  }

  void refuse_unknown(const Member& member) const {
    // Metadata of safetensors belongs to whoever wrote the file, such as {"format":"pt"}.
    if (document_.file->format() == "safetensors" && member.kind != MemberKind::array) return;
    const auto known = known_names(weights_only_);
    if (member.name.empty()) refuse_nameless(member);
    std::string hint = did_you_mean(member.name, known);
    for (const auto& [usual, meant, option] : kUsualNames)
      if (member.name == usual && !weights_only_)
        hint = concat("did you mean '", meant, "'? As it is, ", option, " FILE:", usual, " takes it");
    constexpr std::string_view kResults[] = {"schema", "weights", "scores", "output", "lse", "present_key", "present_value"};
    if (std::find(std::begin(kResults), std::end(kResults), member.name) != std::end(kResults))
      hint = "this file holds results; inspect, render and diff read it, and -X FILE:NAME takes one array of it";
    if (hint.empty()) hint = concat("known names: ", word_list(known, known.size()));
    fail_with_hint(ErrorKind::malformed, hint, member.where, ": no field has the name '", printable(member.name, 60), "'");
  }

  void refuse_nameless(const Member& member) const {
    constexpr std::string_view kExpected = "expected an object with names such as embeddings, or query, key and value";
    if (member.kind != MemberKind::array) fail_kind(member, kExpected.substr(9));
    fail_with_hint(ErrorKind::malformed, concat("give a single matrix as -X ", printable(document_.file->name(), 80)),
                   member.where, ": found an array without a name, ", kExpected);
  }

  void take_array(const FieldName& field, const Member& member) {
    if (member.kind != MemberKind::array) fail_kind(member, "an array of numbers");
    const auto [place, fresh] = document_.arrays.emplace(field.input, &member);
    if (!fresh)
      fail(ErrorKind::malformed, member.where, ": means the same as '", place->second->name, "', which stands there too");
  }

  void take_list(const FieldName& field, const Member& member) {
    if (member.kind != MemberKind::array && member.kind != MemberKind::scalar) fail_kind(member, "a list of whole numbers");
    (field.name == "key_lengths" ? document_.key_lengths
     : field.name == "documents" ? document_.documents
                                 : document_.query_documents) = &member;
  }

  void take_tokens(const Member& member, std::vector<std::string>& tokens, std::string& where) {
    if (!where.empty()) fail(ErrorKind::malformed, member.where, ": means the same as ", where);
    tokens = string_list(member);
    where = member.where;
  }

  void take_options(const Member& member) {
    document_.options_where = member.where;
    if (member.kind == MemberKind::object) {
      document_.options = member.fields;
      return;
    }
    auto fields = member.kind == MemberKind::text ? parse_flat_object(member.text) : std::nullopt;
    if (!fields) fail_kind(member, "an object such as {\"heads\":2,\"causal\":true}");
    document_.options = std::move(*fields);
  }

  Document document_;
  bool weights_only_;
};

/// A map from tokens to vectors has no name that is, or nearly is, one of the known names.
bool looks_like_token_map(const ArrayFile& file) {
  if (!is_token_map(file)) return false;
  const auto known = known_names(false);
  return std::none_of(file.members().begin(), file.members().end(),
                      [&](const Member& member) { return find_name(member.name) || nearest(member.name, known); });
}

void check_option_names(const Document& document) {
  const auto known = as_strings(kOptionNames);
  for (const auto& [name, value] : document.options)
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string hint = did_you_mean(name, known);
      if (hint.empty()) hint = concat("a document may set ", word_list(known, known.size()));
      fail_with_hint(ErrorKind::malformed, hint, document.options_where, "/", printable(name, 60), ": a document cannot set '",
                     printable(name, 60), "'");
    }
}

bool is_flag(std::string_view name) { return name == "causal" || name == "alibi"; }

void add_option(const std::string& name, const std::string& value, const std::string& options_where, Words& words) {
  const std::string option = "--" + name;
  const std::string where = concat(options_where, "/", name);
  if (is_flag(name) && value != "true" && value != "false")
    fail(ErrorKind::malformed, where, ": found ", printable(value, 60), ", expected true or false");
  if (value == "false" && is_flag(name))
    words.add_off(option, where);
  else
    words.add_default(option, value, where);
}

/// A fault of options that a document sets is told as one of the document, at `where`.
void check_options(const std::string& where, std::string_view option, const Words& options, const Console& console) {
  try {
    resolve_compute(options, console);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    const std::string named = concat(option, ": ");
    const std::string& message = error.message();
    throw Error(ErrorKind::malformed, concat(where, ": ", message.starts_with(named) ? message.substr(named.size()) : message),
                error.hint());
  }
}

/// The options must make sense one by one and together, whatever the command line says.
void check_options(const Document& document, const Words& options, const Console& console) {
  for (const auto& [name, value] : document.options) {
    Words alone;
    add_option(name, value, document.options_where, alone);
    check_options(concat(document.options_where, "/", name), "--" + name, alone, console);
  }
  check_options(document.options_where, {}, options, console);
}

void add_mask_kind(const Document& document, Words& options) {
  if (!document.mask_kind) return;
  const std::string& kind = *document.mask_kind;
  if (options.has("--mask-kind") && options.value("--mask-kind") != kind)
    fail(ErrorKind::malformed, document.mask_kind_where, ": is '", printable(kind, 40), "' but ", document.options_where,
         "/mask-kind is '", printable(options.value("--mask-kind"), 40), "'");
  constexpr std::string_view kKinds[] = {"keep", "block", "add"};
  if (std::find(std::begin(kKinds), std::end(kKinds), kind) == std::end(kKinds))
    fail_with_hint(ErrorKind::malformed, did_you_mean(kind, as_strings(kKinds)), document.mask_kind_where, ": found '",
                   printable(kind, 40), "', expected keep, block or add");
  options.add_default("--mask-kind", kind, document.mask_kind_where);
}

}  // namespace

Document read_document(const std::string& path, InputFiles& files) {
  const FileReference place = parse_file_reference(path);
  if (!place.member.empty())
    fail_with_hint(ErrorKind::usage, concat("give one array as -X ", printable(path, 80)), "'", printable(path, 80),
                   "' names one array; a document is a whole file");
  ArrayFile& file = files.open(path);
  if (looks_like_token_map(file)) {
    Document document;
    document.file = &file;
    document.token_map = true;
    return document;
  }
  return Reader(file, false).read();
}

Document read_projections(const std::string& path, InputFiles& files) { return Reader(files.open(path), true).read(); }

bool apply_options(const Document& document, Words& words, const Console& console) {
  check_option_names(document);
  Words options;
  for (const auto& [name, value] : document.options) add_option(name, value, document.options_where, options);
  add_mask_kind(document, options);
  check_options(document, options, console);
  const bool any = !document.options.empty() || document.mask_kind;
  for (const auto& [name, value] : document.options) add_option(name, value, document.options_where, words);
  words.settle("--align", "--query-offset");
  if (document.mask_kind && !words.has("--mask-kind"))
    words.add_default("--mask-kind", *document.mask_kind, document.mask_kind_where);
  return any;
}

bool is_document_name(std::string_view member) { return find_name(member) != nullptr; }

bool is_torch_name(std::string_view member) {
  return std::any_of(std::begin(kFieldNames), std::end(kFieldNames), [&](const FieldName& field) {
    if (!field.torch) return false;
    return member == field.name || member.ends_with(concat(".", field.name));
  });
}

std::vector<Index> document_list(const Document& document, const Member& member, const MemoryBudget& budget) {
  if (member.kind == MemberKind::scalar) {
    const auto number = parse_integer(member.text);
    if (!number) fail(ErrorKind::malformed, member.where, ": found ", printable(member.text, 60), ", expected a whole number");
    return {*number};
  }
  const LoadedArray loaded = read_member(*document.file, member, budget);
  return whole_numbers(loaded.array, loaded.origin);
}

}  // namespace attn::app
