// Memory kept from solve to solve: used again, given up in time, and never seen in an answer.

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include <catch2/catch.hpp>

#include <motes/base/parallel_for.h>
#include <motes/base/raw_array.h>
#include <motes/matching/initialiser.h>
#include <motes/matching/registry.h>

#include "tests/support/graphs.h"

using namespace motes;
using matching::BipartiteGraph;
using matching::Index;

namespace {

constexpr std::size_t kPage = HostBlocks::kPage;

/// Row i has the columns i to i + 2 of a ring, randomly renumbered.
BipartiteGraph scattered_ring(Index rows, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<Index> name(rows);
  std::iota(name.begin(), name.end(), 0);
  std::shuffle(name.begin(), name.end(), rng);
  std::vector<std::pair<Index, Index>> edges;
  for (Index i = 0; i < rows; ++i)
    for (Index k = 0; k < 3; ++k) edges.emplace_back(name[i], name[(i + k) % rows]);
  return testing::from_edges(rows, rows, edges);
}

}  // namespace

TEST_CASE("host blocks are used again by who asks for about as much") {
  HostBlocks blocks;
  void* const large = blocks.take(9 * kPage + 1);  // ten pages
  void* const small = blocks.take(1);
  CHECK(blocks.bytes() == 11 * kPage);
  CHECK(reinterpret_cast<std::uintptr_t>(large) % kPage == 0);
  std::memset(large, 1, 9 * kPage + 1);
  blocks.give(large);
  blocks.give(small);
  CHECK(blocks.take(2 * kPage) != large);  // which would be a waste
  CHECK(blocks.take(kPage) == small);
  CHECK(blocks.take(5 * kPage) == large);
  CHECK(blocks.bytes() == 13 * kPage);
}

TEST_CASE("arrays take from the blocks in use, in this thread and in those of a parallel region") {
  Workspace workspace;
  HostBlocks& blocks = workspace.host_blocks();
  RawArray<char> without(kPage), outlives;
  {
    const HostBlocks::Solve kept(&workspace);
    RawArray<char> small(kPage - 1), one(kPage);
    CHECK(workspace.host_bytes() == kPage);
    each_thread(2, [](std::size_t, std::size_t) { const RawArray<char> own(3 * kPage); });
    CHECK(workspace.host_bytes() >= 4 * kPage);
    CHECK(workspace.host_bytes() <= 7 * kPage);
    Workspace other;
    {
      const HostBlocks::Solve inner(&other);
      const RawArray<char> there(kPage);
    }
    CHECK(other.host_bytes() == kPage);
    CHECK(HostBlocks::in_use() == &blocks);
    outlives = RawArray<char>(kPage);
  }
  CHECK(HostBlocks::in_use() == nullptr);
  outlives = RawArray<char>();
  CHECK(workspace.host_bytes() >= 5 * kPage);
  Workspace moved = std::move(workspace);
  CHECK(&moved.host_blocks() == &blocks);
}

TEST_CASE("blocks that solves have no use for are freed in the end") {
  Workspace workspace;
  const auto solve = [&](std::size_t pages) {
    const HostBlocks::Solve kept(&workspace);
    const RawArray<char> array(pages * kPage);
  };
  solve(100);
  for (int k = 0; k < 100; ++k) {
    const HostBlocks::Solve small(&workspace);
    const RawArray<char> none(100);
  }
  CHECK(workspace.host_bytes() == 100 * kPage);
  for (int k = 0; k < 4; ++k) solve(1);
  CHECK(workspace.host_bytes() == 101 * kPage);
  solve(100);
  for (int k = 0; k < 100; ++k) solve(1);
  CHECK(workspace.host_bytes() == kPage);
}

TEST_CASE("what earlier solves left in a workspace changes no answer") {
  const BipartiteGraph ring = scattered_ring(550'000, 1),
                       random = testing::random_graph(2, 540'000, 530'000, 4);
  const auto solve = [](const BipartiteGraph& graph, const char* name, int threads, Workspace* workspace) {
    const matching::CardinalityProblem problem{graph.view(), {}, {}};
    Execution execution;
    execution.threads = threads;
    execution.workspace = workspace;
    const auto start = matching::find_initialiser("karp-sipser")->run(execution, problem, 0);
    return matching::make_cardinality_solver(name)->solve(execution, problem, start).matching;
  };
  for (const auto& [name, threads] : {std::pair{"push-relabel", 1}, {"push-relabel?reorder=1", 3}}) {
    INFO(name << ", " << threads << " threads");
    Workspace workspace;
    for (const BipartiteGraph* graph : {&ring, &random}) {
      const auto kept = solve(*graph, name, threads, &workspace);
      CHECK(workspace.host_bytes() > 0);
      const auto fresh = solve(*graph, name, threads, nullptr);
      CHECK(kept.cardinality == fresh.cardinality);
      if (threads == 1) CHECK(kept.row_to_col == fresh.row_to_col);
    }
  }
}
