#pragma once
/// The assignment problem:
///
///   minimise  sum over matched c_ij + sum over free rows r_i + sum over free columns q_j
///
/// An infinite r_i or q_j means that the vertex must be matched. docs/library/problems.md has an
/// introduction.
///
/// All solvers work on integers: costs of other types are rounded to a fixed-point grid of step
/// 2^-fraction_bits, so that the optimum is the same on every machine, back end and thread count, and a
/// certificate is exact. `Costs` are of one of three kinds: sparse (CSR), dense (a matrix) and geometric
/// (points and a metric, no matrix).

#include <cstdint>
#include <limits>
#include <span>
#include <variant>
#include <vector>

#include <motes/base/index.h>

namespace motes::matching {

using motes::Index;   // a row or a column; -1 means none
using motes::Offset;  // a position in a CSR array
using Cost = std::int64_t;

/// The infinite cost. As an unmatched cost it means that the vertex must be matched.
inline constexpr Cost kInfiniteCost = std::numeric_limits<Cost>::max();

/// Finite costs must lie in [-kMaxCost, kMaxCost], so that no dual value overflows.
inline constexpr Cost kMaxCost = Cost{1} << 58;

/// Grid values of float, double and geometric costs must lie in [-kMaxGridCost, kMaxGridCost], where
/// doubles are still exact.
inline constexpr Cost kMaxGridCost = Cost{1} << 50;

/// The memory that holds the arrays of a view.
enum class Space { host, device };

/// A bipartite graph in compressed sparse rows (CSR). A trivially copyable view.
struct BipartiteGraphView {
  Index rows = 0, cols = 0;
  std::span<const Offset> row_offsets;  ///< [rows + 1], from 0, non-decreasing
  std::span<const Index> col_index;     ///< [nnz], strictly increasing within a row
  Offset edges() const { return static_cast<Offset>(col_index.size()); }
};

/// A bipartite graph, owned.
struct BipartiteGraph {
  Index rows = 0, cols = 0;
  std::vector<Offset> row_offsets{0};
  std::vector<Index> col_index;
  BipartiteGraphView view() const { return {rows, cols, row_offsets, col_index}; }
  Offset edges() const { return static_cast<Offset>(col_index.size()); }
};

/// A sparse assignment problem: a pair without an edge is forbidden. A trivially copyable view.
struct SparseCostsView {
  BipartiteGraphView graph;
  std::span<const Cost> cost;                ///< [nnz], finite
  std::span<const Cost> unmatched_row_cost;  ///< [rows], or empty: kInfiniteCost for every row
  std::span<const Cost> unmatched_col_cost;  ///< [cols], or empty: kInfiniteCost for every column
  Space space = Space::host;                 ///< of all arrays above
  int fraction_bits = 0;                     ///< a cost step is worth 2^-fraction_bits; solvers ignore it

  /// Host views only.
  Cost row_cost(Index i) const {
    return unmatched_row_cost.empty() ? kInfiniteCost : unmatched_row_cost[static_cast<std::size_t>(i)];
  }
  Cost col_cost(Index j) const {
    return unmatched_col_cost.empty() ? kInfiniteCost : unmatched_col_cost[static_cast<std::size_t>(j)];
  }
};

/// A sparse assignment problem, owned.
struct SparseCosts {
  BipartiteGraph graph;
  std::vector<Cost> cost, unmatched_row_cost, unmatched_col_cost;
  int fraction_bits = 0;
  SparseCostsView view() const {
    return {graph.view(), cost, unmatched_row_cost, unmatched_col_cost, Space::host, fraction_bits};
  }
};

/// The entries of a dense matrix. A forbidden pair has the type's largest value (int32, int64) or +infinity
/// (float, double).
using DenseData = std::variant<const std::int32_t*, const std::int64_t*, const float*, const double*>;

/// A dense assignment problem, row-major. A trivially copyable view.
struct DenseCostsView {
  Index rows = 0, cols = 0;
  Offset row_stride = 0;  ///< entries from one row to the next, at least cols
  DenseData data;
  int fraction_bits = 0;  ///< float and double: grid value = c * 2^fraction_bits, rounded (ties to even)
  std::span<const Cost> unmatched_row_cost;  ///< [rows] grid values, or empty: kInfiniteCost for every row
  std::span<const Cost> unmatched_col_cost;  ///< [cols] grid values, or empty: kInfiniteCost for every column
  Space space = Space::host;                 ///< of all arrays above
};

/// Points as separate coordinate arrays.
struct PointsView {
  std::span<const double> x, y, z;  ///< [points] each, in any unit of length; z may be empty (all 0)
  Index size() const { return static_cast<Index>(x.size()); }
};

enum class Metric { euclidean, squared };

/// A matrix-free assignment problem: the cost of a pair is the distance between its points, or its square.
/// It is computed in double as (dx dx + dy dy) + dz dz, without fused operations, so that it is the same
/// everywhere.
struct GeometricCostsView {
  PointsView row_points, col_points;
  Metric metric = Metric::euclidean;
  double gate = std::numeric_limits<double>::infinity();  ///< pairs farther apart than this are forbidden
  int fraction_bits = 0;                     ///< grid value = cost * 2^fraction_bits, rounded (ties to even)
  std::span<const Cost> unmatched_row_cost;  ///< [rows] grid values, or empty: kInfiniteCost for every row
  std::span<const Cost> unmatched_col_cost;  ///< [cols] grid values, or empty: kInfiniteCost for every column
  Space space = Space::host;                 ///< of all arrays above
};

/// A dense assignment problem, owned; see DenseCostsView.
struct DenseCosts {
  Index rows = 0, cols = 0;
  std::variant<std::vector<std::int32_t>, std::vector<std::int64_t>, std::vector<float>, std::vector<double>>
      entries;  ///< [rows * cols] row-major
  int fraction_bits = 0;
  std::vector<Cost> unmatched_row_cost, unmatched_col_cost;
  DenseCostsView view() const;
};

/// A matrix-free assignment problem, owned; see GeometricCostsView.
struct GeometricCosts {
  struct Points {
    std::vector<double> x, y, z;
    PointsView view() const { return {x, y, z}; }
  };
  Points row_points, col_points;
  Metric metric = Metric::euclidean;
  double gate = std::numeric_limits<double>::infinity();
  int fraction_bits = 0;
  std::vector<Cost> unmatched_row_cost, unmatched_col_cost;
  GeometricCostsView view() const {
    return {row_points.view(),  col_points.view(), metric, gate, fraction_bits,
            unmatched_row_cost, unmatched_col_cost};
  }
};

/// Any assignment problem.
using CostsView = std::variant<SparseCostsView, DenseCostsView, GeometricCostsView>;
using Costs = std::variant<SparseCosts, DenseCosts, GeometricCosts>;
CostsView view_of(const Costs& costs);

Index rows_of(const CostsView& problem);
Index cols_of(const CostsView& problem);
Space space_of(const CostsView& problem);
/// A cost step is worth 2^-fraction_bits.
int fraction_bits_of(const CostsView& problem);
std::span<const Cost> unmatched_row_cost_of(const CostsView& problem);
std::span<const Cost> unmatched_col_cost_of(const CostsView& problem);

/// The fraction bits of the finest grid that is safe for costs of magnitude up to `largest` and this number
/// of vertices: the largest cost has at most 40 bits, fewer if a sum over all vertices could exceed 2^60. May
/// be negative. Throws std::invalid_argument unless `largest` is finite and not negative.
int fraction_bits_for(double largest, Index rows, Index cols);

/// The grid value of a cost: value * 2^fraction_bits, rounded to the nearest integer (ties to even).
/// +infinity becomes kInfiniteCost. Throws std::invalid_argument for NaN, -infinity and results beyond
/// kMaxGridCost.
Cost to_grid(double value, int fraction_bits);

/// Throws std::invalid_argument naming the first fault of a host graph: wrong array lengths, decreasing
/// offsets, columns out of range, unsorted or repeated columns. O(rows + nnz) on `threads` threads.
void check_graph(const BipartiteGraphView& graph, int threads = 1);

/// Throws std::invalid_argument naming the first fault: wrong array lengths, decreasing offsets, columns
/// out of range, unsorted or repeated columns, costs beyond kMaxCost (kMaxGridCost for float, double and
/// geometric ones), NaN, -infinity, points that are not finite. O(size of the problem) on `threads`
/// threads. Device views are checked on their device; of sparse ones only the lengths are checked.
void check_problem(const CostsView& problem, int threads = 1);

/// check_problem in two parts, for solvers that read a matrix only once (AssignmentSolver::checks_entries).
/// check_form: everything but the entries of a matrix; of device views only what needs no access to the
/// device. check_entries: the entries of a matrix in host memory.
void check_form(const CostsView& problem, int threads = 1);
void check_entries(const DenseCostsView& problem, int threads = 1);

/// The same problem with rows and columns exchanged. Host views only. O(rows + cols + nnz).
SparseCosts transpose(const SparseCostsView& problem);

/// Any problem as a sparse one, without its forbidden pairs. Host views only. O(rows * cols) for dense and
/// geometric costs.
SparseCosts to_sparse(const CostsView& problem);

}  // namespace motes::matching
