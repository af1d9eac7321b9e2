/// The search on the device. All work for each voxel or maximum runs here; the host chooses the levels from
/// sorted scores (choice.h).

#include <algorithm>
#include <memory>
#include <string>

#include "tracking/detect/choice/threshold.h"
#include "tracking/detect/device_search.h"
#include "tracking/detect/device_stages.cuh"
#include "tracking/detect/device_steps.cuh"
#include "tracking/detect/evidence/device_scored.cuh"
#include "tracking/detect/fit/device_fit.cuh"
#include "tracking/detect/maxima/maxima.h"

namespace motes::tracking::detect {
namespace {

using device::blocks_for;
using device::EvidenceList;
using device::kThreads;
using device::Stages;
using device::thread_index;
using device::VoxelIndex;
using device::VoxelList;

constexpr std::int64_t kMostVoxels = std::int64_t{1} << 32;  // with padding

__global__ void flag_responses_kernel(VoxelList maxima, const float* log, double least,
                                      unsigned char* flags) {
  const std::size_t i = thread_index<std::size_t>();
  if (i < maxima.count) flags[i] = 2.0 * log[maxima.voxels[i]] < least ? 0 : 1;
}

/// `chosen`: indices of the `voxels` to refine; null: all.
__global__ void refine_kernel(ResponseView response, FilterView filter, const VoxelIndex* voxels,
                              const unsigned* chosen, std::size_t n, Peak* peaks) {
  const std::size_t i = thread_index<std::size_t>();
  if (i >= n) return;
  const std::int64_t v = voxels[chosen != nullptr ? chosen[i] : i];
  peaks[i] = rules::refine(response, filter, v / response.nx / response.ny, v / response.nx % response.ny,
                           v % response.nx);
}

__global__ void measure_kernel(ResponseView response, FilterView filter, rules::Offset voxel_um,
                               const Peak* peaks, const unsigned char* fitted, std::size_t n,
                               Measured* measured) {
  const std::size_t i = thread_index<std::size_t>();
  if (i < n) measured[i] = rules::measure(response, filter, voxel_um, peaks[i], fitted[i] != 0);
}

/// Copies to the host through pinned memory.
template <class T>
std::vector<T> download(gpu::Arena& arena, const T* from, std::size_t count, char* staged) {
  if (count == 0) return {};
  MOTES_CUDA(cudaMemcpyAsync(staged, from, count * sizeof(T), cudaMemcpyDeviceToHost, arena.stream()));
  arena.synchronize();
  const T* values = reinterpret_cast<const T*>(staged);
  return {values, values + count};
}
template <class T>
std::vector<T> download(gpu::Arena& arena, const T* from, std::size_t count) {
  return download(arena, from, count, arena.staging(count * sizeof(T)));
}

class DeviceSearch final : public SpotSearch {
 public:
  DeviceSearch(const Execution& execution, const VolumeFrame& frame, const DetectionOptions& options)
      : execution_(execution),
        frame_(frame),
        options_(options),
        arena_((execution.workspace != nullptr ? *execution.workspace : own_).arena(execution.device)) {
    check_sizes(frame);
    arena_.reset();
    if (frame.shape.voxels() == 0) return;
    require_room();
    stages_.begin(arena_, "upload");
    voxels_ = device::upload_voxels(arena_, frame, thread_count(execution));
    const auto count = static_cast<std::size_t>(frame.shape.voxels());
    stages_.begin(arena_, "range");
    const device::ToldRange told = device::range_of(arena_, voxels_, count);
    stages_.end();
    if (told.bad) check_frame(execution, frame);  // throws, and names the voxel
    range_ = told.range;
    if (!(range_.high > range_.low)) return;
    counting_ = counting_of(device::sampled_values(arena_, voxels_, CountingSample(count)));
    if (!options.mask.empty()) mask_ = arena_.upload(options.mask);
    volumes_ = device::take_volumes(arena_, frame.shape);
    base_ = arena_.mark();
  }

  ValueRange range() const override { return range_; }
  void respond(const Filter& filter) override {
    arena_.synchronize();  // the memory of the last scale is free from here on
    arena_.release(base_);
    filter_ = filter;
    floor_ = rounding_floor(filter_, range_);
    stages_.begin(arena_, "filter");
    response_ =
        device::respond(arena_, voxels_, frame_.shape, filter_, options_.polarity, range_.low, volumes_);
    stages_.end();
  }
  std::size_t find_maxima() override {
    stages_.begin(arena_, "maxima");
    if (!device::find_maxima(arena_, response_, floor_, mask_, maxima_)) maxima_ = maxima_by_host();
    stages_.end();
    return maxima_.count;
  }
  float floor() const override { return floor_; }
  std::vector<Peak> peaks_from(double least) override {
    if (maxima_.count == 0) return {};
    auto* flags = arena_.take<unsigned char>(maxima_.count);
    flag_responses_kernel<<<blocks_for(maxima_.count), kThreads, 0, arena_.stream()>>>(maxima_, response_.log,
                                                                                       least, flags);
    MOTES_CUDA_LAUNCHED();
    const device::Chosen chosen = device::choose_flagged(arena_, flags, maxima_.count);
    return refined_on_device(maxima_.voxels, chosen.index, chosen.count);
  }
  Choice choose() override {
    stages_.begin(arena_, "scores");
    const Source geometry = block_geometry(frame_, filter_);
    const bool binned = geometry.block != Index3{1, 1, 1};
    const device::Values values =
        binned ? device::block_means(arena_, voxels_, frame_.shape, geometry) : voxels_;
    const auto score_at = [&](const VoxelList& extrema, Side side, double reach) {
      return score(geometry, values, extrema, side, reach);
    };
    const EvidenceList scores = score_at(maxima_, Side::maxima, kEvidenceReach);
    stages_.begin(arena_, "minima");
    std::int64_t rows = 0;
    const VoxelList sampled =
        device::find_minima(arena_, response_, floor_, rows_per_minima_sample(maxima_.count), mask_, rows);
    const EvidenceList minima_scores = score_at(sampled, Side::minima, kEvidenceReach);
    const std::vector<Evidence> minima = scores_to_host(minima_scores);
    const std::vector<float> depths = arena_.download(minima_scores.response, minima_scores.count);
    const double per_sample =
        rows > 0 ? static_cast<double>(frame_.shape.nz * frame_.shape.ny) / static_cast<double>(rows) : 1;
    stages_.begin(arena_, "sorting");
    const std::unique_ptr<ScoredMaxima> maxima =
        device::scored_maxima(arena_, {frame_, filter_, response_, voxels_, counting_.unit > 0, maxima_,
                                       sampled, scores, minima_scores, score_at});
    stages_.end();
    return choose_spots(execution_, *maxima, scores_of_minima(minima, depths, per_sample), filter_, frame_,
                        floor_, choice_options(options_));
  }
  std::vector<Peak> refined(const std::vector<ChosenSpot>& spots) override {
    if (spots.empty()) return {};
    std::vector<VoxelIndex> voxels;
    voxels.reserve(spots.size());
    for (const ChosenSpot& s : spots)
      voxels.push_back(
          static_cast<VoxelIndex>((s.voxel.z * response_.ny + s.voxel.y) * response_.nx + s.voxel.x));
    return refined_on_device(arena_.upload(std::span<const VoxelIndex>(voxels)), nullptr, voxels.size());
  }
  FittedSpots fit(std::span<const FitStart> starts, const FitOptions& options) override {
    if (starts.empty()) return {};
    const gpu::Arena::Mark mark = arena_.mark();
    const Source geometry = block_geometry(frame_, filter_);
    const device::Values values = geometry.block == Index3{1, 1, 1}
                                      ? voxels_
                                      : device::block_means(arena_, voxels_, frame_.shape, geometry);
    const std::unique_ptr<FitSteps> steps =
        device::fit_on_device(arena_, stages_, values, geometry, filter_.dimensions, starts, options);
    FittedSpots fitted = fit_together(*steps, starts.size(), options);
    stages_.end();
    arena_.synchronize();
    arena_.release(mark);
    return fitted;
  }
  std::vector<Measured> measure(std::span<const Peak> peaks, std::span<const unsigned char> fitted) override {
    if (peaks.empty()) return {};
    stages_.begin(arena_, "measuring");
    const Peak* from = arena_.upload(peaks);
    const unsigned char* flags = arena_.upload(fitted);
    Measured* to = arena_.take<Measured>(peaks.size());
    measure_kernel<<<blocks_for(peaks.size()), kThreads, 0, arena_.stream()>>>(
        response_, filter_.view(), {frame_.voxel_um.x, frame_.voxel_um.y, frame_.voxel_um.z}, from, flags,
        peaks.size(), to);
    MOTES_CUDA_LAUNCHED();
    std::vector<Measured> measured = download(arena_, to, peaks.size());
    stages_.end();
    return measured;
  }
  void add_times(DetectionReport& report) const override {
    arena_.synchronize();
    stages_.add_to(report.device_s);
  }

 private:
  /// Throws ResourceError if the frame cannot fit.
  void require_room() {
    const Shape3& s = frame_.shape;
    const std::size_t voxel_bytes = std::visit(
        [](const auto& v) { return sizeof(typename std::decay_t<decltype(v)>::value_type); }, frame_.voxels);
    const std::size_t wanted = device_bytes(s, voxel_bytes), roomy = room_wanted(wanted);
    if (arena_.bytes() >= roomy && (s.nz + 2) * (s.ny + 2) * (s.nx + 2) < kMostVoxels) return;
    std::size_t free = 0, total = 0;
    MOTES_CUDA(cudaMemGetInfo(&free, &total));
    free += arena_.bytes();
    const auto gib = [](std::size_t bytes) {
      const std::string text = std::to_string(static_cast<double>(bytes) / (1 << 30));
      return text.substr(0, text.find('.') + 3) + " GiB";
    };
    if (wanted > free)
      throw ResourceError("it takes " + gib(wanted) + " of the GPU's memory, of which " + gib(free) +
                          " is free");
    if ((s.nz + 2) * (s.ny + 2) * (s.nx + 2) >= kMostVoxels)
      throw ResourceError("it has more than 2^32 voxels");
    if (roomy <= free) arena_.reserve(roomy);
  }

  EvidenceList score(const Source& geometry, const device::Values& values, const VoxelList& extrema,
                     Side side, double reach) {
    EvidenceTables tables(frame_, geometry, filter_, options_.polarity, side, counting_, reach);
    for (std::size_t a = 0; a < 3; ++a) {
      tables.model.axes[a].profiles = arena_.upload(std::span<const float>(tables.profiles[a]));
      tables.model.axes[a].whole = arena_.upload(std::span<const rules::AxisSums>(tables.whole[a]));
    }
    return device::score(arena_, tables.model, values, response_, extrema);
  }

  std::vector<Evidence> scores_to_host(const EvidenceList& scores) {
    const std::vector<double> score = arena_.download(scores.score, scores.count);
    const std::vector<double> roundness = arena_.download(scores.roundness, scores.count);
    std::vector<Evidence> evidence(score.size());
    for (std::size_t i = 0; i < score.size(); ++i) {
      evidence[i].score = score[i];
      evidence[i].roundness = roundness[i];
    }
    return evidence;
  }

  std::vector<Peak> refined_on_device(const VoxelIndex* voxels, const unsigned* chosen, std::size_t n) {
    if (n == 0) return {};
    Peak* peaks = arena_.take<Peak>(n);
    refine_kernel<<<blocks_for(n), kThreads, 0, arena_.stream()>>>(response_, filter_.view(), voxels, chosen,
                                                                   n, peaks);
    MOTES_CUDA_LAUNCHED();
    return download(arena_, peaks, n);
  }

  /// Searches the response on the host. Used if a plateau is too large for a thread.
  VoxelList maxima_by_host() {
    const std::vector<float> log =
        arena_.download(response_.log, static_cast<std::size_t>(frame_.shape.voxels()));
    ResponseView host = response_;
    host.log = log.data();
    std::vector<Voxel> voxels = local_maxima(execution_, host, floor_);
    erase_outside(options_.mask, frame_.shape, voxels);
    std::vector<VoxelIndex> indices;
    for (const Voxel& v : voxels)
      indices.push_back(static_cast<VoxelIndex>((v.z * response_.ny + v.y) * response_.nx + v.x));
    return {arena_.upload(std::span<const VoxelIndex>(indices)), indices.size()};
  }

  Execution execution_;
  const VolumeFrame& frame_;
  const DetectionOptions& options_;
  Workspace own_;
  gpu::Arena& arena_;
  ValueRange range_;
  Counting counting_;
  device::Values voxels_;
  const std::uint8_t* mask_ = nullptr;
  device::Volumes volumes_;
  gpu::Arena::Mark base_{};
  Filter filter_;
  float floor_ = 0;
  ResponseView response_;
  VoxelList maxima_;
  Stages stages_;
};

}  // namespace

std::unique_ptr<SpotSearch> search_on_device(const Execution& execution, const VolumeFrame& frame,
                                             const DetectionOptions& options) {
  return std::make_unique<DeviceSearch>(execution, frame, options);
}

}  // namespace motes::tracking::detect
