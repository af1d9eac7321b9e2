#pragma once
/// The rule for when to do a global relabelling.

#include <cmath>
#include <cstdint>

namespace motes::matching::detail {

/// Decides when to relabel. All costs are in pushes.
class RelabelPolicy {
 public:
  explicit RelabelPolicy(std::int64_t most) : most_(most) {}
  /// Relabels not only after `most` pushes, but also when the gain per push falls below the average gain
  /// since the last relabelling, whose cost counts as pushes. The gain is the logarithm of the ratio of
  /// active rows before and after. `active`: rows that may have a path. Decides after every `window` pushes.
  void watch(std::int64_t active, std::int64_t cost, std::int64_t window) {
    first_ = last_ = active;
    cost_ = cost;
    window_ = window;
  }
  void spend(std::int64_t pushes) { spent_ += pushes; }
  bool go_on(std::int64_t active) {
    if (spent_ >= most_) return false;
    if (window_ == 0 || spent_ - looked_ < window_) return true;
    const double lately = logarithm(last_) - logarithm(active), all = logarithm(first_) - logarithm(active);
    const bool less =
        lately * static_cast<double>(cost_ + spent_) < all * static_cast<double>(spent_ - looked_);
    last_ = active;
    looked_ = spent_;
    return !less;
  }

 private:
  /// The logarithm, with the same bits on every machine, which std::log does not guarantee.
  static double logarithm(std::int64_t n) {
    int exponent = 0;
    const double half = std::frexp(static_cast<double>(n), &exponent), t = (half - 1) / (half + 1),
                 tt = t * t;
    return exponent * 0.6931471805599453 +
           2 * t * (1 + tt * (1. / 3 + tt * (1. / 5 + tt * (1. / 7 + tt / 9))));
  }
  std::int64_t most_, spent_ = 0, looked_ = 0;
  std::int64_t first_ = 0, last_ = 0, cost_ = 0, window_ = 0;
};

}  // namespace motes::matching::detail
