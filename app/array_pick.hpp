#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/console.hpp"
#include "attn/io/array_file.hpp"

namespace attn::app {

/// An input file, and the array that ARCHIVE:NAME named in it, if one was named.
struct OpenedInput {
  std::string reference;  ///< as typed
  std::string path;
  std::shared_ptr<ArrayFile> file;
  std::optional<std::size_t> named;

  const Member& member(std::size_t index) const { return file->members()[index]; }
  /// Whether it can be opened once more: a file on disk, no pipe.
  bool reopens() const;
};

/// Opens FILE, ARCHIVE:NAME or "-". Error{usage} for a terminal as standard input, Error{malformed} with the nearest
/// name when the archive has no such array.
OpenedInput open_input(const std::string& reference, const ReadOptions& options, const Console& console);

/// Members that hold numbers, in natural order of names ("layer2" before "layer10").
std::vector<std::size_t> array_members(const ArrayFile& file);

/// The array that is meant: the named one, the only one of rank 2 or more, the one called "weights", or the only one at
/// all. Error{usage} that lists the names when that leaves several, Error{mismatch} when there is none.
std::size_t pick_array(const OpenedInput& input);

/// Whether the last axis is that of the queries, as in log-sum-exps [n] and [H,n]: their tokens stand at the columns.
bool queries_are_columns(const Member& member);

/// Labels of the two last axes: those of the array itself, else, for weights and for arrays of heads, the tokens that
/// the archive holds as lists of strings beside it, where their number fits.
AxisLabels labels_of(const ArrayFile& file, const Member& member);

/// "a2" before "a10": digits compare as numbers.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace attn::app
