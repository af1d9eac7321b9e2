/// The row scan for each number type, with AVX2 if the CPU has it.

#include "matching/assignment/dense/row_scan.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "matching/assignment/dense/row_keys.h"

// The pass is bound by memory only if it takes no more than about a cycle an entry, which the compiler's own
// vectorising does not reach here: the comparisons are therefore written out for AVX2.
#if defined(__x86_64__) && defined(__GNUC__)
#define MOTES_SCAN_AVX2 1
#define MOTES_AVX2 __attribute__((target("avx2")))
#include <immintrin.h>
#else
#define MOTES_SCAN_AVX2 0
#endif

namespace motes::matching::detail {
namespace {

/// Magnitudes of floats and doubles have the order of their bits, without the sign, as integers; NaN comes
/// last.
template <class T>
struct Bits;
template <>
struct Bits<float> {
  using Int = std::int32_t;
};
template <>
struct Bits<double> {
  using Int = std::int64_t;
};

template <class T>
RowScan<T> conclude(const T* row, Index count, Index hits, [[maybe_unused]] std::int64_t largest_bits) {
  RowScan<T> out{hits, 0, false};
  if constexpr (std::is_floating_point_v<T>) {
    using Int = typename Bits<T>::Int;
    const auto bits = static_cast<Int>(largest_bits);
    if (bits < std::bit_cast<Int>(std::numeric_limits<T>::infinity())) {
      out.largest = std::bit_cast<T>(bits);
    } else {  // a forbidden or invalid entry
      const auto close = row_magnitude(row, count);
      out.largest = close.largest;
      out.bad = close.bad;
    }
  }
  return out;
}

/// The entries from `first` on, after `hits` were found and magnitudes up to `bits` were seen.
template <class T>
RowScan<T> scan_rest(const T* row, Index first, Index count, T limit, Index* hit, Index hits,
                     std::int64_t bits) {
  for (Index j = first; j < count; ++j) {
    if (row[j] <= limit) hit[hits++] = j;
    if constexpr (std::is_floating_point_v<T>) {
      using Int = typename Bits<T>::Int;
      const Int mine = std::bit_cast<Int>(row[j]) & std::numeric_limits<Int>::max();
      if (mine > bits) bits = mine;
    }
  }
  return conclude(row, count, hits, bits);
}

template <class T>
Index scan_below_rest(const T* row, Index first, Index count, double u, const double* v, Index* hit,
                      Index hits) {
  for (Index j = first; j < count; ++j)
    if (static_cast<double>(row[j]) < u + v[j]) hit[hits++] = j;
  return hits;
}

#if MOTES_SCAN_AVX2

constexpr Index kBlock = 16;  ///< entries that are decided together

/// Bit k is set where x[k] <= limit, for the lanes of one register; `largest` becomes the larger of itself
/// and the magnitudes.
MOTES_AVX2 inline unsigned lanes(const double* x, __m256d limit, __m256i& largest) {
  const __m256d value = _mm256_loadu_pd(x);
  const __m256i magnitude = _mm256_and_si256(_mm256_castpd_si256(value),
                                             _mm256_set1_epi64x(std::numeric_limits<std::int64_t>::max()));
  largest = _mm256_blendv_epi8(largest, magnitude, _mm256_cmpgt_epi64(magnitude, largest));
  const __m256d in = _mm256_cmp_pd(value, limit, _CMP_LE_OQ);
  return static_cast<unsigned>(_mm256_movemask_pd(in));
}
MOTES_AVX2 inline unsigned lanes(const float* x, __m256 limit, __m256i& largest) {
  const __m256 value = _mm256_loadu_ps(x);
  largest = _mm256_max_epi32(largest, _mm256_and_si256(_mm256_castps_si256(value),
                                                       _mm256_set1_epi32(std::numeric_limits<int>::max())));
  const __m256 in = _mm256_cmp_ps(value, limit, _CMP_LE_OQ);
  return static_cast<unsigned>(_mm256_movemask_ps(in));
}
/// The limit is exclusive here: AVX2 compares integers by > alone.
MOTES_AVX2 inline unsigned lanes(const std::int32_t* x, __m256i limit, __m256i&) {
  const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
  const __m256i in = _mm256_cmpgt_epi32(limit, value);
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(in)));
}
MOTES_AVX2 inline unsigned lanes(const std::int64_t* x, __m256i limit, __m256i&) {
  const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
  const __m256i in = _mm256_cmpgt_epi64(limit, value);
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(in)));
}

// A legal limit of an integer is below the type's largest value, the mark of a forbidden pair.
MOTES_AVX2 inline __m256d spread(double limit) { return _mm256_set1_pd(limit); }
MOTES_AVX2 inline __m256 spread(float limit) { return _mm256_set1_ps(limit); }
MOTES_AVX2 inline __m256i spread(std::int32_t limit) { return _mm256_set1_epi32(limit + 1); }
MOTES_AVX2 inline __m256i spread(std::int64_t limit) { return _mm256_set1_epi64x(limit + 1); }

template <class T>
std::int64_t greatest(const std::int64_t (&lane)[4]) {
  std::int64_t out = 0;
  for (const std::int64_t pair : lane) {
    if constexpr (sizeof(T) == 8) {
      out = pair > out ? pair : out;
    } else {
      for (const std::int64_t half : {pair & 0xffffffff, pair >> 32}) out = half > out ? half : out;
    }
  }
  return out;
}

template <class T>
MOTES_AVX2 RowScan<T> scan_row_avx2(const T* row, Index count, T limit, Index* hit) {
  constexpr Index kLanes = 32 / sizeof(T);
  const auto limits = spread(limit);
  constexpr Index kRegisters = kBlock / kLanes;
  __m256i largest[kRegisters];  // one each: a single one would be a dependency chain that takes longer than
                                // the rest
  for (__m256i& one : largest) one = _mm256_setzero_si256();
  Index hits = 0, j = 0;
  for (; j + kBlock <= count; j += kBlock) {
    unsigned mask = 0;
#pragma GCC unroll 4
    for (Index k = 0; k < kRegisters; ++k) {
      const Index first = j + k * kLanes;
      mask |= lanes(row + first, limits, largest[k]) << (k * kLanes);
    }
    for (; mask != 0; mask &= mask - 1) hit[hits++] = j + std::countr_zero(mask);
  }
  std::int64_t bits = 0;
  for (const __m256i& one : largest) {
    alignas(32) std::int64_t lane[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lane), one);
    bits = std::max(bits, greatest<T>(lane));
  }
  return scan_rest(row, j, count, limit, hit, hits, bits);
}

MOTES_AVX2 inline __m256d four(const double* x) { return _mm256_loadu_pd(x); }
MOTES_AVX2 inline __m256d four(const float* x) { return _mm256_cvtps_pd(_mm_loadu_ps(x)); }
MOTES_AVX2 inline __m256d four(const std::int32_t* x) {
  return _mm256_cvtepi32_pd(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}

template <class T>
MOTES_AVX2 Index scan_below_avx2(const T* row, Index count, double u, const double* v, Index* hit) {
  const __m256d base = _mm256_set1_pd(u);
  Index hits = 0, j = 0;
  for (; j + kBlock <= count; j += kBlock) {
    unsigned mask = 0;
#pragma GCC unroll 4
    for (Index k = 0; k < kBlock; k += 4) {
      const __m256d below =
          _mm256_cmp_pd(four(row + j + k), _mm256_add_pd(base, _mm256_loadu_pd(v + j + k)), _CMP_LT_OQ);
      mask |= static_cast<unsigned>(_mm256_movemask_pd(below)) << k;
    }
    for (; mask != 0; mask &= mask - 1) hit[hits++] = j + std::countr_zero(mask);
  }
  return scan_below_rest(row, j, count, u, v, hit, hits);
}

#endif

}  // namespace

Instructions best_instructions() {
#if MOTES_SCAN_AVX2
  static const bool has = __builtin_cpu_supports("avx2");
  return has ? Instructions::avx2 : Instructions::plain;
#else
  return Instructions::plain;
#endif
}

template <class T>
RowScan<T> scan_row([[maybe_unused]] Instructions instructions, const T* row, Index count, T limit,
                    Index* hit) {
#if MOTES_SCAN_AVX2
  if (instructions == Instructions::avx2) return scan_row_avx2(row, count, limit, hit);
#endif
  return scan_rest(row, 0, count, limit, hit, 0, 0);
}

template <class T>
Index scan_below([[maybe_unused]] Instructions instructions, const T* row, Index count, double u,
                 const double* v, Index* hit) {
#if MOTES_SCAN_AVX2
  if (instructions == Instructions::avx2) return scan_below_avx2(row, count, u, v, hit);
#endif
  return scan_below_rest(row, 0, count, u, v, hit, 0);
}

template RowScan<std::int32_t> scan_row(Instructions, const std::int32_t*, Index, std::int32_t, Index*);
template RowScan<std::int64_t> scan_row(Instructions, const std::int64_t*, Index, std::int64_t, Index*);
template RowScan<float> scan_row(Instructions, const float*, Index, float, Index*);
template RowScan<double> scan_row(Instructions, const double*, Index, double, Index*);
template Index scan_below(Instructions, const std::int32_t*, Index, double, const double*, Index*);
template Index scan_below(Instructions, const float*, Index, double, const double*, Index*);
template Index scan_below(Instructions, const double*, Index, double, const double*, Index*);

}  // namespace motes::matching::detail
