#pragma once
/// `greedy-proposal`: blue vertices propose, red ones answer, mutual proposals are pairs; rounds until no
/// vertex is left.
///
/// Source: Fagginger Auer & Bisseling, "A GPU algorithm for greedy graph matching", 2012, algorithm 3 (select
/// of section 2, colour of section 3.1).
/// Colours are a 32-bit hash of vertex and round instead of a quarter of MD5 (algorithm 4). The paper leaves
/// ties open: weighted proposals and answers go by the order of edge_order.h, random ones to the neighbour of
/// least number. So the matching is the same on every back end and for any number of threads.

#include <cstdint>

#include <motes/base/host_device.h>
#include <motes/matching/greedy_solver.h>

namespace motes::matching {

struct ProposalOptions {
  bool weighted = true;          ///< select: the heaviest neighbour; else the first available one
  std::uint32_t blue_limit = 0;  ///< a vertex is blue with probability blue_limit / 2^32
  std::uint32_t seed = 1;
};

namespace detail {

/// The finaliser of MurmurHash3: a bijection in which every output bit depends on all input bits.
MOTES_HOST_DEVICE inline std::uint32_t scrambled(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x85ebca6bu;
  x = (x ^ x >> 13) * 0xc2b2ae35u;
  return x ^ x >> 16;
}

}  // namespace detail

/// The part of the hash that all vertices of a round share; rounds count from 0.
MOTES_HOST_DEVICE inline std::uint32_t round_word(std::uint32_t seed, std::uint32_t round) {
  return detail::scrambled(seed * 0x9e3779b9u + round + 1);
}

/// The colour of a vertex (of bipartite graphs column j is vertex rows + j).
MOTES_HOST_DEVICE inline bool is_blue(std::uint32_t vertex, std::uint32_t word_of_round,
                                      std::uint32_t blue_limit) {
  return detail::scrambled(vertex + word_of_round) < blue_limit;
}

/// General graphs and bipartite ones (whose columns' lists are made first). A round looks at the lists of the
/// vertices that are left: O(nnz) at most, and the number of rounds grows with the logarithm of the vertices
/// on graphs of the paper's kinds.
class Proposal final : public GreedySolver {
 public:
  explicit Proposal(const ProposalOptions& options) : options_(options) {}

 private:
  void run(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer) const override;
  void run_on_device(const Execution& execution, const GreedyProblem& problem,
                     GreedyAnswer& answer) const override;
  ProposalOptions options_;
};

namespace device {
/// The CUDA form, for problems in either memory space. Fills what run_on_device() fills; throws ResourceError
/// without a device.
void greedy_proposal(const Execution& execution, const GreedyProblem& problem, const ProposalOptions& options,
                     GreedyAnswer& answer);
}  // namespace device

}  // namespace motes::matching
