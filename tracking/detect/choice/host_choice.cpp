#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <motes/base/parallel_for.h>

#include "tracking/detect/choice/choice.h"
#include "tracking/detect/choice/second_look.h"
#include "tracking/detect/choice/threshold.h"
#include "tracking/detect/evidence/evidence.h"

namespace motes::tracking::detect {
namespace {

/// Extrema scored on the CPU.
struct HostExtrema {
  const std::vector<Voxel>& voxels;
  std::vector<Evidence> evidence;
};

/// What is needed to score the extrema of a frame.
struct Scoring {
  const Execution& execution;
  const VolumeFrame& frame;
  const Filter& filter;
  const Response& response;
  Polarity polarity;
  Counting counting;

  std::vector<Evidence> evidence(std::span<const Voxel> extrema, Side side,
                                 double reach = kEvidenceReach) const {
    return evidence_at(execution, frame, filter, response, polarity, extrema, side, counting, reach);
  }
};

class HostMaxima final : public ScoredMaxima {
 public:
  HostMaxima(const Scoring& scoring, const HostExtrema& maxima, const HostExtrema& minima)
      : scoring_(scoring), maxima_(maxima), minima_(minima), heights_(maxima.voxels.size()) {
    const int threads = thread_count(scoring.execution);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::size_t i = 0; i < heights_.size(); ++i) {
      const Voxel& v = maxima_.voxels[i];
      heights_[i] = static_cast<double>(scoring_.response.at(v.z, v.y, v.x));
    }
    for (std::size_t i = 0; i < maxima_.evidence.size(); ++i) {
      const Evidence& e = maxima_.evidence[i];
      sorted_[e.is_round() ? 1 : 0].push_back(e.score);
      if (e.is_round() && e.score > 0) sorted_[2].push_back(heights_[i]);
    }
    parallel_for(threads, 3, [&](std::int64_t k) {
      std::vector<double>& values = sorted_[static_cast<std::size_t>(k)];
      std::sort(values.begin(), values.end());
    });
  }
  std::size_t size() const override { return maxima_.evidence.size(); }
  std::span<const double> scores(bool round) const override { return sorted_[round ? 1 : 0]; }
  std::span<const double> responses() const override { return sorted_[2]; }
  std::size_t count(const Likely& likely) const override {
    std::size_t taken = 0;
    for (std::size_t i = 0; i < maxima_.evidence.size(); ++i)
      if (likely.holds(maxima_.evidence[i].is_round(), maxima_.evidence[i].score, heights_[i])) ++taken;
    return taken;
  }
  bool any_hot(double limit) const override {
    return std::any_of(maxima_.evidence.begin(), maxima_.evidence.end(),
                       [&](const Evidence& e) { return e.score == 0 && e.single > limit; });
  }
  std::vector<LikelySpot> take(const Likely& likely) const override {
    std::vector<LikelySpot> spots;
    for (std::size_t i = 0; i < maxima_.evidence.size(); ++i) {
      const Evidence& e = maxima_.evidence[i];
      const double response = heights_[i];
      if (likely.holds(e.is_round(), e.score, response))
        spots.push_back({{maxima_.voxels[i], e.score, e.amplitude},
                         response,
                         e.is_round(),
                         likely.takes(e.is_round(), e.score, response)});
    }
    return spots;
  }
  double noise_deviation(double margin) const override {
    if (!noise_) noise_ = noise_seen(scoring_.execution, scoring_.response, scoring_.frame);
    return detect::noise_deviation(*noise_, scoring_.filter, margin);
  }
  bool mostly_lowest() const override { return scoring_.counting.unit > 0; }
  LookedAgain look_again(Side side, double least) const override {
    const HostExtrema& extrema = side == Side::maxima ? maxima_ : minima_;
    LookedAgain looked;
    std::vector<Voxel> voxels;
    for (std::size_t i = 0; i < extrema.evidence.size(); ++i) {
      const Evidence& e = extrema.evidence[i];
      const Voxel& v = extrema.voxels[i];
      const double response = std::abs(static_cast<double>(scoring_.response.at(v.z, v.y, v.x)));
      if (!deserves_second_look(e, response, least)) continue;
      voxels.push_back(v);
      looked.extrema.push_back({v, e.score, e.amplitude});
    }
    looked.evidence = scoring_.evidence(voxels, side, kSecondReach);
    return looked;
  }

 private:
  const Scoring& scoring_;
  const HostExtrema &maxima_, &minima_;
  std::vector<double> heights_;                ///< responses of the maxima
  std::array<std::vector<double>, 3> sorted_;  ///< scores of the unround, of the round; responses
  mutable std::optional<NoiseSeen> noise_;     ///< computed at the first request
};

}  // namespace

Choice choose_spots(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                    const Response& response, Polarity polarity, float floor,
                    const std::vector<Voxel>& maxima, const ChoiceOptions& options) {
  const Scoring scoring{execution, frame, filter, response, polarity, counting_of(frame)};
  const HostExtrema scored_maxima{maxima, scoring.evidence(maxima, Side::maxima)};
  SampledMinima sample = sample_minima(execution, response, floor, rows_per_minima_sample(maxima.size()));
  erase_outside(options.mask, frame.shape, sample.voxels);
  const HostExtrema scored_minima{sample.voxels, scoring.evidence(sample.voxels, Side::minima)};
  const HostMaxima scored(scoring, scored_maxima, scored_minima);
  std::vector<float> depths;
  depths.reserve(sample.voxels.size());
  for (const Voxel& v : sample.voxels) depths.push_back(response.at(v.z, v.y, v.x));
  return choose_spots(execution, scored,
                      scores_of_minima(scored_minima.evidence, depths, sample.rows_per_sample), filter, frame,
                      floor, options);
}

}  // namespace motes::tracking::detect
