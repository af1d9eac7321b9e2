#pragma once
/// Lengths by frame, for estimates from a frame and as many surrounding ones as necessary.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <motes/base/index.h>

namespace motes::tracking {

class LengthWindows {
 public:
  /// lengths_of(t): a vector of the lengths of frame t, 0 <= t < frames.
  template <class LengthsOf>
  LengthWindows(std::size_t frames, const LengthsOf& lengths_of)
      : frames_(static_cast<std::int64_t>(frames)) {
    for (std::size_t t = 0; t < frames; ++t) {
      const std::vector<double>& lengths = lengths_of(t);
      all_.insert(all_.end(), lengths.begin(), lengths.end());
      starts_.push_back(all_.size());
    }
  }

  /// The lengths of frames t - h to t + h for the least h >= `half` with `enough` lengths; of all frames if
  /// there are fewer. O(lengths + log frames), since a series may have far more frames than links.
  std::vector<double> around(std::int64_t t, std::int64_t half, std::size_t enough) const {
    const auto begin = [&](std::int64_t h) { return starts_[at(std::max<std::int64_t>(t - h, 0))]; };
    const auto end = [&](std::int64_t h) { return starts_[at(std::min(t + h + 1, frames_))]; };
    std::int64_t most = std::max(frames_, half);
    while (half < most) {
      const std::int64_t middle = half + (most - half) / 2;
      if (end(middle) - begin(middle) < enough)
        half = middle + 1;
      else
        most = middle;
    }
    return {all_.begin() + static_cast<std::ptrdiff_t>(begin(half)),
            all_.begin() + static_cast<std::ptrdiff_t>(end(half))};
  }

 private:
  std::int64_t frames_;
  std::vector<double> all_;
  std::vector<std::size_t> starts_{0};  ///< [frames + 1] into all_
};

}  // namespace motes::tracking
