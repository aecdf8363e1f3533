#include "app/command.hpp"
#include "attn/io/array_file.hpp"

namespace attn::app {
namespace {

/// The names of THE LIST of formats; views of strings that last as long as the program.
std::vector<std::string_view> format_names() {
  static const std::vector<std::string> names = input_format_names();
  return {names.begin(), names.end()};
}

std::vector<OptionSpec> running_specs() {
  return {{.name = "--threads",
           .value = "N",
           .kind = ValueKind::integer,
           .group = "Running",
           .help = "how many threads work; the results have the same bytes for every N",
           .default_text = "all cores this process may use"},
          {.name = "--max-memory",
           .value = "SIZE",
           .kind = ValueKind::size,
           .group = "Running",
           .help = "refuse what would hold more, such as 512M or 1.5GiB",
           .default_text = "80 % of the memory"},
          {.name = "--progress",
           .value = "WHEN",
           .kind = ValueKind::choice,
           .group = "Running",
           .help = "a line on standard error for work of over a second",
           .default_text = "auto: on a terminal",
           .choices = {"auto", "always", "never"}},
          {.name = "--color",
           .value = "WHEN",
           .kind = ValueKind::choice,
           .group = "Running",
           .help = "colours in text; without this, NO_COLOR decides, then whether the stream is a terminal",
           .default_text = "auto",
           .choices = {"auto", "always", "never"}}};
}

std::vector<OptionSpec> further_specs() {
  return {{.name = "--csv-safe",
           .value = "on|off",
           .kind = ValueKind::choice,
           .group = "Running",
           .help = "put a ' before CSV labels that a spreadsheet would run",
           .default_text = "off",
           .choices = {"on", "off"}},
          {.name = "--config",
           .value = "FILE",
           .kind = ValueKind::file,
           .group = "Running",
           .help = "defaults for options, as a JSON object: {\"colormap\": \"magma\"}"},
          {.name = "--quiet", .letter = 'q', .group = "Running", .help = "no notes and no progress"},
          {.name = "--verbose", .letter = 'v', .group = "Running", .help = "say more, such as where a value came from"},
          {.name = "--help", .letter = 'h', .group = "Running", .help = "print this help"},
          {.name = "--version", .group = "Running", .help = "print the version, the build, the SIMD in use and the threads"}};
}

}  // namespace

std::span<const OptionSpec> common_options() {
  static const std::vector<OptionSpec> options = [] {
    std::vector<OptionSpec> all = running_specs();
    for (const OptionSpec& option : further_specs()) all.push_back(option);
    return all;
  }();
  return options;
}

std::span<const OptionSpec> reading_options() {
  static const std::vector<OptionSpec> options{{.name = "--input-format",
                                                .value = "FORMAT",
                                                .kind = ValueKind::choice,
                                                .group = "Reading files",
                                                .help = "the format of every input, instead of finding it",
                                                .default_text = "found by magic bytes, then extension",
                                                .choices = format_names()},
                                               {.name = "--delimiter",
                                                .value = "CHARACTER|tab|blank",
                                                .kind = ValueKind::text,
                                                .group = "Reading files",
                                                .help = "between the cells of delimited text",
                                                .default_text = "found",
                                                .choices = {"tab", "blank"}},
                                               {.name = "--header",
                                                .value = "WHEN",
                                                .kind = ValueKind::choice,
                                                .group = "Reading files",
                                                .help = "whether line 1 of delimited text holds labels",
                                                .default_text = "auto",
                                                .choices = {"yes", "no", "auto"}},
                                               {.name = "--label-column",
                                                .value = "WHEN",
                                                .kind = ValueKind::choice,
                                                .group = "Reading files",
                                                .help = "whether column 1 of delimited text holds labels",
                                                .default_text = "auto",
                                                .choices = {"yes", "no", "auto"}}};
  return options;
}

}  // namespace attn::app
