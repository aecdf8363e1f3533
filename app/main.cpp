// attn-cli: words in, exit code out. Here errors become text, and nowhere else.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "app/config.hpp"
#include "app/console.hpp"
#include "app/help.hpp"
#include "app/missing_file.hpp"
#include "app/suggest.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "attn/io/output_file.hpp"

namespace attn::app {
namespace {

constexpr std::size_t kErrorBytes = 270;  // with the prefix, a line of about 300 bytes at most

void complain(std::string_view text) noexcept {
  try {
    write_stream(STDERR_FILENO, text);
  } catch (...) {
    // Standard error is gone; the exit code still tells.
  }
}

int report(Console& console, const Error& error, const std::string& hint) {
  console.clear_progress();
  std::string text = concat("attn-cli: error: ", printable(error.message(), kErrorBytes), "\n");
  if (!hint.empty()) text += concat("attn-cli: hint: ", printable(hint, kErrorBytes), "\n");
  complain(text);
  return static_cast<int>(error.kind());
}

std::string hint_of(const Error& error, const Command& command, const std::vector<std::string>& arguments) {
  const bool by_input = error.kind() == ErrorKind::malformed || error.kind() == ErrorKind::mismatch;
  // -q before the query's file makes a document of it: the error is about the document, the slip is the letter.
  const std::string letter = by_input ? letter_hint(command, arguments) : std::string();
  if (!letter.empty()) return letter;
  return error.hint().empty() ? missing_file_hint(error, command, arguments) : error.hint();
}

int run_command(const Command& command, const std::vector<std::string>& arguments, Console& console) {
  Words words;
  try {
    words = parse_words(command, arguments);
    int code = 0;
    if (words.has("--help")) {
      console.print(command_help(command));
    } else if (words.has("--version")) {
      console.print(version_text(console.run().threads));
    } else {
      add_defaults(command, words);
      console.configure(words);
      tell_sources(words, console);
      forced_simd();
      code = command.run(words, console);
    }
    console.finish();
    return code;
  } catch (const Error& error) {
    return report(console, with_source(error, words), hint_of(error, command, arguments));
  }
}

const Command* find_command(std::string_view name) {
  for (const Command& command : commands())
    if (command.name == name) return &command;
  return nullptr;
}

[[noreturn]] void fail_subcommand(const std::string& word) {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  if (word.size() > 1 && word[0] == '-')
    fail_with_hint(ErrorKind::usage, concat("attn-cli SUBCOMMAND ", printable(word, 80), " ..., with one of ", word_list(names)),
                   "found option '", printable(word, 80), "' where a subcommand is expected");
  std::vector<std::string> meant = names;
  meant.insert(meant.end(), {"help", "--help", "--version"});
  std::string hint = did_you_mean(word, meant);
  if (hint.empty() && access(word.c_str(), F_OK) == 0) hint = concat("attn-cli compute ", printable(word, 80));
  if (hint.empty() && word.find(' ') != std::string::npos)
    hint = "tokens need embeddings, together in a document: attn-cli demo -o DIR writes one";
  if (hint.empty()) hint = "attn-cli --help lists what there is";
  fail_with_hint(ErrorKind::usage, hint, "unknown subcommand '", printable(word, 80), "', expected ", word_list(names));
}

int print_and_finish(Console& console, const std::string& text) {
  console.print(text);
  console.finish();
  return 0;
}

int run_words(std::vector<std::string> words, Console& console) {
  if (words.empty()) {
    complain(short_help());
    return static_cast<int>(ErrorKind::usage);
  }
  std::string name = words.front();
  words.erase(words.begin());
  try {
    if (name == "help" && !words.empty()) {  // "help compute" is "compute --help"
      name = words.front();
      words = {"--help"};
    }
    if (name == "--help" || name == "-h" || name == "help") return print_and_finish(console, main_help());
    if (name == "--version") return print_and_finish(console, version_text(console.run().threads));
    if (const Command* command = find_command(name)) return run_command(*command, words, console);
    fail_subcommand(name);
  } catch (const Error& error) {
    return report(console, error, error.hint());
  }
}

/// A closed standard stream would give its number to the next file that is opened, and results would land in it.
/// Opened the wrong way round, it still refuses what it refused when closed.
void hold_standard_streams() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor)
    if (fcntl(descriptor, F_GETFD) == -1) open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// What std::terminate calls: some destructors of the JSON library allocate, and may not throw.
[[noreturn]] void end_badly() {
  bool memory = false;
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    memory = true;
  } catch (...) {
  }
  complain(memory ? "attn-cli: error: out of memory: the machine has no more for this run\n"
                  : "attn-cli: error: a fault of attn-cli itself: it was about to abort\n");
  remove_temporaries();
  _exit(static_cast<int>(memory ? ErrorKind::memory : ErrorKind::internal));
}

/// Before the objects of CLI11 that are made, and allocate, ahead of main.
[[gnu::constructor(101)]] void watch_the_end() { std::set_terminate(end_badly); }

int run_all(int argc, char** argv) {
  try {
    hold_standard_streams();
    install_signal_cleanup();
    Console console;
    // argc is 0 when a caller passes no argument at all, not even a name.
    return run_words(argc > 1 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>(), console);
  } catch (const std::bad_alloc&) {
    complain("attn-cli: error: out of memory: the machine has no more for this run\n");
    return static_cast<int>(ErrorKind::memory);
  } catch (const std::exception& error) {
    complain("attn-cli: error: a fault of attn-cli itself: ");
    complain(error.what());
    complain("\n");
  } catch (...) {
    complain("attn-cli: error: a fault of attn-cli itself\n");
  }
  return static_cast<int>(ErrorKind::internal);
}

}  // namespace
}  // namespace attn::app

int main(int argc, char** argv) { return attn::app::run_all(argc, argv); }
