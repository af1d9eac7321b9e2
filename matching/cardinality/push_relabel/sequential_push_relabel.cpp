/// Push-relabel on one thread: pushes, relabellings and the choice of label width.

#include "matching/cardinality/push_relabel/sequential_push_relabel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <motes/base/index.h>
#include <motes/base/raw_array.h>
#include <motes/base/stop.h>

#include "matching/cardinality/augmenting_search.h"
#include "matching/cardinality/bfs_reordering.h"
#include "matching/cardinality/push_relabel/adjacency.h"
#include "matching/cardinality/push_relabel/relabel_policy.h"

namespace motes::matching::detail {
namespace {

/// The number of words to allocate for `count` that are visited in random order: at least a huge page,
/// instead of many small ones.
template <class T>
std::size_t in_one_page(std::size_t count) {
  constexpr std::size_t kSmallPages = std::size_t{1} << 19, kHugePage = HostBlocks::kPage;
  return count * sizeof(T) < kSmallPages ? count : std::max(count, kHugePage / sizeof(T));
}

template <class Label>
class SequentialPushing {
 public:
  SequentialPushing(const TwoSidedGraph& graph, const Mates& mates, CardinalityStats& stats)
      : graph_(graph),
        stats_(stats),
        label_(in_one_page<Label>(at(graph.cols) + kRoom)),
        row_of_(at(graph.cols)),
        col_of_(at(graph.rows)),
        seen_(in_one_page<std::uint32_t>((at(std::max(graph.rows, graph.cols)) + 1) / 32 + 1)),
        met_(at(graph.cols) + kAskedAhead + 1),
        found_(at(graph.rows) + kFlatRoom),
        active_(at(graph.rows) + kAskedAhead),
        displaced_(at(graph.rows) + kAskedAhead) {
    std::copy(mates.col_to_row.begin(), mates.col_to_row.end(), row_of_.data());
    std::copy(mates.row_to_col.begin(), mates.row_to_col.end(), col_of_.data());
    std::fill_n(label_.data() + graph.cols, kRoom, kNoPath);
    for (Index i = 0; i < graph.rows; ++i) {
      active_[active_count_] = i;
      active_count_ += col_of_[at(i)] == -1 && graph.row_offsets[i] != graph.row_offsets[i + 1];
    }
  }

  /// Returns false if all rows left are farther from a free column than labels can count.
  bool run(Layout& lists, std::int64_t frequency) {
    std::int64_t most =
        std::max<std::int64_t>(1, frequency != 0 ? graph_.rows / frequency : graph_.rows * kMostOfRows);
    const std::int64_t given = count();
    const bool many = given * kManyFree >= graph_.rows;
    if (many) lists.lay_out(stats_);
    lists.visit([&](const auto& them) { take_free(them); });
    const auto free_cols = std::count(row_of_.data(), row_of_.data() + graph_.cols, Index{-1});
    if (many && count() * kManyFree >= graph_.rows && free_cols * kManyFree >= graph_.cols) {
      for (Index j = 0; j < graph_.cols; ++j) label_[at(j)] = row_of_[at(j)] != -1;
      RelabelPolicy policy(most);
      if (frequency == 0) policy.watch(count(), cost_of_relabelling(at(graph_.cols)), graph_.rows / kOfRows);
      lists.visit([&](const auto& them) { push_all(them, policy); });
    }
    bool reach = true;
    while (active_count_ != 0 && reach) {
      std::int64_t reached = 0;
      lists.visit([&](const auto& them) { reached = relabel(them); });
      const std::int64_t left = count();
      bool pushed = false;
      RelabelPolicy policy(most);
      if (frequency == 0) policy.watch(reached, cost_of_relabelling(level_ends_.back()), least_watched());
      lists.visit([&](const auto& them) { pushed = push_all(them, policy) != 0; });
      const bool fewer = count() < left;
      if (active_count_ != 0) lists.lay_out(stats_);
      reach = pushed || fewer;
      if (!fewer) most *= 2;  // ensures termination
    }
    stats_.augmentations += given - given_up_ - count();
    return reach;
  }

  void tell(Mates& mates) {
    for (const Index i : active()) col_of_[at(i)] = -1;
    std::copy_n(row_of_.data(), graph_.cols, mates.col_to_row.begin());
    std::copy_n(col_of_.data(), graph_.rows, mates.row_to_col.begin());
  }

 private:
  std::span<const Index> active() const { return {active_.data(), active_count_}; }
  std::int64_t count() const { return static_cast<std::int64_t>(active_count_); }

  static constexpr std::size_t kRoom = 8;  ///< labels after the last
  static constexpr Label kNoPath = kNoShortPath<Label>, kTooFar = kShortFar<Label>;
  static constexpr std::int64_t kMostOfRows = 2;  ///< pushes between relabellings
  static constexpr std::int64_t kManyFree = 20;
  /// A sweep of fewer rows takes as long as one of this many, since it waits for memory.
  static constexpr std::int64_t kLeastSweep = 16;

  /// A column visited by the search takes as long as a push; relabelling too early costs more than too late.
  std::int64_t cost_of_relabelling(std::size_t met) const {
    return 2 * (static_cast<std::int64_t>(met) + graph_.cols / 20);
  }
  /// The relabel policy decides after every rows / kOfRows pushes.
  static constexpr std::int64_t kOfRows = 25;
  /// Pushes before the policy decides, so that paths have had time to end.
  std::int64_t least_watched() const {
    return std::max<std::int64_t>(graph_.rows / kOfRows, 64 * stats_.levels.back());
  }

  /// Pads the list, since batches are read past its end.
  void pad_active() {
    if (active_count_ != 0)
      std::fill_n(active_.data() + active_count_, kAskedAhead, active_[active_count_ - 1]);
  }

  /// Active rows take their first free column; those left stay active. A bit for each column says whether it
  /// is taken.
  template <class Lists>
  void take_free(const Lists& lists) {
    const Timed timed(stats_, "start");
    std::memset(seen_.data(), 0, seen_.size() * sizeof(std::uint32_t));
    for (Index begin = 0; begin < graph_.cols; begin += 32) {
      std::uint32_t word = 0;
      for (Index j = begin; j < std::min(begin + 32, graph_.cols); ++j)
        word |= std::uint32_t{row_of_[at(j)] != -1} << (j & 31);
      seen_[at(begin) / 32] = word;
    }
    see(graph_.cols);  // slots of no column
    pad_active();
    std::array<Index, kColsAtOnce> col;
    std::size_t left = 0;
    for (std::size_t k = 0; k < active_count_; k += kColsAtOnce) {
      const auto rows = active().subspan(k, std::min(kColsAtOnce, active_count_ - k));
      const auto take = [&](Index j) {
        if (!see(j)) return false;
        prefetch_to_write(&row_of_[at(j)]);
        return true;
      };
      lists.take_first(rows, seen_.data(), take, col.data());
      for (std::size_t n = 0; n < rows.size(); ++n) {
        const Index i = rows[n];
        active_[left] = i;
        left += col[n] == -1;
        if (col[n] == -1) continue;
        row_of_[at(col[n])] = i;
        col_of_[at(i)] = col[n];
      }
    }
    active_count_ = left;
  }

  /// A breadth-first search from the free columns, until all active rows are reached: exact labels, or bounds
  /// for what is farther. Labels are written after the search, which uses the cache for other words. Returns
  /// the active rows reached.
  template <class Lists>
  std::int64_t relabel(const Lists& lists) {
    const Timed timed(stats_, "global_relabel");
    std::memset(seen_.data(), 0, seen_.size() * sizeof(std::uint32_t));
    see(graph_.rows);  // slots of no row
    for (const Index i : active()) col_of_[at(i)] = -1;
    find_free();
    const std::int64_t waiting = count();
    std::int64_t reached = 0;
    level_ends_.assign({0, free_count_});
    while (level_ends_.back() != level_ends_.end()[-2] && reached < waiting)
      level_ends_.push_back(expand(lists, level_ends_.end()[-2], level_ends_.back(), reached));
    const bool all = level_ends_.back() == level_ends_.end()[-2];
    const std::int64_t levels = std::ssize(level_ends_) - 2;
    // A local copy: the compiler must assume that a store of bytes can change any member.
    Label* const label_of = label_.data();
    const Index* met = met_.data();
    std::fill_n(label_of, graph_.cols, all ? kNoPath : label_for(levels + 1));
    for (std::int64_t level = 0; level <= levels; ++level) {
      const Label label = label_for(level);
      for (const Index* const end = met_.data() + level_ends_[static_cast<std::size_t>(level) + 1];
           met != end; ++met)
        label_of[*met] = label;
    }
    stats_.levels.push_back(levels);
    ++stats_.global_relabels;
    return std::min(reached, waiting);
  }
  /// The free columns come first. Columns that are taken stay so.
  void find_free() {
    std::size_t count = 0;
    const auto put = [&](Index j) {
      met_[count] = j;
      count += row_of_[at(j)] == -1;
    };
    if (free_known_)
      for (std::size_t k = 0; k < free_count_; ++k) put(met_[k]);
    else
      for (Index j = 0; j < graph_.cols; ++j) put(j);
    free_count_ = count;
    free_known_ = true;
  }
  static Label label_for(std::int64_t level) {
    return static_cast<Label>(std::min<std::int64_t>(level, kTooFar));
  }

  /// Visits the unseen rows adjacent to the columns met_[begin, end): appends their columns to met_, and
  /// counts rows without a column. Returns the new end.
  template <class Lists>
  std::size_t expand(const Lists& lists, std::size_t begin, std::size_t end, std::int64_t& reached) {
    std::fill_n(met_.data() + end, kAskedAhead, met_[end - 1]);
    std::size_t found = 0, followed = 0, size = end;
    std::int64_t looks = 0;
    // Rows adjacent to two columns of a batch are listed twice; duplicates are dropped here.
    const auto sieve = [&](std::span<const Index> rows) {
      for (const Index i : rows) {
        prefetch(&col_of_[at(i)]);
        found_[found] = i;
        found += see(i);
      }
    };
    const auto follow = [&](std::size_t last) {
      for (; followed != last; ++followed) {
        const Index j = col_of_[at(found_[followed])];
        met_[size] = std::max(j, 0);  // it may be read in advance
        size += j != -1;
      }
    };
    std::array<Index, kFlatRoom> flat, put_down;
    for (std::size_t k = begin; k < end; k += kColsAtOnce) {
      const std::span<const Index> cols(met_.data() + k, std::min(kColsAtOnce, end - k));
      const Visit visit = lists.flat_cols(cols, flat.data());
      looks += visit.looks;
      const std::size_t before = found;
      const auto see_all = [&](std::span<const Index> rows) {
        const std::int64_t unseen = lists.lists().unseen(rows, seen_.data(), put_down.data());
        sieve({put_down.data(), static_cast<std::size_t>(unseen)});
      };
      see_all({flat.data(), static_cast<std::size_t>(visit.looks)});
      if (visit.longer) [[unlikely]]
        for (const Index j : cols) {
          std::span<const Index> rest = lists.rest(j);
          looks += std::ssize(rest);
          while (!rest.empty()) {
            const auto here = rest.first(std::min(rest.size(), kFlatRoom - kMostSlots));
            see_all(here);
            rest = rest.subspan(here.size());
          }
        }
      follow(before);
    }
    follow(found);
    reached += static_cast<std::int64_t>(found - (size - end));
    stats_.edges_traversed += looks;
    return size;
  }

  /// Marks the vertex as visited; returns whether it was new.
  bool see(Index i) { return set_bit(seen_.data(), i); }

  /// Active rows and the rows that they displace push, sweep by sweep, until none is active or the policy
  /// asks for a relabelling. Rows read the labels of their columns a batch at a time; a row whose chosen
  /// column another of the batch has raised reads again. Labels only rise, so that a second least read
  /// earlier is still a bound.
  template <class Lists>
  std::int64_t push_all(const Lists& lists, RelabelPolicy policy) {
    const Timed timed(stats_, "push");
    std::int64_t looks = 0, pushes = 0;
    const Stop stop = Stop::of_this_thread();
    while (active_count_ != 0 && policy.go_on(count() + std::ssize(far_))) {
      stop.check();
      policy.spend(std::max<std::int64_t>(count(), kLeastSweep));
      pad_active();
      std::array<Taken, 2 * kRowsAtOnce> taken;  // of this batch and the one before
      Offers offers;
      std::size_t begun = 0, ended = 0, displaced = 0;
      Label* const label_of = label_.data();  // a local copy, as in relabel()
      Index *const row_of = row_of_.data(), *const col_of = col_of_.data(), *const next = displaced_.data();
      const auto end_all = [&](std::size_t last) {
        for (; ended != last; ++ended) {
          const Taken& one = taken[ended % taken.size()];
          const Index before = std::exchange(row_of[one.col], one.row);
          col_of[one.row] = one.col;
          next[displaced] = before;
          displaced += before != -1;
        }
      };
      for (std::size_t k = 0; k < active_count_; k += kRowsAtOnce) {
        const auto rows = active().subspan(k, std::min(kRowsAtOnce, active_count_ - k));
        looks += lists.offers(rows, label_of, offers);
        const std::size_t before = begun;
        for (std::size_t n = 0; n < rows.size(); ++n) {
          Offer offer{offers.col[n], static_cast<std::uint16_t>(offers.label[n]),
                      static_cast<std::uint16_t>(offers.second[n])};
          if (label_of[offer.col] != offer.label) [[unlikely]]
            offer = lists.offer(rows[n], label_of);
          if (offer.label >= kTooFar) [[unlikely]] {
            leave(rows[n], offer.label);
            continue;
          }
          label_of[offer.col] = static_cast<Label>(offer.second + (offer.second < kTooFar));
          prefetch_to_write(row_of + offer.col);
          prefetch_to_write(col_of + rows[n]);
          taken[begun++ % taken.size()] = {offer.col, rows[n]};
        }
        end_all(before);
      }
      end_all(begun);
      pushes += static_cast<std::int64_t>(begun);
      std::swap(active_, displaced_);
      active_count_ = displaced;
    }
    std::copy(far_.begin(), far_.end(), active_.data() + active_count_);
    active_count_ += far_.size();
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

  /// A column that a row has taken; row_of_ still holds the row before it.
  struct Taken {
    Index col, row;
  };

  const TwoSidedGraph& graph_;
  CardinalityStats& stats_;
  std::vector<Index> far_;
  RawArray<Label> label_;         ///< [cols + kRoom] the last ones kNoPath
  RawArray<Index> row_of_;        ///< [cols] -1 = free
  RawArray<Index> col_of_;        ///< [rows] -1 = free, but not yet of active rows
  RawArray<std::uint32_t> seen_;  ///< a bit for each row, and some after the last
  RawArray<Index> met_;  ///< [cols + kAskedAhead] columns in the order in which a relabelling meets them
  std::vector<std::size_t> level_ends_;  ///< in met_
  RawArray<Index> found_;                ///< [rows + kFlatRoom] rows of a level
  std::size_t free_count_ = 0;
  bool free_known_ = false;
  RawArray<Index> active_, displaced_;  ///< [rows + kAskedAhead] rows that push in this sweep and the next
  std::size_t active_count_ = 0;
  std::int64_t given_up_ = 0;
};

/// The 16-bit labels of this many columns fit the cache, whatever their numbering.
constexpr Index kColumnsInCache = 1 << 18;

}  // namespace

bool push_on_one_thread(const TwoSidedGraph& graph, Mates& mates, const PushRelabelOptions& options,
                        CardinalityStats& stats) {
  if (std::find(mates.row_to_col.begin(), mates.row_to_col.end(), -1) == mates.row_to_col.end()) return true;
  Layout lists(graph, options.reorder != Reorder::never);
  const auto push = [&]<class Label>(Label) {
    SequentialPushing<Label> pushing(graph, mates, stats);
    const bool done = pushing.run(lists, options.relabel_frequency);
    pushing.tell(mates);
    return done;
  };
  const bool narrow =
      graph.cols > kColumnsInCache && scattered({graph.rows,
                                                 graph.cols,
                                                 {graph.row_offsets, at(graph.rows) + 1},
                                                 {graph.col_index, static_cast<std::size_t>(graph.edges())}});
  return (narrow && push(std::uint8_t{})) || push(std::uint16_t{});
}

}  // namespace motes::matching::detail
