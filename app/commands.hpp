#pragma once

#include "app/command.hpp"

namespace attn::app {

// The rows of THE LIST (command_list.cpp), one file each.
const Command& compute_command();
const Command& render_command();
const Command& inspect_command();
const Command& diff_command();
const Command& explain_command();
const Command& demo_command();
const Command& batch_command();
const Command& completion_command();
const Command& man_command();

}  // namespace attn::app
