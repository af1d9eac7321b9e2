/// Stacks: problems that share a kind, a space, which sides may stay free and which parts of a start are
/// given become one block-diagonal problem. Blocks share no edge, so that an optimum of the stack is an
/// optimum of each block, and its duals prove each: the gap is a sum of terms that are nowhere negative, so
/// that a gap of 0 in all is a gap of 0 in each. What that does not cover (one block infeasible, sums of
/// costs that pass 2^60 only together, faults in the input) is solved one by one.

#include "matching/batch.h"

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "matching/detail/canonical.h"
#include "matching/detail/device_problem.h"
#include "matching/parallel_for.h"

namespace motes::matching {
namespace {

__extension__ typedef __int128 Wide;

constexpr Offset kMostVertices = Offset{1} << 30;  ///< of a side of a stack
constexpr Offset kMostEdges = Offset{1} << 28;     ///< of a stack
constexpr std::size_t kStreams = 3;                ///< dense and geometric problems on a device at once

Start start_of(std::span<const Start> starts, std::size_t k) { return starts.empty() ? Start{} : starts[k]; }

Matching solve_named(const Execution& execution, std::span<const CostsView> problems,
                     const AssignmentSolver& solver, std::span<const Start> starts, std::size_t k) {
  const auto named = [&](const char* what) { return "problem " + std::to_string(k) + ": " + what; };
  try {
    return solver.solve(execution, problems[k], start_of(starts, k));
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(named(error.what()));
  } catch (const ResourceShortage& error) {
    throw ResourceShortage(named(error.what()));
  }
}

/// Solves those of `which` on up to `at_once` threads; on cuda each has a workspace of its own.
void solve_side_by_side(const Execution& execution, std::span<const CostsView> problems,
                        const AssignmentSolver& solver, std::span<const Start> starts,
                        const std::vector<std::size_t>& which, std::size_t at_once,
                        std::vector<Matching>& out) {
  if (which.empty()) return;
  const auto threads = static_cast<std::size_t>(detail::thread_count(execution));
  const std::size_t outer = std::min(which.size(), std::max<std::size_t>(1, at_once));
  Execution inner = execution;
  inner.threads = static_cast<int>(std::max<std::size_t>(1, threads / outer));
  if (inner.threads > 1) omp_set_max_active_levels(std::max(2, omp_get_max_active_levels()));
  std::vector<Workspace> workspaces(outer);
  std::vector<std::exception_ptr> failures(which.size());
  parallel_for(static_cast<int>(outer), static_cast<std::int64_t>(which.size()), [&](std::int64_t w) {
    const auto k = static_cast<std::size_t>(w);
    Execution mine = inner;
    const int thread = omp_get_thread_num();
    if (thread > 0 || mine.workspace == nullptr)
      mine.workspace = &workspaces[static_cast<std::size_t>(thread)];
    try {
      out[which[k]] = solve_named(mine, problems, solver, starts, which[k]);
    } catch (...) {
      failures[k] = std::current_exception();
    }
  });
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

/// What the problems of a stack must have in common.
auto likeness(const SparseCostsView& view, const Start& start) {
  const bool square = view.graph.rows == view.graph.cols;
  return std::tuple(view.space, view.unmatched_row_cost.empty(), view.unmatched_col_cost.empty(),
                    view.unmatched_row_cost.empty() && view.unmatched_col_cost.empty() && square,
                    start.row_to_col.empty(), start.u.empty(), start.v.empty());
}

/// Where a block begins.
struct Corner {
  Index row = 0, col = 0;
};

std::vector<Corner> corners_of(std::span<const SparseCostsView> blocks) {
  std::vector<Corner> corners(blocks.size() + 1);
  for (std::size_t b = 0; b < blocks.size(); ++b)
    corners[b + 1] = {corners[b].row + blocks[b].graph.rows, corners[b].col + blocks[b].graph.cols};
  return corners;
}

/// None where a block reaches into another's columns or edges, which nobody would notice afterwards.
std::optional<SparseCosts> stack_on_host(std::span<const SparseCostsView> blocks) {
  SparseCosts out;
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  for (const SparseCostsView& block : blocks) {
    const Offset edges = out.graph.edges();
    if (block.graph.row_offsets.front() != 0 || block.graph.row_offsets.back() != block.graph.edges())
      return std::nullopt;
    for (std::size_t i = 1; i < block.graph.row_offsets.size(); ++i)
      out.graph.row_offsets.push_back(edges + block.graph.row_offsets[i]);
    for (const Index j : block.graph.col_index) {
      if (j < 0 || j >= block.graph.cols) return std::nullopt;
      out.graph.col_index.push_back(out.graph.cols + j);
    }
    append(out.cost, block.cost);
    append(out.unmatched_row_cost, block.unmatched_row_cost);
    append(out.unmatched_col_cost, block.unmatched_col_cost);
    out.graph.rows += block.graph.rows;
    out.graph.cols += block.graph.cols;
  }
  return out;
}

/// A start for the stack, of parts that are given for every block or for none.
struct StackedStart {
  std::vector<Index> row_to_col;
  std::vector<Cost> u, v;
  /// False where it reaches outside its block.
  bool append(const Start& start, const Corner& corner, Index cols) {
    for (const Index j : start.row_to_col) {
      if (j < -1 || j >= cols) return false;
      row_to_col.push_back(j == -1 ? -1 : corner.col + j);
    }
    u.insert(u.end(), start.u.begin(), start.u.end());
    v.insert(v.end(), start.v.begin(), start.v.end());
    return true;
  }
  Start view() const { return {row_to_col, u, v}; }
};

/// The block's part of a stack's optimal answer.
Matching cut_out(const Matching& stack, const Corner& begin, const Corner& end) {
  const auto part = []<class T>(const std::vector<T>& all, Index from, Index to) {
    return std::vector<T>(all.begin() + from, all.begin() + to);
  };
  Matching out;
  out.status = Status::optimal;
  out.row_to_col = part(stack.row_to_col, begin.row, end.row);
  out.col_to_row = part(stack.col_to_row, begin.col, end.col);
  for (Index& j : out.row_to_col)
    if (j != -1) j -= begin.col, ++out.cardinality;
  for (Index& i : out.col_to_row)
    if (i != -1) i -= begin.row;
  out.duals = {part(stack.duals.u, begin.row, end.row), part(stack.duals.v, begin.col, end.col)};
  Wide sum = 0;
  for (const Cost u : out.duals.u) sum += u;
  for (const Cost v : out.duals.v) sum += v;
  out.objective = out.dual_objective = static_cast<double>(sum);
  return out;
}

/// False where the blocks must be solved one by one.
bool solve_stack(const Execution& execution, std::span<const CostsView> problems,
                 const AssignmentSolver& solver, std::span<const Start> starts,
                 const std::vector<std::size_t>& which, std::vector<Matching>& out) {
  std::vector<SparseCostsView> blocks;
  for (const std::size_t k : which) blocks.push_back(std::get<SparseCostsView>(problems[k]));
  const std::vector<Corner> corners = corners_of(blocks);
  StackedStart start;
  for (std::size_t b = 0; b < blocks.size(); ++b)
    if (!start.append(start_of(starts, which[b]), corners[b], blocks[b].graph.cols)) return false;
  Matching answer;
  try {
    if (blocks[0].space == Space::device) {
      const detail::DeviceStack stack(blocks, execution.device);
      if (!stack.sound()) return false;
      answer = solver.solve(execution, stack.view(), start.view());
    } else {
      const std::optional<SparseCosts> stack = stack_on_host(blocks);
      if (!stack) return false;
      answer = solver.solve(execution, stack->view(), start.view());
    }
  } catch (const std::invalid_argument&) {
    return false;  // one by one, the fault gets its problem's name, if it is one
  }
  if (answer.status != Status::optimal || answer.gap != 0) return false;
  for (std::size_t b = 0; b < blocks.size(); ++b) out[which[b]] = cut_out(answer, corners[b], corners[b + 1]);
  out[which[0]].stats = std::move(answer.stats);
  return true;
}

/// Lengths that a stack can be made of; what they hold is checked by the solver.
bool is_shaped(const SparseCostsView& view, const Start& start) {
  const auto rows = static_cast<std::size_t>(view.graph.rows),
             cols = static_cast<std::size_t>(view.graph.cols);
  const auto fits = [](const auto& span, std::size_t size) { return span.empty() || span.size() == size; };
  return view.graph.rows >= 0 && view.graph.cols >= 0 && view.graph.row_offsets.size() == rows + 1 &&
         view.cost.size() == view.graph.col_index.size() && fits(view.unmatched_row_cost, rows) &&
         fits(view.unmatched_col_cost, cols) && fits(start.row_to_col, rows) && fits(start.u, rows) &&
         fits(start.v, cols);
}

/// Sparse problems by what they have in common, in pieces that are not too large.
std::vector<std::vector<std::size_t>> make_stacks(std::span<const CostsView> problems,
                                                  std::span<const Start> starts,
                                                  std::vector<std::size_t>& others) {
  using Likeness = decltype(likeness(SparseCostsView{}, Start{}));
  struct Pile {
    std::vector<std::size_t> members;
    Offset rows = 0, cols = 0, edges = 0;
  };
  std::map<Likeness, Pile> open;
  std::vector<std::vector<std::size_t>> stacks;
  for (std::size_t k = 0; k < problems.size(); ++k) {
    const auto* view = std::get_if<SparseCostsView>(&problems[k]);
    const Start start = start_of(starts, k);
    if (view == nullptr || !is_shaped(*view, start) || view->graph.rows == 0 || view->graph.cols == 0) {
      others.push_back(k);
      continue;
    }
    Pile& pile = open[likeness(*view, start)];
    if (pile.rows + view->graph.rows > kMostVertices || pile.cols + view->graph.cols > kMostVertices ||
        pile.edges + view->graph.edges() > kMostEdges) {
      stacks.push_back(std::move(pile.members));
      pile = {};
    }
    pile.members.push_back(k);
    pile.rows += view->graph.rows, pile.cols += view->graph.cols, pile.edges += view->graph.edges();
  }
  for (auto& [common, pile] : open) stacks.push_back(std::move(pile.members));
  std::erase_if(stacks, [](const auto& stack) { return stack.empty(); });
  return stacks;
}

}  // namespace

std::vector<Matching> solve_batch(const Execution& execution, std::span<const CostsView> problems,
                                  const AssignmentSolver& solver, std::span<const Start> starts) {
  if (!starts.empty() && starts.size() != problems.size())
    throw std::invalid_argument("solve_batch: " + std::to_string(starts.size()) + " starts for " +
                                std::to_string(problems.size()) + " problems");
  std::vector<Matching> out(problems.size());
  std::vector<std::size_t> one_by_one;
  if (execution.backend != Backend::cuda) {
    for (std::size_t k = 0; k < problems.size(); ++k) one_by_one.push_back(k);
    solve_side_by_side(execution, problems, solver, starts, one_by_one,
                       static_cast<std::size_t>(detail::thread_count(execution)), out);
    return out;
  }
  for (const auto& stack : make_stacks(problems, starts, one_by_one))
    if (stack.size() == 1 || !solve_stack(execution, problems, solver, starts, stack, out))
      one_by_one.insert(one_by_one.end(), stack.begin(), stack.end());
  std::sort(one_by_one.begin(), one_by_one.end());
  solve_side_by_side(execution, problems, solver, starts, one_by_one, kStreams, out);
  return out;
}

}  // namespace motes::matching
