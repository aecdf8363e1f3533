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

std::string missing_folder_hint(const Error& error, const std::vector<std::string>& arguments) {
  std::error_code status;
  for (const std::string& argument : arguments) {
    const std::filesystem::path folder = std::filesystem::path(missing_path(argument, error.message())).parent_path();
    if (!folder.empty() && !std::filesystem::exists(folder, status))
      return concat("mkdir -p ", printable(folder.string(), 120), " makes the folder");
  }
  return {};
}

}  // namespace

std::string missing_file_hint(const Error& error, const Command& command, const std::vector<std::string>& arguments) {
  constexpr std::string_view kMissing = "No such file or directory";
  if (!error.message().ends_with(kMissing)) return {};
  if (error.kind() == ErrorKind::output) return missing_folder_hint(error, arguments);
  if (error.kind() != ErrorKind::malformed) return {};
  for (const std::string& argument : arguments) {
    const std::filesystem::path path = missing_path(argument, error.message());
    if (path.empty()) continue;
    std::error_code error_of_link;
    if (std::filesystem::is_symlink(path, error_of_link))
      return concat("'", printable(path.string(), 80), "' is a link to a file that is not there");
    const std::string hint = did_you_mean(path.string(), names_in(path.parent_path()));
    if (!hint.empty()) return hint;
    for (const OptionSpec& option : command.options)  // --mask causal
      if (option.value.empty() && option.name.substr(2) == path.string()) return concat("did you mean '", option.name, "'?");
    if (path.string().find("://") != std::string::npos)
      return "attn-cli reads files and pipes: fetch it first, - is standard input";
  }
  return "attn-cli demo -o DIR writes an example to start from";
}

}  // namespace attn::app
