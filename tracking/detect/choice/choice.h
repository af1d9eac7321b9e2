#pragma once
/// Chooses which maxima of a response are spots if no threshold is given; docs/method/detection.md describes
/// this for users.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <motes/base/host_device.h>
#include <motes/tracking/log_detector.h>

#include "tracking/detect/evidence/evidence.h"
#include "tracking/detect/filter/response.h"
#include "tracking/detect/maxima/maxima.h"

namespace motes::tracking::detect {

/// A maximum chosen as a spot, with the evidence for it.
struct ChosenSpot {
  Voxel voxel;
  double score = 0;      ///< Evidence::score, or that of the second look
  double amplitude = 0;  ///< height above background, positive
  double over = 0;       ///< ratio of score or response to its level
};

struct Choice {
  std::vector<ChosenSpot> spots;      ///< in the order of the maxima
  double level = 0;                   ///< lowest score of a round spot
  double noise_stretch = 1;           ///< how much wider the scores of noise are than those of white noise
  bool hot_voxels = false;            ///< some maxima are single voxels far over the noise
  bool blends = false;                ///< the strong maxima continue the noise without a gap
  bool faint = false;                 ///< as in DetectionReport
  bool crowd = false;                 ///< spots are far above all other maxima and at least a third of all
  bool solid = false;                 ///< objects told by their shapes (solid_objects.h)
  bool missing = false;               ///< most maxima that respond like spots are none (misses_most)
  bool looked_again = false;          ///< `score` is that of the second look (second_look.h)
  std::vector<std::string> warnings;  ///< one line each
};

struct ChoiceOptions {
  /// Expected number of false spots in a frame; none: at most one spot in twenty is expected to be false, and
  /// a frame of noise has no spots.
  std::optional<double> false_spots;
  std::span<const std::uint8_t> mask;  ///< as in DetectionOptions
  bool keep_blending = false;          ///< as in DetectionOptions
  Polarity polarity = Polarity::bright;
  /// Whether scales are being compared. At small scales parts of one spot lie side by side, so the rules for
  /// crowds are not used.
  bool comparing = false;
  bool keep_lines = false;  ///< as in DetectionOptions
  bool tell_solid = false;  ///< also tell whether objects are solid that other rules find
};

/// The scores from which on maxima are spots.
struct Levels {
  double round = 0, unround = 0;
  double least = 0;  ///< lowest score of a round spot; finite
  bool blends = false;
  bool clear = false;  ///< some responses are separated from all others by a gap
  double response = std::numeric_limits<double>::infinity();  ///< round maxima of any positive score are
                                                              ///< spots from this response on

  MOTES_HOST_DEVICE bool take(bool is_round, double score, double height) const {
    return score >= (is_round ? round : unround) || (is_round && score > 0 && height >= response);
  }
};

/// A maximum that is a spot, or may be one depending on its neighbours.
struct LikelySpot {
  ChosenSpot spot;
  double response = 0;
  bool is_round = false;
  bool taken = false;
};

/// The conditions for likely spots.
struct Likely {
  Levels levels;
  /// Also taken: maxima of at least this score and this response.
  double near = 0, response = 0;
  bool beside = false;  ///< unround maxima that score at least levels.round are likely, too

  MOTES_HOST_DEVICE bool takes(bool is_round, double score, double height) const {
    return levels.take(is_round, score, height) || (score >= near && height >= response);
  }
  MOTES_HOST_DEVICE bool holds(bool is_round, double score, double height) const {
    return takes(is_round, score, height) || (beside && !is_round && score >= levels.round);
  }
};

struct LookedAgain;

/// The scored maxima of a frame, on the CPU or on the GPU.
class ScoredMaxima {
 public:
  virtual ~ScoredMaxima() = default;
  virtual std::size_t size() const = 0;
  /// Ascending; valid as long as this object.
  virtual std::span<const double> scores(bool round) const = 0;
  /// Ascending responses of the round maxima that score over 0.
  virtual std::span<const double> responses() const = 0;
  virtual std::size_t count(const Likely& likely) const = 0;
  std::size_t count_taken(const Levels& levels) const {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    return count({levels, kNone, kNone, false});
  }
  /// Whether a maximum of score 0 scores more than `limit` as a single voxel.
  virtual bool any_hot(double limit) const = 0;
  /// The maxima that `likely` holds, in storage order.
  virtual std::vector<LikelySpot> take(const Likely& likely) const = 0;
  /// See threshold.h.
  virtual double noise_deviation(double margin) const = 0;
  /// Whether most voxels hold the lowest value, as in frames of counted photons.
  virtual bool mostly_lowest() const = 0;
  /// The second look (second_look.h) at the maxima, or at the minima that were scored with them; extrema that
  /// respond at least `least` are also looked at.
  virtual LookedAgain look_again(Side side, double least) const = 0;
};

/// Scores of a sample of minima. The frame has `per_sample` times as many.
struct ScoredMinima {
  std::vector<double> round, unround;
  std::vector<double> depths;  ///< responses of all, positive, in no order
  double per_sample = 1;
  std::size_t size() const { return round.size() + unround.size(); }
};

/// One row in this many is searched for minima.
std::int64_t rows_per_minima_sample(std::size_t maxima);

/// `responses`: [minima] negative.
ScoredMinima scores_of_minima(const std::vector<Evidence>& minima, std::span<const float> responses,
                              double per_sample);

/// The same from scored maxima and minima.
Choice choose_spots(const Execution& execution, const ScoredMaxima& maxima, const ScoredMinima& minima,
                    const Filter& filter, const VolumeFrame& frame, float floor,
                    const ChoiceOptions& options);

/// The spots among `maxima`. `floor`: responses up to this may be rounding errors. The same for any thread
/// count. O(maxima * voxels of a window).
Choice choose_spots(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                    const Response& response, Polarity polarity, float floor,
                    const std::vector<Voxel>& maxima, const ChoiceOptions& options = {});

}  // namespace motes::tracking::detect
