#include "core/kernels/tiled_sweep.hpp"

#include <algorithm>
#include <functional>

#include "core/heads.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// All heads in order, each with the rest; `places` tells where the chosen ones go.
std::vector<HeadWork> every_head(Index heads, const std::vector<Index>& chosen) {
  std::vector<HeadWork> all;
  for (Index head = 0; head < heads; ++head) all.push_back({head, -1, true});
  for (std::size_t place = 0; place < chosen.size(); ++place)
    all[static_cast<std::size_t>(chosen[place])].place = static_cast<Index>(place);
  return all;
}

/// The chosen heads in their order, then the others if the rest is wanted of them. The rest is written once for each head.
std::vector<HeadWork> chosen_first(Index heads, const std::vector<Index>& chosen, bool rest) {
  std::vector<HeadWork> all;
  std::vector<bool> seen(static_cast<std::size_t>(heads), false);
  for (std::size_t place = 0; place < chosen.size(); ++place) {
    const std::size_t head = static_cast<std::size_t>(chosen[place]);
    all.push_back({chosen[place], static_cast<Index>(place), rest && !seen[head]});
    seen[head] = true;
  }
  for (Index head = 0; rest && head < heads; ++head)
    if (!seen[static_cast<std::size_t>(head)]) all.push_back({head, -1, true});
  return all;
}

Sweep one_by_one(const std::vector<HeadWork>& heads) {
  Sweep sweep;
  for (const HeadWork& head : heads) sweep.groups.push_back({head});
  return sweep;
}

}  // namespace

std::vector<Sweep> plan_sweeps(const AttentionOutputs& wanted, Index heads) {
  const bool scores = !wanted.scores.empty(), weights = !wanted.weights.sinks.empty();
  const bool reduced = wanted.weights.reduce != Reduce::none;
  const bool rest = wanted.output || wanted.lse;
  const std::vector<Index> chosen = chosen_heads(wanted.weights.heads, heads);
  const bool rising = std::adjacent_find(chosen.begin(), chosen.end(), std::greater_equal<>()) == chosen.end();

  std::vector<Sweep> sweeps;
  if (scores) {
    const bool together = weights && rising && !reduced;
    sweeps.push_back(one_by_one(every_head(heads, together ? chosen : std::vector<Index>{})));
    sweeps.back().scores = true;
    sweeps.back().weights = together;
    if (together || !weights) return sweeps;
  }
  const std::vector<HeadWork> order = chosen_first(heads, chosen, rest && !scores);
  if (reduced)
    sweeps.push_back({{order}});
  else
    sweeps.push_back(one_by_one(order));
  sweeps.back().weights = true;
  sweeps.back().reduced = reduced;
  return sweeps;
}

}  // namespace v1
}  // namespace attn
