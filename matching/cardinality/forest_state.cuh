#pragma once
/// What the forest of forest_kernels.cuh is kept in, by the grid, a block and a thread.

#include "matching/cardinality/stretches.cuh"

namespace motes::matching::device::forests {

constexpr int kBlock = 1024;
constexpr int kSide = 4;                ///< edges that a lane reads side by side
constexpr int kAlone = 256;             ///< stretches of a frontier that one block follows alone
constexpr int kHub = 512, kHubs = 128;  ///< rows of a column that a block takes; most of them put aside
constexpr int kRecords = 1 << 13;       ///< phases told apart; the last takes in what follows
constexpr int kLevelRecords = 1 << 17;  ///< levels whose frontiers are told

using Word = unsigned long long;
constexpr unsigned kNone = 0xffffffffU;
__device__ inline Word word_of(unsigned root, Index mate) {
  return Word{root} << 32 | static_cast<unsigned>(mate);
}
__device__ inline unsigned root_of(Word word) { return static_cast<unsigned>(word >> 32); }
__device__ inline Index mate_of(Word word) { return static_cast<Index>(static_cast<unsigned>(word)); }

struct Report {
  int frontier[3];                   ///< of a round: stretches
  unsigned long long joined[3];      ///< of a round: rows | leaves << 32
  int unseen[3];                     ///< of a round upwards: columns left
  int roots[2];                      ///< of a phase
  int renewable, active, reachable;  ///< columns
  int alone_levels[2];               ///< of a round: levels that one block went through in it
  int phases, levels_told;
  bool done;
  unsigned long long edges, path_edges;
  unsigned long long down_ns, alone_ns, up_ns, augment_ns, graft_ns;
  int levels[kRecords], gained[kRecords];
};

struct Forest {
  DeviceSides graph;
  Index *row_to_col, *col_to_row;
  Word* word;          ///< [cols] its tree's root (kNone: in no tree) and its mate
  Origin* parent;      ///< [cols] while in a tree
  unsigned* row_root;  ///< [rows] kNone, or a root, whose tree it is in if that has no leaf
  Index* leaf;         ///< [rows] of a root: the free column found
  Index* roots[2];     ///< [rows] free rows, a list
  Index* unseen[2];    ///< [cols] columns that may be in no tree, a list
  Stretch* frontier[2];
  int* level_rows;  ///< [kLevelRecords] rows in the frontier of each level
  Report* report;
  long long alpha, edges_at_most;
  bool direction, graft;
};

struct Shared {
  Staging staging;
  int rows, leaves;  ///< that joined in this round
  Index hub[kHubs];
  int hubs, row;
};

/// What a thread found in a round, told once a block.
struct Joined {
  int rows = 0, leaves = 0;
};

/// Where all blocks are.
struct Progress {
  int round = 0;  ///< from one barrier of growing to the next
  int side = 0;   ///< which list holds the frontier
  int rows = 0;   ///< in the frontier
  int unseen = 0, levels = 0;
  unsigned long long edges = 0;  ///< of this thread
};

}  // namespace motes::matching::device::forests
