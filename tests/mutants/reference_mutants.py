"""Bugs for the reference kernel and the masks, as text substitutions on a copy of the source.

Each is (name, file below lib/, text that stands there exactly once, text in its place). They are bugs that real kernels
have had, and their kin. Those of tiled kernels only (a forgotten rescale, keys split by threads) are in
tests/agreement/toy_attention.hpp.
"""
ROW = "core/kernels/reference_row.cpp"

MUTANTS = [
    ("no scale", "core/attention.cpp", "job.scale = plan.report.scale;", "job.scale = 1;"),
    ("scale of the value size", "core/attention.cpp", "static_cast<double>(plan.sizes.head_size)", "static_cast<double>(plan.sizes.value_size)"),
    ("causal off by one", "core/masks/causal.cpp", "positions_.of(batch, query) + 1, prefix_", "positions_.of(batch, query) + 2, prefix_"),
    ("bottom-right taken as top-left", "core/masks/positions.cpp", "offsets_ = {sizes.keys - sizes.queries};", "offsets_ = {0};"),
    ("bottom-right counts padding", "core/masks/positions.cpp", "offsets_.push_back(valid - sizes.queries);", "offsets_.push_back(valid - valid + sizes.keys - sizes.queries);"),
    ("last key dropped", ROW, "    const bool allowed = allowed_[index(j)];", "    if (j > 7 && j + 1 == job_.sizes.keys) allowed_[index(j)] = 0;\n    const bool allowed = allowed_[index(j)];"),
    ("tail padded with a score of 0", ROW, "  total_ = total.value();", "  total_ = total.value() + (job_.sizes.keys % 8 ? std::exp(-std::max(maximum_, -700.0)) : 0);"),
    ("no maximum", ROW, "maximum_ = std::max(maximum_, score);", "maximum_ = 0 * score == 0 ? 0 : maximum_;"),
    ("maximum from 0", ROW, "  maximum_ = sink;", "  maximum_ = std::max(sink, 0.0);"),
    ("maximum of the first block", ROW, "for (const double score : masked_) maximum_ = std::max(maximum_, score);",
     "for (std::size_t j = 0; j < std::min<std::size_t>(masked_.size(), 8); ++j) maximum_ = std::max(maximum_, masked_[j]);"),
    ("maximum over blocked keys too", ROW, "for (const double score : masked_)", "for (const double score : capped_)"),
    ("key head by modulo", ROW, "const Index kv_head = job_.kv_head(head_), d =", "const Index kv_head = head_ % job_.sizes.kv_heads, d ="),
    ("value of head 0", ROW, "add_value(weights_[index(j)], job_.value.row<T>(batch_, kv_head, j));", "add_value(weights_[index(j)], job_.value.row<T>(batch_, 0 * kv_head, j));"),
    ("value of batch item 0", ROW, "add_value(weights_[index(j)], job_.value.row<T>(batch_, kv_head, j));", "add_value(weights_[index(j)], job_.value.row<T>(0, kv_head, j));"),
    ("key and value swapped", "core/attention.cpp", "  if (inputs.value) job.value = *inputs.value;",
     "  if (inputs.value) job.value = *inputs.value;\n  if (inputs.value && inputs.value->columns == inputs.key.columns) std::swap(job.key, job.value);"),
    ("softcap after the mask", ROW, "xt::where(allowed > 0, capped, -kInfinity);", "xt::where(allowed > 0, capped, job_.softcap > 0 ? -job_.softcap : -kInfinity);"),
    ("softcap after the bias", ROW, "  xt::noalias(biased) = capped + biased;",
     "  if (job_.softcap > 0)\n    xt::noalias(biased) = job_.softcap * xt::tanh((cells(raw_) + biased) / job_.softcap);\n  else\n    xt::noalias(biased) = capped + biased;"),
    ("softcap without its factor", ROW, "C * xt::tanh(raw / C)", "xt::tanh(raw / C)"),
    ("rough exp", ROW, "xt::exp(masked - maximum_)", "xt::exp((masked - maximum_) * 1.0002)"),
    ("mask by multiplying", ROW, "    if (allowed_[index(j)]) add_value(", "    add_value("),
    ("mask adds a number", ROW, "xt::where(allowed > 0, xt::exp(masked - maximum_), 0.0)", "xt::exp(xt::where(allowed > 0, masked, -1e4) - std::max(maximum_, -1e4))"),
    ("float32 weights", ROW, "  weights /= total_;", "  weights = xt::cast<double>(xt::cast<float>(weights / total_));"),
    ("bfloat16 sums", ROW, "    const double addend = weight * static_cast<double>(value[c]);", "    const double addend = weight * static_cast<double>(value[c]) * (1 + 0x1p-9 * (c % 2));"),
    ("plain sums of values", ROW, "sum + error_[index(c)]", "sum"),
    ("last row stale", "core/kernels/reference.cpp", "      if (wanted_.output) worker.row", "      if (wanted_.output && (i == 0 || i + 1 < job_.sizes.queries)) worker.row"),
    ("sink left out of the sum", ROW, "  if (sink > -kInfinity) total.add(std::exp(sink - maximum_));", ""),
    ("sink of head 0", ROW, "job_.sinks[index(head_)]", "job_.sinks[0]"),
    ("empty rows keep the sum", ROW, "    weights.fill(std::numeric_limits<double>::quiet_NaN());", "    weights.fill(0.0);"),
    ("bias not added", ROW, "xt::noalias(biased) = capped + biased;", "xt::noalias(biased) = capped + 0 * biased;"),
    ("bias scaled", ROW, "xt::noalias(biased) = capped + biased;", "xt::noalias(biased) = capped + job_.scale * biased;"),
    ("window counts itself", "core/masks/window.cpp", ": position - left_,", ": position - left_ + 1,"),
    ("window open to the right", "core/masks/window.cpp", "position + right_ + 1};", "position + right_ + 2};"),
    ("key length off by one", "core/masks/padding.cpp", "std::clamp(length(batch), keys.begin, keys.end)", "std::clamp(length(batch) + 1, keys.begin, keys.end)"),
    ("key length of batch item 0", "core/masks/padding.cpp", "lengths_[static_cast<std::size_t>(batch)]", "lengths_[0 * static_cast<std::size_t>(batch)]"),
    ("documents of batch item 0", "core/masks/document.cpp", "static_cast<Index>(key_ids_.size()) == sizes_.keys ? 0 : batch * sizes_.keys", "0 * batch"),
    ("keep and block mixed up", "core/masks/boolean.cpp", "blocking_(array.kind == MaskKind::block)", "blocking_(array.kind == MaskKind::keep)"),
    ("rank 3 taken as batch", "core/masks/mask_cells.cpp", "const std::size_t axis = kRank - shape.size() + i;", "const std::size_t axis = shape.size() == 3 && i == 0 ? 0 : kRank - shape.size() + i;"),
    ("minus infinity is added", "core/masks/additive.cpp", "bool blocks() const override { return kinds_.minus_infinity != 0; }", "bool blocks() const override { return false; }"),
    ("ALiBi slopes start late", "core/masks/alibi.cpp", "-8.0 * static_cast<double>(k) /", "-8.0 * static_cast<double>(k + 1) /"),
    ("ALiBi without the offset", "core/masks/alibi.cpp", "positions_.of(batch, query) - keys.begin", "query + 0 * batch - keys.begin"),
    ("mean of all heads", "core/heads.cpp", "weight /= static_cast<double>(count_);", "weight /= static_cast<double>(count_ + 1);"),
    ("heads written in their own order", "core/heads.cpp", "  if (!wanted.empty()) return wanted;", "  if (!wanted.empty()) {\n    std::vector<Index> sorted = wanted;\n    std::sort(sorted.begin(), sorted.end());\n    return sorted;\n  }"),
]

# Enough to see that the run itself works; all of them with --full.
QUICK = ("causal off by one", "no maximum", "mask by multiplying")
