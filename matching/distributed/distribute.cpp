/// Distributes a problem over ranks: each cuts out its rows or columns.

#include <optional>
#include <stdexcept>
#include <utility>

#include <motes/base/index.h>

#include "matching/distributed/distributed_problem.h"
#include "matching/instances/rows_wanted.h"

namespace motes::matching {
namespace {

DenseCosts cut(const DenseCosts& whole, Split split, const Block& mine) {
  DenseCosts part;
  part.rows = split == Split::rows ? mine.count : whole.rows;
  part.cols = split == Split::rows ? whole.cols : mine.count;
  part.fraction_bits = whole.fraction_bits;
  std::visit(
      [&](const auto& entries) {
        std::decay_t<decltype(entries)> kept;
        const auto from = [&](Index row, Index col) {
          return entries.begin() + static_cast<Offset>(row) * whole.cols + col;
        };
        if (split == Split::rows) {
          kept.assign(from(mine.first, 0), from(mine.first + mine.count, 0));
        } else {
          kept.reserve(at(part.rows) * at(part.cols));
          for (Index i = 0; i < whole.rows; ++i)
            kept.insert(kept.end(), from(i, mine.first), from(i, mine.first) + mine.count);
        }
        part.entries = std::move(kept);
      },
      whole.entries);
  return part;
}

SparseCosts cut(const SparseCosts& whole, Split split, const Block& mine) {
  SparseCosts part;
  const bool by_rows = split == Split::rows;
  part.graph.rows = by_rows ? mine.count : whole.graph.rows;
  part.graph.cols = by_rows ? whole.graph.cols : mine.count;
  part.fraction_bits = whole.fraction_bits;
  const Index first_row = by_rows ? mine.first : 0, first_col = by_rows ? 0 : mine.first;
  for (Index i = 0; i < part.graph.rows; ++i) {
    const std::size_t row = at(first_row + i);
    for (Offset e = whole.graph.row_offsets[row]; e < whole.graph.row_offsets[row + 1]; ++e) {
      const Index col = whole.graph.col_index[at(e)] - first_col;
      if (col < 0 || col >= part.graph.cols) continue;
      part.graph.col_index.push_back(col);
      part.cost.push_back(whole.cost[at(e)]);
    }
    part.graph.row_offsets.push_back(static_cast<Offset>(part.graph.col_index.size()));
  }
  return part;
}

/// Sets the unmatched cost of every vertex. Without one, the smaller side must be matched, and the larger
/// side may stay free at no cost.
void set_unmatched(DistributedCosts& costs, std::optional<Cost> cost) {
  const bool rows = cost || costs.rows > costs.cols, cols = cost || costs.cols > costs.rows;
  costs.unmatched_row_cost.assign(rows ? at(costs.rows) : 0, cost.value_or(0));
  costs.unmatched_col_cost.assign(cols ? at(costs.cols) : 0, cost.value_or(0));
}

GeometricCosts cut(GeometricCosts& whole, Split, const Block&) { return std::move(whole); }

}  // namespace

bool runs_on_ranks(std::string_view solver) {
  return solver == "hungarian" || solver == "hungarian-tree" || solver == "jv";
}

Split detail::split_for(std::string_view solver, const CostsView& outline) {
  if (!runs_on_ranks(solver))
    throw std::invalid_argument(std::string(solver) +
                                " has no form for several ranks; use jv, hungarian-tree or hungarian");
  const bool rows = (solver != "hungarian-tree") != orient_sides(outline).exchanged;
  return rows ? Split::rows : Split::columns;
}

void detail::refuse_graph_on_ranks(const CostsView& problem) {
  if (std::holds_alternative<SparseCostsView>(problem))
    throw std::invalid_argument(
        "jv on several ranks takes full matrices and points only; use hungarian-tree for graphs");
}

Split split_of(std::string_view solver, const CostsView& problem) {
  if (solver == "jv") detail::refuse_graph_on_ranks(problem);
  return detail::split_for(solver, problem);
}

DistributedCosts distribute(const Communicator& ranks, Split split, Costs&& whole) {
  DistributedCosts out;
  const CostsView view = view_of(whole);
  out.rows = rows_of(view);
  out.cols = cols_of(view);
  out.split = split;
  out.mine = block_of(split == Split::rows ? out.rows : out.cols, ranks.rank(), ranks.size());
  std::visit(
      [&](auto& costs) {
        out.unmatched_row_cost = std::move(costs.unmatched_row_cost);
        out.unmatched_col_cost = std::move(costs.unmatched_col_cost);
        costs.unmatched_row_cost.clear();
        costs.unmatched_col_cost.clear();
        out.part = cut(costs, split, out.mine);
      },
      whole);
  return out;
}

DistributedCosts distribute_generated(const Communicator& ranks, const Execution& execution,
                                      std::string_view solver, std::string_view text) {
  Block mine;
  instances::RowsWanted wanted;
  wanted.choose = [&](Index rows, Index cols, bool unmatched) -> std::optional<Block> {
    DistributedCosts outline;
    outline.rows = rows, outline.cols = cols;
    set_unmatched(outline, unmatched ? std::optional<Cost>(0) : std::nullopt);
    if (detail::split_for(solver, detail::outline_of(outline)) != Split::rows) return std::nullopt;
    return mine = block_of(rows, ranks.rank(), ranks.size());
  };
  Costs costs = instances::generate_rows(execution, text, wanted);
  if (!wanted.made) {
    const Split split = split_of(solver, view_of(costs));
    return distribute(ranks, split, std::move(costs));
  }
  DistributedCosts out;
  out.rows = wanted.all_rows;
  out.cols = cols_of(view_of(costs));
  out.mine = mine;
  set_unmatched(out, wanted.unmatched);
  out.part = std::move(costs);
  return out;
}

}  // namespace motes::matching
