/// The certificate over the pairs of all ranks: each rank checks its own, then faults and the costs of
/// matched pairs are combined, and certificate.h does the rest.

#include <algorithm>
#include <limits>

#include <motes/base/gpu/device.h>
#include <motes/base/index.h>

#include "matching/assignment/device_problem.h"
#include "matching/certificate.h"
#include "matching/distributed/distributed_problem.h"
#include "matching/pair_faults.h"

namespace motes::matching {
namespace {

/// A pair as one number, in row-major order; kNone: none.
constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
std::int64_t code_of(const detail::Pair& pair) {
  return pair ? static_cast<std::int64_t>(pair.row) << 32 | pair.col : kNone;
}
detail::Pair pair_of(std::int64_t code) {
  if (code == kNone) return {};
  return {static_cast<Index>(code >> 32), static_cast<Index>(code & 0xffffffff)};
}

/// The faults of this rank's pairs.
void look_on_host(const Execution& execution, const DistributedCosts& problem, const Matching& matching,
                  bool duals, detail::EdgeFindings& out) {
  const bool by_rows = problem.split == Split::rows;
  const Index first_row = by_rows ? problem.mine.first : 0, first_col = by_rows ? 0 : problem.mine.first;
  detail::with_part(problem, [&](const auto& entries) {
    detail::find_faults(thread_count(execution), entries, first_row, first_col, matching, duals, out);
  });
}

/// The same on this rank's GPU, for points: of a block of rows, whichever side is distributed.
void look_on_device(const Block& mine, const Execution& here, const DistributedCosts& problem,
                    const Matching& matching, bool duals, detail::EdgeFindings& out) {
  auto points = std::get<GeometricCostsView>(view_of(problem.part));
  for (std::span<const double>* axis : {&points.row_points.x, &points.row_points.y, &points.row_points.z})
    if (!axis->empty()) *axis = axis->subspan(at(mine.first), at(mine.count));
  Matching rows;
  const auto cut = [&](const auto& all) {
    const auto begin = all.begin() + mine.first;
    return std::decay_t<decltype(all)>(begin, begin + mine.count);
  };
  rows.row_to_col = cut(matching.row_to_col);
  if (duals) rows.duals = {cut(matching.duals.u), matching.duals.v};
  const detail::EdgeFindings found = detail::find_faults_on_device(here, points, rows);
  std::copy(found.matched_cost.begin(), found.matched_cost.end(), out.matched_cost.begin() + mine.first);
  const auto of_all = [&](detail::Pair pair) {
    if (pair) pair.row += mine.first;
    return pair;
  };
  out.no_edge = of_all(found.no_edge);
  out.infeasible = of_all(found.infeasible);
  out.loose = of_all(found.loose);
}

}  // namespace

Certificate verify_distributed(Communicator& ranks, const Execution& execution,
                               const DistributedCosts& problem, const Matching& matching) {
  const CostsView outline = detail::outline_of(problem);
  if (!detail::indexable(outline, matching)) return detail::certify(outline, matching, {});
  const bool duals = detail::has_duals(outline, matching);
  const bool by_gpu =
      execution.backend == Backend::cuda && std::holds_alternative<GeometricCosts>(problem.part);
  detail::EdgeFindings found;
  found.matched_cost.assign(at(problem.rows), kInfiniteCost);
  Execution here = execution;
  if (by_gpu) here.device = gpu::device_of_rank(ranks);
  ranks.agreed([&] {
    if (by_gpu)
      look_on_device(block_of(problem.rows, ranks.rank(), ranks.size()), here, problem, matching, duals,
                     found);
    else
      look_on_host(execution, problem, matching, duals, found);
  });
  std::int64_t faults[] = {code_of(found.no_edge), code_of(found.infeasible), code_of(found.loose)};
  ranks.all_reduce(faults, Reduction::min);
  ranks.all_reduce(found.matched_cost, Reduction::min);
  found.no_edge = pair_of(faults[0]);
  found.infeasible = pair_of(faults[1]);
  found.loose = pair_of(faults[2]);
  return detail::certify(outline, matching, found);
}

}  // namespace motes::matching
