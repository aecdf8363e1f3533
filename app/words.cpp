#include "app/command.hpp"
#include "attn/base/error.hpp"

namespace attn::app {

bool Words::has(std::string_view option) const {
  const auto found = given_.find(option);
  return found != given_.end() && !found->second.values.empty();
}

std::string Words::value(std::string_view option, std::string_view otherwise) const {
  return has(option) ? given_.find(option)->second.values.back() : std::string(otherwise);
}

std::vector<std::string> Words::values(std::string_view option) const {
  return has(option) ? given_.find(option)->second.values : std::vector<std::string>();
}

std::string Words::source(std::string_view option) const {
  const auto found = given_.find(option);
  return found == given_.end() ? std::string() : found->second.source;
}

Rank Words::rank(std::string_view option) const {
  const auto found = given_.find(option);
  return found == given_.end() ? Rank::command_line : found->second.rank;
}

// The entry to put a value of this rank into, emptied if a lower rank had filled it; null if a higher rank owns it.
Words::Given* Words::claim(std::string_view option, std::string_view source, Rank rank) {
  const auto [place, fresh] = given_.try_emplace(std::string(option));
  Given& given = place->second;
  if (!fresh && given.rank < rank) return nullptr;
  if (fresh || given.rank > rank) given = {{}, std::string(source), rank};
  return &given;
}

void Words::add(std::string_view option, std::string value, std::string_view source) {
  claim(option, source, Rank::command_line)->values.push_back(std::move(value));
}

void Words::add_default(std::string_view option, std::string value, std::string_view source, Rank rank) {
  if (Given* given = claim(option, source, rank)) given->values.push_back(std::move(value));
}

void Words::add_off(std::string_view option, std::string_view source, Rank rank) { claim(option, source, rank); }

void Words::remove(std::string_view option) {
  const auto found = given_.find(option);
  if (found != given_.end()) given_.erase(found);
}

void Words::settle(std::string_view one, std::string_view other) {
  if (!has(one) || !has(other) || rank(one) == rank(other)) return;
  remove(rank(one) > rank(other) ? one : other);
}

std::vector<std::string> Words::given() const {
  std::vector<std::string> names;
  for (const auto& [name, given] : given_)
    if (!given.values.empty()) names.push_back(name);
  return names;
}

}  // namespace attn::app
