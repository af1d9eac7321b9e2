/// Candidates by a hashed uniform grid.
///
/// Cells are one gate wide. A cell's number is its x plus multiples of its y and z, so that the three cells
/// along x are neighbours in memory; it is wrapped into a table about twice as long as the number of detections,
/// so outliers cost nothing. Detections are sorted by table slot (counting sort). A query reads nine runs of three slots.
/// Cells that share a slot do no harm: distances decide, and each row's columns are sorted and made unique.

#include "tracking/candidates/candidates.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

#include "tracking/types/errors.h"

namespace motes::tracking {
namespace {

using matching::Cost;
using matching::Index;
using matching::Offset;

constexpr std::int64_t kGate = std::int64_t{1} << kGridBitsPerGate;  ///< the gate in grid steps
constexpr double kFarthestGates = 1 << 30;
constexpr std::size_t kRowsPerBlock = 1024;

struct GridPoint {
  std::int64_t x, y, z;
};

std::uint64_t mix(std::uint64_t h) {
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebULL;
  return h ^ (h >> 31);
}

std::uint64_t hash_of(const GridPoint& p) {
  return mix(mix(mix(static_cast<std::uint64_t>(p.x)) + static_cast<std::uint64_t>(p.y)) + static_cast<std::uint64_t>(p.z));
}

std::vector<GridPoint> snap(const Detections& detections, double gate_um) {
  const double steps_per_um = static_cast<double>(kGate) / gate_um;
  auto snap_one = [&](double um, std::size_t k) {
    const double steps = um * steps_per_um;
    if (!(std::abs(steps) <= kFarthestGates * static_cast<double>(kGate)))
      throw InputError("frame " + std::to_string(detections.frame) + ", detection " + std::to_string(k) + ": position " +
                       std::to_string(um) + " is not finite or over 2^30 gates from the origin; check the input's positions");
    return std::llround(steps);
  };
  std::vector<GridPoint> points(detections.size());
  for (std::size_t k = 0; k < points.size(); ++k)
    points[k] = {snap_one(detections.x_um[k], k), snap_one(detections.y_um[k], k), snap_one(detections.z_um[k], k)};
  return points;
}

std::int64_t cell_of(std::int64_t steps) { return steps >> kGridBitsPerGate; }

/// The later frame's detections, sorted by slot.
class HashedGrid {
 public:
  explicit HashedGrid(std::span<const GridPoint> points)
      : mask_(std::bit_ceil(std::max<std::size_t>(2 * points.size(), 64)) - 1) {
    // Strides from the extent (which may be huge: only products modulo 2^64 matter).
    std::int64_t low_x = 0, high_x = 0, low_y = 0, high_y = 0;
    for (const GridPoint& p : points) {
      low_x = std::min(low_x, cell_of(p.x)), high_x = std::max(high_x, cell_of(p.x));
      low_y = std::min(low_y, cell_of(p.y)), high_y = std::max(high_y, cell_of(p.y));
    }
    stride_y_ = static_cast<std::uint64_t>(high_x - low_x) + 3;
    stride_z_ = stride_y_ * (static_cast<std::uint64_t>(high_y - low_y) + 3);

    starts_.assign(mask_ + 2, 0);
    for (const GridPoint& p : points) ++starts_[slot(cell_of(p.x), cell_of(p.y), cell_of(p.z)) + 1];
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    std::vector<Index> next(starts_.begin(), starts_.end() - 1);
    points_.resize(points.size());
    columns_.resize(points.size());
    for (std::size_t j = 0; j < points.size(); ++j) {
      const auto place = static_cast<std::size_t>(next[slot(cell_of(points[j].x), cell_of(points[j].y), cell_of(points[j].z))]++);
      points_[place] = points[j];
      columns_[place] = static_cast<Index>(j);
    }
  }

  /// Calls visit(column, squared distance in grid steps) for all within the gate; a column may come twice.
  template <class Visit>
  void query(const GridPoint& p, const Visit& visit) const {
    const std::int64_t cx = cell_of(p.x), cy = cell_of(p.y), cz = cell_of(p.z);
    for (std::int64_t dz = -1; dz <= 1; ++dz) {
      for (std::int64_t dy = -1; dy <= 1; ++dy) {
        const std::size_t first = slot(cx - 1, cy + dy, cz + dz);
        if (first + 2 <= mask_) {
          scan(p, first, first + 3, visit);
        } else {  // the run wraps around the table's end
          for (std::size_t k = 0; k < 3; ++k) scan(p, (first + k) & mask_, ((first + k) & mask_) + 1, visit);
        }
      }
    }
  }

 private:
  std::size_t slot(std::int64_t cx, std::int64_t cy, std::int64_t cz) const {
    return (static_cast<std::uint64_t>(cx) + static_cast<std::uint64_t>(cy) * stride_y_ +
            static_cast<std::uint64_t>(cz) * stride_z_) & mask_;
  }

  template <class Visit>
  void scan(const GridPoint& p, std::size_t first_slot, std::size_t end_slot, const Visit& visit) const {
    for (auto k = static_cast<std::size_t>(starts_[first_slot]); k < static_cast<std::size_t>(starts_[end_slot]); ++k) {
      const std::int64_t dx = points_[k].x - p.x, dy = points_[k].y - p.y, dz = points_[k].z - p.z;
      if (std::abs(dx) > kGate || std::abs(dy) > kGate || std::abs(dz) > kGate) continue;  // also keeps squares small
      const std::int64_t squared = dx * dx + dy * dy + dz * dz;
      if (squared <= kGate * kGate) visit(columns_[k], squared);
    }
  }

  std::size_t mask_;
  std::uint64_t stride_y_ = 0, stride_z_ = 0;
  std::vector<Index> starts_;  ///< [slots + 1]
  std::vector<GridPoint> points_;
  std::vector<Index> columns_;
};

/// Cost in steps before the tie bits. The square root is correctly rounded everywhere and scaled by a power of two.
Cost cost_steps(LinkCost kind, std::int64_t squared) {
  if (kind == LinkCost::squared) return squared;
  return static_cast<Cost>(std::sqrt(static_cast<double>(squared)) * static_cast<double>(kGate));
}

using Edge = std::pair<Index, Cost>;

/// The edges of a block of rows, one row after the other.
struct Block {
  std::vector<Edge> edges;
  std::vector<Offset> row_ends;
};

void fill_block(Block& block, std::span<const GridPoint> rows, const HashedGrid& grid, std::span<const std::uint64_t> column_hash,
                LinkCost kind) {
  block.row_ends.reserve(rows.size());
  for (const GridPoint& p : rows) {
    const std::uint64_t row_hash = hash_of(p);
    const auto first = static_cast<std::ptrdiff_t>(block.edges.size());
    grid.query(p, [&](Index column, std::int64_t squared) {
      const std::uint64_t tie = mix(row_hash ^ std::rotl(column_hash[static_cast<std::size_t>(column)], 32)) >> (64 - kTieBits);
      block.edges.emplace_back(column, (cost_steps(kind, squared) << kTieBits) + static_cast<Cost>(tie));
    });
    std::sort(block.edges.begin() + first, block.edges.end());
    block.edges.erase(std::unique(block.edges.begin() + first, block.edges.end()), block.edges.end());
    block.row_ends.push_back(static_cast<Offset>(block.edges.size()));
  }
}

/// Blocks to CSR: sizes first, then every block copies to its place.
void gather(std::span<const Block> blocks, int threads, matching::SparseCosts& out) {
  std::vector<Offset> starts(blocks.size() + 1, 0);
  for (std::size_t b = 0; b < blocks.size(); ++b) starts[b + 1] = starts[b] + static_cast<Offset>(blocks[b].edges.size());
  out.graph.row_offsets.resize(static_cast<std::size_t>(out.graph.rows) + 1);
  out.graph.col_index.resize(static_cast<std::size_t>(starts.back()));
  out.cost.resize(static_cast<std::size_t>(starts.back()));
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::size_t r = 0; r < blocks[b].row_ends.size(); ++r)
      out.graph.row_offsets[b * kRowsPerBlock + r + 1] = starts[b] + blocks[b].row_ends[r];
    auto place = static_cast<std::size_t>(starts[b]);
    for (const auto& [column, cost] : blocks[b].edges) {
      out.graph.col_index[place] = column;
      out.cost[place++] = cost;
    }
  }
}

}  // namespace

CandidateGraph build_candidates(const Execution& execution, const Detections& from, const Detections& to,
                                const CandidateOptions& options) {
  if (!(options.gate_um > 0) || !std::isfinite(options.gate_um))
    throw UsageError("linking.gate_um must be a positive length, not " + std::to_string(options.gate_um));
  const bool squared = options.cost == LinkCost::squared;
  const double gate_cost = squared ? options.gate_um * options.gate_um : options.gate_um;
  const double no_link = options.no_link_cost < 0 ? gate_cost : options.no_link_cost;
  if (!(no_link <= kMaxNoLinkGates * gate_cost))
    throw UsageError("linking.no_link_cost is above 256 times the gate's own cost (" + std::to_string(gate_cost) +
                     "); give at most " + std::to_string(kMaxNoLinkGates * gate_cost) + ", or auto");

  CandidateGraph out;
  const double steps_of_gate = static_cast<double>(kGate) * static_cast<double>(kGate << kTieBits);
  out.cost_unit = gate_cost / steps_of_gate;
  out.costs.graph.rows = static_cast<Index>(from.size());
  out.costs.graph.cols = static_cast<Index>(to.size());
  const Cost free_cost = std::llround(no_link / gate_cost * steps_of_gate);
  out.costs.unmatched_row_cost.assign(from.size(), free_cost);
  out.costs.unmatched_col_cost.assign(to.size(), free_cost);

  const std::vector<GridPoint> rows = snap(from, options.gate_um), columns = snap(to, options.gate_um);
  const HashedGrid grid(columns);
  std::vector<std::uint64_t> column_hash(columns.size());
  std::transform(columns.begin(), columns.end(), column_hash.begin(), hash_of);

  std::vector<Block> blocks((rows.size() + kRowsPerBlock - 1) / kRowsPerBlock);
  const int threads = std::max(1, std::min(thread_count(execution), static_cast<int>(std::min<std::size_t>(blocks.size(), 1024))));
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const std::size_t begin = b * kRowsPerBlock, end = std::min(rows.size(), begin + kRowsPerBlock);
    fill_block(blocks[b], std::span(rows).subspan(begin, end - begin), grid, column_hash, options.cost);
  }
  gather(blocks, threads, out.costs);
  return out;
}

}  // namespace motes::tracking
