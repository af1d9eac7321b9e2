#include "tracking/detect/fit/positions.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "tracking/detect/fit/camera.h"
#include "tracking/detect/fit/gaussian_fit.h"

namespace motes::tracking::detect {
namespace {

constexpr std::array<const char*, 2> kPhotonColumns{"photons", "error_photons"};
constexpr std::array<const char*, 6> kFitColumns{"error_x_um", "error_y_um", "error_z_um",
                                                 "fitted",     "elongation", "elongated"};

/// Response at a Gaussian spot of the filter's own sigma and of height 1.
double ideal_response(const Filter& filter) {
  const double d = filter.dimensions;
  return 0.5 * d * std::exp2(-0.5 * d);
}

FittedSpots fit_all(SpotSearch& search, const Filter& filter, const DetectionOptions& options,
                    std::int64_t block, const std::vector<Peak>& peaks) {
  const double height = (options.polarity == Polarity::bright ? 1 : -1) / ideal_response(filter);
  std::vector<FitStart> starts;
  starts.reserve(peaks.size());
  for (const Peak& peak : peaks) starts.push_back({{peak.x, peak.y, peak.z}, height * peak.quality});
  FitOptions fit;
  fit.split = options.max_count == 0;
  fit.camera = camera_of_blocks(options.camera, block);
  return search.fit(starts, fit);
}

/// Geometric mean over the axes of sqrt(d) times the fitted sigma.
double radius_of(const FittedSpot& fit, const Filter& filter, const Vec3& voxel_um) {
  const double voxel[3] = {voxel_um.x, voxel_um.y, voxel_um.z};
  double product = 1;
  for (std::size_t a = 0; a < 3; ++a)
    if (filter.sigma[a] > 0) product *= fit.sigma[a] * voxel[a];
  const double d = filter.dimensions;
  return std::sqrt(d) * std::pow(product, 1 / d);
}

/// Adds the second spots of pairs, which are not at a maximum, as peaks. Those below a given threshold are
/// dropped.
void add_second_spots(const Filter& filter, const DetectionOptions& options, std::vector<FittedSpot>& fits,
                      Spots& spots) {
  std::size_t kept = spots.peaks.size();
  for (std::size_t i = kept; i < fits.size(); ++i) {
    const FittedSpot& fit = fits[i];
    const double quality = ideal_response(filter) * std::abs(fit.amplitude);
    if (quality < options.threshold.value_or(0)) continue;
    spots.peaks.push_back({fit.place[2], fit.place[1], fit.place[0], quality});
    if (by_evidence(options)) spots.scores.push_back(fit.split_gain);
    fits[kept++] = fit;
  }
  fits.resize(kept);
}

void append_fit_columns(const std::vector<FittedSpot>& fits, std::size_t n, const Vec3& voxel,
                        std::size_t column, Detections& found) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t c = 0; c < kFitColumns.size(); ++c) {
    std::vector<double>& values = found.properties[column + c].values;
    values.reserve(values.size() + n);
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::array<double, kFitColumns.size()> row{kUnknown, kUnknown, kUnknown, 0, kUnknown, 0};
    if (!fits.empty()) {
      const FittedSpot& fit = fits[i];
      row = {fit.error[0] * voxel.x, fit.error[1] * voxel.y, fit.error[2] * voxel.z,
             fit.good ? 1.0 : 0.0,   fit.elongation,         fit.elongated ? 1.0 : 0.0};
    }
    for (std::size_t c = 0; c < row.size(); ++c) found.properties[column + c].values.push_back(row[c]);
  }
}

void append_photons(const std::vector<FittedSpot>& fits, std::size_t n, double gain, std::size_t column,
                    Detections& found) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<double>&photons = found.properties[column].values,
  &errors = found.properties[column + 1].values;
  for (std::size_t i = 0; i < n; ++i) {
    const bool good = !fits.empty() && fits[i].good;
    photons.push_back(good ? std::abs(fits[i].light) / gain : kUnknown);
    errors.push_back(good ? fits[i].light_error / gain : kUnknown);
  }
}

std::int64_t voxels_of_block(const VolumeFrame& frame, const Filter& filter) {
  const Index3 block = block_geometry(frame, filter).block;
  return block[0] * block[1] * block[2];
}

}  // namespace

void add_columns(const DetectionOptions& options, Detections& found) {
  if (by_evidence(options)) found.properties.push_back({"score", {}});
  if (options.refine != Refine::fit) return;
  for (const char* name : kFitColumns) found.properties.push_back({name, {}});
  if (options.camera.gain)
    for (const char* name : kPhotonColumns) found.properties.push_back({name, {}});
}

std::optional<VoxelNoise> append_spots(const Execution& execution, const VolumeFrame& frame,
                                       const Filter& filter, SpotSearch& search,
                                       const DetectionOptions& options, const Spots& given,
                                       Detections& found) {
  const Vec3& voxel = frame.voxel_um;
  const bool columns = options.refine == Refine::fit;
  Spots spots = given;
  std::vector<FittedSpot> fits;
  std::optional<VoxelNoise> noise;
  if (columns) {
    const std::int64_t block = voxels_of_block(frame, filter);
    FittedSpots fitted_spots = fit_all(search, filter, options, block, spots.peaks);
    noise = voxel_noise(fitted_spots.noise, block, fitted_spots.spots.size());
    fits = std::move(fitted_spots.spots);
    add_second_spots(filter, options, fits, spots);
  }
  const std::size_t n = spots.peaks.size(), before = found.size();
  for (auto* column :
       {&found.x_um, &found.y_um, &found.z_um, &found.radius_um, &found.intensity, &found.quality})
    column->resize(before + n);
  std::vector<unsigned char> fitted(n, 0);
  for (std::size_t i = 0; i < fits.size(); ++i) fitted[i] = fits[i].good ? 1 : 0;
  const std::vector<Measured> measured = search.measure(spots.peaks, fitted);
#pragma omp parallel for num_threads(thread_count(execution)) schedule(static)
  for (std::size_t i = 0; i < n; ++i) {
    const Measured& m = measured[i];
    const bool by_fit = fitted[i] != 0;
    const std::size_t at = before + i;
    found.x_um[at] = (by_fit ? fits[i].place[0] : m.peak.x) * voxel.x;
    found.y_um[at] = (by_fit ? fits[i].place[1] : m.peak.y) * voxel.y;
    found.z_um[at] = (by_fit ? fits[i].place[2] : m.peak.z) * voxel.z;
    found.radius_um[at] = by_fit ? radius_of(fits[i], filter, voxel) : m.radius_um;
    found.intensity[at] = m.intensity;
    found.quality[at] = m.peak.quality;
  }
  std::size_t column = 0;
  if (by_evidence(options)) {
    auto& scores = found.properties[column++].values;
    scores.insert(scores.end(), spots.scores.begin(), spots.scores.end());
  }
  if (columns) append_fit_columns(fits, n, voxel, column, found);
  if (columns && options.camera.gain)
    append_photons(fits, n, *options.camera.gain, column + kFitColumns.size(), found);
  return noise;
}

}  // namespace motes::tracking::detect
