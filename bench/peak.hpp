#pragma once

namespace attn::bench {

/// Multiply-adds per second that this many threads reach in registers alone, times two: the peak in FLOP/s.
double peak_f32(int threads);
double peak_f64(int threads);
/// Bytes per second at which this many threads read the memory.
double read_bandwidth(const void* memory, unsigned long bytes, int threads);

}  // namespace attn::bench
