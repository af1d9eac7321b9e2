#include "tracking/detect/search.h"

#include <algorithm>

#include <motes/base/function_clones.h>
#include <motes/base/parallel_for.h>

#include "tracking/detect/choice/threshold.h"
#include "tracking/detect/fit/refine.h"
#include "tracking/detect/maxima/maxima.h"

namespace motes::tracking::detect {
namespace {

MOTES_CLONES [[gnu::flatten]] Measured measure_one(const ResponseView& response, const FilterView& filter,
                                                   const rules::Offset& voxel_um, const Peak& peak,
                                                   bool fitted) {
  return rules::measure(response, filter, voxel_um, peak, fitted);
}

class HostSearch final : public SpotSearch {
 public:
  HostSearch(const Execution& execution, const VolumeFrame& frame, const DetectionOptions& options)
      : execution_(execution), frame_(frame), options_(options), range_(check_frame(execution, frame)) {}

  ValueRange range() const override { return range_; }
  void respond(const Filter& filter) override {
    response_.reset();  // so that memory holds one at a time
    filter_ = filter;
    response_ = std::make_unique<Response>(execution_, frame_, filter_, options_.polarity, range_.low);
    floor_ = rounding_floor(filter_, range_);
  }
  std::size_t find_maxima() override {
    maxima_ = local_maxima(execution_, *response_, floor_);
    erase_outside(options_.mask, frame_.shape, maxima_);
    return maxima_.size();
  }
  float floor() const override { return floor_; }
  std::vector<Peak> peaks_from(double least) override {
    // A refined quality is at most twice the voxel's response, so lower maxima need no refinement.
    std::vector<Voxel> maxima = maxima_;
    std::erase_if(maxima, [&](const Voxel& v) { return 2.0 * response_->at(v.z, v.y, v.x) < least; });
    return refine_all(maxima, [](const Voxel& v) { return v; });
  }
  Choice choose() override {
    return choose_spots(execution_, frame_, filter_, *response_, options_.polarity, floor_, maxima_,
                        choice_options(options_));
  }
  std::vector<Peak> refined(const std::vector<ChosenSpot>& spots) override {
    return refine_all(spots, [](const ChosenSpot& s) { return s.voxel; });
  }
  FittedSpots fit(std::span<const FitStart> starts, const FitOptions& options) override {
    return fit_spots(execution_, frame_, filter_, starts, options);
  }
  std::vector<Measured> measure(std::span<const Peak> peaks, std::span<const unsigned char> fitted) override {
    std::vector<Measured> measured(peaks.size());
    const rules::Offset voxel_um{frame_.voxel_um.x, frame_.voxel_um.y, frame_.voxel_um.z};
#pragma omp parallel for num_threads(thread_count(execution_)) schedule(static)
    for (std::size_t i = 0; i < peaks.size(); ++i)
      measured[i] = measure_one(response_->view(), filter_.view(), voxel_um, peaks[i], fitted[i] != 0);
    return measured;
  }
  void add_times(DetectionReport&) const override {}

 private:
  template <class Spot, class VoxelOf>
  std::vector<Peak> refine_all(const std::vector<Spot>& spots, const VoxelOf& voxel_of) const {
    std::vector<Peak> peaks(spots.size());
#pragma omp parallel for num_threads(thread_count(execution_)) schedule(static)
    for (std::size_t i = 0; i < spots.size(); ++i) peaks[i] = refine(*response_, filter_, voxel_of(spots[i]));
    return peaks;
  }

  Execution execution_;
  const VolumeFrame& frame_;
  const DetectionOptions& options_;
  ValueRange range_;
  Filter filter_;
  std::unique_ptr<Response> response_;
  float floor_ = 0;
  std::vector<Voxel> maxima_;
};

}  // namespace

std::unique_ptr<SpotSearch> search_on_host(const Execution& execution, const VolumeFrame& frame,
                                           const DetectionOptions& options) {
  return std::make_unique<HostSearch>(execution, frame, options);
}

}  // namespace motes::tracking::detect
