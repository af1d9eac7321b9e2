/// Checks the symmetry of a general graph in parallel.

#include "matching/greedy/symmetry.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <type_traits>

#include <motes/base/hash.h>
#include <motes/base/index.h>

#include "matching/greedy/avx512_lists.h"

namespace motes::matching::detail {
namespace {

constexpr std::uint64_t kOfEnds = 0x9e3779b97f4a7c15, kOfWeight = 0xd6e8feb86659fd93;

/// The bits that represent a weight; equal weights have equal bits.
template <class T>
std::uint64_t bits_of(T weight) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<std::uint64_t>(weight);
  else
    return std::bit_cast<std::uint64_t>(static_cast<double>(weight) + 0.0);  // -0 is 0
}

/// The bits of entry e's weight.
template <class T>
struct BitsOf {
  std::span<const T> weights;  ///< [nnz], or empty: 1 each
  std::uint64_t operator()(Offset e) const { return weights.empty() ? 1 : bits_of(weights[at(e)]); }
};

/// Consecutive entries, with the vertex that lists each.
struct Piece {
  static constexpr Offset kMost = 1024, kMargin = 16;
  Offset begin, end;
  std::array<Index, kMost + kMargin> vertex;
};

template <class Bits>
std::uint64_t sum_of(const Piece& piece, const Index* col_index, const Bits& bits) {
  std::uint64_t sum = 0;
  for (Offset e = piece.begin; e < piece.end; ++e) {
    const Index v = piece.vertex[at(e - piece.begin)], w = col_index[e];
    const auto low = static_cast<std::uint64_t>(std::min(v, w)),
               high = static_cast<std::uint64_t>(std::max(v, w));
    const std::uint64_t hash = splitmix64_finaliser((low << 32 | high) * kOfEnds + bits(e) * kOfWeight);
    sum += v < w ? hash : w < v ? 0 - hash : 0;
  }
  return sum;
}

#if MOTES_HAS_AVX512
#define MOTES_WIDE_LONG __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,popcnt,bmi2")))

bool cpu_multiplies_wide() {
  static const bool has = has_avx512() && __builtin_cpu_supports("avx512dq");
  return has;
}

MOTES_WIDE_LONG __m512i times(__m512i a, std::uint64_t b) {
  return _mm512_mullo_epi64(a, _mm512_set1_epi64(static_cast<long long>(b)));
}

MOTES_WIDE_LONG __m512i bits_wide(const BitsOf<float>& bits, Offset e, __mmask8 mask) {
  if (bits.weights.empty()) return _mm512_set1_epi64(1);
  const __m256 weights = _mm256_maskz_loadu_ps(mask, bits.weights.data() + e);
  return _mm512_castpd_si512(_mm512_add_pd(_mm512_maskz_cvtps_pd(mask, weights), _mm512_setzero_pd()));
}
MOTES_WIDE_LONG __m512i bits_wide(const BitsOf<double>& bits, Offset e, __mmask8 mask) {
  if (bits.weights.empty()) return _mm512_set1_epi64(1);
  const __m512d weights = _mm512_maskz_loadu_pd(mask, bits.weights.data() + e);
  return _mm512_castpd_si512(_mm512_add_pd(weights, _mm512_setzero_pd()));
}
MOTES_WIDE_LONG __m512i bits_wide(const BitsOf<std::int64_t>& bits, Offset e, __mmask8 mask) {
  if (bits.weights.empty()) return _mm512_set1_epi64(1);
  return _mm512_maskz_loadu_epi64(mask, bits.weights.data() + e);
}

/// sum_of, eight entries at a time.
template <class Bits>
MOTES_WIDE_LONG std::uint64_t sum_of_wide(const Piece& piece, const Index* col_index, const Bits& bits) {
  constexpr std::uint64_t kFirst = 0xbf58476d1ce4e5b9, kSecond = 0x94d049bb133111eb;  // splitmix64_finaliser
  __m512i sum = _mm512_setzero_si512();
  for (Offset e = piece.begin; e < piece.end; e += 8) {
    const __mmask8 mask = mask_of(piece.end - e);
    const __m256i v = _mm256_maskz_loadu_epi32(mask, piece.vertex.data() + (e - piece.begin));
    const __m256i w = _mm256_maskz_loadu_epi32(mask, col_index + e);
    const __m512i low = _mm512_maskz_cvtepu32_epi64(mask, _mm256_min_epi32(v, w));
    const __m512i high = _mm512_maskz_cvtepu32_epi64(mask, _mm256_max_epi32(v, w));
    __m512i x =
        _mm512_add_epi64(times(_mm512_or_epi64(_mm512_maskz_slli_epi64(mask, low, 32), high), kOfEnds),
                         times(bits_wide(bits, e, mask), kOfWeight));
    x = times(_mm512_xor_epi64(x, _mm512_maskz_srli_epi64(mask, x, 30)), kFirst);
    x = times(_mm512_xor_epi64(x, _mm512_maskz_srli_epi64(mask, x, 27)), kSecond);
    x = _mm512_xor_epi64(x, _mm512_maskz_srli_epi64(mask, x, 31));
    sum = _mm512_mask_add_epi64(sum, _mm256_mask_cmplt_epi32_mask(mask, v, w), sum, x);
    sum = _mm512_mask_sub_epi64(sum, _mm256_mask_cmplt_epi32_mask(mask, w, v), sum, x);
  }
  std::array<std::uint64_t, 8> sums;
  _mm512_storeu_si512(sums.data(), sum);
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}
#endif

/// The sum over a range of entries, in pieces of fixed size, since lists are short and of any length.
template <class Bits>
std::uint64_t sum_of_run(const BipartiteGraphView& graph, Offset begin, Offset end, const Bits& bits) {
  const auto& offsets = graph.row_offsets;
  auto v = static_cast<Index>(std::upper_bound(offsets.begin(), offsets.end(), begin) - offsets.begin() - 1);
  Piece piece;
  std::uint64_t sum = 0;
  for (Offset e = begin; e < end; e = piece.end) {
    piece.begin = e;
    piece.end = std::min(end, e + Piece::kMost);
    for (Offset from = e; from < piece.end;) {
      const Offset list_end = offsets[at(v) + 1], to = std::min(piece.end, list_end);
      // Whole chunks, beyond the end of the list: the next list overwrites the excess.
      for (Index* place = piece.vertex.data() + (from - e); from < to;
           from += Piece::kMargin, place += Piece::kMargin)
        std::fill_n(place, Piece::kMargin, v);
      from = to;
      if (to == list_end) ++v;
    }
#if MOTES_HAS_AVX512
    if (cpu_multiplies_wide()) {
      sum += sum_of_wide(piece, graph.col_index.data(), bits);
      continue;
    }
#endif
    sum += sum_of(piece, graph.col_index.data(), bits);
  }
  return sum;
}

}  // namespace

std::uint64_t imbalance(const GreedyProblem& problem, int threads) {
  const auto& graph = problem.graph;
  return std::visit(
      [&]<class T>(std::span<const T> weights) {
        constexpr Offset kRun = 64 * Piece::kMost;
        const Offset edges = graph.edges(), runs = (edges + kRun - 1) / kRun;
        const BitsOf<T> bits{weights};
        std::uint64_t sum = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum) if (threads > 1)
        for (Offset run = 0; run < runs; ++run)
          sum += sum_of_run(graph, run * kRun, std::min(edges, (run + 1) * kRun), bits);
        return sum;
      },
      problem.weights);
}

}  // namespace motes::matching::detail
