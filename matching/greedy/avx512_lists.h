#pragma once
/// Reads eight entries of a list at a time with AVX-512. Lists are short and of any length; masks instead
/// of loops avoid branches that would be mispredicted. The results are those of reading one by one.

#include <motes/base/avx512.h>

#include "matching/greedy/weight_keys.h"

#if MOTES_HAS_AVX512
namespace motes::matching::detail {

/// The mask of the entries that exist, if `left` are left.
MOTES_AVX512 inline __mmask8 mask_of(Offset left) {
  return static_cast<__mmask8>(left >= 8 ? 0xff : left <= 0 ? 0 : (1 << left) - 1);
}

MOTES_AVX512 inline __m256i keys_of(const UnitKeys&, Offset, __mmask8) { return _mm256_set1_epi32(1); }
MOTES_AVX512 inline __m256i keys_of(const FloatKeys& keys, Offset e, __mmask8 mask) {
  const __m256i bits = _mm256_maskz_loadu_epi32(mask, keys.weight + e);
  return _mm256_add_epi32(_mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff)), _mm256_set1_epi32(1));
}
MOTES_AVX512 inline __m256i keys_of(const RankKeys& keys, Offset e, __mmask8 mask) {
  return _mm256_maskz_loadu_epi32(mask, keys.key + e);
}

/// edge_order.h's mix.
MOTES_AVX512 inline __m256i mix_of(__m256i vertices) {
  const __m256i folded = _mm256_xor_si256(vertices, _mm256_srli_epi32(vertices, 16));
  return _mm256_mullo_epi32(folded, _mm256_set1_epi32(static_cast<int>(0x9e3779b1u)));
}

/// edge_order.h's words of keys and mixed numbers; 0 where the mask has no entry.
MOTES_AVX512 inline __m512i words_of(__m256i keys, __m256i mixed, __mmask8 mask) {
  const __m512i high = _mm512_slli_epi64(_mm512_maskz_cvtepu32_epi64(mask, keys), 32);
  return _mm512_or_epi64(high, _mm512_maskz_cvtepu32_epi64(mask, mixed));
}

}  // namespace motes::matching::detail
#endif
