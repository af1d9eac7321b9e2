/// Stand-ins for the CUDA code of the matching library in a build without CUDA: each throws an error that
/// tells why there is no device.

#include <motes/base/gpu/no_device.h>
#include <motes/matching/device_costs.h>

#include "matching/assignment/device_problem.h"
#include "matching/assignment/jonker_volgenant_device.h"
#include "matching/cardinality/device_solvers.h"
#include "matching/greedy/suitor/device_suitor.h"
#include "matching/papers/apfb/apfb.h"
#include "matching/papers/auction/device_auction.h"
#include "matching/papers/coarsening/device_coarsen.h"
#include "matching/papers/greedy_proposal/proposal.h"
#include "matching/papers/hungarian/device_hungarian.h"

namespace motes::matching {

using gpu::throw_no_device;

SparseCosts copy_to_host(const SparseCostsView&) { throw_no_device(); }

namespace detail {
void check_device_problem(Workspace*, int, const CostsView&) { throw_no_device(); }
EdgeFindings find_faults_on_device(const Execution&, const CostsView&, const Matching&) { throw_no_device(); }
Certificate verify_on_device(const Execution&, const CostsView&, const Matching&) { throw_no_device(); }
Alternatives alternatives_on_device(const Execution&, const CostsView&, const Matching&) {
  throw_no_device();
}
Matching auction_on_device(const Execution&, const CostsView&, const Start&, const AuctionOptions&,
                           AuctionLeftover&) {
  throw_no_device();
}
Matching with_host_copy(const CostsView&, const std::function<Matching(const CostsView&)>&) {
  throw_no_device();
}
}  // namespace detail

namespace device {
Matching solve_by_cores(const Execution&, const CostsView&, const Start&, int, const SearchSettings&) {
  throw_no_device();
}
Matching partners_by_sparse_paths(const Execution&, const CostsView&) { throw_no_device(); }
Matching solve_by_covers(const Execution&, const CostsView&, const Start&) { throw_no_device(); }
Matching solve_by_trees(const Execution&, const CostsView&, const Start&) { throw_no_device(); }
std::vector<Index> karp_sipser_start(const Execution&, const CardinalityProblem&, std::uint64_t) {
  throw_no_device();
}
std::vector<Index> cheap_start(const Execution&, const CardinalityProblem&, std::uint64_t) {
  throw_no_device();
}
void push_relabel(const Execution&, const CardinalityProblem&, std::int64_t, const GivenStart&, Mates&,
                  CardinalityStats&) {
  throw_no_device();
}
void augment_by_levels(const Execution&, const CardinalityProblem&, const ApfbOptions&, const GivenStart&,
                       Mates&, CardinalityStats&) {
  throw_no_device();
}
void grow_forests(const Execution&, const CardinalityProblem&, const MsBfsOptions&, std::int64_t,
                  const GivenStart&, Mates&, CardinalityStats&) {
  throw_no_device();
}
void greedy_suitor(const Execution&, const GreedyProblem&, GreedyAnswer&, SuitorPlan) { throw_no_device(); }
void greedy_proposal(const Execution&, const GreedyProblem&, const ProposalOptions&, GreedyAnswer&) {
  throw_no_device();
}
CoarseGraph coarsen(const Execution&, const GreedyProblem&, std::span<const Index>, std::span<const double>) {
  throw_no_device();
}
std::vector<CoarseGraph> coarsen_to(const Execution&, const GreedyProblem&, const GreedySolver&,
                                    const CoarsenSettings&, std::vector<CoarseSize>*) {
  throw_no_device();
}
}  // namespace device

}  // namespace motes::matching
