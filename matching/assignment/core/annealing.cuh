#pragma once
/// Annealed prices on the GPU: annealed_prices.cpp with one block per row. The matrix is read once in each
/// iteration: a row's offers stay in shared memory while its least offer, its sum and the sums of the
/// columns are computed. A block keeps the sums of the columns in shared memory too until it has done all
/// of its rows.

#include <cmath>
#include <cstdlib>

#include "matching/assignment/core/annealing_schedule.h"
#include "matching/assignment/core/dense_rows.cuh"

namespace motes::matching::device::core {

constexpr int kAnnealBlock = 512;
/// About the number of rows and columns of the coarsest sample. An iteration is fast for all sizes here, so
/// smaller samples are not worth their errors: a small sample of clusters, for instance, has too many rows in
/// one and too few in another.
constexpr Index kFirstSize = 1024;
constexpr detail::annealing::Schedule kCoarsest{0.05, 40, 0.8};
constexpr int kExtendRows = 8;  ///< threads that share a column

/// Results of a block, or of all blocks.
struct AnnealingReport {
  double concentration;
  int imbalance;  ///< bits of a float >= 0, which have the same order as the float
};

struct AnnealingTurn {
  double* v;              ///< [cols] in the entries' unit
  double* velocity;       ///< [cols] change of v in the last iteration
  double* u;              ///< [rows] least offers
  double* soft;           ///< [rows] softened least offers
  float* part;            ///< [blocks * cols] demand of a block's rows for each column
  double* concentration;  ///< [blocks]
  AnnealingReport* report;
};

/// Reduces a value over all threads of a block; all get the result.
template <class Join>
__device__ float over_block(float value, Join&& join, float* room) {
  for (int step = kLanes / 2; step > 0; step /= 2)
    value = join(value, __shfl_xor_sync(search::kAll, value, step));
  const int lane = static_cast<int>(threadIdx.x) % kLanes, warp = static_cast<int>(threadIdx.x) / kLanes;
  __syncthreads();
  if (lane == 0) room[warp] = value;
  __syncthreads();
  value = room[lane % (kAnnealBlock / kLanes)];
  for (int step = kLanes / 2; step > 0; step /= 2)
    value = join(value, __shfl_xor_sync(search::kAll, value, step));
  return value;
}

template <class T>
__global__ void __launch_bounds__(kAnnealBlock)
    want_columns_kernel(DenseEntries<T> e, bool vectors, AnnealingTurn t, float rate) {
  static_assert(kAnnealBlock / kLanes == 16, "sums of 16 warps, each twice");
  extern __shared__ float shared[];
  __shared__ float room[kAnnealBlock / kLanes];
  float *weight = shared, *wanted = shared + e.cols;
  const auto least_of = [](float a, float b) { return fminf(a, b); };
  const auto sum_of = [](float a, float b) { return a + b; };
  for (Index j = static_cast<Index>(threadIdx.x); j < e.cols; j += kAnnealBlock) wanted[j] = 0;
  double concentration = 0;
  __syncthreads();
  for (Index i = static_cast<Index>(blockIdx.x); i < e.rows; i += static_cast<Index>(gridDim.x)) {
    const double base = t.u[i];
    float least = INFINITY;
    for (Index first = 4 * static_cast<Index>(threadIdx.x); first < e.cols; first += 4 * kAnnealBlock) {
      const Load4<DenseEntries<T>> four(e, vectors, i, first);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (first + k >= e.cols) continue;
        const float key = four.allowed(k)
                              ? static_cast<float>(static_cast<double>(four.raw[k]) - t.v[first + k] - base)
                              : INFINITY;
        weight[first + k] = key;
        least = fminf(least, key);
      }
    }
    least = over_block(least, least_of, room);
    if (isinf(least)) continue;
    float sum = 0, squares = 0;
    for (Index first = 4 * static_cast<Index>(threadIdx.x); first < e.cols; first += 4 * kAnnealBlock) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (first + k >= e.cols) continue;
        const float w = exp2f((least - weight[first + k]) * rate);
        weight[first + k] = w;
        sum += w;
        squares += w * w;
      }
    }
    sum = over_block(sum, sum_of, room) / 2;  // every warp's sum is counted twice
    squares = over_block(squares, sum_of, room) / 2;
    for (Index first = 4 * static_cast<Index>(threadIdx.x); first < e.cols; first += 4 * kAnnealBlock) {
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (first + k < e.cols) wanted[first + k] += weight[first + k] / sum;
    }
    if (threadIdx.x == 0) {
      t.u[i] = base + least;
      t.soft[i] = base + least - static_cast<double>(log2f(sum) / rate);
      concentration += static_cast<double>(squares) / (static_cast<double>(sum) * static_cast<double>(sum));
    }
  }
  float* mine = t.part + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(e.cols);
  for (Index first = 4 * static_cast<Index>(threadIdx.x); first < e.cols; first += 4 * kAnnealBlock)
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (first + k < e.cols) mine[first + k] = wanted[first + k];
  if (threadIdx.x == 0) t.concentration[blockIdx.x] = concentration;
}

/// Updates the columns' prices by their total demand.
[[maybe_unused]] static __global__ void move_prices_kernel(AnnealingTurn t, Index cols, int parts,
                                                           double temperature, double momentum) {
  const Index j = search::thread_index();
  float imbalance = 0;
  if (j < cols) {
    float wanted = 0;
    for (int b = 0; b < parts; ++b)
      wanted += t.part[static_cast<std::size_t>(b) * static_cast<std::size_t>(cols) + j];
    const float excess = logf(fmaxf(wanted, detail::annealing::kLeastWanted));
    imbalance = fabsf(excess);
    const double step = momentum * t.velocity[j] - temperature * static_cast<double>(excess);
    t.velocity[j] = step;
    t.v[j] += step;
  }
  for (int step = kLanes / 2; step > 0; step /= 2)
    imbalance = fmaxf(imbalance, __shfl_xor_sync(search::kAll, imbalance, step));
  if (threadIdx.x % kLanes == 0) atomicMax(&t.report->imbalance, __float_as_int(imbalance));
  if (j == 0) {
    double sum = 0;
    for (int b = 0; b < parts; ++b) sum += t.concentration[b];
    t.report->concentration = sum;
  }
}

/// The sample's costs, forbidden pairs infinite.
template <class T>
__global__ void take_sample_kernel(DenseEntries<T> e, const Index* rows, const Index* cols, Index size,
                                   double* out) {
  const Offset total = Offset{size} * size;
  for (Offset k = search::thread_index(); k < total; k += search::thread_total()) {
    const T cost = e.data[rows[k / size] * e.row_stride + cols[k % size] * e.col_stride];
    bool allowed = true;
    if constexpr (std::is_integral_v<T>)
      allowed = cost != std::numeric_limits<T>::max();
    else
      allowed = !(cost > std::numeric_limits<T>::max());
    out[k] = allowed ? static_cast<double>(cost) : INFINITY;
  }
}

/// v_j = the softened least of c_ij - soft_i over the coarse sample's rows. Blocks of 32 columns.
template <class T>
__global__ void __launch_bounds__(kLanes* kExtendRows)
    extend_prices_kernel(DenseEntries<T> e, const Index* coarse_rows, Index coarse, const double* soft,
                         const Index* cols, Index size, double rate, double* v) {
  __shared__ double least[kExtendRows][kLanes];
  __shared__ float sums[kExtendRows][kLanes];
  const int lane = static_cast<int>(threadIdx.x), group = static_cast<int>(threadIdx.y);
  const Index place = static_cast<Index>(blockIdx.x) * kLanes + lane;
  const Index j = place < size ? cols[place] : cols[size - 1];
  double low = INFINITY;
  float sum = 0;
  for (Index k = group; k < coarse; k += kExtendRows) {
    const T cost = e.data[coarse_rows[k] * e.row_stride + j * e.col_stride];
    bool allowed = true;
    if constexpr (std::is_integral_v<T>)
      allowed = cost != std::numeric_limits<T>::max();
    else
      allowed = !(cost > std::numeric_limits<T>::max());
    if (!allowed) continue;
    const double offer = static_cast<double>(cost) - soft[k];
    if (offer < low) {
      sum = sum * exp2f(static_cast<float>((offer - low) * rate)) + 1;
      low = offer;
    } else {
      sum += exp2f(static_cast<float>((low - offer) * rate));
    }
  }
  least[group][lane] = low, sums[group][lane] = sum;
  __syncthreads();
  if (group != 0 || place >= size) return;
  for (int g = 1; g < kExtendRows; ++g) low = fmin(low, least[g][lane]);
  float total = 0;
  for (int g = 0; g < kExtendRows; ++g)
    if (sums[g][lane] > 0) total += sums[g][lane] * exp2f(static_cast<float>((low - least[g][lane]) * rate));
  v[place] = total > 0 ? low - static_cast<double>(log2f(total)) / rate : 0;
}

[[maybe_unused]] static __global__ void to_grid_kernel(const double* v, double scale, Index cols,
                                                       Cost* price) {
  for (Index j = search::thread_index(); j < cols; j += search::thread_total())
    price[j] = __double2ll_rn(fmin(fmax(v[j] * scale, -0x1p52), 0x1p52));
}

/// Turns on one matrix, or on a sample of it.
template <class T>
class Annealing {
 public:
  Annealing(gpu::Arena& arena, const DenseEntries<T>& e) : arena_(arena), e_(e), vectors_(loads_four(e)) {
    const auto rows = static_cast<std::size_t>(e.rows), cols = static_cast<std::size_t>(e.cols);
    shared_ = 2 * cols * sizeof(float);
    MOTES_CUDA(cudaFuncSetAttribute(want_columns_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared_)));
    int resident = 1;
    MOTES_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, want_columns_kernel<T>, kAnnealBlock,
                                                             shared_));
    blocks_ = std::min(e.rows, std::max(1, resident) * arena.multiprocessors());
    turn_ = {arena.take_filled<double>(cols, 0),
             arena.take_filled<double>(cols, 0),
             arena.take_filled<double>(rows, 0),
             arena.take_filled<double>(rows, 0),
             arena.take<float>(static_cast<std::size_t>(blocks_) * cols),
             arena.take<double>(static_cast<std::size_t>(blocks_)),
             arena.take<AnnealingReport>(1)};
  }
  double* v() const { return turn_.v; }
  const double* soft() const { return turn_.soft; }

  detail::annealing::Turn take_turn(double temperature, double momentum) {
    MOTES_CUDA(cudaMemsetAsync(turn_.report, 0, sizeof *turn_.report, arena_.stream()));
    want_columns_kernel<T><<<blocks_, kAnnealBlock, shared_, arena_.stream()>>>(
        e_, vectors_, turn_, static_cast<float>(detail::annealing::kLog2E / temperature));
    MOTES_CUDA_LAUNCHED();
    move_prices_kernel<<<(e_.cols + 127) / 128, 128, 0, arena_.stream()>>>(turn_, e_.cols, blocks_,
                                                                           temperature, momentum);
    MOTES_CUDA_LAUNCHED();
    const AnnealingReport report = arena_.download(turn_.report, 1)[0];
    float imbalance = 0;
    std::memcpy(&imbalance, &report.imbalance, sizeof imbalance);
    return {e_.rows / report.concentration, imbalance};
  }

 private:
  gpu::Arena& arena_;
  DenseEntries<T> e_;
  bool vectors_;
  std::size_t shared_ = 0;
  int blocks_ = 1;
  AnnealingTurn turn_{};
};

/// The most columns of a row that fit a block's shared memory.
constexpr Index kMostAnnealed = 25'000;

/// The mean of a small sample's costs above their rows' least, the first temperature.
inline double mean_above(const std::vector<double>& cost, Index size) {
  double sum = 0, count = 0;
  for (Index i = 0; i < size; ++i) {
    const auto begin = cost.begin() + Offset{i} * size, end = begin + size;
    const double least = *std::min_element(begin, end);
    for (auto c = begin; c != end; ++c)
      if (std::isfinite(*c)) sum += *c - least, ++count;
  }
  return count == 0 ? 0 : sum / count;
}

/// price [cols], for square matrices of at most kMostAnnealed columns, to which entries were found legal.
template <class T>
void annealed_prices(gpu::Arena& arena, const DenseEntries<T>& e, Cost* price) {
  using namespace detail::annealing;
  const Index n = e.cols;
  double temperature = 0;
  Index coarse = 0;
  const Index* coarse_rows = nullptr;
  const double* soft = nullptr;
  const auto extend = [&](const Index* cols, Index size, double* v) {
    extend_prices_kernel<<<(size + kLanes - 1) / kLanes, dim3(kLanes, kExtendRows), 0, arena.stream()>>>(
        e, coarse_rows, coarse, soft, cols, size, kLog2E / temperature, v);
    MOTES_CUDA_LAUNCHED();
  };
  const auto anneal = [&](auto& annealing, const Schedule& schedule, bool once) {
    cool(temperature, schedule, once,
         [&](double t, double momentum) { return annealing.take_turn(t, momentum); });
  };
  for (const Index size : sizes_up_to(n, kFirstSize)) {
    const std::vector<Index> host_rows = sampled(n, size, 0), host_cols = sampled(n, size, kSaltOfColumns);
    const Index *rows = arena.upload(std::span<const Index>(host_rows)),
                *cols = arena.upload(std::span<const Index>(host_cols));
    arena.synchronize();  // the lists must outlive their copies
    if (size == n && coarse > 0) {
      Annealing<T> whole(arena, e);
      extend(cols, size, whole.v());
      anneal(whole, kWhole, true);
      to_grid_kernel<<<4 * arena.multiprocessors(), 256, 0, arena.stream()>>>(whole.v(), e.scale, n, price);
      MOTES_CUDA_LAUNCHED();
      return;
    }
    double* cost = arena.take<double>(static_cast<std::size_t>(size) * static_cast<std::size_t>(size));
    take_sample_kernel<<<8 * arena.multiprocessors(), 256, 0, arena.stream()>>>(e, rows, cols, size, cost);
    MOTES_CUDA_LAUNCHED();
    DenseEntries<double> some{};
    some.rows = some.cols = size;
    some.data = cost;
    some.row_stride = size;
    some.col_stride = 1;
    some.scale = 1;
    Annealing<double> sample(arena, some);
    if (coarse == 0)
      temperature =
          mean_above(arena.download(cost, static_cast<std::size_t>(size) * static_cast<std::size_t>(size)),
                     size) /
          kCooling;
    if (temperature == 0) {  // all costs are equal
      MOTES_CUDA(cudaMemsetAsync(price, 0, static_cast<std::size_t>(n) * sizeof(Cost), arena.stream()));
      return;
    }
    if (coarse > 0) extend(cols, size, sample.v());
    anneal(sample, coarse == 0 ? kCoarsest : kFiner, false);
    coarse = size, coarse_rows = rows, soft = sample.soft();
    if (size == n) {
      to_grid_kernel<<<4 * arena.multiprocessors(), 256, 0, arena.stream()>>>(sample.v(), e.scale, n, price);
      MOTES_CUDA_LAUNCHED();
    }
  }
}

}  // namespace motes::matching::device::core
