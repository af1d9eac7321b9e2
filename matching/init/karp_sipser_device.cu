/// The Karp-Sipser start on the GPU: vertices are peeled (peel_device.cuh), then rows in their order
/// (cheap_device.cuh).

#include "matching/cardinality/device_solvers.h"
#include "matching/init/cheap_device.cuh"
#include "matching/init/peel_device.cuh"

namespace motes::matching::device {

std::vector<Index> karp_sipser_start(const Execution& execution, const CardinalityProblem& problem,
                                     std::uint64_t seed) {
  const auto rows = static_cast<std::size_t>(problem.graph.rows),
             cols = static_cast<std::size_t>(problem.graph.cols);
  std::vector<Index> row_to_col;
  CardinalityStats stats;
  with_sides(execution, problem, true, stats, [&](gpu::Arena& arena, const DeviceSides& sides) {
    auto* mates = arena.take_filled<Index>(rows, 0xff);
    auto* col_mates = arena.take_filled<Index>(cols, 0xff);
    const Peeling peeling = make_peeling(arena, sides);
    peel(arena, sides, problem.graph.edges(), {}, peeling, mates, col_mates);
    cheap_start(arena, sides, problem.graph.edges(), true, detail::VisitOrder(sides.rows, seed), mates,
                col_mates);
    row_to_col = arena.download(mates, rows);
  });
  return row_to_col;
}

}  // namespace motes::matching::device
