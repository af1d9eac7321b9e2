// Properties of the auctions only: rounding, scales, stale prices, budgets, the same answer on every run.

#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

#include <motes/matching/registry.h>
#include <motes/matching/verify.h>

#include "matching/papers/auction/auction_options.h"
#include "matching/papers/auction/short_list_auction.h"
#include "tests/support/instances.h"
#include "tests/support/skip.h"

using namespace motes;
using matching::Cost;
using matching::Index;
using matching::kInfiniteCost;
using matching::Status;
using matching::detail::AuctionOptions;
using matching::detail::solve_by_auction;

namespace {

const AuctionOptions kPlain{.scaled = false}, kScaled{.scaled = true};

/// A full matrix of random costs, host memory.
struct Dense {
  Dense(Index rows, Index cols, std::int64_t high, std::uint64_t seed) : cost(std::size_t(rows) * cols) {
    std::mt19937_64 rng(seed);
    for (auto& c : cost) c = static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(high + 1));
    view.rows = rows, view.cols = cols, view.row_stride = cols;
    view.data = static_cast<const std::int64_t*>(cost.data());
    if (cols > rows) {
      free_cols.assign(cols, 0);
      view.unmatched_col_cost = free_cols;
    }
    if (rows > cols) {
      free_rows.assign(rows, 0);
      view.unmatched_row_cost = free_rows;
    }
  }
  std::vector<std::int64_t> cost;
  std::vector<Cost> free_rows, free_cols;
  matching::DenseCostsView view;
};

void check_certified(const matching::CostsView& problem, const matching::Matching& answer) {
  REQUIRE(answer.status == Status::optimal);
  const auto certificate = matching::verify(problem, answer);
  CHECK(certificate.fault == "");
  REQUIRE(certificate.optimal());
  CHECK(certificate.gap == 0);
}

/// Lists of a few objects, made on the host.
struct HostLists final : matching::detail::ListSource {
  HostLists(const Dense& costs, Cost steps, int count) : p(costs), scale(steps), places(count) {}
  int listed() const override { return places; }
  void make(std::span<const Index> persons, const std::vector<Cost>& dual, Index* object, Cost* cost,
            Cost* bound) override {
    ++calls;
    for (const Index i : persons) {
      std::vector<std::pair<Cost, Index>> offers;
      for (Index j = 0; j < p.view.cols; ++j)
        offers.emplace_back(p.cost[std::size_t(i) * p.view.cols + j] * scale - dual[j], j);
      std::sort(offers.begin(), offers.end());
      for (int k = 0; k < places; ++k, ++object, ++cost) {
        *object = k < p.view.cols ? offers[k].second : -1;
        *cost = k < p.view.cols ? offers[k].first + dual[*object] : 0;
      }
      *bound++ = places < p.view.cols ? offers[places].first : matching::detail::kNoOffer;
    }
  }
  const Dense& p;
  Cost scale;
  int places, calls = 0;
};

std::vector<Backend> backends() {
  std::vector<Backend> out{Backend::cpu};
  if (!gpu::list_devices().devices.empty()) out.push_back(Backend::cuda);
  return out;
}

Execution on(Backend backend, Workspace* workspace = nullptr) {
  Execution execution;
  execution.backend = backend;
  execution.workspace = workspace;
  return execution;
}

}  // namespace

TEST_CASE("auctions certify full matrices longer than their short lists, square and not") {
  Workspace workspace;
  for (const auto backend : backends()) {
    for (const auto& [rows, cols] :
         {std::pair<Index, Index>{200, 200}, {150, 220}, {220, 150}, {1, 300}, {33, 33}}) {
      for (const std::int64_t high : {0, 3, 40, 200, 5000, 1'000'000'000}) {
        const Dense p(rows, cols, high, static_cast<std::uint64_t>(rows * 7 + high % 1000));
        const auto reference = matching::find_solver("jv")->make()->solve({1}, p.view);
        for (const auto& options : {kPlain, kScaled}) {
          INFO(rows << " x " << cols << " high " << high << " scaled " << options.scaled << " backend "
                    << static_cast<int>(backend));
          const auto answer = solve_by_auction(on(backend, &workspace), p.view, {}, options);
          check_certified(p.view, answer);
          CHECK(answer.objective == reference.objective);
          CHECK(answer.stats.augmentations > 0);
        }
      }
    }
  }
}

TEST_CASE("forgetting stale prices gives wrong answers, which the certificate tells") {
  // Between phases pairs are given up; where no column bids back, some stay free below their starting price.
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Dense p(40, 50, 1000, seed);
    const auto naive = solve_by_auction({1}, p.view, {}, {.scaled = true, .reverse = false});
    const auto certificate = matching::verify(p.view, naive);
    const auto right = solve_by_auction({1}, p.view, {}, kScaled);
    check_certified(p.view, right);
    CHECK(naive.objective >= right.objective);
    if (naive.objective > right.objective) CHECK_FALSE(certificate.optimal());
    wrong += !certificate.optimal();
  }
  CHECK(wrong > 10);
}

TEST_CASE("costs that leave no room for the scale are finished by paths, exactly") {
  for (const Cost size : {Cost{1} << 40, Cost{1} << 50, Cost{1} << 55}) {
    std::mt19937_64 rng(static_cast<std::uint64_t>(size));
    matching::SparseCosts p;
    const Index n = 12;
    p.graph.rows = p.graph.cols = n;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        p.graph.col_index.push_back(j);
        p.cost.push_back(static_cast<Cost>(rng() % static_cast<std::uint64_t>(size)) - size / 2);
      }
      p.graph.row_offsets.push_back(static_cast<matching::Offset>(p.cost.size()));
    }
    for (const bool free : {false, true}) {
      if (free) p.unmatched_row_cost.assign(n, size / 8), p.unmatched_col_cost.assign(n, -size / 8);
      const auto best = testing::brute_force(p.view());
      for (const auto backend : backends()) {
        for (const auto& options : {kPlain, kScaled}) {
          INFO("size " << size << " free " << free << " scaled " << options.scaled);
          const auto answer = solve_by_auction(on(backend), p.view(), {}, options);
          check_certified(p.view(), answer);
          CHECK(answer.objective == static_cast<double>(*best));
        }
      }
    }
  }
}

TEST_CASE("the shift that rounds duals exactly is there for every residue but one taken") {
  matching::detail::CanonicalSides sides;
  sides.rows = sides.cols = 3;
  sides.start = {0, 0, 0};
  sides.perfect = true;
  matching::detail::AuctionScale scale{5, 2, true};
  matching::detail::AuctionResult result;
  result.row_to_col = {0, 1, 2};
  std::vector<Cost> v;
  // -v takes residues 1, 2 and 3 of 5: only the shift 4 is free.
  result.v = {-1, -2, -3};
  REQUIRE(matching::detail::exact_duals(sides, scale, result, {}, v));
  CHECK(v == std::vector<Cost>{0, 0, 0});
  result.v = {-6, -7, -8};
  REQUIRE(matching::detail::exact_duals(sides, scale, result, {}, v));
  CHECK(v == std::vector<Cost>{-1, -1, -1});
  result.v = {-1, -2, -3};
  scale.steps = 4;  // too coarse: all shifts are taken
  CHECK_FALSE(matching::detail::exact_duals(sides, scale, result, {}, v));
}

TEST_CASE("an auction that cannot place all persons ends and says so") {
  Workspace workspace;
  for (const auto backend : backends()) {
    for (const auto& options : {kPlain, kScaled}) {
      // k + 1 rows that know only k columns, all costs equal: a price war without an end of its own.
      for (const Index k : {1, 2, 30}) {
        matching::SparseCosts p;
        p.graph.rows = p.graph.cols = k + 1;
        for (Index i = 0; i <= k; ++i) {
          for (Index j = 0; j < k; ++j) p.graph.col_index.push_back(j), p.cost.push_back(100000);
          p.graph.row_offsets.push_back(static_cast<matching::Offset>(p.cost.size()));
        }
        INFO("k " << k << " scaled " << options.scaled);
        CHECK(solve_by_auction(on(backend, &workspace), p.view(), {}, options).status == Status::infeasible);
      }
      // More rows than columns, and no exits.
      Dense p(6, 4, 50, 1);
      p.view.unmatched_row_cost = {};
      CHECK(solve_by_auction(on(backend, &workspace), p.view, {}, options).status == Status::infeasible);
    }
  }
}

TEST_CASE("auctions bid about once a row where each row has a column of its own") {
  const Index n = 400;
  matching::SparseCosts p;
  p.graph.rows = p.graph.cols = n;
  for (Index i = 0; i < n; ++i) {
    if (i > 0) p.graph.col_index.push_back(i - 1), p.cost.push_back(50);
    p.graph.col_index.push_back(i), p.cost.push_back(1);
    p.graph.row_offsets.push_back(static_cast<matching::Offset>(p.cost.size()));
  }
  for (const auto backend : backends()) {
    const auto answer = solve_by_auction(on(backend), p.view(), {}, kPlain);
    check_certified(p.view(), answer);
    CHECK(answer.stats.augmentations == n);
    CHECK(answer.stats.phases == 1);
    // From its own answer there is no person left to bid.
    const auto again =
        solve_by_auction(on(backend), p.view(), {answer.row_to_col, answer.duals.u, answer.duals.v}, kPlain);
    check_certified(p.view(), again);
    CHECK(again.stats.augmentations == 0);
    CHECK(again.row_to_col == answer.row_to_col);
  }
}

TEST_CASE("auctions on the GPU answer the same on every run and from any memory") {
  MOTES_NEED_GPU();
  Workspace workspace;
  for (const auto& options : {kPlain, kScaled}) {
    for (const std::int64_t high : {5, 700, 1'000'000}) {
      const Dense p(700, high == 5 ? 700 : 760, high, 3);
      const auto first = solve_by_auction(on(Backend::cuda, &workspace), p.view, {}, options);
      check_certified(p.view, first);
      for (int run = 0; run < 3; ++run) {
        const auto again =
            solve_by_auction(on(Backend::cuda, run == 0 ? nullptr : &workspace), p.view, {}, options);
        CHECK(again.row_to_col == first.row_to_col);
        CHECK(again.duals.v == first.duals.v);
        CHECK(again.stats.augmentations == first.stats.augmentations);
        CHECK(again.stats.rounds == first.stats.rounds);
      }
    }
  }
}

TEST_CASE("for the memory and race checkers: auctions") {
  MOTES_NEED_GPU();
  // Large enough for the grid, the block, the lone bidder, lists that must be made again, and columns that
  // bid.
  for (const auto& options : {kPlain, kScaled}) {
    const Dense p(136, 150, 60, 5);
    const auto dense = solve_by_auction(on(Backend::cuda), p.view, {}, options);
    check_certified(p.view, dense);
    const auto sparse_costs = matching::to_sparse(p.view);
    const auto sparse = solve_by_auction(on(Backend::cuda), sparse_costs.view(),
                                         {dense.row_to_col, dense.duals.u, {}}, options);
    check_certified(p.view, sparse);
    const Dense square(150, 150, 60, 6);
    check_certified(square.view, solve_by_auction(on(Backend::cuda), square.view, {}, options));
  }
}

TEST_CASE("bids from lists made elsewhere end at the optimum, however short the lists") {
  for (const Index n : {1, 2, 5, 70, 600}) {
    for (const std::int64_t high : {0, 9, 1000}) {
      const Dense p(n, n, high, static_cast<std::uint64_t>(n + high));
      const auto sides = matching::detail::make_sides(p.view, high);
      const auto scale = matching::detail::auction_scale(sides);
      const auto start = matching::detail::auction_start(sides, scale, {});
      const auto best = matching::find_solver("jv")->make()->solve({1}, p.view);
      for (const int places : {2, 3, 16}) {
        if (n == 600 && places < 16) continue;  // only to be long enough for several threads
        INFO(n << " high " << high << " places " << places);
        HostLists lists(p, scale.steps, places);
        auto result = matching::detail::auction_on_lists({2}, sides, scale, kScaled, start, lists);
        const int calls = lists.calls;
        const auto alone = matching::detail::auction_on_lists({1}, sides, scale, kScaled, start, lists);
        CHECK(alone.row_to_col == result.row_to_col);
        CHECK(alone.v == result.v);
        REQUIRE_FALSE(result.unfinished);
        Cost sum = 0;
        for (Index i = 0; i < n; ++i) sum += p.cost[std::size_t(i) * n + result.row_to_col[i]];
        CHECK(static_cast<double>(sum) == best.objective);
        std::vector<Cost> v;
        CHECK(matching::detail::exact_duals(sides, scale, result, {}, v));
        if (places == 16) CHECK(calls < 200);
      }
    }
  }
}
