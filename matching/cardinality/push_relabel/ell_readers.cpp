/// Readers of ELL lists (ell_graph.h): one list at a time, and many neighbours at once with AVX-512.

#include <algorithm>

#include <motes/base/avx512.h>
#include <motes/base/index.h>

#include "matching/cardinality/augmenting_search.h"
#include "matching/cardinality/push_relabel/ell_graph.h"

namespace motes::matching::detail {
namespace {

template <std::size_t kCount, class Label>
Visit plain_offers(const Index* slots, std::span<const Index> rows, const Label* label_of, Index none,
                   Offers& out) {
  Visit visit{};
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const Index* const list = slots + at(rows[k]) * kCount;
    LeastTwo least(kNoShortPath<Label>);
    std::size_t e = 0;
    for (; e < kCount && list[e] < none; ++e) least.take(label_of[list[e]], e);
    const Offer offer = least.of(list);
    out.col[k] = std::min(offer.col, none);  // a slot that says where a list continues is not a column
    out.label[k] = offer.label;
    out.second[k] = offer.second;
    visit.looks += static_cast<std::int64_t>(e);
    visit.longer |= list[kCount - 1] > none;
  }
  return visit;
}

template <std::size_t kCount>
Visit plain_unset(const Index* slots, std::span<const Index> vertices, const std::uint32_t* bits, Index none,
                  std::uint64_t* out) {
  Visit visit{};
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    const Index* const list = slots + at(vertices[k]) * kCount;
    out[k] = 0;
    std::size_t e = 0;
    for (; e < kCount && list[e] < none; ++e) out[k] |= std::uint64_t{!has_bit(bits, list[e])} << e;
    visit.looks += static_cast<std::int64_t>(e);
    visit.longer |= list[kCount - 1] > none;
  }
  return visit;
}

template <std::size_t kCount>
Visit plain_flatten(const Index* slots, std::span<const Index> vertices, Index none, Index* flat) {
  Index* end = flat;
  bool longer = false;
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    const Index* const list = slots + at(vertices[k]) * kCount;
    for (std::size_t e = 0; e < kCount && list[e] < none; ++e) *end++ = list[e];
    longer |= list[kCount - 1] > none;
  }
  return {end - flat, longer};
}

template <std::size_t kCount>
constexpr EllReader kPlain{&plain_offers<kCount, std::uint8_t>, &plain_offers<kCount, std::uint16_t>,
                           &plain_unset<kCount>, &plain_flatten<kCount>};

template <class Label>
Offer plain_list_offer(std::span<const Index> cols, const Label* label_of) {
  LeastTwo least(kNoShortPath<Label>);
  for (std::size_t e = 0; e < cols.size(); ++e) least.take(label_of[cols[e]], e);
  return least.of(cols.data());
}

std::int64_t plain_list_unseen(std::span<const Index> list, const std::uint32_t* seen, Index* out) {
  std::int64_t found = 0;
  for (const Index i : list) {
    out[found] = i;
    found += !has_bit(seen, i);
  }
  return found;
}

Index* plain_append(std::span<const Index> list, Index* to) {
  return std::copy_n(list.begin(), std::min(list.size(), kMostSlots), to);
}

constexpr AdjacencyReader kPlainList{&plain_list_offer<std::uint8_t>, &plain_list_offer<std::uint16_t>,
                                     &plain_list_unseen, &plain_append};

#if MOTES_HAS_AVX512
template <std::size_t kCount>
void prefetch_slots(const Index* list) {
  for (std::size_t from = 0; from < kCount; from += 16) prefetch_early(list + from);
}

/// Transposes the 4 x 4 blocks of 32-bit words in each 128-bit lane of four vectors.
MOTES_AVX512 inline void turn_fours(__m512i* four) {
  const __m512i a = _mm512_unpacklo_epi32(four[0], four[1]), b = _mm512_unpackhi_epi32(four[0], four[1]);
  const __m512i c = _mm512_unpacklo_epi32(four[2], four[3]), d = _mm512_unpackhi_epi32(four[2], four[3]);
  four[0] = _mm512_unpacklo_epi64(a, c);
  four[1] = _mm512_unpackhi_epi64(a, c);
  four[2] = _mm512_unpacklo_epi64(b, d);
  four[3] = _mm512_unpackhi_epi64(b, d);
}

/// The slots [from, from + 8 or 16) of sixteen lists, transposed: vector e has slot from + e of each list.
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

// Sixteen rows at once, slot by slot. Each label is gathered as four bytes, of which one or two are kept; the
// array has room after its end.
template <std::size_t kCount, class Label>
MOTES_AVX512 Visit wide_offers(const Index* slots, std::span<const Index> rows, const Label* label_of,
                               Index none, Offers& out) {
  static_assert(kRowsAtOnce == 16);
  constexpr std::size_t kBlock = std::min<std::size_t>(kCount, 16);
  const __m512i no_path = _mm512_set1_epi32(kNoShortPath<Label>), no_column = _mm512_set1_epi32(none);
  const auto asked = static_cast<__mmask16>((1u << rows.size()) - 1);
  __m512i label = no_path, second = no_path, col = no_column;
  for (std::size_t k = 0; k < rows.size(); ++k)
    prefetch_slots<kCount>(slots + at(rows.data()[k + kAskedAhead]) * kCount);
  std::int64_t looks = 0;
  bool longer = false;
  for (std::size_t from = 0; from < kCount; from += kBlock) {
    __m512i block[kBlock];
    load_turned<kCount>(slots, rows.data(), from, block);
    if (from + kBlock == kCount) {
      __m512i& last = block[kBlock - 1];
      longer = _mm512_mask_cmpgt_epi32_mask(asked, last, no_column) != 0;
      last = _mm512_min_epi32(last, no_column);
    }
    std::size_t e = 0;
    for (; e < kBlock; ++e) {
      const __mmask16 there = _mm512_mask_cmplt_epi32_mask(asked, block[e], no_column);
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
  return {looks, longer};
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
MOTES_AVX512 inline std::uint64_t unset_of(const Index* list, const std::uint32_t* bits, Index none) {
  if constexpr (kCount == 8) {
    const __m256i slots =
        _mm256_min_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(list)), _mm256_set1_epi32(none));
    const __m256i words =
        _mm256_i32gather_epi32(reinterpret_cast<const int*>(bits), _mm256_srai_epi32(slots, 5), 4);
    const __m256i masks =
        _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_and_si256(slots, _mm256_set1_epi32(31)));
    return _mm256_testn_epi32_mask(words, masks);
  } else {
    std::uint64_t unset = 0;
    for (unsigned from = 0; from < kCount && (from == 0 || list[from] < none); from += 16) {
      const __m512i slots = _mm512_min_epi32(_mm512_loadu_si512(list + from), _mm512_set1_epi32(none));
      const __m512i words = _mm512_i32gather_epi32(_mm512_srai_epi32(slots, 5), bits, 4);
      const __m512i masks =
          _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(slots, _mm512_set1_epi32(31)));
      unset |= std::uint64_t{_mm512_testn_epi32_mask(words, masks)} << from;
    }
    return unset;
  }
}

template <std::size_t kCount>
MOTES_AVX512 Visit wide_unset(const Index* slots, std::span<const Index> vertices, const std::uint32_t* bits,
                              Index none, std::uint64_t* out) {
  std::int64_t looks = 0;
  bool longer = false;
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    prefetch_slots<kCount>(slots + at(vertices.data()[k + kAskedAhead]) * kCount);
    const Index* const list = slots + at(vertices[k]) * kCount;
    out[k] = unset_of<kCount>(list, bits, none);
    looks += length_of<kCount>(list, none);
    longer |= list[kCount - 1] > none;
  }
  return {looks, longer};
}

template <std::size_t kCount>
MOTES_AVX512 Visit wide_flatten(const Index* slots, std::span<const Index> vertices, Index none,
                                Index* flat) {
  Index* end = flat;
  bool longer = false;
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    prefetch_slots<kCount>(slots + at(vertices.data()[k + kAskedAhead]) * kCount);
    const Index* const list = slots + at(vertices[k]) * kCount;
    for (std::size_t from = 0; from < kCount; from += 16) {
      const __m512i here = _mm512_loadu_si512(list + from);
      const auto there = _cvtmask16_u32(_mm512_cmplt_epi32_mask(here, _mm512_set1_epi32(none)));
      _mm512_storeu_si512(end, here);
      end += _mm_popcnt_u32(kCount < 16 ? there & 0xffu : there);
    }
    longer |= list[kCount - 1] > none;
  }
  return {end - flat, longer};
}

template <std::size_t kCount>
constexpr EllReader kWide{&wide_offers<kCount, std::uint8_t>, &wide_offers<kCount, std::uint16_t>,
                          &wide_unset<kCount>, &wide_flatten<kCount>};

/// A list's next sixteen entries or fewer.
MOTES_AVX512 inline __mmask16 entries_from(std::size_t e, std::size_t size) {
  return first_lanes(size > e ? static_cast<std::int64_t>(std::min<std::size_t>(size - e, 16)) : 0);
}

MOTES_AVX512 std::int64_t wide_list_unseen(std::span<const Index> list, const std::uint32_t* seen,
                                           Index* out) {
  // First all look-ups, into fixed places; then the rows are written, since where a row goes depends on those
  // before it.
  std::array<__mmask16, kFlatRoom / 16 + 1> unset;
  for (std::size_t e = 0; e < list.size(); e += 16) {
    const __mmask16 mask = entries_from(e, list.size());
    const __m512i here = _mm512_maskz_loadu_epi32(mask, list.data() + e);
    const __m512i words = _mm512_i32gather_epi32(_mm512_srai_epi32(here, 5), seen, 4);
    const __m512i bits =
        _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(here, _mm512_set1_epi32(31)));
    unset[e / 16] = _mm512_mask_testn_epi32_mask(mask, words, bits);
  }
  std::int64_t found = 0;
  for (std::size_t e = 0; e < list.size(); e += 16) {
    const __mmask16 mask = unset[e / 16];
    const __m512i here = _mm512_maskz_loadu_epi32(mask, list.data() + e);
    _mm512_storeu_si512(out + found, _mm512_maskz_compress_epi32(mask, here));
    found += _mm_popcnt_u32(mask);
  }
  return found;
}

// Each of sixteen lanes keeps the two least words of every sixteenth column, with the label in the upper half
// and the place in the lower. At least 32 places are read, masked, since longer lists are rare: no branch
// then depends on the length.
template <class Label>
MOTES_AVX512 Offer wide_list_offer(std::span<const Index> cols, const Label* label_of) {
  constexpr std::uint32_t kNone = kNoShortPath<Label>;
  if (cols.size() > 0x10000) [[unlikely]]
    return plain_list_offer(cols, label_of);
  const __m512i no_path = _mm512_set1_epi32(kNone);
  __m512i place = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m512i best = _mm512_set1_epi32(static_cast<int>(kNone << 16)), second = best;
  for (std::size_t e = 0; e < std::max<std::size_t>(cols.size(), 32); e += 16) {
    const __mmask16 mask = entries_from(e, cols.size());
    const __m512i list = _mm512_maskz_loadu_epi32(mask, cols.data() + e);
    const __m512i words = _mm512_mask_i32gather_epi32(no_path, mask, list, label_of, sizeof(Label));
    const __m512i label = _mm512_slli_epi32(_mm512_and_si512(words, no_path), 16);
    const __m512i here = _mm512_or_si512(label, place);
    second = _mm512_min_epu32(second, _mm512_max_epu32(best, here));
    best = _mm512_min_epu32(best, here);
    place = _mm512_add_epi32(place, _mm512_set1_epi32(16));
  }
  const std::uint32_t least = _mm512_reduce_min_epu32(best);
  const __mmask16 chosen = _mm512_cmpeq_epu32_mask(best, _mm512_set1_epi32(static_cast<int>(least)));
  const std::uint32_t next = _mm512_reduce_min_epu32(_mm512_mask_mov_epi32(best, chosen, second));
  return {cols[least & 0xffffu], static_cast<std::uint16_t>(least >> 16),
          static_cast<std::uint16_t>(next >> 16)};
}

MOTES_AVX512 Index* wide_append(std::span<const Index> list, Index* to) {
  for (std::size_t e = 0; e < kMostSlots; e += 16)
    _mm512_storeu_si512(to + e, _mm512_maskz_loadu_epi32(entries_from(e, list.size()), list.data() + e));
  return to + std::min(list.size(), kMostSlots);
}

constexpr AdjacencyReader kWideList{&wide_list_offer<std::uint8_t>, &wide_list_offer<std::uint16_t>,
                                    &wide_list_unseen, &wide_append};
#endif

}  // namespace

EllReader plain_ell_reader(std::size_t count) {
  return count == 8 ? kPlain<8> : count == 16 ? kPlain<16> : count == 32 ? kPlain<32> : kPlain<48>;
}

EllReader ell_reader(std::size_t count) {
#if MOTES_HAS_AVX512
  if (has_avx512())
    return count == 8 ? kWide<8> : count == 16 ? kWide<16> : count == 32 ? kWide<32> : kWide<48>;
#endif
  return plain_ell_reader(count);
}

AdjacencyReader plain_adjacency_reader() { return kPlainList; }

AdjacencyReader adjacency_reader() {
#if MOTES_HAS_AVX512
  if (has_avx512()) return kWideList;
#endif
  return kPlainList;
}

}  // namespace motes::matching::detail
