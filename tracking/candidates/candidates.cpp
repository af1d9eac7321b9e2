/// Candidates by a hashed uniform grid (row_grid.h).
///
/// The detections of both frames are sorted by their slot in the later frame's table (counting sort). Rows
/// are processed in that order, so that successive queries read the same cached data.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

#include <motes/base/errors.h>
#include <motes/base/for_each_task.h>
#include <motes/base/system/memory.h>
#include <motes/tracking/candidates.h>

#include "tracking/candidates/candidate_terms.h"
#include "tracking/candidates/link_cost.h"
#include "tracking/candidates/sorted_points.h"

namespace motes::tracking {
namespace {

using matching::Cost;
using matching::Index;
using matching::Offset;

constexpr std::size_t kRowsPerBlock = 1024;

using Edge = std::pair<Index, Cost>;

/// The edges of a block of rows, row by row.
struct Block {
  std::vector<Edge> edges;
  std::vector<Offset> row_ends;
};

/// Counts candidates over all threads; throws if they would not fit into memory.
class CandidateLimit {
 public:
  CandidateLimit(std::int64_t most, const Detections& from, const Detections& to, const Gate& gate)
      : most_(most), from_(from), to_(to), gate_(gate) {}
  void add(std::int64_t candidates) {
    if ((found_ += candidates) > most_) refuse_candidates(from_, to_, gate_, most_);
  }

 private:
  std::int64_t most_;
  const Detections &from_, &to_;
  Gate gate_;
  std::atomic<std::int64_t> found_ = 0;
};

void fill_block(Block& block, std::span<const GridPoint> rows, const SortedPair& pair, LinkCost kind,
                CandidateLimit& limit) {
  constexpr std::size_t kReportEvery = 1 << 20;
  std::size_t reported = 0;
  block.row_ends.reserve(rows.size());
  for (const GridPoint& p : rows) {
    const std::uint64_t row_hash = hash_of(p);
    const auto first = static_cast<std::ptrdiff_t>(block.edges.size());
    for_each_in_gate(pair.table, pair.cols.view(), p, [&](Index place, std::int64_t squared) {
      const auto k = static_cast<std::size_t>(place);
      const double root = kind == LinkCost::squared ? 0 : std::sqrt(static_cast<double>(squared));
      block.edges.emplace_back(pair.cols.detection[k],
                               candidate_cost(kind, squared, root, row_hash, hash_of(pair.cols.points[k])));
    });
    std::sort(block.edges.begin() + first, block.edges.end());
    block.row_ends.push_back(static_cast<Offset>(block.edges.size()));
    if (block.edges.size() - reported < kReportEvery) continue;
    limit.add(static_cast<std::int64_t>(block.edges.size() - reported));
    reported = block.edges.size();
  }
  limit.add(static_cast<std::int64_t>(block.edges.size() - reported));
}

/// Converts blocks of sorted rows to CSR in the original order of rows: first the sizes, then each block
/// copies to its place.
void gather(std::span<const Block> blocks, std::span<const Index> row_of, int threads,
            matching::SparseCosts& out) {
  auto& offsets = out.graph.row_offsets;
  offsets.assign(row_of.size() + 1, 0);
  for_each_task(threads, std::ssize(blocks), [&](std::int64_t block) {
    const auto b = static_cast<std::size_t>(block);
    Offset begin = 0;
    for (std::size_t r = 0; r < blocks[b].row_ends.size(); ++r) {
      offsets[static_cast<std::size_t>(row_of[b * kRowsPerBlock + r]) + 1] = blocks[b].row_ends[r] - begin;
      begin = blocks[b].row_ends[r];
    }
  });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  out.graph.col_index.resize(static_cast<std::size_t>(offsets.back()));
  out.cost.resize(static_cast<std::size_t>(offsets.back()));
  for_each_task(threads, std::ssize(blocks), [&](std::int64_t block) {
    const auto b = static_cast<std::size_t>(block);
    std::size_t edge = 0;
    for (std::size_t r = 0; r < blocks[b].row_ends.size(); ++r) {
      auto place = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row_of[b * kRowsPerBlock + r])]);
      for (; edge < static_cast<std::size_t>(blocks[b].row_ends[r]); ++edge, ++place) {
        out.graph.col_index[place] = blocks[b].edges[edge].first;
        out.cost[place] = blocks[b].edges[edge].second;
      }
    }
  });
}

/// The number of candidates that fit into a quarter of the machine's memory. A candidate is an Edge in a
/// block, then 12 bytes of the graph. Growing blocks take up to twice their size, and several pairs of frames
/// are built at once.
std::int64_t candidates_in_memory() {
  static const std::int64_t memory = system::physical_memory();  // cached: it is a system call
  return memory / 4 / static_cast<std::int64_t>(sizeof(Edge) + sizeof(Index) + sizeof(Cost));
}

}  // namespace

CandidateTerms terms_of(const CandidateOptions& options) {
  require_length(options.gate);
  const double gate_um = options.gate.um;
  const double gate_cost = options.cost == LinkCost::squared ? gate_um * gate_um : gate_um;
  const double no_link = options.no_link_cost < 0 ? gate_cost : options.no_link_cost;
  if (!(no_link <= kMaxNoLinkGates * gate_cost))
    throw UsageError("linking.no_link_cost is above 256 times the gate's own cost (" +
                     std::to_string(gate_cost) + "); give at most " +
                     std::to_string(kMaxNoLinkGates * gate_cost) + ", or auto");
  const double steps_of_gate = static_cast<double>(kGateSteps) * static_cast<double>(kGateSteps << kTieBits);
  return {static_cast<double>(kGateSteps) / gate_um, gate_cost / steps_of_gate,
          std::llround(no_link / gate_cost * steps_of_gate)};
}

void refuse_position(const Detections& detections, std::size_t k, double steps_per_um) {
  std::int64_t snapped = 0;
  double um = detections.x_um[k];
  if (snap(um, steps_per_um, snapped)) um = detections.y_um[k];
  if (snap(um, steps_per_um, snapped)) um = detections.z_um[k];
  throw InputError(
      "frame " + std::to_string(detections.frame) + ", detection " + std::to_string(k) + ": position " +
      std::to_string(um) +
      " is not finite or over 2^30 gates from the origin; check the input's positions and linking.gate_um");
}

void refuse_candidates(const Detections& from, const Detections& to, const Gate& gate, std::int64_t most) {
  throw ResourceError("frames " + std::to_string(from.frame) + " and " + std::to_string(to.frame) +
                      ": a gate of " + std::to_string(gate.um) + " gives over " + std::to_string(most) +
                      " candidate pairs, more than memory holds; give a smaller linking.gate_um");
}

std::int64_t most_candidates(const CandidateOptions& options) {
  return options.max_candidates > 0 ? options.max_candidates : candidates_in_memory();
}

CandidateGraph build_candidates(const Execution& execution, const Detections& from, const Detections& to,
                                const CandidateOptions& options) {
  const CandidateTerms terms = terms_of(options);
  return build_candidates(execution, sort_pair(from, to, terms), from, to, options, terms);
}

CandidateGraph build_candidates(const Execution& execution, const SortedPair& pair, const Detections& from,
                                const Detections& to, const CandidateOptions& options,
                                const CandidateTerms& terms) {
  CandidateGraph out;
  out.cost_unit = terms.cost_unit;
  out.costs.graph.rows = static_cast<Index>(from.size());
  out.costs.graph.cols = static_cast<Index>(to.size());
  out.costs.unmatched_row_cost.assign(from.size(), terms.free_cost);
  out.costs.unmatched_col_cost.assign(to.size(), terms.free_cost);

  const SortedPoints& rows = pair.rows;
  std::vector<Block> blocks((rows.points.size() + kRowsPerBlock - 1) / kRowsPerBlock);
  const int threads = std::max(
      1, std::min(thread_count(execution), static_cast<int>(std::min<std::size_t>(blocks.size(), 1024))));
  CandidateLimit limit(most_candidates(options), from, to, options.gate);
  for_each_task(threads, std::ssize(blocks), [&](std::int64_t block) {
    const auto b = static_cast<std::size_t>(block);
    const std::size_t begin = b * kRowsPerBlock, end = std::min(rows.points.size(), begin + kRowsPerBlock);
    fill_block(blocks[b], std::span(rows.points).subspan(begin, end - begin), pair, options.cost, limit);
  });
  gather(blocks, rows.detection, threads, out.costs);
  return out;
}

}  // namespace motes::tracking
