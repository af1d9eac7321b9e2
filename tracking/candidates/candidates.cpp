/// Candidates by a hashed uniform grid.
///
/// Cells are one gate wide, or two where detections are sparse. A cell's number is its x plus multiples of
/// its y and z, so that cells along x are neighbours in memory; it is wrapped into a table about twice as
/// long as the number of detections, so outliers cost nothing. The detections of both frames are sorted by
/// table slot (counting sort), and rows are worked off in that order, so that what one query reads the next
/// one finds in cache. A query reads nine runs of three slots (four of two, where sparse). Cells that share a
/// slot do no harm: distances decide, and each row's columns are sorted and made unique.

#include "tracking/candidates/candidates.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

#include "matching/parallel_for.h"
#include "tracking/types/errors.h"

namespace motes::tracking {
namespace {

using matching::Cost;
using matching::Index;
using matching::Offset;

constexpr std::int64_t kGate = std::int64_t{1} << kGridBitsPerGate;  ///< the gate in grid steps
constexpr double kFarthestGates = 1 << 30;
constexpr std::size_t kRowsPerBlock = 1024;
/// With fewer detections than this in a cube of one gate, visiting few large cells beats testing few
/// detections.
constexpr double kSparsePerGateCube = 0.4;

struct GridPoint {
  std::int64_t x, y, z;
};

std::uint64_t mix(std::uint64_t h) {
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebULL;
  return h ^ (h >> 31);
}

std::uint64_t hash_of(const GridPoint& p) {
  return mix(mix(mix(static_cast<std::uint64_t>(p.x)) + static_cast<std::uint64_t>(p.y)) +
             static_cast<std::uint64_t>(p.z));
}

std::vector<GridPoint> snap(const Detections& detections, double gate_um) {
  const double steps_per_um = static_cast<double>(kGate) / gate_um;
  auto snap_one = [&](double um, std::size_t k) {
    const double steps = um * steps_per_um;
    if (!(std::abs(steps) <= kFarthestGates * static_cast<double>(kGate)))
      throw InputError("frame " + std::to_string(detections.frame) + ", detection " + std::to_string(k) +
                       ": position " + std::to_string(um) +
                       " is not finite or over 2^30 gates from the origin; check the input's positions");
    return static_cast<std::int64_t>(steps + (steps < 0 ? -0.5 : 0.5));  // inline, unlike std::llround
  };
  std::vector<GridPoint> points(detections.size());
  for (std::size_t k = 0; k < points.size(); ++k)
    points[k] = {snap_one(detections.x_um[k], k), snap_one(detections.y_um[k], k),
                 snap_one(detections.z_um[k], k)};
  return points;
}

/// Numbers cells and wraps them into a table.
class CellTable {
 public:
  explicit CellTable(std::span<const GridPoint> points)
      : mask_(std::bit_ceil(std::max<std::size_t>(2 * points.size(), 64)) - 1) {
    GridPoint low{0, 0, 0}, high{0, 0, 0};
    for (const GridPoint& p : points) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }
    auto gates = [](std::int64_t from, std::int64_t to) {
      return static_cast<double>(to - from) / static_cast<double>(kGate) + 1;
    };
    const double cubes = gates(low.x, high.x) * gates(low.y, high.y) * gates(low.z, high.z);
    if (static_cast<double>(points.size()) < kSparsePerGateCube * cubes) ++shift_;
    // Strides from the extent (which may be huge: only products modulo 2^64 matter).
    stride_y_ = static_cast<std::uint64_t>(cell(high.x) - cell(low.x)) + 3;
    stride_z_ = stride_y_ * (static_cast<std::uint64_t>(cell(high.y) - cell(low.y)) + 3);
  }
  std::size_t slots() const { return mask_ + 1; }
  std::size_t wrap(std::size_t slot) const { return slot & mask_; }
  std::int64_t cell(std::int64_t steps) const { return steps >> shift_; }
  std::size_t slot(std::int64_t cx, std::int64_t cy, std::int64_t cz) const {
    return (static_cast<std::uint64_t>(cx) + static_cast<std::uint64_t>(cy) * stride_y_ +
            static_cast<std::uint64_t>(cz) * stride_z_) &
           mask_;
  }
  std::size_t slot(const GridPoint& p) const { return slot(cell(p.x), cell(p.y), cell(p.z)); }

 private:
  std::size_t mask_;
  int shift_ = kGridBitsPerGate;
  std::uint64_t stride_y_ = 0, stride_z_ = 0;
};

/// A frame's detections by slot.
struct SortedPoints {
  std::vector<Index> starts;  ///< [slots + 1]
  std::vector<GridPoint> points;
  std::vector<Index> detection;  ///< where each came from
};

SortedPoints sort_by_slot(std::span<const GridPoint> points, const CellTable& table) {
  SortedPoints out;
  std::vector<std::uint32_t> slots(points.size());
  out.starts.assign(table.slots() + 1, 0);
  for (std::size_t k = 0; k < points.size(); ++k) {
    slots[k] = static_cast<std::uint32_t>(table.slot(points[k]));
    ++out.starts[slots[k] + 1];
  }
  std::partial_sum(out.starts.begin(), out.starts.end(), out.starts.begin());
  std::vector<Index> next(out.starts.begin(), out.starts.end() - 1);
  out.points.resize(points.size());
  out.detection.resize(points.size());
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto place = static_cast<std::size_t>(next[slots[k]]++);
    out.points[place] = points[k];
    out.detection[place] = static_cast<Index>(k);
  }
  return out;
}

/// The later frame's detections, to be asked for those near a point.
class HashedGrid {
 public:
  HashedGrid(std::span<const GridPoint> points, const CellTable& table)
      : table_(table), sorted_(sort_by_slot(points, table)) {}

  /// Calls visit(column, its position, squared distance in grid steps) for all within the gate; a column may
  /// come twice.
  template <class Visit>
  void query(const GridPoint& p, const Visit& visit) const {
    const std::int64_t x0 = table_.cell(p.x - kGate), y0 = table_.cell(p.y - kGate),
                       z0 = table_.cell(p.z - kGate);
    const std::int64_t y1 = table_.cell(p.y + kGate), z1 = table_.cell(p.z + kGate);
    const auto run = static_cast<std::size_t>(table_.cell(p.x + kGate) - x0) + 1;
    for (std::int64_t cz = z0; cz <= z1; ++cz) {
      for (std::int64_t cy = y0; cy <= y1; ++cy) {
        const std::size_t first = table_.slot(x0, cy, cz);
        if (first + run <= table_.slots()) {
          scan(p, first, first + run, visit);
        } else {  // the run wraps around the table's end
          for (std::size_t k = 0; k < run; ++k)
            scan(p, table_.wrap(first + k), table_.wrap(first + k) + 1, visit);
        }
      }
    }
  }

 private:
  template <class Visit>
  void scan(const GridPoint& p, std::size_t first_slot, std::size_t end_slot, const Visit& visit) const {
    for (auto k = static_cast<std::size_t>(sorted_.starts[first_slot]);
         k < static_cast<std::size_t>(sorted_.starts[end_slot]); ++k) {
      const GridPoint& q = sorted_.points[k];
      const std::int64_t dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
      // One branch, not three; it also keeps the squares small.
      if ((std::abs(dx) > kGate) | (std::abs(dy) > kGate) | (std::abs(dz) > kGate)) continue;
      const std::int64_t squared = dx * dx + dy * dy + dz * dz;
      if (squared <= kGate * kGate) visit(sorted_.detection[k], q, squared);
    }
  }

  const CellTable& table_;
  SortedPoints sorted_;
};

/// Cost in steps before the tie bits. The square root is correctly rounded everywhere and scaled by a power
/// of two.
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

/// Counts candidates over all threads, and stops where memory would not hold them.
class CandidateLimit {
 public:
  CandidateLimit(std::int64_t most, std::string where) : most_(most), where_(std::move(where)) {}
  void add(std::int64_t candidates) {
    if ((found_ += candidates) <= most_) return;
    throw ResourceError(where_ + " gives over " + std::to_string(most_) +
                        " candidate pairs, more than memory holds; give a smaller linking.gate_um");
  }

 private:
  std::int64_t most_;
  std::string where_;
  std::atomic<std::int64_t> found_ = 0;
};

void fill_block(Block& block, std::span<const GridPoint> rows, const HashedGrid& grid, LinkCost kind,
                CandidateLimit& limit) {
  constexpr std::size_t kReportEvery = 1 << 20;
  std::size_t reported = 0;
  block.row_ends.reserve(rows.size());
  for (const GridPoint& p : rows) {
    const std::uint64_t row_hash = hash_of(p);
    const auto first = static_cast<std::ptrdiff_t>(block.edges.size());
    grid.query(p, [&](Index column, const GridPoint& q, std::int64_t squared) {
      const std::uint64_t tie = mix(row_hash ^ std::rotl(hash_of(q), 32)) >> (64 - kTieBits);
      block.edges.emplace_back(column, (cost_steps(kind, squared) << kTieBits) + static_cast<Cost>(tie));
    });
    if (block.edges.end() - block.edges.begin() - first > 1) {
      std::sort(block.edges.begin() + first, block.edges.end());
      block.edges.erase(std::unique(block.edges.begin() + first, block.edges.end()), block.edges.end());
    }
    block.row_ends.push_back(static_cast<Offset>(block.edges.size()));
    if (block.edges.size() - reported < kReportEvery) continue;
    limit.add(static_cast<std::int64_t>(block.edges.size() - reported));
    reported = block.edges.size();
  }
  limit.add(static_cast<std::int64_t>(block.edges.size() - reported));
}

/// Blocks of sorted rows to CSR in the rows' own order: sizes first, then every block copies to its place.
void gather(std::span<const Block> blocks, std::span<const Index> row_of, int threads,
            matching::SparseCosts& out) {
  auto& offsets = out.graph.row_offsets;
  offsets.assign(row_of.size() + 1, 0);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    Offset begin = 0;
    for (std::size_t r = 0; r < blocks[b].row_ends.size(); ++r) {
      offsets[static_cast<std::size_t>(row_of[b * kRowsPerBlock + r]) + 1] = blocks[b].row_ends[r] - begin;
      begin = blocks[b].row_ends[r];
    }
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  out.graph.col_index.resize(static_cast<std::size_t>(offsets.back()));
  out.cost.resize(static_cast<std::size_t>(offsets.back()));
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    std::size_t edge = 0;
    for (std::size_t r = 0; r < blocks[b].row_ends.size(); ++r) {
      auto place = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row_of[b * kRowsPerBlock + r])]);
      for (; edge < static_cast<std::size_t>(blocks[b].row_ends[r]); ++edge, ++place) {
        out.graph.col_index[place] = blocks[b].edges[edge].first;
        out.cost[place] = blocks[b].edges[edge].second;
      }
    }
  }
}

/// What a quarter of the machine's memory holds: a candidate is an Edge of a block, then 12 bytes of the
/// graph; growing blocks take up to twice their size, and pairs of frames are built side by side.
std::int64_t candidates_in_memory() {
  const auto bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  return bytes / 4 / static_cast<std::int64_t>(sizeof(Edge) + sizeof(Index) + sizeof(Cost));
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
    throw UsageError("linking.no_link_cost is above 256 times the gate's own cost (" +
                     std::to_string(gate_cost) + "); give at most " +
                     std::to_string(kMaxNoLinkGates * gate_cost) + ", or auto");

  CandidateGraph out;
  const double steps_of_gate = static_cast<double>(kGate) * static_cast<double>(kGate << kTieBits);
  out.cost_unit = gate_cost / steps_of_gate;
  out.costs.graph.rows = static_cast<Index>(from.size());
  out.costs.graph.cols = static_cast<Index>(to.size());
  const Cost free_cost = std::llround(no_link / gate_cost * steps_of_gate);
  out.costs.unmatched_row_cost.assign(from.size(), free_cost);
  out.costs.unmatched_col_cost.assign(to.size(), free_cost);

  const std::vector<GridPoint> columns = snap(to, options.gate_um);
  const CellTable table(columns);
  const HashedGrid grid(columns, table);
  const SortedPoints rows = sort_by_slot(snap(from, options.gate_um), table);

  std::vector<Block> blocks((rows.points.size() + kRowsPerBlock - 1) / kRowsPerBlock);
  const int threads = std::max(
      1, std::min(thread_count(execution), static_cast<int>(std::min<std::size_t>(blocks.size(), 1024))));
  CandidateLimit limit(options.max_candidates > 0 ? options.max_candidates : candidates_in_memory(),
                       "frames " + std::to_string(from.frame) + " and " + std::to_string(to.frame) +
                           ": a gate of " + std::to_string(options.gate_um));
  matching::parallel_for(threads, static_cast<std::int64_t>(blocks.size()), [&](std::int64_t block) {
    const auto b = static_cast<std::size_t>(block);
    const std::size_t begin = b * kRowsPerBlock, end = std::min(rows.points.size(), begin + kRowsPerBlock);
    fill_block(blocks[b], std::span(rows.points).subspan(begin, end - begin), grid, options.cost, limit);
  });
  gather(blocks, rows.detection, threads, out.costs);
  return out;
}

}  // namespace motes::tracking
