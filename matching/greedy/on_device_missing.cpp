#include "matching/greedy/on_device.h"

namespace motes::matching::device {
namespace {
[[noreturn]] void missing() {
  throw ResourceShortage("greedy matching has no CUDA form yet; use the cpu back end");
}
}  // namespace

void greedy_suitor(const Execution&, const GreedyProblem&, GreedyAnswer&) { missing(); }
void greedy_proposal(const Execution&, const GreedyProblem&, const ProposalOptions&, GreedyAnswer&) {
  missing();
}
CoarseGraph coarsen(const Execution&, const GreedyProblem&, std::span<const Index>, std::span<const double>) {
  missing();
}

}  // namespace motes::matching::device
