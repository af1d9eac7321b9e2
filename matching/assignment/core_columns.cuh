#pragma once
/// What core_search keeps of a column: one 32-byte sector, so that whoever looks at a pair touches one place.
///
/// A column's place (price, owner) and its label (distance, tree, row before) change together or not at all:
/// both are 16 bytes that are read, and compared and exchanged, in one piece.

#include "matching/assignment/hungarian_device.cuh"

namespace motes::matching::device::hungarian {

/// Price and owner of a column.
struct alignas(16) Place {
  Cost price;
  Index owner;  ///< -1: free
  Index extra;  ///< chains: position of the pair within its owner's row; searches: round of the last push
};
/// How a column was reached.
struct alignas(16) Label {
  Cost distance;  ///< from the root; kFar: not reached
  Index root;     ///< the free row whose tree it is in
  Index row;      ///< the row that made the offer
};
struct alignas(32) Column {
  Place place;
  Label label;
};

/// Stands in the second word of a value that somebody is about to replace (only where 16 bytes cannot be
/// exchanged at once). No place or label looks like it: rows and rounds are not negative but for -1.
constexpr unsigned long long kBusy = 0x8000000080000000ULL;

struct Words {
  unsigned long long first, second;
};

/// 16 bytes, all of one moment, as the device's other threads see them.
__device__ inline Words load_words(const void* p) {
  Words w;
  asm volatile("{\n\t.reg .b128 t;\n\tld.relaxed.gpu.global.b128 t, [%2];\n\tmov.b128 {%0, %1}, t;\n\t}"
               : "=l"(w.first), "=l"(w.second)
               : "l"(p)
               : "memory");
  return w;
}
__device__ inline void store_words(void* p, const Words& w) {
  asm volatile(
      "{\n\t.reg .b128 t;\n\tmov.b128 t, {%1, %2};\n\tst.relaxed.gpu.global.b128 [%0], t;\n\t}" ::"l"(p),
      "l"(w.first), "l"(w.second)
      : "memory");
}
template <class T>
__device__ Words words_of(const T& value) {
  Words w;
  static_assert(sizeof(T) == sizeof w);
  memcpy(&w, &value, sizeof w);
  return w;
}

template <class T>
__device__ T load(const T* p) {
  Words w = load_words(p);
#if __CUDA_ARCH__ < 900
  while (w.second == kBusy) w = load_words(p);
#endif
  T value;
  memcpy(&value, &w, sizeof value);
  return value;
}

/// Puts `wanted` where `seen` still is; else false, and `seen` is what was there instead.
template <class T>
__device__ bool replace(T* p, T& seen, const T& wanted) {
  const Words expected = words_of(seen), next = words_of(wanted);
#if __CUDA_ARCH__ >= 900
  Words found;
  asm volatile(
      "{\n\t.reg .b128 c, n, o;\n\tmov.b128 c, {%3, %4};\n\tmov.b128 n, {%5, %6};\n\t"
      "atom.relaxed.gpu.global.cas.b128 o, [%2], c, n;\n\tmov.b128 {%0, %1}, o;\n\t}"
      : "=l"(found.first), "=l"(found.second)
      : "l"(p), "l"(expected.first), "l"(expected.second), "l"(next.first), "l"(next.second)
      : "memory");
  if (found.first == expected.first && found.second == expected.second) return true;
  memcpy(&seen, &found, sizeof seen);
  return false;
#else
  auto* second = reinterpret_cast<unsigned long long*>(p) + 1;
  if (atomicCAS(second, expected.second, kBusy) == expected.second) {
    const unsigned long long first = load_words(p).first;
    if (first == expected.first) {
      store_words(p, next);
      return true;
    }
    store_words(p, {first, expected.second});
  }
  seen = load(p);
  return false;
#endif
}

/// Adds `value` to a list for every lane that wants to; the whole warp must call it.
template <class T>
__device__ void append(T* list, int* count, bool wanted, const T& value) {
  const unsigned who = __ballot_sync(kAll, wanted);
  if (who == 0) return;
  const int lane = threadIdx.x % kWarp, leader = __ffs(static_cast<int>(who)) - 1;
  int place = 0;
  if (lane == leader) place = atomicAdd(count, __popc(who));
  place = __shfl_sync(kAll, place, leader) + __popc(who & ((1U << lane) - 1));
  if (wanted) list[place] = value;
}

}  // namespace motes::matching::device::hungarian
