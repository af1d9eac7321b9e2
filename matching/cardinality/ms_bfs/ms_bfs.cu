/// `ms-bfs` and `ms-bfs-graft` on the GPU: the launch of ms_bfs_kernels.cuh, with its input and output.

#include <algorithm>
#include <limits>

#include "matching/cardinality/device_solvers.h"
#include "matching/cardinality/ms_bfs/ms_bfs_kernels.cuh"
#include "matching/cardinality/push_relabel/push_relabel.cuh"
#include "matching/init/cheap_device.cuh"

namespace motes::matching::device {
namespace ms_bfs {
namespace {

template <int kLanes>
void launch(const gpu::Arena& arena, Forest f) {
  const Offset wanted = std::max<Offset>(1, (Offset{f.graph.rows} * kLanes + kBlock - 1) / kBlock);
  const auto blocks = static_cast<unsigned>(std::min<Offset>(arena.multiprocessors(), wanted));
  auto kernel = forest_kernel<kLanes>;
  void* arguments[] = {&f};
  MOTES_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared)));
  MOTES_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), blocks, kBlock, arguments,
                                         sizeof(Shared), arena.stream()));
}

void tell_stats(const Report& report, const std::vector<PhaseRecord>& records,
                const std::vector<int>& level_rows, CardinalityStats& stats) {
  stats.phases += report.phases;
  stats.edges_traversed += static_cast<std::int64_t>(report.edges);
  stats.path_edges += static_cast<std::int64_t>(report.path_edges);
  int level = 0;
  for (const PhaseRecord& record : records) {
    stats.levels.push_back(record.levels);
    stats.augmented.push_back(record.gained);
    const int end = std::min(level + record.levels, report.levels_told);
    stats.frontiers.emplace_back(level_rows.begin() + level, level_rows.begin() + end);
    level = end;
  }
  const auto second = [&](const char* step, unsigned long long nanoseconds) {
    stats.seconds[step] += 1e-9 * static_cast<double>(nanoseconds);
  };
  second("top_down", report.down_ns);
  second("top_down_apart", report.apart_ns);
  second("bottom_up", report.up_ns);
  second("augment", report.augment_ns);
  second("graft", report.graft_ns);
}

/// The approximate memory of a solution in bytes.
std::size_t forest_bytes(const CardinalityProblem& problem) {
  const auto rows = static_cast<std::size_t>(problem.graph.rows),
             cols = static_cast<std::size_t>(problem.graph.cols);
  return rows * (sizeof(unsigned) + 3 * sizeof(Index)) +
         cols * (sizeof(Word) + sizeof(Origin) + 2 * sizeof(Index)) +
         2 * sizeof(EdgeChunk) * most_edge_chunks(problem.graph.rows, problem.graph.edges()) +
         kRecords * sizeof(PhaseRecord) + kLevelRecords * sizeof(int) + sizeof(Report);
}

}  // namespace
}  // namespace ms_bfs

void grow_forests(const Execution& execution, const CardinalityProblem& problem, const MsBfsOptions& options,
                  std::int64_t edges_at_most, const GivenStart& given, Mates& mates,
                  CardinalityStats& stats) {
  using namespace ms_bfs;
  const bool finish = options.finish && fits_push_relabel(problem);
  const auto run = [&](gpu::Arena& arena, const DeviceSides& sides) {
    const auto rows = static_cast<std::size_t>(sides.rows), cols = static_cast<std::size_t>(sides.cols);
    const Offset edges = problem.graph.edges();
    const std::size_t chunks = most_edge_chunks(sides.rows, edges);
    gpu::StreamTimer timer(arena.stream());
    DeviceMates there(arena, rows, cols);
    Forest f{};
    f.graph = sides;
    f.row_to_col = there.row_to_col;
    f.col_to_row = there.col_to_row;
    f.record = arena.take_filled<PhaseRecord>(kRecords, 0);
    f.level_rows = arena.take_filled<int>(kLevelRecords, 0);
    f.report = arena.take_filled<Report>(1, 0);
    const gpu::Arena::Mark before_trees = arena.mark();
    f.word = arena.take<Word>(cols);
    f.parent = arena.take<Origin>(cols);
    f.row_root = arena.take<unsigned>(rows);
    f.leaf = arena.take<Index>(rows);
    for (Index*& list : f.roots) list = arena.take<Index>(rows);
    for (Index*& list : f.unseen) list = arena.take<Index>(cols);
    for (EdgeChunk*& list : f.frontier) list = arena.take<EdgeChunk>(chunks);
    f.alpha = options.alpha;
    f.edges_at_most = finish ? edges_at_most : std::numeric_limits<std::int64_t>::max();
    f.direction = options.direction;
    f.graft = options.graft;
    const bool warm = there.upload(arena, problem, sides, given);
    gpu::StreamTimer start(arena.stream());
    cheap_start(arena, sides, edges, warm, detail::VisitOrder(sides.rows, 0), f.row_to_col, f.col_to_row);
    start.stop();
    if (edges <= Offset{4} * sides.rows)
      launch<4>(arena, f);
    else
      launch<8>(arena, f);
    timer.stop();
    there.make_room(execution, mates);
    const Report report = arena.download(f.report, 1)[0];
    const auto phases = static_cast<std::size_t>(std::min(report.phases, kRecords));
    gpu::StreamTimer rest(arena.stream());
    const pushing::Counters* pushed = nullptr;
    if (!report.done) {
      arena.release(before_trees);
      pushed = enqueue_push_relabel(arena, sides, edges, 0, there);
    }
    rest.stop();
    stats.augmentations += there.download(arena, execution, mates);
    const auto records = arena.download(f.record, phases);
    if (const std::int64_t cheap = sides.rows - report.free_rows - there.given(); cheap > 0) {
      ++stats.phases;  // of one level, whose paths are single edges
      stats.levels.push_back(1);
      stats.augmented.push_back(cheap);
      stats.frontiers.push_back({cheap});
      stats.path_edges += cheap;
    }
    tell_stats(report, records, arena.download(f.level_rows, static_cast<std::size_t>(report.levels_told)),
               stats);
    if (pushed != nullptr) tell_push_relabel(arena, pushed, stats);
    stats.seconds["device"] = timer.seconds() + (pushed != nullptr ? rest.seconds() : 0);
    stats.seconds["start"] = start.seconds();
  };
  with_sides(execution, problem, options.direction || options.graft || finish, stats, run,
             std::max(forest_bytes(problem), finish ? push_relabel_bytes(problem) : 0));
}

}  // namespace motes::matching::device
