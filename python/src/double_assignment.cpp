#include "python/src/double_assignment.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <motes/base/function_clones.h>
#include <motes/base/lanes.h>
#include <motes/base/parallel_for.h>
#include <motes/matching/registry.h>

#include "python/src/small_assignment.h"
#include "python/src/sparse_assignment.h"

namespace motes::python {
namespace {

constexpr std::size_t kBlock = 1 << 16;

/// The intermediate results of a survey, one per lane.
class Seen {
 public:
  MOTES_INLINE void add(const Doubles& values) {
    constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
    constexpr auto kInfinity = std::bit_cast<std::int64_t>(std::numeric_limits<double>::infinity());
    constexpr auto kLarge = std::bit_cast<std::int64_t>(1e15);  // larger ones are not checked
    const auto bits = reinterpret_cast<Integers>(values);
    const Integers size = bits & std::numeric_limits<std::int64_t>::max();
    const Integers infinite = size >= kInfinity, forbidden = bits == kInfinity;
    forbidden_ |= forbidden, bad_ |= infinite & ~forbidden;
    const Integers finite = size & ~infinite;
    largest_ = finite > largest_ ? finite : largest_;
    const auto rest = reinterpret_cast<Doubles>(finite);
    broken_ |= ((rest + kRound) - kRound != rest) | (finite >= kLarge);
  }
  MOTES_INLINE Survey survey() const {
    std::int64_t largest = 0;
    for (std::size_t k = 0; k < kLanes; ++k) largest = std::max<std::int64_t>(largest, largest_[k]);
    return {!any(bad_), !any(forbidden_), !any(broken_), std::bit_cast<double>(largest)};
  }

 private:
  Integers bad_{}, forbidden_{}, broken_{};
  Integers largest_{};  ///< bit patterns, which are ordered as the numbers
};

MOTES_CLONES
void survey_block(const double* x, std::size_t n, Survey& found) {
  Seen seen;
  std::size_t k = 0;
  for (; k + kLanes <= n; k += kLanes) seen.add(lanes<Doubles>(x + k));
  Doubles rest{};
  for (std::size_t lane = 0; k < n; ++k, ++lane) rest[lane] = x[k];
  seen.add(rest);
  found = seen.survey();
}

/// Appends the entries of one row that are light enough.
MOTES_CLONES
bool any_below(const double* c, const double* v, std::size_t n, double limit) {
  int any = 0;
  for (std::size_t j = 0; j < n; ++j) any |= c[j] - v[j] <= limit;
  return any != 0;
}

void set_unmatched(const UnmatchedCosts& unmatched, std::vector<double>& row, std::vector<double>& col,
                   double& largest) {
  row = unmatched.row, col = unmatched.col;
  for (const auto* side : {&row, &col})
    for (const double x : *side)
      if (x != kNone) largest = std::max(largest, std::abs(x));
}

class DenseCosts final : public DoubleCosts {
 public:
  DenseCosts(const DenseDoubles& d, const UnmatchedCosts& unmatched, double largest, int threads)
      : d_(d), threads_(threads) {
    largest_ = largest;
    set_unmatched(unmatched, row_costs_, col_costs_, largest_);
  }
  Index rows() const override { return d_.rows; }
  Index cols() const override { return d_.cols; }
  double cost(Index i, Index j) const override { return d_.data[at(i) * at(d_.cols) + at(j)]; }
  void entries_within(double reach, const PricedMatching& m, double* held,
                      std::vector<Entry>& out) const override {
    if (threads_ == 1) {
      for (Index i = 0; i < d_.rows; ++i) row_within(i, reach, m, held, out);
      return;
    }
    constexpr Index kRows = 64;
    const std::int64_t blocks = (d_.rows + kRows - 1) / kRows;
    std::vector<std::vector<Entry>> found(at(blocks));
    parallel_for(threads_, blocks, [&](std::int64_t b) {
      for (Index i = static_cast<Index>(b) * kRows;
           i < std::min<Index>(d_.rows, static_cast<Index>(b + 1) * kRows); ++i)
        row_within(i, reach, m, held, found[at(b)]);
    });
    for (const auto& part : found) out.insert(out.end(), part.begin(), part.end());
  }

 private:
  void row_within(Index i, double reach, const PricedMatching& m, double* held,
                  std::vector<Entry>& out) const {
    constexpr std::size_t kStep = 256;
    const double* c = d_.data + at(i) * at(d_.cols);
    const double* v = m.v.data();
    const Index k = m.row_to_col[at(i)];
    held[i] = k >= 0 ? c[k] : row_cost(i);
    const double limit = (k >= 0 ? c[k] - v[k] : held[i]) + reach;
    for (std::size_t begin = 0; begin < at(d_.cols); begin += kStep) {
      const std::size_t end = std::min(at(d_.cols), begin + kStep);
      if (!any_below(c + begin, v + begin, end - begin, limit)) continue;
      for (std::size_t j = begin; j < end; ++j)
        if (c[j] - v[j] <= limit && c[j] < kNone && static_cast<Index>(j) != k)
          out.push_back({i, static_cast<Index>(j), c[j]});
    }
  }
  DenseDoubles d_;
  int threads_;
};

class CsrCosts final : public DoubleCosts {
 public:
  CsrCosts(const SparseDoubles& s, const UnmatchedCosts& unmatched, double largest) : s_(s) {
    largest_ = largest;
    set_unmatched(unmatched, row_costs_, col_costs_, largest_);
  }
  Index rows() const override { return s_.graph.rows; }
  Index cols() const override { return s_.graph.cols; }
  double cost(Index i, Index j) const override {
    const auto first = s_.graph.col_index.begin() + s_.graph.row_offsets[at(i)];
    const auto last = s_.graph.col_index.begin() + s_.graph.row_offsets[at(i) + 1];
    return s_.cost[static_cast<std::size_t>(std::lower_bound(first, last, j) - s_.graph.col_index.begin())];
  }
  void entries_within(double reach, const PricedMatching& m, double* held,
                      std::vector<Entry>& out) const override {
    const Offset* offsets = s_.graph.row_offsets.data();
    const Index* col = s_.graph.col_index.data();
    const double *cost = s_.cost.data(), *v = m.v.data();
    for (Index i = 0; i < s_.graph.rows; ++i) {
      const Index k = m.row_to_col[at(i)];
      Offset pair = offsets[i];
      if (k >= 0)
        while (col[pair] != k) ++pair;
      held[i] = k >= 0 ? cost[pair] : row_cost(i);
      const double limit = (k >= 0 ? held[i] - v[k] : held[i]) + reach;
      for (Offset e = offsets[i]; e < offsets[i + 1]; ++e)
        if (cost[e] - v[col[e]] <= limit && col[e] != k && cost[e] < kNone)
          out.push_back({i, col[e], cost[e]});
    }
  }

 private:
  SparseDoubles s_;
};

/// The fraction bits of the finest grid on which every cost fits `most_bits` bits and the sum over all
/// vertices 60 bits.
int grid_bits(double largest, Index rows, Index cols, int most_bits) {
  int exponent = 0, vertices = 0;
  std::frexp(largest > 0 ? largest : 1, &exponent);
  std::frexp(static_cast<double>(rows) + static_cast<double>(cols) + 1, &vertices);
  constexpr int kMost = 1000;  // the limit of motes::matching
  return std::clamp(std::min(most_bits, 59 - vertices) - exponent, -kMost, kMost);
}

/// Unmatched costs on the grid; empty if all vertices must be matched.
std::vector<matching::Cost> grid_costs(const std::vector<double>& costs, Index n, int bits) {
  if (costs.size() == 1 && costs[0] == kNone) return {};
  std::vector<matching::Cost> out(at(n));
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = matching::to_grid(costs.size() == 1 ? costs[0] : costs[k], bits);
  return out;
}

bool whole_numbers(const std::vector<double>& costs) {
  return std::all_of(costs.begin(), costs.end(), [](double x) { return x == kNone || x == std::floor(x); });
}

/// Solves on a grid. If the grid may have rounded costs, proves or corrects the answer in doubles.
DoubleAnswer solve_on_grid(const Execution& execution, const matching::CostsView& problem, bool exact,
                           const DoubleCosts& costs) {
  const matching::AutoChoice choice = matching::choose_solver(problem);
  matching::Matching found = choice.info->make()->solve(execution, problem);
  DoubleAnswer answer;
  answer.solver = choice.info->name;
  answer.feasible = found.status != matching::Status::infeasible;
  if (!answer.feasible) return answer;
  if (found.status != matching::Status::optimal) throw std::logic_error("the solver gave no optimum");
  const int bits = matching::fraction_bits_of(problem);
  const double step = std::ldexp(1.0, -bits);
  answer.matching.row_to_col = std::move(found.row_to_col);
  answer.matching.col_to_row = std::move(found.col_to_row);
  answer.matching.v.resize(found.duals.v.size());
  for (std::size_t j = 0; j < found.duals.v.size(); ++j)
    answer.matching.v[j] = static_cast<double>(found.duals.v[j]) * step;
  if (exact) return answer;
  answer.kind = ProofKind::doubles;
  answer.proof = prove_optimal(execution, costs, answer.matching, 64 * step);
  return answer;
}

/// The most entries that SparseAssignment can count in 32 bits.
constexpr std::size_t kMostPlainEntries = std::numeric_limits<std::uint32_t>::max();

bool matches_all_rows(const SparseDoubles& s, const UnmatchedCosts& unmatched) {
  const auto all = [](const std::vector<double>& costs, double cost) {
    return costs.size() == 1 && costs[0] == cost;
  };
  return s.graph.rows <= s.graph.cols && all(unmatched.row, kNone) &&
         all(unmatched.col, s.graph.rows == s.graph.cols ? kNone : 0);
}

/// Solves in doubles, whose rounding rarely changes the answer.
DoubleAnswer solve_as_it_is(const Execution& execution, const SparseDoubles& s, const Survey& survey,
                            const DoubleCosts& costs) {
  matching::check_graph(s.graph, thread_count(execution));
  DoubleAnswer answer;
  answer.solver = "jv";
  // Sums of integers do not round up to 2^53.
  const double vertices = static_cast<double>(s.graph.rows) + s.graph.cols;
  const bool exact = survey.whole && survey.largest * 4 * vertices < 0x1p53;
  SparseAssignment plain(s, survey.largest, exact);
  answer.feasible = plain.solve();
  if (!answer.feasible) return answer;
  answer.matching = std::move(plain).answer();
  if (exact) return answer;
  answer.kind = ProofKind::doubles;
  const double unit = std::max(survey.largest, std::numeric_limits<double>::min());
  answer.proof = prove_optimal(execution, costs, answer.matching, unit * 0x1p-46);
  return answer;
}

}  // namespace

UnmatchedCosts UnmatchedCosts::of_smaller_side(Index rows, Index cols) {
  UnmatchedCosts out;
  if (rows > cols) out.row = {0.0};
  if (cols > rows) out.col = {0.0};
  return out;
}

Survey survey(std::span<const double> values, int threads) {
  Survey out;
  if (values.size() <= kBlock) {
    survey_block(values.data(), values.size(), out);
    return out;
  }
  const std::int64_t blocks = static_cast<std::int64_t>((values.size() + kBlock - 1) / kBlock);
  std::vector<Survey> found(at(blocks));
  parallel_for(threads, blocks, [&](std::int64_t b) {
    const std::size_t begin = at(b) * kBlock, end = std::min(values.size(), begin + kBlock);
    survey_block(values.data() + begin, end - begin, found[at(b)]);
  });
  for (const Survey& part : found) {
    out.valid = out.valid && part.valid;
    out.complete = out.complete && part.complete;
    out.whole = out.whole && part.whole;
    out.largest = std::max(out.largest, part.largest);
  }
  return out;
}

DoubleAnswer solve(const Execution& execution, const DenseDoubles& d, const UnmatchedCosts& unmatched,
                   const Survey& survey) {
  const DenseCosts costs(d, unmatched, survey.largest, thread_count(execution));
  const int bits = grid_bits(costs.largest(), d.rows, d.cols, 49);
  const std::vector<matching::Cost> row = grid_costs(unmatched.row, d.rows, bits);
  const std::vector<matching::Cost> col = grid_costs(unmatched.col, d.cols, bits);
  const bool exact =
      bits >= 0 && survey.whole && whole_numbers(unmatched.row) && whole_numbers(unmatched.col);
  const matching::DenseCostsView view{d.rows, d.cols, d.cols, d.data, bits, row, col};
  return solve_on_grid(execution, view, exact, costs);
}

DoubleAnswer solve(const Execution& execution, const SparseDoubles& s, const UnmatchedCosts& unmatched,
                   const Survey& survey) {
  const CsrCosts costs(s, unmatched, survey.largest);
  if (matches_all_rows(s, unmatched) && s.cost.size() < kMostPlainEntries)
    return solve_as_it_is(execution, s, survey, costs);
  const int bits = grid_bits(costs.largest(), s.graph.rows, s.graph.cols, 50);
  const std::vector<matching::Cost> row = grid_costs(unmatched.row, s.graph.rows, bits);
  const std::vector<matching::Cost> col = grid_costs(unmatched.col, s.graph.cols, bits);
  const bool exact =
      bits >= 0 && survey.whole && whole_numbers(unmatched.row) && whole_numbers(unmatched.col);
  const double scale = std::ldexp(1.0, bits);
  std::vector<matching::Cost> grid(s.cost.size());
  for (std::size_t e = 0; e < grid.size(); ++e)
    grid[e] = static_cast<matching::Cost>(std::nearbyint(s.cost[e] * scale));
  const matching::SparseCostsView view{s.graph, grid, row, col, matching::Space::host, bits};
  return solve_on_grid(execution, view, exact, costs);
}

bool solve_small(const DenseDoubles& d, const Survey& survey, std::vector<Index>& row_to_col) {
  static thread_local SmallAssignment small;
  if (!small.solve(d.data, d.rows, d.cols, survey.largest, survey.complete)) return false;
  if (!small.exact() && !small.proves(survey.largest)) {
    PricedMatching matching{std::move(small.row_to_col), std::move(small.col_to_row), std::move(small.v)};
    const DenseCosts costs(d, UnmatchedCosts::of_smaller_side(d.rows, d.cols), survey.largest, 1);
    const double unit = std::max(survey.largest, std::numeric_limits<double>::min());
    Execution execution;
    execution.threads = 1;
    prove_optimal(execution, costs, matching, unit * 0x1p-46);
    small.row_to_col = std::move(matching.row_to_col);
    small.col_to_row = std::move(matching.col_to_row);
    small.v = std::move(matching.v);
  }
  row_to_col = small.row_to_col;
  return true;
}

}  // namespace motes::python
