#pragma once
/// Which maxima of a response are spots, without any threshold given; docs/method/detection.md states it for
/// users.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <motes/base/host_device.h>
#include <motes/tracking/log_detector.h>

#include "tracking/detect/evidence.h"
#include "tracking/detect/maxima.h"
#include "tracking/detect/response.h"

namespace motes::tracking::detect {

/// A maximum taken as a spot, with the evidence for it.
struct ChosenSpot {
  Voxel voxel;
  double score = 0;      ///< detect::Evidence's
  double amplitude = 0;  ///< height above background, positive
  double over = 0;       ///< how many times over the level, by score or by response
};

struct Choice {
  std::vector<ChosenSpot> spots;  ///< in the order of the maxima
  double level = 0;               ///< least score of a round spot
  double noise_stretch = 1;       ///< how much wider the scores of noise are than those of white noise
  bool hot_voxels = false;        ///< some maxima are single voxels far over the noise
  bool blends = false;            ///< what stands out goes on from the noise without a gap
  bool crowd = false;             ///< spots stand clear of all other maxima and are a third of them or more
  std::vector<std::string> warnings;  ///< one line each
};

struct ChoiceOptions {
  /// How many extrema of noise may pass in a frame; none: at most one spot in twenty is expected to be false,
  /// and none is found in a frame of noise.
  std::optional<double> false_spots;
  std::span<const std::uint8_t> mask;  ///< as in DetectionOptions
  bool keep_blending = false;          ///< as in DetectionOptions
  Polarity polarity = Polarity::bright;
  /// Scales are being compared: parts of spots lie side by side at small ones, so nothing is made of crowds.
  bool comparing = false;
};

/// Scores, from which on a maximum is a spot.
struct Levels {
  double round = 0, unround = 0;
  double least = 0;  ///< of round, finite
  bool blends = false;
  bool clear = false;                                         ///< some responses stand clear of all others
  double response = std::numeric_limits<double>::infinity();  ///< of round maxima that score at all

  MOTES_HOST_DEVICE bool take(bool is_round, double score, double height) const {
    return score >= (is_round ? round : unround) || (is_round && score > 0 && height >= response);
  }
};

/// A maximum that is a spot, or may be one for what lies beside it.
struct LikelySpot {
  ChosenSpot spot;
  double response = 0;
  bool is_round = false;
  bool taken = false;
};

/// Which maxima are likely spots.
struct Likely {
  Levels levels;
  double near = 0,
         response = 0;  ///< taken too: those that score `near` or more and have this response or more
  bool beside = false;  ///< the unround that score levels.round or more are likely

  MOTES_HOST_DEVICE bool takes(bool is_round, double score, double height) const {
    return levels.take(is_round, score, height) || (score >= near && height >= response);
  }
  MOTES_HOST_DEVICE bool holds(bool is_round, double score, double height) const {
    return takes(is_round, score, height) || (beside && !is_round && score >= levels.round);
  }
};

struct LookedAgain;

/// The scored maxima of a frame, as the choice asks for them: on the CPU or on the GPU.
class ScoredMaxima {
 public:
  virtual ~ScoredMaxima() = default;
  virtual std::size_t size() const = 0;
  /// In ascending order; valid as long as this.
  virtual std::span<const double> scores(bool round) const = 0;
  /// Responses of the round maxima that score over 0, in ascending order.
  virtual std::span<const double> responses() const = 0;
  virtual std::size_t count(const Likely& likely) const = 0;
  std::size_t count_taken(const Levels& levels) const {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    return count({levels, kNone, kNone, false});
  }
  /// Whether a maximum of score 0 scores more than `limit` as a single voxel.
  virtual bool any_hot(double limit) const = 0;
  /// In storage order.
  virtual std::vector<LikelySpot> take(const Likely& likely) const = 0;
  /// See threshold.h.
  virtual double noise_deviation(double margin) const = 0;
  /// Whether most voxels hold the lowest value, as where photons are counted.
  virtual bool mostly_lowest() const = 0;
  /// The second look (second_look.h) at the maxima, or at the minima that were scored with them.
  virtual LookedAgain look_again(Side side) const = 0;
};

/// Scores of a sample of minima, each of which stands for `per_sample` of them.
struct ScoredMinima {
  std::vector<double> round, unround;
  std::vector<double> depths;  ///< responses of all, positive, in no order
  double per_sample = 1;
  std::size_t size() const { return round.size() + unround.size(); }
};

/// Rows of a frame for each that is searched for minima.
std::int64_t rows_per_minima_sample(std::size_t maxima);

/// `responses`: of each of the minima, negative.
ScoredMinima scores_of_minima(const std::vector<Evidence>& minima, std::span<const float> responses,
                              double per_sample);

/// As below, of maxima and minima that have been scored.
Choice choose_spots(const Execution& execution, const ScoredMaxima& maxima, const ScoredMinima& minima,
                    const Filter& filter, const VolumeFrame& frame, float floor,
                    const ChoiceOptions& options);

/// `floor`: responses that may be rounding errors. The same for any thread count. O(maxima * voxels of a
/// window).
Choice choose_spots(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                    const Response& response, Polarity polarity, float floor,
                    const std::vector<Voxel>& maxima, const ChoiceOptions& options = {});

}  // namespace motes::tracking::detect
