/// gen:uniform and gen:points, and the options that all assignment instances share.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include <motes/base/errors.h>
#include <motes/base/index.h>
#include <motes/base/memory.h>
#include <motes/base/random.h>
#include <motes/matching/instances.h>

#include "matching/instances/graph_families.h"
#include "matching/instances/recipe.h"
#include "matching/instances/rows_wanted.h"
#include "matching/instances/structured_matrices.h"
#include "matching/points/gated_pairs.h"

namespace motes::matching {
namespace {

using instances::kMostVertices;
using instances::Recipe;
using instances::RowsWanted;

// Random streams that the simulator does not use.
constexpr RandomStream kEntries{128}, kAllowed{129}, kPositions{130}, kDisplacements{131}, kOrder{132};

/// x in 0..range-1 from 32 random bits; its probability is off by less than 2^-32 times range.
std::uint64_t scaled(std::uint32_t bits, std::uint64_t range) { return (std::uint64_t{bits} * range) >> 32; }

template <class T>
void require_matrix(Index rows, Index cols) {
  require_memory(static_cast<double>(rows) * static_cast<double>(cols) * sizeof(T),
                 "a full matrix of " + std::to_string(rows) + " x " + std::to_string(cols));
}

/// The rows to make; sets `made` and `all_rows` of `wanted`, if given.
Block rows_to_make(Index rows, Index cols, bool unmatched, RowsWanted* wanted) {
  const auto block = wanted != nullptr ? wanted->choose(rows, cols, unmatched) : std::nullopt;
  if (!block) return {0, rows};
  wanted->made = true;
  wanted->all_rows = rows;
  return *block;
}

template <class T>
std::vector<T> uniform_entries(const Execution& execution, std::uint64_t seed, const Block& rows, Index cols,
                               std::int64_t high, double density) {
  constexpr T kForbidden = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                                : std::numeric_limits<T>::max();
  require_matrix<T>(rows.count, cols);
  std::vector<T> entries(at(rows.count) * at(cols));
  const auto range = static_cast<std::uint64_t>(high) + 1;
  const auto limit = static_cast<std::uint64_t>(std::ldexp(density, 32));
#pragma omp parallel for num_threads(thread_count(execution)) schedule(static)
  for (Index i = 0; i < rows.count; ++i) {
    T* row = entries.data() + at(i) * at(cols);
    for (Index j = 0; j < cols; j += 4) {
      const auto i_word = static_cast<std::uint32_t>(rows.first + i),
                 block = static_cast<std::uint32_t>(j / 4);
      const auto bits = random_block(seed, kEntries, i_word, block);
      const auto allowed = density < 1 ? random_block(seed, kAllowed, i_word, block) : bits;
      for (Index k = 0; k < std::min<Index>(4, cols - j); ++k)
        row[j + k] =
            density < 1 && allowed[at(k)] >= limit ? kForbidden : static_cast<T>(scaled(bits[at(k)], range));
    }
  }
  return entries;
}

Costs uniform(const Execution& execution, Recipe& recipe, bool unmatched, RowsWanted* wanted) {
  DenseCosts out;
  out.rows = static_cast<Index>(recipe.whole("rows", std::nullopt, 0, kMostVertices));
  out.cols = static_cast<Index>(recipe.whole("cols", out.rows, 0, kMostVertices));
  const auto seed = static_cast<std::uint64_t>(recipe.whole("seed", 1, 0, 0x1p53));
  const std::string type = recipe.word("type", "int32");
  if (type != "int32" && type != "int64" && type != "float" && type != "double")
    recipe.fail("type=" + type + " is not one of int32, int64, float, double");
  const double largest = type == "float" ? 0x1p24 : 0x1p31 - 2;
  const std::int64_t high = recipe.whole("high", std::nullopt, 0, largest);
  const double density = recipe.number("density", 1, 0, 1);
  if (type == "float" || type == "double")
    out.fraction_bits = fraction_bits_for(static_cast<double>(high), out.rows, out.cols);
  const Block rows = rows_to_make(out.rows, out.cols, unmatched, wanted);
  out.rows = rows.count;
  const auto make = [&]<class T>(T) {
    out.entries = uniform_entries<T>(execution, seed, rows, out.cols, high, density);
  };
  if (type == "int32") make(std::int32_t{});
  if (type == "int64") make(std::int64_t{});
  if (type == "float") make(float{});
  if (type == "double") make(double{});
  return out;
}

/// Points uniform in the cube (or square) of unit mean spacing.
GeometricCosts::Points seeded_points(std::uint64_t seed, std::size_t n, int dims) {
  const auto count = static_cast<double>(n);
  const double side = dims == 2 ? std::sqrt(count) : std::cbrt(count);
  GeometricCosts::Points points;
  for (auto* axis : {&points.x, &points.y, &points.z})
    if (axis != &points.z || dims == 3) axis->resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    Random random(seed, kPositions, static_cast<std::uint32_t>(k), 0);
    points.x[k] = side * random.uniform();
    points.y[k] = side * random.uniform();
    if (dims == 3) points.z[k] = side * random.uniform();
  }
  return points;
}

GeometricCosts::Points displaced(const GeometricCosts::Points& from, std::uint64_t seed, double sigma) {
  const std::size_t n = from.x.size();
  const std::vector<Index> order = instances::random_order(static_cast<Index>(n), seed, kOrder);
  GeometricCosts::Points to = from;
  for (std::size_t k = 0; k < n; ++k) {
    Random random(seed, kDisplacements, static_cast<std::uint32_t>(k), 0);
    to.x[at(order[k])] = from.x[k] + sigma * random.normal();
    to.y[at(order[k])] = from.y[k] + sigma * random.normal();
    if (!from.z.empty()) to.z[at(order[k])] = from.z[k] + sigma * random.normal();
  }
  return to;
}

template <class Visit>
void for_each_pair(const GeometricCostsView& points, Index i, const Visit& visit) {
  const auto& [r, c] = std::pair{points.row_points, points.col_points};
  for (Index j = 0; j < c.size(); ++j) {
    const double dx = r.x[at(i)] - c.x[at(j)], dy = r.y[at(i)] - c.y[at(j)];
    const double dz = r.z.empty() ? 0 : r.z[at(i)] - c.z[at(j)];
    const double squared = (dx * dx + dy * dy) + dz * dz, distance = std::sqrt(squared);
    visit(j, distance, points.metric == Metric::squared ? squared : distance);
  }
}

template <class T>
std::vector<T> full_matrix(const Execution& execution, const GeometricCostsView& points, const Block& rows) {
  const Index cols = points.col_points.size();
  require_matrix<T>(rows.count, cols);
  std::vector<T> entries(at(rows.count) * at(cols));
#pragma omp parallel for num_threads(thread_count(execution)) schedule(static)
  for (Index i = 0; i < rows.count; ++i)
    for_each_pair(points, rows.first + i, [&](Index j, double distance, double cost) {
      entries[at(i) * at(cols) + at(j)] =
          distance > points.gate ? std::numeric_limits<T>::infinity() : static_cast<T>(cost);
    });
  return entries;
}

SparseCosts gated_graph(const GeometricCosts& points) {
  constexpr double kPointsPerCell = 2;
  SparseCosts out;
  out.fraction_bits = points.fraction_bits;
  out.graph.rows = static_cast<Index>(points.row_points.x.size());
  out.graph.cols = static_cast<Index>(points.col_points.x.size());
  detail::with_entries(points.view(), [&]<class Entries>(const Entries& e) {
    if constexpr (std::is_same_v<Entries, detail::GeometricEntries>) {
      const detail::CellGrid grid(e.col_x, e.col_y, e.col_z, e.cols, kPointsPerCell);
      std::vector<std::pair<Index, Cost>> row;
      for (Index i = 0; i < e.rows; ++i) {
        row.clear();
        detail::for_each_within_gate(e, grid, i, [&](Index j, Cost cost) { row.emplace_back(j, cost); });
        std::sort(row.begin(), row.end());
        for (const auto& [j, cost] : row) {
          out.graph.col_index.push_back(j);
          out.cost.push_back(cost);
        }
        out.graph.row_offsets.push_back(out.graph.edges());
      }
    }
  });
  return out;
}

/// The parameters of gen:points.
struct PointsRecipe {
  std::int64_t n;
  double sigma;
  std::uint64_t seed;
  int dims;
  std::string metric, type;
  bool dense, sparse;
  double gate;
};

PointsRecipe parse_points(Recipe& recipe) {
  PointsRecipe out{};
  out.n = recipe.whole("n", std::nullopt, 0, kMostVertices);
  out.sigma = recipe.number("sigma", std::nullopt, 0, 1e6);
  out.seed = static_cast<std::uint64_t>(recipe.whole("seed", 1, 0, 0x1p53));
  out.dims = static_cast<int>(recipe.whole("dims", 3, 2, 3));
  out.metric = recipe.word("metric", "euclidean");
  out.type = recipe.word("type", "double");
  out.dense = recipe.flag("dense");
  out.sparse = recipe.flag("sparse");
  if (out.metric != "euclidean" && out.metric != "squared")
    recipe.fail("metric=" + out.metric + " is neither euclidean nor squared");
  if (out.type != "double" && out.type != "float")
    recipe.fail("type=" + out.type + " is neither double nor float");
  if (out.dense && out.sparse) recipe.fail("dense and sparse exclude each other");
  if (out.sparse && !recipe.has("gate")) recipe.fail("sparse=1 needs gate=...");
  out.gate = recipe.number("gate", std::numeric_limits<double>::infinity(), 0, 1e300);
  return out;
}

GeometricCosts geometric_costs(const PointsRecipe& recipe) {
  GeometricCosts out;
  out.gate = recipe.gate;
  out.metric = recipe.metric == "squared" ? Metric::squared : Metric::euclidean;
  out.row_points = seeded_points(recipe.seed, at(recipe.n), recipe.dims);
  out.col_points = displaced(out.row_points, recipe.seed, recipe.sigma);
  // No two points are farther apart than the cube's diagonal plus some sigma on each side.
  const auto count = static_cast<double>(recipe.n);
  const double side = recipe.dims == 2 ? std::sqrt(count) : std::cbrt(count);
  const double reach =
      std::min(out.gate, std::sqrt(static_cast<double>(recipe.dims)) * (side + 20 * recipe.sigma));
  const auto vertices = static_cast<Index>(recipe.n);
  out.fraction_bits =
      fraction_bits_for(out.metric == Metric::squared ? reach * reach : reach, vertices, vertices);
  return out;
}

Costs points(const Execution& execution, Recipe& text, bool unmatched, RowsWanted* wanted) {
  const PointsRecipe recipe = parse_points(text);
  const GeometricCosts costs = geometric_costs(recipe);
  if (recipe.sparse) return gated_graph(costs);
  if (!recipe.dense) return costs;
  DenseCosts matrix;
  matrix.cols = static_cast<Index>(recipe.n);
  const Block rows = rows_to_make(matrix.cols, matrix.cols, unmatched, wanted);
  matrix.rows = rows.count;
  matrix.fraction_bits = costs.fraction_bits;
  if (recipe.type == "double")
    matrix.entries = full_matrix<double>(execution, costs.view(), rows);
  else
    matrix.entries = full_matrix<float>(execution, costs.view(), rows);
  return matrix;
}

Costs generate(const Execution& execution, std::string_view text, RowsWanted* wanted) {
  if (!is_generated(text)) throw UsageError("'" + std::string(text) + "' does not begin with gen:");
  Recipe recipe(text);
  const bool unmatched_given = recipe.has("unmatched");
  const double unmatched = recipe.number("unmatched", 0, 0, 1e15);
  Costs costs = [&]() -> Costs {
    if (recipe.family() == "uniform") return uniform(execution, recipe, unmatched_given, wanted);
    if (recipe.family() == "points") return points(execution, recipe, unmatched_given, wanted);
    if (auto matrix = instances::structured_matrix(execution, recipe)) return std::move(*matrix);
    recipe.fail("no assignment family is called '" + recipe.family() + "'; " +
                instances::families_by_problem());
  }();
  recipe.finish();
  const int bits = fraction_bits_of(view_of(costs));
  if (wanted != nullptr && wanted->made) {
    if (unmatched_given) wanted->unmatched = to_grid(unmatched, bits);
  } else if (unmatched_given) {
    set_unmatched(costs, to_grid(unmatched, bits));
  } else {
    require_smaller_side(costs);
  }
  return costs;
}

}  // namespace

bool is_generated(std::string_view text) { return text.starts_with("gen:"); }

Costs generate_assignment(const Execution& execution, std::string_view text) {
  return generate(execution, text, nullptr);
}

Costs instances::generate_rows(const Execution& execution, std::string_view text, RowsWanted& wanted) {
  return generate(execution, text, &wanted);
}

void set_unmatched(Costs& costs, Cost unmatched) {
  const auto view = view_of(costs);
  const std::size_t rows = at(rows_of(view)), cols = at(cols_of(view));
  std::visit(
      [&](auto& c) {
        c.unmatched_row_cost.assign(rows, unmatched);
        c.unmatched_col_cost.assign(cols, unmatched);
      },
      costs);
}

void require_smaller_side(Costs& costs) {
  const auto view = view_of(costs);
  const Index rows = rows_of(view), cols = cols_of(view);
  std::visit(
      [&](auto& c) {
        c.unmatched_row_cost.assign(rows > cols ? at(rows) : 0, 0);
        c.unmatched_col_cost.assign(cols > rows ? at(cols) : 0, 0);
      },
      costs);
}

}  // namespace motes::matching
