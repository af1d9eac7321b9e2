/// Score. The height of the spot that fits best, relative to its standard error. The first look measures the
/// noise in each box alone. White noise has the same strength in many boxes, so the second look shares it
/// between boxes as far as they agree (common_noise); this also keeps the shot noise of a spot's own light
/// from lowering its score. Roundness hardly counts, since noise makes weak spots unround.
///
/// Noise is modelled as in the first look (selection.h), but for the wider box: kNoise below is the
/// distribution of scores on white noise, and the 98th percentile of the minima gives the stretch of this
/// frame's.

#include "tracking/detect/choice/second_look.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include <motes/base/quantile.h>

#include "tracking/detect/choice/selection.h"
#include "tracking/detect/choice/spots_nearby.h"
#include "tracking/detect/choice/tail_law.h"
#include "tracking/detect/filter/blocks.h"

namespace motes::tracking::detect {
namespace {

constexpr double kFalseShare = 0.05;    // of false spots among those found,
constexpr double kFalseHere = 1.0 / 3;  // and among those that score least, up to kHere times the level
constexpr double kHere = 1.1;
constexpr double kOnlyOne = 0.025;   // expected false spots at which a single one is accepted
constexpr std::size_t kFewest = 20;  // with fewer spots in the first look there is a second one,
constexpr double kNearNoise = 0.05;  // as with at least this share of them within kMargin of the level
constexpr double kMargin = 1.25;
constexpr double kMostNeighbours = 1.5;  // largest expected number in a box
constexpr double kMostStretch = 1.1;     // largest stretch of noise in the first look

/// White noise: share of its extrema that score higher, measured with sigma 0.8 to 4 voxels in 2D and 3D.
struct Knot {
  double score, tail;
};
constexpr std::array<Knot, 4> kNoise{{{2.5, .05}, {3.0, .02}, {3.35, .01}, {4.1, .001}}};
constexpr double kTailVariance = 1.25;  // of the Gaussian tail beyond the last knot
constexpr double kUpperShare = 0.02, kUpper = 3.0;
constexpr double kLeastStretch = 0.9;
constexpr double kMostSkew = 1.25;   // largest ratio of the maxima's tail to the minima's
constexpr double kSkewGrowth = 1.3;  // exponent of the ratio: its growth from there to the level
constexpr std::size_t kFewestMinima = 500;
constexpr double kClearDepth = 0.9;    // quantile of the minima's depths: maxima this high are looked at
constexpr double kLooks = 8;           // maxima looked at for each in the tail, so that few of it are missed
constexpr double kMostExcess = 1.35;   // a box with more variance holds more than noise and a weak spot
constexpr double kShadow = 4.5;        // sigmas: minima this near to spots are made by these
constexpr double kRoundPower = 0.125;  // of roundness in scores

double noise_tail(double score) {
  const Knot last = kNoise.back();
  if (score >= last.score)
    return last.tail * std::exp(-(score * score - last.score * last.score) / (2 * kTailVariance));
  if (score <= kNoise[0].score) return 1;
  std::size_t i = 1;
  while (score > kNoise[i].score) ++i;
  const double part = (score - kNoise[i - 1].score) / (kNoise[i].score - kNoise[i - 1].score);
  return std::exp((1 - part) * std::log(kNoise[i - 1].tail) + part * std::log(kNoise[i].tail));
}

/// The expected number of other spots in the box around a spot.
double neighbours(const Filter& filter, const Shape3& shape, std::size_t spots) {
  const std::array<std::int64_t, 3> size{shape.nx, shape.ny, shape.nz};
  double share = static_cast<double>(spots);
  for (std::size_t a = 0; a < 3; ++a)
    if (filter.sigma[a] > 0)
      share *= std::min(1.0, 2 * kSecondReach * filter.sigma[a] / static_cast<double>(size[a]));
  return share;
}

/// `level`: least score of spots outside crowds.
bool near_noise(std::span<const ChosenSpot> taken, double level) {
  if (taken.size() < kFewest) return true;
  const auto lower = [](const ChosenSpot& a, const ChosenSpot& b) { return a.score < b.score; };
  level = std::max(level, std::min_element(taken.begin(), taken.end(), lower)->score);
  const auto near = std::count_if(taken.begin(), taken.end(),
                                  [&](const ChosenSpot& s) { return s.score < kMargin * level; });
  return static_cast<double>(near) >= kNearNoise * static_cast<double>(taken.size());
}

/// The box around an extremum, within the frame.
struct Box {
  double dof = 1;   ///< of the residuals of the fit
  double norm = 0;  ///< sum of squares of a spot's profile without constant and slope
};

/// The boxes of a frame. The profile is that of a spot in the middle of a voxel.
class Boxes {
 public:
  Boxes(const VolumeFrame& frame, const Filter& filter)
      : source_(block_geometry(frame, filter)),
        tables_(frame, source_, filter, Polarity::bright, Side::maxima, {}, kSecondReach) {}
  Box at(const Voxel& v) const {
    const rules::Place3 place{source_.to_blocks(static_cast<double>(v.x), 0),
                              source_.to_blocks(static_cast<double>(v.y), 1),
                              source_.to_blocks(static_cast<double>(v.z), 2)};
    const rules::Moments moments = rules::moments_of(rules::box_around(tables_.model, place), {}, 0);
    return {moments.dof, moments.gg};
  }
  /// Of a box in the middle of the frame.
  double dof() const {
    const Shape3& shape = source_.frame->shape;
    return at({shape.nz / 2, shape.ny / 2, shape.nx / 2}).dof;
  }

 private:
  Source source_;
  EvidenceTables tables_;
};

/// What the wider box says of an extremum.
struct Fitted {
  double height = 0;    ///< of the spot, in units of its standard error where the noise's deviation is 1
  double variance = 0;  ///< of the noise, from the residuals
  double dof = 1;       ///< of the residuals
  double round = 0;     ///< factor of the score for roundness
};

/// nullopt if a single voxel explains the box better than a spot.
std::optional<Fitted> fitted(const Evidence& e, const Box& box) {
  if (!(e.score > 0) || !(e.roundness > 0) || !(box.norm > 0)) return std::nullopt;
  const double t = e.score / std::sqrt(e.roundness);
  // exp(-t^2 / dof) is the share of the sum of squares that the spot leaves unexplained.
  const double explained = std::expm1(t * t / box.dof);
  const double height = e.amplitude * std::sqrt(box.norm);
  const double variance = height * height / (explained * box.dof);
  if (!(variance > 0) || !std::isfinite(variance)) return std::nullopt;
  return Fitted{height, variance, box.dof, std::pow(e.roundness, kRoundPower)};
}

/// The noise of all boxes together. The variance in one box has an error. A weighted mean with the variance
/// that is common to all boxes has less; its weight follows from how much the variances differ beyond their
/// errors (Smyth 2004).
struct CommonNoise {
  double variance = 0, dof = 0;
  double deviation(const Fitted& f) const {
    const double both = std::isinf(dof) ? variance : (dof * variance + f.dof * f.variance) / (dof + f.dof);
    return std::sqrt(std::max(both, f.variance / kMostExcess));
  }
};

CommonNoise common_noise(std::span<const std::optional<Fitted>> minima) {
  std::vector<double> logs;
  double error = 0;  // variance of a logarithm by chance
  for (const std::optional<Fitted>& f : minima) {
    if (!f) continue;
    logs.push_back(std::log(f->variance));
    error += 2 / f->dof;
  }
  if (logs.size() < kFewest) return {};
  error /= static_cast<double>(logs.size());
  const auto at = [&](double share) { return quantile(logs, share); };
  const double spread = 0.5 * (at(0.84) - at(0.16)), excess = spread * spread - error;
  constexpr double kNone = 0.05;  // of the error: as good as equal
  return {std::exp(at(0.5)), excess > kNone * error ? 2 / excess : std::numeric_limits<double>::infinity()};
}

/// The second look at all extrema.
struct Looked {
  std::vector<ChosenSpot> maxima;  ///< that got a second look, with the scores of the first
  std::vector<double> high, low;   ///< scores of all maxima and minima; 0 without a second look
  double dof = 1;                  ///< of the noise that scores are relative to
};

/// The scores of minima without those that got a second look beside spots: there the filter makes minima.
std::vector<double> without_shadows(const Filter& filter, std::span<const ChosenSpot> spots,
                                    const std::vector<ChosenSpot>& minima, std::vector<double> scores) {
  std::vector<Voxel> places;
  for (const ChosenSpot& spot : spots) places.push_back(spot.voxel);
  const SpotsNearby nearby(filter, places, kShadow);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (i >= minima.size() || !nearby.any_within(minima[i].voxel, [](std::size_t) { return true; }))
      scores[kept++] = scores[i];
  scores.resize(kept);
  return scores;
}

Looked look(const Filter& filter, const FirstLook& first, double least) {
  const LookedAgain maxima = first.maxima.look_again(Side::maxima, least),
                    minima = first.maxima.look_again(Side::minima, least);
  const Boxes boxes(first.frame, filter);
  const auto fits_of = [&](const LookedAgain& looked) {
    std::vector<std::optional<Fitted>> fits;
    for (std::size_t i = 0; i < looked.extrema.size(); ++i)
      fits.push_back(fitted(looked.evidence[i], boxes.at(looked.extrema[i].voxel)));
    return fits;
  };
  const std::vector<std::optional<Fitted>> high = fits_of(maxima), low = fits_of(minima);
  const CommonNoise noise = common_noise(low);
  const auto scores_of = [&](const std::vector<std::optional<Fitted>>& fits, std::size_t all) {
    std::vector<double> scores;
    for (const std::optional<Fitted>& f : fits)
      scores.push_back(f ? f->height / noise.deviation(*f) * f->round : 0);
    scores.resize(std::max(all, scores.size()));
    return scores;
  };
  Looked looked{maxima.extrema, scores_of(high, first.maxima.size()),
                without_shadows(filter, first.taken, minima.extrema, scores_of(low, first.minima.size())),
                noise.dof + boxes.dof()};
  return looked;
}

/// The score from which on a share kFalseShare of the maxima is expected to be false, and a share kFalseHere
/// of those just above it (the local false-discovery rate; Efron 2004); none if no maximum scores that high.
/// `falling`: scores in falling order. `noise`: number of noise maxima, `stretch`: of their scores relative
/// to white noise.
std::optional<double> false_discovery(std::span<const double> falling, double noise, double stretch) {
  std::size_t above = falling.size();  // scores over the band
  for (std::size_t n = falling.size(); n > 0; --n) {
    const double level = falling[n - 1], falsely = noise * noise_tail(level / stretch);
    if (falsely > kFalseShare * std::max(kOnlyOne, static_cast<double>(n) - 1)) continue;
    while (above > 0 && falling[above - 1] < kHere * level) --above;
    const double here = falsely - noise * noise_tail(kHere * level / stretch);
    if (here <= kFalseHere * static_cast<double>(n - above)) return level;
  }
  return std::nullopt;
}

/// 0 without scores below `below`.
double upper_of(std::span<const double> scores, double below) {
  std::vector<double> noise;
  for (const double s : scores)
    if (s < below) noise.push_back(s);
  if (noise.empty()) return 0;
  return quantile(noise, 1 - kUpperShare) / kUpper;
}

/// The lowest score of spots. In shot noise and other skewed noise, maxima score higher than minima. By how
/// much is measured on the maxima below a first level and extrapolated to it.
std::optional<double> level_of(std::span<const double> high, std::span<const double> low, std::size_t before,
                               double first_stretch) {
  std::vector<double> falling;
  for (const double s : high)
    if (s > kNoise[0].score) falling.push_back(s);
  std::sort(falling.begin(), falling.end(), std::greater<>());
  const auto noise = static_cast<double>(high.size() - before);
  const double down = upper_of(low, std::numeric_limits<double>::infinity());
  if (down > kMostStretch || !(down > 0)) return std::nullopt;
  double stretch = std::max(kLeastStretch, down) * first_stretch;
  const std::optional<double> symmetric = false_discovery(falling, noise, stretch);
  if (!symmetric) return std::nullopt;
  const double skew = std::max(1.0, upper_of(high, *symmetric) / down);
  if (skew > kMostSkew) return std::nullopt;
  stretch = std::max(stretch, std::max(kLeastStretch, down) * std::pow(skew, kSkewGrowth));
  const std::optional<double> level = false_discovery(falling, noise, stretch);
  if (!level) return std::nullopt;
  return first_valley(falling, *level);
}

bool applies(const Filter& filter, const FirstLook& first) {
  return first.applies || (first.noise_stretch <= kMostStretch &&
                           neighbours(filter, first.frame.shape, first.taken.size()) <= kMostNeighbours &&
                           first.minima.size() >= kFewestMinima && !first.maxima.mostly_lowest());
}

/// The spots by the second look.
struct SecondLook {
  std::vector<ChosenSpot> spots;
  double level = 0;  ///< least score
};

std::optional<SecondLook> second_look(const Filter& filter, const FirstLook& first) {
  if (!applies(filter, first) || !near_noise(first.taken, first.level)) return std::nullopt;
  const std::size_t before = first.taken.size();
  const Looked looked = look(filter, first, percentile(first.minima.depths, kClearDepth));
  const std::optional<double> level = level_of(looked.high, looked.low, before, first.noise_stretch);
  if (!level) return std::nullopt;
  SecondLook second{{}, *level};
  for (std::size_t i = 0; i < looked.maxima.size(); ++i) {
    if (!(looked.high[i] >= *level)) continue;
    second.spots.push_back(looked.maxima[i]);
    if (!first.comparing) second.spots.back().score = looked.high[i];
  }
  if (second.spots.size() <= before) return std::nullopt;
  return second;
}

std::optional<SecondLook> second_look_at_rate(const Filter& filter, const FirstLook& first,
                                              double false_spots) {
  if (!applies(filter, first) || first.maxima.size() == 0) return std::nullopt;
  const auto all = static_cast<double>(first.maxima.size());
  const double share = std::min(1.0, kLooks * share_in_tail(false_spots, all));
  Looked looked = look(filter, first, percentile(first.minima.depths, 1 - share));
  std::vector<char> is_known(looked.maxima.size());
  std::vector<double> others = looked.high;
  auto known = first.taken.begin();
  for (std::size_t i = 0; i < looked.maxima.size(); ++i) {
    looked.maxima[i].score = looked.high[i];
    while (known != first.taken.end() && known->voxel < looked.maxima[i].voxel) ++known;
    is_known[i] = known != first.taken.end() && known->voxel == looked.maxima[i].voxel;
    if (is_known[i]) others[i] = 0;
  }
  constexpr double kAll = std::numeric_limits<double>::infinity();
  if (upper_of(others, kAll) > kMostSkew * upper_of(looked.low, kAll)) return std::nullopt;
  for (std::vector<double>* scores : {&others, &looked.low}) std::sort(scores->begin(), scores->end());
  const std::optional<double> level = continued_level_of_maxima(others, looked.low, false_spots, looked.dof,
                                                                first.minima.per_sample, [] { return 1.0; });
  if (!level) return std::nullopt;
  SecondLook second{{}, *level};
  for (std::size_t i = 0; i < looked.maxima.size(); ++i)
    if (is_known[i] || looked.high[i] >= *level) second.spots.push_back(looked.maxima[i]);
  return second;
}

}  // namespace

bool choose_again(const Filter& filter, const FirstLook& first, std::optional<double> false_spots,
                  Choice& choice) {
  std::optional<SecondLook> again =
      false_spots ? second_look_at_rate(filter, first, *false_spots) : second_look(filter, first);
  if (!again) return false;
  choice.spots = std::move(again->spots);
  if (!first.comparing) choice.level = again->level;
  choice.looked_again = true;
  choice.blends = false;
  return true;
}

}  // namespace motes::tracking::detect
