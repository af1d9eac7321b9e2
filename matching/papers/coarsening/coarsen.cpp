/// coarsen() and hierarchies on the CPU.

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/matching/coarsen.h>
#include <motes/matching/matching_weight.h>

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/papers/coarsening/device_coarsen.h"

namespace motes::matching {
namespace {

[[noreturn]] void refuse_bipartite() {
  throw std::invalid_argument("coarsen: the graph is bipartite; to_general makes a general one of it");
}

void check_mates(const GreedyProblem& problem, std::span<const Index> mate,
                 std::span<const double> vertex_weight) {
  const Index n = problem.graph.rows;
  const auto refuse = [](const std::string& what) { throw std::invalid_argument("coarsen: " + what); };
  if (problem.kind != GraphKind::general) refuse_bipartite();
  if (mate.size() != at(n))
    refuse("there are mates of " + std::to_string(mate.size()) + " vertices, but the graph has " +
           std::to_string(n));
  if (!vertex_weight.empty() && vertex_weight.size() != at(n))
    refuse("there are weights of " + std::to_string(vertex_weight.size()) + " vertices, but the graph has " +
           std::to_string(n));
  for (Index v = 0; v < n; ++v) {
    if (!vertex_weight.empty() && !std::isfinite(vertex_weight[at(v)]))
      refuse("the weight of vertex " + std::to_string(v) + " is not finite");
    const Index w = mate[at(v)];
    if (w == -1) continue;
    const auto pair = [&] { return "vertex " + std::to_string(v) + " with mate " + std::to_string(w); };
    if (w < 0 || w >= n || w == v) refuse(pair() + ": there is no such neighbour");
    if (mate[at(w)] != v) refuse(pair() + ": the mate has another, " + std::to_string(mate[at(w)]));
    if (problem.space == Space::host && entry_of(problem, v, w) == -1)
      refuse(pair() + ": that is not an edge");
  }
}

/// A fine edge that becomes part of a coarse one. Of the four that may be merged, `cross` is true for those
/// that join the lesser vertex of one pair to the greater of the other.
struct Part {
  Index to;
  bool cross;
  double weight;
  bool operator<(const Part& other) const { return to != other.to ? to < other.to : cross < other.cross; }
};

class Merger {
 public:
  Merger(const GreedyProblem& problem, std::span<const Index> mate, std::span<const double> vertex_weight)
      : problem_(problem), mate_(mate), vertex_weight_(vertex_weight) {
    const Index n = problem.graph.rows;
    out_.coarse_of.resize(at(n));
    for (Index v = 0; v < n; ++v) {
      const Index w = mate[at(v)];
      if (w != -1 && w < v) {
        out_.coarse_of[at(v)] = out_.coarse_of[at(w)];
        continue;
      }
      out_.coarse_of[at(v)] = static_cast<Index>(lesser_.size());
      lesser_.push_back(v);
    }
  }

  CoarseGraph run(int threads) {
    constexpr Index kRowsABlock = 4096;
    const auto count = static_cast<Index>(lesser_.size());
    const Index blocks = count / kRowsABlock + 1;
    const auto first_of = [&](Offset block) { return std::min(block * kRowsABlock, Offset{count}); };
    struct Block {
      std::vector<Index> columns;
      std::vector<double> weights;
    };
    std::vector<Block> made(at(blocks));
    out_.graph = {count, count, std::vector<Offset>(at(count) + 1, 0), {}};
    out_.vertex_weight.resize(at(count));
    parallel_for(threads, blocks, [&](std::int64_t block) {
      std::vector<Part> parts;
      auto& mine = made[at(block)];
      for (Offset c = first_of(block); c < first_of(block + 1); ++c) {
        const std::size_t before = mine.columns.size();
        merge(static_cast<Index>(c), parts, mine.columns, mine.weights);
        out_.graph.row_offsets[at(c) + 1] = static_cast<Offset>(mine.columns.size() - before);
      }
    });
    auto& offsets = out_.graph.row_offsets;
    for (std::size_t c = 1; c < offsets.size(); ++c) offsets[c] += offsets[c - 1];
    out_.graph.col_index.resize(at(offsets.back()));
    out_.weights.resize(at(offsets.back()));
    parallel_for(threads, blocks, [&](std::int64_t block) {
      const auto from = offsets[at(first_of(block))];
      const auto& mine = made[at(block)];
      std::copy(mine.columns.begin(), mine.columns.end(), out_.graph.col_index.begin() + from);
      std::copy(mine.weights.begin(), mine.weights.end(), out_.weights.begin() + from);
    });
    return std::move(out_);
  }

 private:
  bool is_lesser(Index v) const { return mate_[at(v)] == -1 || v < mate_[at(v)]; }
  double vertex_weight(Index v) const { return vertex_weight_.empty() ? 1.0 : vertex_weight_[at(v)]; }

  void merge(Index coarse, std::vector<Part>& parts, std::vector<Index>& columns,
             std::vector<double>& weights) {
    const Index first = lesser_[at(coarse)], second = mate_[at(first)];
    double sum = vertex_weight(first);
    if (second != -1) sum += vertex_weight(second);
    out_.vertex_weight[at(coarse)] = sum;
    parts.clear();
    for (const Index v : {first, second}) {
      if (v == -1) continue;
      const auto& offsets = problem_.graph.row_offsets;
      for (Offset e = offsets[at(v)]; e < offsets[at(v) + 1]; ++e) {
        const Index w = problem_.graph.col_index[at(e)], to = out_.coarse_of[at(w)];
        if (to == coarse) continue;
        parts.push_back({to, is_lesser(v) != is_lesser(w), weight_of(problem_, e)});
      }
    }
    std::sort(parts.begin(), parts.end());
    for (std::size_t k = 0; k < parts.size();) {
      const Index to = parts[k].to;
      double straight = 0, cross = 0;  // two terms each at most: their order does not matter
      for (; k < parts.size() && parts[k].to == to; ++k)
        (parts[k].cross ? cross : straight) += parts[k].weight;
      columns.push_back(to);
      weights.push_back(straight + cross);
    }
  }

  const GreedyProblem& problem_;
  std::span<const Index> mate_;
  std::span<const double> vertex_weight_;
  CoarseGraph out_;
  std::vector<Index> lesser_;  ///< [coarse vertices] the lesser fine vertex
};

/// The densities of a level's edges [nnz], of the same bits from both ends.
std::vector<double> densities_of(const CoarseGraph& level, int threads) {
  std::vector<double> densities(level.weights.size());
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (Index v = 0; v < level.graph.rows; ++v)
    for (Offset e = level.graph.row_offsets[at(v)]; e < level.graph.row_offsets[at(v) + 1]; ++e) {
      const Index w = level.graph.col_index[at(e)];
      densities[at(e)] = level.weights[at(e)] / (level.vertex_weight[at(v)] * level.vertex_weight[at(w)]);
    }
  return densities;
}

/// Whether the hierarchy is made on a device; then the problem has been checked.
bool on_device(const Execution& execution, const GreedyProblem& problem, const CoarsenSettings& settings) {
  if (execution.backend != Backend::cuda || problem.graph.rows <= settings.vertices) return false;
  check_problem(problem, thread_count(execution));
  if (problem.kind != GraphKind::general) refuse_bipartite();
  return true;
}

/// Builds levels in host memory. add(level) stores a level and returns where it is kept.
template <class Add>
void build_levels(const Execution& execution, const GreedyProblem& problem, const GreedySolver& solver,
                  const CoarsenSettings& settings, const Add& add) {
  GreedyProblem fine = problem;
  const CoarseGraph* last = nullptr;
  while (fine.graph.rows > settings.vertices) {
    GreedyProblem to_match = fine;
    std::vector<double> densities;
    if (settings.by == CoarsenBy::density && last != nullptr) {
      densities = densities_of(*last, thread_count(execution));
      to_match.weights = std::span<const double>(densities);
    }
    const GreedyAnswer answer = solver.solve(execution, to_match);
    const std::span<const double> vertex_weight =
        last != nullptr ? std::span<const double>(last->vertex_weight) : std::span<const double>{};
    CoarseGraph level = coarsen(execution, fine, answer.matching.row_to_col, vertex_weight);
    if (level.graph.rows > settings.least_shrink * fine.graph.rows) break;
    last = &add(std::move(level));
    fine = last->view();
  }
}

}  // namespace

GreedyProblem CoarseGraph::view() const { return {GraphKind::general, graph.view(), std::span(weights)}; }

CoarseGraph coarsen(const Execution& given, const GreedyProblem& problem, std::span<const Index> mate,
                    std::span<const double> vertex_weight) {
  Execution execution = given;
  execution.threads = thread_count(given);
  check_problem(problem, execution.threads);
  check_mates(problem, mate, vertex_weight);
  if (execution.backend == Backend::cuda) return device::coarsen(execution, problem, mate, vertex_weight);
  if (problem.space == Space::device)
    throw std::invalid_argument("coarsen: a graph in device memory needs the cuda back end");
  return Merger(problem, mate, vertex_weight).run(execution.threads);
}

std::vector<CoarseGraph> coarsen_to(const Execution& execution, const GreedyProblem& problem,
                                    const GreedySolver& solver, Index vertices, double least_shrink,
                                    CoarsenBy by) {
  const CoarsenSettings settings{vertices, least_shrink, by};
  if (on_device(execution, problem, settings))
    return device::coarsen_to(execution, problem, solver, settings, nullptr);
  std::vector<CoarseGraph> levels;
  build_levels(execution, problem, solver, settings, [&](CoarseGraph level) -> const CoarseGraph& {
    return levels.emplace_back(std::move(level));
  });
  return levels;
}

Coarsest coarsest_of(const Execution& execution, const GreedyProblem& problem, const GreedySolver& solver,
                     const CoarsenSettings& settings) {
  Coarsest out;
  if (on_device(execution, problem, settings)) {
    auto last = device::coarsen_to(execution, problem, solver, settings, &out.levels);
    if (!last.empty()) out.graph = std::move(last.back());
    return out;
  }
  std::vector<Index> map;
  build_levels(execution, problem, solver, settings, [&](CoarseGraph level) -> const CoarseGraph& {
    out.levels.push_back({level.graph.rows, level.graph.edges()});
    if (map.empty())
      map = level.coarse_of;
    else
      for (Index& coarse : map) coarse = level.coarse_of[at(coarse)];
    out.graph = std::move(level);
    return out.graph;
  });
  if (!out.levels.empty()) out.graph.coarse_of = std::move(map);
  return out;
}

}  // namespace motes::matching
