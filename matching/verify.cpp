/// The certificate on the CPU: pairs, duals and complementary slackness, by several threads.

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include <motes/base/index.h>
#include <motes/matching/verify.h>

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/assignment/device_problem.h"
#include "matching/certificate.h"
#include "matching/pair_faults.h"

namespace motes::matching {
namespace detail {
namespace {

__extension__ typedef __int128 Wide;

std::string pair_text(Index i, Index j) { return "(" + std::to_string(i) + ", " + std::to_string(j) + ")"; }

Cost cost_of(std::span<const Cost> costs, Index k) { return costs.empty() ? kInfiniteCost : costs[at(k)]; }

/// Collects the first fault in words.
struct Faults {
  std::string& first;
  bool operator()(const std::string& what) {
    if (first.empty()) first = what;
    return false;
  }
};

/// Is the matching one, and is every vertex matched that must be? Adds up what it costs.
bool check_primal(const CostsView& problem, const Matching& matching, const EdgeFindings& findings,
                  Faults fail, Wide& primal) {
  const Index rows = rows_of(problem), cols = cols_of(problem);
  const auto row_cost = unmatched_row_cost_of(problem), col_cost = unmatched_col_cost_of(problem);
  if (matching.row_to_col.size() != at(rows) || matching.col_to_row.size() != at(cols))
    return fail("matching has the wrong number of rows or columns");
  for (Index i = 0; i < rows; ++i) {
    const Index j = matching.row_to_col[at(i)];
    if (j == -1) {
      if (cost_of(row_cost, i) == kInfiniteCost)
        return fail("row " + std::to_string(i) + " must be matched, and is free");
      primal += cost_of(row_cost, i);
      continue;
    }
    if (j < 0 || j >= cols) return fail("row " + std::to_string(i) + " is matched outside the columns");
    if (matching.col_to_row[at(j)] != i) return fail("row and column of " + pair_text(i, j) + " disagree");
    if (!findings.matched_cost.empty()) primal += findings.matched_cost[at(i)];
  }
  for (Index j = 0; j < cols; ++j) {
    const Index i = matching.col_to_row[at(j)];
    if (i == -1) {
      if (cost_of(col_cost, j) == kInfiniteCost)
        return fail("column " + std::to_string(j) + " must be matched, and is free");
      primal += cost_of(col_cost, j);
    } else if (i < 0 || i >= rows || matching.row_to_col[at(i)] != j) {
      return fail("column " + std::to_string(j) + " names a row that is not matched to it");
    }
  }
  if (findings.no_edge)
    return fail("pair " + pair_text(findings.no_edge.row, findings.no_edge.col) + " is not an edge");
  return true;
}

/// One side's duals against its unmatched costs: not above them, and equal to them at free vertices.
void check_side(std::span<const Cost> dual, std::span<const Cost> unmatched, const std::vector<Index>* mates,
                const char* what, Faults fail, Certificate& out) {
  for (Index k = 0; k < static_cast<Index>(dual.size()); ++k) {
    const Cost limit = cost_of(unmatched, k);
    if (limit != kInfiniteCost && dual[at(k)] > limit)
      out.dual_feasible =
          fail("dual of " + std::string(what) + " " + std::to_string(k) + " is above its unmatched cost");
    if (mates != nullptr && (*mates)[at(k)] == -1 && dual[at(k)] != limit)
      out.tight = fail("free " + std::string(what) + " " + std::to_string(k) + " is not tight");
  }
}

/// The pass over all pairs on the CPU.
EdgeFindings find_faults_on_host(const Execution& execution, const CostsView& problem,
                                 const Matching& matching) {
  EdgeFindings findings;
  findings.matched_cost.assign(at(rows_of(problem)), 0);
  const bool duals = has_duals(problem, matching);
  with_entries(problem, [&](const auto& entries) {
    find_faults(thread_count(execution), entries, 0, 0, matching, duals, findings);
  });
  return findings;
}

}  // namespace

bool indexable(const CostsView& problem, const Matching& matching) {
  const Index rows = rows_of(problem), cols = cols_of(problem);
  const auto in_range = [](const std::vector<Index>& mates, Index count) {
    return std::all_of(mates.begin(), mates.end(), [&](Index k) { return k >= -1 && k < count; });
  };
  return matching.row_to_col.size() == at(rows) && matching.col_to_row.size() == at(cols) &&
         in_range(matching.row_to_col, cols) && in_range(matching.col_to_row, rows);
}

bool has_duals(const CostsView& problem, const Matching& matching) {
  return matching.duals.u.size() == at(rows_of(problem)) && matching.duals.v.size() == at(cols_of(problem));
}

Certificate certify(const CostsView& problem, const Matching& matching, const EdgeFindings& findings) {
  Certificate out;
  Faults fail{out.fault};
  Wide primal = 0, dual = 0;
  out.matching_valid = check_primal(problem, matching, findings, fail, primal);
  if (!has_duals(problem, matching)) {
    fail("duals are missing or have the wrong length");
  } else if (indexable(problem, matching)) {
    out.dual_feasible = true;
    out.tight = out.matching_valid;
    for (const Cost u : matching.duals.u) dual += u;
    for (const Cost v : matching.duals.v) dual += v;
    if (findings.infeasible)
      out.dual_feasible =
          fail("duals of edge " + pair_text(findings.infeasible.row, findings.infeasible.col) +
               " exceed its cost");
    if (findings.loose)
      out.tight = fail("matched edge " + pair_text(findings.loose.row, findings.loose.col) + " is not tight");
    check_side(matching.duals.u, unmatched_row_cost_of(problem),
               out.matching_valid ? &matching.row_to_col : nullptr, "row", fail, out);
    check_side(matching.duals.v, unmatched_col_cost_of(problem),
               out.matching_valid ? &matching.col_to_row : nullptr, "column", fail, out);
  }
  out.primal = static_cast<double>(primal);
  out.dual = static_cast<double>(dual);
  out.gap = static_cast<double>(primal - dual);
  return out;
}

}  // namespace detail

Certificate verify(const Execution& execution, const CostsView& problem, const Matching& matching) {
  if (execution.backend == Backend::cuda) return detail::verify_on_device(execution, problem, matching);
  if (space_of(problem) == Space::device)
    throw std::invalid_argument("verify: the costs are in device memory; use the cuda back end");
  return detail::certify(problem, matching,
                         detail::indexable(problem, matching)
                             ? detail::find_faults_on_host(execution, problem, matching)
                             : detail::EdgeFindings{});
}

Certificate verify(const CostsView& problem, const Matching& matching) {
  return verify(Execution{}, problem, matching);
}

}  // namespace motes::matching
