/// `greedy-proposal` on the CPU.

#include "matching/papers/greedy_proposal/proposal.h"

#include <algorithm>

#include <motes/base/index.h>

#include "matching/greedy/neighbour_lists.h"
#include "matching/greedy/weight_keys.h"

namespace motes::matching {
namespace {

constexpr Index kNobody = -1;
constexpr Index kDead = -2;

/// Values of the paper's pi for a vertex without a mate.
enum class State : std::uint8_t { blue, red, matched, dead };
bool is_live(State state) { return state == State::blue || state == State::red; }

/// One round's state of all vertices. A step reads only results of the step before, and a vertex writes only
/// its own entries, so the order of vertices and threads does not matter.
template <bool kWeighted, class KeyOf>
class Rounds {
 public:
  Rounds(const BipartiteGraphView& graph, const KeyOf& key_of_entry, const ProposalOptions& options,
         int threads)
      : graph_(graph),
        key_of_entry_(key_of_entry),
        options_(options),
        most_threads_(threads),
        live_(at(graph.rows)),
        state_(at(graph.rows), State::blue),
        chosen_(at(graph.rows), kNobody),
        mate_(at(graph.rows), -1) {
    for (Index v = 0; v < graph.rows; ++v) live_[at(v)] = v;
  }

  std::vector<Index> run(GreedyStats& stats) {
    for (std::uint32_t round = 0; !live_.empty(); ++round) {
      colour(round);
      stats.proposals += choose(State::blue, stats.arcs_scanned);
      choose(State::red, stats.arcs_scanned);
      stats.matched.push_back(settle());
      ++stats.rounds;
    }
    return std::move(mate_);
  }

 private:
  void colour(std::uint32_t round) {
    const std::uint32_t shared = round_word(options_.seed, round);
    for_live([&](Index v) {
      const bool blue = is_blue(static_cast<std::uint32_t>(v), shared, options_.blue_limit);
      state_[at(v)] = blue ? State::blue : State::red;
    });
  }

  /// Blue vertices choose among red neighbours, red ones among the blue that have chosen them. Returns the
  /// number that have chosen.
  std::int64_t choose(State mine, std::int64_t& arcs_scanned) {
    std::int64_t scanned = 0, choices = 0;
    const auto count = std::ssize(live_);
    const int threads = threads_for(count);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1024) reduction(+ : scanned, choices) if (threads > 1)
    for (std::ptrdiff_t k = 0; k < count; ++k) {
      const Index v = live_[at(k)];
      if (state_[at(v)] != mine) continue;
      chosen_[at(v)] = choice(v, mine, scanned);
      choices += chosen_[at(v)] >= 0;
    }
    arcs_scanned += scanned;
    return choices;
  }

  Index choice(Index v, State mine, std::int64_t& scanned) const {
    Index chosen = kDead;
    Word best = 0;
    for (Offset e = graph_.row_offsets[at(v)]; e < graph_.row_offsets[at(v) + 1]; ++e) {
      ++scanned;
      const Index w = graph_.col_index[at(e)];
      const State state = state_[at(w)];
      if (!is_live(state) || w == v) continue;
      if (chosen == kDead) chosen = kNobody;
      if (state == mine || (mine == State::red && chosen_[at(w)] != v)) continue;
      if constexpr (kWeighted) {
        const Word there = word(key_of_entry_(e), static_cast<std::uint32_t>(w));
        if (there > best) best = there, chosen = w;
      } else {
        return w;
      }
    }
    return chosen;
  }

  /// Mutual choices become pairs; a vertex without candidates dies. Returns the pairs.
  std::int64_t settle() {
    std::int64_t matched = 0;
    const auto count = std::ssize(live_);
    const int threads = threads_for(count);
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : matched) if (threads > 1)
    for (std::ptrdiff_t k = 0; k < count; ++k) {
      const Index v = live_[at(k)], w = chosen_[at(v)];
      if (w == kDead) {
        state_[at(v)] = State::dead;
      } else if (w != kNobody && chosen_[at(w)] == v) {
        mate_[at(v)] = w;
        state_[at(v)] = State::matched;
        ++matched;
      }
    }
    leave_out(threads);
    return matched / 2;
  }

  /// Removes matched and dead vertices from live_: each thread in its part; then the parts are joined.
  void leave_out(int threads) {
    const auto count = std::ssize(live_);
    const auto first_of = [&](std::ptrdiff_t part) { return live_.begin() + count * part / threads; };
    std::vector<std::ptrdiff_t> left(at(threads));
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int part = 0; part < threads; ++part) {
      const auto end = std::remove_if(first_of(part), first_of(part + 1),
                                      [&](Index v) { return !is_live(state_[at(v)]); });
      left[at(part)] = end - first_of(part);
    }
    auto end = live_.begin();
    for (int part = 0; part < threads; ++part)
      end = std::copy(first_of(part), first_of(part) + left[at(part)], end);
    live_.erase(end, live_.end());
  }

  /// The last rounds have few vertices.
  int threads_for(std::ptrdiff_t count) const {
    constexpr std::ptrdiff_t kVerticesWorthAThread = 2048;
    return static_cast<int>(std::min<std::ptrdiff_t>(most_threads_, 1 + count / kVerticesWorthAThread));
  }

  template <class Visit>
  void for_live(const Visit& visit) {
    const auto count = std::ssize(live_);
    const int threads = threads_for(count);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (std::ptrdiff_t k = 0; k < count; ++k) visit(live_[at(k)]);
  }

  const BipartiteGraphView& graph_;
  const KeyOf& key_of_entry_;
  const ProposalOptions& options_;
  int most_threads_;
  std::vector<Index>
      live_;  ///< vertices neither matched nor dead, ascending: those that the paper's loops search for
  std::vector<State> state_;
  std::vector<Index> chosen_;  ///< the paper's sigma: a neighbour, kNobody or kDead
  std::vector<Index> mate_;
};

}  // namespace

void Proposal::run(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer) const {
  WeightedGraph room;
  const GreedyProblem all = detail::with_all_lists(execution, problem, room, answer.stats);
  std::vector<Index> mate;
  if (options_.weighted)
    mate = Keys(all.weights, execution.threads).visit([&]<class KeyOf>(const KeyOf& key_of_entry) {
      return Rounds<true, KeyOf>(all.graph, key_of_entry, options_, execution.threads).run(answer.stats);
    });
  else
    mate = Rounds<false, UnitKeys>(all.graph, UnitKeys{}, options_, execution.threads).run(answer.stats);
  detail::set_mates(problem, std::move(mate), answer.matching);
}

void Proposal::run_on_device(const Execution& execution, const GreedyProblem& problem,
                             GreedyAnswer& answer) const {
  device::greedy_proposal(execution, problem, options_, answer);
}

}  // namespace motes::matching
