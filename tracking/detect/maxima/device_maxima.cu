/// Maxima and minima on the device. A warp examines 32 neighbouring voxels of a row and writes a bit for
/// each; a scan over the counts of these words gives every extremum its place in storage order. Each voxel of
/// a plateau has a thread that visits the whole plateau. The thread of the first voxel sets the bit of the
/// middle one.

#include <cub/device/device_scan.cuh>

#include "tracking/detect/device_steps.cuh"
#include "tracking/detect/maxima/maxima_rules.h"

namespace motes::tracking::detect::device {
namespace {

constexpr int kMostOfPlateau = 48;

/// Rows [row i * step + step / 2] of a volume, 32 voxels of a row to a word.
struct RowWords {
  unsigned rows, step, words_of_row;
  int nz, ny, nx;
  __host__ __device__ std::size_t words() const { return static_cast<std::size_t>(rows) * words_of_row; }
  __device__ unsigned row_of(unsigned word) const { return word / words_of_row * step + step / 2; }
  __device__ int first_of(unsigned word) const { return static_cast<int>(word % words_of_row) * 32; }
};

/// Calls visit(value, z, y, x) for up to 26 neighbours, those in the same row first, until it returns false.
template <class Visit>
__device__ void visit_neighbours(const float* log, const RowWords& g, int z, int y, int x,
                                 const Visit& visit) {
  for (int r = 0; r < 9; ++r) {
    const int q = (r + 4) % 9, k = z + q / 3 - 1, j = y + q % 3 - 1;
    if (k < 0 || k >= g.nz || j < 0 || j >= g.ny) continue;
    const std::size_t row = (static_cast<std::size_t>(k) * g.ny + j) * g.nx;
    for (int i = x - 1; i <= x + 1; ++i) {
      if (i < 0 || i >= g.nx || (r == 0 && i == x)) continue;
      if (!visit(log[row + i], k, j, i)) return;
    }
  }
}

/// The largest of the 26 neighbours of a voxel inside the volume.
__device__ float largest_neighbour(const float* at, std::ptrdiff_t row, std::ptrdiff_t plane) {
  float most = fmaxf(at[-1], at[1]);
#pragma unroll
  for (int k = -1; k <= 1; ++k)
#pragma unroll
    for (int j = -1; j <= 1; ++j) {
      if (k == 0 && j == 0) continue;
      const float* middle = at + k * plane + j * row;
      most = fmaxf(most, fmaxf(fmaxf(middle[-1], middle[0]), middle[1]));
    }
  return most;
}

__global__ void maxima_kernel(const float* log, RowWords g, float floor, unsigned* strict, unsigned* tied) {
  const std::size_t thread = thread_index<std::size_t>();
  const auto word = static_cast<unsigned>(thread / 32);
  if (word >= g.words()) return;
  const unsigned row = g.row_of(word);
  const int x = g.first_of(word) + static_cast<int>(thread % 32);
  bool exceeded = true, equal = false;
  const float* at = log + static_cast<std::size_t>(row) * g.nx + x;
  if (x<g.nx&& * at> floor) {
    const float value = *at;
    const int z = static_cast<int>(row / g.ny), y = static_cast<int>(row % g.ny);
    if (x > 0 && x + 1 < g.nx && y > 0 && y + 1 < g.ny && z > 0 && z + 1 < g.nz) {
      const float most = largest_neighbour(at, g.nx, static_cast<std::ptrdiff_t>(g.nx) * g.ny);
      exceeded = most > value;
      equal = most == value;
    } else {
      exceeded = false;
      visit_neighbours(log, g, z, y, x, [&](float other, int, int, int) {
        equal = equal || other == value;
        exceeded = other > value;
        return !exceeded;
      });
    }
  }
  const unsigned strict_bits = __ballot_sync(0xffffffffU, !exceeded && !equal);
  const unsigned tied_bits = __ballot_sync(0xffffffffU, !exceeded && equal);
  if (thread % 32 != 0) return;
  strict[word] = strict_bits;
  tied[word] = tied_bits;
}

__global__ void minima_kernel(const float* log, RowWords g, float floor, unsigned* found) {
  const std::size_t thread = thread_index<std::size_t>();
  const auto word = static_cast<unsigned>(thread / 32);
  if (word >= g.words()) return;
  const unsigned row = g.row_of(word);
  const int x = g.first_of(word) + static_cast<int>(thread % 32);
  bool least = false;
  if (x < g.nx) {
    const float value = log[static_cast<std::size_t>(row) * g.nx + x];
    if (value < -floor) {
      least = true;
      visit_neighbours(log, g, static_cast<int>(row / g.ny), static_cast<int>(row % g.ny), x,
                       [&](float other, int, int, int) { return least = other > value; });
    }
  }
  const unsigned bits = __ballot_sync(0xffffffffU, least);
  if (thread % 32 == 0) found[word] = bits;
}

/// Visits the plateau of a voxel that no neighbour exceeds. The thread of its first voxel sets the bit of the
/// middle one, which is not set yet because the voxel equals a neighbour. `overflow` counts plateaus that are
/// too large.
__device__ void walk_plateau(const float* log, const RowWords& g, VoxelIndex seed, unsigned* strict,
                             unsigned* overflow) {
  VoxelIndex members[kMostOfPlateau];
  int n = 1;
  members[0] = seed;
  const auto nx = static_cast<VoxelIndex>(g.nx), ny = static_cast<VoxelIndex>(g.ny);
  const float value = log[seed];
  bool exceeded = false, full = false;
  for (int next = 0; next < n && !exceeded && !full; ++next) {
    const VoxelIndex at = members[next];
    visit_neighbours(log, g, static_cast<int>(at / nx / ny), static_cast<int>(at / nx % ny),
                     static_cast<int>(at % nx), [&](float other, int k, int j, int i) {
                       exceeded = other > value;
                       if (exceeded || other != value) return !exceeded;
                       const VoxelIndex voxel = (static_cast<VoxelIndex>(k) * ny + j) * nx + i;
                       for (int m = 0; m < n; ++m)
                         if (members[m] == voxel) return true;
                       full = n == kMostOfPlateau;
                       if (!full) members[n++] = voxel;
                       return !full;
                     });
  }
  if (exceeded) return;
  if (full) {
    atomicAdd(overflow, 1U);
    return;
  }
  for (int i = 1; i < n; ++i)  // into storage order
    for (int j = i; j > 0 && members[j] < members[j - 1]; --j) {
      const VoxelIndex swapped = members[j];
      members[j] = members[j - 1];
      members[j - 1] = swapped;
    }
  if (members[0] != seed) return;
  const std::int64_t best = rules::middle_of(n, [&](std::int64_t i) {
    const std::int64_t v = members[i];
    return std::array<std::int64_t, 3>{v / g.nx / g.ny, v / g.nx % g.ny, v % g.nx};
  });
  const VoxelIndex middle = members[best], row = middle / nx, x = middle % nx;
  atomicOr(&strict[static_cast<std::size_t>(row) * g.words_of_row + x / 32], 1U << (x % 32));
}

__global__ void plateau_kernel(const float* log, RowWords g, const unsigned* tied, unsigned* strict,
                               unsigned* overflow) {
  const std::size_t word = thread_index<std::size_t>();
  if (word >= g.words()) return;
  const auto w = static_cast<unsigned>(word);
  for (unsigned bits = tied[word]; bits != 0; bits &= bits - 1)
    walk_plateau(log, g, g.row_of(w) * static_cast<VoxelIndex>(g.nx) + g.first_of(w) + (__ffs(bits) - 1),
                 strict, overflow);
}

/// Clears the bits of voxels outside the mask and counts the rest; a last count of 0 ends the list.
__global__ void count_kernel(RowWords g, const std::uint8_t* mask, unsigned* found, unsigned* counts) {
  const std::size_t word = thread_index<std::size_t>();
  if (word > g.words()) return;
  unsigned kept = word < g.words() ? found[word] : 0;
  if (mask != nullptr && kept != 0) {
    const auto w = static_cast<unsigned>(word);
    const std::size_t first = static_cast<std::size_t>(g.row_of(w)) * g.nx + g.first_of(w);
    for (unsigned bits = kept; bits != 0; bits &= bits - 1)
      if (mask[first + (__ffs(bits) - 1)] == 0) kept &= ~(bits & -bits);
    found[word] = kept;
  }
  counts[word] = static_cast<unsigned>(__popc(kept));
}

__global__ void list_kernel(RowWords g, const unsigned* found, const unsigned* places, VoxelIndex* voxels) {
  const std::size_t word = thread_index<std::size_t>();
  if (word >= g.words()) return;
  const auto w = static_cast<unsigned>(word);
  VoxelIndex* to = voxels + places[word];
  const VoxelIndex first = g.row_of(w) * static_cast<VoxelIndex>(g.nx) + g.first_of(w);
  for (unsigned bits = found[word]; bits != 0; bits &= bits - 1) *to++ = first + (__ffs(bits) - 1);
}

RowWords row_words(const ResponseView& response, std::int64_t step, std::int64_t rows) {
  return {static_cast<unsigned>(rows),
          static_cast<unsigned>(step),
          static_cast<unsigned>((response.nx + 31) / 32),
          static_cast<int>(response.nz),
          static_cast<int>(response.ny),
          static_cast<int>(response.nx)};
}

/// The voxels whose bits are set. Waits for the device. Also fetches `overflow`, if given.
VoxelList list(gpu::Arena& arena, const RowWords& g, const std::uint8_t* mask, unsigned* found,
               const unsigned* overflow, unsigned& overflowed) {
  const std::size_t n = g.words() + 1;
  unsigned* counts = arena.take<unsigned>(n);
  unsigned* places = arena.take<unsigned>(n);
  count_kernel<<<blocks_for(n), kThreads, 0, arena.stream()>>>(g, mask, found, counts);
  MOTES_CUDA_LAUNCHED();
  std::size_t bytes = 0;
  MOTES_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, bytes, counts, places, n, arena.stream()));
  char* scratch = arena.take<char>(bytes);
  MOTES_CUDA(cub::DeviceScan::ExclusiveSum(scratch, bytes, counts, places, n, arena.stream()));
  auto* told = static_cast<unsigned*>(arena.pinned());
  MOTES_CUDA(cudaMemcpyAsync(told, places + n - 1, sizeof(unsigned), cudaMemcpyDeviceToHost, arena.stream()));
  told[1] = 0;
  if (overflow != nullptr)
    MOTES_CUDA(cudaMemcpyAsync(told + 1, overflow, sizeof(unsigned), cudaMemcpyDeviceToHost, arena.stream()));
  arena.synchronize();
  overflowed = told[1];
  VoxelList voxels;
  voxels.count = told[0];
  auto* to = arena.take<VoxelIndex>(voxels.count);
  list_kernel<<<blocks_for(g.words()), kThreads, 0, arena.stream()>>>(g, found, places, to);
  MOTES_CUDA_LAUNCHED();
  voxels.voxels = to;
  return voxels;
}

}  // namespace

bool find_maxima(gpu::Arena& arena, const ResponseView& response, float floor, const std::uint8_t* mask,
                 VoxelList& maxima) {
  const RowWords g = row_words(response, 1, response.nz * response.ny);
  unsigned* strict = arena.take<unsigned>(g.words());
  unsigned* tied = arena.take<unsigned>(g.words());
  unsigned* overflow = arena.take_filled<unsigned>(1, 0);
  maxima_kernel<<<blocks_for(32 * g.words()), kThreads, 0, arena.stream()>>>(response.log, g, floor, strict,
                                                                             tied);
  plateau_kernel<<<blocks_for(g.words()), kThreads, 0, arena.stream()>>>(response.log, g, tied, strict,
                                                                         overflow);
  MOTES_CUDA_LAUNCHED();
  unsigned overflowed = 0;
  maxima = list(arena, g, mask, strict, overflow, overflowed);
  return overflowed == 0;
}

VoxelList find_minima(gpu::Arena& arena, const ResponseView& response, float floor,
                      std::int64_t rows_per_sample, const std::uint8_t* mask, std::int64_t& rows) {
  const std::int64_t all = response.nz * response.ny;
  const std::int64_t step = limited<std::int64_t>(rows_per_sample, 1, all > 1 ? all : 1);
  rows = all / step;
  const RowWords g = row_words(response, step, rows);
  unsigned* found = arena.take<unsigned>(g.words());
  minima_kernel<<<blocks_for(32 * g.words()), kThreads, 0, arena.stream()>>>(response.log, g, floor, found);
  MOTES_CUDA_LAUNCHED();
  unsigned none = 0;
  return list(arena, g, mask, found, nullptr, none);
}

}  // namespace motes::tracking::detect::device
