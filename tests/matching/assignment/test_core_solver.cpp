// The parts that large matrices and point sets go through: one pass over a row, cells of points, cores, and
// the forests that solve perfect problems on them.

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include <catch2/catch.hpp>

#include <motes/matching/registry.h>
#include <motes/matching/verify.h>

#include "matching/assignment/core/core_solver.h"
#include "matching/assignment/core/point_order.h"
#include "matching/assignment/core/pricing.h"
#include "matching/assignment/dense/row_scan.h"
#include "matching/points/cell_grid.h"
#include "tests/support/instances.h"

using namespace motes;
using matching::Cost;
using matching::Index;
using matching::Status;
using matching::detail::Instructions;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
std::vector<T> awkward_row(std::mt19937_64& rng, Index count, bool spoilt) {
  std::vector<T> row(count);
  for (T& x : row) x = static_cast<T>(static_cast<double>(rng() % 2001) - 1000);
  for (int k = 0; k < 3 && count > 0; ++k) {
    if constexpr (std::is_floating_point_v<T>) {
      row[rng() % count] = std::numeric_limits<T>::infinity();
      row[rng() % count] = std::numeric_limits<T>::denorm_min();
      if (spoilt) row[rng() % count] = k == 0 ? std::numeric_limits<T>::quiet_NaN() : -row[0];
    } else {
      row[rng() % count] = std::numeric_limits<T>::max();
      row[rng() % count] = std::numeric_limits<T>::min();
    }
  }
  return row;
}

template <class T>
void check_scans(std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  for (const Index count : {0, 1, 15, 16, 17, 33, 200}) {
    for (const bool spoilt : {false, true}) {
      INFO("seed " << seed << " count " << count << " spoilt " << spoilt << " bytes " << sizeof(T));
      const auto row = awkward_row<T>(rng, count, spoilt);
      for (const T limit : {static_cast<T>(-900), static_cast<T>(0)}) {
        std::vector<Index> plain(count), wide(count), expected;
        const auto a = scan_row(Instructions::plain, row.data(), count, limit, plain.data());
        const auto b = scan_row(matching::detail::best_instructions(), row.data(), count, limit, wide.data());
        for (Index j = 0; j < count; ++j)
          if (row[j] <= limit) expected.push_back(j);
        plain.resize(a.hits), wide.resize(b.hits);
        CHECK(plain == expected);
        CHECK(wide == expected);
        CHECK(a.bad == b.bad);
        CHECK(std::memcmp(&a.largest, &b.largest, sizeof(T)) == 0);
        const auto is_bad = [](T x) {
          if constexpr (std::is_floating_point_v<T>)
            return !(x >= -std::numeric_limits<T>::max());
          else
            return x != x;
        };
        CHECK(a.bad == std::any_of(row.begin(), row.end(), is_bad));
      }
    }
  }
}

matching::GeometricCosts::Points awkward_points(std::mt19937_64& rng, int kind, int count, bool flat) {
  matching::GeometricCosts::Points points;
  for (int k = 0; k < count; ++k) {
    const auto place = [&](int axis) {
      if (kind == 0) return static_cast<double>(rng() % 1000) / 100;          // spread
      if (kind == 1) return static_cast<double>(rng() % 4);                   // a lattice: ties, duplicates
      if (kind == 2) return axis == 0 ? static_cast<double>(k % 37) : 1.0;    // a line
      if (kind == 3) return (k % 2) * 1e6 + static_cast<double>(rng() % 50);  // two far clusters
      return 5.0;                                                             // all in one place
    };
    points.x.push_back(place(0));
    points.y.push_back(place(1));
    if (!flat) points.z.push_back(place(2));
  }
  return points;
}

/// jv's answer is optimal and as good as that of the same problem as a graph.
void check_against_graph(const matching::CostsView& problem, int threads = 1) {
  const auto jv = matching::find_solver("jv")->make();
  const auto answer = jv->solve({threads}, problem);
  const auto reference = jv->solve({1}, matching::to_sparse(problem).view());
  REQUIRE(answer.status == reference.status);
  if (answer.status == Status::infeasible) return;
  REQUIRE(matching::verify(problem, answer).fault == "");
  CHECK(answer.objective == reference.objective);
}

constexpr int kKinds = 14;

template <class T>
matching::DenseCosts matrix_of(Index n, Index cols, std::uint64_t seed, int kind) {
  std::mt19937_64 rng(seed);
  matching::DenseCosts out;
  out.rows = n, out.cols = cols;
  std::vector<T> entries(static_cast<std::size_t>(n) * cols);
  const T forbidden =
      std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < cols; ++j) {
      T& c = entries[static_cast<std::size_t>(i) * cols + j];
      c = static_cast<T>(rng() % 100'000);
      if (kind == 1) c = 7;                                        // all equal
      if (kind == 2) c = static_cast<T>(rng() % 3);                // ties
      if (kind == 3) c += static_cast<T>(j < 40 ? 0 : 1'000'000);  // cheap pairs in few columns: no way out
      if (kind == 4 && rng() % 4 != 0) c = forbidden;
      if (kind == 5) c = j < n / 2 && i <= n / 2 ? T{1} : (i <= n / 2 ? forbidden : T{2});  // Hall violated
      if (kind == 6) c = static_cast<T>(std::abs(i - j) * (i % 7 + 1));                     // sorted
      if (kind == 7) c = static_cast<T>(900 * (j % 301) + 700 * (i % 97) + rng() % 500);    // levels
      if (kind == 8) c += static_cast<T>(j % 97 == 5 ? 1'000'000 : 0);  // few expensive columns
      if (kind == 9) c = static_cast<T>(5000 * j + 31 * i);             // levels alone: ties
      if (kind == 10) c = static_cast<T>(30 * j + rng() % 1000);        // levels within the noise
      if (kind == 11) c = static_cast<T>(1'000'000 * j + rng() % 100);  // ... far above it
      if (kind == 12) c = static_cast<T>((i + 1) * (j + 1));            // products
      if (kind == 13) c = static_cast<T>(std::max(37 * i % 521, 91 * j % 523));
      if (kind == 14) c = static_cast<T>(std::ldexp(1 + 1e-3 * (rng() % 1000), j * 18 / cols + 5));
    }
  }
  out.entries = std::move(entries);
  return out;
}

template <class T>
void check_matrices(std::uint64_t seed) {
  for (int kind = 0; kind <= kKinds; ++kind) {
    INFO("kind " << kind << " bytes " << sizeof(T) << " seed " << seed);
    const auto square = matrix_of<T>(520, 520, seed, kind);
    check_against_graph(square.view(), 2);
  }
  auto wide = matrix_of<T>(300, 600, seed, 0);
  wide.unmatched_col_cost.assign(600, 0);
  check_against_graph(wide.view());
  auto tall = matrix_of<T>(600, 300, seed, 2);
  tall.unmatched_row_cost.assign(600, 0);
  check_against_graph(tall.view());
}

}  // namespace

TEST_CASE("a row's pass finds the same with every instruction set") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    check_scans<std::int32_t>(seed);
    check_scans<std::int64_t>(seed);
    check_scans<float>(seed);
    check_scans<double>(seed);
  }
}

TEST_CASE("entries below dual sums are found the same with every instruction set") {
  std::mt19937_64 rng(4);
  for (const Index count : {0, 7, 16, 100}) {
    const auto row = awkward_row<float>(rng, count, true);
    std::vector<double> v(count);
    for (double& x : v) x = static_cast<double>(rng() % 400) - 200;
    std::vector<Index> plain(count), wide(count);
    plain.resize(scan_below(Instructions::plain, row.data(), count, 3.0, v.data(), plain.data()));
    wide.resize(
        scan_below(matching::detail::best_instructions(), row.data(), count, 3.0, v.data(), wide.data()));
    CHECK(plain == wide);
  }
}

TEST_CASE("cells give the nearest points, ties in turn, however the points lie") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    for (int kind = 0; kind <= 4; ++kind) {
      for (const bool flat : {false, true}) {
        std::mt19937_64 rng(seed);
        const auto points = awkward_points(rng, kind, 150, flat), from = awkward_points(rng, kind, 20, flat);
        const matching::detail::CellGrid grid(points.x.data(), points.y.data(),
                                              flat ? nullptr : points.z.data(), 150, 2);
        for (int q = 0; q < 20; ++q) {
          const double far_off = q % 5 == 0 ? -30 : 0;
          const matching::detail::CellGrid::Place place{from.x[q] + far_off, from.y[q], flat ? 0 : from.z[q]};
          for (const Index wanted : {1, 8, 150}) {
            for (const double farthest : {4.0, kInfinity}) {
              const Index first = static_cast<Index>(rng() % 150);
              INFO("seed " << seed << " kind " << kind << " flat " << flat << " query " << q);
              std::vector<std::tuple<double, Index, Index>> all;
              for (Index p = 0; p < 150; ++p) {
                const double dx = place.x - points.x[p], dy = place.y - points.y[p],
                             dz = flat ? 0 : place.z - points.z[p];
                const double squared = (dx * dx + dy * dy) + dz * dz;
                if (squared <= farthest) all.emplace_back(squared, (p - first + 150) % 150, p);
              }
              std::sort(all.begin(), all.end());
              std::vector<matching::detail::CellGrid::Found> found;
              const bool complete = grid.nearest(place, wanted, farthest, first, found);
              if (complete) CHECK(found.size() == all.size());
              if (all.size() > static_cast<std::size_t>(wanted)) all.resize(wanted);
              REQUIRE(found.size() == all.size());
              std::vector<double> expected, got;
              for (const auto& a : all) expected.push_back(std::get<0>(a));
              for (const auto& f : found) got.push_back(f.squared);
              std::sort(got.begin(), got.end());
              CHECK(got == expected);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("jv: matrices of every number type, tied, equal, forbidden, without a way out") {
  check_matrices<std::int32_t>(1);
  check_matrices<std::int64_t>(2);
  check_matrices<float>(3);
  check_matrices<double>(4);
}

TEST_CASE("jv: points of every shape agree with their graph, gated or not") {
  const auto jv = matching::find_solver("jv")->make();
  for (int kind = 0; kind <= 4; ++kind) {
    for (const double gate : {kInfinity, 1.5, 4.0}) {
      for (const bool must : {true, false}) {
        std::mt19937_64 rng(9);
        INFO("kind " << kind << " gate " << gate << " must " << must);
        matching::GeometricCosts costs;
        costs.row_points = awkward_points(rng, kind, 540, kind == 0);
        costs.col_points = awkward_points(rng, kind, must ? 540 : 560, kind == 0);
        costs.gate = gate;
        costs.fraction_bits = 12;
        if (!must) {
          costs.unmatched_row_cost.assign(540, 3 << 12);
          costs.unmatched_col_cost.assign(560, 2 << 12);
        }
        check_against_graph(costs.view());
        const auto one = jv->solve({1}, costs.view()), three = jv->solve({3}, costs.view());
        CHECK(one.row_to_col == three.row_to_col);
        CHECK(one.duals.v == three.duals.v);
      }
    }
  }
}

TEST_CASE("jv reads a matrix once, and still refuses its bad entries with their place") {
  const auto jv = matching::find_solver("jv")->make();
  auto costs = matrix_of<double>(600, 600, 1, 0);
  auto& entries = std::get<std::vector<double>>(costs.entries);
  const double good = entries.back();
  for (const double bad : {std::nan(""), -kInfinity, 1e300}) {
    INFO(bad);
    entries.back() = bad;
    CHECK_THROWS_WITH(jv->solve({2}, costs.view()), Catch::Contains("pair (599, 599)"));
    CHECK_THROWS_WITH(jv->solve({2}, costs.view(), {}), Catch::Contains("2^50"));
    entries.back() = good;
  }
  entries.back() = kInfinity;
  CHECK(jv->solve({1}, costs.view()).status == Status::optimal);
  costs.fraction_bits = 30;  // legal entries, but too many steps for that many vertices
  entries.back() = 0x1p19;
  CHECK_THROWS_WITH(jv->solve({1}, costs.view()), Catch::Contains("2^60"));
  auto floats = matrix_of<float>(600, 600, 1, 0);
  std::get<std::vector<float>>(floats.entries)[600 * 300 + 7] = std::nanf("");
  CHECK_THROWS_WITH(jv->solve({3}, floats.view()), Catch::Contains("pair (300, 7)"));
  // Not in the view, not in the problem.
  matching::DenseCostsView part = floats.view();
  part.rows = 300;
  part.cols = 590;
  std::vector<Cost> none(590, 0);
  part.unmatched_col_cost = none;
  CHECK(jv->solve({1}, part).status == Status::optimal);
}

/// What select_core promises, for one matrix.
template <class T>
void check_core(const matching::DenseCosts& costs, Index of_columns, bool levels_expected) {
  matching::detail::with_entries(costs.view(), [&](const auto& given) {
    if constexpr (std::is_same_v<std::decay_t<decltype(given)>, matching::detail::DenseEntries<T>>) {
      for (const auto& entries : {given, matching::detail::exchanged(given)}) {
        const auto one = matching::detail::select_core({1}, entries, 8, of_columns);
        const auto four = matching::detail::select_core({4}, entries, 8, of_columns);
        CHECK(one.core.graph.col_index == four.core.graph.col_index);
        CHECK(one.core.graph.row_offsets == four.core.graph.row_offsets);
        CHECK(one.core.cost == four.core.cost);
        CHECK(one.bound == four.bound);
        CHECK(one.level == four.level);
        if (&entries == &given) CHECK(one.level.empty() == !levels_expected);
        std::vector<Index> degree(entries.cols, 0), allowed(entries.cols, 0);
        for (Index i = 0; i < entries.rows; ++i) {
          const auto* begin = one.core.graph.col_index.data() + one.core.graph.row_offsets[i];
          const auto* end = one.core.graph.col_index.data() + one.core.graph.row_offsets[i + 1];
          REQUIRE(std::adjacent_find(begin, end, std::greater_equal<>()) == end);
          for (const auto* j = begin; j != end; ++j) {
            ++degree[*j];
            REQUIRE(one.core.cost[j - one.core.graph.col_index.data()] == entries.at(i, *j));
          }
          entries.for_each(i, 0, 1, [&](Index j, Cost c) {
            ++allowed[j];
            const Cost level = one.level.empty() ? 0 : one.level[j];
            if (c - level <= one.bound[i] && !std::binary_search(begin, end, j))
              FAIL("pair (" << i << ", " << j << ") is missing");
          });
        }
        for (Index j = 0; j < entries.cols && of_columns > 0 && !levels_expected; ++j)
          if (degree[j] < std::min(of_columns, allowed[j])) FAIL("column " << j << " has few pairs");
      }
    }
  });
}

TEST_CASE("a core is the same for any number of threads, and keeps its promise") {
  for (const int kind : {0, 2, 4, 7, 8, 9, 10, 11}) {
    for (const Index of_columns : {0, 3}) {
      INFO("kind " << kind << " of columns " << of_columns);
      const bool levels = of_columns > 0 && (kind == 7 || kind >= 9);
      check_core<float>(matrix_of<float>(400, 430, 5, kind), of_columns, levels);
      check_core<double>(matrix_of<double>(430, 400, 6, kind), of_columns, levels);
      check_core<std::int32_t>(matrix_of<std::int32_t>(400, 400, 7, kind), of_columns, levels);
      check_core<std::int64_t>(matrix_of<std::int64_t>(400, 400, 8, kind), of_columns, levels);
    }
  }
}

TEST_CASE("pairs outside a core that violate lie among the open columns, and are all found") {
  for (const int kind : {0, 4, 7, 8}) {
    for (const Index of_columns : {0, 3}) {
      const auto costs = matrix_of<double>(300, 320, 3, kind);
      const auto view = costs.view();
      matching::detail::with_entries(view, [&](const auto& entries) {
        using Entries = std::decay_t<decltype(entries)>;
        if constexpr (std::is_same_v<Entries, matching::detail::DenseEntries<double>>) {
          const auto selection = matching::detail::select_core({1}, entries, 8, of_columns);
          matching::detail::RowPricer<Entries> pricer(entries);
          std::mt19937_64 rng(kind);
          for (const int spread : {1, 1000, 100'000}) {
            INFO("kind " << kind << " of columns " << of_columns << " spread " << spread);
            std::vector<Cost> v(320);
            for (Cost& x : v) x = static_cast<Cost>(rng() % spread) - spread / 2;
            const matching::detail::BoundProof proof(selection, v);
            pricer.set_duals(v);
            for (Index i = 0; i < 300; ++i) {
              const auto begin = selection.core.graph.col_index.begin() + selection.core.graph.row_offsets[i];
              const auto end =
                  selection.core.graph.col_index.begin() + selection.core.graph.row_offsets[i + 1];
              Cost u = 400'000;
              for (auto j = begin; j != end; ++j) u = std::min(u, entries.at(i, *j) - v[*j]);
              std::vector<Index> expected, all, some;
              entries.for_each(i, 0, 1, [&](Index j, Cost c) {
                if (c < u + v[j]) expected.push_back(j);
              });
              std::vector<matching::detail::CorePair> found, among;
              matching::detail::PricingScratch scratch;
              pricer.find(i, u, scratch, found);
              pricer.find_among(proof.open(i, u), i, u, among);
              for (const auto& pair : found) all.push_back(pair.col);
              for (const auto& pair : among) some.push_back(pair.col);
              std::sort(all.begin(), all.end());
              std::sort(some.begin(), some.end());
              REQUIRE(all == expected);
              REQUIRE(some == expected);
            }
          }
        }
      });
    }
  }
}

TEST_CASE("points in the order of cells are the same problem, with the same start") {
  for (const bool exchanged : {false, true}) {
    INFO("exchanged " << exchanged);
    std::mt19937_64 rng(11);
    matching::GeometricCosts costs;
    costs.row_points = awkward_points(rng, 0, 60, false);
    costs.col_points = awkward_points(rng, 0, 70, false);
    costs.gate = 6;
    costs.fraction_bits = 12;
    auto& unmatched = exchanged ? costs.unmatched_row_cost : costs.unmatched_col_cost;
    for (Index k = 0; k < (exchanged ? 60 : 70); ++k) unmatched.push_back(k + 7);
    const auto view = costs.view();
    std::vector<Index> pairs(60, -1);
    std::vector<Cost> u(60), v(70);
    for (Index i = 0; i < 60; ++i) pairs[i] = i % 3 == 0 ? 69 - i : -1;
    std::iota(u.begin(), u.end(), 1000);
    std::iota(v.begin(), v.end(), 5000);
    matching::detail::with_entries(view, [&](const auto& given) {
      if constexpr (std::is_same_v<std::decay_t<decltype(given)>, matching::detail::GeometricEntries>) {
        const auto entries = exchanged ? matching::detail::exchanged(given) : given;
        const matching::detail::Canonical<matching::detail::GeometricEntries> problem{
            matching::detail::make_sides(view, matching::detail::largest_cost(view, 1)), entries};
        REQUIRE(problem.exchanged == exchanged);
        const matching::detail::OrderedPoints ordered(problem, {pairs, u, v});
        const auto& other = ordered.problem();
        // Where everything stands, from a solution that says so.
        std::vector<Index> row(problem.rows), col(problem.cols);
        for (Index shift = 0; shift < problem.rows; shift += problem.cols) {
          matching::detail::Solution marks;
          for (Index i = 0; i < problem.rows; ++i)
            marks.row_to_col.push_back(i >= shift && i < shift + problem.cols ? i - shift : -1);
          for (Index j = 0; j < problem.cols; ++j) marks.v.push_back(j);
          marks = ordered.restored(std::move(marks));
          for (Index j = 0; j < problem.cols; ++j) col[marks.v[j]] = j;
          for (Index i = 0; i < problem.rows; ++i)
            if (marks.row_to_col[i] != -1) row[marks.v[marks.row_to_col[i]] + shift] = i;
        }
        const auto& asked_row = exchanged ? col : row;
        const auto& asked_col = exchanged ? row : col;
        for (Index i = 0; i < problem.rows; ++i) {
          CHECK(other.exit_of(i) == problem.exit_of(row[i]));
          for (Index j = 0; j < problem.cols; ++j)
            if (other.entries.at(i, j) != entries.at(row[i], col[j])) FAIL("pair " << i << " " << j);
        }
        for (Index j = 0; j < problem.cols; ++j) CHECK(other.start[j] == problem.start[col[j]]);
        for (Index k = 0; k < 60; ++k) {
          CHECK(ordered.start().u[k] == u[asked_row[k]]);
          const Index mate = ordered.start().row_to_col[k];
          CHECK((mate == -1 ? -1 : asked_col[mate]) == pairs[asked_row[k]]);
        }
        for (Index k = 0; k < 70; ++k) CHECK(ordered.start().v[k] == v[asked_col[k]]);
      }
    });
  }
}

TEST_CASE("jv: points start from any matching and duals, whichever side must be matched") {
  const auto jv = matching::find_solver("jv")->make();
  for (const bool exchanged : {false, true}) {
    std::mt19937_64 rng(12);
    matching::GeometricCosts costs;
    costs.row_points = awkward_points(rng, 0, exchanged ? 620 : 560, true);
    costs.col_points = awkward_points(rng, 0, exchanged ? 560 : 620, true);
    costs.fraction_bits = 12;
    (exchanged ? costs.unmatched_row_cost : costs.unmatched_col_cost).assign(620, 1 << 11);
    const auto cold = jv->solve({1}, costs.view());
    REQUIRE(matching::verify(costs.view(), cold).optimal());
    const auto warm = jv->solve({2}, costs.view(), {cold.row_to_col, cold.duals.u, cold.duals.v});
    REQUIRE(matching::verify(costs.view(), warm).optimal());
    CHECK(warm.objective == cold.objective);
    CHECK(warm.stats.rounds < cold.stats.rounds);
  }
}
