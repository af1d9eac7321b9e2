/// Renumbering (bfs_reordering.h): threads grow regions by breadth-first search from their own roots until
/// all rows are visited, and copy the lists that they read. Numbers are assigned region after region at the
/// end, so that no thread waits for another.
///
/// Races. A thread that finds a vertex unvisited writes its own number there and adds the vertex to its
/// list, with relaxed stores: an exchange for each vertex would wait for another core's cache line each
/// time. Two threads may do so at the same time. The number that is there at the end says whose vertex it
/// is, and the other thread removes it from its list. It is one of theirs, and each has it in its list
/// once: a thread sees its own store, and after it no thread writes "unvisited" there.

#include <algorithm>
#include <limits>
#include <utility>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/base/prefetch.h>

#include "matching/cardinality/augmenting_search.h"
#include "matching/cardinality/bfs_reordering.h"
#include "matching/cardinality/push_relabel/csr_reader.h"

namespace motes::matching::detail {
namespace {

constexpr Index kUnvisited = -1;

/// A list to whose end more values are written than are kept.
template <class T>
class GrowingList {
 public:
  void reserve(std::size_t count) {
    if (count <= room_.size()) return;
    RawArray<T> larger(count);
    std::copy(room_.data(), room_.data() + size_, larger.data());
    room_ = std::move(larger);
  }
  /// Memory for the next `count` values, of which keep() keeps the first ones.
  T* room_for(std::size_t count) {
    if (size_ + count > room_.size()) reserve(size_ + count + size_ / 2);
    return room_.data() + size_;
  }
  void keep(std::size_t count) { size_ += count; }
  void push_back(T value) {
    *room_for(1) = value;
    keep(1);
  }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t k) { return room_[k]; }
  const T& operator[](std::size_t k) const { return room_[k]; }
  std::span<const T> span() const { return {room_.data(), size_}; }

 private:
  RawArray<T> room_;
  std::size_t size_ = 0;
};

/// The vertices of one side that a thread visited, in its order, and their lists one after another, in the
/// old numbers.
struct Part {
  GrowingList<Index> visited;
  GrowingList<std::uint32_t> degrees;  ///< of those expanded
  GrowingList<Index> lists;
  std::size_t first = 0, first_edge = 0;  ///< number of vertices and edges of the regions before
  std::size_t edges = 0;                  ///< of the vertices that belong to this region
};

struct alignas(64) Region {
  Part rows, cols;
  std::vector<Index> unvisited;  ///< columns in no region, of a range of the old numbers
  Index name = 0;                ///< the mark of its vertices in Side::number
};

/// The vertices that one thread has visited, one bit for each vertex of a side. Side::number has this for all
/// threads, but a read of a cache line that other threads write has to wait for them.
struct VisitedBits {
  RawArray<std::uint32_t> rows, cols;
  RawArray<Index> fresh;  ///< seen for the first time
};

/// One side of the graph.
struct Side {
  Index count;
  const Offset* offsets;
  const Index* neighbours;
  RawArray<Index> number;  ///< [count] kUnvisited, then the name of a region, at the end the new number

  CsrView<Offset> lists() const { return {offsets, neighbours}; }
};

class Regions {
 public:
  Regions(const TwoSidedGraph& graph, int threads)
      : threads_(threads),
        rows_{graph.rows, graph.row_offsets, graph.col_index, RawArray<Index>(at(graph.rows))},
        cols_{graph.cols, graph.col_offsets, graph.row_index, RawArray<Index>(at(graph.cols))},
        edges_(static_cast<std::size_t>(graph.edges())),
        most_(at(std::max(graph.rows / (4 * threads), kLeastFrontier))),
        early_(kLeastFrontier * (edges_ / at(std::max(graph.rows, 1)) + 1)),
        chunks_(threads == 1 ? 1 : kChunks),
        chunk_(at(rows_.count) / (at(threads) * chunks_) + 1),
        regions_(at(threads)) {}

  std::optional<BfsReordering> reorder() {
    each([&](std::size_t k) {
      clear(rows_, k);
      clear(cols_, k);
      regions_[k].name = -2 - static_cast<Index>(k);
    });
    each([&](std::size_t k) { grow(regions_[k]); });
    if (scattered_) return std::nullopt;
    each([&](std::size_t k) {
      drop_taken(regions_[k].rows, rows_, regions_[k].name);
      drop_taken(regions_[k].cols, cols_, regions_[k].name);
      find_unvisited(regions_[k].unvisited, k);
    });
    BfsReordering out{RawArray<Index>(at(rows_.count) + 1),
                      RawArray<Index>(at(cols_.count) + 1),
                      RawArray<std::uint32_t>(at(rows_.count) + 1),
                      RawArray<std::uint32_t>(at(cols_.count) + 1),
                      RawArray<Index>(edges_),
                      RawArray<Index>(edges_),
                      place(&Region::rows),
                      place(&Region::cols),
                      {}};
    each([&](std::size_t k) {
      number(regions_[k].rows, rows_, out.rows);
      number(regions_[k].cols, cols_, out.cols);
    });
    each([&](std::size_t k) {
      lists(regions_[k].rows, cols_, out.row_offsets, out.col_index);
      lists(regions_[k].cols, rows_, out.col_offsets, out.row_index);
    });
    finish(out);
    out.new_col = std::move(cols_.number);
    return out;
  }

 private:
  static constexpr std::int64_t kRoots = 64;
  /// Chunks of each region on several threads; they balance the load.
  static constexpr std::size_t kChunks = 4;
  static constexpr Index kLeastFrontier = 64;
  static constexpr std::size_t kBatch = 64;  ///< vertices whose neighbours are read before they are visited
  static constexpr std::size_t kWhole = 16;  ///< neighbours in a cache line

  template <class Body>
  void each(const Body& body) {
    each_thread(threads_, [&](std::size_t thread, std::size_t threads) {
      for (std::size_t k = thread; k < regions_.size(); k += threads) body(k);
    });
  }
  /// The first of the k-th range of old numbers.
  std::size_t first_of(std::size_t k, const Side& side) const { return at(side.count) * k / regions_.size(); }
  void clear(Side& side, std::size_t k) {
    std::fill(side.number.data() + first_of(k, side), side.number.data() + first_of(k + 1, side), kUnvisited);
  }
  void find_unvisited(std::vector<Index>& unvisited, std::size_t k) {
    for (std::size_t j = first_of(k, cols_); j < first_of(k + 1, cols_); ++j)
      if (cols_.number[j] == kUnvisited) unvisited.push_back(static_cast<Index>(j));
  }

  /// Whether a region is mostly frontier, so that the graph has no neighbourhoods: a large part of the
  /// graph (most_) of which half is frontier, or already early (early_) four fifths.
  bool is_scattered(std::size_t frontier, std::size_t visited) const {
    return (frontier > most_ && 2 * frontier > visited) || (frontier > early_ && 5 * frontier > 4 * visited);
  }

  void make_room(Region& region) {
    const auto reserve = [&](Part& part, const Side& side) {
      const auto with_slack = [&](std::size_t all) { return all / regions_.size() * 3 / 2; };
      part.visited.reserve(with_slack(at(side.count)));
      part.degrees.reserve(with_slack(at(side.count)));
      part.lists.reserve(with_slack(edges_));
    };
    reserve(region.rows, rows_);
    reserve(region.cols, cols_);
  }

  VisitedBits no_bits() const {
    const auto none = [](const Side& side) {
      RawArray<std::uint32_t> bits(at(side.count) / 32 + 1);
      std::fill_n(bits.data(), bits.size(), 0u);
      return bits;
    };
    return {none(rows_), none(cols_), {}};
  }

  /// Grows the chunks of a region, each from an unvisited root. All but the last end when they have their
  /// share of the rows.
  void grow(Region& region) {
    make_room(region);
    VisitedBits bits = no_bits();
    Part& rows = region.rows;
    for (std::size_t done = 0;;) {
      const std::int64_t first = next_root_.fetch_add(kRoots, std::memory_order_relaxed);
      if (first >= rows_.count) return;
      for (std::int64_t root = first; root < std::min<std::int64_t>(first + kRoots, rows_.count); ++root) {
        Index& number = rows_.number[static_cast<std::size_t>(root)];
        if (peek(number) != kUnvisited) continue;
        put(number, region.name);
        rows.visited.push_back(static_cast<Index>(root));
        const bool is_last = done / chunk_ + 1 >= chunks_;
        if (!grow_to(region, bits, is_last ? at(rows_.count) : (done / chunk_ + 1) * chunk_)) return;
        done = rows.visited.size();
      }
    }
  }

  /// Visits all reachable rows, or about `most`. False if some region is scattered.
  bool grow_to(Region& region, VisitedBits& bits, std::size_t most) {
    Part &rows = region.rows, &cols = region.cols;
    while (rows.degrees.size() < rows.visited.size() && rows.visited.size() < most) {
      if (!check_frontier(rows)) return false;
      expand(rows, rows_, cols_, bits.cols, bits.fresh, region.name, cols.visited);
      if (!check_frontier(cols)) return false;
      expand(cols, cols_, rows_, bits.rows, bits.fresh, region.name, rows.visited);
    }
    // The columns of the last rows are visited too, since other rows may not reach them. Unvisited rows
    // become roots.
    expand(rows, rows_, cols_, bits.cols, bits.fresh, region.name, cols.visited);
    copy_rest(cols, cols_);
    return true;
  }

  /// False if some region is scattered.
  bool check_frontier(const Part& part) {
    if (is_scattered(part.visited.size() - part.degrees.size(), part.visited.size())) scattered_ = true;
    return !scattered_;
  }

  /// Copies the lists of all vertices not expanded yet, and visits their neighbours.
  void expand(Part& part, const Side& side, Side& other, RawArray<std::uint32_t>& seen,
              RawArray<Index>& fresh, Index name, GrowingList<Index>& visited) {
    const std::size_t end = part.visited.size();
    for (std::size_t begin = part.degrees.size(); begin < end; begin += kBatch) {
      const std::size_t last = std::min(begin + kBatch, end);
      const std::size_t edges = copy_lists(part, side, begin, last);
      if (fresh.size() < edges + CsrReader<Offset>::kSlack)
        fresh = RawArray<Index>(2 * edges + CsrReader<Offset>::kSlack);
      const std::size_t count = reader_.unseen(side.lists(), part.visited.span().first(end), begin, last,
                                               seen.data(), fresh.data());
      for (std::size_t k = 0; k < count; ++k) prefetch(&other.number[at(fresh[k])]);
      // Without a branch, which would be mispredicted at the frontier.
      Index* const next = visited.room_for(count);
      Index nowhere = 0;
      std::size_t unvisited = 0;
      for (std::size_t k = 0; k < count; ++k) {
        next[unvisited] = fresh[k];
        Index& number = other.number[at(fresh[k])];
        const bool mine = peek(number) == kUnvisited;
        put(*(mine ? &number : &nowhere), name);
        unvisited += mine;
      }
      visited.keep(unvisited);
    }
  }
  /// Copies the lists of the visited vertices [begin, end); those before are copied already. Returns their
  /// edges.
  std::size_t copy_lists(Part& part, const Side& side, std::size_t begin, std::size_t end) {
    std::size_t edges = 0;
    look_ahead(side.lists(), part.visited.span(), begin, end);
    for (std::size_t k = begin; k < end; ++k) {
      const Index old = part.visited[k];
      const Index* const list = side.neighbours + side.offsets[old];
      const auto length = static_cast<std::size_t>(side.offsets[old + 1] - side.offsets[old]);
      edges += length;
      part.degrees.push_back(static_cast<std::uint32_t>(length));
      Index* const to = part.lists.room_for(length + kWhole);
      part.lists.keep(length);
      // Whole cache lines if they can be read, since branches on the length would be mispredicted.
      if (static_cast<std::size_t>(side.offsets[old + 1]) + kWhole <= edges_)
        for (std::size_t e = 0; e < length; e += kWhole) std::copy_n(list + e, kWhole, to + e);
      else
        std::copy_n(list, length, to);
    }
    return edges;
  }
  void copy_rest(Part& part, const Side& side) {
    const std::size_t end = part.visited.size();
    for (std::size_t begin = part.degrees.size(); begin < end; begin += kBatch)
      copy_lists(part, side, begin, std::min(begin + kBatch, end));
  }

  static constexpr std::size_t kAhead = 48;

  /// Replaces vertices that belong to another region by -1. Lists and degrees stay.
  static void drop_taken(Part& part, Side& side, Index name) {
    std::size_t lost = 0;
    for (std::size_t k = 0; k < part.visited.size(); ++k) {
      if (k + kAhead < part.visited.size()) __builtin_prefetch(&side.number[at(part.visited[k + kAhead])]);
      const bool mine = side.number[at(part.visited[k])] == name;
      part.edges += mine ? part.degrees[k] : 0;
      if (mine) continue;
      part.visited[k] = -1;
      ++lost;
    }
    part.first = part.visited.size() - lost;
  }
  /// Turns each region's numbers of vertices and edges into those of the regions before it. Returns the
  /// regions' borders.
  std::vector<Index> place(Part Region::*side) {
    std::vector<Index> borders;
    std::size_t before = 0, edges_before = 0;
    for (Region& region : regions_) {
      borders.push_back(static_cast<Index>(before));
      Part& part = region.*side;
      before += std::exchange(part.first, before);
      part.first_edge = edges_before;
      edges_before += part.edges;
    }
    borders.push_back(static_cast<Index>(before));
    return borders;
  }

  static void number(const Part& part, Side& side, RawArray<Index>& old_of) {
    std::size_t next = part.first;
    for (std::size_t k = 0; k < part.visited.size(); ++k) {
      if (k + kAhead < part.visited.size() && part.visited[k + kAhead] != -1)
        __builtin_prefetch(&side.number[at(part.visited[k + kAhead])], 1);
      if (part.visited[k] == -1) continue;
      side.number[at(part.visited[k])] = static_cast<Index>(next);
      old_of[next++] = part.visited[k];
    }
  }

  void lists(const Part& part, const Side& other, RawArray<std::uint32_t>& new_offsets,
             RawArray<Index>& out) const {
    std::size_t next = part.first, filled = part.first_edge, begin = 0, read = 0;
    const auto copy = [&] {  // the lists read since `begin`
      reader_.look_up(part.lists.span().subspan(begin, read - begin), other.number.data(), &out[filled]);
      filled += read - begin;
    };
    for (std::size_t k = 0; k < part.visited.size(); ++k) {
      const std::size_t degree = part.degrees[k];
      if (part.visited[k] == -1) {
        copy();
        begin = read += degree;
        continue;
      }
      new_offsets[next++] = static_cast<std::uint32_t>(filled + read - begin);
      read += degree;
    }
    copy();
  }

  /// Sets the last offsets, and numbers the columns without edges, which are never visited.
  void finish(BfsReordering& out) {
    out.row_offsets[at(rows_.count)] = out.col_offsets[at(cols_.count)] = static_cast<std::uint32_t>(edges_);
    Index next = out.col_borders.back();
    for (const Region& region : regions_)
      for (const Index j : region.unvisited) {
        out.col_offsets[at(next)] = static_cast<std::uint32_t>(edges_);
        cols_.number[at(j)] = next;
        out.cols[at(next++)] = j;
      }
    out.col_borders.back() = cols_.count;
  }

  const int threads_;
  Side rows_, cols_;
  const std::size_t edges_, most_, early_, chunks_, chunk_;
  std::vector<Region> regions_;
  const CsrReader<Offset> reader_ = csr_reader<Offset>();
  std::atomic<std::int64_t> next_root_ = 0;
  std::atomic<bool> scattered_ = false;  ///< some region is
};

}  // namespace

std::optional<BfsReordering> bfs_reorder(const TwoSidedGraph& graph, int threads) {
  if (graph.edges() > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return Regions(graph, threads).reorder();
}

}  // namespace motes::matching::detail
