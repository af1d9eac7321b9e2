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
Visit plain_offers(const Index* slots, std::span<const Index> rows, const Label* label_of, Index none,
                   Offers& out) {
  Visit visit{};
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const Index* const list = slots + at(rows[k]) * kCount;
    LeastTwo least(kNoShortPath<Label>);
    std::size_t e = 0;
    for (; e < kCount && list[e] < none; ++e)
      least.take(std::uint32_t{label_of[list[e]]} << 16 | static_cast<std::uint32_t>(e));
    out.col[k] = list[least.place() % kCount];
    out.label[k] = least.label();
    out.second[k] = least.next();
    visit.looks += static_cast<std::int64_t>(e);
    visit.longer |= list[kCount - 1] > none;
  }
  return visit;
}

template <std::size_t kCount>
Visit plain_unset(const Index* slots, std::span<const Index> vertices, const std::uint32_t* bits, Index none,
                  std::uint32_t* out) {
  Visit visit{};
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    const Index* const list = slots + at(vertices[k]) * kCount;
    out[k] = 0;
    std::size_t e = 0;
    for (; e < kCount && list[e] < none; ++e) out[k] |= std::uint32_t{!is_seen(bits, list[e])} << e;
    visit.looks += static_cast<std::int64_t>(e);
    visit.longer |= list[kCount - 1] > none;
  }
  return visit;
}

template <std::size_t kCount>
Visit plain_unseen(const Index* slots, std::span<const Index> cols, const std::uint32_t* seen, Index none,
                   Index* out) {
  Visit visit{};
  for (const Index col : cols) {
    const Index* const list = slots + at(col) * kCount;
    std::size_t e = 0;
    for (; e < kCount && list[e] < none; ++e) {
      out[visit.found] = list[e];
      visit.found += !is_seen(seen, list[e]);
    }
    visit.looks += static_cast<std::int64_t>(e);
    visit.longer |= list[kCount - 1] > none;
  }
  return visit;
}

template <std::size_t kCount>
constexpr SlotReader kPlain{&plain_offers<kCount, std::uint8_t>, &plain_offers<kCount, std::uint16_t>,
                            &plain_unset<kCount>, &plain_unseen<kCount>};

#if MOTES_WIDE
#define MOTES_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,popcnt")))

template <std::size_t kCount>
void prefetch_slots(const Index* list) {
  prefetch(list);
  if (kCount > 16) prefetch(list + 16);
}

/// Fours of 32-bit words, turned within each 128 bits of four vectors.
MOTES_AVX512 inline void turn_fours(__m512i* four) {
  const __m512i a = _mm512_unpacklo_epi32(four[0], four[1]), b = _mm512_unpackhi_epi32(four[0], four[1]);
  const __m512i c = _mm512_unpacklo_epi32(four[2], four[3]), d = _mm512_unpackhi_epi32(four[2], four[3]);
  four[0] = _mm512_unpacklo_epi64(a, c);
  four[1] = _mm512_unpackhi_epi64(a, c);
  four[2] = _mm512_unpacklo_epi64(b, d);
  four[3] = _mm512_unpackhi_epi64(b, d);
}

/// The slots [from, from + 8 or 16) of sixteen lists, turned: vector e has everybody's slot from + e.
template <std::size_t kCount>
MOTES_AVX512 inline void load_turned(const Index* slots, const Index* vertices, std::size_t from,
                                     __m512i* turned) {
  const auto list = [&](std::size_t k) { return slots + at(vertices[k]) * kCount + from; };
  __m512i block[16];
  if constexpr (kCount == 8) {
    for (std::size_t k = 0; k < 8; ++k) {
      const std::size_t row = k + (k & 4);  // with the fourth from it
      const auto one = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(list(row)));
      const auto other = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(list(row + 4)));
      block[k] = _mm512_inserti64x4(_mm512_castsi256_si512(one), other, 1);
    }
    turn_fours(block);
    turn_fours(block + 4);
    for (std::size_t k = 0; k < 4; ++k) {
      turned[k] = _mm512_shuffle_i32x4(block[k], block[k + 4], 0x88);
      turned[k + 4] = _mm512_shuffle_i32x4(block[k], block[k + 4], 0xdd);
    }
  } else {
    for (std::size_t k = 0; k < 16; ++k) block[k] = _mm512_loadu_si512(list(k));
    for (std::size_t k = 0; k < 16; k += 4) turn_fours(block + k);
    for (std::size_t k = 0; k < 4; ++k) {
      const __m512i a = _mm512_shuffle_i32x4(block[k], block[k + 4], 0x88);
      const __m512i b = _mm512_shuffle_i32x4(block[k], block[k + 4], 0xdd);
      const __m512i c = _mm512_shuffle_i32x4(block[k + 8], block[k + 12], 0x88);
      const __m512i d = _mm512_shuffle_i32x4(block[k + 8], block[k + 12], 0xdd);
      turned[k] = _mm512_shuffle_i32x4(a, c, 0x88);
      turned[k + 4] = _mm512_shuffle_i32x4(b, d, 0x88);
      turned[k + 8] = _mm512_shuffle_i32x4(a, c, 0xdd);
      turned[k + 12] = _mm512_shuffle_i32x4(b, d, 0xdd);
    }
  }
}

// Sixteen rows at once, slot by slot. Labels are fetched as four bytes each, of which one or two are kept:
// the array has room behind its end.
template <std::size_t kCount, class Label>
MOTES_AVX512 Visit wide_offers(const Index* slots, std::span<const Index> rows, const Label* label_of,
                               Index none, Offers& out) {
  static_assert(kRowsAtOnce == 16);
  constexpr std::size_t kBlock = std::min<std::size_t>(kCount, 16);
  const __m512i no_path = _mm512_set1_epi32(kNoShortPath<Label>), nobody = _mm512_set1_epi32(none);
  const auto asked = static_cast<__mmask16>((1u << rows.size()) - 1);
  __m512i label = no_path, second = no_path, col = nobody;
  for (std::size_t k = 0; k < kRowsAtOnce; ++k)
    prefetch_slots<kCount>(slots + at(rows.data()[k + kAskedAhead]) * kCount);
  std::int64_t looks = 0;
  bool longer = false;
  for (std::size_t from = 0; from < kCount; from += kBlock) {
    __m512i block[kBlock];
    load_turned<kCount>(slots, rows.data(), from, block);
    if (from + kBlock == kCount) longer = _mm512_mask_cmpgt_epi32_mask(asked, block[kBlock - 1], nobody) != 0;
    std::size_t e = 0;
    for (; e < kBlock; ++e) {
      const __mmask16 there = _mm512_mask_cmplt_epi32_mask(asked, block[e], nobody);
      if (there == 0) break;
      looks += _mm_popcnt_u32(there);
      const __m512i here =
          _mm512_and_si512(_mm512_i32gather_epi32(block[e], label_of, sizeof(Label)), no_path);
      col = _mm512_mask_mov_epi32(col, _mm512_cmplt_epu32_mask(here, label), block[e]);
      second = _mm512_min_epu32(second, _mm512_max_epu32(label, here));
      label = _mm512_min_epu32(label, here);
    }
    if (e != kBlock) break;
  }
  _mm512_store_si512(out.col.data(), col);
  _mm512_store_si512(out.label.data(), label);
  _mm512_store_si512(out.second.data(), second);
  return {0, looks, longer};
}

/// Neighbours in a list's slots.
template <std::size_t kCount>
MOTES_AVX512 inline unsigned length_of(const Index* list, Index none) {
  if constexpr (kCount == 8) {
    const __m256i slots = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(list));
    return static_cast<unsigned>(_mm_popcnt_u32(_mm256_cmplt_epi32_mask(slots, _mm256_set1_epi32(none))));
  } else {
    unsigned length = 0;
    for (unsigned k = 0; k < kCount; k += 16)
      length += static_cast<unsigned>(
          _mm_popcnt_u32(_mm512_cmplt_epi32_mask(_mm512_loadu_si512(list + k), _mm512_set1_epi32(none))));
    return length;
  }
}

/// Which of the slots' bits are not set.
template <std::size_t kCount>
MOTES_AVX512 inline std::uint32_t unset_of(const Index* list, const std::uint32_t* bits, Index none) {
  if constexpr (kCount == 8) {
    const __m256i slots = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(list));
    const __m256i words =
        _mm256_i32gather_epi32(reinterpret_cast<const int*>(bits), _mm256_srai_epi32(slots, 5), 4);
    const __m256i masks =
        _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_and_si256(slots, _mm256_set1_epi32(31)));
    return _mm256_testn_epi32_mask(words, masks);
  } else {
    std::uint32_t unset = 0;
    for (unsigned from = 0; from < kCount && (from == 0 || list[from] < none); from += 16) {
      const __m512i slots = _mm512_loadu_si512(list + from);
      const __m512i words = _mm512_i32gather_epi32(_mm512_srai_epi32(slots, 5), bits, 4);
      const __m512i masks =
          _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(slots, _mm512_set1_epi32(31)));
      unset |= std::uint32_t{_mm512_testn_epi32_mask(words, masks)} << from;
    }
    return unset;
  }
}

template <std::size_t kCount>
MOTES_AVX512 Visit wide_unset(const Index* slots, std::span<const Index> vertices, const std::uint32_t* bits,
                              Index none, std::uint32_t* out) {
  std::int64_t looks = 0;
  bool longer = false;
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    prefetch_slots<kCount>(slots + at(vertices.data()[k + kAskedAhead]) * kCount);
    const Index* const list = slots + at(vertices[k]) * kCount;
    out[k] = unset_of<kCount>(list, bits, none);
    looks += length_of<kCount>(list, none);
    longer |= list[kCount - 1] > none;
  }
  return {0, looks, longer};
}

template <std::size_t kCount>
MOTES_AVX512 Visit wide_unseen(const Index* slots, std::span<const Index> cols, const std::uint32_t* seen,
                               Index none, Index* out) {
  std::uint32_t fresh[kColsAtOnce];
  Visit visit = wide_unset<kCount>(slots, cols, seen, none, fresh);
  for (std::size_t k = 0; k < cols.size(); ++k) {
    const Index* const list = slots + at(cols[k]) * kCount;
    for (unsigned from = 0; from < kCount; from += 16) {
      const auto mask = static_cast<__mmask16>(fresh[k] >> from);
      _mm512_storeu_si512(out + visit.found,
                          _mm512_maskz_compress_epi32(mask, _mm512_loadu_si512(list + from)));
      visit.found += _mm_popcnt_u32(mask);
    }
  }
  return visit;
}

template <std::size_t kCount>
constexpr SlotReader kWide{&wide_offers<kCount, std::uint8_t>, &wide_offers<kCount, std::uint16_t>,
                           &wide_unset<kCount>, &wide_unseen<kCount>};

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
      row_slots_(at(graph.rows) * count + 8),  // 16 are read at once
      col_slots_(at(graph.cols) * count + 8),
      reader_(slot_reader(count)) {
  const auto fill_both = [&]<std::size_t kCount>() {
    fill<kCount>(
        {row_slots_.data(), graph.rows, graph.row_offsets, graph.col_index, graph.cols, graph.cols + 1});
    fill<kCount>(
        {col_slots_.data(), graph.cols, graph.col_offsets, graph.row_index, graph.rows, graph.rows + 1});
  };
  if (count == 8)
    fill_both.template operator()<8>();
  else if (count == 16)
    fill_both.template operator()<16>();
  else
    fill_both.template operator()<32>();
}

namespace {

Offset mean_degree(const TwoSidedGraph& graph) {
  return graph.edges() / std::max(1, std::min(graph.rows, graph.cols));
}
std::size_t slots_of_vertex(const TwoSidedGraph& graph) {
  const Offset mean = mean_degree(graph);
  return mean < 5 ? 8 : mean < 12 ? 16 : 32;
}

/// In a sample, half of the entries of all lists lie beyond their slots.
bool lists_go_on(Index vertices, const Offset* offsets, std::size_t slots) {
  constexpr Index kSample = 1024;
  const Index count = std::min(kSample, vertices);
  Offset all = 0, beyond = 0;
  for (Index k = 0; k < count; ++k) {
    const auto v = static_cast<Index>(Offset{vertices} * k / count);
    const Offset length = offsets[v + 1] - offsets[v];
    all += length;
    beyond += std::max<Offset>(0, length - static_cast<Offset>(slots));
  }
  return 2 * beyond > all;
}

}  // namespace

bool Slots::pay(const TwoSidedGraph& graph) {
  return mean_degree(graph) <= 24 &&
         std::max(graph.rows, graph.cols) < std::numeric_limits<Index>::max() - 1 &&
         !lists_go_on(graph.rows, graph.row_offsets, slots_of_vertex(graph)) &&
         !lists_go_on(graph.cols, graph.col_offsets, slots_of_vertex(graph));
}

Slots::Slots(const TwoSidedGraph& graph) : Slots(graph, slots_of_vertex(graph)) {}

}  // namespace motes::matching::detail
