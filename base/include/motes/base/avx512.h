#pragma once
/// AVX-512 functions in a build that runs on every CPU. MOTES_HAS_AVX512: whether the compiler supports them;
/// MOTES_AVX512: marks such a function; has_avx512(): whether this CPU supports them. For source files only.

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

inline bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2");
}

}  // namespace motes
#endif
