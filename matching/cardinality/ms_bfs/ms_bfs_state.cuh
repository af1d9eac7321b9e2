#pragma once
/// The forest of ms_bfs_kernels.cuh: data of the grid, of a block and of a thread.

#include "matching/cardinality/edge_chunks.cuh"

namespace motes::matching::device::ms_bfs {

constexpr int kBlock = 1024;
constexpr int kSide = 4;   ///< edges that a lane reads at the same time
constexpr int kFew = 256;  ///< chunks of a frontier up to which it is always explored top-down
constexpr int kApart =
    1024;                 ///< chunks of a frontier per block, up to which each block explores its part alone
constexpr int kHops = 8;  ///< levels that blocks explore alone,
constexpr int kThin = 1 << 12, kThinHops = 64;  ///< and where the whole frontier has few chunks
constexpr int kGrown = 64;                      ///< chunks that a block's part may grow to
constexpr int kHub = 512,
              kHubs = 128;  ///< rows of a column from which a block takes it; the most such columns set aside
constexpr int kLeft = 1 << 13;          ///< columns that a block gathers before it needs the grid's list
constexpr int kRecords = 1 << 13;       ///< phases recorded separately; the last one includes all later ones
constexpr int kLevelRecords = 1 << 17;  ///< levels whose frontiers are recorded

using Word = unsigned long long;
constexpr unsigned kNone = 0xffffffffU;
__device__ inline Word word_of(unsigned root, Index mate) {
  return Word{root} << 32 | static_cast<unsigned>(mate);
}
__device__ inline unsigned root_of(Word word) { return static_cast<unsigned>(word >> 32); }
__device__ inline Index mate_of(Word word) { return static_cast<Index>(static_cast<unsigned>(word)); }

/// Figures of one phase.
struct PhaseRecord {
  int levels, gained;
};

struct Report {
  int frontier[3];                   ///< of a round: chunks
  unsigned long long joined[3];      ///< of a round: rows | leaves << 32
  int unseen[3];                     ///< of a bottom-up round: columns left
  int roots[2];                      ///< of a phase
  int renewable, active, reachable;  ///< columns
  int free_rows;                     ///< before the first phase
  int hops[3];                       ///< of a round: levels explored in the previous round
  int grown[3];  ///< of a round: whether a block's part grew to many chunks in the previous round
  int phases, levels_told;
  bool done;
  unsigned long long edges, path_edges;
  unsigned long long down_ns, apart_ns, up_ns, augment_ns, graft_ns;
};
static_assert(sizeof(Report) <= 4096, "comes back in a page");

struct Forest {
  DeviceSides graph;
  Index *row_to_col, *col_to_row;
  Word* word;          ///< [cols] its tree's root (kNone: in no tree) and its mate
  Origin* parent;      ///< [cols] while in a tree
  unsigned* row_root;  ///< [rows] kNone, or a root, whose tree it is in if that has no leaf
  Index* leaf;         ///< [rows] of a root: the free column found
  Index* roots[2];     ///< [rows] free rows, a list
  Index* unseen[2];    ///< [cols] columns that may be in no tree, a list
  EdgeChunk* frontier[2];
  PhaseRecord* record;  ///< [kRecords]
  int* level_rows;      ///< [kLevelRecords] rows in the frontier of each level
  Report* report;
  long long alpha, edges_at_most;
  bool direction, graft;
};

struct Shared {
  Staging<4096> staging;
  int rows, leaves;  ///< that joined in this round
  /// Of a level that a block explores by itself: chunks, and the rows and leaves that joined.
  int hop_count[3], hop_rows[3], hop_leaves[3];
  int grown[2];  ///< of such a level: whether another block's part has grown too large
  Index left[kLeft];
  int left_count, left_base;
  Index hub[kHubs];
  int hubs, row;
};

/// The results of a thread in a round, added up once per block.
struct Joined {
  int rows = 0, leaves = 0;
};

/// The progress of the search, the same in all blocks.
struct ForestProgress {
  int round = 0;  ///< number of the round, from one barrier to the next
  int side = 0;   ///< which list holds the frontier
  int rows = 0;   ///< in the frontier
  int unseen = 0, levels = 0;
  unsigned long long edges = 0;  ///< of this thread
};

}  // namespace motes::matching::device::ms_bfs
