/// Selection from point sets by cells, in both directions. If the gate leaves rows no more pairs than a
/// core would have, the core contains all pairs and is complete.

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/assignment/core/selection.h"
#include "matching/points/cell_grid.h"

namespace motes::matching::detail {
namespace {

constexpr Index kRowsPerTask = 1024;
constexpr double kPointsPerCell = 2;
constexpr Index kSampledRows = 256;
constexpr Offset kCompleteFactor = 2;  ///< times `wanted` pairs a row within the gate: all are taken

CellGrid::Place row_place(const GeometricEntries& e, Index i) {
  return {e.row_x[i], e.row_y[i], e.row_z == nullptr ? 0 : e.row_z[i]};
}

/// A squared distance that no pair within the gate passes. Which of those up to it lie within is for the
/// entries to say.
double farthest_of(const GeometricEntries& e) { return e.gate * e.gate * (1 + 0x1p-40); }

/// Rows' pairs, from pick(row, grid, scratch, pairs) which may leave them in any order.
template <class Pick>
void gather(int threads, const GeometricEntries& e, SparseCosts& core, const Pick& pick) {
  const Index tasks = (e.rows + kRowsPerTask - 1) / kRowsPerTask;
  std::vector<CorePart> parts(at(tasks));
  parallel_for(threads, tasks, [&](std::int64_t task) {
    CorePart& part = parts[at(task)];
    std::vector<CellGrid::Found> found;
    std::vector<CorePair> pairs;
    const Index begin = static_cast<Index>(task) * kRowsPerTask,
                end = std::min<Index>(e.rows, begin + kRowsPerTask);
    for (Index i = begin; i < end; ++i) {
      pairs.clear();
      pick(i, found, pairs);
      std::sort(pairs.begin(), pairs.end(),
                [](const CorePair& a, const CorePair& b) { return a.col < b.col; });
      part.pairs.insert(part.pairs.end(), pairs.begin(), pairs.end());
      part.count.push_back(static_cast<Index>(pairs.size()));
    }
  });
  unite(threads, kRowsPerTask, parts, core);
}

void all_within_gate(const GeometricEntries& e, const CellGrid& grid, double farthest, Index i,
                     std::vector<CorePair>& pairs) {
  const auto from = row_place(e, i);
  grid.for_each_shell(
      from,
      [&](Index c) {
        const auto [begin, end] = grid.cell(c);
        for (Index p = begin; p < end; ++p) {
          if (grid.squared_to(from, p) > farthest) continue;
          const Cost cost = e.at(i, grid.point_at(p));
          if (cost != kInfiniteCost) pairs.push_back({grid.point_at(p), cost});
        }
      },
      [&](double outside) { return outside <= farthest; });
}

Offset pairs_of_a_row(const GeometricEntries& e, const CellGrid& grid, double farthest) {
  const Index sampled = std::min(e.rows, kSampledRows);
  std::vector<CorePair> pairs;
  for (Index k = 0; k < sampled; ++k)
    all_within_gate(e, grid, farthest, static_cast<Index>(Offset{k} * e.rows / sampled), pairs);
  return sampled == 0 ? 0 : static_cast<Offset>(pairs.size()) / sampled;
}

/// The pairs that columns choose, [rows] of columns.
std::vector<std::vector<Index>> chosen_by_columns(int threads, const GeometricEntries& e, double farthest,
                                                  Index wanted) {
  const CellGrid grid(e.row_x, e.row_y, e.row_z, e.rows, kPointsPerCell);
  std::vector<Index> rows(at(e.cols) * at(wanted), -1);
  const Index tasks = (e.cols + kRowsPerTask - 1) / kRowsPerTask;
  parallel_for(threads, tasks, [&](std::int64_t task) {
    std::vector<CellGrid::Found> found;
    const Index begin = static_cast<Index>(task) * kRowsPerTask,
                end = std::min<Index>(e.cols, begin + kRowsPerTask);
    for (Index j = begin; j < end; ++j) {
      grid.nearest({e.col_x[j], e.col_y[j], e.col_z == nullptr ? 0 : e.col_z[j]}, wanted, farthest,
                   static_cast<Index>(Offset{j} * 7919 % e.rows), found);
      for (std::size_t k = 0; k < found.size(); ++k) rows[at(j) * at(wanted) + k] = found[k].point;
    }
  });
  std::vector<std::vector<Index>> out(at(e.rows));
  for (Index j = 0; j < e.cols; ++j)
    for (Index k = 0; k < wanted; ++k)
      if (const Index i = rows[at(j) * at(wanted) + at(k)]; i != -1) out[at(i)].push_back(j);
  return out;
}

}  // namespace

template <>
CoreSelection select_core(const Execution& execution, const GeometricEntries& e, Offset wanted,
                          Index of_columns, const DistributedRows&) {
  if (e.rows == 0 || e.cols == 0) return {};
  const int threads = thread_count(execution);
  CoreSelection out;
  out.core.graph.rows = e.rows;
  out.core.graph.cols = e.cols;
  const CellGrid grid(e.col_x, e.col_y, e.col_z, e.cols, kPointsPerCell);
  const double farthest = farthest_of(e);
  if (std::isfinite(e.gate) && pairs_of_a_row(e, grid, farthest) <= kCompleteFactor * wanted) {
    gather(threads, e, out.core,
           [&](Index i, auto&, auto& pairs) { all_within_gate(e, grid, farthest, i, pairs); });
    out.bound.assign(at(e.rows), kBoundOfAll);
    out.complete = true;
    return out;
  }
  std::vector<std::vector<Index>> more;
  if (of_columns > 0) more = chosen_by_columns(threads, e, farthest, std::min(of_columns, e.rows));
  out.bound.resize(at(e.rows));
  gather(threads, e, out.core, [&](Index i, auto& found, auto& pairs) {
    const bool all = grid.nearest(row_place(e, i), static_cast<Index>(std::min<Offset>(wanted, e.cols)),
                                  farthest, static_cast<Index>(Offset{i} * 7919 % e.cols), found);
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
    out.bound[at(i)] = all || gated ? kBoundOfAll : highest - 1;
    if (more.empty()) return;
    const std::size_t mine = pairs.size();
    for (const Index j : more[at(i)]) {
      const Cost cost = e.at(i, j);
      const auto same = [&](const CorePair& p) { return p.col == j; };
      if (cost != kInfiniteCost &&
          std::none_of(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(mine), same))
        pairs.push_back({j, cost});
    }
  });
  return out;
}

}  // namespace motes::matching::detail
