/// Suitor on the CPU, on one thread and on several.

#include "matching/greedy/suitor/suitor.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/base/prefetch.h>
#include <motes/base/raw_array.h>

#include "matching/greedy/avx512_lists.h"
#include "matching/greedy/suitor/device_suitor.h"
#include "matching/greedy/weight_keys.h"

namespace motes::matching {
namespace {

struct Counts {
  std::int64_t proposals = 0, scanned = 0;
};

/// What all threads share. `suitor` [vertices that are proposed to]; a bipartite graph's column j is vertex
/// first_other + j in the order, but place j of the array.
template <class KeyOf>
struct Shared {
  BipartiteGraphView graph;
  std::uint32_t first_other;
  KeyOf key_of_entry;
  Word* suitor;

  std::size_t place_of(Word to) const { return vertex_of(to) - first_other; }
};

/// One thread's part. First every vertex proposes to its best neighbour, in a sweep over the lists that reads
/// no suitors. The offers wait in a ring until the suitors' words have been prefetched. A vertex that is
/// refused or displaced waits in a list, then proposes to the best neighbour whose suitor is worse: on gated
/// graphs four in ten vertices do, and one in ten more than once.
///
/// Words of suitors are changed by compare-and-exchange and only rise, so a vertex refused once would be
/// refused again. They publish no other memory, so relaxed orders suffice.
template <bool kShared, bool kGeneral, class KeyOf>
class Proposer {
 public:
  explicit Proposer(const Shared<KeyOf>& shared) : s_(shared) {}

  /// The first offers of a chunk of vertices.
  void begin(Index first, Index last) {
    if (waiting_.size() < count_ + at(last - first) + kRing)
      waiting_.resize(2 * (count_ + at(last - first) + kRing));
    counts_.scanned += s_.graph.row_offsets[at(last)] - s_.graph.row_offsets[at(first)];
#if MOTES_HAS_AVX512
    if (has_avx512()) return begin_wide(first, last);
#endif
    for (Index v = first; v < last; ++v)
      post(v, best_of(s_.graph.row_offsets[at(v)], s_.graph.row_offsets[at(v) + 1]));
  }

  /// Continues until no vertex that this thread has refused or displaced has neighbours left.
  Counts finish() {
    for (const Offer& due : ring_)
      if (due.to != 0) settle(due);
    while (count_ != 0) {
      const std::size_t count = take_waiting();
      for (std::size_t k = 0; k < count; ++k) {
        fetch_ahead(k, count);
        const Word best = best_open(now_[k]);
        if (best != 0) settle({best, now_[k]});
      }
    }
    return counts_;
  }

 private:
  static constexpr std::size_t kRing = 16, kNear = 4, kMiddle = 12, kFar = 24;

  struct Offer {
    Word to = 0;  ///< the neighbour, seen from the vertex; 0: no offer
    std::uint32_t vertex = 0;
  };

  /// Moves the waiting vertices to now_; many of them roughly sorted by number. Refused vertices are in
  /// order, but displaced ones are anywhere, and would cause a TLB miss for each of three arrays.
  std::size_t take_waiting() {
    constexpr std::size_t kWorthSorting = 4096;
    constexpr int kStretchBits = 9;
    const std::size_t count = std::exchange(count_, 0);
    now_.resize(count);
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
    if (count < kWorthSorting) {
      std::copy(waiting_.begin(), end, now_.begin());
      return count;
    }
    std::vector<std::uint32_t> begin(at(s_.graph.rows >> kStretchBits) + 2, 0);
    for (auto v = waiting_.begin(); v != end; ++v) ++begin[(*v >> kStretchBits) + 1];
    for (std::size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];
    for (auto v = waiting_.begin(); v != end; ++v) now_[begin[*v >> kStretchBits]++] = *v;
    return count;
  }

  Word offer_to(Offset e) const {
    const auto w = static_cast<std::uint32_t>(s_.graph.col_index[at(e)]);
    return word(s_.key_of_entry(e), s_.first_other + w);
  }

  Word best_of(Offset begin, Offset end) const {
    Word best = 0;
    for (Offset e = begin; e < end; ++e) best = std::max(best, offer_to(e));
    return best;
  }

  /// Puts the offer into the ring, and settles the one that it replaces.
  void post(Index v, Word best) {
    if (best == 0) return;
    const auto vertex = static_cast<std::uint32_t>(v);
    if (kGeneral && vertex_of(best) == vertex) {  // a loop: the next best, later
      waiting_[count_++] = vertex;
      return;
    }
    prefetch_to_write(s_.suitor + s_.place_of(best));
    Offer& place = ring_[next_++ % kRing];
    const Offer due = place;
    place = {best, vertex};
    if (due.to != 0) settle(due);
  }

  Word load(Index w) const {
    if constexpr (kShared)
      return std::atomic_ref(s_.suitor[w]).load(std::memory_order_relaxed);
    else
      return s_.suitor[w];
  }

  /// Makes the offer: it is accepted, or the vertex waits; a displaced vertex waits too.
  void settle(Offer offer) {
    ++counts_.proposals;
    Word& word_of_suitor = s_.suitor[s_.place_of(offer.to)];
    const Word mine = word(key_of(offer.to), offer.vertex);
    Word seen;
    if constexpr (kShared) {
      const std::atomic_ref<Word> suitor(word_of_suitor);
      seen = suitor.load(std::memory_order_relaxed);
      while (seen < mine && !suitor.compare_exchange_weak(seen, mine, std::memory_order_relaxed)) {
      }
    } else {
      seen = word_of_suitor;
      word_of_suitor = std::max(seen, mine);
    }
    waiting_[count_] = seen < mine ? vertex_of(seen) : offer.vertex;
    count_ += seen != 0;
  }

  void fetch_list(std::uint32_t v) const {
    const Offset begin = s_.graph.row_offsets[v], end = s_.graph.row_offsets[std::size_t{v} + 1];
    constexpr Offset kLine = 16;
    for (Offset e = begin; e < std::min(end, begin + 4 * kLine); e += kLine) fetch(e);
    fetch(end - 1);  // waiting vertices have neighbours
  }
  void fetch(Offset e) const {
    prefetch(s_.graph.col_index.data() + e);
    s_.key_of_entry.prefetch(e);
  }
  void fetch_suitors(std::uint32_t v) const {
    constexpr Offset kMost = 32;
    const Offset begin = s_.graph.row_offsets[v], end = s_.graph.row_offsets[std::size_t{v} + 1];
    for (Offset e = begin; e < std::min(end, begin + kMost); ++e)
      prefetch_to_write(s_.suitor + s_.graph.col_index[at(e)]);
  }

  /// Before the k-th of `count` vertices proposes again: prefetches what the next ones will need.
  void fetch_ahead(std::size_t k, std::size_t count) {
    counts_.scanned += s_.graph.row_offsets[std::size_t{now_[k]} + 1] - s_.graph.row_offsets[now_[k]];
    if (k + kFar < count) prefetch(s_.graph.row_offsets.data() + now_[k + kFar]);
    if (k + kMiddle < count) fetch_list(now_[k + kMiddle]);
    if (k + kNear < count) fetch_suitors(now_[k + kNear]);
  }

  /// The best neighbour whose suitor is worse; 0: none.
  Word best_open(std::uint32_t v) {
    const Offset begin = s_.graph.row_offsets[v], end = s_.graph.row_offsets[std::size_t{v} + 1];
    Word best = 0;
    for (Offset e = begin; e < end; ++e) {
      const Index w = s_.graph.col_index[at(e)];
      const std::uint32_t key = s_.key_of_entry(e);
      Word there = word(key, s_.first_other + static_cast<std::uint32_t>(w));
      // A branch: the processor continues speculatively while the suitor's word is loaded.
      there = load(w) < word(key, v) ? there : 0;
      if constexpr (kGeneral) there = w != static_cast<Index>(v) ? there : 0;
      best = std::max(best, there);
    }
    return best;
  }

#if MOTES_HAS_AVX512
  /// begin() with sixteen entries at a time, without a branch for lists no longer than that. The later steps
  /// are bound by memory and would gain nothing: a gather cannot speculate.
  MOTES_AVX512 void begin_wide(Index first, Index last) {
    const Offset* const offsets = s_.graph.row_offsets.data();
    for (Index v = first; v < last; ++v) {
      __m512i best = _mm512_setzero_si512();
      for (Offset e = offsets[v]; e < offsets[v + 1]; e += 16) {
        const Offset left = offsets[v + 1] - e;
        best = _mm512_max_epu64(best, offers_wide(e, left));
        best = _mm512_max_epu64(best, offers_wide(e + 8, left - 8));
      }
      post(v, _mm512_reduce_max_epu64(best));
    }
  }

  MOTES_AVX512 __m512i offers_wide(Offset e, Offset left) const {
    const __mmask8 mask = detail::mask_of(left);
    const __m256i w = _mm256_maskz_loadu_epi32(mask, s_.graph.col_index.data() + e);
    const __m256i vertices = _mm256_add_epi32(w, _mm256_set1_epi32(static_cast<int>(s_.first_other)));
    return detail::words_of(detail::keys_of(s_.key_of_entry, e, mask), detail::mix_of(vertices), mask);
  }
#endif

  const Shared<KeyOf> s_;
  std::array<Offer, kRing> ring_{};
  std::size_t next_ = 0;
  std::vector<std::uint32_t> waiting_ = std::vector<std::uint32_t>(kRing), now_;
  std::size_t count_ = 0;  ///< of those that wait
  Counts counts_;
};

template <bool kShared, bool kGeneral, class KeyOf>
Counts propose(const Shared<KeyOf>& shared, int threads) {
  if constexpr (!kShared) {
    Proposer<false, kGeneral, KeyOf> proposer(shared);
    proposer.begin(0, shared.graph.rows);
    return proposer.finish();
  }
  constexpr Index kChunkEdges = 4096;
  const Index chunks = shared.graph.rows / kChunkEdges + 1;
  std::atomic<Index> next{0};
  std::vector<Counts> counts(at(threads));
  parallel_for(threads, threads, [&](std::int64_t thread) {
    Proposer<true, kGeneral, KeyOf> proposer(shared);
    for (Index k; (k = next.fetch_add(1, std::memory_order_relaxed)) < chunks;)
      proposer.begin(k * kChunkEdges, std::min((k + 1) * kChunkEdges, shared.graph.rows));
    counts[at(thread)] = proposer.finish();
  });
  Counts sum;
  for (const Counts& mine : counts) sum.proposals += mine.proposals, sum.scanned += mine.scanned;
  return sum;
}

template <class KeyOf>
Counts propose(const Shared<KeyOf>& shared, bool general, int threads) {
  if (threads > 1)
    return general ? propose<true, true>(shared, threads) : propose<true, false>(shared, threads);
  return general ? propose<false, true>(shared, 1) : propose<false, false>(shared, 1);
}

}  // namespace

void Suitor::run(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer) const {
  const auto& graph = problem.graph;
  const bool general = problem.kind == GraphKind::general;
  const int threads = execution.threads;
  const std::uint32_t first_other = general ? 0 : static_cast<std::uint32_t>(graph.rows);
  const Keys keys(problem.weights, threads);
  RawArray<Word> suitor(at(graph.cols));
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (Index w = 0; w < graph.cols; ++w) suitor[at(w)] = 0;
  const Counts counts = keys.visit([&]<class KeyOf>(const KeyOf& key_of_entry) {
    return propose(Shared<KeyOf>{graph, first_other, key_of_entry, suitor.data()}, general, threads);
  });
  answer.stats.proposals = counts.proposals;
  answer.stats.arcs_scanned = counts.scanned;
  Matching& matching = answer.matching;
  const auto mate_of = [&](Index w) {
    return suitor[at(w)] == 0 ? Index{-1} : static_cast<Index>(vertex_of(suitor[at(w)]));
  };
  matching.row_to_col.assign(at(graph.rows), -1);
  if (!general) matching.col_to_row.resize(at(graph.cols));
    // Each row holds one column at most, so that no two threads write to one place.
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (Index w = 0; w < graph.cols; ++w) {
    const Index v = mate_of(w);
    if (general) {
      matching.row_to_col[at(w)] = v;
      continue;
    }
    matching.col_to_row[at(w)] = v;
    if (v != -1) matching.row_to_col[at(v)] = w;
  }
}

void Suitor::run_on_device(const Execution& execution, const GreedyProblem& problem,
                           GreedyAnswer& answer) const {
  device::greedy_suitor(execution, problem, answer);
}

}  // namespace motes::matching
