/// coarsen_to() and coarsest_of() on the GPU. Levels stay in device memory, where each is matched and
/// merged; what the caller needs is downloaded at the same time, several arrays together.

#include <future>
#include <memory>
#include <optional>
#include <variant>

#include <motes/base/gpu/device.h>

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/papers/coarsening/coarsen.cuh"
#include "matching/papers/coarsening/device_coarsen.h"

namespace motes::matching::device {
namespace {

constexpr int kThreads = 256;

/// As densities_of of coarsen.cpp.
__global__ void densities_kernel(const Offset* offsets, const Index* cols, const double* weights,
                                 const double* vertex_weight, Index vertices, double* density) {
  const unsigned lane = threadIdx.x % 32;
  const Offset warps = Offset{gridDim.x} * blockDim.x / 32;
  for (Offset v = (Offset{blockIdx.x} * blockDim.x + threadIdx.x) / 32; v < vertices; v += warps)
    for (Offset e = offsets[v] + lane; e < offsets[v + 1]; e += 32)
      density[e] = weights[e] / (vertex_weight[v] * vertex_weight[cols[e]]);
}

__global__ void compose_kernel(const Index* coarse_of, Index vertices, Index* map) {
  for (Offset v = Offset{blockIdx.x} * blockDim.x + threadIdx.x; v < vertices;
       v += Offset{gridDim.x} * blockDim.x)
    map[v] = coarse_of[map[v]];
}

template <class T>
gpu::DeviceArray<T> copy_of(const gpu::Arena& arena, const T* values, std::size_t count) {
  gpu::DeviceArray<T> copy(count, arena.device());
  if (count > 0)
    MOTES_CUDA(
        cudaMemcpyAsync(copy.data(), values, count * sizeof(T), cudaMemcpyDeviceToDevice, arena.stream()));
  return copy;
}

/// The problem that the caller has given, in device memory.
class Finest {
 public:
  Finest(const GreedyProblem& problem, int device) : view_(problem) {
    if (problem.space == Space::device) return;
    const auto bring = [&]<class T>(std::span<const T>& values) {
      gpu::DeviceArray<T> array(values, device);
      values = array.span();
      arrays_.emplace_back(std::move(array));
    };
    bring(view_.graph.row_offsets);
    bring(view_.graph.col_index);
    std::visit(bring, view_.weights);
    view_.space = Space::device;
  }
  const GreedyProblem& view() const { return view_; }

 private:
  std::vector<std::variant<gpu::DeviceArray<Offset>, gpu::DeviceArray<Index>, gpu::DeviceArray<float>,
                           gpu::DeviceArray<double>>>
      arrays_;
  GreedyProblem view_;
};

struct Level {
  Level(const gpu::Arena& arena, const CoarseLists& from, std::size_t fine)
      : offsets(copy_of(arena, from.offsets, static_cast<std::size_t>(from.vertices) + 1)),
        cols(copy_of(arena, from.cols, static_cast<std::size_t>(from.entries))),
        weights(copy_of(arena, from.weights, static_cast<std::size_t>(from.entries))),
        vertex_weight(copy_of(arena, from.vertex_weight, static_cast<std::size_t>(from.vertices))),
        coarse_of(copy_of(arena, from.coarse_of, fine)) {}

  Index vertices() const { return static_cast<Index>(vertex_weight.size()); }
  GreedyProblem view() const {
    return {GraphKind::general,
            {vertices(), vertices(), offsets.span(), cols.span()},
            weights.span(),
            Space::device};
  }

  gpu::DeviceArray<Offset> offsets;
  gpu::DeviceArray<Index> cols;
  gpu::DeviceArray<double> weights, vertex_weight;
  gpu::DeviceArray<Index> coarse_of;
};

/// A level that is being downloaded. Its arrays are downloaded in parallel, and asynchronously if threads
/// allow it, since the first touch of their pages takes longest.
class Download {
 public:
  Download(std::shared_ptr<const Level> level, bool beside) : level_(std::move(level)) {
    const auto begin = [&](const auto& array) {
      return std::async(beside ? std::launch::async : std::launch::deferred,
                        [&array] { return array.to_host(); });
    };
    offsets_ = begin(level_->offsets), cols_ = begin(level_->cols), coarse_of_ = begin(level_->coarse_of);
    weights_ = begin(level_->weights), vertex_weight_ = begin(level_->vertex_weight);
  }
  CoarseGraph get() {
    const Index vertices = level_->vertices();
    CoarseGraph out;
    out.graph = {vertices, vertices, offsets_.get(), cols_.get()};
    out.weights = weights_.get();
    out.vertex_weight = vertex_weight_.get();
    out.coarse_of = coarse_of_.get();
    return out;
  }

 private:
  std::shared_ptr<const Level> level_;
  std::future<std::vector<Offset>> offsets_;
  std::future<std::vector<Index>> cols_, coarse_of_;
  std::future<std::vector<double>> weights_, vertex_weight_;
};

}  // namespace

std::vector<CoarseGraph> coarsen_to(const Execution& execution, const GreedyProblem& problem,
                                    const GreedySolver& solver, const CoarsenSettings& settings,
                                    std::vector<CoarseSize>* sizes) {
  Workspace own;
  Execution with = execution;
  if (with.workspace == nullptr) with.workspace = &own;
  gpu::Arena& arena = with.workspace->arena(execution.device);
  const bool beside = thread_count(execution) > 1;
  const auto blocks = static_cast<unsigned>(16 * arena.multiprocessors());
  const Finest finest(problem, execution.device);
  GreedyProblem fine = finest.view();
  std::shared_ptr<Level> level;
  std::vector<Download> downloads;
  gpu::DeviceArray<Index> map;
  bool infinite = false;
  while (fine.graph.rows > settings.vertices) {
    if (infinite) check_problem(Download(level, beside).get().view(), 1);  // throws, and names the edge
    GreedyProblem to_match = fine;
    gpu::DeviceArray<double> densities;
    if (settings.by == CoarsenBy::density && level != nullptr) {
      densities = gpu::DeviceArray<double>(level->weights.size(), execution.device);
      densities_kernel<<<blocks, kThreads, 0, arena.stream()>>>(
          level->offsets.data(), level->cols.data(), level->weights.data(), level->vertex_weight.data(),
          level->vertices(), densities.data());
      MOTES_CUDA_LAUNCHED();
      arena.synchronize();
      to_match.weights = densities.span();
    }
    const GreedyAnswer answer = solver.solve(with, to_match);
    arena.reset();
    const Index* mates = arena.upload(std::span<const Index>(answer.matching.row_to_col));
    const CoarseLists lists =
        coarsen_lists(arena, fine, mates, level != nullptr ? level->vertex_weight.data() : nullptr);
    if (lists.vertices > settings.least_shrink * fine.graph.rows) {
      arena.synchronize();
      break;
    }
    const auto vertices = static_cast<std::size_t>(fine.graph.rows);
    level = std::make_shared<Level>(arena, lists, vertices);
    if (sizes != nullptr) {
      sizes->push_back({lists.vertices, lists.entries});
      if (map.size() == 0) {
        map = copy_of(arena, lists.coarse_of, vertices);
      } else {
        compose_kernel<<<blocks, kThreads, 0, arena.stream()>>>(lists.coarse_of,
                                                                static_cast<Index>(map.size()), map.data());
        MOTES_CUDA_LAUNCHED();
      }
    }
    infinite = arena.download(lists.infinite, 1)[0] != 0;
    fine = level->view();
    if (sizes == nullptr) downloads.emplace_back(level, beside);
  }
  std::vector<CoarseGraph> levels;
  if (sizes != nullptr && level != nullptr) {
    level->coarse_of = std::move(map);
    downloads.emplace_back(level, beside);
  }
  for (Download& download : downloads) levels.push_back(download.get());
  return levels;
}

}  // namespace motes::matching::device
