#pragma once

#include "app/command.hpp"
#include "app/console.hpp"
#include "attn/base/error.hpp"

namespace attn::app {

/// Adds the defaults that the user keeps: those of --config FILE, then ATTN_CLI_COLORMAP and its like, then
/// $XDG_CONFIG_HOME/attn-cli/config.json. Unknown names and wrong values end in Error{usage} with the nearest right
/// name; a file that is no JSON object in Error{malformed}.
void add_defaults(const Command& command, Words& words);

/// An error about an option whose value came from one of these places, with that place in front: nobody typed it.
Error with_source(const Error& error, const Words& words);

/// With -v: one line for each option that did not come from the command line; none for what was `told` before.
void tell_sources(const Words& words, Console& console, const Words& told = {});

}  // namespace attn::app
