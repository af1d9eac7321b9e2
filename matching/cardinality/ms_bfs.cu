/// ms-bfs and ms-bfs-graft on the GPU: one launch of forest_kernels.cuh, and what goes in and comes out.

#include <algorithm>
#include <numeric>

#include "matching/cardinality/forest_kernels.cuh"
#include "matching/cardinality/on_device.h"
#include "matching/init/cheap_device.cuh"

namespace motes::matching::device {
namespace forests {
namespace {

template <int kLanes>
void launch(const Arena& arena, Forest f) {
  const Offset wanted = std::max<Offset>(1, (Offset{f.graph.rows} * kLanes + kBlock - 1) / kBlock);
  const auto blocks = static_cast<unsigned>(std::min<Offset>(arena.multiprocessors(), wanted));
  void* arguments[] = {&f};
  MOTES_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(forest_kernel<kLanes>), blocks, kBlock,
                                         arguments, 0, arena.stream()));
}

void tell_stats(const Report& report, const std::vector<int>& level_rows, CardinalityStats& stats) {
  stats.phases += report.phases;
  stats.edges_traversed += static_cast<std::int64_t>(report.edges);
  stats.path_edges += static_cast<std::int64_t>(report.path_edges);
  int level = 0;
  for (int k = 0; k < std::min(report.phases, kRecords); ++k) {
    stats.levels.push_back(report.levels[k]);
    stats.augmented.push_back(report.gained[k]);
    const int end = std::min(level + report.levels[k], report.levels_told);
    stats.frontiers.emplace_back(level_rows.begin() + level, level_rows.begin() + end);
    level = end;
  }
  const auto second = [&](const char* step, unsigned long long nanoseconds) {
    stats.seconds[step] += 1e-9 * static_cast<double>(nanoseconds);
  };
  second("top_down", report.down_ns);
  second("top_down_alone", report.alone_ns);
  second("bottom_up", report.up_ns);
  second("augment", report.augment_ns);
  second("graft", report.graft_ns);
}

}  // namespace
}  // namespace forests

bool grow_forests(const Execution& execution, const CardinalityProblem& problem, const MsBfsOptions& options,
                  std::int64_t edges_at_most, Mates& mates, CardinalityStats& stats) {
  using namespace forests;
  bool done = false;
  with_sides(
      execution, problem, options.direction || options.graft, stats,
      [&](Arena& arena, const DeviceSides& sides) {
        const auto rows = static_cast<std::size_t>(sides.rows), cols = static_cast<std::size_t>(sides.cols);
        const Offset edges = problem.graph.edges();
        const std::size_t stretches = most_stretches(sides.rows, edges);
        const DeviceMates there(arena, rows, cols);
        Forest f{};
        f.graph = sides;
        f.row_to_col = there.row_to_col;
        f.col_to_row = there.col_to_row;
        f.word = arena.take<Word>(cols);
        f.parent = arena.take<Origin>(cols);
        f.row_root = arena.take<unsigned>(rows);
        f.leaf = arena.take<Index>(rows);
        for (Index*& list : f.roots) list = arena.take<Index>(rows);
        for (Index*& list : f.unseen) list = arena.take<Index>(cols);
        for (Stretch*& list : f.frontier) list = arena.take<Stretch>(stretches);
        f.level_rows = arena.take<int>(kLevelRecords);
        f.report = arena.take_filled<Report>(1, 0);
        f.alpha = options.alpha;
        f.edges_at_most = edges_at_most;
        f.direction = options.direction;
        f.graft = options.graft;
        const bool warm = pairs_of(mates) != 0;
        StreamTimer timer(arena.stream());
        there.upload(arena, mates, warm);
        StreamTimer start(arena.stream());
        cheap_start(arena, sides, edges, warm, detail::VisitOrder(sides.rows, 0), f.row_to_col, f.col_to_row);
        start.stop();
        if (edges <= Offset{4} * sides.rows)
          launch<4>(arena, f);
        else
          launch<8>(arena, f);
        timer.stop();
        const std::int64_t augmentations = there.download(arena, mates);
        const std::vector<Report> reports = arena.download(f.report, 1);
        const Report& report = reports[0];
        const std::int64_t paths = std::accumulate(
            report.gained, report.gained + std::min(report.phases, kRecords), std::int64_t{0});
        if (const std::int64_t cheap = augmentations - paths; cheap > 0) {
          ++stats.phases;  // of one level, whose paths are single edges
          stats.levels.push_back(1);
          stats.augmented.push_back(cheap);
          stats.frontiers.push_back({cheap});
          stats.path_edges += cheap;
        }
        tell_stats(report, arena.download(f.level_rows, static_cast<std::size_t>(report.levels_told)), stats);
        stats.augmentations += augmentations;
        stats.seconds["device"] = timer.seconds();
        stats.seconds["start"] = start.seconds();
        done = report.done;
      });
  return done;
}

}  // namespace motes::matching::device
