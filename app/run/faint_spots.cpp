#include "app/run/faint_spots.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <motes/base/quantile.h>
#include <motes/tracking/series_links.h>

#include "app/run/detecting.h"

namespace motes::app {
namespace {

/// Frames that are linked as a sample, and the least number of frames and of links in them.
constexpr std::size_t kSampled = 20, kFewestFrames = 8;
/// One of the first frames must be faint; a frame with this many spots that is not decides alone.
constexpr std::size_t kTried = 3, kEnoughSpots = 20;
constexpr std::int64_t kFewestLinks = 50;
/// Shares of links over more than one frame from which on too many spots are missed, at first and later, when
/// more noise may make tracks of its own.
constexpr double kMissed = 0.03, kStillMissed = 0.15;
/// False spots for each spot found before, and how often their number is raised (bench/faint_tracks.py).
constexpr double kFalsePerSpot = 2;
constexpr int kRounds = 2;
/// Above this number of detections, frames may be linked pair by pair, which does not tell noise.
constexpr double kMostDetections = 1e6;

bool may_be_faint(const Config& config, std::size_t frames, bool sizes_differ) {
  const Config::Detection& d = config.detection;
  const Config::Linking& l = config.linking;
  const bool automatic = !d.threshold && d.max_count == 0 && !d.false_positives_per_frame;
  return automatic && !sizes_differ && frames >= kFewestFrames && l.scope != Scope::pairs && l.max_gap > 0;
}

/// Share of the links of `frames` that bridge frames without the particle; 0 if there are few links.
double missed_share(const Execution& execution, const Config& config, const std::vector<Detections>& frames) {
  tracking::SeriesOptions options;
  options.max_gap = config.linking.max_gap;
  options.events = tracking::Events::none;
  const tracking::SeriesLinks links = tracking::link_series(execution, frames, options);
  return links.links < kFewestLinks ? 0 : 1 - links.model.elapsed.front();
}

}  // namespace

std::optional<FaintSpots> settle_faint_spots(const Execution& execution, const Config& config,
                                             const io::SeriesInfo& info, bool sizes_differ,
                                             const LookForSpots& look) {
  const std::size_t frames = kept_frames(info.frames, config.input.frame_step).size();
  if (!may_be_faint(config, frames, sizes_differ)) return std::nullopt;
  std::optional<double> accepted;
  double missed_at_first = 0;
  for (int round = 0; round <= kRounds; ++round) {
    std::vector<Detections> sample;
    std::vector<double> spots;
    bool faint = accepted.has_value();
    for (std::size_t k = 0; k < std::min(kSampled, frames); ++k) {
      SampledFrame seen = look(k, accepted);
      faint = faint || seen.faint;
      if (!faint && (k + 1 == kTried || seen.found.size() >= kEnoughSpots)) return std::nullopt;
      spots.push_back(static_cast<double>(seen.found.size()));
      sample.push_back(std::move(seen.found));
    }
    const double missed = missed_share(execution, config, sample);
    if (round == 0) missed_at_first = missed;
    if (!(missed > (round == 0 ? kMissed : kStillMissed)) || round == kRounds) break;
    const double more = kFalsePerSpot * quantile(spots, 0.5);
    if (!(more > 0) || (1 + 1 / kFalsePerSpot) * more * static_cast<double>(frames) > kMostDetections) break;
    accepted = more;
  }
  if (!accepted) return std::nullopt;
  return FaintSpots{*accepted, fmt::format("{:.0f} % of the links in the first {} frames bridge gaps",
                                           100 * missed_at_first, std::min(kSampled, frames))};
}

std::string faint_text(const FaintSpots& faint) {
  return fmt::format(
      "spots are faint ({}): {:g} false ones a frame are accepted, since linking tells them from particles; "
      "detection.false_positives_per_frame sets another number",
      faint.source, faint.false_per_frame);
}

}  // namespace motes::app
