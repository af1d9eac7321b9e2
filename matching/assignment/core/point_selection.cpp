/// Selection from point sets by cells, in both directions. If the gate leaves rows no more pairs than a
/// core would have, the core contains all pairs and is complete.

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <motes/base/for_each_task.h>
#include <motes/base/index.h>

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/assignment/core/selection.h"
#include "matching/points/gated_pairs.h"

namespace motes::matching::detail {
namespace {

constexpr Index kRowsPerTask = 1024;
constexpr double kPointsPerCell = 2;
constexpr Index kSampledRows = 256;
constexpr Offset kCompleteFactor = 2;  ///< times `wanted` pairs per row within the gate: all are taken

/// The pairs of the rows `mine`, from pick(row, scratch, pairs) which may leave them in any order.
template <class Pick>
void gather(int threads, const Block& mine, SparseCosts& core, const Pick& pick) {
  std::vector<CorePart> parts(at((mine.count + kRowsPerTask - 1) / kRowsPerTask));
  for_each_block(threads, mine.count, kRowsPerTask, [&](Index begin, Index end) {
    CorePart& part = parts[at(begin / kRowsPerTask)];
    std::vector<CellGrid::Found> found;
    std::vector<CorePair> pairs;
    for (Index i = begin; i < end; ++i) {
      pairs.clear();
      pick(mine.first + i, found, pairs);
      std::sort(pairs.begin(), pairs.end(), by_column);
      part.pairs.insert(part.pairs.end(), pairs.begin(), pairs.end());
      part.count.push_back(static_cast<Index>(pairs.size()));
    }
  });
  unite(threads, kRowsPerTask, parts, core);
}

Offset pairs_of_a_row(const GeometricEntries& e, const CellGrid& grid) {
  const Index sampled = std::min(e.rows, kSampledRows);
  Offset pairs = 0;
  for (Index k = 0; k < sampled; ++k)
    for_each_within_gate(e, grid, static_cast<Index>(Offset{k} * e.rows / sampled),
                         [&](Index, Cost) { ++pairs; });
  return sampled == 0 ? 0 : pairs / sampled;
}

/// The pairs that columns choose with the rows `mine`, [mine.count] of columns. Each rank asks for some of
/// the columns.
std::vector<std::vector<Index>> chosen_by_columns(int threads, const GeometricEntries& e, double farthest,
                                                  Index wanted, const Block& mine, Communicator* ranks) {
  const CellGrid grid(e.row_x, e.row_y, e.row_z, e.rows, kPointsPerCell);
  const Block asked = ranks == nullptr ? Block{0, e.cols} : block_of(e.cols, ranks->rank(), ranks->size());
  std::vector<Index> rows(at(asked.count) * at(wanted), -1);
  for_each_block(threads, asked.count, kRowsPerTask, [&](Index begin, Index end) {
    std::vector<CellGrid::Found> found;
    for (Index place = begin; place < end; ++place) {
      const Index j = asked.first + place;
      grid.nearest(col_place(e, j), wanted, farthest, first_choice(j, e.rows), found);
      for (std::size_t k = 0; k < found.size(); ++k) rows[at(place) * at(wanted) + k] = found[k].point;
    }
  });
  if (ranks != nullptr) rows = ranks->all_gather<Index>(rows);
  std::vector<std::vector<Index>> out(at(mine.count));
  for (Index j = 0; j < e.cols; ++j)
    for (Index k = 0; k < wanted; ++k)
      if (const Index i = rows[at(j) * at(wanted) + at(k)] - mine.first; i >= 0 && i < mine.count)
        out[at(i)].push_back(j);
  return out;
}

}  // namespace

CoreSelection select_core(const Execution& execution, const GeometricEntries& e, Offset wanted,
                          Index of_columns) {
  return select_point_core(execution, e, wanted, of_columns, {0, e.rows});
}

CoreSelection select_point_core(const Execution& execution, const GeometricEntries& e, Offset wanted,
                                Index of_columns, const Block& mine, Communicator* ranks) {
  if (e.rows == 0 || e.cols == 0) return {};
  const int threads = thread_count(execution);
  CoreSelection out;
  out.core.graph.rows = mine.count;
  out.core.graph.cols = e.cols;
  const CellGrid grid(e.col_x, e.col_y, e.col_z, e.cols, kPointsPerCell);
  const double farthest = farthest_of(e);
  if (std::isfinite(e.gate) && pairs_of_a_row(e, grid) <= kCompleteFactor * wanted) {
    gather(threads, mine, out.core, [&](Index i, auto&, auto& pairs) {
      for_each_within_gate(e, grid, i, [&](Index j, Cost cost) { pairs.push_back({j, cost}); });
    });
    out.bound.assign(at(mine.count), kBoundOfAll);
    out.complete = true;
    return out;
  }
  std::vector<std::vector<Index>> more;
  if (of_columns > 0)
    more = chosen_by_columns(threads, e, farthest, std::min(of_columns, e.rows), mine, ranks);
  out.bound.resize(at(mine.count));
  gather(threads, mine, out.core, [&](Index i, auto& found, auto& pairs) {
    const bool all = grid.nearest(row_place(e, i), static_cast<Index>(std::min<Offset>(wanted, e.cols)),
                                  farthest, first_choice(i, e.cols), found);
    Cost highest = -kBoundOfAll;
    bool gated = false;
    for (const auto& [squared, j] : found) {
      const Cost cost = e.at(i, j);
      if (cost == kInfiniteCost) {  // the gate lies below: all pairs within it were met
        gated = true;
        continue;
      }
      pairs.push_back({j, cost});
      highest = std::max(highest, cost);
    }
    out.bound[at(i - mine.first)] = all || gated ? kBoundOfAll : highest - 1;
    if (more.empty()) return;
    const std::size_t own = pairs.size();
    for (const Index j : more[at(i - mine.first)]) {
      const Cost cost = e.at(i, j);
      const auto same = [&](const CorePair& p) { return p.col == j; };
      if (cost != kInfiniteCost &&
          std::none_of(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(own), same))
        pairs.push_back({j, cost});
    }
  });
  return out;
}

}  // namespace motes::matching::detail
