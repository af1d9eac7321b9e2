/// The conditions of warnings, and their texts.

#include "app/run/warnings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <motes/base/quantile.h>

#include "app/progress.h"

namespace motes::app {
namespace {

/// There is an explanation only if the share of right links is below this,
constexpr double kFew = 0.5;
constexpr double kExplains = 2;  ///< and another reading gives this many times as many

/// Half the distance between the 5th and the 95th percentile, which few outliers hardly change.
double spread(std::vector<double> values) {
  return values.empty() ? 0 : (quantile(values, 0.95) - quantile(values, 0.05)) / 2;
}

bool explains(const Execution& execution, const TrackSet& truth, const TrackSet& changed,
              const Scores& scores) {
  const LinkScores now = tracking::link_scores(execution, truth, changed, scores.gate_link);
  return now.recall > kFew && now.recall > kExplains * scores.link.recall;
}

/// The found tracks with `by` added to their frames.
TrackSet shifted(TrackSet tracks, std::int32_t by) {
  for (std::int32_t& frame : tracks.frame) frame += by;
  return tracks;
}

/// The median distance of nearest neighbours in the frame with the most points, for up to 500 of them;
/// infinite if no frame has two points.
double spacing_in(const TrackSet& tracks) {
  constexpr std::size_t kMost = 500;
  std::map<std::int32_t, std::vector<std::size_t>> frames;
  for (std::size_t i = 0; i < tracks.points(); ++i) frames[tracks.frame[i]].push_back(i);
  const auto fullest = std::max_element(frames.begin(), frames.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  if (fullest == frames.end() || fullest->second.size() < 2) return std::numeric_limits<double>::infinity();
  const std::vector<std::size_t>& points = fullest->second;
  const std::size_t sampled = std::min(kMost, points.size());
  std::vector<double> distances;
  for (std::size_t k = 0; k < sampled; ++k) {
    const std::size_t i = points[k * points.size() / sampled];
    double nearest = std::numeric_limits<double>::infinity();
    for (const std::size_t j : points)
      if (j != i)
        nearest =
            std::min(nearest, std::hypot(tracks.x_um[i] - tracks.x_um[j], tracks.y_um[i] - tracks.y_um[j],
                                         tracks.z_um[i] - tracks.z_um[j]));
    distances.push_back(nearest);
  }
  return quantile(distances, 0.5);
}

}  // namespace

std::vector<std::string> gate_warnings(double gate_um, const tracking::GateEstimate& estimate,
                                       const std::string& unit) {
  if (gate_um >= estimate.displacement_um) return {};
  const auto length = [&](double um) { return fmt::format("{:.4g}{}{}", um, unit.empty() ? "" : " ", unit); };
  return {
      fmt::format("the gate of {} is shorter than the typical displacement of {}: most links are cut; the "
                  "data suggest {}",
                  length(gate_um), length(estimate.displacement_um), length(estimate.gate_um))};
}

std::vector<std::string> frame_warnings(const std::vector<FrameSummary>& frames) {
  constexpr std::size_t kNamed = 5;
  std::vector<std::int32_t> empty;
  for (const FrameSummary& frame : frames)
    if (frame.detections == 0) empty.push_back(frame.frame);
  if (empty.empty() || empty.size() == frames.size()) return {};
  const std::vector<std::int32_t> named(
      empty.begin(), empty.begin() + static_cast<std::ptrdiff_t>(std::min(kNamed, empty.size())));
  return {
      fmt::format("{} of {} frames {} no detections (frame {}{}): tracks break there unless gaps are allowed",
                  empty.size(), frames.size(), empty.size() == 1 ? "has" : "have", fmt::join(named, ", "),
                  empty.size() > kNamed ? ", ..." : "")};
}

std::vector<std::string> repeat_warnings(std::size_t repeats, std::size_t points) {
  if (repeats == 0 || 100 * repeats < points) return {};
  return {
      fmt::format("{} of {} points lie exactly where another point of their frame does: does the input have "
                  "points twice? The links of such points are a guess",
                  repeats, points)};
}

std::vector<std::string> track_warnings(const TrackSet& tracks) {
  constexpr std::size_t kEnough = 20;
  const auto [first, last] = std::minmax_element(tracks.frame.begin(), tracks.frame.end());
  if (tracks.tracks() > 1 && *first == *last)
    return {fmt::format(
        "all detections are in frame {}, so there is nothing to link: if the planes of an image are times, "
        "give --axes TYX; for a table, check the frame column",
        *first)};
  std::size_t single = 0;
  for (std::size_t t = 0; t < tracks.tracks(); ++t)
    if (tracks.track_offsets[t + 1] - tracks.track_offsets[t] == 1) ++single;
  if (tracks.tracks() < kEnough || 2 * single <= tracks.tracks()) return {};
  return {fmt::format(
      "{} of {} tracks are a single point: look for false detections, and check the gate and the frame "
      "interval; --min-length 2 leaves them out",
      single, tracks.tracks())};
}

std::vector<std::string> score_warnings(const Execution& execution, const TrackSet& truth,
                                        const TrackSet& found, const Scores& scores) {
  if (truth.points() == 0 || found.points() == 0) return {};
  std::vector<std::string> lines;
  const double spacing = spacing_in(truth);
  if (scores.gate > spacing)
    lines.push_back(fmt::format(
        "the gate of {:.4g} {} is longer than the typical distance between neighbouring true particles, "
        "{:.4g} {}: a found position may match the wrong particle{}",
        scores.gate, truth.length_unit, spacing, truth.length_unit,
        spacing > 0 ? fmt::format("; give a shorter gate, such as {:.2g}", spacing / 2) : ""));
  if (scores.link.recall > kFew) return lines;
  for (const std::int32_t by : {1, -1}) {
    if (by < 0 && *std::min_element(found.frame.begin(), found.frame.end()) + by < 0) continue;
    if (!explains(execution, truth, shifted(found, by), scores)) continue;
    lines.push_back(
        fmt::format("many more links are right if the found tracks' frames are counted {} by one: do both "
                    "count from the same number?",
                    by > 0 ? "up" : "down"));
    return lines;
  }
  Vec3 scale{1, 1, 1};
  TrackSet scaled = found;
  const auto fit = [&](double& factor, const std::vector<double>& from, std::vector<double>& to) {
    const double wanted = spread(from), there = spread(to);
    if (!(wanted > 0) || !(there > 0)) return;
    factor = wanted / there;
    for (double& value : to) value *= factor;
  };
  fit(scale.x, truth.x_um, scaled.x_um);
  fit(scale.y, truth.y_um, scaled.y_um);
  fit(scale.z, truth.z_um, scaled.z_um);
  if (explains(execution, truth, scaled, scores))
    lines.push_back(
        fmt::format("many more links are right if the found positions are multiplied by [{:.3g}, {:.3g}, "
                    "{:.3g}] [z, y, x]: is one side in px, or in another unit?",
                    scale.z, scale.y, scale.x));
  return lines;
}

std::vector<std::string> motion_warnings(const tracking::MotionFigures& motion,
                                         const tracking::AnalysisOptions& options) {
  constexpr std::size_t kFewTracks = 10;
  constexpr double kKeepsDirection = 0.2;
  if (motion.lags.empty() && options.min_length > 2)
    return {fmt::format("no track has {} points, so motion cannot be measured; set a lower --min-length",
                        options.min_length)};
  if (motion.lags.empty())
    return {
        "no track has two points, so motion cannot be measured; link the detections first, with motes track"};
  std::vector<std::string> lines;
  if (motion.tracks.size() < kFewTracks)
    lines.push_back(fmt::format("{} only: errors between tracks are themselves uncertain",
                                counted(std::ssize(motion.tracks), "tracks")));
  if (motion.lags.front().step_correlation > kKeepsDirection)
    lines.push_back(fmt::format(
        "successive steps have similar directions (correlation {:.2f}), so this is not diffusion, and the "
        "diffusion constant does not describe it{}",
        motion.lags.front().step_correlation,
        options.remove_drift ? "" : "; --remove-drift subtracts the mean motion of all particles"));
  return lines;
}

}  // namespace motes::app
