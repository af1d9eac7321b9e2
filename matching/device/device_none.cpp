/// What a build without CUDA says instead.

#include "matching/cardinality/on_device.h"
#include "matching/detail/device_problem.h"
#include "matching/detail/host_blocks.h"
#include "matching/device/device.h"
#include "matching/device/point_queries.h"
#include "matching/greedy/on_device.h"
#include "matching/workspace.h"

namespace motes::matching {
namespace device {
class Arena {};
}  // namespace device
namespace {
[[noreturn]] void no_device() {
  throw ResourceShortage("no GPU: " MOTES_NO_CUDA_REASON "; use the cpu back end");
}
}  // namespace

DeviceReport list_devices() { return {{}, MOTES_NO_CUDA_REASON}; }

DeviceBytes::DeviceBytes(std::size_t, int) { no_device(); }
DeviceBytes::~DeviceBytes() { static_cast<void>(device_); }  // which nothing else here asks for
DeviceBytes::DeviceBytes(DeviceBytes&&) noexcept = default;
DeviceBytes& DeviceBytes::operator=(DeviceBytes&&) noexcept = default;
void DeviceBytes::upload(const void*, std::size_t, std::size_t) { no_device(); }
void DeviceBytes::download(void*, std::size_t, std::size_t) const { no_device(); }

Workspace::Workspace() = default;
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
device::Arena& Workspace::arena(int) { no_device(); }
std::size_t Workspace::device_bytes() const { return 0; }

std::optional<SparseCosts> gated_pairs(const Execution&, const GeometricCostsView&, int) { no_device(); }

namespace detail {
void check_device_problem(Workspace*, int, const CostsView&) { no_device(); }
Certificate verify_on_device(const Execution&, const CostsView&, const Matching&) { no_device(); }
Alternatives alternatives_on_device(const Execution&, const CostsView&, const Matching&) { no_device(); }
DeviceStack::DeviceStack(std::span<const SparseCostsView>, int) { no_device(); }
}  // namespace detail

namespace device {
std::vector<Index> karp_sipser_start(const Execution&, const CardinalityProblem&, std::uint64_t) {
  no_device();
}
std::vector<Index> cheap_start(const Execution&, const CardinalityProblem&, std::uint64_t) { no_device(); }
void push_relabel(const Execution&, const CardinalityProblem&, std::int64_t, const GivenStart&, Mates&,
                  CardinalityStats&) {
  no_device();
}
void augment_by_levels(const Execution&, const CardinalityProblem&, const DeveciOptions&, const GivenStart&,
                       Mates&, CardinalityStats&) {
  no_device();
}
void grow_forests(const Execution&, const CardinalityProblem&, const MsBfsOptions&, std::int64_t,
                  const GivenStart&, Mates&, CardinalityStats&) {
  no_device();
}
void greedy_suitor(const Execution&, const GreedyProblem&, GreedyAnswer&, SuitorPlan) { no_device(); }
void greedy_proposal(const Execution&, const GreedyProblem&, const ProposalOptions&, GreedyAnswer&) {
  no_device();
}
CoarseGraph coarsen(const Execution&, const GreedyProblem&, std::span<const Index>, std::span<const double>) {
  no_device();
}
std::vector<CoarseGraph> coarsen_to(const Execution&, const GreedyProblem&, const GreedySolver&,
                                    const CoarsenSettings&, std::vector<CoarseSize>*) {
  no_device();
}
}  // namespace device

}  // namespace motes::matching
