#include "tracking/link/pairs/place_links.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include <motes/base/index.h>
#include <motes/base/timer.h>
#include <motes/matching/transportation.h>

namespace motes::tracking {
namespace {

using matching::Cost;
using matching::Index;

auto key_of(const GridPoint& p) { return std::tuple(p.x, p.y, p.z); }

/// The indices of a slot's points in order of place, then of detection.
std::vector<std::size_t> by_place(const SortedPoints& sorted, std::size_t slot) {
  std::vector<std::size_t> order;
  for (auto k = at(sorted.starts[slot]); k < at(sorted.starts[slot + 1]); ++k) order.push_back(k);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(key_of(sorted.points[a]), a) < std::pair(key_of(sorted.points[b]), b);
  });
  return order;
}

bool crowded(const SortedPoints& sorted) {
  for (std::size_t slot = 0; slot + 1 < sorted.starts.size(); ++slot) {
    if (at(sorted.starts[slot + 1] - sorted.starts[slot]) <= kMostCoincident) continue;
    const std::vector<std::size_t> order = by_place(sorted, slot);
    for (std::size_t k = kMostCoincident; k < order.size(); ++k)
      if (key_of(sorted.points[order[k]]) == key_of(sorted.points[order[k - kMostCoincident]])) return true;
  }
  return false;
}

/// A frame's places, by slot and position.
struct Places {
  std::vector<Index> starts;       ///< [slots + 1]
  std::vector<GridPoint> points;   ///< [places]
  std::vector<Index> copies;       ///< [places]
  std::vector<std::size_t> first;  ///< [places] where its detections begin in `detection`
  std::vector<Index> detection;    ///< [detections] grouped by place

  explicit Places(const SortedPoints& sorted) : starts(sorted.starts.size(), 0) {
    for (std::size_t slot = 0; slot + 1 < sorted.starts.size(); ++slot) {
      for (const std::size_t k : by_place(sorted, slot)) {
        const bool same =
            points.size() > at(starts[slot]) && key_of(points.back()) == key_of(sorted.points[k]);
        if (!same) {
          points.push_back(sorted.points[k]);
          copies.push_back(0);
          first.push_back(detection.size());
        }
        ++copies.back();
        detection.push_back(sorted.detection[k]);
      }
      starts[slot + 1] = static_cast<Index>(points.size());
    }
  }
  Index count() const { return static_cast<Index>(points.size()); }
};

/// The costs of pairs of places; none if there are more than `most` pairs.
std::optional<matching::SparseCosts> costs_of(const CellTable& table, const Places& rows, const Places& cols,
                                              LinkCost kind, Cost free_cost, std::int64_t most) {
  matching::SparseCosts out;
  out.graph.rows = rows.count();
  out.graph.cols = cols.count();
  out.unmatched_row_cost.assign(rows.points.size(), free_cost);
  out.unmatched_col_cost.assign(cols.points.size(), free_cost);
  std::vector<std::pair<Index, Cost>> row;
  for (const GridPoint& p : rows.points) {
    row.clear();
    const std::uint64_t row_hash = hash_of(p);
    for_each_in_gate(table, {cols.starts.data(), cols.points.data()}, p, [&](Index j, std::int64_t squared) {
      const double root = kind == LinkCost::squared ? 0 : std::sqrt(static_cast<double>(squared));
      row.emplace_back(j, candidate_cost(kind, squared, root, row_hash, hash_of(cols.points[at(j)])));
    });
    std::sort(row.begin(), row.end());
    for (const auto& [j, cost] : row) {
      out.graph.col_index.push_back(j);
      out.cost.push_back(cost);
    }
    out.graph.row_offsets.push_back(out.graph.edges());
    if (out.graph.edges() > most) return std::nullopt;
  }
  return out;
}

}  // namespace

bool crowded(const SortedPair& pair) { return crowded(pair.rows) || crowded(pair.cols); }

PairLinks link_places(const SortedPair& pair, const Detections& from, const Detections& to,
                      const LinkOptions& options, const CandidateTerms& terms) {
  PairLinks out;
  out.solver = kCopiesSolver;
  const auto start = std::chrono::steady_clock::now();
  const Places rows(pair.rows), cols(pair.cols);
  const std::int64_t most = most_candidates(options.candidates);
  const auto priced = costs_of(pair.table, rows, cols, options.candidates.cost, terms.free_cost, most);
  if (!priced) refuse_candidates(from, to, options.candidates.gate, most);
  const matching::SparseCosts& costs = *priced;
  out.candidates_s = seconds_since(start);
  const auto built = std::chrono::steady_clock::now();
  const matching::TransportationView problem{costs.view(), rows.copies, cols.copies};
  const matching::Transportation answer = matching::solve_transportation(problem);
  if (options.verify) {
    const auto certificate = matching::verify(problem, answer);
    if (!certificate.optimal())
      throw std::logic_error("the certificate of coincident detections fails: " + certificate.fault);
    out.verified = true;
  }
  out.next.assign(rows.detection.size(), -1);
  std::vector<std::size_t> next_col = cols.first;
  for (std::size_t i = 0; i < rows.points.size(); ++i) {
    std::size_t next_row = rows.first[i];
    for (auto e = at(costs.graph.row_offsets[i]); e < at(costs.graph.row_offsets[i + 1]); ++e) {
      const std::size_t j = at(costs.graph.col_index[e]);
      out.candidates += std::int64_t{rows.copies[i]} * cols.copies[j];
      for (Index k = 0; k < answer.flow[e]; ++k)
        out.next[at(rows.detection[next_row++])] = cols.detection[next_col[j]++];
    }
  }
  out.links = answer.cardinality;
  out.objective = answer.objective * terms.cost_unit;
  out.solve_s = seconds_since(built);
  return out;
}

}  // namespace motes::tracking
