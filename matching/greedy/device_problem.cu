/// Uploads and checks greedy problems, and sums the weights of matchings on the device.

#include <cfloat>
#include <limits>
#include <numeric>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include <motes/base/gpu/thread_index.cuh>
#include <motes/matching/matching_weight.h>

#include "matching/greedy/device_problem.cuh"

namespace motes::matching::device {
namespace {

constexpr int kThreads = 256;

unsigned blocks_of(const gpu::Arena& arena) { return static_cast<unsigned>(16 * arena.multiprocessors()); }

/// The rules of weight_keys.cpp: a number that comes back from a float unchanged.
__device__ bool is_float(double weight) {
  return weight <= static_cast<double>(FLT_MAX) && static_cast<double>(static_cast<float>(weight)) == weight;
}
__device__ bool is_float(std::int64_t weight) {
  return weight <= std::int64_t{1} << 62 && static_cast<std::int64_t>(static_cast<float>(weight)) == weight;
}

/// The bits of a number that is not negative, whose order is that of the numbers.
__device__ unsigned long long bits_of(double weight) {
  return static_cast<unsigned long long>(__double_as_longlong(weight + 0.0));
}
__device__ unsigned long long bits_of(std::int64_t weight) { return static_cast<unsigned long long>(weight); }

/// All threads that find a number which is not a float write the same.
template <class T>
__global__ void floats_kernel(const T* weights, Offset count, float* out, int* other) {
  for (Offset e = gpu::thread_index<Offset>(); e < count; e += gpu::thread_total<Offset>()) {
    if (!is_float(weights[e])) *other = 1;
    out[e] = static_cast<float>(weights[e]);
  }
}

template <class T>
__global__ void bits_kernel(const T* weights, Offset count, unsigned long long* out) {
  for (Offset e = gpu::thread_index<Offset>(); e < count; e += gpu::thread_total<Offset>())
    out[e] = bits_of(weights[e]);
}

template <class T>
__global__ void ranks_kernel(const T* weights, Offset count, const unsigned long long* distinct,
                             const Offset* distinct_count, std::uint32_t* rank) {
  const Offset all = *distinct_count;
  for (Offset e = gpu::thread_index<Offset>(); e < count; e += gpu::thread_total<Offset>()) {
    const unsigned long long wanted = bits_of(weights[e]);
    Offset low = 0, high = all;
    while (low < high) {
      const Offset middle = low + (high - low) / 2;
      if (distinct[middle] < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    rank[e] = static_cast<std::uint32_t>(low) + 1;
  }
}

template <class T>
std::uint32_t* ranks_of(gpu::Arena& arena, const T* weights, Offset count) {
  const cudaStream_t stream = arena.stream();
  auto* ranks = arena.take<std::uint32_t>(static_cast<std::size_t>(count));
  const gpu::Arena::Mark mark = arena.mark();
  auto* bits = arena.take<unsigned long long>(static_cast<std::size_t>(count));
  auto* sorted = arena.take<unsigned long long>(static_cast<std::size_t>(count));
  auto* distinct_count = arena.take<Offset>(1);
  bits_kernel<<<blocks_of(arena), kThreads, 0, stream>>>(weights, count, bits);
  MOTES_CUDA_LAUNCHED();
  std::size_t bytes = 0, unique_bytes = 0;
  MOTES_CUDA(cub::DeviceRadixSort::SortKeys(nullptr, bytes, bits, sorted, count, 0, 64, stream));
  MOTES_CUDA(cub::DeviceSelect::Unique(nullptr, unique_bytes, sorted, bits, distinct_count, count, stream));
  auto* scratch = arena.take<char>(std::max(bytes, unique_bytes));
  MOTES_CUDA(cub::DeviceRadixSort::SortKeys(scratch, bytes, bits, sorted, count, 0, 64, stream));
  MOTES_CUDA(cub::DeviceSelect::Unique(scratch, unique_bytes, sorted, bits, distinct_count, count, stream));
  ranks_kernel<<<blocks_of(arena), kThreads, 0, stream>>>(weights, count, bits, distinct_count, ranks);
  MOTES_CUDA_LAUNCHED();
  if (arena.download(distinct_count, 1)[0] >= std::numeric_limits<std::uint32_t>::max())
    throw ResourceError("greedy: more than 2^32 - 2 distinct weights; give them as floats");
  arena.release(mark);
  return ranks;
}

/// The array, copied if it is not aligned to the 16 bytes that kernels read at a time.
template <class T>
const T* aligned(gpu::Arena& arena, const T* values, Offset count) {
  if (reinterpret_cast<std::uintptr_t>(values) % 16 == 0) return values;
  T* copy = arena.take<T>(static_cast<std::size_t>(count));
  MOTES_CUDA(cudaMemcpyAsync(copy, values, static_cast<std::size_t>(count) * sizeof(T),
                             cudaMemcpyDeviceToDevice, arena.stream()));
  return copy;
}

void bring_weights(gpu::Arena& arena, const float* weights, GreedyLists& lists) {
  lists.form = WeightForm::floats;
  lists.raw = reinterpret_cast<const std::uint32_t*>(aligned(arena, weights, lists.entries));
}

template <class T>
void bring_weights(gpu::Arena& arena, const T* weights, GreedyLists& lists) {
  auto* floats = arena.take<float>(static_cast<std::size_t>(lists.entries));
  int* other = arena.take_filled<int>(1, 0);
  floats_kernel<<<blocks_of(arena), kThreads, 0, arena.stream()>>>(weights, lists.entries, floats, other);
  MOTES_CUDA_LAUNCHED();
  if (arena.download(other, 1)[0] == 0) return bring_weights(arena, floats, lists);
  lists.form = WeightForm::keys;
  lists.raw = ranks_of(arena, weights, lists.entries);
}

__global__ void count_kernel(GreedyLists rows, unsigned long long* count) {
  for (Offset e = gpu::thread_index<Offset>(); e < rows.entries; e += gpu::thread_total<Offset>())
    atomicAdd(count + rows.cols[e], 1ULL);
}

__global__ void copy_offsets_kernel(GreedyLists rows, Offset* offsets, unsigned long long* all) {
  if (gpu::thread_index<Offset>() == 0) *all = static_cast<unsigned long long>(rows.entries);
  for (Offset v = gpu::thread_index<Offset>(); v <= rows.count; v += gpu::thread_total<Offset>())
    offsets[v] = rows.offsets[v];
}

/// Entries to their columns, a warp a row; where in its column an entry lands depends on timing.
__global__ void scatter_kernel(GreedyLists rows, unsigned long long* next, Index* cols, std::uint32_t* raw) {
  const unsigned lane = threadIdx.x % 32;
  for (Offset i = gpu::thread_index<Offset>() / 32; i < rows.count; i += gpu::thread_total<Offset>() / 32) {
    const Offset end = rows.offsets[i + 1];
    for (Offset e = rows.offsets[i] + lane; e < end; e += 32) {
      const auto to = static_cast<Offset>(atomicAdd(next + rows.cols[e], 1ULL));
      cols[to] = static_cast<Index>(i);
      cols[e] = rows.cols[e] + rows.shift;
      if (raw != nullptr) raw[to] = raw[e] = rows.raw[e];
    }
  }
}

/// The weight of each row's pair, 0 where the row has none or its mate's row counts it.
template <class T>
__global__ void pair_weights_kernel(const Offset* offsets, const Index* cols, const T* weights, Index rows,
                                    bool general, const Index* row_to_col, double* out) {
  for (Offset i = gpu::thread_index<Offset>(); i < rows; i += gpu::thread_total<Offset>()) {
    const Index j = row_to_col[i];
    double weight = 0;
    if (j != -1 && !(general && j < i)) {
      Offset low = offsets[i], high = offsets[i + 1];
      while (low < high) {
        const Offset middle = low + (high - low) / 2;
        if (cols[middle] < j)
          low = middle + 1;
        else
          high = middle;
      }
      weight = weights != nullptr ? static_cast<double>(weights[low]) : 1.0;
    }
    out[i] = weight;
  }
}

/// A thread adds kRowsASum of them, in their order.
__global__ void block_sums_kernel(const double* weight, Index rows, Index blocks, double* sum) {
  for (Offset block = gpu::thread_index<Offset>(); block < blocks; block += gpu::thread_total<Offset>()) {
    const Offset first = block * kRowsASum, last = min(first + kRowsASum, Offset{rows});
    double total = 0;
    for (Offset i = first; i < last; ++i) total += weight[i];
    sum[block] = total;
  }
}

}  // namespace

GreedyLists bring_over(gpu::Arena& arena, const GreedyProblem& problem) {
  const bool host = problem.space == Space::host;
  const auto there = [&]<class T>(std::span<const T> values) -> const T* {
    return host ? arena.upload(values) : values.data();
  };
  GreedyLists lists;
  lists.count = lists.sorted = problem.graph.rows;
  lists.shift = problem.kind == GraphKind::general ? 0 : problem.graph.rows;
  lists.entries = problem.graph.edges();
  lists.offsets = there(problem.graph.row_offsets);
  lists.cols = aligned(arena, there(problem.graph.col_index), lists.entries);
  std::visit(
      [&](auto weights) {
        if (!weights.empty()) bring_weights(arena, there(weights), lists);
      },
      problem.weights);
  return lists;
}

GreedyLists general_lists(gpu::Arena& arena, const GreedyLists& rows, Index cols) {
  const cudaStream_t stream = arena.stream();
  const auto columns = static_cast<std::size_t>(cols), count = static_cast<std::size_t>(rows.count);
  const auto entries = static_cast<std::size_t>(rows.entries);
  GreedyLists all = rows;
  all.count = rows.count + cols;
  all.shift = 0;
  all.entries = 2 * rows.entries;
  auto* offsets = arena.take<Offset>(count + columns + 1);
  auto* new_cols = arena.take<Index>(2 * entries);
  auto* raw = rows.raw != nullptr ? arena.take<std::uint32_t>(2 * entries) : nullptr;
  const gpu::Arena::Mark mark = arena.mark();
  // The lengths of rows and columns, summed to the offsets of their lists.
  auto* next = arena.take_filled<unsigned long long>(columns + 1, 0);
  auto* begin = reinterpret_cast<unsigned long long*>(offsets + count);
  count_kernel<<<blocks_of(arena), kThreads, 0, stream>>>(rows, next + 1);
  copy_offsets_kernel<<<blocks_of(arena), kThreads, 0, stream>>>(rows, offsets, next);
  MOTES_CUDA_LAUNCHED();
  std::size_t bytes = 0;
  const auto scan = [&](void* scratch) {
    MOTES_CUDA(
        cub::DeviceScan::InclusiveSum(scratch, bytes, next, begin, static_cast<Offset>(columns + 1), stream));
  };
  scan(nullptr);
  scan(arena.take<char>(bytes));
  MOTES_CUDA(cudaMemcpyAsync(next, begin, columns * sizeof *next, cudaMemcpyDeviceToDevice, stream));
  scatter_kernel<<<blocks_of(arena), kThreads, 0, stream>>>(rows, next, new_cols, raw);
  MOTES_CUDA_LAUNCHED();
  arena.release(mark);
  all.offsets = offsets;
  all.cols = new_cols;
  all.raw = raw;
  return all;
}

double weight_of_pairs(gpu::Arena& arena, const GreedyProblem& problem, const Index* row_to_col) {
  const Index rows = problem.graph.rows, blocks = rows / kRowsASum + 1;
  auto* weight = arena.take<double>(static_cast<std::size_t>(rows));
  auto* sum = arena.take<double>(static_cast<std::size_t>(blocks));
  std::visit(
      [&]<class T>(std::span<const T> weights) {
        pair_weights_kernel<<<blocks_of(arena), kThreads, 0, arena.stream()>>>(
            problem.graph.row_offsets.data(), problem.graph.col_index.data(),
            weights.empty() ? nullptr : weights.data(), rows, problem.kind == GraphKind::general, row_to_col,
            weight);
      },
      problem.weights);
  block_sums_kernel<<<blocks_of(arena), kThreads, 0, arena.stream()>>>(weight, rows, blocks, sum);
  MOTES_CUDA_LAUNCHED();
  const std::vector<double> sums = arena.download(sum, static_cast<std::size_t>(blocks));
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace motes::matching::device
