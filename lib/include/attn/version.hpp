#pragma once

#include <string_view>

namespace attn {
inline namespace v1 {

/// "MAJOR.MINOR.PATCH" of the library that is linked. The namespace says which releases share an interface: what is in
/// v1 keeps its meaning, and a program built for another one does not link.
std::string_view version() noexcept;

}  // namespace v1
}  // namespace attn
