/// CardinalitySolver::solve: checks of problem and start, the column side, and the choice of CPU or GPU.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

#include <motes/base/for_each_task.h>
#include <motes/base/host_blocks.h>
#include <motes/base/parallel_for.h>
#include <motes/base/timer.h>
#include <motes/matching/cardinality_solver.h>

#include "matching/assignment/canonical/canonical_form.h"

namespace motes::matching {
namespace {

/// Short rows are scanned without a branch, since every other branch of a binary search is mispredicted.
bool has_edge(const BipartiteGraphView& graph, std::size_t row, Index col) {
  constexpr Offset kShort = 32;
  const Offset begin = graph.row_offsets[row], end = graph.row_offsets[row + 1];
  const Index *first = graph.col_index.data() + begin, *last = graph.col_index.data() + end;
  if (end - begin > kShort) return std::binary_search(first, last, col);
  bool found = false;
  for (; first != last; ++first) found |= *first == col;
  return found;
}

/// Calls body(begin, end) on parts of the rows, which returns whether the part is valid.
template <class Body>
bool all_parts_valid(int threads, std::size_t rows, const Body& body) {
  constexpr std::size_t kPart = 1 << 14;
  bool fault = false;
  for_each_block(threads, rows, kPart, [&](std::size_t begin, std::size_t end) {
    if (!body(begin, end)) std::atomic_ref(fault).store(true, std::memory_order_relaxed);
  });
  return !fault;
}

void check_length(const CardinalityProblem& problem, std::span<const Index> start) {
  const auto rows = static_cast<std::size_t>(problem.graph.rows);
  if (!start.empty() && start.size() != rows)
    throw std::invalid_argument("start: " + std::to_string(start.size()) + " rows, but the graph has " +
                                std::to_string(rows));
}

/// Copies the pairs of a start of the right length to the mates. Returns false, and leaves the mates
/// undefined, if a pair is wrong. If several rows have the same column, the last one written stays, and a
/// second pass detects the others: this is cheaper for several threads than an exchange for each pair.
bool enter_start(const CardinalityProblem& problem, std::span<const Index> start, int threads, Mates& mates) {
  const BipartiteGraphView& graph = problem.graph;
  const auto word = [&](Index col) {
    return std::atomic_ref<Index>(mates.col_to_row[static_cast<std::size_t>(col)]);
  };
  constexpr std::size_t kAhead = 16;
  const bool entered = all_parts_valid(threads, start.size(), [&](std::size_t begin, std::size_t end) {
    bool valid = true;
    for (std::size_t i = begin; i < end; ++i) {
      if (const Index ahead = start[std::min(i + kAhead, end - 1)]; ahead >= 0 && ahead < graph.cols)
        __builtin_prefetch(&mates.col_to_row[static_cast<std::size_t>(ahead)], 1);
      const Index j = start[i];
      if (j == -1) continue;
      if (j < 0 || j >= graph.cols) {
        valid = false;
        continue;
      }
      const auto row = static_cast<Index>(i);
      if (threads == 1)
        valid &= std::exchange(mates.col_to_row[static_cast<std::size_t>(j)], row) == -1;
      else
        word(j).store(row, std::memory_order_relaxed);
      if (problem.space == Space::host) valid &= has_edge(graph, i, j);
      mates.row_to_col[i] = j;
    }
    return valid;
  });
  if (threads == 1 || !entered) return entered;
  return all_parts_valid(threads, start.size(), [&](std::size_t begin, std::size_t end) {
    bool valid = true;
    for (std::size_t i = begin; i < end; ++i)
      valid &= start[i] == -1 || word(start[i]).load(std::memory_order_relaxed) == static_cast<Index>(i);
    return valid;
  });
}

/// The number of entries that are -1.
std::int64_t count_free(std::span<const Index> mates, int threads) {
  std::int64_t count = 0;
  all_parts_valid(threads, mates.size(), [&](std::size_t begin, std::size_t end) {
    const auto here = std::count(mates.begin() + static_cast<std::ptrdiff_t>(begin),
                                 mates.begin() + static_cast<std::ptrdiff_t>(end), Index{-1});
    std::atomic_ref(count).fetch_add(here, std::memory_order_relaxed);
    return true;
  });
  return count;
}

/// Throws for a wrong length, columns out of range or used twice, and, if the graph is in host memory,
/// pairs that are not edges; names the first such pair.
Mates checked_start(const CardinalityProblem& problem, std::span<const Index> start, int threads) {
  const BipartiteGraphView& graph = problem.graph;
  Mates mates = detail::no_mates(graph.rows, graph.cols, threads);
  if (enter_start(problem, start, threads, mates)) return mates;
  std::fill(mates.col_to_row.begin(), mates.col_to_row.end(), -1);
  for (std::size_t i = 0; i < start.size(); ++i) {
    const Index j = start[i];
    if (j == -1) continue;
    const auto pair = [&] { return "start: row " + std::to_string(i) + " with column " + std::to_string(j); };
    if (j < 0 || j >= graph.cols) throw std::invalid_argument(pair() + ": there is no such column");
    Index& mate = mates.col_to_row[static_cast<std::size_t>(j)];
    if (mate != -1)
      throw std::invalid_argument(pair() + ": the column is taken by row " + std::to_string(mate));
    if (problem.space == Space::host) {
      if (!has_edge(graph, i, j)) throw std::invalid_argument(pair() + ": that is not an edge");
    }
    mate = static_cast<Index>(i);
    mates.row_to_col[i] = j;
  }
  return mates;
}

}  // namespace

Mates detail::no_mates(Index rows, Index cols, int threads) {
  Mates out;
  // Allocated in this thread, since another thread's heap would keep what this one frees.
  out.row_to_col.reserve(static_cast<std::size_t>(rows));
  out.col_to_row.reserve(static_cast<std::size_t>(cols));
  const auto free_all = [](std::vector<Index>& side, Index count) {
    side.assign(static_cast<std::size_t>(count), -1);
  };
  parallel_for(threads, 2, [&](std::int64_t side) {
    side == 0 ? free_all(out.row_to_col, rows) : free_all(out.col_to_row, cols);
  });
  return out;
}

CardinalityAnswer CardinalitySolver::solve(const Execution& given, const CardinalityProblem& problem,
                                           std::span<const Index> start) const {
  const HostBlocks::Solve kept(given.workspace);
  check_problem(problem, thread_count(given));
  check_length(problem, start);
  CardinalityAnswer answer;
  answer.matching.stats.initial_assignments = std::ssize(start) - count_free(start, thread_count(given));
  // On a device, memory for the answer is allocated and the start is checked while the device works.
  const bool on_device = given.backend == Backend::cuda;
  Mates mates = on_device ? Mates{} : checked_start(problem, start, thread_count(given));
  Execution execution = given;
  execution.threads = thread_count(given);
  if (on_device) {
    try {
      const GivenStart to_enter{start, answer.matching.stats.initial_assignments};
      run_on_device(execution, problem, to_enter, mates, answer.stats);
    } catch (const FaultyStart&) {
      checked_start(problem, start, execution.threads);  // throws, and names the pair
      throw;
    }
  } else {
    if (problem.space == Space::device)
      throw std::invalid_argument("a graph in device memory needs the cuda back end");
    TwoSidedGraph graph{problem.graph.rows, problem.graph.cols, problem.graph.row_offsets.data(),
                        problem.graph.col_index.data()};
    Transposed columns;
    if (needs_columns()) {
      if (problem.col_offsets.empty()) {
        const auto begin = std::chrono::steady_clock::now();
        columns = transpose(problem.graph, execution.threads);
        graph.col_offsets = columns.col_offsets.data();
        graph.row_index = columns.row_index.data();
        answer.stats.seconds["transpose"] = seconds_since(begin);
      } else {
        graph.col_offsets = problem.col_offsets.data();
        graph.row_index = problem.row_index.data();
      }
    }
    run(execution, graph, mates, answer.stats);
  }
  Matching& matching = answer.matching;
  matching.row_to_col = std::move(mates.row_to_col);
  matching.col_to_row = std::move(mates.col_to_row);
  matching.status = Status::optimal;
  matching.cardinality =
      on_device ? matching.stats.initial_assignments + answer.stats.augmentations
                : std::ssize(matching.row_to_col) - count_free(matching.row_to_col, execution.threads);
  matching.objective = matching.dual_objective = static_cast<double>(matching.cardinality);
  matching.stats.phases = answer.stats.phases;
  matching.stats.augmentations = answer.stats.augmentations;
  matching.stats.seconds = answer.stats.seconds;
  return answer;
}

void CardinalitySolver::run_on_device(const Execution&, const CardinalityProblem&, const GivenStart&, Mates&,
                                      CardinalityStats&) const {
  throw ResourceError("this solver has no CUDA form; use the cpu back end");
}

}  // namespace motes::matching
