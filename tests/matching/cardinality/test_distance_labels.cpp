// Labels of push-relabel are the distances that a plain search finds, on any number of threads; and what the
// threads share: their barriers, and the partition of the graph.

#include <algorithm>
#include <numeric>
#include <random>

#include <catch2/catch.hpp>

#include "matching/cardinality/push_relabel/distance_labels.h"
#include "tests/support/graphs.h"

using namespace motes;
using matching::BipartiteGraph;
using matching::Index;
using matching::Mates;
using matching::Offset;
using matching::TwoSidedGraph;
using matching::detail::Partition;
using Labels = matching::detail::DistanceLabels<TwoSidedGraph>;

namespace {

/// Some rows take a random column that is free; about one in `leave_out` does not try.
Mates random_matching(const TwoSidedGraph& graph, std::uint64_t seed, int leave_out) {
  std::mt19937_64 rng(seed);
  Mates mates{std::vector<Index>(graph.rows, -1), std::vector<Index>(graph.cols, -1)};
  for (Index i = 0; i < graph.rows; ++i) {
    const auto cols = graph.cols_of(i);
    if (cols.empty() || rng() % leave_out == 0) continue;
    for (std::size_t k = 0, first = rng() % cols.size(); k < cols.size(); ++k) {
      const Index j = cols[(first + k) % cols.size()];
      if (mates.col_to_row[j] != -1) continue;
      mates.row_to_col[i] = j;
      mates.col_to_row[j] = i;
      break;
    }
  }
  return mates;
}

struct Distances {
  std::vector<std::uint32_t> col;  ///< kNoPath: none
  std::vector<std::uint32_t> row;  ///< one more than the least of its columns'
};

Distances distances(const TwoSidedGraph& graph, const Mates& mates) {
  Distances out{std::vector<std::uint32_t>(graph.cols, Labels::kNoPath),
                std::vector<std::uint32_t>(graph.rows, Labels::kNoPath)};
  std::vector<Index> queue;
  for (Index j = 0; j < graph.cols; ++j)
    if (mates.col_to_row[j] == -1) {
      out.col[j] = 0;
      queue.push_back(j);
    }
  for (std::size_t k = 0; k < queue.size(); ++k)
    for (const Index i : graph.rows_of(queue[k])) {
      if (out.row[i] != Labels::kNoPath) continue;
      out.row[i] = out.col[queue[k]] + 1;
      if (const Index j = mates.row_to_col[i]; j != -1) {
        out.col[j] = out.row[i];
        queue.push_back(j);
      }
    }
  return out;
}

/// Free rows with edges, distributed to as many lists as there are parts.
std::vector<std::vector<Index>> free_rows(const TwoSidedGraph& graph, const Mates& mates, std::size_t parts) {
  std::vector<std::vector<Index>> out(parts);
  for (Index i = 0; i < graph.rows; ++i)
    if (mates.row_to_col[i] == -1 && !graph.cols_of(i).empty()) out[i % parts].push_back(i);
  return out;
}

/// Rows adjacent to a few columns near them, and so far apart that paths are long.
BipartiteGraph thin_band(Index rows, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<std::pair<Index, Index>> edges;
  for (Index i = 0; i < rows; ++i)
    for (Index k = 0; k < 3; ++k)
      if (rng() % 3 != 0) edges.emplace_back(i, (i + k) % rows);
  return testing::from_edges(rows, rows, edges);
}

}  // namespace

TEST_CASE("labels are distances, on any number of threads") {
  const std::uint64_t seed = 4;
  INFO("seed " << seed);
  std::vector<testing::GraphInstance> graphs = testing::large_graphs(seed);
  graphs.push_back({"thin band", thin_band(30'000, seed)});
  graphs.push_back({"chain", testing::chain_graph(2'000, true)});
  std::uint32_t farthest = 0;
  for (const auto& [name, graph] : graphs) {
    const testing::TwoSides two(graph);
    for (const int leave_out : {3, 1'000}) {
      const Mates mates = random_matching(two.sides, seed, leave_out);
      const Distances exact = distances(two.sides, mates);
      for (const int threads : {1, 2, 5, 16}) {
        INFO(name << ", leave out " << leave_out << ", threads " << threads);
        const auto active = free_rows(two.sides, mates, threads);
        Labels labels(two.sides, mates.col_to_row, Partition(two.sides, threads == 5 ? 7 : 4 * threads),
                      threads);
        // No thread waits for a row without a path: the search comes to its end.
        auto waiting = active;
        const bool all_have_paths = std::ranges::all_of(active, [&](const auto& rows) {
          return std::ranges::all_of(rows, [&](Index i) { return exact.row[i] != Labels::kNoPath; });
        });
        const std::int64_t levels = labels.relabel(waiting);
        std::int64_t wrong = 0, not_bounds = 0, not_short = 0;
        for (Index j = 0; j < graph.cols; ++j) {
          const std::uint32_t label = Labels::label_of(labels.look(j));
          REQUIRE(Labels::row_of(labels.look(j)) == mates.col_to_row[j]);
          wrong += label != exact.col[j];
          not_short += labels.short_labels()[j] != Labels::short_of(label);
          not_bounds += label > exact.col[j] || (label != exact.col[j] && label <= levels);
          if (exact.col[j] != Labels::kNoPath) farthest = std::max(farthest, exact.col[j]);
        }
        CHECK(not_bounds == 0);
        CHECK(not_short == 0);
        if (!all_have_paths) CHECK(wrong == 0);
        // Waiting rows have labels.
        std::int64_t lost = 0;
        for (const auto& rows : active)
          for (const Index i : rows) {
            std::uint32_t least = Labels::kNoPath;
            for (const Index j : two.sides.cols_of(i))
              least = std::min(least, Labels::label_of(labels.look(j)));
            lost += exact.row[i] == Labels::kNoPath ? least != Labels::kNoPath : least + 1 != exact.row[i];
          }
        CHECK(lost == 0);
      }
    }
  }
  CHECK(farthest > 300);
}

TEST_CASE("labels follow the rows that push, and rows given up are forgotten") {
  // Columns 0 .. n: row i sees columns i and i + 1 and has column i + 1; the last row is free, column 0 too.
  // On the longer chain labels do not fit in the short ones.
  for (const auto& [n, threads] : {std::pair{1'000, 1}, {1'000, 3}, {70'000, 1}}) {
    INFO("rows " << n << ", threads " << threads);
    std::vector<std::pair<Index, Index>> edges;
    for (Index i = 0; i <= n; ++i) {
      edges.emplace_back(i, i);
      if (i < n) edges.emplace_back(i, i + 1);
    }
    const auto graph = testing::from_edges(n + 1, n + 1, edges);
    const testing::TwoSides two(graph);
    Mates mates{std::vector<Index>(n + 1, -1), std::vector<Index>(n + 1, -1)};
    for (Index i = 0; i < n; ++i) mates.col_to_row[mates.row_to_col[i] = i + 1] = i;
    Labels labels(two.sides, mates.col_to_row, Partition(two.sides, 4 * threads), threads);
    std::vector<std::vector<Index>> active(threads);
    active[0] = {n};
    CHECK(labels.relabel(active) == n + 1);
    std::int64_t wrong = 0;
    for (Index j = 0; j <= n; ++j) {
      wrong += Labels::label_of(labels.look(j)) != static_cast<std::uint32_t>(j);
      wrong += labels.short_labels()[j] != Labels::short_of(static_cast<std::uint32_t>(j));
    }
    CHECK(wrong == 0);
    // The path's first half is pushed: row n / 2 is the free one now.
    for (Index i = n; i > n / 2; --i) REQUIRE(labels.push(i, labels.look(i), 2 * n, i));
    active[0] = {n / 2};
    // Rows on their way to their owners are counted a level later.
    const std::int64_t levels = labels.relabel(active);
    CHECK((levels == n / 2 + 1 || (threads > 1 && levels == n / 2 + 2)));
    CHECK(Labels::label_of(labels.look(n / 2)) == static_cast<std::uint32_t>(n / 2));
    labels.give_up(n / 2);
    active[0].clear();
    CHECK(labels.relabel(active) == 0);
    for (Index j = n / 2 + 1; j <= n; ++j) wrong += Labels::row_of(labels.look(j)) != j;
    CHECK(wrong == 0);
  }
}

TEST_CASE("lists are read alike, many at once and one by one") {
  using namespace matching::detail;
  const std::uint64_t seed = 5;
  INFO("seed " << seed);
  std::mt19937_64 rng(seed);
  const auto best = csr_reader<Offset>(), plain = plain_csr_reader<Offset>();
  std::int64_t different = 0;
  for (int round = 0; round < 60; ++round) {
    const Index rows = 500, cols = 400;
    const double degree = round % 3 == 0 ? 3 : round % 3 == 1 ? 12 : 60;  // of one, some and many lines
    const auto graph = testing::random_graph(rng(), rows, cols, degree);
    const testing::TwoSides two(graph);
    const int most = round % 2 == 0 ? 3 : kNoShortPath<ShortLabel>;  // many alike, few alike
    std::vector<ShortLabel> labels(cols + 1, kNoShortPath<ShortLabel>);
    for (Index j = 0; j < cols; ++j)
      labels[j] = static_cast<ShortLabel>(kNoShortPath<ShortLabel> - rng() % (most + 1));
    std::vector<Index> some;
    for (Index i = 0; i < rows; ++i)
      if (!two.sides.cols_of(i).empty() && rng() % 2 == 0) some.push_back(i);
    const CsrView<Offset> of_rows{two.sides.row_offsets, two.sides.col_index};
    std::vector<Offer> a(some.size()), b(some.size());
    for (std::size_t begin = 0; begin < some.size(); begin += 16) {
      const std::size_t end = std::min(begin + 16, some.size());
      different += best.offers(of_rows, some, begin, end, labels.data(), &a[begin]) !=
                   plain.offers(of_rows, some, begin, end, labels.data(), &b[begin]);
    }
    for (std::size_t k = 0; k < some.size(); ++k) {
      std::vector<ShortLabel> sorted{kNoShortPath<ShortLabel>, kNoShortPath<ShortLabel>};
      for (const Index j : two.sides.cols_of(some[k])) sorted.push_back(labels[j]);
      std::sort(sorted.begin(), sorted.end());
      different += a[k].label != sorted[0] || a[k].second != sorted[1] || b[k].label != sorted[0] ||
                   b[k].second != sorted[1];
      if (sorted[0] != kNoShortPath<ShortLabel>)
        different += a[k].col != b[k].col || labels[a[k].col] != sorted[0];
    }

    const CsrView<Offset> of_cols{two.sides.col_offsets, two.sides.row_index};
    std::vector<std::uint32_t> seen(rows / 32 + 1), same;
    for (std::uint32_t& word : seen) word = static_cast<std::uint32_t>(rng() & rng());
    same = seen;
    some.clear();
    for (Index j = 0; j < cols; ++j)
      if (rng() % 2 == 0) some.push_back(j);
    std::vector<Index> found(two.sides.edges() + 16), other(found.size());
    const std::size_t count = best.unseen(of_cols, some, 0, some.size(), seen.data(), found.data());
    REQUIRE(count == plain.unseen(of_cols, some, 0, some.size(), same.data(), other.data()));
    different += !std::equal(found.begin(), found.begin() + count, other.begin()) || seen != same;

    const std::vector<Index> owners{0, 1, 0, 2, 1, 0, 2, 1};
    const OwnersView whose{owners.data(), 6, 1};
    std::vector<Index> mates(rows);
    for (Index& mate : mates) mate = rng() % 4 == 0 ? -1 : static_cast<Index>(rng() % cols);
    std::vector<Index> mine(count + 16), theirs(count + 16), mine_too(mine.size()), theirs_too(mine.size());
    const Settled x = best.settle({found.data(), count}, whose, mates.data(), mine.data(), theirs.data());
    const Settled y =
        plain.settle({found.data(), count}, whose, mates.data(), mine_too.data(), theirs_too.data());
    different += x.cols != y.cols || x.without != y.without || x.others != y.others;
    different += x.cols + x.without + x.others != count;
    different += !std::equal(mine.begin(), mine.begin() + x.cols, mine_too.begin());
    different += !std::equal(theirs.begin(), theirs.begin() + x.others, theirs_too.begin());
  }
  CHECK(different == 0);
}

TEST_CASE("threads that meet hear what all have said, again and again") {
  struct Said {
    std::int64_t round = 0, thread = 0;
  };
  for (const int wanted : {1, 2, 7}) {
    ThreadBarrier<Said> barrier(wanted);
    std::atomic<std::int64_t> wrong = 0;
#pragma omp parallel num_threads(wanted)
    {
      const auto thread = static_cast<std::size_t>(omp_get_thread_num());
      const auto threads = static_cast<std::size_t>(omp_get_num_threads());
      for (std::int64_t round = 0; round < 500; ++round) {
        std::size_t heard = 0;
        barrier.exchange(thread, threads, {round, static_cast<std::int64_t>(thread)},
                         [&](std::size_t who, const Said& said) {
                           wrong += who != heard++ || said.round != round ||
                                    said.thread != static_cast<std::int64_t>(who);
                         });
        wrong += heard != threads;
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a split gives each row and column to one part, and parts of about as many edges") {
  const auto graph = testing::random_graph(3, 5'000, 4'000, 6);
  const testing::TwoSides two(graph);
  for (const int threads : {1, 3, 16}) {
    const Partition partition(two.sides, threads);
    REQUIRE(partition.size() == static_cast<std::size_t>(threads));
    CHECK(partition.first_row(0) == 0);
    CHECK(partition.first_col(0) == 0);
    CHECK(partition.end_row(threads - 1) == graph.rows);
    CHECK(partition.end_col(threads - 1) == graph.cols);
    for (int k = 0; k < threads; ++k) {
      if (k > 0) CHECK(partition.first_row(k) == partition.end_row(k - 1));
      if (k > 0) CHECK(partition.first_col(k) == partition.end_col(k - 1));
      const auto edges = graph.row_offsets[partition.end_row(k)] - graph.row_offsets[partition.first_row(k)];
      CHECK(edges * threads < 2 * two.sides.edges());
    }
    for (const std::size_t few : {1, 2, 3}) {
      const std::vector<Index> owners = partition.owners(few);
      std::int64_t wrong = 0;
      for (std::size_t part = 0; part < partition.size(); ++part)
        for (Index i = partition.first_row(part); i < partition.end_row(part); ++i)
          wrong += owners[i >> partition.grain_shift()] != static_cast<Index>(part % few);
      CHECK(wrong == 0);
    }
    // With fewer threads than parts, all parts are done, each once.
    std::vector<int> done(partition.size(), 0);
    for (std::size_t thread = 0; thread < 2; ++thread)
      partition.each_part(thread, 2, [&](std::size_t part) { ++done[part]; });
    CHECK(std::ranges::all_of(done, [](int times) { return times == 1; }));
  }
  // More parts than rows, and an empty graph.
  for (const Index rows : {0, 1, 3}) {
    const auto few = testing::random_graph(1, rows, 2, 1);
    const testing::TwoSides sides(few);
    const Partition partition(sides.sides, 8);
    CHECK(partition.end_row(7) == rows);
    CHECK(partition.end_col(7) == 2);
  }
}
