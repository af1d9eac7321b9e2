/// Pushes and global relabellings on several threads.

#include "matching/cardinality/push_relabel/distance_labels.h"

#include <cstring>
#include <utility>

#include <motes/base/index.h>

namespace motes::matching::detail {

template <class Graph>
DistanceLabels<Graph>::DistanceLabels(const Graph& graph, const std::vector<Index>& col_to_row,
                                      Partition partition, int threads)
    : graph_(graph),
      partition_(std::move(partition)),
      owners_(partition_.owners(static_cast<std::size_t>(threads))),
      lanes_(static_cast<std::size_t>(threads)),
      words_(at(graph.cols)),
      short_(at(graph.cols) + 1),
      mate_(at(graph.rows)),
      places_(lanes_.size()),
      limit_(std::min(static_cast<std::uint32_t>(std::min(graph.rows, graph.cols)) + 1, kNoPath)),
      reader_(csr_reader<OffsetType>()) {
  short_[at(graph.cols)] = kNoShortPath<ShortLabel>;
  for (Place& place : places_) place.from.reserve(places_.size());
  over_parts([&](std::size_t part) {
    std::fill(mate_.data() + partition_.first_row(part), mate_.data() + partition_.end_row(part), Index{-1});
  });
  over_parts([&](std::size_t part) {
    std::vector<Index>& free = places_[part % lanes_.size()].free;
    for (Index j = partition_.first_col(part); j < partition_.end_col(part); ++j) {
      const Index i = col_to_row[at(j)];
      words_[at(j)] = word_of(i == -1 ? 0 : 1, i);
      short_[at(j)] = i == -1 ? 0 : 1;
      if (i == -1)
        free.push_back(j);
      else
        mate_[at(i)] = j;
    }
  });
}

template <class Graph>
class DistanceLabels<Graph>::Search {
 public:
  Search(DistanceLabels& labels, std::span<const std::vector<Index>> active, ThreadBarrier<Report>& barrier,
         std::exception_ptr& failure)
      : labels_(labels),
        active_(active),
        barrier_(barrier),
        failure_(failure),
        thread_(static_cast<std::size_t>(omp_get_thread_num())),
        threads_(static_cast<std::size_t>(omp_get_num_threads())),
        place_(labels.places_[thread_]) {
    for (const auto& rows : active) waiting_ += std::ssize(rows);
  }

  void run() {
    guarded([&] { begin(); });
    exchange();
    while (searching()) {
      if (threads_ > 1 && all_.size <= kWorthSharing) {
        let_first_thread_search();
      } else {
        guarded([&] { expand_level(); });
        exchange();
      }
    }
    if (!all_.failed) guarded([&] { end(); });
    exchange();
    finish();
  }

  std::int64_t levels() const { return level_; }

 private:
  static constexpr std::int64_t kWorthSharing = 128;  ///< fewer columns are searched by one thread
  static constexpr std::size_t kTooMuchForOne =
      256;  ///< one thread continues until the frontier has more columns
  static constexpr std::size_t kBatch =
      kListsAhead;  ///< columns whose rows are collected before they are settled

  /// A thread has the parts of one place, or of several if the system gives fewer threads than requested.
  template <class Body>
  void each_place(const Body& body) {
    for (std::size_t k = thread_; k < labels_.places_.size(); k += threads_) body(k);
  }
  template <class Body>
  void each_part(const Body& body) {
    each_place([&](std::size_t k) { labels_.partition_.each_part(k, labels_.places_.size(), body); });
  }
  OwnersView owners_view() const {
    return {fewer_.empty() ? labels_.owners_.data() : fewer_.data(), labels_.partition_.grain_shift(),
            static_cast<Index>(thread_)};
  }
  std::size_t owner(Index row) const { return labels_.owner(row) % threads_; }

  /// Runs work(); if memory runs out, the thread still takes part in the barriers.
  template <class Work>
  void guarded(const Work& work) {
    try {
      work();
    } catch (...) {
      mine_.failed = true;
#pragma omp critical(motes_relabelling_failure)
      failure_ = std::current_exception();
    }
  }
  void exchange() {
    all_ = {};
    place_.from.clear();
    const std::uint64_t me = std::uint64_t{1} << thread_ % 64;
    barrier_.exchange(thread_, threads_, mine_, [&](std::size_t thread, const Report& said) {
      all_ += said;
      if ((said.mail & me) != 0) place_.from.push_back(thread);
    });
  }
  bool searching() const { return all_.size != 0 && all_.reached < waiting_ && !all_.failed; }

  void begin() {
    const Graph& graph = labels_.graph_;
    if (threads_ < labels_.places_.size())
      for (const Index lane : labels_.owners_) fewer_.push_back(lane % static_cast<Index>(threads_));
    const std::size_t words = at(graph.rows) / 32 + 1;
    if (place_.seen.size() == 0) place_.seen = RawArray<std::uint32_t>(words);
    std::memset(place_.seen.data(), 0, words * sizeof(std::uint32_t));
    for (auto& mail : place_.mail) {
      mail.resize(threads_);
      for (auto& rows : mail) rows.clear();
    }
    each_part([&](std::size_t part) {
      std::memset(
          labels_.short_.data() + labels_.partition_.first_col(part), 0xff,
          at(labels_.partition_.end_col(part) - labels_.partition_.first_col(part)) * sizeof(ShortLabel));
    });
    make_room(16 * kTooMuchForOne);
    place_.size = 0;
    each_place([&](std::size_t k) {
      std::vector<Index>& free = labels_.places_[k].free;
      std::erase_if(free, [&](Index j) { return row_of(labels_.words_[at(j)]) != kNoRow; });
      for (const Index j : free) prefetch(graph.col_offsets + j);
      std::copy(free.begin(), free.end(), place_.cols[turn_].data() + place_.size);
      place_.size += free.size();
    });
    for (std::size_t k = thread_; k < active_.size(); k += threads_)
      for (const Index i : active_[k]) labels_.mate_[at(i)] = -1;
    mine_.size = static_cast<std::int64_t>(place_.size);
  }

  /// Makes room for `more` columns, the free columns of this thread's parts, and one column for each of its
  /// rows.
  void make_room(std::size_t more) {
    std::size_t most = CsrReader<OffsetType>::kSlack + more;
    each_part([&](std::size_t part) {
      const Partition& partition = labels_.partition_;
      most += at(partition.end_row(part) - partition.first_row(part)) +
              at(partition.end_col(part) - partition.first_col(part));
    });
    for (auto& cols : place_.cols)
      if (cols.size() < most) cols = RawArray<Index>(most);
  }
  void make_room_for_found(std::size_t count) {
    if (count + CsrReader<OffsetType>::kSlack <= place_.found.size()) return;
    place_.found = RawArray<Index>(2 * count + CsrReader<OffsetType>::kSlack);
    place_.others = RawArray<Index>(place_.found.size());
  }

  /// Takes this thread's rows that other threads have found: the columns of new ones join the frontier of
  /// this level.
  void receive() {
    for (const std::size_t from : place_.from) {
      const std::vector<Index>& rows = labels_.places_[from].mail[1 - turn_][thread_];
      make_room_for_found(rows.size());
      Index* const fresh = place_.found.data();
      std::size_t count = 0;
      for (const Index i : rows) {
        fresh[count] = i;
        count += set_bit(place_.seen.data(), i);
      }
      place_.size += settle({fresh, count}, place_.cols[turn_].data() + place_.size).cols;
    }
  }

  void expand_level() {
    for (auto& rows : place_.mail[turn_]) rows.clear();
    receive();
    found_ = sent_ = 0;
    mine_.mail = 0;
    expand({place_.cols[turn_].data(), place_.size});
    ++level_;
    turn_ = 1 - turn_;
    place_.size = found_;
    mine_.size = static_cast<std::int64_t>(found_ + sent_);
  }

  /// Sets the labels of the frontier's columns; their rows join the next frontier, or are sent to their
  /// owners.
  void expand(std::span<const Index> cols) {
    const CsrView<OffsetType> lists{labels_.graph_.col_offsets, labels_.graph_.row_index};
    for (std::size_t begin = 0; begin < cols.size(); begin += kBatch) {
      const std::size_t last = std::min(begin + kBatch, cols.size());
      std::size_t looks = 0;
      for (std::size_t k = begin; k < last; ++k) {
        set_label(cols[k]);
        looks += static_cast<std::size_t>(lists.degree(cols[k]));
      }
      labels_.lanes_[thread_].edges += static_cast<std::int64_t>(looks);
      make_room_for_found(looks);
      const std::size_t count =
          labels_.reader_.unseen(lists, cols, begin, last, place_.seen.data(), place_.found.data());
      const Settled settled = settle({place_.found.data(), count}, place_.cols[1 - turn_].data() + found_);
      found_ += settled.cols;
      for (const Index i : std::span(place_.others.data(), settled.others)) send(i);
    }
  }
  void send(Index row) {
    const std::size_t to = owner(row);
    place_.mail[turn_][to].push_back(row);
    mine_.mail |= std::uint64_t{1} << to % 64;
    ++sent_;
  }

  /// If the frontier is small, the first thread searches alone, with the bits of all threads, until it is
  /// large again or empty. The frontier then belongs to the first thread, whichever threads own the rows.
  void let_first_thread_search() {
    mine_.mail = 0;
    if (thread_ == 0)
      guarded([&] { search_alone(); });
    else
      mine_.size = 0;
    exchange();
    if (thread_ != 0) place_.size = 0;  // read by the first thread until then; not part of the next level
    level_ += all_.levels;
    mine_.levels = 0;
  }
  void search_alone() {
    std::vector<Index> now, next;
    std::int64_t reached = 0;
    const auto find = [&](Index row, std::vector<Index>& cols) {
      if (!set_bit(labels_.places_[owner(row)].seen.data(), row)) return;
      const Index j = labels_.mate_[at(row)];
      if (j == -1)
        ++reached;
      else
        cols.push_back(j);
    };
    for (std::size_t k = 0; k < threads_; ++k) {
      const Place& place = labels_.places_[k];
      now.insert(now.end(), place.cols[turn_].data(), place.cols[turn_].data() + place.size);
    }
    for (std::size_t k = 0; k < threads_ && all_.mail != 0; ++k)
      for (const auto& rows : labels_.places_[k].mail[1 - turn_])
        for (const Index i : rows) find(i, now);
    const std::uint32_t level = level_;
    while (!now.empty() && now.size() <= kTooMuchForOne && all_.reached + reached < waiting_) {
      next.clear();
      for (const Index j : now) {
        set_label(j);
        const auto rows = labels_.graph_.rows_of(j);
        labels_.lanes_[0].edges += std::ssize(rows);
        for (const Index i : rows) find(i, next);
      }
      ++level_;
      now.swap(next);
    }
    mine_.levels = level_ - level;
    level_ = level;
    make_room(2 * now.size());
    std::copy(now.begin(), now.end(), place_.cols[turn_].data());
    place_.size = now.size();
    mine_.size = std::ssize(now);
    mine_.reached += reached;
  }

  /// Rows seen for the first time, in this level.
  Settled settle(std::span<const Index> rows, Index* cols) {
    const Settled settled =
        labels_.reader_.settle(rows, owners_view(), labels_.mate_.data(), cols, place_.others.data());
    mine_.reached += static_cast<std::int64_t>(settled.without);
    for (std::size_t k = 0; k < settled.cols; ++k) prefetch(labels_.graph_.col_offsets + cols[k]);
    return settled;
  }
  /// Sets the label of a column of the frontier to the current level.
  void set_label(Index col) {
    labels_.short_[at(col)] = short_of(level_);
    if (level_ < kShortFar<ShortLabel>) [[likely]]
      return;
    Word& word = labels_.words_[at(col)];
    word = word_of(level_, row_of(word));
  }

  /// Sets the labels of the columns found last.
  void end() {
    receive();
    for (std::size_t k = 0; k < place_.size; ++k) set_label(place_.cols[turn_][k]);
  }

  void finish() {
    // Columns not reached are farther than the last level; if the search was stopped, how far is unknown.
    const std::uint32_t beyond = all_.size == 0 ? kNoPath : level_ + 1;
    each_part([&](std::size_t part) {
      for (Index j = labels_.partition_.first_col(part); j < labels_.partition_.end_col(part); ++j) {
        Word& word = labels_.words_[at(j)];
        ShortLabel& label = labels_.short_[at(j)];
        if (label < kShortFar<ShortLabel>) {
          word = word_of(label, row_of(word));
        } else if (label == kNoShortPath<ShortLabel>) {
          word = word_of(std::max(label_of(word), beyond), row_of(word));
          label = short_of(label_of(word));
        }
      }
    });
  }

  DistanceLabels& labels_;
  const std::span<const std::vector<Index>> active_;
  std::int64_t waiting_ = 0;  ///< rows to be reached
  ThreadBarrier<Report>& barrier_;
  std::exception_ptr& failure_;
  const std::size_t thread_, threads_;
  Place& place_;
  Report mine_, all_;
  std::vector<Index> fewer_;  ///< owners, if fewer threads were given than asked for
  std::size_t found_ = 0;     ///< of the next one, by itself
  std::size_t sent_ = 0;
  std::size_t turn_ = 0;
  std::uint32_t level_ = 0;
};

template <class Graph>
std::int64_t DistanceLabels<Graph>::relabel(std::span<const std::vector<Index>> active) {
  ThreadBarrier<Report> barrier(lanes_.size());
  std::exception_ptr failure;
  std::int64_t levels = 0;
  HostBlocks* const blocks = HostBlocks::in_use();
#pragma omp parallel num_threads(static_cast <int>(lanes_.size()))
  {
    const HostBlocks::Use same(blocks);
    Search search(*this, active, barrier, failure);
    search.run();
    if (omp_get_thread_num() == 0) levels = search.levels();
  }
  if (failure) std::rethrow_exception(failure);
  return levels;
}

template class DistanceLabels<TwoSidedGraph>;
template class DistanceLabels<BasicTwoSidedGraph<std::uint32_t>>;

}  // namespace motes::matching::detail
