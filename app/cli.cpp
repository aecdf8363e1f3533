// From words as typed to Words, by the table of a subcommand. The walk below spells every option in one way and refuses
// what CLI11 would take in a sense that nobody meant: `--scale= x` (x as the scale), `-o=x` (a file named "=x"),
// `-w --causal` (a file named "--causal"), `--causal=5` (a flag with a value). CLI11 then does the parsing.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <utility>

#include "app/command.hpp"
#include "app/suggest.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"

namespace attn::app {
namespace {

/// What others call these options, where no letters lead there.
constexpr std::pair<std::string_view, std::string_view> kUsualOptions[] = {
    {"--cmap", "--colormap"},         {"--palette", "--colormap"},  {"--output-format", "--format"}, {"--out", "--output"},
    {"--is-causal", "--causal"},      {"--is_causal", "--causal"},  {"--attn-mask", "--mask"},       {"--attn_mask", "--mask"},
    {"--attention-mask", "--mask"},   {"--num-heads", "--heads"},   {"--num_heads", "--heads"},      {"--n-heads", "--heads"},
    {"--num-kv-heads", "--kv-heads"}, {"--logit-cap", "--softcap"}, {"--sliding-window", "--window"}};

class Walk {
 public:
  Walk(const Command& command, const std::vector<std::string>& arguments)
      : command_(command), options_(all_options(command)), arguments_(arguments) {}

  /// The options and their values as CLI11 shall see them; only the option when --help or --version is met.
  /// The inputs are kept apart: CLI11 gives a repeatable option what it takes for no option.
  std::vector<std::string> spelled() {
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const std::string& word = arguments_[i];
      if (word == "--") {
        inputs_.insert(inputs_.end(), arguments_.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments_.end());
        break;
      }
      if (word.rfind("--", 0) == 0) {
        long_option(word, i);
      } else if (word.size() > 1 && word[0] == '-' && word[1] != ':') {  // -:query is an array of standard input
        letters(word, i);
      } else {
        inputs_.push_back(word);
      }
      if (!only_.empty()) return {only_};
    }
    return words_;
  }

  const std::vector<OptionSpec>& options() const { return options_; }
  const std::vector<std::string>& inputs() const { return inputs_; }

 private:
  const OptionSpec* find(std::string_view name) const {
    const auto found = std::find_if(options_.begin(), options_.end(), [&](const OptionSpec& o) { return o.name == name; });
    return found == options_.end() ? nullptr : &*found;
  }
  const OptionSpec* find(char letter) const {
    const auto found = std::find_if(options_.begin(), options_.end(), [&](const OptionSpec& o) { return o.letter == letter; });
    return found == options_.end() ? nullptr : &*found;
  }

  void long_option(const std::string& word, std::size_t& i) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const OptionSpec* option = find(name);
    if (!option) fail_unknown(name);
    if (option->value.empty()) {
      if (equals != std::string::npos) fail(ErrorKind::usage, name, " takes no value, found '", printable(word, 80), "'");
      flag(*option);
    } else if (equals != std::string::npos) {
      value(*option, name, word.substr(equals + 1));
    } else {
      next_word(*option, name, i);
    }
  }

  void letters(const std::string& word, std::size_t& i) {
    for (std::size_t at = 1; at < word.size(); ++at) {
      const OptionSpec* option = find(word[at]);
      const std::string name = concat("-", word[at]);
      if (!option) fail_unknown(at == 1 ? word : name);
      if (option->value.empty()) {
        flag(*option);
        continue;
      }
      const std::string rest = word.substr(at + 1);
      if (rest.empty()) return next_word(*option, name, i);
      if (rest[0] == '=')
        fail_with_hint(ErrorKind::usage, concat("write ", name, " ", option->value, " or ", option->name, "=", option->value),
                       name, " takes its value as the next word, found '", printable(word, 80), "'");
      return value(*option, name, rest);
    }
  }

  void next_word(const OptionSpec& option, const std::string& typed, std::size_t& i) {
    if (i + 1 >= arguments_.size()) fail(ErrorKind::usage, typed, " needs a value: ", typed, " ", option.value);
    value(option, typed, arguments_[++i]);
  }

  void value(const OptionSpec& option, const std::string& typed, const std::string& text) {
    if (text.rfind("--", 0) == 0)
      fail(ErrorKind::usage, typed, " needs a value (", option.value, "), found '", printable(text, 80), "'");
    words_.emplace_back(option.name);
    words_.push_back(text);
  }

  void flag(const OptionSpec& option) {
    if (option.name == "--help" || option.name == "--version") only_ = option.name;
    words_.emplace_back(option.name);
  }

  [[noreturn]] void fail_unknown(const std::string& word) const {
    fail_with_hint(ErrorKind::usage, hint_for(word), "unknown option '", printable(word, 80), "' of ", command_.name);
  }

  std::string hint_for(const std::string& word) const {
    std::string hint = letter_hint(command_, arguments_, word);
    if (hint.empty()) hint = letter_hint(command_, arguments_);
    if (!hint.empty() && word.size() == 2) return hint;
    std::vector<std::string> names;
    for (const OptionSpec& option : options_) names.emplace_back(option.name);
    const std::string plain = word.rfind("--", 0) == 0 ? word : "-" + word;  // -scale was meant as --scale
    for (const auto& [usual, ours] : kUsualOptions)
      if (plain == usual && find(ours) != nullptr) return concat("did you mean '", ours, "'?");
    if (word.size() > 2 && !(hint = did_you_mean(plain, names)).empty()) return hint;
    for (const OptionSpec& option : options_)
      if (word.size() == 2 && option.letter && word[1] != option.letter &&
          std::tolower(static_cast<unsigned char>(word[1])) == std::tolower(static_cast<unsigned char>(option.letter)))
        return concat("did you mean '-", option.letter, "' (", option.name, ")?");
    for (const Command& other : commands())
      for (const OptionSpec& option : other.options)
        if (option.name == word || (word.size() == 2 && option.letter == word[1]))
          return concat(word, " is an option of ", other.name);
    return concat("attn-cli ", command_.name, " --help lists the options; a file of that name is given after --");
  }

  const Command& command_;
  const std::vector<OptionSpec> options_;
  const std::vector<std::string>& arguments_;
  std::vector<std::string> words_, inputs_;
  std::string only_;
};

void add_to(CLI::App& app, const OptionSpec& spec) {
  const std::string name(spec.name);
  if (spec.value.empty()) {
    app.add_flag(name);
    return;
  }
  // TakeAll, so that a repetition is counted here; no extra arguments, so that a value never is more than one word and
  // "[a,b]" is not taken apart.
  app.add_option(name)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false);
}

void take(const CLI::App& app, const OptionSpec& spec, Words& words) {
  const auto& results = app.get_option(std::string(spec.name))->results();
  if (results.size() > 1 && !spec.repeatable)
    fail(ErrorKind::usage, spec.name, " is given ", results.size(), " times, expected once");
  for (const std::string& result : results) {
    check_value(spec, spec.name, result);
    words.add(spec.name, result);
  }
}

/// What was meant by an input too many.
std::string surplus_hint(const std::string& input, const Command& command, const std::vector<std::string>& inputs) {
  for (const std::string_view word : {"true", "false", "yes", "no", "on", "off"})
    if (input == word) return "a flag such as --causal is on when it is typed, and takes no value";
  const bool takes_matrices =
      std::any_of(command.options.begin(), command.options.end(), [](const OptionSpec& o) { return o.letter == 'K'; });
  if (takes_matrices && inputs.size() <= 3)
    return concat("give matrices as -Q ", printable(inputs[0], 60), " -K ", printable(inputs[1], 60),
                  inputs.size() == 3 ? concat(" -V ", printable(inputs[2], 60)) : std::string());
  return concat("usage: attn-cli ", command.usage);
}

[[noreturn]] void fail_surplus(const std::vector<std::string>& inputs, const Command& command,
                               const std::vector<std::string>& arguments) {
  const std::string& input = inputs[static_cast<std::size_t>(command.max_inputs)];
  std::string hint = letter_hint(command, arguments, input);
  if (hint.empty()) hint = letter_hint(command, arguments);
  if (hint.empty()) hint = surplus_hint(input, command, inputs);
  fail_with_hint(ErrorKind::usage, hint, command.name, " takes ",
                 command.max_inputs == 0 ? "no input"
                                         : concat("at most ", command.max_inputs, command.max_inputs == 1 ? " input" : " inputs"),
                 ", found '", printable(input, 80), "' too");
}

void take_inputs(const std::vector<std::string>& inputs, const Command& command, const std::vector<std::string>& arguments,
                 Words& words) {
  const auto count = static_cast<int>(inputs.size());
  if (count > command.max_inputs) fail_surplus(inputs, command, arguments);
  if (count < command.min_inputs)
    fail_with_hint(ErrorKind::usage, concat("usage: attn-cli ", command.usage), command.name, " needs ", command.min_inputs,
                   command.min_inputs == 1 ? " input" : " inputs", ", found ", count);
  words.inputs = inputs;
}

}  // namespace

Words parse_words(const Command& command, const std::vector<std::string>& arguments) {
  Walk walk(command, arguments);
  std::vector<std::string> spelled = walk.spelled();
  Words words;
  if (spelled.size() == 1 && (spelled[0] == "--help" || spelled[0] == "--version")) {
    words.add(spelled[0], "true");
    return words;
  }
  // CLI11 compares every option with all before it: it is told of those alone that were given.
  std::vector<const OptionSpec*> given;
  for (const OptionSpec& spec : walk.options())
    if (std::find(spelled.begin(), spelled.end(), spec.name) != spelled.end()) given.push_back(&spec);
  CLI::App app;
  app.set_help_flag();
  for (const OptionSpec* spec : given) add_to(app, *spec);
  try {
    std::reverse(spelled.begin(), spelled.end());  // CLI11 takes its words from the back
    app.parse(spelled);
  } catch (const CLI::Error& error) {
    fail(ErrorKind::usage, command.name, ": ", printable(error.what()));
  }
  take_inputs(walk.inputs(), command, arguments, words);
  for (const OptionSpec* spec : given) take(app, *spec, words);
  return words;
}

std::string letter_hint(const Command& command, const std::vector<std::string>& arguments, std::string_view about) {
  for (std::size_t i = 0; i + 1 < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& word = arguments[i];
    if (word.size() != 2 || word[0] != '-' || std::string_view("qkv").find(word[1]) == std::string_view::npos) continue;
    const std::string& next = arguments[i + 1];
    if (next.size() > 1 && next[0] == '-') continue;
    if (!about.empty() && about != word && about != next) continue;
    const char capital = static_cast<char>(std::toupper(static_cast<unsigned char>(word[1])));
    for (const OptionSpec& option : command.options)
      if (option.letter == capital)
        return concat("did you mean -", capital, " ", printable(next, 80), "? ", option.name, " is -", capital);
  }
  return {};
}

}  // namespace attn::app
