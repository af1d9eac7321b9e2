#pragma once
/// AVX-512 functions in a build that runs on every CPU. MOTES_HAS_AVX512: whether the compiler supports them;
/// MOTES_AVX512: marks such a function; has_avx512(): whether this CPU supports them. For source files only.

#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__)
#define MOTES_HAS_AVX512 1
#ifndef __clang__  // GCC 12 warns of values that its own header leaves undefined on purpose
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#else
#define MOTES_HAS_AVX512 0
#endif

#if MOTES_HAS_AVX512
#define MOTES_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,popcnt,bmi2")))

namespace motes {

/// The mask of the first `count` of 16 lanes, 0 to 16.
MOTES_AVX512 inline __mmask16 first_lanes(std::int64_t count) {
  return static_cast<__mmask16>(_bzhi_u32(0xffffu, static_cast<std::uint32_t>(count)));
}

inline bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2");
}

}  // namespace motes
#endif
