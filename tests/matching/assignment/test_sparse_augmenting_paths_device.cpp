// The sparse engine of `jv` on the GPU: many small problems as one, adversarial ones, starts of every kind.

#include <algorithm>
#include <numeric>
#include <random>

#include <catch2/catch.hpp>

#include <motes/matching/registry.h>
#include <motes/matching/verify.h>

#include "matching/assignment/jonker_volgenant_device.h"
#include "tests/support/instances.h"
#include "tests/support/skip.h"

using namespace motes;
using matching::Cost;
using matching::Index;
using matching::kInfiniteCost;
using matching::SparseCosts;
using matching::Status;

namespace {

matching::Matching solve(Workspace& workspace, const SparseCosts& problem,
                         const matching::Start& start = {}) {
  Execution execution;
  execution.backend = Backend::cuda;
  execution.workspace = &workspace;
  return matching::find_solver("jv")->make()->solve(execution, problem.view(), start);
}

matching::Matching reference(const SparseCosts& problem) {
  return matching::find_solver("jv")->make()->solve({1}, problem.view());
}

void check_optimal(const SparseCosts& problem, const matching::Matching& answer) {
  REQUIRE(answer.status == Status::optimal);
  const auto certificate = matching::verify(problem.view(), answer);
  CHECK(certificate.fault == "");
  CHECK(certificate.optimal());
  CHECK(certificate.gap == 0);
}

/// Adds a problem to the lower right of another, its vertices shuffled or not.
void append_block(SparseCosts& all, const SparseCosts& block) {
  const Index col = all.graph.cols;
  for (Index i = 0; i < block.graph.rows; ++i) {
    for (auto e = block.graph.row_offsets[i]; e < block.graph.row_offsets[i + 1]; ++e) {
      all.graph.col_index.push_back(col + block.graph.col_index[e]);
      all.cost.push_back(block.cost[e]);
    }
    all.graph.row_offsets.push_back(all.graph.edges());
    all.unmatched_row_cost.push_back(block.view().row_cost(i));
  }
  for (Index j = 0; j < block.graph.cols; ++j) all.unmatched_col_cost.push_back(block.view().col_cost(j));
  all.graph.rows += block.graph.rows;
  all.graph.cols += block.graph.cols;
}

struct Family {
  std::string name;
  Index rows, cols;
  double density;
  Cost highest;
  Cost row_exit, col_exit;  ///< highest unmatched cost drawn; kInfiniteCost: must be matched
};

SparseCosts random_problem(std::mt19937_64& rng, const Family& family) {
  const auto below = [&](Cost n) { return static_cast<Cost>(rng() % static_cast<std::uint64_t>(n)); };
  SparseCosts p;
  p.graph.rows = family.rows, p.graph.cols = family.cols;
  for (Index i = 0; i < family.rows; ++i) {
    for (Index j = 0; j < family.cols; ++j)
      if (static_cast<double>(below(1000)) < 1000 * family.density) {
        p.graph.col_index.push_back(j);
        p.cost.push_back(below(family.highest + 1));
      }
    p.graph.row_offsets.push_back(p.graph.edges());
  }
  const auto unmatched = [&](Index count, Cost highest) {
    std::vector<Cost> cost(static_cast<std::size_t>(count), kInfiniteCost);
    if (highest != kInfiniteCost)
      for (Cost& c : cost) c = below(highest + 1);
    return cost;
  };
  p.unmatched_row_cost = unmatched(family.rows, family.row_exit);
  p.unmatched_col_cost = unmatched(family.cols, family.col_exit);
  return p;
}

/// A square lattice of points against itself moved by half a step: distances tie by the thousand.
SparseCosts lattice(Index side) {
  SparseCosts p;
  p.graph.rows = p.graph.cols = side * side;
  for (Index y = 0; y < side; ++y)
    for (Index x = 0; x < side; ++x) {
      for (Index dy = 0; dy < 2; ++dy)
        for (Index dx = 0; dx < 2; ++dx)
          if (y + dy < side && x + dx < side) {
            p.graph.col_index.push_back((y + dy) * side + x + dx);
            p.cost.push_back(1);
          }
      p.graph.row_offsets.push_back(p.graph.edges());
    }
  p.unmatched_row_cost.assign(static_cast<std::size_t>(p.graph.rows), 7);
  p.unmatched_col_cost.assign(static_cast<std::size_t>(p.graph.cols), 7);
  return p;
}

/// Row i has the columns i and i + 1; the last row lacks the latter, so that one path shifts all pairs.
SparseCosts line(Index length, bool perfect) {
  SparseCosts p;
  p.graph.rows = p.graph.cols = length;
  for (Index i = 0; i < length; ++i) {
    for (Index j = std::max(0, i - 1); j <= std::min(length - 1, i + 1); ++j) {
      p.graph.col_index.push_back(j);
      p.cost.push_back(j < i ? 0 : j == i ? 1 : 2);
    }
    p.graph.row_offsets.push_back(p.graph.edges());
  }
  if (!perfect) {
    p.unmatched_row_cost.assign(static_cast<std::size_t>(length), length);
    p.unmatched_col_cost.assign(static_cast<std::size_t>(length), length);
  }
  return p;
}

/// Costs of every magnitude.
SparseCosts geometric_progression(Index size) {
  std::vector<std::vector<Cost>> matrix(static_cast<std::size_t>(size),
                                        std::vector<Cost>(static_cast<std::size_t>(size)));
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < size; ++j) matrix[i][j] = Cost{1} << std::min(50, (i + 1) * (j + 1) % 51);
  return testing::from_matrix(matrix);
}

/// Two clusters with one column too few in one and one too many in the other, tied by a single expensive pair
/// each.
SparseCosts two_clusters(Index size) {
  SparseCosts p;
  p.graph.rows = p.graph.cols = 2 * size;
  for (Index i = 0; i < 2 * size; ++i) {
    const bool first = i <= size;  // size + 1 rows, size columns
    for (Index j = first ? 0 : size; j < (first ? size : 2 * size); ++j) {
      p.graph.col_index.push_back(j);
      p.cost.push_back((i * 7 + j * 13) % 10);
    }
    if (first) {
      p.graph.col_index.push_back(2 * size - 1);
      p.cost.push_back(1000000 + i);
    }
    p.graph.row_offsets.push_back(p.graph.edges());
  }
  return p;
}

const std::vector<Family>& families() {
  static const std::vector<Family> all{
      {"sparse, unmatched costs", 6, 6, 0.4, 20, 15, 15},
      {"ties", 7, 6, 0.6, 2, 3, 3},
      {"all equal", 5, 7, 0.8, 0, 4, 2},
      {"rows must be matched", 4, 8, 0.9, 30, kInfiniteCost, 10},
      {"columns must be matched", 8, 4, 0.9, 30, 10, kInfiniteCost},
      {"dear", 6, 6, 0.5, Cost{1} << 40, Cost{1} << 40, Cost{1} << 40},
      {"no row wants to", 6, 6, 0.5, 20, 1, 0},
  };
  return all;
}

}  // namespace

TEST_CASE(
    "the sparse engine on the GPU solves thousands of small problems as one, each as brute force does") {
  MOTES_NEED_GPU();
  Workspace workspace;
  constexpr int kBlocks = 1000;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    for (const Family& family : families()) {
      INFO(family.name << ", seed " << seed);
      std::mt19937_64 rng(seed);
      SparseCosts all;
      std::vector<SparseCosts> blocks;
      std::vector<std::optional<Cost>> best;
      while (blocks.size() < kBlocks) {
        SparseCosts block = random_problem(rng, family);
        const auto optimum = testing::brute_force(block.view());
        if (!optimum) continue;  // one infeasible block would make all of it infeasible
        append_block(all, block);
        best.push_back(optimum);
        blocks.push_back(std::move(block));
      }
      const auto answer = solve(workspace, all);
      check_optimal(all, answer);
      Index row = 0, col = 0;
      for (int b = 0; b < kBlocks; ++b) {
        const auto problem = blocks[b].view();
        Cost paid = 0;
        for (Index i = 0; i < problem.graph.rows; ++i) {
          const Index j = answer.row_to_col[row + i];
          if (j == -1) {
            paid += problem.row_cost(i);
            continue;
          }
          for (auto e = problem.graph.row_offsets[i]; e < problem.graph.row_offsets[i + 1]; ++e)
            if (problem.graph.col_index[e] == j - col) paid += problem.cost[e];
        }
        for (Index j = 0; j < problem.graph.cols; ++j)
          if (answer.col_to_row[col + j] == -1) paid += problem.col_cost(j);
        if (paid != *best[b]) FAIL("block " << b << " pays " << paid << ", not " << *best[b]);
        row += problem.graph.rows;
        col += problem.graph.cols;
      }
    }
  }
}

TEST_CASE("the sparse engine on the GPU solves perfect problems, feasible and not") {
  MOTES_NEED_GPU();
  Workspace workspace;
  int infeasible = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 rng(seed);
    const auto size = static_cast<Index>(20 + rng() % 180);
    const Cost highest = seed % 3 == 0 ? 3 : seed % 3 == 1 ? 1000 : Cost{1} << 45;
    const SparseCosts p =
        random_problem(rng, {"", size, size, 5.0 / size, highest, kInfiniteCost, kInfiniteCost});
    INFO("seed " << seed);
    const auto answer = solve(workspace, p), expected = reference(p);
    REQUIRE(answer.status == expected.status);
    infeasible += expected.status == Status::infeasible;
    if (expected.status == Status::infeasible) continue;
    check_optimal(p, answer);
    CHECK(answer.objective == expected.objective);
  }
  CHECK(infeasible > 0);
}

TEST_CASE("the sparse engine on the GPU solves adversarial problems") {
  MOTES_NEED_GPU();
  Workspace workspace;
  const std::vector<std::pair<std::string, SparseCosts>> problems{
      {"lattice", lattice(40)},           {"line", line(3000, false)},
      {"perfect line", line(1500, true)}, {"progression", geometric_progression(60)},
      {"two clusters", two_clusters(40)},
  };
  for (const auto& [name, p] : problems) {
    INFO(name);
    const auto answer = solve(workspace, p), expected = reference(p);
    REQUIRE(expected.status == Status::optimal);
    check_optimal(p, answer);
    CHECK(answer.objective == expected.objective);
  }
}

TEST_CASE("the sparse engine on the GPU starts from right, wrong and partial states") {
  MOTES_NEED_GPU();
  Workspace workspace;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    for (const Cost exit : {Cost{400}, kInfiniteCost}) {
      INFO("seed " << seed << ", unmatched costs up to " << exit);
      std::mt19937_64 rng(seed);
      const SparseCosts p = random_problem(rng, {"", 300, 300, 0.05, 1000, exit, exit});
      const auto expected = reference(p);
      if (expected.status == Status::infeasible) continue;
      const auto answer = solve(workspace, p);
      check_optimal(p, answer);
      const auto again = solve(workspace, p, {answer.row_to_col, answer.duals.u, answer.duals.v});
      check_optimal(p, again);
      CHECK(again.stats.augmentations == 0);
      auto partial = answer.row_to_col;
      for (Index& j : partial)
        if (rng() % 3 == 0) j = -1;
      auto prices = answer.duals.v;
      for (Cost& price : prices)
        if (rng() % 10 == 0) price += static_cast<Cost>(rng() % 200) - 100;
      std::vector<Index> wrong(300);
      std::iota(wrong.begin(), wrong.end(), 0);
      std::shuffle(wrong.begin(), wrong.end(), rng);
      for (const matching::Start& start :
           {matching::Start{partial, {}, answer.duals.v}, matching::Start{answer.row_to_col, {}, prices},
            matching::Start{wrong, {}, prices}, matching::Start{{}, {}, prices}}) {
        const auto warm = solve(workspace, p, start);
        check_optimal(p, warm);
        CHECK(warm.objective == expected.objective);
      }
    }
  }
}

TEST_CASE("the sparse engine on the GPU finds the same optimum whatever its settings") {
  MOTES_NEED_GPU();
  Workspace workspace;
  Execution execution;
  execution.backend = Backend::cuda;
  execution.workspace = &workspace;
  std::vector<matching::device::SearchSettings> choices(10);
  choices[1].budget = 0;
  choices[2].budget = 1000;
  choices[3].stages = 0;
  choices[4].stages = 9;
  choices[5].stage_budget = 1;
  choices[6].share = 0;
  choices[7].share = 1;
  choices[8].stage_budget = 1, choices[8].fight_budget = 0;
  choices[9].stage_budget = 2, choices[9].few_fights = 0;
  for (const Cost exit : {Cost{4000}, kInfiniteCost}) {
    std::mt19937_64 rng(11);
    SparseCosts p = random_problem(rng, {"", 1200, 1200, 0.02, 10000, exit, exit});
    append_block(p, lattice(20));
    if (exit == kInfiniteCost)  // the lattice is a perfect matching's too
      p.unmatched_row_cost.clear(), p.unmatched_col_cost.clear();
    const auto expected = reference(p);
    REQUIRE(expected.status == Status::optimal);
    for (std::size_t k = 0; k < choices.size(); ++k) {
      INFO("choice " << k << ", unmatched costs up to " << exit);
      const auto answer =
          matching::device::solve_by_cores(execution, p.view(), {}, matching::device::kCorePairs, choices[k]);
      check_optimal(p, answer);
      CHECK(answer.objective == expected.objective);
    }
  }
}

TEST_CASE("the sparse engine on the GPU takes rows without pairs, and sides without vertices") {
  MOTES_NEED_GPU();
  Workspace workspace;
  SparseCosts p;
  p.graph = {3, 2, {0, 0, 1, 1}, {1}};
  p.cost = {5};
  CHECK(solve(workspace, p).status == Status::infeasible);
  p.unmatched_row_cost = {1, 2, 3};
  CHECK(solve(workspace, p).status == Status::infeasible);  // column 0 has no row
  p.unmatched_col_cost = {1, 9};
  const auto answer = solve(workspace, p);
  check_optimal(p, answer);
  CHECK(answer.row_to_col == std::vector<Index>{-1, 1, -1});
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 0}, {0, 3}, {3, 0}}) {
    SparseCosts empty;
    empty.graph.rows = rows, empty.graph.cols = cols;
    empty.graph.row_offsets.assign(static_cast<std::size_t>(rows) + 1, 0);
    empty.unmatched_row_cost.assign(static_cast<std::size_t>(rows), 2);
    empty.unmatched_col_cost.assign(static_cast<std::size_t>(cols), 2);
    check_optimal(empty, solve(workspace, empty));
  }
}
