/// coarsen() on the GPU. Every fine entry gets its coarse edge as a key; sorting brings together the
/// entries, at most four, that become one, and the thread of the first adds them up. Keys include whether
/// an entry crosses (coarsen.h), so that the sum has the order of the CPU's; two entries with equal keys
/// give the same sum in either order.

#include <bit>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <motes/base/gpu/thread_index.cuh>

#include "matching/papers/coarsening/coarsen.cuh"
#include "matching/papers/coarsening/device_coarsen.h"

namespace motes::matching::device {
namespace {

constexpr int kThreads = 256;

using Key = unsigned long long;

__device__ bool is_lesser(const Index* mate, Index v) { return mate[v] == -1 || v < mate[v]; }

__global__ void lesser_kernel(const Index* mate, Index vertices, Index* lesser) {
  for (Offset v = gpu::thread_index<Offset>(); v < vertices; v += gpu::thread_total<Offset>())
    lesser[v] = is_lesser(mate, static_cast<Index>(v)) ? 1 : 0;
}

/// coarse_of: for lesser vertices the number of those before, for others that of their mates.
__global__ void number_kernel(const Index* mate, const Index* before, const double* vertex_weight,
                              Index vertices, Index* coarse_of, double* coarse_weight) {
  for (Offset k = gpu::thread_index<Offset>(); k < vertices; k += gpu::thread_total<Offset>()) {
    const auto v = static_cast<Index>(k);
    if (!is_lesser(mate, v)) {
      coarse_of[v] = before[mate[v]];
      continue;
    }
    coarse_of[v] = before[v];
    const auto weight = [&](Index w) { return vertex_weight != nullptr ? vertex_weight[w] : 1.0; };
    coarse_weight[before[v]] = mate[v] == -1 ? weight(v) : weight(v) + weight(mate[v]);
  }
}

/// Keys: row, column, crosses; entries within a coarse vertex come after all others. A warp a vertex.
template <class T>
__global__ void keys_kernel(const Offset* offsets, const Index* cols, const T* weights, const Index* mate,
                            const Index* coarse_of, Index vertices, int bits, Key* key, double* weight) {
  const unsigned lane = threadIdx.x % 32;
  for (Offset v = gpu::thread_index<Offset>() / 32; v < vertices; v += gpu::thread_total<Offset>() / 32) {
    const Offset end = offsets[v + 1];
    const auto row = static_cast<Key>(coarse_of[v]);
    const bool lesser = is_lesser(mate, static_cast<Index>(v));
    for (Offset e = offsets[v] + lane; e < end; e += 32) {
      const Index w = cols[e];
      const auto col = static_cast<Key>(coarse_of[w]);
      const Key crosses = lesser != is_lesser(mate, w) ? 1 : 0;
      key[e] = row == col ? Key{1} << (2 * bits + 1) : (row << bits | col) << 1 | crosses;
      weight[e] = weights != nullptr ? static_cast<double>(weights[e]) : 1.0;
    }
  }
}

__device__ bool is_first(const Key* key, Offset e, int bits) {
  return key[e] >> (2 * bits + 1) == 0 && (e == 0 || key[e - 1] >> 1 != key[e] >> 1);
}

__global__ void first_kernel(const Key* key, Offset entries, int bits, Offset* first) {
  for (Offset e = gpu::thread_index<Offset>(); e <= entries; e += gpu::thread_total<Offset>())
    first[e] = e < entries && is_first(key, e, bits) ? 1 : 0;
}

/// `place` [entries + 1]: how many coarse entries lie before each fine one. The first coarse entry of a row
/// tells where the row begins, and where those rows before it that have none do. All threads that find a
/// sum infinite write the same.
__global__ void merge_kernel(const Key* key, const double* weight, const Offset* place, Offset entries,
                             int bits, Index coarse, Index* cols, double* weights, Offset* offsets,
                             int* infinite) {
  const auto row_of = [&](Offset e) { return static_cast<Offset>(key[e] >> (bits + 1)); };
  for (Offset e = gpu::thread_index<Offset>(); e < entries; e += gpu::thread_total<Offset>()) {
    if (!is_first(key, e, bits)) continue;
    double straight = 0, cross = 0;
    for (Offset k = e; k < entries && key[k] >> 1 == key[e] >> 1; ++k)
      (key[k] & 1 ? cross : straight) += weight[k];
    cols[place[e]] = static_cast<Index>(key[e] >> 1 & ((Key{1} << bits) - 1));
    weights[place[e]] = straight + cross;
    if (isinf(straight + cross)) *infinite = 1;
    const Offset row = row_of(e), before = e == 0 ? -1 : row_of(e - 1);
    for (Offset r = before + 1; r <= row; ++r) offsets[r] = place[e];
    if (place[e] + 1 == place[entries])
      for (Offset r = row + 1; r <= coarse; ++r) offsets[r] = place[entries];
  }
}

template <class T>
void scan(gpu::Arena& arena, const T* from, T* to, Offset count) {
  std::size_t bytes = 0;
  MOTES_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, bytes, from, to, count, arena.stream()));
  MOTES_CUDA(cub::DeviceScan::ExclusiveSum(arena.take<char>(bytes), bytes, from, to, count, arena.stream()));
}

}  // namespace

CoarseLists coarsen_lists(gpu::Arena& arena, const GreedyProblem& problem, const Index* mates,
                          const double* vertex_weight) {
  const cudaStream_t stream = arena.stream();
  const auto blocks = static_cast<unsigned>(16 * arena.multiprocessors());
  const Index vertices = problem.graph.rows;
  const Offset entries = problem.graph.edges();
  const auto n = static_cast<std::size_t>(vertices), m = static_cast<std::size_t>(entries);

  auto* lesser = arena.take_filled<Index>(n + 1, 0);
  auto* before = arena.take<Index>(n + 1);
  lesser_kernel<<<blocks, kThreads, 0, stream>>>(mates, vertices, lesser);
  MOTES_CUDA_LAUNCHED();
  scan(arena, lesser, before, Offset{vertices} + 1);
  CoarseLists out;
  out.vertices = arena.download(before + n, 1)[0];
  const int bits = std::bit_width(static_cast<std::uint32_t>(out.vertices));

  out.coarse_of = arena.take<Index>(n);
  out.vertex_weight = arena.take<double>(static_cast<std::size_t>(out.vertices));
  number_kernel<<<blocks, kThreads, 0, stream>>>(mates, before, vertex_weight, vertices, out.coarse_of,
                                                 out.vertex_weight);
  auto* key = arena.take<Key>(m);
  auto* sorted_key = arena.take<Key>(m);
  auto* weight = arena.take<double>(m);
  auto* sorted_weight = arena.take<double>(m);
  std::visit(
      [&]<class T>(std::span<const T> weights) {
        keys_kernel<<<blocks, kThreads, 0, stream>>>(
            problem.graph.row_offsets.data(), problem.graph.col_index.data(),
            weights.empty() ? nullptr : weights.data(), mates, out.coarse_of, vertices, bits, key, weight);
      },
      problem.weights);
  MOTES_CUDA_LAUNCHED();
  std::size_t bytes = 0;
  const auto sort = [&](void* scratch) {
    MOTES_CUDA(cub::DeviceRadixSort::SortPairs(scratch, bytes, key, sorted_key, weight, sorted_weight,
                                               entries, 0, 2 * bits + 2, stream));
  };
  sort(nullptr);
  sort(arena.take<char>(bytes));
  auto* first = arena.take<Offset>(m + 1);
  auto* place = arena.take<Offset>(m + 1);
  first_kernel<<<blocks, kThreads, 0, stream>>>(sorted_key, entries, bits, first);
  MOTES_CUDA_LAUNCHED();
  scan(arena, first, place, entries + 1);
  out.entries = arena.download(place + m, 1)[0];
  out.cols = arena.take<Index>(static_cast<std::size_t>(out.entries));
  out.weights = arena.take<double>(static_cast<std::size_t>(out.entries));
  out.offsets = arena.take_filled<Offset>(static_cast<std::size_t>(out.vertices) + 1, 0);
  out.infinite = arena.take_filled<int>(1, 0);
  merge_kernel<<<blocks, kThreads, 0, stream>>>(sorted_key, sorted_weight, place, entries, bits, out.vertices,
                                                out.cols, out.weights, out.offsets, out.infinite);
  MOTES_CUDA_LAUNCHED();
  return out;
}

CoarseGraph coarsen(const Execution& execution, const GreedyProblem& problem, std::span<const Index> mate,
                    std::span<const double> vertex_weight) {
  Workspace own;
  gpu::Arena& arena = (execution.workspace != nullptr ? *execution.workspace : own).arena(execution.device);
  arena.reset();
  GreedyProblem there = problem;
  if (problem.space == Space::host) {
    const auto upload = [&]<class T>(std::span<const T>& values) {
      values = std::span<const T>(arena.upload(values), values.size());
    };
    upload(there.graph.row_offsets);
    upload(there.graph.col_index);
    std::visit(upload, there.weights);
    there.space = Space::device;
  }
  const double* fine_weight = vertex_weight.empty() ? nullptr : arena.upload(vertex_weight);
  const CoarseLists lists = coarsen_lists(arena, there, arena.upload(mate), fine_weight);
  const auto coarse = static_cast<std::size_t>(lists.vertices), m = static_cast<std::size_t>(lists.entries);
  CoarseGraph out;
  out.graph = {lists.vertices, lists.vertices, arena.download(lists.offsets, coarse + 1),
               arena.download(lists.cols, m)};
  out.weights = arena.download(lists.weights, m);
  out.vertex_weight = arena.download(lists.vertex_weight, coarse);
  out.coarse_of = arena.download(lists.coarse_of, mate.size());
  return out;
}

}  // namespace motes::matching::device
