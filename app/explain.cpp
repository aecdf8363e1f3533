#include <algorithm>
#include <array>

#include "app/commands.hpp"
#include "app/compute_job.hpp"
#include "app/console.hpp"
#include "app/explain_page.hpp"
#include "app/explain_steps.hpp"
#include "app/explain_tables.hpp"
#include "app/outputs.hpp"
#include "app/summary.hpp"
#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "attn/io/output_file.hpp"

namespace attn::app {

namespace {

/// Beyond these sizes nobody reads tables with a pencil; one product can still be followed.
constexpr Index kMostRows = 32;
constexpr Index kMostColumns = 64;
constexpr Index kMostHeads = 16;
constexpr Index kMostTerms = 1024;

struct At {
  Index query = 0;
  Index key = 0;
};

std::optional<At> wanted_product(const Words& words) {
  if (!words.has("--at")) return std::nullopt;
  const std::string text = words.value("--at");
  const std::size_t comma = text.find(',');
  const auto query = parse_integer(text.substr(0, comma));
  const auto key = comma == std::string::npos ? std::nullopt : parse_integer(text.substr(comma + 1));
  if (!query || !key || *query < 0 || *key < 0)
    fail(ErrorKind::usage, "--at: found '", printable(text, 60), "', expected I,J: a query and a key, counted from 0");
  return At{*query, *key};
}

Index planes(const ComputeJob& job) {
  const auto chosen = static_cast<Index>(job.request.head_choice.heads.size());
  return job.prepared.shape.batch * (chosen ? chosen : job.prepared.shape.heads);
}

/// Of all arrays that are shown before and after the heads.
Index widest_source(const Prepared& prepared) {
  Index widest = 0;
  for (const auto& [input, source] : prepared.sources.arrays)
    if (input <= Input::b_qkv) widest = std::max(widest, width_of(*source.array));
  return widest;
}

void check_tables(const ComputeJob& job) {
  const AttentionShape& shape = job.prepared.shape;
  struct Limit {
    std::string_view what;
    Index found, most;
  };
  const Limit limits[] = {{"queries", shape.queries, kMostRows},
                          {"keys", shape.keys, kMostRows},
                          {"columns in a head", std::max(shape.head_size, shape.value_size), kMostColumns},
                          {"columns of weights", widest_source(job.prepared), kMostColumns},
                          {"heads to show", planes(job), kMostHeads}};
  for (const Limit& limit : limits)
    if (limit.found > limit.most)
      fail_with_hint(ErrorKind::usage, "--at I,J explains one product, --head H one head; compute writes all numbers",
                     "tables of ", limit.found, " ", limit.what, " are too large to read; explain shows at most ", limit.most);
}

void check_product(const ComputeJob& job, const At& at) {
  const AttentionShape& shape = job.prepared.shape;
  if (at.query >= shape.queries || at.key >= shape.keys)
    fail(ErrorKind::usage, "--at ", at.query, ",", at.key, ": there are ", shape.queries, " queries and ", shape.keys,
         " keys, counted from 0");
  const Index terms = std::max(shape.head_size, shape.value_size);
  if (planes(job) > kMostHeads || terms > kMostTerms)
    fail_with_hint(ErrorKind::usage, "--head H picks one head; compute --scores FILE writes all scores", planes(job),
                   " heads of ", terms, " terms are too many to read; explain shows at most ", kMostHeads, " of ", kMostTerms);
}

void print_notes(const std::vector<std::string>& notes, Console& console) {
  for (const std::string& note : notes) console.note(note);
}

constexpr std::array<std::string_view, 3> kLooks{"--title", "--theme", "--prettify"};

/// The options of a page: where it goes, and those of pictures that it knows.
std::vector<OptionSpec> page_option_specs() {
  constexpr std::string_view kGroup = "Page";
  std::vector<OptionSpec> specs{{.name = "--html",
                                 .value = "FILE",
                                 .kind = ValueKind::file,
                                 .group = kGroup,
                                 .help = "a page that walks through the steps, one query at a time, instead of the tables"}};
  for (OptionSpec& option : picture_option_specs()) {
    if (std::find(kLooks.begin(), kLooks.end(), option.name) == kLooks.end()) continue;
    option.group = kGroup;
    specs.push_back(std::move(option));
  }
  specs.push_back({.name = "--no-clobber", .group = kGroup, .help = "refuse to replace a file"});
  return specs;
}

void refuse_looks_without_page(const Words& words) {
  for (const std::string_view option : {"--title", "--theme", "--prettify", "--no-clobber"})
    if (words.has(option) && words.source(option) == "command line")
      fail(ErrorKind::usage, option, " is for the page that --html FILE writes; there is no --html");
}

/// The page holds every query, so that its reader can go from one to the next; --at says where to start.
int run_page(const Words& words, const At& start, Console& console) {
  const std::string path = words.value("--html");
  if (path == "-" && console.output_is_terminal())
    fail(ErrorKind::usage, "--html -: a page is not written to a terminal; name a file");
  if (const std::string format = path == "-" ? "" : format_of_name(path); !format.empty() && format != "html")
    fail(ErrorKind::usage, "--html: '", printable_end(path), "' ends as ", format,
         ", and what is written is a page; name it .html");
  const PictureOptions look = picture_options(words, console);
  const ComputeJob job = load_job(words, console);
  check_tables(job);
  check_product(job, start);
  OutputFiles files(words.has("--no-clobber"));
  ByteSink& bytes = files.open(path);
  const AttentionSteps steps = compute_steps(job.prepared, std::nullopt, console.run());
  write_explain_page(job, steps, {look.title, look.theme, look.prettify, start.query, start.key}, bytes);
  files.commit();
  print_notes(job.prepared.notes, console);
  print_notes(steps.report.notes, console);
  return 0;
}

int run_explain(const Words& words, Console& console) {
  const std::optional<At> at = wanted_product(words);
  if (words.has("--html")) return run_page(words, at.value_or(At{}), console);
  refuse_looks_without_page(words);
  const ComputeJob job = load_job(words, console);
  if (at)
    check_product(job, *at);
  else
    check_tables(job);
  const AttentionSteps steps = compute_steps(job.prepared, at ? std::optional(at->query) : std::nullopt, console.run());
  print_notes(job.prepared.notes, console);
  print_notes(steps.report.notes, console);
  console.print(summary_text(job.prepared, steps.report));
  if (at)
    print_product(job, steps, at->query, at->key, console);
  else
    print_steps(job, steps, console);
  return 0;
}

}  // namespace

const Command& explain_command() {
  static const Command command = [] {
    Command made;
    made.name = "explain";
    made.summary = "every step of a small computation as labelled tables";
    made.usage = "explain [DOCUMENT] [options of compute]";
    made.examples = {"attn-cli explain cat.json --causal", "attn-cli explain two-heads.json --head 1",
                     "attn-cli explain cat.json --causal --at 3,1", "attn-cli explain cat.json --causal --html cat.html"};
    made.description =
        "Shows Q, K, V, their products, the scaled, capped and masked scores, the softmax row by row, the weights and the "
        "output, so "
        "that each number can be followed with pencil and paper.";
    made.max_inputs = 1;
    made.options = attention_option_specs();
    made.options.push_back({.name = "--at",
                            .value = "I,J",
                            .kind = ValueKind::text,
                            .group = "What is shown",
                            .help = "how query I and key J (from 0) come to their weight, term by term"});
    made.options.push_back({.name = "--head",
                            .value = "LIST",
                            .kind = ValueKind::text,
                            .group = "What is shown",
                            .help = "the heads: 1 or 0-3,7",
                            .default_text = "all"});
    for (const OptionSpec& option : page_option_specs()) made.options.push_back(option);
    made.run = run_explain;
    return made;
  }();
  return command;
}

}  // namespace attn::app
