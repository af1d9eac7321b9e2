#include "tracking/link/pairs/uncontested_links.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include <motes/base/index.h>
#include <motes/base/timer.h>

#include "tracking/candidates/link_cost.h"

namespace motes::tracking {
namespace {

using matching::Cost;
using matching::Index;
__extension__ typedef __int128 Wide;  // costs of free ends may add up to 2^63

/// Of more detections a grid finds the candidates sooner than all pairs do.
constexpr std::size_t kFewDetections = 16;

/// A frame's points on the grid and their hashes.
struct FewPoints {
  std::array<GridPoint, kFewDetections> points;
  std::array<std::uint64_t, kFewDetections> hashes;

  /// False where a position cannot be snapped.
  bool take(const Detections& frame, double steps_per_um) {
    for (std::size_t k = 0; k < frame.size(); ++k) {
      GridPoint& p = points[k];
      if (!snap(frame.x_um[k], steps_per_um, p.x) || !snap(frame.y_um[k], steps_per_um, p.y) ||
          !snap(frame.z_um[k], steps_per_um, p.z))
        return false;
      hashes[k] = hash_of(p);
    }
    return true;
  }
};

/// Squared distance in grid steps; -1 beyond the gate.
std::int64_t squared_in_gate(const GridPoint& p, const GridPoint& q) {
  const std::int64_t dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
  if (std::max({std::abs(dx), std::abs(dy), std::abs(dz)}) > kGateSteps) return -1;
  const std::int64_t squared = dx * dx + dy * dy + dz * dz;
  return squared <= kGateSteps * kGateSteps ? squared : -1;
}

/// What one row may do.
struct Choice {
  Index col = -1;            ///< the cheapest candidate
  Cost cost = 0;             ///< its cost
  bool tied = false;         ///< another costs the same
  std::uint32_t within = 0;  ///< bit j: column j is a candidate
};

Choice choice_of(std::size_t row, const FewPoints& rows, std::size_t cols, const FewPoints& columns,
                 LinkCost kind) {
  Choice choice;
  for (std::size_t j = 0; j < cols; ++j) {
    const std::int64_t squared = squared_in_gate(rows.points[row], columns.points[j]);
    if (squared < 0) continue;
    const double root = kind == LinkCost::squared ? 0 : std::sqrt(static_cast<double>(squared));
    const Cost cost = candidate_cost(kind, squared, root, rows.hashes[row], columns.hashes[j]);
    choice.within |= std::uint32_t{1} << j;
    if (choice.col == -1 || cost < choice.cost) {
      choice.col = static_cast<Index>(j), choice.cost = cost, choice.tied = false;
    } else if (cost == choice.cost) {
      choice.tied = true;
    }
  }
  return choice;
}

/// As the solver counts them: rows that share candidates, directly or through others.
void count_components(std::span<const Choice> choices, PairLinks& out) {
  struct Component {
    std::uint32_t cols;
    std::int64_t rows;
  };
  std::array<Component, kFewDetections> found;
  std::size_t count = 0;
  for (const Choice& choice : choices) {
    Component merged{choice.within, 1};
    const auto apart = std::remove_if(found.begin(), found.begin() + count, [&](const Component& other) {
      const bool joined = (other.cols & choice.within) != 0;
      if (joined) merged.cols |= other.cols, merged.rows += other.rows;
      return joined;
    });
    *apart = merged;
    count = static_cast<std::size_t>(apart - found.begin()) + 1;
  }
  out.components = static_cast<std::int64_t>(count);
  for (std::size_t c = 0; c < count; ++c)
    out.largest_component = std::max(out.largest_component, found[c].rows);
}

}  // namespace

std::optional<PairLinks> link_uncontested(const Detections& from, const Detections& to,
                                          const LinkOptions& options, const CandidateTerms& terms) {
  if (std::max(from.size(), to.size()) > kFewDetections) return std::nullopt;
  const auto start = std::chrono::steady_clock::now();
  FewPoints rows, cols;
  if (!cols.take(to, terms.steps_per_um) || !rows.take(from, terms.steps_per_um)) return std::nullopt;
  std::array<Choice, kFewDetections> choices;
  PairLinks out;
  Wide linked_cost = 0;
  std::uint32_t taken = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    Choice& choice = choices[i];
    choice = choice_of(i, rows, to.size(), cols, options.candidates.cost);
    out.candidates += std::popcount(choice.within);
    if (choice.col == -1) continue;
    const std::uint32_t bit = std::uint32_t{1} << choice.col;
    if (choice.cost == 2 * terms.free_cost) return std::nullopt;
    if (choice.cost > 2 * terms.free_cost)
      choice.col = -1;
    else if (choice.tied || (taken & bit) != 0)
      return std::nullopt;
    else
      taken |= bit, linked_cost += choice.cost, ++out.links;
  }
  if (out.candidates > most_candidates(options.candidates)) return std::nullopt;

  out.next.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) out.next[i] = choices[i].col;
  count_components(std::span(choices).first(from.size()), out);
  const Wide free_ends = static_cast<std::int64_t>(from.size() + to.size()) - 2 * out.links;
  out.objective = static_cast<double>(linked_cost + free_ends * terms.free_cost) * terms.cost_unit;
  out.solver = "jv";
  out.solve_s = seconds_since(start);
  return out;
}

}  // namespace motes::tracking
