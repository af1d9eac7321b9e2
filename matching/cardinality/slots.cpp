#include "matching/cardinality/slots.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "matching/cardinality/search.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define MOTES_WIDE 1
#ifndef __clang__  // GCC 12 takes what its own header leaves undefined on purpose for a mistake
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#else
#define MOTES_WIDE 0
#endif

namespace motes::matching::detail {
namespace {

/// The least two of words label << 16 | place, without a branch, which would go wrong once a row.
struct LeastTwo {
  std::uint32_t best, second;
  explicit LeastTwo(std::uint32_t no_path) : best(no_path << 16 | 0xffffu), second(best) {}
  void take(std::uint32_t word) {
    const std::uint32_t larger = std::max(best, word);
    best = std::min(best, word);
    second = std::min(second, larger);
  }
  std::uint16_t label() const { return static_cast<std::uint16_t>(best >> 16); }
  std::size_t place() const { return best & 0xffffu; }
  std::uint16_t next() const { return static_cast<std::uint16_t>(second >> 16); }
};

bool is_seen(const std::uint32_t* seen, Index i) { return (seen[i >> 5] >> (i & 31) & 1) != 0; }

template <std::size_t kCount, class Label>
Offer plain_offer(const Index* slots, const Label* label_of, Index none) {
  LeastTwo least(kNoShortPath<Label>);
  std::size_t e = 0;
  for (; e < kCount && slots[e] != none; ++e)
    least.take(std::uint32_t{label_of[slots[e]]} << 16 | static_cast<std::uint32_t>(e));
  return {slots[least.place() % kCount], least.label(), least.next(), static_cast<std::int64_t>(e)};
}

template <std::size_t kCount>
Unseen plain_unseen(const Index* slots, const std::uint32_t* seen, Index none, Index* out) {
  std::size_t e = 0, found = 0;
  for (; e < kCount && slots[e] != none; ++e) {
    out[found] = slots[e];
    found += !is_seen(seen, slots[e]);
  }
  return {static_cast<std::int64_t>(found), static_cast<std::int64_t>(e)};
}

template <std::size_t kCount>
constexpr SlotReader kPlain{&plain_offer<kCount, std::uint8_t>, &plain_offer<kCount, std::uint16_t>,
                            &plain_unseen<kCount>};

#if MOTES_WIDE
#define MOTES_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,popcnt")))

MOTES_AVX512 inline std::uint32_t least_of(__m256i labels) {
  const __m128i less = _mm_min_epu16(_mm256_castsi256_si128(labels), _mm256_extracti128_si256(labels, 1));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_minpos_epu16(less))) & 0xffffu;
}

// Labels are fetched as four bytes each, of which one or two are kept: the array has room behind its end.
template <std::size_t kCount, class Label>
MOTES_AVX512 Offer wide_offer(const Index* slots, const Label* label_of, Index none) {
  constexpr int kBits = static_cast<int>(kNoShortPath<Label>);
  LeastTwo least(kNoShortPath<Label>);
  unsigned looks = 0;
  if constexpr (kCount == 8) {
    const __m256i cols = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(slots));
    const __m256i words =
        _mm256_and_si256(_mm256_i32gather_epi32(reinterpret_cast<const int*>(label_of), cols, sizeof(Label)),
                         _mm256_set1_epi32(kBits));
    __m128i labels = _mm256_cvtepi32_epi16(words);
    const auto first = static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_minpos_epu16(labels)));
    labels = _mm_mask_set1_epi16(labels, static_cast<__mmask8>(1u << (first >> 16)), -1);
    const auto second = static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_minpos_epu16(labels)));
    least.take(first << 16 | first >> 16);
    least.second = std::min(least.second, second << 16);
    looks = static_cast<unsigned>(_mm_popcnt_u32(_mm256_cmpneq_epi32_mask(cols, _mm256_set1_epi32(none))));
  } else {
    for (unsigned k = 0; k < kCount; k += 16) {
      const __m512i cols = _mm512_loadu_si512(slots + k);
      const __m512i words =
          _mm512_and_si512(_mm512_i32gather_epi32(cols, label_of, sizeof(Label)), _mm512_set1_epi32(kBits));
      const __m256i labels = _mm512_cvtepi32_epi16(words);
      const std::uint32_t label = least_of(labels);
      const auto same = static_cast<std::uint32_t>(
          _mm256_cmpeq_epi16_mask(labels, _mm256_set1_epi16(static_cast<short>(label))));
      const std::uint32_t first = same & (0u - same);
      least.take(label << 16 | (k + static_cast<unsigned>(std::countr_zero(first))));
      const __m256i others = _mm256_mask_set1_epi16(labels, static_cast<__mmask16>(first), -1);
      least.second = std::min(least.second, least_of(others) << 16);
      looks += static_cast<unsigned>(_mm_popcnt_u32(_mm512_cmpneq_epi32_mask(cols, _mm512_set1_epi32(none))));
      if (kCount > 16 && slots[k + 15] == none) break;
    }
  }
  return {slots[least.place() % kCount], least.label(), least.next(), looks};
}

template <std::size_t kCount>
MOTES_AVX512 Unseen wide_unseen(const Index* slots, const std::uint32_t* seen, Index none, Index* out) {
  unsigned looks = 0, found = 0;
  if constexpr (kCount == 8) {
    const __m256i rows = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(slots));
    const __m256i words =
        _mm256_i32gather_epi32(reinterpret_cast<const int*>(seen), _mm256_srai_epi32(rows, 5), 4);
    const __m256i bits =
        _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_and_si256(rows, _mm256_set1_epi32(31)));
    const __mmask8 fresh = _mm256_testn_epi32_mask(words, bits);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_maskz_compress_epi32(fresh, rows));
    found = static_cast<unsigned>(_mm_popcnt_u32(fresh));
    looks = static_cast<unsigned>(_mm_popcnt_u32(_mm256_cmpneq_epi32_mask(rows, _mm256_set1_epi32(none))));
  } else {
    for (unsigned k = 0; k < kCount; k += 16) {
      const __m512i rows = _mm512_loadu_si512(slots + k);
      const __m512i words = _mm512_i32gather_epi32(_mm512_srai_epi32(rows, 5), seen, 4);
      const __m512i bits =
          _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(rows, _mm512_set1_epi32(31)));
      const __mmask16 fresh = _mm512_testn_epi32_mask(words, bits);
      _mm512_storeu_si512(out + found, _mm512_maskz_compress_epi32(fresh, rows));
      found += static_cast<unsigned>(_mm_popcnt_u32(fresh));
      looks += static_cast<unsigned>(_mm_popcnt_u32(_mm512_cmpneq_epi32_mask(rows, _mm512_set1_epi32(none))));
      if (kCount > 16 && slots[k + 15] == none) break;
    }
  }
  return {found, looks};
}

template <std::size_t kCount>
constexpr SlotReader kWide{&wide_offer<kCount, std::uint8_t>, &wide_offer<kCount, std::uint16_t>,
                           &wide_unseen<kCount>};

bool has_wide() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl");
}
#endif

/// Where `longer` goes into the last slot, the list does not fit.
struct Filling {
  Index* slots;
  Index vertices;
  const Offset* offsets;
  const Index* neighbours;
  Index none, longer;
};

template <std::size_t kCount>
void plain_fill(const Filling& of) {
  for (Index v = 0; v < of.vertices; ++v) {
    Index* const to = of.slots + at(v) * kCount;
    const auto length = static_cast<std::size_t>(of.offsets[v + 1] - of.offsets[v]);
    const std::size_t here = std::min(length, kCount);
    std::copy_n(of.neighbours + of.offsets[v], here, to);
    std::fill(to + here, to + kCount, of.none);
    if (length > kCount) to[kCount - 1] = of.longer;
  }
}

#if MOTES_WIDE
// Always as many steps: where a list ends is a guess that goes wrong once a vertex.
template <std::size_t kCount>
MOTES_AVX512 void wide_fill(const Filling& of) {
  for (Index v = 0; v < of.vertices; ++v) {
    Index* const to = of.slots + at(v) * kCount;
    const Index* const from = of.neighbours + of.offsets[v];
    const Offset length = of.offsets[v + 1] - of.offsets[v];
    for (unsigned k = 0; k < kCount; k += 16) {
      const auto left = static_cast<unsigned>(std::clamp<Offset>(length - k, 0, 16));
      const auto mask = static_cast<__mmask16>((1u << left) - 1);
      const __m512i list = _mm512_mask_loadu_epi32(_mm512_set1_epi32(of.none), mask, from + k);
      _mm512_mask_storeu_epi32(to + k, static_cast<__mmask16>(kCount < 16 ? 0xff : 0xffff), list);
    }
    if (length > Offset{kCount}) to[kCount - 1] = of.longer;
  }
}
#endif

template <std::size_t kCount>
void fill(const Filling& of) {
#if MOTES_WIDE
  if (has_wide()) return wide_fill<kCount>(of);
#endif
  plain_fill<kCount>(of);
}

}  // namespace

SlotReader plain_slot_reader(std::size_t count) {
  return count == 8 ? kPlain<8> : count == 16 ? kPlain<16> : kPlain<32>;
}

SlotReader slot_reader(std::size_t count) {
#if MOTES_WIDE
  if (has_wide()) return count == 8 ? kWide<8> : count == 16 ? kWide<16> : kWide<32>;
#endif
  return plain_slot_reader(count);
}

Slots::Slots(const TwoSidedGraph& graph, std::size_t count)
    : graph_(&graph),
      count_(count),
      row_slots_(at(graph.rows) * count),
      col_slots_(at(graph.cols) * count),
      reader_(slot_reader(count)) {
  const auto fill_both = [&]<std::size_t kCount>() {
    fill<kCount>({row_slots_.data(), graph.rows, graph.row_offsets, graph.col_index, graph.cols, kLonger});
    fill<kCount>({col_slots_.data(), graph.cols, graph.col_offsets, graph.row_index, graph.rows, kLonger});
  };
  if (count == 8)
    fill_both.template operator()<8>();
  else if (count == 16)
    fill_both.template operator()<16>();
  else
    fill_both.template operator()<32>();
}

std::optional<Slots> Slots::of(const TwoSidedGraph& graph) {
  const Offset mean = graph.edges() / std::max(1, std::min(graph.rows, graph.cols));
  if (mean > 24 || std::max(graph.rows, graph.cols) == std::numeric_limits<Index>::max()) return std::nullopt;
  return Slots(graph, mean < 5 ? 8 : mean < 12 ? 16 : 32);
}

Unseen Slots::unseen_of(std::span<const Index> rows, const std::uint32_t* seen, Index* out) {
  std::size_t found = 0;
  for (const Index i : rows) {
    out[found] = i;
    found += !is_seen(seen, i);
  }
  return {static_cast<std::int64_t>(found), std::ssize(rows)};
}

}  // namespace motes::matching::detail
