#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn::app {

/// What a shell may complete after an option, and what its value is checked against when it is typed.
enum class ValueKind { none, file, text, number, integer, size, choice, colormap };

/// One option of a subcommand, as in the table that the parser, --help, the man page and completions are made from.
struct OptionSpec {
  std::string_view name;        ///< "--weights"
  char letter = 0;              ///< 'w', or 0
  std::string_view value = {};  ///< "FILE", "LEFT,RIGHT"; empty for a flag
  ValueKind kind = ValueKind::none;
  std::string_view group = {};         ///< heading in --help: "Inputs", "Attention", "Outputs", ...
  std::string_view help = {};          ///< one line
  std::string_view default_text = {};  ///< shown in --help; empty: none
  bool repeatable = false;
  std::vector<std::string_view> choices = {};  ///< all there are of ValueKind::choice; of a text, those that are words
};

/// Who says a value, highest rank first: a higher one replaces what a lower one said, whatever the order of the calls.
enum class Rank { command_line, document, config, environment, personal };

/// What was typed for one subcommand: words only, nothing resolved. Options that were not given are absent.
class Words {
 public:
  std::vector<std::string> inputs;  ///< positionals

  /// Whether the option was given, and not as a flag that is off.
  bool has(std::string_view option) const;
  /// The last value given, or `otherwise`.
  std::string value(std::string_view option, std::string_view otherwise = {}) const;
  std::vector<std::string> values(std::string_view option) const;
  /// Where a value came from: "command line", "document doc.json", "config PATH", "ATTN_CLI_THREADS".
  std::string source(std::string_view option) const;
  /// Who gave the option; command_line if nobody did.
  Rank rank(std::string_view option) const;

  void add(std::string_view option, std::string value, std::string_view source = "command line");
  /// Only if no higher rank has given the option: for documents, --config, the environment. A flag's value is "true".
  /// Values of one rank add up (a repeatable option).
  void add_default(std::string_view option, std::string value, std::string_view source, Rank rank = Rank::document);
  /// A flag that a document or a file of defaults sets to false: lower ranks cannot turn it on again.
  void add_off(std::string_view option, std::string_view source, Rank rank = Rank::document);
  void remove(std::string_view option);
  /// Of two options that say one thing, takes away the one that a lower rank gave.
  void settle(std::string_view one, std::string_view other);
  std::vector<std::string> given() const;

 private:
  struct Given {
    std::vector<std::string> values;
    std::string source;
    Rank rank = Rank::command_line;
  };
  Given* claim(std::string_view option, std::string_view source, Rank rank);
  std::map<std::string, Given, std::less<>> given_;
};

class Console;

/// One row of THE LIST of subcommands.
struct Command {
  std::string_view name;
  std::string_view summary;                          ///< one line
  std::string_view usage;                            ///< "compute [DOCUMENT] [options]"
  std::vector<std::string_view> examples = {};       ///< command lines that work in samples/, shown first in --help
  std::string_view description = {};                 ///< a paragraph or two after the examples
  int min_inputs = 0, max_inputs = 0;                ///< positionals
  std::vector<std::string_view> input_choices = {};  ///< what an input is, where it is no file
  std::vector<OptionSpec> options = {};              ///< common_options() are added to every subcommand
  /// Returns the exit code (0, or 1 for diff); throws attn::Error otherwise.
  int (*run)(const Words& words, Console& console);
};

/// Every subcommand, in the order of --help.
std::span<const Command> commands();
/// --threads --max-memory --progress --color -q -v --csv-safe --config --help ...
std::span<const OptionSpec> common_options();
/// --input-format --delimiter --header --label-column, for the tables of the subcommands that read files.
std::span<const OptionSpec> reading_options();
/// The options of a subcommand, then the common ones: what its parser and its help know.
std::vector<OptionSpec> all_options(const Command& command);

/// Parses the words of one subcommand (without its name) against its table. Throws Error{usage} with a suggestion.
/// With --help or --version among the options, nothing after it is looked at.
Words parse_words(const Command& command, const std::vector<std::string>& arguments);
/// What to type instead where -q, -k or -v stands before a file that -Q, -K or -V would take; empty if none does.
/// `about`: only if that option or that file is meant.
std::string letter_hint(const Command& command, const std::vector<std::string>& arguments, std::string_view about = {});

/// Checks a value against the kind and the choices of its option; texts and files pass. `place` is the option's name,
/// or "ATTN_CLI_THREADS", for the message. Throws Error{usage}.
void check_value(const OptionSpec& option, std::string_view place, std::string_view text);
/// Strict readings of typed values; throw Error{usage} that names the option, what was found and what is expected.
double number_value(std::string_view option, std::string_view text);  ///< finite
long long integer_value(std::string_view option, std::string_view text, long long least, long long most);
std::string choice_value(std::string_view option, std::string_view text, std::span<const std::string_view> choices);
/// "0-3,7" -> 0 1 2 3 7; `single` tells a lone number from a list.
std::vector<long long> index_list_value(std::string_view option, std::string_view text, bool* single = nullptr);

/// ATTN_CLI_SIMD, checked; empty when it is not set. Throws Error{usage} if it is unknown or this CPU lacks it.
std::string forced_simd();

}  // namespace attn::app
