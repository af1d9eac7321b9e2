#pragma once
/// One round of ms_bfs_kernels.cuh: the top-down step, the bottom-up step, and the levels that blocks
/// explore alone.

#include "matching/cardinality/ms_bfs/ms_bfs_state.cuh"

namespace motes::matching::device::ms_bfs {

/// The lanes of a group look through a chunk (Algorithm 4); put(chunk) gets those of rows that join.
template <int kLanes, class Put>
__device__ inline unsigned long long downwards(const Forest& f, const EdgeChunk& chunk, Joined& joined,
                                               Put&& put) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const unsigned root = __ldcg(f.row_root + chunk.row);
  for (int e = lane; e < chunk.count(); e += kSide * kLanes) {
    Index col[kSide];
    Word seen[kSide];
#pragma unroll
    for (int d = 0; d < kSide; ++d)
      col[d] = e + d * kLanes < chunk.count() ? f.graph.col_index[chunk.begin() + e + d * kLanes] : -1;
    const Index leaf = __ldcg(f.leaf + root);  // loaded at the same time as the words
#pragma unroll
    for (int d = 0; d < kSide; ++d) seen[d] = col[d] != -1 ? __ldcg(f.word + col[d]) : Word{0};
    if (leaf != -1) return 0;
    Offset begin[kSide], end[kSide];
    bool won[kSide];
#pragma unroll
    for (int d = 0; d < kSide; ++d) {
      won[d] = false;
      begin[d] = end[d] = 0;
      if (root_of(seen[d]) != kNone) continue;
      if (const Index mate = mate_of(seen[d]); mate != -1) {
        begin[d] = f.graph.row_offsets[mate];
        end[d] = f.graph.row_offsets[mate + 1];
      }
      won[d] = atomicCAS(f.word + col[d], seen[d], word_of(root, mate_of(seen[d]))) == seen[d];
    }
#pragma unroll
    for (int d = 0; d < kSide; ++d) {
      if (!won[d]) continue;
      const Index mate = mate_of(seen[d]);
      f.parent[col[d]] = {chunk.row, chunk.col};
      if (mate == -1) {
        __stcg(f.leaf + root, col[d]);
        ++joined.leaves;
      } else {
        __stcg(f.row_root + mate, root);
        ++joined.rows;
        for_chunks(mate, col[d], begin[d], end[d], put);
      }
    }
  }
  return lane == 0 ? static_cast<unsigned long long>(chunk.count()) : 0;
}

/// A column joins the tree of one of its rows.
template <class Put>
__device__ void join_upwards(const Forest& f, Index col, Index mate, Index row, unsigned root, Joined& joined,
                             Put&& put) {
  f.parent[col] = {row, f.row_to_col[row]};
  __stcg(f.word + col, word_of(root, mate));
  if (mate == -1) {
    __stcg(f.leaf + root, col);
    ++joined.leaves;
    return;
  }
  __stcg(f.row_root + mate, root);
  ++joined.rows;
  for_chunks(mate, col, f.graph.row_offsets[mate], f.graph.row_offsets[mate + 1], put);
}

/// The first of kSide rows, `step` edges apart from e on, that is in an active tree; -1: none.
__device__ inline Index active_row(const Forest& f, Offset e, Offset end, int step, unsigned& root) {
  Index row[kSide];
  unsigned root_of_row[kSide];
  Index leaf[kSide];
#pragma unroll
  for (int d = 0; d < kSide; ++d) row[d] = e + d * step < end ? f.graph.row_index[e + d * step] : -1;
#pragma unroll
  for (int d = 0; d < kSide; ++d) root_of_row[d] = row[d] != -1 ? __ldcg(f.row_root + row[d]) : kNone;
#pragma unroll
  for (int d = 0; d < kSide; ++d) leaf[d] = root_of_row[d] != kNone ? __ldcg(f.leaf + root_of_row[d]) : 0;
#pragma unroll
  for (int d = 0; d < kSide; ++d)
    if (leaf[d] == -1) {
      root = root_of_row[d];
      return row[d];
    }
  return -1;
}

/// Stores a column that is in no tree in shared memory or, if that is full, in the grid's list.
__device__ inline void put_left(Shared& shared, Index col, Index* list, int* list_count) {
  const int place = atomicAdd(&shared.left_count, 1);
  if (place < kLeft)
    shared.left[place] = col;
  else
    list[place_in(list_count)] = col;
}
/// Moves them to the grid's list. The whole block must call it; `left_count` begins at 0.
__device__ inline void flush_left(Shared& shared, Index* list, int* list_count) {
  __syncthreads();
  const int count = min(shared.left_count, kLeft);
  if (threadIdx.x == 0 && count > 0) shared.left_base = atomicAdd(list_count, count);
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < count; k += kBlock)
    list[shared.left_base + k] = shared.left[k];
  if (threadIdx.x == 0) shared.left_count = 0;
  __syncthreads();
}

/// Algorithm 6 over the columns that col_of(k), k < count, names (-1: none). Those that join no tree go to
/// the list `left`, if there is one. Called by the whole grid. Returns the edges scanned.
template <int kLanes, class ColOf>
__device__ inline unsigned long long upwards(const Forest& f, Shared& shared, int count, ColOf&& col_of,
                                             EdgeChunk* next, int* next_count, Index* left, int* left_count,
                                             Joined& joined) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const unsigned first_lane = threadIdx.x % 32 / kLanes * kLanes;
  const unsigned mask = ((1U << kLanes) - 1) << first_lane;
  const auto put = [&](const EdgeChunk& some) { shared.staging.put(some, next, next_count); };
  unsigned long long edges = 0;
  for (int k = spread_group<kLanes>(); k < count; k += gpu::thread_total() / kLanes) {
    const Index col = col_of(k);
    if (col == -1) continue;
    const Word word = __ldcg(f.word + col);
    if (root_of(word) != kNone) continue;
    const Offset begin = f.graph.col_offsets[col], end = f.graph.col_offsets[col + 1];
    if (begin == end) continue;
    if (end - begin > kHub) {
      int place = 0;
      if (lane == 0) place = atomicAdd(&shared.hubs, 1);
      place = __shfl_sync(mask, place, static_cast<int>(first_lane));
      if (place < kHubs) {
        if (lane == 0) shared.hub[place] = col;
        continue;
      }
    }
    bool found = false;
    for (Offset e = begin + lane; e - lane < end && !found; e += kSide * kLanes) {
      unsigned root = kNone;
      const Index row = active_row(f, e, end, kLanes, root);
      const unsigned votes = __ballot_sync(mask, row != -1) & mask;
      found = votes != 0;
      if (__ffs(static_cast<int>(votes)) - 1 == static_cast<int>(threadIdx.x % 32))
        join_upwards(f, col, mate_of(word), row, root, joined, put);
      if (lane == 0) edges += static_cast<unsigned long long>(min(Offset{kSide * kLanes}, end - e));
    }
    if (!found && left != nullptr && lane == 0) put_left(shared, col, left, left_count);
  }
  __syncthreads();
  const int hubs = min(shared.hubs, kHubs);
  for (int h = 0; h < hubs; ++h) {
    const Index col = shared.hub[h];
    const Offset begin = f.graph.col_offsets[col], end = f.graph.col_offsets[col + 1];
    if (threadIdx.x == 0) shared.row = -1;
    __syncthreads();
    bool found = false;
    for (Offset e = begin; e < end && !found; e += kSide * kBlock) {
      unsigned root = kNone;
      const Index row = active_row(f, e + static_cast<int>(threadIdx.x), end, kBlock, root);
      if (row != -1 && atomicCAS(&shared.row, -1, row) == -1)
        join_upwards(f, col, mate_of(f.word[col]), row, root, joined, put);
      if (threadIdx.x == 0) edges += static_cast<unsigned long long>(min(Offset{kSide * kBlock}, end - e));
      found = __syncthreads_or(row != -1) != 0;
    }
    if (!found && left != nullptr && threadIdx.x == 0) left[atomicAdd(left_count, 1)] = col;
    __syncthreads();
  }
  if (threadIdx.x == 0 && hubs > 0) shared.hubs = 0;
  if (left != nullptr)
    flush_left(shared, left, left_count);
  else
    __syncthreads();
  return edges;
}

__device__ inline unsigned long long joined_word(int rows, int leaves) {
  return static_cast<unsigned long long>(leaves) << 32 | static_cast<unsigned long long>(rows);
}

/// Ends a round: moves what the block gathered to the lists of the grid. Called by the whole block.
__device__ inline void tell(Shared& shared, const Joined& joined, EdgeChunk* next, int* next_count,
                            unsigned long long* total) {
  const int rows = static_cast<int>(__reduce_add_sync(0xffffffffU, joined.rows));
  const int leaves = static_cast<int>(__reduce_add_sync(0xffffffffU, joined.leaves));
  if (threadIdx.x % 32 == 0 && rows + leaves > 0) {
    atomicAdd(&shared.rows, rows);
    atomicAdd(&shared.leaves, leaves);
  }
  shared.staging.flush(next, next_count);
  if (threadIdx.x == 0 && shared.rows + shared.leaves > 0) {
    atomicAdd(total, joined_word(shared.rows, shared.leaves));
    shared.rows = shared.leaves = 0;
  }
}

/// A round in which every block explores its part of the frontier top-down by itself, for up to `hops`
/// levels, in the two halves of its shared memory. What does not fit goes to the grid's list, as part of the
/// last level. A block whose part has grown to many chunks ends the round for all blocks, so that the chunks
/// are distributed again; the others notice it one level later.
template <int kLanes>
__device__ void search_apart(const Forest& f, Shared& shared, int frontier, int hops, ForestProgress& at) {
  constexpr int kHalf = decltype(Shared::staging)::kHalf;
  Report& report = *f.report;
  const int part = (frontier + static_cast<int>(gridDim.x) - 1) / static_cast<int>(gridDim.x);
  const int begin = static_cast<int>(blockIdx.x) * part, most = max(kGrown, 2 * part);
  int count = max(0, min(part, frontier - begin)), hop = 0, rows = 0, joined_here = 0;
  EdgeChunk* list = f.frontier[1 - at.side];
  int* list_count = report.frontier + (at.round + 1) % 3;
  int* grown = report.grown + (at.round + 1) % 3;
  for (int k = static_cast<int>(threadIdx.x); k < count; k += kBlock)
    shared.staging.chunk[k] = f.frontier[at.side][begin + k];
  if (threadIdx.x < 3)
    shared.hop_count[threadIdx.x] = shared.hop_rows[threadIdx.x] = shared.hop_leaves[threadIdx.x] = 0;
  __syncthreads();
  while (count > 0) {
    const EdgeChunk* now = shared.staging.chunk + hop % 2 * kHalf;
    EdgeChunk* next = shared.staging.chunk + (hop + 1) % 2 * kHalf;
    int* next_count = shared.hop_count + (hop + 1) % 3;
    Joined joined;
    int others_grown = 0;  // loaded at the same time as the edges
    if (threadIdx.x == 0) others_grown = __ldcg(grown);
    for (int k = static_cast<int>(threadIdx.x) / kLanes; k < count; k += kBlock / kLanes)
      at.edges += downwards<kLanes>(f, now[k], joined, [&](const EdgeChunk& some) {
        const int place = atomicAdd(next_count, 1);
        if (place < kHalf)
          next[place] = some;
        else
          list[place_in(list_count)] = some;
      });
    if (joined.rows > 0) atomicAdd(shared.hop_rows + (hop + 1) % 3, joined.rows);
    if (joined.leaves > 0) atomicAdd(shared.hop_leaves + (hop + 1) % 3, joined.leaves);
    if (threadIdx.x == 0) {
      shared.grown[hop % 2] = others_grown;
      const int clear = (hop + 2) % 3;
      shared.hop_count[clear] = shared.hop_rows[clear] = shared.hop_leaves[clear] = 0;
      if (const int level = at.levels + hop; hop > 0 && level < kLevelRecords)
        atomicAdd(f.level_rows + level, rows);
    }
    __syncthreads();
    ++hop;
    count = min(*next_count, kHalf);
    rows = shared.hop_rows[hop % 3];
    joined_here += rows + shared.hop_leaves[hop % 3];
    if (hop >= hops || count > most || shared.grown[(hop + 1) % 2] != 0) break;
  }
  if (threadIdx.x == 0) {
    if (count > most) __stcg(grown, 1);
    if (count > 0) shared.staging.base = atomicAdd(list_count, count);
    if (joined_here > 0) atomicAdd(report.joined + (at.round + 1) % 3, joined_word(rows, joined_here - rows));
    if (hop > 0) atomicMax(report.hops + (at.round + 1) % 3, hop);
  }
  __syncthreads();
  const EdgeChunk* rest = shared.staging.chunk + hop % 2 * kHalf;
  for (int k = static_cast<int>(threadIdx.x); k < count; k += kBlock) list[shared.staging.base + k] = rest[k];
}

}  // namespace motes::matching::device::ms_bfs
