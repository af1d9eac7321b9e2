#pragma once
/// Common parts of the searches on the CPU: marks that several threads set, scratch memory of each thread,
/// depth-first search.
///
/// Memory order. Within a pass, threads share three kinds of words: marks (Stamps), each of which is won by
/// exactly one thread; words that only the winner of a mark writes (mates, parents, levels); and flags that
/// change once, in one direction. Passes are parallel loops, which end with barriers. So relaxed accesses
/// suffice wherever a word is only relied upon after its mark was won, or in a later pass. All words that
/// two threads may access in one pass are accessed through std::atomic_ref.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/base/timer.h>
#include <motes/matching/cardinality_solver.h>

namespace motes::matching::detail {

template <class T>
T peek(T& word) {
  return std::atomic_ref<T>(word).load(std::memory_order_relaxed);
}
template <class T>
void put(T& word, std::type_identity_t<T> value) {
  std::atomic_ref<T>(word).store(value, std::memory_order_relaxed);
}

/// A mark on each of n vertices that one caller a round can win. A new round costs O(1).
class Stamps {
 public:
  Stamps(Index n, int threads) : round_of_(at(n), 0), shared_(threads > 1) {}

  void new_round() {
    if (++round_ != 0) return;
    std::fill(round_of_.begin(), round_of_.end(), 0u);  // after 2^32 rounds
    round_ = 1;
  }
  const std::uint32_t* words() const { return round_of_.data(); }
  bool taken(Index i) { return peek(round_of_[at(i)]) == round_; }
  /// True for exactly one caller in a round.
  bool win(Index i) {
    std::uint32_t& word = round_of_[at(i)];
    if (peek(word) == round_) return false;  // most are; avoids the exchange, which locks the cache line
    if (!shared_) {
      put(word, round_);
      return true;
    }
    return std::atomic_ref(word).exchange(round_, std::memory_order_relaxed) != round_;
  }

 private:
  std::vector<std::uint32_t> round_of_;
  std::uint32_t round_ = 0;
  bool shared_;
};

/// A row on the path of a depth-first search, the column through which the path continues, and the next
/// edge to explore.
struct Step {
  Index row = -1, col = -1;
  Offset next = 0;
};

/// Scratch memory of one thread; aligned so that no two share a cache line.
struct alignas(64) Lane {
  std::vector<Index> next;          ///< vertices for the next round or level
  std::vector<Index> queue;         ///< of the thread's own breadth-first search
  std::vector<Index> joined, left;  ///< vertices in and not in a forest
  std::vector<Step> path;           ///< of the thread's own depth-first search
  std::int64_t edges = 0, augmentations = 0, path_edges = 0, pushes = 0;
};

/// Calls body(lane, begin, end) on parts of [0, count); a single part in the calling thread.
template <class Body>
void over_parts(std::vector<Lane>& lanes, std::int64_t count, std::int64_t part, const Body& body) {
  if (count <= 0) return;
  if (lanes.size() == 1 || count <= part) return body(lanes[0], std::int64_t{0}, count);
  parallel_for(static_cast<int>(lanes.size()), (count + part - 1) / part, [&](std::int64_t k) {
    body(lanes[static_cast<std::size_t>(omp_get_thread_num())], k * part, std::min(count, (k + 1) * part));
  });
}

/// Rows or columns that one thread takes at a time in a level of a breadth-first search.
inline constexpr std::int64_t kLevelPart = 512;

/// Calls body(vertex) for vertices[begin, end), and prefetches what later calls read: the vertices' lists in
/// offsets and neighbours, and words[neighbour] (unless nullptr) of the first kWords neighbours (kFromEnd:
/// the last); the hardware prefetches the rest of longer lists. Without it, vertices in random order are a
/// chain of cache misses.
template <int kWords = 12, bool kFromEnd = false, class OffsetType, class Word, class Body>
void for_each_ahead(std::span<const Index> vertices, std::int64_t begin, std::int64_t end,
                    const OffsetType* offsets, const Index* neighbours, const Word* words, const Body& body) {
  constexpr std::int64_t kAhead = 8;
  constexpr int kLine = 16;
  for (std::int64_t k = begin; k < end; ++k) {
    const auto vertex = [&](std::int64_t n) { return vertices[static_cast<std::size_t>(k + n)]; };
    if (k + 3 * kAhead < end) __builtin_prefetch(offsets + vertex(3 * kAhead));
    if (k + 2 * kAhead < end) {
      const Index* list = neighbours + offsets[vertex(2 * kAhead)];
      __builtin_prefetch(list);
      __builtin_prefetch(list + kLine - 4);  // a short list that exceeds the first line ends in this one
    }
    if (words != nullptr && k + kAhead < end) {
      // The same number for every list, since a branch on its length would be mispredicted.
      const Index v = vertex(kAhead);
      const OffsetType first = offsets[v], last = offsets[v + 1];
      if (first != last)
        for (OffsetType e = 0; e < OffsetType{kWords}; ++e)
          __builtin_prefetch(
              words + neighbours[kFromEnd ? std::max(last - 1 - e, first) : std::min(first + e, last - 1)]);
    }
    body(vertex(0));
  }
}

/// All lanes' `next`, in lane order, moved to `out`.
inline void gather(std::vector<Lane>& lanes, std::vector<Index>& out) {
  out.swap(lanes[0].next);
  lanes[0].next.clear();
  for (std::size_t k = 1; k < lanes.size(); ++k) {
    out.insert(out.end(), lanes[k].next.begin(), lanes[k].next.end());
    lanes[k].next.clear();
  }
}

/// Vertices in one list per lane, so that the threads' lists need not be joined before they are divided
/// again.
class Frontier {
 public:
  Frontier() = default;
  explicit Frontier(std::vector<Index> list) : size_(std::ssize(list)) { lists_.push_back(std::move(list)); }

  /// Takes one list of each lane, and leaves the lanes' lists empty.
  void take(std::vector<Lane>& lanes, std::vector<Index> Lane::*list = &Lane::next) {
    lists_.resize(lanes.size());
    size_ = 0;
    for (std::size_t k = 0; k < lanes.size(); ++k) {
      lists_[k].swap(lanes[k].*list);
      (lanes[k].*list).clear();
      size_ += std::ssize(lists_[k]);
    }
  }
  std::int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// Calls body(lane, list, begin, end) on parts of all lists. A part has at most `most` vertices, and few
  /// enough that the threads finish at about the same time. Short lists are done by the calling thread alone.
  template <class Body>
  void over_parts(std::vector<Lane>& lanes, std::int64_t most, const Body& body) const {
    constexpr std::int64_t kLeast = 32, kPartsOfAThread = 4;
    const std::int64_t part = std::clamp(size_ / (kPartsOfAThread * std::ssize(lanes)), kLeast, most);
    if (lanes.size() == 1 || size_ <= 2 * kLeast) {
      for (const auto& list : lists_)
        if (!list.empty()) body(lanes[0], list, std::int64_t{0}, std::ssize(list));
      return;
    }
    struct Part {
      const std::vector<Index>* list;
      std::int64_t begin;
    };
    std::vector<Part> parts;
    for (const auto& list : lists_)
      for (std::int64_t begin = 0; begin < std::ssize(list); begin += part) parts.push_back({&list, begin});
    parallel_for(static_cast<int>(lanes.size()), std::ssize(parts), [&](std::int64_t k) {
      const auto [list, begin] = parts[static_cast<std::size_t>(k)];
      body(lanes[static_cast<std::size_t>(omp_get_thread_num())], *list, begin,
           std::min(std::ssize(*list), begin + part));
    });
  }

 private:
  std::vector<std::vector<Index>> lists_;
  std::int64_t size_ = 0;
};

/// Moves the lanes' counts into the statistics; returns the paths among them.
inline std::int64_t count_in(std::vector<Lane>& lanes, CardinalityStats& stats) {
  std::int64_t paths = 0;
  for (Lane& lane : lanes) {
    stats.edges_traversed += lane.edges;
    stats.path_edges += lane.path_edges;
    paths += lane.augmentations;
    lane.edges = lane.path_edges = lane.augmentations = 0;
  }
  stats.augmentations += paths;
  return paths;
}

/// Adds the time of its scope to a step.
class Timed {
 public:
  Timed(CardinalityStats& stats, const char* step) : seconds_(stats.seconds[step]) {}
  ~Timed() { seconds_ += seconds_since(begin_); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Free rows that have edges; in order on one thread, by ranges on several.
template <class Graph>
std::vector<Index> free_rows(const Graph& graph, const Mates& mates, int threads = 1) {
  std::vector<Lane> lanes(at(threads));
  over_parts(lanes, graph.rows, graph.rows / threads + 1, [&](Lane& lane, auto begin, auto end) {
    for (auto i = static_cast<Index>(begin); i < end; ++i)
      if (mates.row_to_col[at(i)] == -1 && graph.row_offsets[i] != graph.row_offsets[i + 1])
        lane.next.push_back(i);
  });
  std::vector<Index> out;
  gather(lanes, out);
  return out;
}

/// Removes the rows that got a column from the list.
inline void drop_matched(const Mates& mates, std::vector<Index>& rows) {
  std::erase_if(rows, [&](Index i) { return mates.row_to_col[at(i)] != -1; });
}

/// Flips the path that ends in free column `col`, back along parent[col] = the row it was reached from.
/// The caller holds every vertex of the path.
template <class Parents>
void flip_back(Mates& mates, const Parents& parent, Index col, Lane& lane) {
  ++lane.augmentations;
  for (++lane.path_edges; col != -1; lane.path_edges += 2) {
    const Index row = parent[at(col)];
    put(mates.col_to_row[at(col)], row);
    std::swap(col, mates.row_to_col[at(row)]);
  }
  lane.path_edges -= 2;
}

/// A depth-first search from `root`, without recursion. `take(step)` advances step.next to a column that it
/// wins for this thread, and returns the column, or -1 if the row has none left. Returns whether an
/// augmenting path was found and applied. Columns that were won but are not on the path stay won. Only the
/// winner of a column continues to its mate, so that a row is on at most one thread's path, and that thread
/// alone writes the mates of both.
template <class Take>
bool augment_by_dfs(const TwoSidedGraph& graph, Mates& mates, Index root, Lane& lane, const Take& take) {
  std::vector<Step>& path = lane.path;
  path.clear();
  path.push_back({root, -1, graph.row_offsets[root]});
  while (!path.empty()) {
    const Index col = take(path.back());
    if (col == -1) {
      path.pop_back();
      continue;
    }
    path.back().col = col;
    const Index mate = peek(mates.col_to_row[at(col)]);
    if (mate != -1) {
      path.push_back({mate, -1, graph.row_offsets[mate]});
      continue;
    }
    for (const Step& step : path) {
      mates.row_to_col[at(step.row)] = step.col;
      put(mates.col_to_row[at(step.col)], step.row);
    }
    ++lane.augmentations;
    lane.path_edges += 2 * static_cast<std::int64_t>(path.size()) - 1;
    return true;
  }
  return false;
}

}  // namespace motes::matching::detail
