/// Settles the radius and the polarity of spots on a few frames.

#include "app/run/spot_radius.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <motes/tracking/crop.h>
#include <motes/tracking/log_detector.h>

#include "app/interrupt.h"
#include "app/progress.h"
#include "app/run/detecting.h"

namespace motes::app {
namespace {

/// Up to this many frames, spread over the series, are searched for a radius; those without spots are
/// skipped.
constexpr std::size_t kFramesTriedForRadius = 10;

/// If a frame has fewer than kFewSpots spots, the radius is the median over kFramesOfFewSpots frames: in a
/// single frame, noise and the shapes of a few spots would decide.
constexpr std::size_t kFewSpots = 20, kFramesOfFewSpots = 5;

constexpr const char* kDark = "; dark spots";  // in SpotRadius::source

std::size_t spots_in(const Execution& execution, const VolumeFrame& frame, const Vec3& radius_um,
                     tracking::Polarity polarity) {
  tracking::DetectionOptions options;
  options.radius_um = radius_um;
  options.polarity = polarity;
  return tracking::detect_spots(execution, frame, options).size();
}

std::string name_of(tracking::Polarity polarity) {
  return polarity == tracking::Polarity::bright ? "bright" : "dark";
}

/// The spots of the other polarity.
struct OtherPolarity {
  tracking::Polarity polarity = tracking::Polarity::dark;
  std::size_t found = 0;
  bool clear = false;  ///< they are spots: fits succeed, shapes are alike and round, and far above the noise
};

/// Whether the fits of `found` are those of spots. Of gaps below stripes, few fits succeed.
bool are_clear(const Detections& found) {
  constexpr std::size_t kFewest = 8;
  constexpr double kClearScore = 5, kFitted = 2.0 / 3, kMostElongated = 1.0 / 3;
  if (found.size() < kFewest) return false;
  const auto share = [&](const char* name, double least) {
    const auto property = std::find_if(found.properties.begin(), found.properties.end(),
                                       [&](const auto& p) { return p.name == name; });
    if (property == found.properties.end()) return 0.0;
    const auto& values = property->values;
    return static_cast<double>(
               std::count_if(values.begin(), values.end(), [&](double value) { return value >= least; })) /
           static_cast<double>(values.size());
  };
  return share("fitted", 1) >= kFitted && share("score", kClearScore) >= 0.5 &&
         share("elongated", 1) <= kMostElongated;
}

OtherPolarity other_polarity(const Execution& execution, const VolumeFrame& frame,
                             tracking::Polarity polarity, const std::optional<Vec3>& radius_um) {
  OtherPolarity other;
  if (polarity == tracking::Polarity::dark) other.polarity = tracking::Polarity::bright;
  tracking::DetectionOptions options;
  options.polarity = other.polarity;
  options.refine = tracking::Refine::fit;
  if (radius_um) {
    options.radius_um = *radius_um;
  } else {
    const auto sizes = tracking::estimate_sizes(execution, frame, other.polarity);
    if (!sizes) return other;
    options.radius_um = sizes->radius_um;
  }
  tracking::DetectionReport report;
  const Detections found = tracking::detect_spots(execution, frame, options, &report);
  other.found = found.size();
  other.clear = are_clear(found) && !report.shapes_differ;
  return other;
}

/// A hint that the polarity may be wrong; empty unless the other polarity gives more than twice the `seen`
/// spots.
std::string hint_of_polarity(const VolumeFrame& frame, const OtherPolarity& other, std::size_t seen) {
  if (other.found <= 2 * seen) return "";
  return fmt::format("frame {} shows {} {} spots: set detection.polarity={} to find those", frame.index,
                     other.found, name_of(other.polarity), name_of(other.polarity));
}

/// Whether the spots of a frame are dark, if it shows `seen` bright ones: clear dark ones and hardly any
/// bright ones. Says so.
bool are_dark(const VolumeFrame& frame, const OtherPolarity& other, std::size_t seen, Console& console) {
  constexpr std::size_t kFarMore = 10;
  if (!other.clear || other.found < kFarMore * seen) return false;
  console.note(
      fmt::format("polarity: dark (frame {} shows {} dark spots and {} bright ones; "
                  "detection.polarity=bright finds those)",
                  frame.index, other.found, seen));
  return true;
}

/// A hint that spots may be in another channel; empty if there is only one.
std::string hint_of_channel(const io::SeriesInfo& info) {
  if (info.channels < 2) return "";
  return fmt::format("; this is channel {} of {}, counted from 0; input.channel selects another",
                     info.channel, info.channels);
}

/// The warning that spots of two sizes fit the frame, small ones in wide objects.
std::string text_of_rival(const tracking::SpotSizes& sizes, std::int32_t frame) {
  const tracking::RivalSize& rival = *sizes.rival;
  const bool wider = rival.radius_um.x > sizes.radius_um.x;
  const auto size = [](const Vec3& um, std::size_t found) {
    return fmt::format("radius {:.4g} um ({} found)", um.x, found);
  };
  return fmt::format(
      "spots of two sizes fit frame {}, many small ones in each wide one: {} and {}; the {} ones are taken; "
      "for the others set detection.radius_um (--radius {:.4g},{:.4g},{:.4g})",
      frame, size(sizes.radius_um, rival.taken), size(rival.radius_um, rival.found), wider ? "small" : "wide",
      rival.radius_um.z, rival.radius_um.y, rival.radius_um.x);
}

/// For series without visible spots: the radius of spots whose standard deviation is 1.5 times the smallest
/// voxel side.
SpotRadius radius_without_spots(const io::FrameSource& source, const VolumeFrame& frame, std::size_t tried,
                                const std::string& hint, Console& console) {
  const Vec3& voxel = frame.voxel_um;
  const double um = 1.5 * std::min({voxel.x, voxel.y, voxel.z}) * std::sqrt(frame.shape.nz > 1 ? 3.0 : 2.0);
  console.warn(
      fmt::format("{}: no spots in {} to estimate the radius from, so {:.4g} um is used; set "
                  "detection.radius_um ({}{})",
                  source.info().path, counted(static_cast<std::int64_t>(tried), "frames"), um,
                  hint.empty() ? "check detection.polarity" : hint, hint_of_channel(source.info())));
  return {{um, um, um}, std::nullopt, "no spots found: a standard deviation of 1.5 voxels"};
}

/// Whether the frame has areas of at least three different whole numbers on a background of 0.
bool looks_like_labels(const VolumeFrame& frame) {
  constexpr double kAlike = 0.9;       // share of equal ones among neighbours along x above 0
  constexpr std::size_t kNumbers = 3;  // fewer may be a thresholded image
  return visit_voxels(frame.voxels, [&](auto voxels) {
    std::set<double> numbers;
    std::int64_t inside = 0, pairs = 0, alike = 0;
    double before = 0;
    for (std::size_t i = 0; i < voxels.size(); ++i) {
      const auto value = static_cast<double>(voxels[i]);
      if (value < 0 || value != std::floor(value)) return false;
      if (value > 0 && value != before && numbers.size() < kNumbers) numbers.insert(value);
      inside += value > 0 ? 1 : 0;
      pairs += value > 0 && before > 0 ? 1 : 0;
      alike += value > 0 && before == value ? 1 : 0;
      before = value;
    }
    return numbers.size() >= kNumbers && 2 * inside < static_cast<std::int64_t>(voxels.size()) &&
           2 * pairs > inside && static_cast<double>(alike) > kAlike * static_cast<double>(pairs);
  });
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Vec3 median_of(const std::vector<Vec3>& radii) {
  std::vector<double> x, y, z;
  for (const Vec3& r : radii) x.push_back(r.x), y.push_back(r.y), z.push_back(r.z);
  return {median(x), median(y), median(z)};
}

/// The middle of a frame, at most 2^21 voxels.
VolumeFrame middle_of(const VolumeFrame& frame) {
  const auto cut = [](std::int64_t n, std::int64_t most) {
    const std::int64_t first = std::max<std::int64_t>(0, (n - most) / 2);
    return std::pair(first, std::min(n, first + most));
  };
  const Shape3& s = frame.shape;
  const std::int64_t planes = std::min<std::int64_t>(s.nz, 32), side = s.nz == 1 ? 1448 : 256;
  tracking::Region region;
  std::tie(region.x0, region.x1) = cut(s.nx, side);
  std::tie(region.y0, region.y1) = cut(s.ny, side);
  std::tie(region.z0, region.z1) = cut(s.nz, planes);
  return tracking::crop_frame(frame, region);
}

/// The polarity of spots of a given radius: bright, unless the middle of the first frame shows dark ones.
tracking::Polarity polarity_seen(const Execution& execution, const Config& config, io::FrameSource& source,
                                 Console& console) {
  using tracking::Polarity;
  const auto frames = kept_frames(source.info().frames, config.input.frame_step);
  if (frames.empty() || config.detection.threshold) return Polarity::bright;
  VolumeFrame frame = source.read(frames.front());
  if (config.input.crop) frame = tracking::crop_frame(frame, *config.input.crop);
  frame = middle_of(frame);
  const Vec3 radius_um = *config.detection.radius_um;
  const std::size_t seen = spots_in(execution, frame, radius_um, Polarity::bright);
  if (seen >= kFewSpots) return Polarity::bright;
  const OtherPolarity other = other_polarity(execution, frame, Polarity::bright, radius_um);
  return are_dark(frame, other, seen, console) ? Polarity::dark : Polarity::bright;
}

}  // namespace

SpotRadius choose_radius(const Execution& execution, const Config& config, io::FrameSource& source,
                         Console& console) {
  const Config::Detection& d = config.detection;
  const auto polarity = d.polarity.value_or(tracking::Polarity::bright);
  if (d.radius_um) {
    SpotRadius given{*d.radius_um, d.largest_radius_um, "detection.radius_um", polarity};
    if (!d.polarity) given.polarity = polarity_seen(execution, config, source, console);
    if (given.polarity != polarity) given.source += kDark;
    return given;
  }
  const std::vector<std::int32_t> frames = kept_frames(source.info().frames, config.input.frame_step);
  const std::size_t tried = std::min(kFramesTriedForRadius, frames.size());
  VolumeFrame frame;
  std::vector<Vec3> few;
  std::string hint;
  for (std::size_t k = 0; k < tried && few.size() < kFramesOfFewSpots; ++k) {
    stop_if_interrupted("interrupted while estimating the spot radius");
    const std::int32_t t = frames[k * frames.size() / tried];
    frame = source.read(t);
    if (k == 0 && looks_like_labels(frame))
      console.warn(
          "the frames look like label images (areas of one value each on 0), but are searched for spots; "
          "set detection.method: labels if each value is one object");
    if (config.input.crop) frame = tracking::crop_frame(frame, *config.input.crop);
    const auto sizes = tracking::estimate_sizes(execution, frame, polarity);
    const std::size_t seen = sizes ? spots_in(execution, frame, sizes->radius_um, polarity) : 0;
    const bool two_sizes = sizes && sizes->rival;
    if (k == 0 && seen < kFewSpots && !two_sizes) {
      const OtherPolarity other = other_polarity(execution, frame, polarity, std::nullopt);
      if (!d.polarity && are_dark(frame, other, seen, console)) {
        Config dark = config;
        dark.detection.polarity = tracking::Polarity::dark;
        SpotRadius radius = choose_radius(execution, dark, source, console);
        radius.source += kDark;
        return radius;
      }
      hint = hint_of_polarity(frame, other, seen);
    }
    if (!sizes) continue;
    if (!hint.empty()) console.warn(std::exchange(hint, ""));
    if (two_sizes) console.warn(text_of_rival(*sizes, t));
    if (seen >= kFewSpots || two_sizes) {
      const char* differ = sizes->largest_radius_um ? ": sizes differ" : "";
      return {sizes->radius_um, sizes->largest_radius_um, fmt::format("estimated on frame {}{}", t, differ),
              polarity};
    }
    few.push_back(sizes->radius_um);
  }
  if (!few.empty())
    return {median_of(few), std::nullopt,
            fmt::format("median over {} with few spots",
                        counted(static_cast<std::int64_t>(few.size()), "frames")),
            polarity};
  SpotRadius radius = radius_without_spots(source, frame, tried, hint, console);
  radius.polarity = polarity;
  return radius;
}

}  // namespace motes::app
