#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "app/console.hpp"
#include "attn/io/array_writer.hpp"
#include "attn/io/output_file.hpp"
#include "attn/render/picture.hpp"

namespace attn::app {

/// The picture options of render and compute, as rows for their tables.
std::vector<OptionSpec> picture_option_specs();
/// The row of --format, with the formats of pictures or all that can be written.
OptionSpec format_option(std::string_view group, std::string_view help, bool pictures_only);
/// Resolves them; throws Error{usage}.
PictureOptions picture_options(const Words& words, const Console& console);

/// The same options for one output: colours reach a file only with --color always.
PictureOptions picture_options_for(const std::string& path, PictureOptions options, const Words& words);

/// The format that the ending of a path, or a name such as "csv", stands for; empty for none.
std::string format_of_name(const std::string& path_or_name);

/// Which formats a message offers.
enum class FormatKind { any, picture };

/// The format of an output: --format where the extension tells nothing or the path is "-", else the extension.
/// Throws Error{usage} with the known formats; refuses a binary format on a terminal.
std::string output_format(const std::string& path, const Words& words, const Console& console, FormatKind kind = FormatKind::any);

}  // namespace attn::app
