/// Scored maxima on the device. Scores are sorted there; the host gets the sorted scores and the chosen
/// maxima.

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include "tracking/detect/choice/noise_sample_rules.h"
#include "tracking/detect/choice/second_look.h"
#include "tracking/detect/choice/threshold.h"
#include "tracking/detect/evidence/device_scored.cuh"

namespace motes::tracking::detect::device {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

/// Three sets of keys to sort: scores of unround maxima, scores of round ones, and responses of round ones
/// that score over 0. Keys of other maxima are kNone.
__global__ void keys_kernel(EvidenceList scores, double* keys) {
  const std::size_t i = thread_index<std::size_t>(), n = scores.count;
  if (i >= n) return;
  const bool round = scores.at(i).is_round();
  const double s = scores.score[i];
  keys[i] = round ? kNone : s;
  keys[n + i] = round ? s : kNone;
  keys[2 * n + i] = round && s > 0 ? static_cast<double>(scores.response[i]) : kNone;
}

__global__ void count_kernel(EvidenceList scores, Likely likely, unsigned* count) {
  const std::size_t i = thread_index<std::size_t>();
  const bool holds = i < scores.count && likely.holds(scores.at(i).is_round(), scores.score[i],
                                                      static_cast<double>(scores.response[i]));
  const unsigned bits = __ballot_sync(0xffffffffU, holds);
  if (threadIdx.x % 32 == 0 && bits != 0) atomicAdd(count, static_cast<unsigned>(__popc(bits)));
}

__global__ void count_hot_kernel(EvidenceList scores, double limit, unsigned* hot) {
  const std::size_t i = thread_index<std::size_t>();
  const bool is_hot = i < scores.count && scores.score[i] == 0 && scores.single[i] > limit;
  if (is_hot) atomicAdd(hot, 1U);
}

__global__ void likely_kernel(EvidenceList scores, Likely likely, unsigned char* flags) {
  const std::size_t i = thread_index<std::size_t>();
  if (i >= scores.count) return;
  flags[i] = likely.holds(scores.at(i).is_round(), scores.score[i], static_cast<double>(scores.response[i]));
}

/// `side`: 1 for maxima, -1 for minima.
__global__ void flag_again_kernel(EvidenceList scores, double side, double least, unsigned char* flags) {
  const std::size_t i = thread_index<std::size_t>();
  if (i >= scores.count) return;
  const double response = side * static_cast<double>(scores.response[i]);
  flags[i] = deserves_second_look(scores.at(i), response, least) ? 1 : 0;
}

/// The layout has no padding bytes, which would be copied uninitialised.
struct Taken {
  double score, roundness, amplitude;
  VoxelIndex voxel;
  float response;
  Evidence evidence() const { return {score, roundness, 0, amplitude}; }
};

__global__ void gather_taken_kernel(EvidenceList scores, const VoxelIndex* voxels, const unsigned* chosen,
                                    std::size_t n, Taken* taken) {
  const std::size_t i = thread_index<std::size_t>();
  if (i >= n) return;
  const unsigned k = chosen[i];
  taken[i] = {scores.score[k], scores.roundness[k], scores.amplitude[k], voxels[k], scores.response[k]};
}

__global__ void gather_voxels_kernel(const VoxelIndex* voxels, const unsigned* chosen, std::size_t n,
                                     VoxelIndex* out) {
  const std::size_t i = thread_index<std::size_t>();
  if (i < n) out[i] = voxels[chosen[i]];
}

/// Absolute responses, and absolute finest details if the frame is large enough for them.
template <class T>
__global__ void noise_kernel(const T* voxels, const float* log, rules::NoiseSample sample, float* responses,
                             float* details) {
  const auto i = static_cast<std::int64_t>(thread_index<std::size_t>());
  if (i >= sample.count()) return;
  const rules::SampledVoxel v = sample.at(i);
  responses[i] = fabsf(log[(v.z * sample.ny + v.y) * sample.nx + v.x]);
  if (sample.nx < 3) return;
  details[i] = fabsf(rules::finest_detail(sample, v, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    return static_cast<float>(voxels[(z * sample.ny + y) * sample.nx + x]);
  }));
}

class DeviceMaxima final : public ScoredMaxima {
 public:
  DeviceMaxima(gpu::Arena& arena, const ScoredFrame& scored) : arena_(arena), scored_(scored) {
    const EvidenceList& scores = scored_.scores;
    const std::size_t n = scores.count;
    staged_ = arena.staging(std::max<std::size_t>(1, n) * 3 * sizeof(double));
    if (n == 0) return;
    double* keys = arena.take<double>(3 * n);
    double* sorted = arena.take<double>(3 * n);
    keys_kernel<<<blocks_for(n), kThreads, 0, arena.stream()>>>(scores, keys);
    MOTES_CUDA_LAUNCHED();
    std::size_t bytes = 0;
    const auto sort = [&](void* scratch, std::size_t k) {
      MOTES_CUDA(cub::DeviceRadixSort::SortKeys(scratch, bytes, keys + k * n, sorted + k * n, n, 0, 64,
                                                arena.stream()));
    };
    sort(nullptr, 0);
    char* scratch = arena.take<char>(bytes);
    for (std::size_t k = 0; k < 3; ++k) sort(scratch, k);
    MOTES_CUDA(
        cudaMemcpyAsync(staged_, sorted, 3 * n * sizeof(double), cudaMemcpyDeviceToHost, arena.stream()));
    arena.synchronize();
    for (std::size_t k = 0; k < 3; ++k) {
      const double* begin = reinterpret_cast<const double*>(staged_) + k * n;
      sorted_[k] = {begin, std::lower_bound(begin, begin + n, kNone)};
    }
  }
  std::size_t size() const override { return scored_.scores.count; }
  std::span<const double> scores(bool round) const override { return sorted_[round ? 1 : 0]; }
  std::span<const double> responses() const override { return sorted_[2]; }
  std::size_t count(const Likely& likely) const override {
    return counted([&](unsigned* count) {
      count_kernel<<<blocks_for(scored_.scores.count), kThreads, 0, arena_.stream()>>>(scored_.scores, likely,
                                                                                       count);
    });
  }
  bool any_hot(double limit) const override {
    return counted([&](unsigned* count) {
             count_hot_kernel<<<blocks_for(scored_.scores.count), kThreads, 0, arena_.stream()>>>(
                 scored_.scores, limit, count);
           }) > 0;
  }
  std::vector<LikelySpot> take(const Likely& likely) const override {
    const EvidenceList& scores = scored_.scores;
    const std::size_t n = scores.count;
    if (n == 0) return {};
    auto* flags = arena_.take<unsigned char>(n);
    likely_kernel<<<blocks_for(n), kThreads, 0, arena_.stream()>>>(scores, likely, flags);
    MOTES_CUDA_LAUNCHED();
    std::vector<LikelySpot> spots;
    for (const Taken& t : taken_at(scored_.maxima, scores, choose_flagged(arena_, flags, n))) {
      const auto response = static_cast<double>(t.response);
      const bool is_round = t.evidence().is_round();
      spots.push_back({spot_of(t), response, is_round, likely.takes(is_round, t.score, response)});
    }
    return spots;
  }
  double noise_deviation(double margin) const override {
    if (!noise_) noise_ = seen_noise();
    return detect::noise_deviation(*noise_, scored_.filter, margin);
  }

  bool mostly_lowest() const override { return scored_.mostly_lowest; }
  LookedAgain look_again(Side side, double least) const override {
    const VoxelList& extrema = side == Side::maxima ? scored_.maxima : scored_.minima;
    const EvidenceList& first = side == Side::maxima ? scored_.scores : scored_.minima_scores;
    if (extrema.count == 0) return {};
    auto* flags = arena_.take<unsigned char>(extrema.count);
    flag_again_kernel<<<blocks_for(extrema.count), kThreads, 0, arena_.stream()>>>(
        first, side == Side::maxima ? 1 : -1, least, flags);
    MOTES_CUDA_LAUNCHED();
    const Chosen chosen = choose_flagged(arena_, flags, extrema.count);
    LookedAgain looked;
    for (const Taken& t : taken_at(extrema, first, chosen)) looked.extrema.push_back(spot_of(t));
    if (chosen.count == 0) return looked;
    auto* voxels = arena_.take<VoxelIndex>(chosen.count);
    gather_voxels_kernel<<<blocks_for(chosen.count), kThreads, 0, arena_.stream()>>>(
        extrema.voxels, chosen.index, chosen.count, voxels);
    MOTES_CUDA_LAUNCHED();
    const EvidenceList second = scored_.score({voxels, chosen.count}, side, kSecondReach);
    const std::vector<double> score = arena_.download(second.score, chosen.count);
    const std::vector<double> roundness = arena_.download(second.roundness, chosen.count);
    const std::vector<double> amplitude = arena_.download(second.amplitude, chosen.count);
    for (std::size_t i = 0; i < chosen.count; ++i)
      looked.evidence.push_back({score[i], roundness[i], 0, amplitude[i]});
    return looked;
  }

 private:
  NoiseSeen seen_noise() const {
    const rules::NoiseSample sample(scored_.frame.shape);
    const auto n = static_cast<std::size_t>(sample.count());
    float* values = arena_.take<float>(2 * n);
    float* sorted = arena_.take<float>(2 * n);
    scored_.voxels.visit([&](const auto* v) {
      noise_kernel<<<blocks_for(n), kThreads, 0, arena_.stream()>>>(v, scored_.response.log, sample, values,
                                                                    values + n);
    });
    MOTES_CUDA_LAUNCHED();
    std::size_t bytes = 0;
    const auto sort = [&](void* scratch, std::size_t k) {
      MOTES_CUDA(cub::DeviceRadixSort::SortKeys(scratch, bytes, values + k * n, sorted + k * n, n, 0, 32,
                                                arena_.stream()));
    };
    sort(nullptr, 0);
    char* scratch = arena_.take<char>(bytes);
    auto* told = static_cast<float*>(arena_.pinned());
    const std::size_t parts = sample.nx < 3 ? 1 : 2;
    for (std::size_t k = 0; k < parts; ++k) {
      sort(scratch, k);
      MOTES_CUDA(cudaMemcpyAsync(told + k, sorted + k * n + n / 2, sizeof(float), cudaMemcpyDeviceToHost,
                                 arena_.stream()));
    }
    arena_.synchronize();
    return noise_of_medians(scored_.frame.shape, static_cast<double>(told[0]),
                            parts == 2 ? static_cast<double>(told[1]) : 0);
  }

  std::vector<Taken> taken_at(const VoxelList& extrema, const EvidenceList& scores,
                              const Chosen& chosen) const {
    if (chosen.count == 0) return {};
    Taken* taken = arena_.take<Taken>(chosen.count);
    gather_taken_kernel<<<blocks_for(chosen.count), kThreads, 0, arena_.stream()>>>(
        scores, extrema.voxels, chosen.index, chosen.count, taken);
    MOTES_CUDA_LAUNCHED();
    return arena_.download(taken, chosen.count);
  }
  ChosenSpot spot_of(const Taken& t) const {
    const std::int64_t v = t.voxel, nx = scored_.response.nx, ny = scored_.response.ny;
    return {{v / nx / ny, v / nx % ny, v % nx}, t.score, t.amplitude};
  }
  template <class Launch>
  std::size_t counted(const Launch& launch) const {
    if (scored_.scores.count == 0) return 0;
    unsigned* count = arena_.take_filled<unsigned>(1, 0);
    launch(count);
    MOTES_CUDA_LAUNCHED();
    return fetch<1>(arena_, count)[0];
  }

  gpu::Arena& arena_;
  ScoredFrame scored_;
  char* staged_ = nullptr;
  std::array<std::span<const double>, 3> sorted_;
  mutable std::optional<NoiseSeen> noise_;  ///< computed at the first request
};

}  // namespace

ChosenOnDevice choose_flagged_on_device(gpu::Arena& arena, const unsigned char* flags, std::size_t n) {
  unsigned* index = arena.take<unsigned>(n);
  unsigned* count = arena.take<unsigned>(1);
  const thrust::counting_iterator<unsigned> all(0);
  std::size_t bytes = 0;
  const auto items = static_cast<std::int64_t>(n);
  MOTES_CUDA(cub::DeviceSelect::Flagged(nullptr, bytes, all, flags, index, count, items, arena.stream()));
  char* scratch = arena.take<char>(bytes);
  MOTES_CUDA(cub::DeviceSelect::Flagged(scratch, bytes, all, flags, index, count, items, arena.stream()));
  return {index, count};
}

Chosen choose_flagged(gpu::Arena& arena, const unsigned char* flags, std::size_t n) {
  const ChosenOnDevice chosen = choose_flagged_on_device(arena, flags, n);
  return {chosen.index, fetch<1>(arena, chosen.count)[0]};
}

std::unique_ptr<ScoredMaxima> scored_maxima(gpu::Arena& arena, const ScoredFrame& scored) {
  return std::make_unique<DeviceMaxima>(arena, scored);
}

}  // namespace motes::tracking::detect::device
