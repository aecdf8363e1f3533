#include "core/masks/mask_list.hpp"

#include <array>

#include "core/masks/makers.hpp"

namespace attn {
inline namespace v1 {

std::span<const MaskMaker> mask_makers() {
  static constexpr std::array kMakers{
      MaskMaker{"causal", make_causal},       MaskMaker{"window", make_window},   MaskMaker{"key lengths", make_padding},
      MaskMaker{"documents", make_documents}, MaskMaker{"boolean", make_boolean}, MaskMaker{"additive", make_additive},
      MaskMaker{"alibi", make_alibi},
  };
  return kMakers;
}

}  // namespace v1
}  // namespace attn
