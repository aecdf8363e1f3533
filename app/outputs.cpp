#include "app/outputs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "app/suggest.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "attn/io/array_file.hpp"

namespace attn::app {

namespace {

constexpr std::string_view kGroup = "Picture";
/// Larger pictures are refused by the renderers with what to do; this only keeps numbers within an int.
constexpr long long kMostPixels = 1'000'000;

/// The choice's place in `choices`, which is in the order of the enumeration.
template <typename Enum, std::size_t N>
Enum enum_value(const Words& words, std::string_view option, const std::array<std::string_view, N>& choices, Enum otherwise) {
  if (!words.has(option)) return otherwise;
  const std::string chosen = choice_value(option, words.value(option), choices);
  const auto place = std::find(choices.begin(), choices.end(), chosen);
  return static_cast<Enum>(place - choices.begin());
}

std::optional<double> optional_number(const Words& words, std::string_view option) {
  if (!words.has(option)) return std::nullopt;
  return number_value(option, words.value(option));
}

std::optional<int> optional_integer(const Words& words, std::string_view option, long long least, long long most) {
  if (!words.has(option)) return std::nullopt;
  return static_cast<int>(integer_value(option, words.value(option), least, most));
}

void read_range(const Words& words, PictureOptions& options) {
  options.vmin = optional_number(words, "--vmin");
  options.vmax = optional_number(words, "--vmax");
  options.center = optional_number(words, "--center");
  if (options.vmin && options.vmax && *options.vmin >= *options.vmax)
    fail(ErrorKind::usage, "--vmin ", format_number(*options.vmin), " is not below --vmax ", format_number(*options.vmax));
}

void read_labels(const Words& words, PictureOptions& options) {
  if (!words.has("--labels")) return;
  const std::string text = words.value("--labels");
  constexpr std::array<std::string_view, 3> kModes = {"auto", "all", "none"};
  const auto mode = std::find(kModes.begin(), kModes.end(), text);
  if (mode != kModes.end()) {
    options.labels = static_cast<LabelMode>(mode - kModes.begin());
    return;
  }
  if (!parse_integer(text))
    fail_with_hint(ErrorKind::usage, did_you_mean(text, as_strings(kModes)), "--labels: found '", printable(text),
                   "', expected auto, all, none or a whole number");
  options.labels = LabelMode::every;
  options.label_every = static_cast<int>(integer_value("--labels", text, 1, kMostPixels));
}

bool is_terminal(const std::string& path, const Console& console) {
  if (path == "-") return console.output_is_terminal();
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISCHR(status.st_mode)) return false;
  const int descriptor = open(path.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool terminal = isatty(descriptor) == 1;
  close(descriptor);
  return terminal;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names = output_format_names();
  for (const std::string& name : picture_format_names()) names.push_back(name);
  return names;
}

std::string known_formats(FormatKind kind) {
  const std::vector<std::string> names = kind == FormatKind::picture ? picture_format_names() : format_names();
  return word_list(names, names.size());
}

/// The path with the ending of the nearest format, or nothing.
std::string nearest_ending(const std::string& path) {
  const std::size_t point = path.find_last_of("./");
  if (point == std::string::npos || path[point] != '.') return {};
  const auto found = nearest(path.substr(point + 1), format_names());
  return found ? concat("did you mean '", printable_end(path.substr(0, point + 1) + *found, 80), "'?") : std::string();
}

/// What to write instead of formats that others write.
std::string replacement_of(const std::string& path) {
  struct Other {
    std::string_view ending, instead;
  };
  constexpr Other kOthers[] = {{"jpg", "png"},    {"jpeg", "png"}, {"gif", "png"}, {"bmp", "png"}, {"webp", "png"},
                               {"tif", "png"},    {"tiff", "png"}, {"eps", "pdf"}, {"ps", "pdf"},  {"xls", "csv"},
                               {"xlsx", "csv"},   {"ods", "csv"},  {"pt", "npz"},  {"pth", "npz"}, {"pkl", "npz"},
                               {"pickle", "npz"}, {"h5", "npz"},   {"mat", "npz"}};
  for (const Other& other : kOthers)
    if (path.ends_with(concat(".", other.ending))) return concat(other.ending, " is not written; ", other.instead, " is");
  return {};
}

}  // namespace

std::string format_of_name(const std::string& path_or_name) {
  const std::string data = data_format_of(path_or_name);
  return data.empty() ? picture_format_of(path_or_name) : data;
}

std::vector<OptionSpec> picture_option_specs() {
  return {
      {.name = "--title", .value = "TEXT", .kind = ValueKind::text, .group = kGroup, .help = "heading over the picture"},
      {.name = "--colormap",
       .value = "NAME",
       .kind = ValueKind::colormap,
       .group = kGroup,
       .help = "colours of the cells",
       .default_text = "viridis; RdBu where values are negative"},
      {.name = "--vmin", .value = "X", .kind = ValueKind::number, .group = kGroup, .help = "value of the first colour"},
      {.name = "--vmax", .value = "X", .kind = ValueKind::number, .group = kGroup, .help = "value of the last colour"},
      {.name = "--color-scale",
       .value = "SCALE",
       .kind = ValueKind::choice,
       .group = kGroup,
       .help = "how colours follow values; log and sqrt bring out small weights beside a large one",
       .default_text = "linear",
       .choices = {"linear", "log", "sqrt"}},
      {.name = "--center",
       .value = "X",
       .kind = ValueKind::number,
       .group = kGroup,
       .help = "value of the middle of a diverging colormap"},
      {.name = "--top-k",
       .value = "K",
       .kind = ValueKind::integer,
       .group = kGroup,
       .help = "html: keep the K strongest keys of each query"},
      {.name = "--annotate",
       .value = "WHEN",
       .kind = ValueKind::choice,
       .group = kGroup,
       .help = "write the numbers into the cells",
       .default_text = "auto",
       .choices = {"auto", "always", "never"}},
      {.name = "--digits",
       .value = "N",
       .kind = ValueKind::integer,
       .group = kGroup,
       .help = "digits after the point in the cells",
       .default_text = "2"},
      {.name = "--cell", .value = "PIXELS", .kind = ValueKind::integer, .group = kGroup, .help = "side of one cell"},
      {.name = "--width", .value = "PIXELS", .kind = ValueKind::integer, .group = kGroup, .help = "width of the picture"},
      {.name = "--dpi", .value = "DPI", .kind = ValueKind::integer, .group = kGroup, .help = "resolution of a bitmap"},
      {.name = "--pool",
       .value = "HOW",
       .kind = ValueKind::choice,
       .group = kGroup,
       .help = "what one pixel shows of the many cells under it",
       .default_text = "max",
       .choices = {"max", "mean"}},
      {.name = "--labels",
       .value = "auto|all|none|EVERY",
       .kind = ValueKind::text,
       .group = kGroup,
       .help = "which tokens stand on the axes",
       .default_text = "auto",
       .choices = {"auto", "all", "none"}},
      {.name = "--font", .value = "NAME", .kind = ValueKind::text, .group = kGroup, .help = "family of all text"},
      {.name = "--theme",
       .value = "THEME",
       .kind = ValueKind::choice,
       .group = kGroup,
       .help = "light or dark paper",
       .default_text = "light",
       .choices = {"light", "dark"}},
      {.name = "--prettify", .group = kGroup, .help = "make the marks of BPE and WordPiece tokens readable"},
  };
}

OptionSpec format_option(std::string_view group, std::string_view help, bool pictures_only) {
  static const std::vector<std::string> pictures = picture_format_names(), all = format_names();
  const std::vector<std::string>& names = pictures_only ? pictures : all;
  return {.name = "--format",
          .value = "FORMAT",
          .kind = ValueKind::text,
          .group = group,
          .help = help,
          .choices = {names.begin(), names.end()}};
}

PictureOptions picture_options(const Words& words, const Console& console) {
  PictureOptions options;
  options.title = words.value("--title");
  options.colormap = words.value("--colormap");
  read_range(words, options);
  options.color_scale = enum_value<ColorScale, 3>(words, "--color-scale", {"linear", "log", "sqrt"}, ColorScale::linear);
  options.annotate = enum_value<Annotate, 3>(words, "--annotate", {"auto", "always", "never"}, Annotate::automatic);
  options.digits = optional_integer(words, "--digits", 0, 17).value_or(options.digits);
  options.cell_pixels = optional_integer(words, "--cell", 1, kMostPixels);
  options.width_pixels = optional_integer(words, "--width", 1, kMostPixels);
  options.dpi = optional_integer(words, "--dpi", 1, 100'000).value_or(0);
  options.pool = enum_value<Pool, 2>(words, "--pool", {"max", "mean"}, Pool::max);
  read_labels(words, options);
  options.font = words.value("--font");
  options.theme = enum_value<Theme, 2>(words, "--theme", {"light", "dark"}, Theme::light);
  options.prettify = words.has("--prettify");
  options.top_k = optional_integer(words, "--top-k", 1, kMostPixels);
  options.terminal_color = console.color();
  options.terminal_columns = console.columns();
  return options;
}

PictureOptions picture_options_for(const std::string& path, PictureOptions options, const Words& words) {
  if (path != "-" && words.value("--color") != "always") options.terminal_color = TerminalColor::plain;
  return options;
}

std::string output_format(const std::string& path, const Words& words, const Console& console, FormatKind kind) {
  std::string format = path == "-" ? "" : format_of_name(path);
  if (format.empty() && words.has("--format")) {
    const std::string named = words.value("--format");
    // A name, not a path: "x.csv" is no format.
    format = named.find_first_of("./") == std::string::npos ? format_of_name(named) : "";
    if (format.empty())
      fail_with_hint(ErrorKind::usage, did_you_mean(named, format_names()), "--format: no format '", printable(named, 60),
                     "'; known: ", known_formats(kind));
  }
  if (format.empty()) {
    const std::string shown = path == "-" ? "standard output" : concat("'", printable_end(path), "'");
    std::string ending = path == "-" ? "" : replacement_of(path);
    if (ending.empty() && path != "-") ending = nearest_ending(path);
    fail_with_hint(ErrorKind::usage, ending.empty() ? "name it with --format" : ending, shown,
                   " does not tell its format; known: ", known_formats(kind));
  }
  constexpr std::array<std::string_view, 5> kBinary = {"png", "pdf", "npy", "npz", "safetensors"};
  if (std::find(kBinary.begin(), kBinary.end(), format) != kBinary.end() && is_terminal(path, console))
    fail_with_hint(ErrorKind::usage, "send it to a file or a pipe", format,
                   " is a binary format and is not written to a terminal");
  return format;
}

}  // namespace attn::app
