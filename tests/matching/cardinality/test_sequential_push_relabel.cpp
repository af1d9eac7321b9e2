// Push-relabel on one thread: its lists in slots, and labels of 16 bits.

#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

#include <motes/matching/koenig.h>
#include <motes/matching/registry.h>

#include "matching/cardinality/push_relabel/ell_graph.h"
#include "matching/cardinality/push_relabel/relabel_policy.h"
#include "tests/support/graphs.h"

using namespace motes;
using matching::BipartiteGraph;
using matching::Index;
using namespace matching::detail;

namespace {

matching::CardinalityAnswer certified(const BipartiteGraph& graph, const char* setting,
                                      std::span<const Index> start = {}) {
  const matching::CardinalityProblem problem{graph.view(), {}, {}};
  auto answer = matching::make_cardinality_solver(setting)->solve({1}, problem, start);
  const auto certificate =
      matching::verify(problem, answer.matching, matching::koenig_cover(problem, answer.matching));
  CHECK(certificate.fault == "");
  CHECK(certificate.maximum());
  return answer;
}

/// Row i has the columns i and i - 1, and starts with the latter: one path through all of them.
struct LongPath {
  explicit LongPath(Index rows) : start(rows, -1) {
    std::vector<std::pair<Index, Index>> edges;
    for (Index i = 0; i < rows; ++i) {
      if (i > 0) edges.emplace_back(i, start[i] = i - 1);
      edges.emplace_back(i, i);
    }
    graph = testing::from_edges(rows, rows, edges);
  }
  std::vector<Index> start;
  BipartiteGraph graph;
};

}  // namespace

/// Lists of `count` slots. Some end anywhere, and some go on: their last slot says so.
struct SlotLists {
  SlotLists(std::mt19937_64& rng, std::size_t lists, std::size_t count, Index vertices, int round)
      : slots(lists * count + 8, vertices), length(lists) {
    for (std::size_t list = 0; list < lists; ++list) {
      const std::size_t longest = round % 4 == 0 ? 5 : count + (round % 4 == 1);
      length[list] = rng() % (longest + 1);
      if (length[list] > count)
        slots[list * count + --(length[list] = count)] = static_cast<Index>(vertices + 1 + rng() % 100000);
      for (std::size_t k = 0; k < length[list]; ++k)
        slots[list * count + k] = static_cast<Index>(rng() % vertices);
    }
  }
  std::vector<Index> slots;
  std::vector<std::size_t> length;
};

TEMPLATE_TEST_CASE("slots are read alike, many at once and one by one", "", std::uint8_t, std::uint16_t) {
  using Label = TestType;
  constexpr Label kNoPath = kNoShortPath<Label>;
  const std::uint64_t seed = 5;
  INFO("seed " << seed);
  std::mt19937_64 rng(seed);
  constexpr Index kVertices = 1000, kLists = 100;
  const auto read = [](const EllReader& reader, const Index* slots, std::span<const Index> rows,
                       const Label* labels, Offers& out) {
    if constexpr (sizeof(Label) == 1)
      return reader.offers_8(slots, rows, labels, kVertices, out);
    else
      return reader.offers_16(slots, rows, labels, kVertices, out);
  };
  for (const std::size_t count : {8u, 16u, 32u, 48u}) {
    const EllReader best = ell_reader(count), plain = plain_ell_reader(count);
    int different = 0;
    for (int round = 0; round < 400; ++round) {
      std::vector<Label> labels(kVertices + 8, kNoPath);
      const int most = round % 3 == 0 ? 3 : round % 3 == 1 ? 100 : kNoPath;  // many alike, few alike
      for (Index v = 0; v < kVertices; ++v) labels[v] = static_cast<Label>(kNoPath - rng() % (most + 1));
      if (round % 2 == 0)
        for (Index v = 0; v < kVertices; ++v) labels[v] = static_cast<Label>(kNoPath - labels[v]);
      const SlotLists lists(rng, kLists, count, kVertices, round);
      const std::vector<Index>& slots = lists.slots;
      const std::vector<std::size_t>& length = lists.length;
      bool longer = false;
      std::vector<Index> batch(kColsAtOnce + kAskedAhead);
      for (Index& v : batch) v = static_cast<Index>(rng() % kLists);
      const std::span<const Index> rows(batch.data(), 1 + rng() % kRowsAtOnce),
          cols(batch.data(), 1 + rng() % kColsAtOnce);

      Offers a, b;
      const Visit at_once = read(best, slots.data(), rows, labels.data(), a);
      const Visit one_by_one = read(plain, slots.data(), rows, labels.data(), b);
      std::int64_t looks = 0;
      for (std::size_t k = 0; k < rows.size(); ++k) {
        const auto list = static_cast<std::size_t>(rows[k]);
        different += a.label[k] != b.label[k] || a.second[k] != b.second[k] ||
                     (a.label[k] != kNoPath && a.col[k] != b.col[k]);
        std::vector<Label> sorted{kNoPath, kNoPath};
        for (std::size_t e = 0; e < length[list]; ++e) sorted.push_back(labels[slots[list * count + e]]);
        std::sort(sorted.begin(), sorted.end());
        different += b.label[k] != sorted[0] || b.second[k] != sorted[1];
        looks += static_cast<std::int64_t>(length[list]);
        longer |= slots[list * count + count - 1] > kVertices;
      }
      different += at_once.looks != looks || one_by_one.looks != looks;
      different += at_once.longer != longer || one_by_one.longer != longer;

      std::vector<std::uint32_t> bits(kVertices / 32 + 1);
      for (std::uint32_t& word : bits) word = static_cast<std::uint32_t>(rng());
      bits.back() |= ~0u << (kVertices & 31);
      std::vector<Index> expected;
      std::vector<std::uint64_t> expected_unset;
      longer = false;
      for (const Index v : cols) {
        const Index* const list = &slots[static_cast<std::size_t>(v) * count];
        const std::size_t size = length[static_cast<std::size_t>(v)];
        expected.insert(expected.end(), list, list + size);
        std::uint64_t& word = expected_unset.emplace_back(0);
        for (std::size_t k = 0; k < size; ++k)
          word |= std::uint64_t{(bits[list[k] / 32] >> (list[k] % 32) & 1) == 0} << k;
        longer |= list[count - 1] > kVertices;
      }
      const auto all = static_cast<std::int64_t>(expected.size());
      for (const EllReader& reader : {best, plain}) {
        std::vector<Index> flat(kFlatRoom);
        const Visit flattened = reader.flatten(slots.data(), cols, kVertices, flat.data());
        flat.resize(expected.size());
        different += flat != expected || flattened.looks != all || flattened.longer != longer;
        std::vector<std::uint64_t> unset(cols.size());
        const Visit tested = reader.unset(slots.data(), cols, bits.data(), kVertices, unset.data());
        different += unset != expected_unset || tested.looks != all || tested.longer != longer;
      }
    }
    CHECK(different == 0);
  }
}

TEMPLATE_TEST_CASE("a list where it lies is read alike, many at once and one by one", "", std::uint8_t,
                   std::uint16_t) {
  using Label = TestType;
  constexpr Label kNoPath = kNoShortPath<Label>;
  const std::uint64_t seed = 6;
  INFO("seed " << seed);
  std::mt19937_64 rng(seed);
  constexpr Index kVertices = 1000;
  const AdjacencyReader best = adjacency_reader(), plain = plain_adjacency_reader();
  int different = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<Label> labels(kVertices + 8, kNoPath);
    std::vector<std::uint32_t> seen(kVertices / 32 + 1);
    const int most = round % 3 == 0 ? 3 : round % 3 == 1 ? 100 : kNoPath;
    for (Index v = 0; v < kVertices; ++v) labels[v] = static_cast<Label>(kNoPath - rng() % (most + 1));
    for (std::uint32_t& word : seen) word = static_cast<std::uint32_t>(rng());
    std::vector<Index> list(1 + rng() % 70);
    for (Index& v : list) v = static_cast<Index>(rng() % kVertices);
    const Offer a = best.offer(list, labels.data()), b = plain.offer(list, labels.data());
    different += a.label != b.label || a.second != b.second || a.col != b.col;
    std::vector<Label> sorted{kNoPath};
    for (const Index v : list) sorted.push_back(labels[v]);
    std::sort(sorted.begin(), sorted.end());
    different += b.label != sorted[0] || b.second != sorted[1] || labels[b.col] != b.label;
    std::vector<Index> found(list.size() + 16), expected(list.size() + 16);
    found.resize(static_cast<std::size_t>(best.unseen(list, seen.data(), found.data())));
    expected.resize(static_cast<std::size_t>(plain.unseen(list, seen.data(), expected.data())));
    std::vector<Index> begin(list.size() + kMostSlots), begin_too(begin.size());
    begin.resize(static_cast<std::size_t>(best.append(list, begin.data()) - begin.data()));
    begin_too.resize(static_cast<std::size_t>(plain.append(list, begin_too.data()) - begin_too.data()));
    different += begin != begin_too || begin.size() != std::min(list.size(), kMostSlots) ||
                 !std::equal(begin.begin(), begin.end(), list.begin());
    std::erase_if(list, [&](Index v) { return (seen[v / 32] >> (v % 32) & 1) != 0; });
    different += found != expected || expected != list;
  }
  CHECK(different == 0);
}

TEST_CASE("pushes end at their number, or when they bring less than on average") {
  RelabelPolicy number(100);
  number.spend(99);
  CHECK(number.go_on(5));
  number.spend(1);
  CHECK(!number.go_on(5));

  RelabelPolicy yield(1'000'000);
  yield.watch(1024, 100, 10);
  std::int64_t active = 1024;
  for (int k = 0; k < 5; ++k) {  // as good as ever
    yield.spend(10);
    CHECK(yield.go_on(active /= 2));
  }
  yield.spend(9);
  CHECK(yield.go_on(active));  // too early to say
  yield.spend(1);
  CHECK(!yield.go_on(active));

  RelabelPolicy stuck(1'000'000);  // no push gains anything, so labels do not help
  stuck.watch(3, 100, 10);
  stuck.spend(500);
  CHECK(stuck.go_on(3));
}

TEST_CASE("push-relabel on one thread is maximum with lists in slots and without") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    INFO("seed " << seed);
    auto graphs = testing::small_graphs(seed);
    if (seed == 1)
      for (auto& large : testing::large_graphs(seed)) graphs.push_back(std::move(large));
    for (const auto& [name, graph] : graphs) {
      INFO(name);
      const auto slots = certified(graph, "push-relabel?reorder=1");
      const auto plain = certified(graph, "push-relabel?reorder=0");
      // The layout of lists does not change their order: the same pushes.
      if (seed == 1) CHECK(slots.matching.row_to_col == plain.matching.row_to_col);
      CHECK(slots.matching.cardinality == plain.matching.cardinality);
      certified(graph, "push-relabel?reorder=1&relabel_frequency=50", plain.matching.row_to_col);
    }
  }
}

TEST_CASE("lists of any length around that of the slots") {
  const std::uint64_t seed = 9;
  INFO("seed " << seed);
  std::mt19937_64 rng(seed);
  for (const Index mean : {2, 7, 15, 18, 30, 70}) {
    CAPTURE(mean);
    const Index rows = 600, cols = 500;
    std::vector<std::pair<Index, Index>> edges;
    for (Index i = 0; i < rows; ++i) {
      const auto length = i % 100 == 0 ? 2u * mean + 30u : rng() % static_cast<std::uint64_t>(2 * mean + 1);
      for (std::uint64_t k = 0; k < length; ++k) edges.emplace_back(i, static_cast<Index>(rng() % cols));
    }
    const auto graph = testing::from_edges(rows, cols, edges);
    const auto slots = certified(graph, "push-relabel?reorder=1");
    CHECK(matching::detail::EllGraph::pay(testing::TwoSides(graph).sides) == (mean != 70));
    CHECK(slots.matching.row_to_col == certified(graph, "push-relabel?reorder=0").matching.row_to_col);
  }
}

TEST_CASE("lists of hubs stay where they are") {
  std::vector<std::pair<Index, Index>> edges;
  for (Index i = 0; i < 300; ++i) {
    edges.emplace_back(i, i);
    for (Index j = 0; i % 60 == 0 && j < 300; ++j) edges.emplace_back(i, j);
  }
  const auto graph = testing::from_edges(300, 300, edges);
  CHECK(!matching::detail::EllGraph::pay(testing::TwoSides(graph).sides));
  certified(graph, "push-relabel?reorder=1");
}

TEST_CASE("paths longer than labels of 8 and of 16 bits count") {
  for (const Index rows : {2, 33, 64, 253, 254, 255, 256, 300, 65'533, 65'534, 65'535, 70'000}) {
    const LongPath path(rows);
    for (const char* setting : {"push-relabel?reorder=1", "push-relabel?reorder=0"}) {
      const auto answer = certified(path.graph, setting, path.start);
      CHECK(answer.matching.cardinality == rows);
    }
  }
}
