#include "matching/cardinality/push_serial.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "matching/cardinality/reorder.h"
#include "matching/cardinality/search.h"
#include "matching/cardinality/slots.h"
#include "matching/detail/raw_array.h"

namespace motes::matching::detail {
namespace {

/// Lists read where they are. The same names as Slots.
class PlainLists {
 public:
  explicit PlainLists(const TwoSidedGraph& graph) : graph_(graph) {}

  void prefetch_row_early(Index row) const { prefetch(graph_.row_offsets + row); }
  void prefetch_col_early(Index col) const { prefetch(graph_.col_offsets + col); }
  void prefetch_row(Index row) const { prefetch_list(graph_.col_index + graph_.row_offsets[row]); }
  void prefetch_col(Index col) const { prefetch_list(graph_.row_index + graph_.col_offsets[col]); }

  template <class Label>
  Offer offer(Index row, const Label* label_of) const {
    return Slots::offer_of(graph_.cols_of(row), label_of);
  }
  std::span<const Index> long_list(Index col) const {
    const auto rows = graph_.rows_of(col);
    return rows.size() > kMostSlots ? rows : std::span<const Index>{};
  }
  Unseen unseen(Index col, const std::uint32_t* seen, Index* out) const {
    return Slots::unseen_of(graph_.rows_of(col), seen, out);
  }

 private:
  static void prefetch_list(const Index* list) {
    prefetch(list);
    prefetch(list + 12);  // a short list that does not end in the first line, ends there
  }
  const TwoSidedGraph& graph_;
};

template <class Label>
class SerialPushing {
 public:
  SerialPushing(const TwoSidedGraph& graph, const Mates& mates, CardinalityStats& stats)
      : graph_(graph),
        stats_(stats),
        label_(at(graph.cols) + kRoom),
        row_of_(at(graph.cols)),
        col_of_(at(graph.rows) + 1),
        seen_(at(std::max(graph.rows, graph.cols)) / 32 + 1),
        frontier_{RawArray<Index>(at(graph.cols) + kFar + 1), RawArray<Index>(at(graph.cols) + kFar + 1)} {
    std::copy(mates.col_to_row.begin(), mates.col_to_row.end(), row_of_.data());
    std::copy(mates.row_to_col.begin(), mates.row_to_col.end(), col_of_.data());
    col_of_[at(graph.rows)] = -1;
    std::fill_n(label_.data() + graph.cols, kRoom, kNoPath);
  }

  /// Gives free rows their first free column; those left are active. Which columns are taken, a bit of each
  /// says. O(rows + cols + nnz).
  void start() {
    std::memset(seen_.data(), 0, seen_.size() * sizeof(std::uint32_t));
    for (Index j = 0; j < graph_.cols; ++j)
      seen_[at(j) / 32] |= std::uint32_t{row_of_[at(j)] != -1} << (j & 31);
    for (Index i = 0; i < graph_.rows; ++i) {
      if (col_of_[at(i)] != -1) continue;
      const auto cols = graph_.cols_of(i);
      const auto free = std::find_if(cols.begin(), cols.end(), [&](Index j) { return see(j); });
      if (free == cols.end()) {
        if (!cols.empty()) active_.push_back(i);
        continue;
      }
      row_of_[at(*free)] = i;
      col_of_[at(i)] = *free;
      ++stats_.augmentations;
    }
  }

  /// False: the rows left are all farther than labels reach.
  template <class Lists>
  bool run(const Lists& lists, std::int64_t frequency) {
    std::int64_t most = std::max<std::int64_t>(
        1, frequency != 0 ? graph_.rows / frequency : graph_.rows * kTenthsOfRows / 10);
    const std::int64_t given = std::ssize(active_);
    if (given * kManyFree >= graph_.rows) {
      for (Index j = 0; j < graph_.cols; ++j) label_[at(j)] = row_of_[at(j)] != -1;
      push_all(lists, std::max<std::int64_t>(1, graph_.rows * kTenthsAtFirst / 10));
    }
    bool reach = true;
    while (!active_.empty() && reach) {
      relabel(lists);
      const std::int64_t left = std::ssize(active_);
      const bool pushed = push_all(lists, most) != 0, fewer = std::ssize(active_) < left;
      reach = pushed || fewer;
      if (!fewer) most *= 2;  // so that it ends
    }
    stats_.augmentations += given - given_up_ - std::ssize(active_);
    return reach;
  }

  void tell(Mates& mates) {
    for (const Index i : active_) col_of_[at(i)] = -1;
    std::copy_n(row_of_.data(), graph_.cols, mates.col_to_row.begin());
    std::copy_n(col_of_.data(), graph_.rows, mates.row_to_col.begin());
  }

 private:
  static constexpr Index kFar = 32, kNear = 16;  ///< vertices ahead whose offsets, lists are asked for
  static constexpr std::size_t kRoom = 4;        ///< labels behind the last
  static constexpr std::size_t kBatch = 1024;    ///< rows put down before they are marked
  static constexpr std::size_t kBehind = 16;     ///< pushes whose rows are still to come
  static constexpr Label kNoPath = kNoShortPath<Label>, kTooFar = kNoPath - 1;
  static constexpr std::int64_t kTenthsOfRows = 6, kTenthsAtFirst = 4;  ///< pushes between relabellings
  static constexpr std::int64_t kManyFree = 20;
  /// A sweep of fewer rows waits for memory as long as one of these.
  static constexpr std::int64_t kLeastSweep = 16;

  /// A breadth-first search from the free columns, until all active rows are reached: exact labels, or bounds
  /// for what is farther.
  template <class Lists>
  void relabel(const Lists& lists) {
    const Timed timed(stats_, "global_relabel");
    std::memset(seen_.data(), 0, seen_.size() * sizeof(std::uint32_t));
    seen_[seen_.size() - 1] = ~std::uint32_t{0} << (graph_.rows & 31);  // those behind the last
    for (const Index i : active_) col_of_[at(i)] = -1;
    Index* now = frontier_[0].data();
    Index* next = frontier_[1].data();
    std::int64_t size = 0;
    for (Index j = 0; j < graph_.cols; ++j) {
      const Index i = row_of_[at(j)];
      now[size] = j;
      size += i == -1;
      label_[at(j)] = i == -1 ? Label{0} : kNoPath;
    }
    const auto waiting = std::ssize(active_);
    std::int64_t reached = 0;
    std::int64_t level = 0;
    while (size != 0 && reached < waiting) {
      std::fill_n(now + size, kFar, now[size - 1]);
      const std::int64_t found = expand(lists, now, size, next, label_for(++level), reached);
      std::swap(now, next);
      size = found;
    }
    if (size != 0)
      for (Index j = 0; j < graph_.cols; ++j)
        if (label_[at(j)] == kNoPath) label_[at(j)] = label_for(level + 1);
    stats_.levels.push_back(level);
    ++stats_.global_relabels;
  }
  static Label label_for(std::int64_t level) {
    return static_cast<Label>(std::min<std::int64_t>(level, kTooFar));
  }

  /// The rows next to the columns now[0, size), seen for the first time: their columns go to `next` and get
  /// the label; those without are counted. Returns the columns.
  template <class Lists>
  std::int64_t expand(const Lists& lists, const Index* now, std::int64_t size, Index* next, Label level,
                      std::int64_t& reached) {
    std::array<Index, kBatch + kMostSlots> batch;
    std::size_t count = 0;
    std::int64_t found = 0, looks = 0;
    const auto mark_all = [&] {
      std::fill_n(batch.data() + count, kNear, graph_.rows);  // asked for ahead
      mark(batch.data(), count, next, found, level, reached);
      count = 0;
    };
    const auto put_down = [&](const Unseen& unseen) {
      count += static_cast<std::size_t>(unseen.found);
      looks += unseen.looks;
    };
    for (std::int64_t k = 0; k < size; ++k) {
      lists.prefetch_col_early(now[k + kFar]);
      lists.prefetch_col(now[k + kNear]);
      if (count + 2 * kMostSlots > kBatch) mark_all();
      const std::span<const Index> rows = lists.long_list(now[k]);
      if (rows.empty()) [[likely]] {
        put_down(lists.unseen(now[k], seen_.data(), batch.data() + count));
        continue;
      }
      for (std::size_t from = 0; from < rows.size(); from += kMostSlots) {
        if (count + 2 * kMostSlots > kBatch) mark_all();
        put_down(Slots::unseen_of(rows.subspan(from, std::min(kMostSlots, rows.size() - from)), seen_.data(),
                                  batch.data() + count));
      }
    }
    mark_all();
    stats_.edges_traversed += looks;
    return found;
  }

  // Rows put down twice are found out here. Nothing is asked that would go wrong often.
  void mark(const Index* rows, std::size_t count, Index* next, std::int64_t& found, Label level,
            std::int64_t& reached) {
    for (std::size_t k = 0; k < count; ++k) {
      prefetch(&col_of_[at(rows[k + kNear])]);
      const Index i = rows[k], j = col_of_[at(i)];
      const bool mine = see(i);
      if (j == -1) {
        reached += mine;
        continue;
      }
      next[found] = j;
      found += mine;
      Label& label = label_[at(j)];
      label = mine ? level : label;
    }
  }
  /// Whether it was not seen before.
  bool see(Index i) {
    std::uint32_t& word = seen_[at(i) / 32];
    const std::uint32_t before = word;
    word |= std::uint32_t{1} << (i & 31);
    return word != before;
  }

  /// Active rows push, and those that they displace, sweep by sweep, until none is active or `most` pushes
  /// are made.
  template <class Lists>
  std::int64_t push_all(const Lists& lists, std::int64_t most) {
    const Timed timed(stats_, "push");
    std::int64_t spent = 0, looks = 0, pushes = 0;
    while (!active_.empty() && spent < most) {
      const std::size_t count = active_.size();
      spent += std::max<std::int64_t>(std::ssize(active_), kLeastSweep);
      active_.resize(count + kFar, active_.back());
      displaced_.resize(count + 1);
      std::array<Taken, kBehind> taken;
      std::size_t begun = 0, ended = 0, displaced = 0;
      const auto end_one = [&] {
        const Taken& one = taken[ended++ % kBehind];
        const Index before = std::exchange(row_of_[at(one.col)], one.row);
        col_of_[at(one.row)] = one.col;
        displaced_[displaced] = before;
        displaced += before != -1;
      };
      for (std::size_t k = 0; k < count; ++k) {
        lists.prefetch_row_early(active_[k + kFar]);
        lists.prefetch_row(active_[k + kNear]);
        prefetch_to_write(&col_of_[at(active_[k + kNear])]);
        const Offer offer = lists.offer(active_[k], label_.data());
        looks += offer.looks;
        if (offer.label >= kTooFar) [[unlikely]] {
          leave(active_[k], offer.label);
          continue;
        }
        label_[at(offer.col)] = static_cast<Label>(offer.second + (offer.second < kTooFar));
        prefetch_to_write(&row_of_[at(offer.col)]);
        if (begun - ended == kBehind) end_one();
        taken[begun++ % kBehind] = {offer.col, active_[k]};
      }
      while (ended != begun) end_one();
      pushes += static_cast<std::int64_t>(begun);
      displaced_.resize(displaced);
      active_.swap(displaced_);
    }
    active_.insert(active_.end(), far_.begin(), far_.end());
    far_.clear();
    ++stats_.phases;
    stats_.pushes += pushes;
    stats_.relabels += 2 * pushes;  // a double push raises its row's label and its column's
    stats_.edges_traversed += looks;
    return pushes;
  }
  void leave(Index row, std::uint16_t label) {
    if (label == kTooFar) return far_.push_back(row);
    ++given_up_;
    col_of_[at(row)] = -1;
  }

  /// A column that a row has taken, in whose place the row before it still stands.
  struct Taken {
    Index col, row;
  };

  const TwoSidedGraph& graph_;
  CardinalityStats& stats_;
  std::vector<Index> active_, displaced_, far_;
  RawArray<Label> label_;         ///< [cols + kRoom] the last ones kNoPath
  RawArray<Index> row_of_;        ///< [cols] -1 = free
  RawArray<Index> col_of_;        ///< [rows + 1] -1 = free, but not yet of active rows; of row `rows`, too
  RawArray<std::uint32_t> seen_;  ///< a bit for each row, and behind the last; at the start for each column
  RawArray<Index> frontier_[2];   ///< [cols + kFar + 1] columns of a level
  std::int64_t given_up_ = 0;
};

/// Labels of 16 bits of this many columns stay in the cache however they are numbered.
constexpr Index kColumnsInCache = 1 << 18;

}  // namespace

bool push_on_one_thread(const TwoSidedGraph& graph, Mates& mates, const PushRelabelOptions& options,
                        CardinalityStats& stats) {
  if (std::find(mates.row_to_col.begin(), mates.row_to_col.end(), -1) == mates.row_to_col.end()) return true;
  const auto push = [&]<class Label>(const auto& lists, Label) {
    SerialPushing<Label> pushing(graph, mates, stats);
    {
      const Timed timed(stats, "start");
      pushing.start();
    }
    const bool done = pushing.run(lists, options.relabel_frequency);
    pushing.tell(mates);
    return done;
  };
  std::optional<Slots> slots;
  if (options.reorder != Reorder::never) {
    const Timed timed(stats, "slots");
    slots = Slots::of(graph);
  }
  if (!slots) return push(PlainLists(graph), std::uint16_t{});
  const bool narrow =
      graph.cols > kColumnsInCache && scattered({graph.rows,
                                                 graph.cols,
                                                 {graph.row_offsets, at(graph.rows) + 1},
                                                 {graph.col_index, static_cast<std::size_t>(graph.edges())}});
  return (narrow && push(*slots, std::uint8_t{})) || push(*slots, std::uint16_t{});
}

}  // namespace motes::matching::detail
