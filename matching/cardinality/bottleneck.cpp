/// The curve. A forest of alternating trees grows from all free rows along the shortest edge that any of its
/// rows has not looked at, wherever that leads; the longest edge taken so far is the threshold. As long as no
/// free column is met, the forest holds all that alternating paths of such edges reach, so that the matching
/// is maximum below the threshold (Berge), and the first path found is the first there is. The tree that had
/// it is then taken out; its columns are offered again by the edges of other trees' rows that passed them by.
///
/// The smallest threshold of one size bisects instead: any solver, in any number of threads, does the work.
#include "matching/cardinality/bottleneck.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <stdexcept>

#include "matching/detail/canonical.h"
#include "matching/registry.h"

namespace motes::matching {
namespace {

std::size_t at(Offset k) { return static_cast<std::size_t>(k); }

void require_host(const SparseCostsView& problem) {
  if (problem.space == Space::device) throw std::invalid_argument("bottleneck: the problem lies on a device");
  check_problem(problem);
}

class Growth {
 public:
  explicit Growth(const SparseCostsView& problem)
      : graph_(problem.graph),
        length_(problem.cost.begin(), problem.cost.end()),
        col_(graph_.col_index.begin(), graph_.col_index.end()),
        row_to_col_(at(graph_.rows), -1),
        root_(at(graph_.rows), -1),
        version_(at(graph_.rows), 0),
        cursor_(at(graph_.rows), 0),
        tree_cols_(at(graph_.rows), -1),
        col_to_row_(at(graph_.cols), -1),
        parent_(at(graph_.cols), -1),
        next_in_tree_(at(graph_.cols), -1),
        reached_(at(graph_.cols), 0) {
    sort_rows();
    index_columns();
  }

  std::vector<Cost> run() {
    for (Index i = 0; i < graph_.rows; ++i) join(i, i);
    Cost longest = std::numeric_limits<Cost>::min();
    std::vector<Cost> thresholds;
    while (!offers_.empty()) {
      const Offer offer = offers_.top();
      offers_.pop();
      if (version_[at(offer.row)] != offer.version) continue;  // its tree was taken out
      if (offer.edge == cursor_[at(offer.row)]) {
        ++cursor_[at(offer.row)];
        offer_next(offer.row);
      }
      const Index j = col_[at(offer.edge)];
      if (reached_[at(j)] != 0) continue;
      longest = std::max(longest, offer.length);
      const Index root = root_[at(offer.row)];
      reached_[at(j)] = 1;
      parent_[at(j)] = offer.row;
      next_in_tree_[at(j)] = std::exchange(tree_cols_[at(root)], j);
      if (col_to_row_[at(j)] != -1) {
        join(col_to_row_[at(j)], root);
      } else {
        thresholds.push_back(longest);
        augment(root, j);
      }
    }
    return thresholds;
  }

 private:
  struct Offer {
    Cost length;
    Offset edge;
    Index row;
    std::uint32_t version;
    bool operator<(const Offer& other) const { return length > other.length; }  // the shortest on top
  };
  struct Place {
    Index row;
    Offset edge;
  };

  void sort_rows() {
    std::vector<std::pair<Cost, Index>> row;
    for (Index i = 0; i < graph_.rows; ++i) {
      const Offset first = graph_.row_offsets[at(i)], last = graph_.row_offsets[at(i) + 1];
      row.clear();
      for (Offset e = first; e < last; ++e) row.emplace_back(length_[at(e)], col_[at(e)]);
      std::sort(row.begin(), row.end());
      for (Offset e = first; e < last; ++e) std::tie(length_[at(e)], col_[at(e)]) = row[at(e - first)];
    }
  }

  void index_columns() {
    col_offsets_.assign(at(graph_.cols) + 1, 0);
    for (const Index j : col_) ++col_offsets_[at(j) + 1];
    std::partial_sum(col_offsets_.begin(), col_offsets_.end(), col_offsets_.begin());
    places_.resize(col_.size());
    std::vector<Offset> end(col_offsets_.begin(), col_offsets_.end() - 1);
    for (Index i = 0; i < graph_.rows; ++i)
      for (Offset e = graph_.row_offsets[at(i)]; e < graph_.row_offsets[at(i) + 1]; ++e)
        places_[at(end[at(col_[at(e)])]++)] = {i, e};
  }

  void join(Index row, Index root) {
    root_[at(row)] = root;
    cursor_[at(row)] = graph_.row_offsets[at(row)];
    offer_next(row);
  }
  void offer_next(Index row) {
    const Offset e = cursor_[at(row)];
    if (e < graph_.row_offsets[at(row) + 1]) offers_.push({length_[at(e)], e, row, version_[at(row)]});
  }
  void leave(Index row) {
    root_[at(row)] = -1;
    ++version_[at(row)];
  }

  void augment(Index root, Index end) {
    leave(root);
    for (Index j = tree_cols_[at(root)]; j != -1; j = next_in_tree_[at(j)]) {
      reached_[at(j)] = 0;
      if (col_to_row_[at(j)] != -1) leave(col_to_row_[at(j)]);
    }
    for (Index j = end; j != -1;) {
      const Index row = parent_[at(j)];
      col_to_row_[at(j)] = row;
      j = std::exchange(row_to_col_[at(row)], j);
    }
    for (Index j = tree_cols_[at(root)]; j != -1; j = next_in_tree_[at(j)])
      for (Offset k = col_offsets_[at(j)]; k < col_offsets_[at(j) + 1]; ++k) {
        const auto [row, edge] = places_[at(k)];
        if (root_[at(row)] != -1 && edge < cursor_[at(row)])
          offers_.push({length_[at(edge)], edge, row, version_[at(row)]});
      }
    tree_cols_[at(root)] = -1;
  }

  BipartiteGraphView graph_;
  std::vector<Cost> length_;  ///< [nnz] each row's edges, the shortest first
  std::vector<Index> col_;    ///< [nnz] likewise
  std::vector<Index> row_to_col_;
  std::vector<Index> root_;             ///< [rows] of the row's tree; -1: in none
  std::vector<std::uint32_t> version_;  ///< [rows] offers of an older one are void
  std::vector<Offset> cursor_;          ///< [rows] the first edge that was not offered yet
  std::vector<Index> tree_cols_;        ///< [rows] of a root: one column of its tree, linked to the others
  std::vector<Index> col_to_row_;
  std::vector<Index> parent_;        ///< [cols] the row that reached it
  std::vector<Index> next_in_tree_;  ///< [cols]
  std::vector<char> reached_;        ///< [cols]
  std::vector<Offset> col_offsets_;
  std::vector<Place> places_;  ///< [nnz] edges by column
  std::priority_queue<Offer> offers_;
};

/// The edges not longer than `threshold`.
BipartiteGraph within(const SparseCostsView& problem, Cost threshold, int threads) {
  const BipartiteGraphView& all = problem.graph;
  BipartiteGraph out;
  out.rows = all.rows, out.cols = all.cols;
  out.row_offsets.assign(at(all.rows) + 1, 0);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (Index i = 0; i < all.rows; ++i)
    out.row_offsets[at(i) + 1] = std::count_if(problem.cost.begin() + all.row_offsets[at(i)],
                                               problem.cost.begin() + all.row_offsets[at(i) + 1],
                                               [&](Cost length) { return length <= threshold; });
  std::partial_sum(out.row_offsets.begin(), out.row_offsets.end(), out.row_offsets.begin());
  out.col_index.resize(at(out.row_offsets.back()));
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (Index i = 0; i < all.rows; ++i) {
    Offset to = out.row_offsets[at(i)];
    for (Offset e = all.row_offsets[at(i)]; e < all.row_offsets[at(i) + 1]; ++e)
      if (problem.cost[at(e)] <= threshold) out.col_index[at(to++)] = all.col_index[at(e)];
  }
  return out;
}

Matching maximum_matching(const Execution& execution, const BipartiteGraphView& graph,
                          std::span<const Index> start) {
  const auto solver = make_cardinality_solver(choose_cardinality_solver(graph).info->name);
  return solver->solve(execution, {graph, {}, {}, Space::host}, start).matching;
}

Cost length_of(const SparseCostsView& problem, Index row, Index col) {
  const auto first = problem.graph.col_index.begin();
  const auto found = std::lower_bound(first + problem.graph.row_offsets[at(row)],
                                      first + problem.graph.row_offsets[at(row) + 1], col);
  return problem.cost[at(found - first)];
}

/// Keeps the `count` shortest pairs; returns the longest of them.
Cost trim(const SparseCostsView& problem, Matching& matching, std::int64_t count) {
  std::vector<std::pair<Cost, Index>> pairs;
  for (Index i = 0; i < problem.graph.rows; ++i)
    if (const Index j = matching.row_to_col[at(i)]; j != -1) pairs.emplace_back(length_of(problem, i, j), i);
  std::sort(pairs.begin(), pairs.end());
  for (std::size_t k = at(count); k < pairs.size(); ++k) {
    Index& mate = matching.row_to_col[at(pairs[k].second)];
    matching.col_to_row[at(mate)] = -1;
    mate = -1;
  }
  matching.cardinality = count;
  matching.objective = matching.dual_objective = static_cast<double>(count);
  return pairs[at(count - 1)].first;
}

/// Calls visit(length, touched) for every edge.
template <class Visit>
void for_each_edge(const SparseCostsView& problem, const VertexCover& cover, const Visit& visit) {
  const BipartiteGraphView& graph = problem.graph;
  std::vector<char> row_in(at(graph.rows), 0), col_in(at(graph.cols), 0);
  for (const Index i : cover.rows) row_in[at(i)] = 1;
  for (const Index j : cover.cols) col_in[at(j)] = 1;
  for (Index i = 0; i < graph.rows; ++i)
    for (Offset e = graph.row_offsets[at(i)]; e < graph.row_offsets[at(i) + 1]; ++e)
      visit(problem.cost[at(e)], row_in[at(i)] != 0 || col_in[at(graph.col_index[at(e)])] != 0);
}

std::int64_t wanted_pairs(std::int64_t maximum, double share) {
  if (!(share > 0 && share <= 1))
    throw std::invalid_argument("bottleneck: the share must be above 0 and at most 1");
  // A share such as .99 is not exact: .99 of 100 must not become 100.
  const double pairs = std::ceil(share * static_cast<double>(maximum) * (1 - 1e-12));
  return std::min(maximum, static_cast<std::int64_t>(pairs));
}

}  // namespace

std::int64_t BottleneckCurve::cardinality_within(Cost length) const {
  return std::upper_bound(threshold.begin(), threshold.end(), length) - threshold.begin();
}

BottleneckCurve bottleneck_curve(const SparseCostsView& problem) {
  require_host(problem);
  return {Growth(problem).run()};
}

Bottleneck smallest_threshold(const Execution& given, const SparseCostsView& problem, double share) {
  require_host(problem);
  Execution execution = given;
  execution.backend = Backend::cpu;
  execution.threads = detail::thread_count(given);
  const CardinalityProblem whole{problem.graph, {}, {}, Space::host};
  Bottleneck out;
  out.matching = maximum_matching(execution, problem.graph, {});
  out.whole = koenig_cover(whole, out.matching);
  out.maximum = out.matching.cardinality;
  out.wanted = wanted_pairs(out.maximum, share);
  if (out.wanted == 0) return out;

  out.threshold = trim(problem, out.matching, out.wanted);
  // The answer is at most out.threshold, and one of the lengths that are left.
  std::vector<Cost> lengths(problem.cost.begin(), problem.cost.end());
  std::vector<Index> start;  // the matching of the largest threshold that was too small
  std::erase_if(lengths, [&](Cost length) { return length >= out.threshold; });
  while (!lengths.empty()) {
    const auto middle = lengths.begin() + std::ssize(lengths) / 2;
    std::nth_element(lengths.begin(), middle, lengths.end());
    const BipartiteGraph graph = within(problem, *middle, execution.threads);
    Matching found = maximum_matching(execution, graph.view(), start);
    if (found.cardinality >= out.wanted) {
      out.threshold = trim(problem, found, out.wanted);
      out.matching = std::move(found);
      std::erase_if(lengths, [&](Cost length) { return length >= out.threshold; });
    } else {
      // No matching of so many pairs before an edge comes in that the cover does not touch.
      out.below = koenig_cover({graph.view(), {}, {}, Space::host}, found);
      Cost least = kInfiniteCost;
      for_each_edge(problem, out.below,
                    [&](Cost length, bool touched) { least = touched ? least : std::min(least, length); });
      start = std::move(found.row_to_col);
      std::erase_if(lengths, [&](Cost length) { return length < least; });
    }
  }
  return out;
}

std::string fault_of(const SparseCostsView& problem, double share, const Bottleneck& answer) {
  require_host(problem);
  const BipartiteGraph graph = within(problem, answer.threshold, 1);
  const CardinalityProblem all{problem.graph, {}, {}, Space::host};
  const auto matched = verify({graph.view(), {}, {}, Space::host}, answer.matching, {});
  if (!matched.matching_valid) return "at the threshold: " + matched.fault;
  if (answer.wanted != wanted_pairs(answer.maximum, share))
    return "the share asks for another number of pairs";
  if (answer.matching.cardinality != answer.wanted)
    return "the matching does not have as many pairs as are wanted";
  // That no more than `maximum` pairs are possible; that as many are is seen from a matching of its own.
  const auto cover = verify(all, answer.matching, answer.whole);
  if (!cover.cover_valid) return "the whole graph: " + cover.fault;
  if (answer.whole.size() != answer.maximum) return "the whole graph's cover is not of the maximum's size";
  if (maximum_matching({1}, problem.graph, answer.matching.row_to_col).cardinality != answer.maximum)
    return "the whole graph holds fewer pairs than was said";
  if (answer.wanted == 0) return {};
  if (answer.below.size() >= answer.wanted) return "the cover below the threshold is too large";
  for (const Index i : answer.below.rows)
    if (i < 0 || i >= problem.graph.rows) return "the cover below the threshold has a row that is not there";
  for (const Index j : answer.below.cols)
    if (j < 0 || j >= problem.graph.cols)
      return "the cover below the threshold has a column that is not there";
  std::string fault;
  for_each_edge(problem, answer.below, [&](Cost length, bool touched) {
    if (!touched && length < answer.threshold) fault = "an edge shorter than the threshold is not touched";
  });
  return fault;
}

}  // namespace motes::matching
