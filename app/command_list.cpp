#include "app/commands.hpp"

namespace attn::app {

// THE LIST of subcommands, in the order of --help. The parser, help, suggestions, the man page and the completions are
// made from it.
std::span<const Command> commands() {
  static const std::vector<Command> list{compute_command(), render_command(),     inspect_command(),
                                         diff_command(),    explain_command(),    demo_command(),
                                         batch_command(),   completion_command(), man_command()};
  return list;
}

}  // namespace attn::app
