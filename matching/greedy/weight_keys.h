#pragma once
/// Weights of any type as the 32-bit keys of edge_order.h.

#include <cstdint>
#include <utility>
#include <vector>

#include <motes/base/prefetch.h>
#include <motes/matching/greedy_problem.h>

#include "matching/greedy/edge_order.h"

namespace motes::matching {

/// The key of entry e, in three forms.
struct UnitKeys {
  std::uint32_t operator()(Offset) const { return 1; }
  void prefetch(Offset) const {}
};
struct FloatKeys {
  const float* weight;  ///< [nnz]
  std::uint32_t operator()(Offset e) const { return weight_key(weight[e]); }
  void prefetch(Offset e) const { motes::prefetch(weight + e); }
};
struct RankKeys {
  const std::uint32_t* key;  ///< [nnz]
  std::uint32_t operator()(Offset e) const { return key[e]; }
  void prefetch(Offset e) const { motes::prefetch(key + e); }
};

/// Only the order of weights matters, so keys are exact for any type: the bits of floats, and of other
/// numbers if each is exactly a float; else the rank among the distinct weights, from 1. Host problems,
/// checked. The problem's weights must outlive the keys. O(1) for floats; O(nnz) for numbers that are floats;
/// O(nnz log nnz) else.
class Keys {
 public:
  /// Throws ResourceError if there are more distinct weights than keys.
  Keys(const Weights& weights, int threads);

  /// Calls f(keys) with the form of these weights.
  template <class F>
  decltype(auto) visit(F&& f) const {
    if (floats_ != nullptr) return std::forward<F>(f)(FloatKeys{floats_});
    if (!ranks_.empty()) return std::forward<F>(f)(RankKeys{ranks_.data()});
    return std::forward<F>(f)(UnitKeys{});
  }

 private:
  const float* floats_ = nullptr;
  std::vector<float> converted_;
  std::vector<std::uint32_t> ranks_;
};

}  // namespace motes::matching
