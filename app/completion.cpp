#include "app/completion.hpp"

#include <array>

#include "app/commands.hpp"
#include "app/console.hpp"

namespace attn::app {
namespace {

struct Shell {
  std::string_view name;
  std::string (*script)();
};
constexpr std::array<Shell, 3> kShells{{{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}}};

std::vector<std::string_view> shell_names() {
  std::vector<std::string_view> names;
  for (const Shell& shell : kShells) names.push_back(shell.name);
  return names;
}

int run_completion(const Words& words, Console& console) {
  const std::string name = choice_value("completion", words.inputs.front(), shell_names());
  for (const Shell& shell : kShells)
    if (shell.name == name) console.print(shell.script());
  if (console.output_is_terminal()) console.note("this is a script for the shell to read; attn-cli completion --help shows how");
  return 0;
}

}  // namespace

const Command& completion_command() {
  static const Command command{
      .name = "completion",
      .summary = "print the completions of a shell",
      .usage = "completion bash|zsh|fish",
      .examples = {"eval \"$(attn-cli completion bash)\"", "attn-cli completion zsh > ~/.zfunc/_attn-cli",
                   "attn-cli completion fish > ~/.config/fish/completions/attn-cli.fish"},
      .min_inputs = 1,
      .max_inputs = 1,
      .input_choices = shell_names(),
      .run = run_completion};
  return command;
}

}  // namespace attn::app
