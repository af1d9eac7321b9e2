/// Verification of greedy matchings, and upper bounds of the weight.

#include <algorithm>

#include <motes/base/index.h>
#include <motes/matching/matching_weight.h>
#include <motes/matching/verify_greedy.h>

#include "matching/first_row.h"
#include "matching/greedy/weight_keys.h"

namespace motes::matching {
namespace {

using detail::first_row;

std::string name(const char* kind, Offset k) { return kind + (" " + std::to_string(k)); }

/// Describes the first inconsistency of the mates, without a check of edges; empty if there is none.
std::string fault_of_mates(const GreedyProblem& problem, const Matching& answer, int threads) {
  const Index rows = problem.graph.rows, cols = problem.graph.cols;
  const bool general = problem.kind == GraphKind::general;
  const auto& forth = answer.row_to_col;
  const auto& back = general ? answer.row_to_col : answer.col_to_row;
  const char *row = general ? "vertex" : "row", *col = general ? "vertex" : "column";
  if (forth.size() != at(rows) || (!general && back.size() != at(cols)))
    return "matching has the wrong number of " + std::string(general ? "vertices" : "rows or columns");
  const auto disagrees = [&](const auto& one, const auto& other, Index k) {
    const Index mate = one[at(k)];
    return mate != -1 && (mate < 0 || mate >= std::ssize(other) || other[at(mate)] != k);
  };
  const auto side = [&](const auto& one, const auto& other, const char* of, const char* to) -> std::string {
    const auto count = static_cast<Index>(one.size());
    const Index bad = first_row(count, threads, [&](Index k) { return disagrees(one, other, k); });
    if (bad == count) return {};
    const Index mate = one[at(bad)];
    if (mate < 0 || mate >= std::ssize(other))
      return name(of, bad) + " is matched to no " + to + ": " + std::to_string(mate);
    return name(of, bad) + " and " + name(to, mate) + " disagree";
  };
  std::string fault = side(forth, back, row, col);
  if (fault.empty() && !general) fault = side(back, forth, col, row);
  return fault;
}

/// The matching as packed words, with the checks of a pass over all edges.
template <class KeyOf>
class Verifier {
 public:
  Verifier(const GreedyProblem& problem, const Matching& answer, const KeyOf& key_of_entry, int threads)
      : problem_(problem),
        graph_(problem.graph),
        key_of_entry_(key_of_entry),
        general_(problem.kind == GraphKind::general),
        threads_(threads),
        held_(at(graph_.rows), 0),
        held_by_col_(general_ ? 0 : at(graph_.cols), 0) {
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (Index i = 0; i < graph_.rows; ++i) {
      const Index j = answer.row_to_col[at(i)];
      if (j == -1) continue;
      const std::uint32_t key = key_of_entry(entry_of(problem, i, j));
      held_[at(i)] = word(key, vertex_of_col(j));
      if (!general_) held_by_col_[at(j)] = word(key, static_cast<std::uint32_t>(i));
    }
  }

  /// The first entry of a row that is an edge with two free ends; -1: none.
  Offset free_edge(Index i) const {
    if (held_[at(i)] != 0) return -1;
    return find(i, [&](Offset, Index j) { return held_at(j) == 0; });
  }
  /// The first entry of a row that precedes the matched edges of both of its ends; -1: none.
  Offset dominating_edge(Index i) const {
    return find(i, [&](Offset e, Index j) {
      const std::uint32_t key = key_of_entry_(e);
      return word(key, vertex_of_col(j)) > held_[at(i)] &&
             word(key, static_cast<std::uint32_t>(i)) > held_at(j);
    });
  }
  Index first_of(Offset (Verifier::*edge)(Index) const) const {
    return first_row(graph_.rows, threads_, [&](Index i) { return (this->*edge)(i) != -1; });
  }

 private:
  std::uint32_t vertex_of_col(Index j) const {
    return static_cast<std::uint32_t>(general_ ? 0 : graph_.rows) + static_cast<std::uint32_t>(j);
  }
  Word held_at(Index j) const { return general_ ? held_[at(j)] : held_by_col_[at(j)]; }
  template <class Is>
  Offset find(Index i, const Is& is) const {
    for (Offset e = graph_.row_offsets[at(i)]; e < graph_.row_offsets[at(i) + 1]; ++e) {
      const Index j = graph_.col_index[at(e)];
      if (!(general_ && j == i) && is(e, j)) return e;
    }
    return -1;
  }

  const GreedyProblem& problem_;
  const BipartiteGraphView& graph_;
  const KeyOf& key_of_entry_;
  bool general_;
  int threads_;
  std::vector<Word> held_, held_by_col_;  ///< each vertex's matched edge, seen from it; 0: none
};

/// Half of the sum of the vertices' heaviest edges; for bipartite graphs the smaller sum of the two sides.
double heaviest_sum(const GreedyProblem& problem) {
  const auto& graph = problem.graph;
  const bool general = problem.kind == GraphKind::general;
  std::vector<double> of_col(general ? 0 : at(graph.cols), 0.0);
  double rows = 0, cols = 0;
  for (Index i = 0; i < graph.rows; ++i) {
    double heaviest = 0;
    for (Offset e = graph.row_offsets[at(i)]; e < graph.row_offsets[at(i) + 1]; ++e) {
      const Index j = graph.col_index[at(e)];
      if (general && j == i) continue;
      const double weight = weight_of(problem, e);
      heaviest = std::max(heaviest, weight);
      if (!general) of_col[at(j)] = std::max(of_col[at(j)], weight);
    }
    rows += heaviest;
  }
  for (const double heaviest : of_col) cols += heaviest;
  return general ? rows / 2 : std::min(rows, cols);
}

}  // namespace

GreedyCertificate verify(const GreedyProblem& problem, const Matching& answer, int threads) {
  GreedyCertificate found;
  const auto& graph = problem.graph;
  const bool general = problem.kind == GraphKind::general;
  const auto fail = [&](const std::string& what) {
    if (found.fault.empty()) found.fault = what;
    return false;
  };
  const auto ends = [&](Index i, Index j) {
    return name(general ? "vertex" : "row", i) + " and " + name(general ? "vertex" : "column", j);
  };
  if (problem.space == Space::device) {
    fail("the problem lies on a device");
    return found;
  }
  found.upper_bound = heaviest_sum(problem);
  if (const std::string fault = fault_of_mates(problem, answer, threads); !fault.empty()) {
    fail(fault);
    return found;
  }
  const Index stray = first_row(graph.rows, threads, [&](Index i) {
    const Index j = answer.row_to_col[at(i)];
    return j != -1 && ((general && i == j) || entry_of(problem, i, j) == -1);
  });
  if (stray < graph.rows) {
    fail(ends(stray, answer.row_to_col[at(stray)]) + " are matched, but no edge joins them");
    return found;
  }
  found.weight = weight_of_pairs(problem, answer.row_to_col, threads);
  const auto matched = graph.rows - std::count(answer.row_to_col.begin(), answer.row_to_col.end(), Index{-1});
  const auto pairs = general ? matched / 2 : matched;
  found.matching_valid = true;
  if (pairs != answer.cardinality)
    found.matching_valid = fail("the matching has " + std::to_string(pairs) + " pairs, not " +
                                std::to_string(answer.cardinality));
  if (found.weight != answer.objective)
    found.matching_valid = fail("the matching weighs " + std::to_string(found.weight) + ", not " +
                                std::to_string(answer.objective));
  Keys(problem.weights, threads).visit([&]<class KeyOf>(const KeyOf& key_of_entry) {
    using Of = Verifier<KeyOf>;
    const Of judge(problem, answer, key_of_entry, threads);
    const auto none = [&](Offset (Of::*edge)(Index) const, const char* what) {
      const Index row = judge.first_of(edge);
      if (row == graph.rows) return true;
      return fail("the edge of " + ends(row, graph.col_index[at((judge.*edge)(row))]) + what);
    };
    found.maximal = none(&Of::free_edge, " has both ends free");
    found.dominant = none(&Of::dominating_edge, " comes before the pairs of both of its ends");
  });
  if (found.dominant) found.upper_bound = std::min(found.upper_bound, 2 * found.weight);
  return found;
}

}  // namespace motes::matching
