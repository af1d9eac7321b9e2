/// CSR readers: one neighbour at a time, and 16 at a time with AVX-512.

#include "matching/cardinality/push_relabel/csr_reader.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include <motes/base/avx512.h>

namespace motes::matching::detail {
namespace {

template <class OffsetType>
std::int64_t plain_offers(const CsrView<OffsetType>& lists, std::span<const Index> rows, std::size_t begin,
                          std::size_t end, const ShortLabel* label_of, Offer* out) {
  std::int64_t looks = 0;
  look_ahead(lists, rows, begin, end);
  for (std::size_t k = begin; k < end; ++k) {
    const Index* list = lists.neighbours + lists.offsets[rows[k]];
    const auto count = static_cast<std::size_t>(lists.degree(rows[k]));
    LeastTwo least(kNoShortPath<ShortLabel>);
    for (std::size_t e = 0; e < count; ++e) {
      const std::atomic_ref label(const_cast<ShortLabel&>(label_of[list[e]]));
      least.take(label.load(std::memory_order_relaxed), e);
    }
    *out++ = least.of(list);
    looks += static_cast<std::int64_t>(count);
  }
  return looks;
}

template <class OffsetType>
std::size_t plain_unseen(const CsrView<OffsetType>& lists, std::span<const Index> cols, std::size_t begin,
                         std::size_t end, std::uint32_t* seen, Index* out) {
  std::size_t found = 0;
  look_ahead(lists, cols, begin, end);
  for (std::size_t k = begin; k < end; ++k) {
    const Index* list = lists.neighbours + lists.offsets[cols[k]];
    for (const Index* last = list + lists.degree(cols[k]); list != last; ++list) {
      out[found] = *list;
      found += set_bit(seen, *list);
    }
  }
  return found;
}

Settled plain_settle(std::span<const Index> rows, const OwnersView& owners, const Index* mate_of, Index* cols,
                     Index* others) {
  Settled out{0, 0, 0};
  for (const Index i : rows) {
    if (owners.owners[i >> owners.shift] != owners.me) {
      others[out.others++] = i;
      continue;
    }
    const Index j = mate_of[i];
    cols[out.cols] = j;
    out.cols += j != -1;
    out.without += j == -1;
  }
  return out;
}

void plain_look_up(std::span<const Index> names, const Index* word_of, Index* to) {
  for (const Index name : names) *to++ = word_of[name];
}

#if MOTES_HAS_AVX512
constexpr std::int64_t kWidth = 16;

MOTES_AVX512 inline std::uint32_t least_of(__m256i labels) {
  const __m128i less = _mm_min_epu16(_mm256_castsi256_si128(labels), _mm256_extracti128_si256(labels, 1));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_minpos_epu16(less))) & 0xffffu;
}

/// The least label among up to kWidth columns of a list, its position, and the least of the other labels.
struct Least {
  std::uint32_t label, place, second;
};
MOTES_AVX512 inline Least wide_least(const Index* list, std::int64_t count, const ShortLabel* label_of) {
  const __mmask16 lanes = first_lanes(count);
  const __m512i cols = _mm512_maskz_loadu_epi32(lanes, list);
  // Gathers four bytes each, and uses two of them.
  const __m512i words = _mm512_mask_i32gather_epi32(_mm512_set1_epi32(-1), lanes, cols, label_of, 2);
  const __m256i labels = _mm512_cvtepi32_epi16(words);
  const std::uint32_t label = least_of(labels);
  const auto same = static_cast<std::uint32_t>(
      _mm256_cmpeq_epi16_mask(labels, _mm256_set1_epi16(static_cast<short>(label))));
  const auto first = static_cast<__mmask16>(same & (0u - same));
  return {label, static_cast<std::uint32_t>(std::countr_zero(same)),
          least_of(_mm256_mask_set1_epi16(labels, first, -1))};
}

template <class OffsetType>
MOTES_AVX512 std::int64_t wide_offers(const CsrView<OffsetType>& lists, std::span<const Index> rows,
                                      std::size_t begin, std::size_t end, const ShortLabel* label_of,
                                      Offer* out) {
  std::int64_t looks = 0;
  look_ahead(lists, rows, begin, end);
  for (std::size_t k = begin; k < end; ++k) {
    const Index* list = lists.neighbours + lists.offsets[rows[k]];
    const std::int64_t count = lists.degree(rows[k]);
    looks += count;
    if (count <= kWidth) [[likely]] {
      const Least least = wide_least(list, count, label_of);
      *out++ = {list[least.place], static_cast<ShortLabel>(least.label),
                static_cast<ShortLabel>(least.second)};
      continue;
    }
    LeastTwo all(kNoShortPath<ShortLabel>);
    for (std::int64_t e = 0; e < count; e += kWidth) {
      const Least least = wide_least(list + e, std::min(count - e, kWidth), label_of);
      all.take(static_cast<ShortLabel>(least.label), static_cast<std::uint64_t>(e) + least.place);
      all.take_second(static_cast<ShortLabel>(least.second));
    }
    *out++ = all.of(list);
  }
  return looks;
}

/// Rows adjacent to some columns, with a bit for each that was unvisited when it was read.
struct Stage {
  static constexpr std::size_t kLines = 16;
  alignas(64) Index rows[kLines][16];
  __mmask16 fresh[kLines];
  std::size_t count = 0;
};

MOTES_AVX512 inline std::size_t mark(Stage& stage, std::uint32_t* seen, Index* out) {
  // First all rows that seemed unvisited are compressed; then duplicates are removed.
  alignas(64) Index rows[16 * (Stage::kLines + 1)];
  std::size_t count = 0;
  for (std::size_t k = 0; k < stage.count; ++k) {
    _mm512_storeu_si512(rows + count,
                        _mm512_maskz_compress_epi32(stage.fresh[k], _mm512_load_si512(stage.rows[k])));
    count += static_cast<std::size_t>(_mm_popcnt_u32(stage.fresh[k]));
  }
  stage.count = 0;
  std::size_t found = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const Index i = rows[k];
    out[found] = i;
    found += set_bit(seen, i);
  }
  return found;
}

template <class OffsetType>
MOTES_AVX512 std::size_t wide_unseen(const CsrView<OffsetType>& lists, std::span<const Index> cols,
                                     std::size_t begin, std::size_t end, std::uint32_t* seen, Index* out) {
  Stage stage;
  std::size_t found = 0;
  look_ahead(lists, cols, begin, end);
  for (std::size_t k = begin; k < end; ++k) {
    const Index* list = lists.neighbours + lists.offsets[cols[k]];
    const std::int64_t count = lists.degree(cols[k]);
    std::int64_t e = 0;
    do {
      const __mmask16 lanes = first_lanes(std::min(count - e, kWidth));
      const __m512i rows = _mm512_maskz_loadu_epi32(lanes, list + e);
      const __m512i words =
          _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), lanes, _mm512_srai_epi32(rows, 5), seen, 4);
      const __m512i bits =
          _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(rows, _mm512_set1_epi32(31)));
      _mm512_store_si512(stage.rows[stage.count], rows);
      stage.fresh[stage.count] = _mm512_mask_testn_epi32_mask(lanes, words, bits);
      if (++stage.count == Stage::kLines) found += mark(stage, seen, out + found);
      e += kWidth;
    } while (e < count);
  }
  return found + mark(stage, seen, out + found);
}

MOTES_AVX512 Settled wide_settle(std::span<const Index> rows, const OwnersView& owners, const Index* mate_of,
                                 Index* cols, Index* others) {
  Settled out{0, 0, 0};
  const __m512i me = _mm512_set1_epi32(owners.me), none = _mm512_set1_epi32(-1);
  const __m128i shift = _mm_cvtsi32_si128(owners.shift);
  const auto count = static_cast<std::int64_t>(rows.size());
  for (std::int64_t k = 0; k < count; k += kWidth) {
    const __mmask16 lanes = first_lanes(std::min(count - k, kWidth));
    const __m512i here = _mm512_maskz_loadu_epi32(lanes, rows.data() + k);
    const __m512i owner =
        _mm512_mask_i32gather_epi32(none, lanes, _mm512_srl_epi32(here, shift), owners.owners, 4);
    const __mmask16 mine = _mm512_mask_cmpeq_epi32_mask(lanes, owner, me);
    const __m512i mates = _mm512_mask_i32gather_epi32(none, mine, here, mate_of, 4);
    const __mmask16 matched = _mm512_mask_cmpneq_epi32_mask(mine, mates, none);
    const auto foreign = static_cast<__mmask16>(lanes & ~mine);
    _mm512_storeu_si512(cols + out.cols, _mm512_maskz_compress_epi32(matched, mates));
    _mm512_storeu_si512(others + out.others, _mm512_maskz_compress_epi32(foreign, here));
    const auto with = static_cast<std::size_t>(_mm_popcnt_u32(matched));
    out.cols += with;
    out.without += static_cast<std::size_t>(_mm_popcnt_u32(mine)) - with;
    out.others += static_cast<std::size_t>(_mm_popcnt_u32(foreign));
  }
  return out;
}

MOTES_AVX512 void wide_look_up(std::span<const Index> names, const Index* word_of, Index* to) {
  const auto count = static_cast<std::int64_t>(names.size());
  for (std::int64_t k = 0; k < count; k += kWidth) {
    const __mmask16 lanes = first_lanes(std::min(count - k, kWidth));
    const __m512i here = _mm512_maskz_loadu_epi32(lanes, names.data() + k);
    _mm512_mask_storeu_epi32(to + k, lanes,
                             _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), lanes, here, word_of, 4));
  }
}
#endif

}  // namespace

template <class OffsetType>
CsrReader<OffsetType> plain_csr_reader() {
  return {&plain_offers<OffsetType>, &plain_unseen<OffsetType>, &plain_settle, &plain_look_up};
}

template <class OffsetType>
CsrReader<OffsetType> csr_reader() {
#if MOTES_HAS_AVX512
  if (has_avx512()) return {&wide_offers<OffsetType>, &wide_unseen<OffsetType>, &wide_settle, &wide_look_up};
#endif
  return plain_csr_reader<OffsetType>();
}

template CsrReader<Offset> csr_reader<Offset>();
template CsrReader<Offset> plain_csr_reader<Offset>();
template CsrReader<std::uint32_t> csr_reader<std::uint32_t>();
template CsrReader<std::uint32_t> plain_csr_reader<std::uint32_t>();

}  // namespace motes::matching::detail
