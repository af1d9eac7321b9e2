/// The steps of fitting on the GPU. A team of 8 or 16 neighbouring threads fits a spot, by the same rules as
/// on the CPU.

#include <algorithm>
#include <limits>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>

#include <motes/base/gpu/resources.cuh>
#include <motes/base/large_pages.h>

#include "tracking/detect/evidence/device_scored.cuh"
#include "tracking/detect/fit/device_fit.cuh"
#include "tracking/detect/fit/device_team.cuh"
#include "tracking/detect/fit/fit_pair_rules.h"
#include "tracking/detect/fit/fit_residual_rules.h"
#include "tracking/detect/fit/fit_result_rules.h"

namespace motes::tracking::detect::device {
namespace {

using rules::FitScratch;
using rules::FitSpots;
using rules::FitState;
using rules::Window;

constexpr double kNone = std::numeric_limits<double>::infinity();

/// The arguments that the work on each spot shares.
struct Task {
  FitSpots spots;
  DeviceVoxels voxels;
  TeamMemory memory;
  int dimensions;
  Noise noise;
};

/// The spots to work on.
struct SpotList {
  const unsigned* index = nullptr;  ///< null: all
  std::size_t n = 0;                ///< their number, or about that
  const unsigned* count = nullptr;  ///< their number, if only the device knows it
};

/// Work: operator()(team, task, k, spot, scratch, window). kBlocks: least number of blocks at a time on a
/// multiprocessor, which limits registers.
template <int Width, class Work>
__global__ void __launch_bounds__(32, Work::kBlocks) teams_kernel(Task task, Work work, SpotList list) {
  extern __shared__ __align__(16) char shared[];
  FitScratch scratch;
  Window window;
  task.memory.lay_out(shared + threadIdx.x / Width * task.memory.bytes(Width), Width, scratch, window);
  const std::size_t n = list.count != nullptr ? *list.count : list.n;
  for (std::size_t k = thread_index<std::size_t>() / Width; k < n;
       k += static_cast<std::size_t>(gridDim.x) * blockDim.x / Width)
    work(ThreadTeam<Width>(), task, k, list.index != nullptr ? list.index[k] : static_cast<unsigned>(k),
         scratch, window);
}

struct Steps {
  static constexpr int kNumbers = rules::numbers(rules::kParameters), kSpots = 1, kTotals = 2 * kNumbers,
                       kBlocks = 11;
  bool widths_held;
  FitState* next;
  template <class Team>
  __device__ void operator()(const Team& team, const Task& task, std::size_t, unsigned spot,
                             FitScratch& scratch, Window& w) const {
    FitState s = task.spots.states[spot];
    rules::fit_steps(team, task.spots, task.voxels, spot, task.noise, widths_held, scratch, w, s);
    if (team.lane != 0) return;
    FitState& out = next[spot];
    for (int i = 0; i < rules::kParameters; ++i) out.p[i] = s.p[i];
    for (int a = 0; a < 3; ++a) out.variance[a] = s.variance[a];
    out.light_variance = s.light_variance;
    out.start[rules::kBackground] = s.start[rules::kBackground];
    out.last_move = s.last_move;
    out.good = s.good;
    out.settled = s.settled;
  }
};

/// Residuals of the k-th window, from which the noise is estimated.
struct Residuals {
  static constexpr int kNumbers = 0, kSpots = 1, kTotals = 0, kBlocks = 1;
  NoiseSample* samples;  ///< [windows][most]
  unsigned* counts;      ///< [windows]
  int most, stride;
  bool leverage;
  template <class Team>
  __device__ void operator()(const Team& team, const Task& task, std::size_t k, unsigned spot,
                             FitScratch& scratch, Window& w) const {
    const FitState& s = task.spots.states[spot];
    if (!s.good) return;
    rules::window_of(team, task.spots, task.voxels, spot, scratch, w);
    const SpotModel model = rules::model_of(task.spots.source, s.p);
    rules::make_profiles(team, w, model, scratch.profiles[0]);
    const rules::Leverage taken = leverage ? rules::leverage_of(w, scratch.profiles[0]) : rules::Leverage{};
    NoiseSample* const own = samples + k * static_cast<std::size_t>(most);
    if (team.lane == 0) counts[k] = static_cast<unsigned>((w.count[0] * w.rows() + stride - 1) / stride);
    if (team.lane < w.count[0])
      rules::each_row<Team>(w, [&](int row, int y, int z) {
        const int voxel = (z * w.count[1] + y) * w.count[0] + team.lane;
        if (voxel % stride == 0)
          own[voxel / stride] = rules::residual_of(model, scratch.profiles[0], taken, team.lane, y, z,
                                                   w.values[row + team.lane], w.weights[row + team.lane]);
      });
  }
};

struct TellShape {
  static constexpr int kNumbers = rules::numbers(8), kSpots = 1, kTotals = kNumbers, kBlocks = 11;
  std::array<double, 2> typical;
  FitState* states;
  template <class Team>
  __device__ void operator()(const Team& team, const Task& task, std::size_t, unsigned spot,
                             FitScratch& scratch, Window& w) const {
    if (!task.spots.states[spot].good) return;
    rules::Shape shape;
    rules::tell_shape(team, task.spots, task.voxels, spot, task.noise, typical, task.dimensions, scratch, w,
                      shape);
    if (team.lane == 0) states[spot].shape = shape;
  }
};

struct FindPair {
  static constexpr int kNumbers = rules::kMostNumbers, kSpots = 2, kTotals = kNumbers, kBlocks = 1;
  std::array<double, 2> typical;
  double excess;
  rules::PairOfSpots* pairs;  ///< [k]
  template <class Team>
  __device__ void operator()(const Team& team, const Task& task, std::size_t k, unsigned spot,
                             FitScratch& scratch, Window& w) const {
    rules::PairOfSpots pair;
    rules::pair_in_place_of(team, task.spots, task.voxels, spot, task.noise, typical, excess, scratch, w,
                            pair);
    if (team.lane == 0) pairs[k] = pair;
  }
};

__global__ void begin_kernel(const FitStart* starts, std::size_t n, Index3 block, double width_spread,
                             FitState* states) {
  const std::size_t i = thread_index<std::size_t>();
  if (i < n) states[i] = rules::start_of(block, starts[i], width_spread);
}

/// Flags the spots that a sweep fits; `next` is a copy of their states.
__global__ void awake_kernel(FitSpots spots, std::size_t n, FitState* next, unsigned char* flags) {
  const std::size_t i = thread_index<std::size_t>();
  if (i >= n) return;
  const bool rests = rules::rests(spots, i);
  if (rests) next[i].last_move = 0;
  flags[i] = rests ? 0 : 1;
}

/// Keys for the median width; kNone for spots whose fit failed.
__global__ void width_keys_kernel(const FitState* states, std::size_t n, double* keys) {
  const std::size_t i = thread_index<std::size_t>();
  if (i >= n) return;
  for (int a = 0; a < 2; ++a)
    keys[static_cast<std::size_t>(a) * n + i] = states[i].good ? states[i].p[rules::kWidthXY + a] : kNone;
}

__global__ void gain_keys_kernel(const FitState* states, std::size_t n, double* keys) {
  const std::size_t i = thread_index<std::size_t>();
  if (i >= n) return;
  const double gain = states[i].shape.gain;
  keys[i] = states[i].good && std::abs(gain) < kNone ? gain : kNone;
}

/// The lower median of the keys that are not kNone, and the number of these.
struct Median {
  double value, count;
};

__global__ void median_kernel(const double* sorted, std::size_t n, Median* median) {
  std::size_t begin = 0, end = n;
  while (begin < end) {
    const std::size_t middle = (begin + end) / 2;
    if (sorted[middle] < kNone)
      begin = middle + 1;
    else
      end = middle;
  }
  *median = {begin > 0 ? sorted[static_cast<std::size_t>(0.5 * static_cast<double>(begin - 1))] : 0,
             static_cast<double>(begin)};
}

__global__ void doubtful_kernel(const FitState* states, std::size_t n, double excess, unsigned char* flags) {
  const std::size_t i = thread_index<std::size_t>();
  if (i < n) flags[i] = rules::looks_double(states[i], excess) ? 1 : 0;
}

__global__ void found_kernel(const rules::PairOfSpots* pairs, std::size_t n, unsigned char* flags) {
  const std::size_t i = thread_index<std::size_t>();
  if (i < n) flags[i] = pairs[i].found ? 1 : 0;
}

__global__ void split_kernel(const rules::PairOfSpots* pairs, const unsigned* doubtful, Chosen found,
                             std::array<double, 2> typical, FitState* states, std::size_t n) {
  const std::size_t i = thread_index<std::size_t>();
  if (i >= found.count) return;
  const unsigned k = found.index[i];
  FitState &one = states[doubtful[k]], &other = states[n + i];
  other = one;
  rules::take_spot(pairs[k], 0, typical, one);
  rules::take_spot(pairs[k], 1, typical, other);
}

__global__ void results_kernel(rules::FitSource source, Index3 block, const FitState* states, std::size_t n,
                               double excess, FittedSpot* results) {
  const std::size_t i = thread_index<std::size_t>();
  if (i < n) results[i] = rules::result_of(source, block, states[i], excess);
}

class DeviceFit final : public FitSteps {
 public:
  DeviceFit(gpu::Arena& arena, Stages& stages, const Values& values, const Source& geometry, int dimensions,
            std::span<const FitStart> starts, const FitOptions& options)
      : arena_(arena),
        stages_(stages),
        values_(values),
        block_(geometry.block),
        dimensions_(dimensions),
        n_(starts.size()),
        window_(window_size(geometry)) {
    for (std::size_t a = 0; a < 3; ++a) {
      source_.size[a] = geometry.size[a];
      source_.sigma[a] = geometry.sigma[a];
      source_.half[a] = window_.half[a];
    }
    stages_.begin(arena_, "fit: neighbours");
    const auto room = n_ + static_cast<std::size_t>(kMostSplit * static_cast<double>(n_)) + 1;
    states_ = arena.take<FitState>(room);
    next_ = arena.take<FitState>(room);
    begin_kernel<<<blocks_for(n_), kThreads, 0, arena.stream()>>>(arena.upload(starts), n_, block_,
                                                                  options.width_spread, states_);
    MOTES_CUDA_LAUNCHED();
    MOTES_CUDA(
        cudaDeviceGetAttribute(&most_shared_, cudaDevAttrMaxSharedMemoryPerBlockOptin, arena.device()));
    scratch_ = arena.mark();
  }

  void find_neighbours() override {
    stages_.begin(arena_, "fit: neighbours");
    about_ = n_;
    arena_.synchronize();
    arena_.release(scratch_);
    std::array<double, 3> reach{};
    for (std::size_t a = 0; a < 3; ++a) reach[a] = 2 * static_cast<double>(window_.half[a]) + 1;
    near_ = near_spots(arena_, states_, n_, {source_.size[0], source_.size[1], source_.size[2]}, reach);
  }

  void begin() override {
    stages_.begin(arena_, "fit: slopes");
    tell_tilts(arena_, values_, spots(), n_, states_);
  }

  bool sweep(const Noise& noise, bool widths_held) override {
    stages_.begin(arena_, "fit: sweeps");
    auto* flags = arena_.take<unsigned char>(n_);
    MOTES_CUDA(
        cudaMemcpyAsync(next_, states_, n_ * sizeof(FitState), cudaMemcpyDeviceToDevice, arena_.stream()));
    awake_kernel<<<blocks_for(n_), kThreads, 0, arena_.stream()>>>(spots(), n_, next_, flags);
    MOTES_CUDA_LAUNCHED();
    // The number of spots to fit arrives while the sweep runs.
    const ChosenOnDevice awake = choose_flagged_on_device(arena_, flags, n_);
    auto* told = static_cast<unsigned*>(arena_.pinned());
    MOTES_CUDA(cudaMemcpyAsync(told, awake.count, sizeof(unsigned), cudaMemcpyDeviceToHost, arena_.stream()));
    MOTES_CUDA(cudaEventRecord(told_, arena_.stream()));
    for_spots(Steps{widths_held, next_}, noise, {awake.index, about_, awake.count});
    MOTES_CUDA(cudaEventSynchronize(told_));
    about_ = *told;
    std::swap(states_, next_);
    return about_ > 0;
  }

  NoiseSums noise(bool leverage) override {
    stages_.begin(arena_, "fit: noise");
    const std::size_t windows = std::min(kNoiseWindows, n_),
                      step = std::max<std::size_t>(1, n_ / kNoiseWindows);
    std::vector<unsigned> list;
    for (std::size_t k = 0; k < windows; ++k) list.push_back(static_cast<unsigned>(k * step));
    const int voxels = (2 * window_.half[0] + 1) * rows();
    const auto stride = static_cast<int>(noise_stride(windows, static_cast<std::size_t>(voxels)));
    const int most = (voxels + stride - 1) / stride;
    const std::size_t room = windows * static_cast<std::size_t>(most);
    NoiseSample* samples = arena_.take_filled<NoiseSample>(room, 0);
    unsigned* counts = arena_.take_filled<unsigned>(windows, 0);
    for_spots(Residuals{samples, counts, most, stride, leverage}, {},
              {arena_.upload(std::span<const unsigned>(list)), windows});
    const std::vector<unsigned> count = arena_.download(counts, windows);
    char* staged = arena_.staging(room * sizeof(NoiseSample));
    MOTES_CUDA(cudaMemcpyAsync(staged, samples, room * sizeof(NoiseSample), cudaMemcpyDeviceToHost,
                               arena_.stream()));
    arena_.synchronize();
    std::vector<NoiseSample> all;
    for (std::size_t k = 0; k < windows; ++k) {
      const auto* own = reinterpret_cast<const NoiseSample*>(staged) + k * static_cast<std::size_t>(most);
      all.insert(all.end(), own, own + count[k]);
    }
    return noise_sums(std::move(all));
  }

  std::array<double, 2> typical_widths() override {
    stages_.begin(arena_, "fit: medians");
    double* keys = arena_.take<double>(2 * n_);
    width_keys_kernel<<<blocks_for(n_), kThreads, 0, arena_.stream()>>>(states_, n_, keys);
    MOTES_CUDA_LAUNCHED();
    const auto [xy, z] = medians_of<2>(keys);
    good_ = static_cast<std::size_t>(xy.count);
    if (good_ < kFewest) return {0, 0};
    return {xy.value, z.value};
  }

  double tell_shapes(const FitAll& all) override {
    stages_.begin(arena_, "fit: shapes");
    for_spots(TellShape{all.typical, states_}, all.noise, {nullptr, n_});
    stages_.begin(arena_, "fit: medians");
    double* keys = arena_.take<double>(n_);
    gain_keys_kernel<<<blocks_for(n_), kThreads, 0, arena_.stream()>>>(states_, n_, keys);
    MOTES_CUDA_LAUNCHED();
    return medians_of<1>(keys)[0].value;
  }

  bool split_pairs(const FitAll& all) override {
    stages_.begin(arena_, "fit: pairs");
    auto* flags = arena_.take<unsigned char>(n_);
    doubtful_kernel<<<blocks_for(n_), kThreads, 0, arena_.stream()>>>(states_, n_, all.excess, flags);
    MOTES_CUDA_LAUNCHED();
    const Chosen doubtful = choose_flagged(arena_, flags, n_);
    if (good_ < kFewest || doubtful.count == 0 ||
        static_cast<double>(doubtful.count) > kMostSplit * static_cast<double>(good_))
      return false;
    auto* pairs = arena_.take<rules::PairOfSpots>(doubtful.count);
    for_spots(FindPair{all.typical, all.excess, pairs}, all.noise, {doubtful.index, doubtful.count});
    found_kernel<<<blocks_for(doubtful.count), kThreads, 0, arena_.stream()>>>(pairs, doubtful.count, flags);
    MOTES_CUDA_LAUNCHED();
    const Chosen found = choose_flagged(arena_, flags, doubtful.count);
    if (found.count == 0) return false;
    split_kernel<<<blocks_for(found.count), kThreads, 0, arena_.stream()>>>(pairs, doubtful.index, found,
                                                                            all.typical, states_, n_);
    MOTES_CUDA_LAUNCHED();
    n_ += found.count;
    return true;
  }

  std::vector<FittedSpot> results(const FitAll& all) override {
    stages_.begin(arena_, "fit: results");
    FittedSpot* results = arena_.take_filled<FittedSpot>(n_, 0);
    results_kernel<<<blocks_for(n_), kThreads, 0, arena_.stream()>>>(source_, block_, states_, n_, all.excess,
                                                                     results);
    MOTES_CUDA_LAUNCHED();
    char* staged = arena_.staging(n_ * sizeof(FittedSpot));
    MOTES_CUDA(
        cudaMemcpyAsync(staged, results, n_ * sizeof(FittedSpot), cudaMemcpyDeviceToHost, arena_.stream()));
    stages_.end();
    arena_.synchronize();
    const auto* fitted = reinterpret_cast<const FittedSpot*>(staged);
    std::vector<FittedSpot> spots;
    spots.reserve(n_);
    advise_large_pages(spots.data(), n_ * sizeof(FittedSpot));
    spots.assign(fitted, fitted + n_);
    return spots;
  }

 private:
  FitSpots spots() const { return {source_, states_, near_.offsets, near_.spots}; }
  int rows() const { return (2 * window_.half[1] + 1) * (2 * window_.half[2] + 1); }

  template <class Work>
  void for_spots(const Work& work, const Noise& noise, const SpotList& list) {
    if (window_.width == 8)
      launch<8>(work, noise, list);
    else
      launch<16>(work, noise, list);
  }
  template <int Width, class Work>
  void launch(const Work& work, const Noise& noise, const SpotList& list) {
    if (list.n == 0 && list.count == nullptr) return;
    const std::size_t n = std::max<std::size_t>(1, list.n);
    const Task task{
        spots(), {values_}, {rows(), Work::kSpots, Work::kNumbers, Work::kTotals}, dimensions_, noise};
    const std::size_t bytes = task.memory.bytes(Width), most = static_cast<std::size_t>(most_shared_);
    const std::size_t teams = std::clamp<std::size_t>(most / bytes, 1, 32 / Width);
    const auto kernel = teams_kernel<Width, Work>;
    if (teams * bytes > 48 * 1024)
      MOTES_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(teams * bytes)));
    kernel<<<static_cast<unsigned>((n + teams - 1) / teams), static_cast<unsigned>(teams * Width),
             teams * bytes, arena_.stream()>>>(task, work, list);
    MOTES_CUDA_LAUNCHED();
  }

  /// The medians of several sets of keys [n].
  template <std::size_t Sets>
  std::array<Median, Sets> medians_of(const double* keys) {
    double* sorted = arena_.take<double>(n_);
    std::size_t bytes = 0;
    const auto sort = [&](void* scratch, std::size_t k) {
      MOTES_CUDA(
          cub::DeviceRadixSort::SortKeys(scratch, bytes, keys + k * n_, sorted, n_, 0, 64, arena_.stream()));
    };
    sort(nullptr, 0);
    char* scratch = arena_.take<char>(bytes);
    Median* medians = arena_.take<Median>(Sets);
    for (std::size_t k = 0; k < Sets; ++k) {
      sort(scratch, k);
      median_kernel<<<1, 1, 0, arena_.stream()>>>(sorted, n_, medians + k);
    }
    MOTES_CUDA_LAUNCHED();
    return fetch<Sets>(arena_, medians);
  }

  gpu::Arena& arena_;
  Stages& stages_;
  Values values_;
  Index3 block_;
  int dimensions_, most_shared_ = 0;
  std::size_t n_, good_ = 0;
  std::size_t about_ = 0;  ///< expected number of spots that the next sweep fits
  gpu::Event told_;
  WindowSize window_;
  rules::FitSource source_{};
  FitState *states_ = nullptr, *next_ = nullptr;
  Near near_;
  gpu::Arena::Mark scratch_{};
};

}  // namespace

std::unique_ptr<FitSteps> fit_on_device(gpu::Arena& arena, Stages& stages, const Values& values,
                                        const Source& geometry, int dimensions,
                                        std::span<const FitStart> starts, const FitOptions& options) {
  return std::make_unique<DeviceFit>(arena, stages, values, geometry, dimensions, starts, options);
}

}  // namespace motes::tracking::detect::device
