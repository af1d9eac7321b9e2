/// Evidence on the device, in two steps. (1) 8 or 16 neighbouring threads share an extremum: each sums up one
/// column of its box, as the CPU's lanes do, and the sums are added in the order of columns. (2) One thread
/// for each extremum computes the evidence from these sums. This is double arithmetic, for which the other
/// threads of (1) would wait.

#include "tracking/detect/device_steps.cuh"

namespace motes::tracking::detect::device {
namespace {

using rules::EvidenceBox;

/// For one extremum: the sums over its box, and the value at the centre minus the offset.
struct Summed {
  rules::BoxSums sums;
  float own;
};

struct Task {
  rules::EvidenceModel model;
  ResponseView response;
  const VoxelIndex* extrema;
  EvidenceList out;
  Summed* summed;  ///< [extrema]

  /// The voxel of an extremum, x, y, z.
  __device__ rules::Index3 voxel(std::size_t i) const {
    const unsigned v = extrema[i], nx = static_cast<unsigned>(response.nx), row = v / nx;
    const unsigned z = row / static_cast<unsigned>(response.ny);
    return {v - row * nx, row - z * static_cast<unsigned>(response.ny), z};
  }
};

template <class T>
__device__ rules::ColumnSums sum_column(const T* values, const rules::EvidenceModel& model,
                                        const EvidenceBox& box, int column, float offset) {
  rules::ColumnSums sums;
  const std::int64_t nx = model.axes[0].size, ny = model.axes[1].size;
  const float middle_y = 0.5F * static_cast<float>(box.count[1] - 1);
  const float middle_z = 0.5F * static_cast<float>(box.count[2] - 1);
  const auto rows = static_cast<int>(box.count[1]), planes = static_cast<int>(box.count[2]);
  for (int k = 0; k < planes; ++k) {
    const float dz = static_cast<float>(k) - middle_z, gz = box.g[2][k];
    const T* plane = values + ((box.first[2] + k) * ny + box.first[1]) * nx + box.first[0] + column;
    for (int j = 0; j < rows; ++j) {
      const float dy = static_cast<float>(j) - middle_y, g = box.g[1][j] * gz;
      const float v = static_cast<float>(plane[j * nx]) - offset;
      sums.y += v;
      sums.yy += v * v;
      sums.y_dy += v * dy;
      sums.y_dz += v * dz;
      sums.yg += v * g;
    }
  }
  return sums;
}

template <class T, int Lanes>
__global__ void sums_kernel(const T* values, Task task) {
  const std::size_t thread = thread_index<std::size_t>(), i = thread / Lanes;
  const int lane = static_cast<int>(thread % Lanes);
  const bool active = i < task.out.count;
  const rules::Place3 place = rules::sub_voxel(task.model, task.response, task.voxel(active ? i : 0));
  const EvidenceBox box = rules::box_around(task.model, place);
  const auto value = [&](const rules::Index3& v) {
    return static_cast<float>(
        values[(v[2] * task.model.axes[1].size + v[1]) * task.model.axes[0].size + v[0]]);
  };
  const float offset = value(box.first);
  const auto columns = static_cast<int>(box.count[0]);
  rules::ColumnSums own;
  if (lane < columns) own = sum_column(values, task.model, box, lane, offset);
  rules::BoxSums sums;
  const double middle = 0.5 * (box.axis[0].n - 1);
  for (int c = 0; c < Lanes; ++c) {
    const auto of = [&](float v) { return __shfl_sync(0xffffffffU, v, c, Lanes); };
    const rules::ColumnSums column{of(own.y), of(own.yy), of(own.y_dy), of(own.y_dz), of(own.yg)};
    if (c < columns) sums.add(column, box.g[0][c], static_cast<double>(c) - middle);
  }
  if (active && lane == 0) task.summed[i] = {sums, value(box.centre) - offset};
}

template <class T>
__global__ void evidence_kernel(const T* values, Task task) {
  const std::size_t i = thread_index<std::size_t>();
  if (i >= task.out.count) return;
  const rules::Index3 at = task.voxel(i);
  const rules::Place3 place = rules::sub_voxel(task.model, task.response, at);
  const EvidenceBox box = rules::box_around(task.model, place);
  const double counts = task.model.unit > 0 ? rules::count_root(task.model, values, place) : 0;
  const Summed& summed = task.summed[i];
  const rules::Moments moments = rules::moments_of(box, summed.sums, summed.own);
  const Evidence e =
      rules::evidence_of(task.model, moments, rules::roundness(task.model, task.response, at), counts);
  task.out.score[i] = e.score;
  task.out.single[i] = e.single;
  task.out.amplitude[i] = e.amplitude;
  task.out.response[i] = task.response.log[task.extrema[i]];
  task.out.roundness[i] = e.roundness;
}

}  // namespace

EvidenceList score(gpu::Arena& arena, const rules::EvidenceModel& model, const Values& values,
                   const ResponseView& response, const VoxelList& extrema) {
  EvidenceList scores;
  const std::size_t n = scores.count = extrema.count;
  scores.score = arena.take<double>(n);
  scores.single = arena.take<double>(n);
  scores.amplitude = arena.take<double>(n);
  scores.response = arena.take<float>(n);
  scores.roundness = arena.take<double>(n);
  if (n == 0) return scores;
  const Task task{model, response, extrema.voxels, scores, arena.take<Summed>(n)};
  values.visit([&](const auto* v) {
    if (model.axes[0].half <= 3)
      sums_kernel<std::decay_t<decltype(*v)>, 8><<<blocks_for(8 * n), kThreads, 0, arena.stream()>>>(v, task);
    else
      sums_kernel<std::decay_t<decltype(*v)>, 16>
          <<<blocks_for(16 * n), kThreads, 0, arena.stream()>>>(v, task);
    evidence_kernel<<<blocks_for(n), kThreads, 0, arena.stream()>>>(v, task);
  });
  MOTES_CUDA_LAUNCHED();
  return scores;
}

}  // namespace motes::tracking::detect::device
