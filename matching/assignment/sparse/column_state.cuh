#pragma once
/// The state of a column in multi_source_search.cuh: one 32-byte sector, so that examining a pair accesses
/// memory in one place.
///
/// A column's place (price, owner) and its label (distance, tree, previous row) have 16 bytes each, and are
/// always read, compared and exchanged as a whole.

#include <climits>

#include "matching/assignment/canonical/device_state.cuh"

namespace motes::matching::device::search {

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

/// Marks the second word of a value that another thread is about to replace (only on devices that cannot
/// exchange 16 bytes at once). It differs from every place and label, since rows and rounds are not below -1.
constexpr unsigned long long kBusy = 0x8000000080000000ULL;

struct Words {
  unsigned long long first, second;
};

/// Loads 16 bytes atomically, coherent with the device's other threads.
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
__device__ T value_of(const Words& w) {
  T value;
  static_assert(sizeof(T) == sizeof w);
  memcpy(&value, &w, sizeof value);
  return value;
}

template <class T>
__device__ T load(const T* p) {
  Words w = load_words(p);
#if __CUDA_ARCH__ < 900
  while (w.second == kBusy) w = load_words(p);
#endif
  return value_of<T>(w);
}

/// Replaces `expected` by `next` if it is unchanged; returns the value before. The thread does not wait until
/// the result is used.
__device__ inline Words exchange(void* p, const Words& expected, const Words& next) {
#if __CUDA_ARCH__ >= 900
  Words found;
  asm volatile(
      "{\n\t.reg .b128 c, n, o;\n\tmov.b128 c, {%3, %4};\n\tmov.b128 n, {%5, %6};\n\t"
      "atom.relaxed.gpu.global.cas.b128 o, [%2], c, n;\n\tmov.b128 {%0, %1}, o;\n\t}"
      : "=l"(found.first), "=l"(found.second)
      : "l"(p), "l"(expected.first), "l"(expected.second), "l"(next.first), "l"(next.second)
      : "memory");
  return found;
#else
  auto* second = reinterpret_cast<unsigned long long*>(p) + 1;
  for (;;) {
    const unsigned long long before = atomicCAS(second, expected.second, kBusy);
    if (before == expected.second) {
      const Words found{load_words(p).first, before};
      store_words(p, found.first == expected.first ? next : found);
      return found;
    }
    const Words found = load_words(p);
    if (found.second != kBusy && found.second != expected.second) return found;
  }
#endif
}
__device__ inline bool same(const Words& a, const Words& b) {
  return a.first == b.first && a.second == b.second;
}

/// Reserves places in a list of *count for up to kEach values of each lane; the whole warp must call it.
/// Returns the end of the warp's places, 0 if it needs none.
template <int kEach>
__device__ int take_places(int* count, const bool (&wanted)[kEach], int (&place)[kEach]) {
  const int lane = threadIdx.x % kWarp;
  int total = 0;
#pragma unroll
  for (int d = 0; d < kEach; ++d) {
    const unsigned who = __ballot_sync(kAll, wanted[d]);
    place[d] = total + __popc(who & ((1U << lane) - 1));
    total += __popc(who);
  }
  if (total == 0) return 0;
  int base = 0;
  if (lane == 0) base = atomicAdd(count, total);
  base = __shfl_sync(kAll, base, 0);
#pragma unroll
  for (int d = 0; d < kEach; ++d) place[d] += base;
  return base + total;
}

/// Adds up to kEach values a lane to a list; the whole warp must call it. Values beyond the capacity are only
/// counted.
template <int kEach, class T>
__device__ void append(T* list, int* count, const bool (&wanted)[kEach], const T (&value)[kEach],
                       int capacity = INT_MAX) {
  int place[kEach];
  if (take_places(count, wanted, place) == 0) return;
#pragma unroll
  for (int d = 0; d < kEach; ++d)
    if (wanted[d] && place[d] < capacity) list[place[d]] = value[d];
}

}  // namespace motes::matching::device::search
