#include "attn/version.hpp"

namespace attn {
inline namespace v1 {

std::string_view version() noexcept { return ATTN_VERSION; }

}  // namespace v1
}  // namespace attn
