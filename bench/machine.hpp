#pragma once

#include <string>

namespace attn::bench {

/// "AMD EPYC, 2 CPUs, GCC 12.2.0, avx2, pages 4 KiB (huge: madvise)".
std::string machine_text();

}  // namespace attn::bench
