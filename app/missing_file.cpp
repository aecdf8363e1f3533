#include "app/missing_file.hpp"

#include <filesystem>

#include "app/suggest.hpp"
#include "attn/base/text.hpp"

namespace attn::app {
namespace {

/// Names of a folder; of a large one only some, for a hint need not be found at any price.
std::vector<std::string> names_in(const std::filesystem::path& folder) {
  constexpr std::size_t kMost = 2000;
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder.empty() ? "." : folder, error);
  for (; !error && entry != std::filesystem::directory_iterator() && names.size() < kMost; entry.increment(error))
    names.push_back((folder / entry->path().filename()).string());
  return names;
}

/// The path in an argument such as q.csv, @tokens.txt, --query=q.csv or -Qq.csv, if the message is about it.
std::string missing_path(const std::string& argument, const std::string& message) {
  for (const std::size_t begin : {std::size_t{0}, argument.find('=') + 1, std::size_t{1}, std::size_t{2}}) {
    if (begin >= argument.size()) continue;
    const std::string path = argument.substr(begin);
    if (message.find(concat("'", printable(path), "'")) != std::string::npos) return path;
  }
  return {};
}

}  // namespace

std::string missing_file_hint(const Error& error, const std::vector<std::string>& arguments) {
  constexpr std::string_view kMissing = "No such file or directory";
  if (error.kind() != ErrorKind::malformed || !error.message().ends_with(kMissing)) return {};
  for (const std::string& argument : arguments) {
    const std::filesystem::path path = missing_path(argument, error.message());
    if (path.empty()) continue;
    std::error_code error_of_link;
    if (std::filesystem::is_symlink(path, error_of_link))
      return concat("'", printable(path.string(), 80), "' is a link to a file that is not there");
    const std::string hint = did_you_mean(path.string(), names_in(path.parent_path()));
    if (!hint.empty()) return hint;
  }
  return "attn-cli demo -o DIR writes an example to start from";
}

}  // namespace attn::app
