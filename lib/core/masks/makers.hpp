#pragma once

#include "core/masks/mask_list.hpp"

namespace attn {
inline namespace v1 {

// The rows of THE LIST, each in the file of its name. Options that do not fit throw `usage` or `mismatch`.
void make_causal(const MaskContext& context, std::vector<std::unique_ptr<Mask>>& masks);
void make_window(const MaskContext& context, std::vector<std::unique_ptr<Mask>>& masks);
void make_padding(const MaskContext& context, std::vector<std::unique_ptr<Mask>>& masks);
void make_documents(const MaskContext& context, std::vector<std::unique_ptr<Mask>>& masks);
void make_boolean(const MaskContext& context, std::vector<std::unique_ptr<Mask>>& masks);
void make_additive(const MaskContext& context, std::vector<std::unique_ptr<Mask>>& masks);
void make_alibi(const MaskContext& context, std::vector<std::unique_ptr<Mask>>& masks);

}  // namespace v1
}  // namespace attn
