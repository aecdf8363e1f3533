#include "bench/peak.hpp"

#include <immintrin.h>
#include <pthread.h>
#include <time.h>

// Plain C-like code: this file is built for newer CPUs than the rest and must share no inline function with it.
namespace attn::bench {
namespace {

double clock_of(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
/// Of this thread alone: a peak is not lower because another process had the core.
double now() { return clock_of(CLOCK_THREAD_CPUTIME_ID); }

constexpr long kRounds = 250000;
constexpr int kChains = 12;
constexpr int kMostThreads = 64;

struct Result {
  double seconds = 0;
  double sum = 0;  // so that nothing is left out
};

__m256 first(int chain) { return _mm256_set1_ps(1.0f + 0.01f * static_cast<float>(chain)); }
__m256d first_wide(int chain) { return _mm256_set1_pd(1.0 + 0.01 * chain); }

[[gnu::noinline]] void multiply_f32(Result& result) {
  const __m256 factor = _mm256_set1_ps(0.999f), addend = _mm256_set1_ps(1e-6f);
  // Chains that begin alike would be computed once.
  __m256 a = first(0), b = first(1), c = first(2), d = first(3), e = first(4), f = first(5);
  __m256 g = first(6), h = first(7), i = first(8), j = first(9), k = first(10), l = first(11);
  const double start = now();
  for (long round = 0; round < kRounds; ++round) {
    a = _mm256_fmadd_ps(a, factor, addend), b = _mm256_fmadd_ps(b, factor, addend), c = _mm256_fmadd_ps(c, factor, addend);
    d = _mm256_fmadd_ps(d, factor, addend), e = _mm256_fmadd_ps(e, factor, addend), f = _mm256_fmadd_ps(f, factor, addend);
    g = _mm256_fmadd_ps(g, factor, addend), h = _mm256_fmadd_ps(h, factor, addend), i = _mm256_fmadd_ps(i, factor, addend);
    j = _mm256_fmadd_ps(j, factor, addend), k = _mm256_fmadd_ps(k, factor, addend), l = _mm256_fmadd_ps(l, factor, addend);
  }
  result.seconds = now() - start;
  const __m256 sum = a + b + c + d + e + f + g + h + i + j + k + l;
  result.sum = static_cast<double>(_mm256_cvtss_f32(sum));
}

[[gnu::noinline]] void multiply_f64(Result& result) {
  const __m256d factor = _mm256_set1_pd(0.999), addend = _mm256_set1_pd(1e-6);
  __m256d a = first_wide(0), b = first_wide(1), c = first_wide(2), d = first_wide(3), e = first_wide(4), f = first_wide(5);
  __m256d g = first_wide(6), h = first_wide(7), i = first_wide(8), j = first_wide(9), k = first_wide(10), l = first_wide(11);
  const double start = now();
  for (long round = 0; round < kRounds; ++round) {
    a = _mm256_fmadd_pd(a, factor, addend), b = _mm256_fmadd_pd(b, factor, addend), c = _mm256_fmadd_pd(c, factor, addend);
    d = _mm256_fmadd_pd(d, factor, addend), e = _mm256_fmadd_pd(e, factor, addend), f = _mm256_fmadd_pd(f, factor, addend);
    g = _mm256_fmadd_pd(g, factor, addend), h = _mm256_fmadd_pd(h, factor, addend), i = _mm256_fmadd_pd(i, factor, addend);
    j = _mm256_fmadd_pd(j, factor, addend), k = _mm256_fmadd_pd(k, factor, addend), l = _mm256_fmadd_pd(l, factor, addend);
  }
  result.seconds = now() - start;
  result.sum = _mm256_cvtsd_f64(a + b + c + d + e + f + g + h + i + j + k + l);
}

struct Part {
  const char* memory;
  unsigned long bytes;
  Result result;
};

[[gnu::noinline]] void read_part(Part& part) {
  __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
  const double start = now();
  for (unsigned long at = 0; at + 128 <= part.bytes; at += 128) {
    const __m256i* line = reinterpret_cast<const __m256i*>(part.memory + at);
    a = _mm256_xor_si256(a, _mm256_loadu_si256(line)), b = _mm256_xor_si256(b, _mm256_loadu_si256(line + 1));
    c = _mm256_xor_si256(c, _mm256_loadu_si256(line + 2)), d = _mm256_xor_si256(d, _mm256_loadu_si256(line + 3));
  }
  part.result.seconds = now() - start;
  const __m256i all = _mm256_xor_si256(_mm256_xor_si256(a, b), _mm256_xor_si256(c, d));
  part.result.sum = static_cast<double>(_mm256_extract_epi32(all, 0));
}

void* run_f32(void* result) { return multiply_f32(*static_cast<Result*>(result)), nullptr; }
void* run_f64(void* result) { return multiply_f64(*static_cast<Result*>(result)), nullptr; }
void* run_read(void* part) { return read_part(*static_cast<Part*>(part)), nullptr; }

/// FLOP/s of all threads side by side, each by its own clock; the best of three.
double best_rate(void* (*work)(void*), int threads, double flop) {
  Result results[kMostThreads];
  pthread_t helpers[kMostThreads];
  double best = 0;
  for (int attempt = 0; attempt < 3; ++attempt) {
    for (int t = 1; t < threads; ++t) pthread_create(&helpers[t], nullptr, work, &results[t]);
    work(&results[0]);
    double rate = flop / results[0].seconds;
    for (int t = 1; t < threads; ++t) {
      pthread_join(helpers[t], nullptr);
      rate += flop / results[t].seconds;
    }
    best = rate > best ? rate : best;
  }
  return best;
}

int bounded(int threads) { return threads < 1 ? 1 : (threads > kMostThreads ? kMostThreads : threads); }

}  // namespace

double peak_f32(int threads) { return best_rate(run_f32, bounded(threads), 16.0 * kChains * kRounds); }
double peak_f64(int threads) { return best_rate(run_f64, bounded(threads), 8.0 * kChains * kRounds); }

double read_bandwidth(const void* memory, unsigned long bytes, int threads) {
  threads = bounded(threads);
  Part parts[kMostThreads];
  pthread_t helpers[kMostThreads];
  const unsigned long share = bytes / static_cast<unsigned long>(threads);
  for (int t = 0; t < threads; ++t)
    parts[t] = {static_cast<const char*>(memory) + share * static_cast<unsigned long>(t), share, {}};
  const double start = clock_of(CLOCK_MONOTONIC);
  for (int t = 1; t < threads; ++t) pthread_create(&helpers[t], nullptr, run_read, &parts[t]);
  read_part(parts[0]);
  for (int t = 1; t < threads; ++t) pthread_join(helpers[t], nullptr);
  return static_cast<double>(bytes) / (clock_of(CLOCK_MONOTONIC) - start);
}

}  // namespace attn::bench
