/// Algorithm 3 of the paper (proposal.h) on the GPU, with two launches per round.
///
/// choose: the vertices that are left, a thread each (the paper's ct), those of many edges a warp; a blue
/// vertex chooses a red neighbour and leaves its proposal there, as the maximum of one word per vertex; a
/// vertex without neighbours left dies. answer: a red vertex takes the greatest proposal, which is the best
/// of its proposers; both are matched. The paper stores colours; here they are hashed again for each
/// neighbour, and states have one bit, so that those of all vertices fit a multiprocessor's own cache.
/// Vertices that are left are listed again in each round. The host reads the records after a batch of rounds;
/// superfluous rounds find an empty list.
///
/// Races: proposals are atomic maxima of words that are unique. Bits change in choose only where a vertex
/// dies, which no living vertex has for a neighbour, and in answer, which reads none.

#include <algorithm>
#include <utility>

#include "matching/greedy/device_problem.cuh"
#include "matching/papers/greedy_proposal/proposal.h"

namespace motes::matching::device {
namespace {

constexpr int kThreads = 256;
constexpr int kBatch = 8;  ///< rounds that are launched before the host looks
constexpr int kWide = 64;  ///< degree from which a warp takes a vertex together
constexpr int kSide = 4;   ///< neighbours of a vertex that are read at the same time
constexpr unsigned kAll = 0xffffffffU;

struct RoundRecord {
  int lived;   ///< vertices left at its start
  int listed;  ///< of them, those that did not die
  int pairs;
  unsigned long long proposals, arcs;
};

struct Market {
  GreedyLists lists;
  std::uint32_t* living;  ///< [count / 32 + 1] one bit a vertex
  Word* proposed;         ///< [count] the best proposal that a red vertex has, 0 = none
  Index* mate;            ///< [count] -1 = none
  Index* list[2];         ///< [count] the vertices left, from and to
  const int* listed;      ///< their number; nullptr in the first round: all
  RoundRecord* record;
  std::uint32_t round_word, blue_limit;
};

/// Proposals as words, of which the greatest is the best; random ones prefer the least vertex.
template <bool kWeighted>
__device__ Word proposal_of(Index vertex, std::uint32_t key) {
  if constexpr (kWeighted) return word(key, static_cast<std::uint32_t>(vertex));
  return Word{~static_cast<std::uint32_t>(vertex)};
}
template <bool kWeighted>
__device__ Index vertex_of_proposal(Word proposal) {
  if constexpr (kWeighted) return static_cast<Index>(vertex_of(proposal));
  return static_cast<Index>(~static_cast<std::uint32_t>(proposal));
}

struct Choice {
  Word best = 0;      ///< as if the neighbour had proposed
  bool hope = false;  ///< whether there is a living neighbour
};

/// The best neighbour of `vertex` among entries begin + lane, begin + lane + lanes, ... Ends early if the
/// others cannot matter: for red vertices, and if the first neighbour is to be chosen.
template <class Weights, bool kWeighted>
__device__ Choice look(const Market& m, Index vertex, bool blue, Offset begin, Offset end, int lane,
                       int lanes, unsigned long long& arcs) {
  Choice choice;
  const bool first_will_do = !kWeighted && vertex < m.lists.sorted;
  for (Offset e = begin + lane; e < end; e += Offset{kSide} * lanes) {
    Index to[kSide];
    bool lives[kSide];
#pragma unroll
    for (int d = 0; d < kSide; ++d)
      to[d] = e + Offset{d} * lanes < end ? m.lists.cols[e + Offset{d} * lanes] : vertex;
#pragma unroll
    for (int d = 0; d < kSide; ++d)
      lives[d] = to[d] != vertex && (m.living[to[d] / 32] >> (to[d] % 32) & 1U) != 0;
#pragma unroll
    for (int d = 0; d < kSide; ++d) {
      if (!lives[d]) continue;
      choice.hope = true;
      if (!blue || is_blue(static_cast<std::uint32_t>(to[d]), m.round_word, m.blue_limit)) continue;
      const std::uint32_t key =
          Weights::key(kWeighted && Weights::kStored ? m.lists.raw[e + Offset{d} * lanes] : 0);
      const Word there = proposal_of<kWeighted>(to[d], key);
      if (there > choice.best) choice.best = there;
    }
    arcs += kSide;
    if (choice.hope && (!blue || (first_will_do && choice.best != 0))) break;
  }
  return choice;
}

template <bool kWeighted>
__device__ void propose(const Market& m, Index vertex, Word best) {
  atomicMax(reinterpret_cast<unsigned long long*>(m.proposed + vertex_of_proposal<kWeighted>(best)),
            proposal_of<kWeighted>(vertex, key_of(best)));
}

template <class Weights, bool kWeighted>
__global__ void __launch_bounds__(kThreads) choose_kernel(Market m) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const Index count = m.listed != nullptr ? *m.listed : m.lists.count;
  int lived = 0, proposals = 0;
  unsigned long long arcs = 0;
  for (Offset k = Offset{blockIdx.x} * kThreads + threadIdx.x - lane; k < count;
       k += Offset{gridDim.x} * kThreads) {
    Index vertex = -1;
    if (k + lane < count) vertex = m.listed != nullptr ? m.list[0][k + lane] : static_cast<Index>(k) + lane;
    if (vertex != -1 && (m.living[vertex / 32] >> (vertex % 32) & 1U) == 0) vertex = -1;
    Offset begin = 0, end = 0;
    bool blue = false;
    if (vertex != -1) {
      begin = m.lists.offsets[vertex];
      end = m.lists.offsets[vertex + 1];
      blue = is_blue(static_cast<std::uint32_t>(vertex), m.round_word, m.blue_limit);
    }
    lived += vertex != -1;
    Choice choice;
    const bool is_wide = end - begin >= kWide;
    if (vertex != -1 && !is_wide) choice = look<Weights, kWeighted>(m, vertex, blue, begin, end, 0, 1, arcs);
    for (unsigned wide = __ballot_sync(kAll, is_wide); wide != 0; wide &= wide - 1) {
      const int from = __ffs(static_cast<int>(wide)) - 1;
      const Choice part = look<Weights, kWeighted>(
          m, __shfl_sync(kAll, vertex, from), __shfl_sync(kAll, static_cast<int>(blue), from) != 0,
          __shfl_sync(kAll, begin, from), __shfl_sync(kAll, end, from), lane, 32, arcs);
      Word best = part.best;
#pragma unroll
      for (int step = 16; step > 0; step /= 2) best = max(best, __shfl_xor_sync(kAll, best, step));
      const bool hope = __any_sync(kAll, part.hope) != 0;
      if (lane == from) choice = {best, hope};
    }
    if (vertex != -1 && !choice.hope) atomicAnd(m.living + vertex / 32, ~(1U << (vertex % 32)));
    if (vertex != -1 && blue && choice.best != 0) {
      propose<kWeighted>(m, vertex, choice.best);
      ++proposals;
    }
    const unsigned stay = __ballot_sync(kAll, vertex != -1 && choice.hope);
    int place = 0;
    if (lane == 0 && stay != 0) place = atomicAdd(&m.record->listed, __popc(stay));
    place = __shfl_sync(kAll, place, 0) + __popc(stay & ((1U << lane) - 1));
    if (vertex != -1 && choice.hope) m.list[1][place] = vertex;
  }
  lived = static_cast<int>(__reduce_add_sync(kAll, static_cast<unsigned>(lived)));
  proposals = static_cast<int>(__reduce_add_sync(kAll, static_cast<unsigned>(proposals)));
#pragma unroll
  for (int step = 16; step > 0; step /= 2) arcs += __shfl_xor_sync(kAll, arcs, step);
  if (lane != 0 || lived == 0) return;
  atomicAdd(&m.record->lived, lived);
  atomicAdd(&m.record->proposals, static_cast<unsigned long long>(proposals));
  atomicAdd(&m.record->arcs, arcs);
}

template <bool kWeighted>
__global__ void __launch_bounds__(kThreads) answer_kernel(Market m) {
  const Index count = m.record->listed;
  int pairs = 0;
  for (Offset k = Offset{blockIdx.x} * kThreads + threadIdx.x; k < count; k += Offset{gridDim.x} * kThreads) {
    const Index red = m.list[1][k];
    const Word best = m.proposed[red];
    if (best == 0) continue;
    const Index blue = vertex_of_proposal<kWeighted>(best);
    m.proposed[red] = 0;
    m.mate[red] = blue;
    m.mate[blue] = red;
    atomicAnd(m.living + red / 32, ~(1U << (red % 32)));
    atomicAnd(m.living + blue / 32, ~(1U << (blue % 32)));
    ++pairs;
  }
  pairs = static_cast<int>(__reduce_add_sync(kAll, static_cast<unsigned>(pairs)));
  if (threadIdx.x % 32 == 0 && pairs > 0) atomicAdd(&m.record->pairs, pairs);
}

template <class Weights, bool kWeighted>
void play(gpu::Arena& arena, Market m, const ProposalOptions& options, GreedyStats& stats) {
  const cudaStream_t stream = arena.stream();
  const auto most = Offset{8} * arena.multiprocessors();
  const auto blocks =
      static_cast<unsigned>(std::clamp<Offset>((Offset{m.lists.count} + kThreads - 1) / kThreads, 1, most));
  auto* records = arena.take<RoundRecord>(kBatch + 1);  // the first is the last of the batch before
  auto* seen = static_cast<RoundRecord*>(arena.pinned());
  const auto batch_bytes = kBatch * sizeof(RoundRecord);
  bool done = m.lists.count == 0;
  for (std::uint32_t round = 0; !done;) {
    if (round > 0)
      MOTES_CUDA(
          cudaMemcpyAsync(records, records + kBatch, sizeof *records, cudaMemcpyDeviceToDevice, stream));
    MOTES_CUDA(cudaMemsetAsync(records + 1, 0, batch_bytes, stream));
    for (int k = 0; k < kBatch; ++k, ++round) {
      m.round_word = round_word(options.seed, round);
      m.listed = round == 0 ? nullptr : &records[k].listed;
      m.record = records + k + 1;
      choose_kernel<Weights, kWeighted><<<blocks, kThreads, 0, stream>>>(m);
      answer_kernel<kWeighted><<<blocks, kThreads, 0, stream>>>(m);
      std::swap(m.list[0], m.list[1]);
    }
    MOTES_CUDA_LAUNCHED();
    MOTES_CUDA(cudaMemcpyAsync(seen, records + 1, batch_bytes, cudaMemcpyDeviceToHost, stream));
    arena.synchronize();
    for (int k = 0; k < kBatch && !done; ++k) {
      done = seen[k].lived == 0;
      if (done) break;
      ++stats.rounds;
      stats.matched.push_back(seen[k].pairs);
      stats.proposals += static_cast<std::int64_t>(seen[k].proposals);
      stats.arcs_scanned += static_cast<std::int64_t>(seen[k].arcs);
    }
  }
}

}  // namespace

void greedy_proposal(const Execution& execution, const GreedyProblem& problem, const ProposalOptions& options,
                     GreedyAnswer& answer) {
  with_lists(execution, problem, answer.stats, [&](gpu::Arena& arena, const GreedyLists& given) {
    GreedyStats& stats = answer.stats;
    const bool general = problem.kind == GraphKind::general;
    const cudaStream_t stream = arena.stream();
    gpu::StreamTimer turning(stream);
    const GreedyLists lists = general ? given : general_lists(arena, given, problem.graph.cols);
    turning.stop();
    const auto count = static_cast<std::size_t>(lists.count);
    Market m{};
    m.lists = lists;
    m.living = arena.take<std::uint32_t>(count / 32 + 1);
    m.proposed = arena.take<Word>(count);
    m.mate = arena.take<Index>(count);
    for (Index*& list : m.list) list = arena.take<Index>(count);
    m.blue_limit = options.blue_limit;
    gpu::StreamTimer timer(stream);
    MOTES_CUDA(cudaMemsetAsync(m.living, 0xff, (count / 32 + 1) * sizeof *m.living, stream));
    MOTES_CUDA(cudaMemsetAsync(m.proposed, 0, count * sizeof *m.proposed, stream));
    MOTES_CUDA(cudaMemsetAsync(m.mate, 0xff, count * sizeof *m.mate, stream));
    if (options.weighted)
      with_form(lists.form, [&]<class Weights>(Weights) { play<Weights, true>(arena, m, options, stats); });
    else
      play<UnitWeights, false>(arena, m, options, stats);
    timer.stop();
    Matching& matching = answer.matching;
    const auto rows = static_cast<std::size_t>(problem.graph.rows);
    const auto cols = static_cast<std::size_t>(problem.graph.cols);
    matching.row_to_col = arena.download(m.mate, rows);
    if (!general) {
      matching.col_to_row = arena.download(m.mate + rows, cols);
      for (Index& j : matching.row_to_col)
        if (j != -1) j -= problem.graph.rows;
    }
    if (problem.space == Space::device)
      matching.objective = weight_of_pairs(
          arena, problem, general ? m.mate : arena.upload(std::span<const Index>(matching.row_to_col)));
    stats.seconds["device"] = timer.seconds();
    if (!general) stats.seconds["lists"] = turning.seconds();
  });
}

}  // namespace motes::matching::device
