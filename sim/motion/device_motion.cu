/// Each thread follows one particle through all frames and writes to arrays ordered by frame, so that
/// neighbouring threads write neighbouring words. A second kernel transposes the arrays to the order of the
/// TrackSet.
///
/// Particles are processed in batches that fit into a fixed part of the device's memory. Results are copied
/// through two small pinned buffers: the device fills one while the host's threads empty the other. Pinning
/// memory for the whole result would take longer than the simulation.

#include <algorithm>
#include <cstring>
#include <string>

#include <cuda_runtime.h>

#include <motes/base/errors.h>
#include <motes/base/gpu/resources.cuh>
#include <motes/base/parallel_for.h>

#include "sim/motion/device_motion.h"

namespace motes::sim::detail {
namespace {

constexpr std::size_t kBatchBytes = std::size_t{1} << 30;
constexpr std::size_t kStagingBytes = std::size_t{1} << 25;
constexpr int kThreads = 128;
constexpr int kTile = 32, kTileRows = 8;

using gpu::require;

/// Device memory with a copy of the values.
template <class Value>
struct Uploaded : gpu::GrowingArray<Value> {
  Uploaded(const std::vector<Value>& values, cudaStream_t stream) { this->upload(values, stream); }
};

/// Arrays [frames][count] or [count][frames].
struct Seen {
  double *x, *y, *z;
  std::uint8_t* code;  ///< may be null
};

struct Batch {
  const Vec3* seeds;     ///< [particles]
  const double* births;  ///< [particles], or null: all at first_time
  double first_time;
  std::uint32_t first, count;
};

__global__ void __launch_bounds__(kThreads)
    follow_particles(const __grid_constant__ MotionModel model, Batch batch, Seen out) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= batch.count) return;
  const std::uint32_t particle = batch.first + i;
  const double birth = batch.births != nullptr ? batch.births[particle] : batch.first_time;
  follow(model, particle, batch.seeds[particle], birth,
         [&](std::int32_t k, const Vec3& at, std::uint8_t code) {
           const std::size_t r = static_cast<std::size_t>(k) * batch.count + i;
           out.x[r] = at.x;
           out.y[r] = at.y;
           out.z[r] = at.z;
           if (out.code != nullptr) out.code[r] = code;
         });
}

/// Transposes [rows][cols] to [cols][rows]; a block of kTile x kTileRows threads processes a tile of kTile x
/// kTile.
template <class Value>
__global__ void transpose(const Value* from, Value* to, std::uint32_t rows, std::uint32_t cols) {
  __shared__ Value tile[kTile][kTile + 1];
  // The rows (frames) may be many, so they are along x, which has the larger grid.
  const std::uint32_t row0 = blockIdx.x * kTile, col0 = blockIdx.y * kTile;
  for (int j = static_cast<int>(threadIdx.y); j < kTile; j += kTileRows) {
    const std::uint32_t row = row0 + j, col = col0 + threadIdx.x;
    if (row < rows && col < cols) tile[j][threadIdx.x] = from[static_cast<std::size_t>(row) * cols + col];
  }
  __syncthreads();
  for (int j = static_cast<int>(threadIdx.y); j < kTile; j += kTileRows) {
    const std::uint32_t col = col0 + j, row = row0 + threadIdx.x;
    if (row < rows && col < cols) to[static_cast<std::size_t>(col) * rows + row] = tile[threadIdx.x][j];
  }
}

/// Downloads device arrays through two pinned buffers.
class Courier {
 public:
  Courier(const Execution& execution, cudaStream_t stream)
      : threads_(thread_count(execution)), stream_(stream) {}

  void bring(void* to, const void* from, std::size_t bytes) {
    const auto* source = static_cast<const char*>(from);
    auto* target = static_cast<char*>(to);
    const std::size_t pieces = (bytes + kStagingBytes - 1) / kStagingBytes;
    const auto size_of = [&](std::size_t piece) {
      return std::min(kStagingBytes, bytes - piece * kStagingBytes);
    };
    for (std::size_t piece = 0; piece <= pieces; ++piece) {
      if (piece < pieces) {
        require(cudaMemcpyAsync(buffers_[piece % 2].data(), source + piece * kStagingBytes, size_of(piece),
                                cudaMemcpyDeviceToHost, stream_),
                "return its result");
        require(cudaEventRecord(arrived_[piece % 2].get(), stream_), "recording an event");
      }
      if (piece == 0) continue;
      require(cudaEventSynchronize(arrived_[(piece - 1) % 2].get()), "moving particles");
      unload(target + (piece - 1) * kStagingBytes, buffers_[(piece - 1) % 2].data(), size_of(piece - 1));
    }
  }

 private:
  void unload(char* to, const void* from, std::size_t bytes) const {
    constexpr std::size_t kPart = std::size_t{1} << 20;
    const auto* source = static_cast<const char*>(from);
    parallel_for(threads_, static_cast<std::int64_t>((bytes + kPart - 1) / kPart), [&](std::int64_t part) {
      const std::size_t at = static_cast<std::size_t>(part) * kPart;
      std::memcpy(to + at, source + at, std::min(kPart, bytes - at));
    });
  }

  int threads_;
  cudaStream_t stream_;
  gpu::PinnedArray<char> buffers_[2]{gpu::PinnedArray<char>(kStagingBytes),
                                     gpu::PinnedArray<char>(kStagingBytes)};
  gpu::Event arrived_[2];
};

template <class Value>
void launch_transpose(const Value* from, Value* to, std::uint32_t rows, std::uint32_t cols,
                      cudaStream_t stream) {
  const dim3 grid((rows + kTile - 1) / kTile, (cols + kTile - 1) / kTile), block(kTile, kTileRows);
  transpose<<<grid, block, 0, stream>>>(from, to, rows, cols);
  require(cudaGetLastError(), "starting the kernel");
}

/// Particles per batch: limited by memory, and by the grid of the transposition.
std::size_t batch_size(std::size_t particles, std::size_t frames, bool with_codes) {
  const std::size_t bytes_a_point = 2 * (3 * sizeof(double) + (with_codes ? 1 : 0));
  const std::size_t most = std::min<std::size_t>(kBatchBytes / (bytes_a_point * frames), 65535 * kTile);
  return std::clamp<std::size_t>(most, 1, particles);
}

}  // namespace

void follow_on_device(const Execution& execution, const Simulation& simulation, Records& records,
                      const StopAsked& stop) {
  require(cudaSetDevice(execution.device), "choosing the device");
  const std::size_t particles = simulation.particles();
  const auto frames = static_cast<std::size_t>(simulation.model.frames);
  const bool with_codes = !records.code.empty();
  const gpu::Stream stream;
  const Uploaded<Vec3> seeds(simulation.seeds, stream.get());
  const Uploaded<double> births(simulation.births, stream.get());
  const Uploaded<double> times(simulation.times, stream.get());
  const Uploaded<FlowMode> modes(simulation.modes, stream.get());
  MotionModel model = simulation.model;
  model.times_s = times.data();
  model.flow.modes = modes.data();

  const std::size_t most = batch_size(particles, frames, with_codes);
  const std::size_t points = most * frames;
  const gpu::GrowingArray<double> by_frame(3 * points), by_track(3 * points);
  const gpu::GrowingArray<std::uint8_t> code_by_frame(with_codes ? points : 0),
      code_by_track(with_codes ? points : 0);
  Courier courier(execution, stream.get());
  const Seen seen{by_frame.data(), by_frame.data() + points, by_frame.data() + 2 * points,
                  code_by_frame.data()};
  double* const home[3] = {records.x.data(), records.y.data(), records.z.data()};
  const double* const axes[3] = {seen.x, seen.y, seen.z};

  for (std::size_t first = 0; first < particles; first += most) {
    if (stop && stop()) throw_stopped();
    const std::size_t count = std::min(most, particles - first);
    const auto rows = static_cast<std::uint32_t>(frames), cols = static_cast<std::uint32_t>(count);
    const Batch batch{seeds.data(), births.data(), simulation.first_time(), static_cast<std::uint32_t>(first),
                      cols};
    follow_particles<<<(cols + kThreads - 1) / kThreads, kThreads, 0, stream.get()>>>(model, batch, seen);
    require(cudaGetLastError(), "starting the kernel");
    for (int axis = 0; axis < 3; ++axis)
      launch_transpose(axes[axis], by_track.data() + static_cast<std::size_t>(axis) * points, rows, cols,
                       stream.get());
    if (with_codes) launch_transpose(seen.code, code_by_track.data(), rows, cols, stream.get());
    for (std::size_t axis = 0; axis < 3; ++axis)
      courier.bring(home[axis] + first * frames, by_track.data() + axis * points,
                    count * frames * sizeof(double));
    if (with_codes) courier.bring(records.code.data() + first * frames, code_by_track.data(), count * frames);
  }
  require(cudaStreamSynchronize(stream.get()), "moving particles");
}

}  // namespace motes::sim::detail
