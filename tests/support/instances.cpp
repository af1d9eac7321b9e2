/// Assignment problems of many kinds, and brute force.

#include "tests/support/instances.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace motes::testing {

using matching::Cost;
using matching::Index;
using matching::kInfiniteCost;
using matching::Offset;
using matching::SparseCosts;
using matching::SparseCostsView;
using Rng = std::mt19937_64;

namespace {

Cost draw(Rng& rng, Cost low, Cost high) { return std::uniform_int_distribution<Cost>(low, high)(rng); }

enum class Free { perfect, both, rows_only, cols_only, mixed };

std::vector<Cost> unmatched(Rng& rng, Index n, Free kind, bool row_side, Cost high) {
  std::vector<Cost> costs(n);
  for (Cost& c : costs) {
    const bool finite = kind == Free::both || (kind == Free::rows_only && row_side) ||
                        (kind == Free::cols_only && !row_side) ||
                        (kind == Free::mixed && draw(rng, 0, 2) != 0);
    c = finite ? draw(rng, -high / 8, high) : kInfiniteCost;
  }
  return costs;
}

SparseCosts random_sparse(Rng& rng, Index rows, Index cols, double density, Cost low, Cost high, Free kind) {
  SparseCosts p;
  p.graph.rows = rows;
  p.graph.cols = cols;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      if (std::uniform_real_distribution<>(0, 1)(rng) >= density) continue;
      p.graph.col_index.push_back(j);
      p.cost.push_back(draw(rng, low, high));
    }
    p.graph.row_offsets.push_back(static_cast<Offset>(p.cost.size()));
  }
  const Cost scale = std::max<Cost>(1, std::max(high, -low));
  p.unmatched_row_cost = unmatched(rng, rows, kind, true, scale);
  p.unmatched_col_cost = unmatched(rng, cols, kind, false, scale);
  return p;
}

/// Points in a cube of unit mean spacing and their displaced copies, squared distances within a gate.
SparseCosts points(Rng& rng, Index n, double sigma, double gate, Cost steps_per_unit) {
  const double side = std::cbrt(static_cast<double>(n));
  std::uniform_real_distribution<> uniform(0, side);
  std::normal_distribution<> normal(0, sigma);
  std::vector<std::array<double, 3>> a(n), b(n);
  for (Index i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) b[i][k] = (a[i][k] = uniform(rng)) + normal(rng);
  std::shuffle(b.begin(), b.end(), rng);
  SparseCosts p;
  p.graph.rows = p.graph.cols = n;
  for (const auto& x : a) {
    for (Index j = 0; j < n; ++j) {
      double d2 = 0;
      for (int k = 0; k < 3; ++k) d2 += (x[k] - b[j][k]) * (x[k] - b[j][k]);
      if (d2 > gate * gate) continue;
      p.graph.col_index.push_back(j);
      p.cost.push_back(std::llround(d2 * static_cast<double>(steps_per_unit)));
    }
    p.graph.row_offsets.push_back(static_cast<Offset>(p.cost.size()));
  }
  const Cost free = std::llround(gate * gate * static_cast<double>(steps_per_unit));
  p.unmatched_row_cost.assign(n, free);
  p.unmatched_col_cost.assign(n, free);
  return p;
}

/// A chain whose cheap edges must all shift by one when its last column is asked for.
SparseCosts chain(Index n) {
  SparseCosts p;
  p.graph.rows = p.graph.cols = n;
  for (Index i = 0; i < n; ++i) {
    if (i > 0) p.graph.col_index.push_back(i - 1), p.cost.push_back(1);
    p.graph.col_index.push_back(i), p.cost.push_back(i + 1 == n ? 1000 : 2);
    p.graph.row_offsets.push_back(static_cast<Offset>(p.cost.size()));
  }
  p.unmatched_row_cost.assign(n, kInfiniteCost);
  p.unmatched_col_cost.assign(n, 0);
  return p;
}

SparseCosts geometric_progression(Index n) {
  std::vector<std::vector<Cost>> matrix(n, std::vector<Cost>(n));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) matrix[i][j] = Cost{1} << (2 * (i + j));
  return from_matrix(matrix);
}

/// Lattice points against the same lattice: squared distances tie without end.
SparseCosts lattice(Index side, double gate2) {
  SparseCosts p;
  p.graph.rows = p.graph.cols = side * side;
  for (Index i = 0; i < side * side; ++i) {
    for (Index j = 0; j < side * side; ++j) {
      const Cost dx = i % side - j % side, dy = i / side - j / side,
                 d2 = dx * dx + dy * dy + (dx == 0 && dy == 0 ? 1 : 0);
      if (static_cast<double>(d2) > gate2) continue;
      p.graph.col_index.push_back(j), p.cost.push_back(d2);
    }
    p.graph.row_offsets.push_back(static_cast<Offset>(p.cost.size()));
  }
  p.unmatched_row_cost.assign(side * side, 3);
  p.unmatched_col_cost.assign(side * side, 3);
  return p;
}

}  // namespace

SparseCosts from_matrix(const std::vector<std::vector<Cost>>& matrix) {
  SparseCosts p;
  p.graph.rows = static_cast<Index>(matrix.size());
  p.graph.cols = matrix.empty() ? 0 : static_cast<Index>(matrix[0].size());
  for (const auto& row : matrix) {
    for (Index j = 0; j < p.graph.cols; ++j)
      if (row[j] != kInfiniteCost) p.graph.col_index.push_back(j), p.cost.push_back(row[j]);
    p.graph.row_offsets.push_back(static_cast<Offset>(p.cost.size()));
  }
  return p;
}

std::vector<Instance> small_instances(std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Instance> out;
  const std::string tail = " seed " + std::to_string(seed);
  for (const Free kind : {Free::perfect, Free::both, Free::rows_only, Free::cols_only, Free::mixed}) {
    const std::string free = " free " + std::to_string(static_cast<int>(kind));
    for (const auto& [low, high] :
         {std::pair<Cost, Cost>{0, 1}, {0, 20}, {-30, 30}, {0, 1'000'000'000}, {7, 7}}) {
      const Index rows = static_cast<Index>(draw(rng, 0, 7)), cols = static_cast<Index>(draw(rng, 0, 7));
      for (const double density : {0.25, 0.6, 1.0})
        out.push_back({"random " + std::to_string(rows) + "x" + std::to_string(cols) + " high " +
                           std::to_string(high) + " density " + std::to_string(density) + free + tail,
                       random_sparse(rng, rows, cols, density, low, high, kind)});
      const Index n = static_cast<Index>(draw(rng, 1, 7));
      out.push_back({"square " + std::to_string(n) + " high " + std::to_string(high) + free + tail,
                     random_sparse(rng, n, n, 1, low, high, kind)});
    }
    out.push_back({"one row" + free + tail, random_sparse(rng, 1, 6, 1, 0, 9, kind)});
    out.push_back({"one column" + free + tail, random_sparse(rng, 6, 1, 1, 0, 9, kind)});
    out.push_back({"empty" + free + tail, random_sparse(rng, 0, 0, 1, 0, 9, kind)});
    out.push_back({"no edges" + free + tail, random_sparse(rng, 4, 3, 0, 0, 9, kind)});
  }
  out.push_back({"points" + tail, points(rng, 9, 0.5, 1.2, 1 << 20)});
  for (const Index n : {1, 2, 7}) out.push_back({"chain " + std::to_string(n), chain(n)});
  out.push_back({"geometric progression", geometric_progression(7)});
  out.push_back({"lattice 3x3", lattice(3, 2)});
  return out;
}

SparseCosts points_costs(std::uint64_t seed, Index n, double sigma) {
  Rng rng(seed);
  return points(rng, n, sigma, 2.4 * sigma, 1 << 20);
}

std::vector<Instance> large_instances(std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Instance> out;
  const std::string tail = " seed " + std::to_string(seed);
  for (const Free kind : {Free::perfect, Free::both, Free::cols_only, Free::rows_only, Free::mixed}) {
    const std::string free = " free " + std::to_string(static_cast<int>(kind)) + tail;
    out.push_back({"sparse 300x400" + free, random_sparse(rng, 300, 400, 0.03, 0, 1000, kind)});
    out.push_back({"ties 400x300" + free, random_sparse(rng, 400, 300, 0.05, 0, 3, kind)});
    out.push_back({"dense 120x120" + free, random_sparse(rng, 120, 120, 1, -500, 500, kind)});
  }
  for (const double sigma : {0.1, 0.3, 0.6, 1.0})
    out.push_back({"points 2000 sigma " + std::to_string(sigma) + tail,
                   points(rng, 2000, sigma, 2.4 * sigma, 1 << 20)});
  out.push_back({"points 1000 wide gate" + tail, points(rng, 1000, 0.6, 3, 1 << 20)});
  out.push_back({"chain 3000", chain(3000)});
  out.push_back({"lattice 40x40", lattice(40, 5)});
  return out;
}

std::optional<Cost> brute_force(const SparseCostsView& problem) {
  const Index rows = problem.graph.rows, cols = problem.graph.cols;
  std::map<unsigned, Cost> best{{0U, 0}};  // by the set of columns taken so far
  for (Index i = 0; i < rows; ++i) {
    std::map<unsigned, Cost> next;
    auto offer = [&](unsigned set, Cost cost) {
      const auto [place, fresh] = next.emplace(set, cost);
      if (!fresh) place->second = std::min(place->second, cost);
    };
    for (const auto& [set, cost] : best) {
      if (problem.row_cost(i) != kInfiniteCost) offer(set, cost + problem.row_cost(i));
      for (Offset e = problem.graph.row_offsets[i]; e < problem.graph.row_offsets[i + 1]; ++e) {
        const unsigned bit = 1U << problem.graph.col_index[e];
        if ((set & bit) == 0) offer(set | bit, cost + problem.cost[e]);
      }
    }
    best = std::move(next);
  }
  std::optional<Cost> least;
  for (const auto& [set, cost] : best) {
    Cost total = cost;
    bool feasible = true;
    for (Index j = 0; j < cols && feasible; ++j) {
      if ((set >> j & 1U) != 0) continue;
      feasible = problem.col_cost(j) != kInfiniteCost;
      if (feasible) total += problem.col_cost(j);
    }
    if (feasible && (!least || total < *least)) least = total;
  }
  return least;
}

namespace {

/// Whether every cost is exact in T, and does not collide with its sign for a forbidden pair.
template <class T>
bool holds(const SparseCosts& costs) {
  const Cost limit = std::is_floating_point_v<T> ? Cost{1} << std::min(std::numeric_limits<T>::digits, 50)
                                                 : static_cast<Cost>(std::numeric_limits<T>::max() / 2);
  return std::all_of(costs.cost.begin(), costs.cost.end(), [&](Cost c) { return c >= -limit && c <= limit; });
}

template <class T>
void add_form(std::vector<DenseForm>& out, const char* name, const SparseCosts& costs, Index padding) {
  if (!holds<T>(costs)) return;
  using Limits = std::numeric_limits<T>;
  const Index rows = costs.graph.rows, cols = costs.graph.cols, stride = cols + padding;
  // Padding that would be the best offer of every row, if anybody looked at it.
  std::vector<T> entries(static_cast<std::size_t>(rows) * stride, Limits::lowest());
  for (Index i = 0; i < rows; ++i) {
    std::fill_n(entries.begin() + static_cast<Offset>(i) * stride, cols,
                Limits::has_infinity ? Limits::infinity() : Limits::max());
    for (Offset e = costs.graph.row_offsets[i]; e < costs.graph.row_offsets[i + 1]; ++e)
      entries[static_cast<Offset>(i) * stride + costs.graph.col_index[e]] = static_cast<T>(costs.cost[e]);
  }
  auto matrix = std::make_shared<matching::DenseCosts>();
  matrix->rows = rows;
  matrix->cols = stride;
  matrix->entries = std::move(entries);
  matrix->unmatched_row_cost = costs.unmatched_row_cost;
  matrix->unmatched_col_cost = costs.unmatched_col_cost;
  DenseForm form{name, matrix, matrix->view()};
  form.view.cols = cols;
  out.push_back(std::move(form));
}

}  // namespace

std::vector<DenseForm> dense_forms(const SparseCosts& costs) {
  std::vector<DenseForm> out;
  add_form<std::int32_t>(out, "int32", costs, 0);
  add_form<std::int64_t>(out, "int64", costs, 3);
  add_form<float>(out, "float", costs, 1);
  add_form<double>(out, "double", costs, 2);
  return out;
}

std::vector<GeometricInstance> geometric_instances(std::uint64_t seed) {
  Rng rng(seed ^ 0x9e37);
  std::vector<GeometricInstance> out;
  const auto real = [&](double low, double high) { return std::uniform_real_distribution<>(low, high)(rng); };
  for (const int layout :
       {0, 1, 2, 3}) {  // uniform, on a small lattice (ties, duplicates), a line, two far clusters
    for (const bool flat : {false, true}) {
      for (const auto kind : {Free::perfect, Free::both, Free::rows_only, Free::cols_only, Free::mixed}) {
        matching::GeometricCosts p;
        const auto fill = [&](matching::GeometricCosts::Points& points, Index n) {
          for (Index k = 0; k < n; ++k) {
            const auto coordinate = [&] {
              return layout == 0   ? real(0, 3)
                     : layout == 3 ? real(0, 1) + (k % 2 == 0 ? 0 : 1e3)
                                   : double(draw(rng, 0, 2));
            };
            points.x.push_back(layout == 2 ? double(k) : coordinate());
            points.y.push_back(layout == 2 ? 0 : coordinate());
            if (!flat) points.z.push_back(layout == 2 ? 0 : coordinate());
          }
        };
        const Index rows = static_cast<Index>(draw(rng, 0, 7));
        const Index cols = kind == Free::perfect ? rows : static_cast<Index>(draw(rng, 0, 7));
        fill(p.row_points, rows);
        fill(p.col_points, cols);
        p.metric = draw(rng, 0, 1) == 0 ? matching::Metric::euclidean : matching::Metric::squared;
        if (draw(rng, 0, 1) == 0) p.gate = real(0.5, 3);
        p.fraction_bits = matching::fraction_bits_for(1e7, rows, cols);
        p.unmatched_row_cost = unmatched(rng, rows, kind, true, matching::to_grid(2, p.fraction_bits));
        p.unmatched_col_cost = unmatched(rng, cols, kind, false, matching::to_grid(2, p.fraction_bits));
        out.push_back({"points " + std::to_string(rows) + " and " + std::to_string(cols) + " layout " +
                           std::to_string(layout) + (flat ? " flat" : "") + " free " +
                           std::to_string(static_cast<int>(kind)) + " seed " + std::to_string(seed),
                       std::move(p)});
      }
    }
  }
  return out;
}

}  // namespace motes::testing
