/// Views, checks and conversions of assignment problems.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include <motes/base/index.h>
#include <motes/matching/problem.h>

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/assignment/canonical/entries.h"
#include "matching/assignment/dense/row_keys.h"
#include "matching/assignment/device_problem.h"
#include "matching/points/point_bounds.h"

namespace motes::matching {
namespace {

/// Throws for the first fault of a row, if it has one.
void check_row(const BipartiteGraphView& graph, Index i) {
  const Offset begin = graph.row_offsets[at(i)], end = graph.row_offsets[at(i) + 1];
  if (begin < 0 || begin > end || end > graph.edges())
    throw std::invalid_argument("graph: row_offsets falls at row " + std::to_string(i));
  Index previous = -1;
  for (Offset e = begin; e < end; ++e) {
    const Index j = graph.col_index[at(e)];
    if (j < 0 || j >= graph.cols)
      throw std::invalid_argument("graph: column " + std::to_string(j) + " of row " + std::to_string(i) +
                                  " lies outside 0.." + std::to_string(graph.cols - 1));
    if (j <= previous)
      throw std::invalid_argument("graph: columns of row " + std::to_string(i) +
                                  " are unsorted or repeat column " + std::to_string(j));
    previous = j;
  }
}

bool row_is_sound(const BipartiteGraphView& graph, Index i) {
  const Offset begin = graph.row_offsets[at(i)], end = graph.row_offsets[at(i) + 1];
  if (begin < 0 || begin > end || end > graph.edges()) return false;
  if (begin == end) return true;
  const Index* cols = graph.col_index.data();
  bool sorted = cols[begin] >= 0 && cols[end - 1] < graph.cols;
  for (Offset e = begin + 1; e < end; ++e) sorted &= cols[e - 1] < cols[e];
  return sorted;
}

/// Whether the columns of every row increase: an entry that is not greater than the one before it in memory
/// must be the first of its row. One loop over all entries is faster than a loop over each of many short
/// rows.
bool rows_are_sound(const BipartiteGraphView& graph, int threads) {
  constexpr Offset kBlock = 4096;
  const Index* cols = graph.col_index.data();
  if (threads == 1 && graph.edges() < kBlock) {  // without a parallel region, which costs more than this
    for (Index i = 0; i < graph.rows; ++i)
      if (!row_is_sound(graph, i)) return false;
    return true;
  }
  Offset faults = 0, descents = 0, descents_to_rows = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : faults, descents_to_rows) if (threads > 1)
  for (Index i = 0; i < graph.rows; ++i) {
    const Offset begin = graph.row_offsets[at(i)], end = graph.row_offsets[at(i) + 1];
    if (begin < 0 || begin > end || end > graph.edges())
      ++faults;
    else if (begin > 0 && begin < end)
      descents_to_rows += cols[begin] <= cols[begin - 1];
  }
  if (faults != 0) return false;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : faults, descents) if (threads > 1)
  for (Offset first = 0; first < graph.edges(); first += kBlock) {
    const Offset last = std::min(graph.edges(), first + kBlock);
    Index faults_here = 0, descents_here = 0;  // of the columns' width, so that several are counted at a time
    for (Offset e = first; e < last; ++e) faults_here += (cols[e] < 0) | (cols[e] >= graph.cols);
    for (Offset e = std::max<Offset>(first, 1); e < last; ++e) descents_here += cols[e] <= cols[e - 1];
    faults += faults_here, descents += descents_here;
  }
  return faults == 0 && descents == descents_to_rows;
}

void check_unmatched(std::span<const Cost> costs, const char* name) {
  for (std::size_t k = 0; k < costs.size(); ++k)
    if (costs[k] != kInfiniteCost && (costs[k] > kMaxCost || costs[k] < -kMaxCost))
      throw std::invalid_argument(std::string(name) + "[" + std::to_string(k) + "] lies beyond 2^58");
}

void check_points(const PointsView& points, const char* side) {
  const auto where = [&](char axis) { return std::string(side) + "_points." + axis; };
  if (points.y.size() != points.x.size() || (!points.z.empty() && points.z.size() != points.x.size()))
    throw std::invalid_argument(where('x') + ", y and z differ in length");
  if (points.x.size() > static_cast<std::size_t>(std::numeric_limits<Index>::max()))
    throw std::invalid_argument(where('x') + " has more than 2^31 - 1 points");
}

void check_finite(const PointsView& points, const char* side) {
  for (const auto& axis : {points.x, points.y, points.z})
    for (std::size_t k = 0; k < axis.size(); ++k)
      if (!std::isfinite(axis[k]))
        throw std::invalid_argument(std::string(side) + " point " + std::to_string(k) + " is not finite");
}

void check_kind(const DenseCostsView& dense) {
  if (dense.rows < 0 || dense.cols < 0)
    throw std::invalid_argument("matrix: negative number of rows or columns");
  if (dense.row_stride < dense.cols)
    throw std::invalid_argument("matrix: row_stride " + std::to_string(dense.row_stride) +
                                " is less than the number of columns, " + std::to_string(dense.cols));
  const bool no_data = std::visit([](const auto* data) { return data == nullptr; }, dense.data);
  if (no_data && dense.rows > 0 && dense.cols > 0) throw std::invalid_argument("matrix: no data");
  if (dense.data.index() < 2 && dense.fraction_bits != 0)
    throw std::invalid_argument("matrix: fraction_bits is for float and double entries only");
}

void check_kind(const GeometricCostsView& points) {
  check_points(points.row_points, "row");
  check_points(points.col_points, "col");
  if (points.row_points.z.empty() != points.col_points.z.empty() && points.row_points.size() > 0 &&
      points.col_points.size() > 0)
    throw std::invalid_argument("points: one side has z, the other has not");
  if (!(points.gate >= 0)) throw std::invalid_argument("points: gate is negative or NaN");
}

void check_kind(const SparseCostsView& sparse) {
  if (sparse.graph.rows < 0 || sparse.graph.cols < 0)
    throw std::invalid_argument("graph: negative number of rows or columns");
  if (sparse.graph.row_offsets.size() != at(sparse.graph.rows) + 1)
    throw std::invalid_argument("graph: row_offsets has " + std::to_string(sparse.graph.row_offsets.size()) +
                                " entries, not rows + 1 = " + std::to_string(at(sparse.graph.rows) + 1));
  if (sparse.cost.size() != sparse.graph.col_index.size())
    throw std::invalid_argument("cost has " + std::to_string(sparse.cost.size()) +
                                " entries, not one per edge (" +
                                std::to_string(sparse.graph.col_index.size()) + ")");
}

/// Checks lengths and options only; nothing in device memory is read.
void check_shape(const CostsView& problem) {
  std::visit([](const auto& costs) { check_kind(costs); }, problem);
  if (std::abs(fraction_bits_of(problem)) > 1000)
    throw std::invalid_argument("fraction_bits lies beyond +-1000");
}

void check_lengths(std::span<const Cost> costs, Index count, const char* name) {
  if (!costs.empty() && costs.size() != at(count))
    throw std::invalid_argument(std::string(name) + " has " + std::to_string(costs.size()) +
                                " entries, not " + std::to_string(count));
}

/// Describes the first entry beyond `limit`, which includes NaN and -infinity; empty if there is none.
template <class Entries>
std::string fault_of_entries(const Entries& entries, Cost limit, int threads) {
  std::string fault;
  Index first = entries.rows;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (Index i = 0; i < entries.rows; ++i) {
    Index bad = -1;
    entries.for_each(i, 0, 1, [&](Index j, Cost c) {
      if ((c > limit || c < -limit) && bad == -1) bad = j;
    });
    if (bad == -1) continue;
#pragma omp critical(motes_check_entries)
    if (i < first) first = i, fault = "(" + std::to_string(i) + ", " + std::to_string(bad) + ")";
  }
  return fault;
}

/// True if a fast pass, or the number type, shows that all entries are valid.
bool magnitudes_fit(const DenseCostsView& problem, [[maybe_unused]] int threads) {
  if (problem.data.index() == 0) return true;
  return std::visit(
      [&](const auto* data) {
        using T = std::decay_t<decltype(*data)>;
        if constexpr (std::is_floating_point_v<T>) {
          T largest = 0;
          bool bad = false;
#pragma omp parallel for num_threads(threads) reduction(max                         \
                                                        : largest) reduction(||     \
                                                                             : bad) \
    schedule(static) if (threads > 1)
          for (Index i = 0; i < problem.rows; ++i) {
            const auto row = detail::row_magnitude(data + i * problem.row_stride, problem.cols);
            largest = std::max(largest, row.largest);
            bad = bad || row.bad;
          }
          return !bad && static_cast<double>(largest) * detail::scale_of(problem.fraction_bits) <=
                             static_cast<double>(kMaxGridCost);
        } else {
          return false;
        }
      },
      problem.data);
}

/// True if the bounding boxes of the points show that all pairs are valid.
bool boxes_fit(const CostsView& problem) {
  return detail::with_entries(problem, []<class Entries>(const Entries& entries) {
    if constexpr (std::is_same_v<Entries, detail::GeometricEntries>) {
      const detail::PairOfBounds bounds = detail::bounds_of(entries);
      return bounds.row.finite && bounds.col.finite && detail::farthest_cost(entries, bounds) <= kMaxGridCost;
    } else {
      return false;
    }
  });
}

}  // namespace

void check_graph(const BipartiteGraphView& graph, int threads) {
  if (graph.rows < 0 || graph.cols < 0)
    throw std::invalid_argument("graph: negative number of rows or columns");
  if (graph.row_offsets.size() != at(graph.rows) + 1)
    throw std::invalid_argument("graph: row_offsets has " + std::to_string(graph.row_offsets.size()) +
                                " entries, not rows + 1 = " + std::to_string(at(graph.rows) + 1));
  if (graph.row_offsets.front() != 0 || graph.row_offsets.back() != graph.edges())
    throw std::invalid_argument("graph: row_offsets must run from 0 to the number of edges");
  if (rows_are_sound(graph, threads)) return;
  Index first = 0;
  while (row_is_sound(graph, first)) ++first;
  check_row(graph, first);
}

DenseCostsView DenseCosts::view() const {
  DenseCostsView out{rows, cols, cols, {}, fraction_bits, unmatched_row_cost, unmatched_col_cost};
  std::visit([&](const auto& values) { out.data = values.data(); }, entries);
  return out;
}

CostsView view_of(const Costs& costs) {
  return std::visit([](const auto& c) -> CostsView { return c.view(); }, costs);
}

Index rows_of(const CostsView& problem) {
  if (const auto* sparse = std::get_if<SparseCostsView>(&problem)) return sparse->graph.rows;
  if (const auto* dense = std::get_if<DenseCostsView>(&problem)) return dense->rows;
  return std::get<GeometricCostsView>(problem).row_points.size();
}
Index cols_of(const CostsView& problem) {
  if (const auto* sparse = std::get_if<SparseCostsView>(&problem)) return sparse->graph.cols;
  if (const auto* dense = std::get_if<DenseCostsView>(&problem)) return dense->cols;
  return std::get<GeometricCostsView>(problem).col_points.size();
}
Space space_of(const CostsView& problem) {
  return std::visit([](const auto& view) { return view.space; }, problem);
}
int fraction_bits_of(const CostsView& problem) {
  return std::visit([](const auto& view) { return view.fraction_bits; }, problem);
}
std::span<const Cost> unmatched_row_cost_of(const CostsView& problem) {
  return std::visit([](const auto& view) { return view.unmatched_row_cost; }, problem);
}
std::span<const Cost> unmatched_col_cost_of(const CostsView& problem) {
  return std::visit([](const auto& view) { return view.unmatched_col_cost; }, problem);
}

int fraction_bits_for(double largest, Index rows, Index cols) {
  if (!(largest >= 0) || !std::isfinite(largest))
    throw std::invalid_argument("fraction_bits_for: the largest cost must be finite and not negative");
  if (largest == 0) return 0;
  int exponent = 0;  // largest < 2^exponent
  std::frexp(largest, &exponent);
  int vertices = 1;  // 2 * (rows + cols + 2) < 2^vertices, and one bit for the factor 2 of the bound
  while ((Offset{rows} + cols + 2) * 2 >= (Offset{1} << vertices)) ++vertices;
  return std::min(40, 58 - vertices) - exponent;
}

Cost to_grid(double value, int fraction_bits) {
  if (value == std::numeric_limits<double>::infinity()) return kInfiniteCost;
  const double scaled = value * detail::scale_of(fraction_bits);
  if (!(std::abs(scaled) <= static_cast<double>(kMaxGridCost)))
    throw std::invalid_argument("to_grid: value is NaN, -infinity, or beyond 2^50 grid steps");
  return detail::nearest(scaled);
}

namespace {

void throw_fault(const std::string& pair, bool real) {
  throw std::invalid_argument("cost of pair " + pair +
                              (real ? " is NaN, -infinity or beyond 2^50 steps of its grid (fraction_bits)"
                                    : " lies beyond 2^58; a forbidden pair has the type's largest value"));
}

}  // namespace

void check_problem(const CostsView& problem, int threads) { detail::check_problem_with({threads}, problem); }

void detail::check_problem_with(const Execution& execution, const CostsView& problem) {
  const int threads = thread_count(execution);
  check_form(problem, threads);
  if (space_of(problem) == Space::device)
    check_device_problem(execution.workspace, execution.device, problem);
  else if (const auto* dense = std::get_if<DenseCostsView>(&problem))
    check_entries(*dense, threads);
}

void check_form(const CostsView& problem, int threads) {
  check_shape(problem);
  check_lengths(unmatched_row_cost_of(problem), rows_of(problem), "unmatched_row_cost");
  check_lengths(unmatched_col_cost_of(problem), cols_of(problem), "unmatched_col_cost");
  if (space_of(problem) == Space::device) return;
  check_unmatched(unmatched_row_cost_of(problem), "unmatched_row_cost");
  check_unmatched(unmatched_col_cost_of(problem), "unmatched_col_cost");
  if (const auto* sparse = std::get_if<SparseCostsView>(&problem)) {
    check_graph(sparse->graph, threads);
    for (std::size_t e = 0; e < sparse->cost.size(); ++e)
      if (sparse->cost[e] > kMaxCost || sparse->cost[e] < -kMaxCost)
        throw std::invalid_argument("cost of edge " + std::to_string(e) +
                                    " lies beyond 2^58 (leave a forbidden pair out)");
  } else if (const auto* points = std::get_if<GeometricCostsView>(&problem)) {
    check_finite(points->row_points, "row");
    check_finite(points->col_points, "col");
    if (boxes_fit(problem)) return;
    const std::string fault = detail::with_entries(
        problem, [&](const auto& entries) { return fault_of_entries(entries, kMaxGridCost, threads); });
    if (!fault.empty()) throw_fault(fault, true);
  }
}

void check_entries(const DenseCostsView& problem, int threads) {
  if (problem.space == Space::device || magnitudes_fit(problem, threads)) return;
  const bool real = problem.data.index() >= 2;
  const std::string fault = detail::with_entries(problem, [&](const auto& entries) {
    return fault_of_entries(entries, real ? kMaxGridCost : kMaxCost, threads);
  });
  if (!fault.empty()) throw_fault(fault, real);
}

SparseCosts to_sparse(const CostsView& problem) {
  SparseCosts out;
  out.graph.rows = rows_of(problem);
  out.graph.cols = cols_of(problem);
  out.fraction_bits = fraction_bits_of(problem);
  out.unmatched_row_cost.assign(unmatched_row_cost_of(problem).begin(), unmatched_row_cost_of(problem).end());
  out.unmatched_col_cost.assign(unmatched_col_cost_of(problem).begin(), unmatched_col_cost_of(problem).end());
  detail::with_entries(problem, [&](const auto& entries) {
    for (Index i = 0; i < entries.rows; ++i) {
      entries.for_each(i, 0, 1, [&](Index j, Cost c) {
        out.graph.col_index.push_back(j);
        out.cost.push_back(c);
      });
      out.graph.row_offsets.push_back(out.graph.edges());
    }
  });
  return out;
}

SparseCosts transpose(const SparseCostsView& problem) {
  const auto& graph = problem.graph;
  SparseCosts out;
  out.graph.rows = graph.cols;
  out.graph.cols = graph.rows;
  out.graph.row_offsets.assign(at(graph.cols) + 1, 0);
  for (const Index j : graph.col_index) ++out.graph.row_offsets[at(j) + 1];
  std::partial_sum(out.graph.row_offsets.begin(), out.graph.row_offsets.end(), out.graph.row_offsets.begin());
  out.graph.col_index.resize(graph.col_index.size());
  out.cost.resize(problem.cost.size());
  std::vector<Offset> next(out.graph.row_offsets.begin(), out.graph.row_offsets.end() - 1);
  for (Index i = 0; i < graph.rows; ++i) {
    for (Offset e = graph.row_offsets[at(i)]; e < graph.row_offsets[at(i) + 1]; ++e) {
      const Offset place = next[at(graph.col_index[at(e)])]++;
      out.graph.col_index[at(place)] = i;
      out.cost[at(place)] = problem.cost[at(e)];
    }
  }
  out.fraction_bits = problem.fraction_bits;
  out.unmatched_row_cost.assign(problem.unmatched_col_cost.begin(), problem.unmatched_col_cost.end());
  out.unmatched_col_cost.assign(problem.unmatched_row_cost.begin(), problem.unmatched_row_cost.end());
  return out;
}

}  // namespace motes::matching
