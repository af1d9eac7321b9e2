#pragma once
/// The data of the searches in multi_source_search.cuh.

#include "matching/assignment/sparse/row_reduction.cuh"

namespace motes::matching::device::search {

constexpr int kForestBlock = 512;       ///< threads
constexpr int kForestPhases = 4096;     ///< of which the gains are reported
constexpr Cost kShift = Cost{1} << 40;  ///< rises of at least this are subtracted from all duals

/// The parts of a search that are timed.
enum ForestStage { kChains, kGrow, kRise, kSettle, kAugment, kForestStages };

struct ForestReport {
  long long phases, rounds, augmentations;
  int stuck, impossible;
  int slow;                  ///< broken off
  long long matched;         ///< pairs before the searches
  unsigned long long bids;   ///< of the chains
  unsigned long long began;  ///< when the chains began
  unsigned long long nanoseconds[kForestStages];
};

struct ForestCounters {
  int frontier[3];                         ///< by round
  int lowered[3];                          ///< by pass over the rises
  int touched[2], roots[2], augmented[2];  ///< by phase
  int contacts[2];                         ///< by phase
  Cost limit[2];                           ///< by phase: perfect: offers from here on are not made
  Cost highest[2];                         ///< by phase: greatest nearest end below the limit
};

/// A row of the forest, with the column that it owns (-1: a root).
struct Visit {
  Index row, col;
};

/// A row to scan, and where its pairs are: stored with the row, so that they need no look-up.
struct Reach {
  Visit visit;
  Offset begin;
  Index pairs;
};

/// A pair from a row of one tree to a column of another, cheap enough to matter.
struct Contact {
  Cost offer, beyond;  ///< the offer, and by how much it passes the column's distance
  Index from, to;      ///< roots
};

struct CoreForest {
  DeviceCanonical<SparseEntries> p;
  Cost* u;            ///< [rows]
  Index* row_to_col;  ///< [rows]
  Column* column;     ///< [cols]
  Index* left;        ///< [rows] rows that the chains left
  int* left_count;
  Index* roots[2];     ///< [rows]
  Reach* frontier[2];  ///< [rows + cols]
  Index* touched[2];   ///< [cols] columns with a label
  Contact* contact;    ///< [cols] more than these are searched for again in each pass
  Cost* nearest;       ///< [rows] of a root: distance of its nearest end
  Cost* rise;          ///< [rows] of a root; perfect: 1 if it has augmented
  unsigned* end;       ///< [rows] of a root: the end's column, or cols + the row that leaves; kNoRank: none
  ForestCounters* counters;
  int* gained;  ///< [kForestPhases]
  ForestReport* report;
  float share;                          ///< perfect: of the trees, that is to come to an end in a phase
  long long most_rounds, most_scanned;  ///< 0: no limit
};

/// Where a row stands in the forest.
struct Standing {
  Index row = -1, root = -1;
  Cost distance = 0;
};
__device__ inline Standing standing(const CoreForest& f, const Visit& visit) {
  Standing at;
  at.row = at.root = visit.row;
  if (visit.col == -1) return at;
  const Label label = load(&f.column[visit.col].label);
  at.distance = label.distance;
  at.root = label.root;
  return at;
}
__device__ inline Reach reach_of(const CoreForest& f, const Visit& visit) {
  if (visit.row == -1) return {visit, 0, 0};
  const Offset begin = f.p.entries.offsets[visit.row];
  return {visit, begin, static_cast<Index>(f.p.entries.offsets[visit.row + 1] - begin)};
}
__device__ inline Cost exit_distance(const CoreForest& f, const Standing& at, Cost u) {
  const Cost exit = f.p.exit_of(at.row);
  return exit == kInfiniteCost ? detail::kFar : min(detail::kFar, at.distance + (exit - u));
}

}  // namespace motes::matching::device::search
