#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/compute_args.hpp"
#include "app/inputs.hpp"

namespace attn::app {

/// A file of named arrays, tokens and options, looked through but with its arrays not yet read.
struct Document {
  ArrayFile* file = nullptr;  ///< owned by the InputFiles; null without a document
  std::map<Input, const Member*> arrays;
  const Member* key_lengths = nullptr;  ///< each of these three an array or one number
  const Member* documents = nullptr;
  const Member* query_documents = nullptr;
  std::vector<std::string> tokens, key_tokens;
  std::string tokens_where, key_tokens_where;
  std::optional<std::string> mask_kind;
  std::string mask_kind_where;
  std::vector<std::pair<std::string, std::string>> options;  ///< name without dashes, value as text
  std::string options_where;
  bool token_map = false;  ///< the whole file is {"The":[..],"cat":[..]}

  bool has(Input input) const { return arrays.contains(input) || (token_map && input == Input::embeddings); }
};

/// Finds out what a document holds. Throws `malformed` for a name that has no meaning, for two names of one meaning,
/// and for a name whose content is of the wrong kind.
Document read_document(const std::string& path, InputFiles& files);
/// The same for --projections: only the names of weights and biases have a meaning.
Document read_projections(const std::string& path, InputFiles& files);

/// Adds the document's options to the words, below what was typed. Throws `malformed` for what it may not set and for
/// values that are wrong. Returns whether there were any.
bool apply_options(const Document& document, Words& words, const Console& console);

/// Whether a document's array of this name is something else than results.
bool is_document_name(std::string_view member);
/// Whether a name is one that torch gives, so that the matrix is [out,in].
bool is_torch_name(std::string_view member);

/// The numbers of one of the lists of a document.
std::vector<Index> document_list(const Document& document, const Member& member, const MemoryBudget& budget);

}  // namespace attn::app
