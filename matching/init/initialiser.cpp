/// The table of initialisers.

#include <array>
#include <stdexcept>

#include <motes/base/host_blocks.h>
#include <motes/matching/initialiser.h>

#include "matching/cardinality/device_solvers.h"
#include "matching/init/starts.h"

namespace motes::matching {
namespace {

std::vector<Index> start_none(const Execution&, const CardinalityProblem& problem, std::uint64_t) {
  return std::vector<Index>(static_cast<std::size_t>(problem.graph.rows), -1);
}

using StartFunction = std::vector<Index>(const Execution&, const CardinalityProblem&, std::uint64_t);

template <StartFunction* kStart>
std::vector<Index> on_host(const Execution& execution, const CardinalityProblem& problem,
                           std::uint64_t seed) {
  if (problem.space == Space::device)
    throw std::invalid_argument("initialiser: the graph lies on a device; this one needs it in host memory");
  const HostBlocks::Solve kept(execution.workspace);
  return kStart(execution, problem, seed);
}

template <StartFunction* kOnHost, StartFunction* kOnDevice>
std::vector<Index> anywhere(const Execution& execution, const CardinalityProblem& problem,
                            std::uint64_t seed) {
  if (execution.backend == Backend::cuda) return kOnDevice(execution, problem, seed);
  return on_host<kOnHost>(execution, problem, seed);
}

constexpr BackendSet kCpu{true, false}, kBoth{true, true};

constexpr std::array<InitialiserInfo, 5> kInitialisers{{
    {"none", kCpu, "an empty matching", "", &start_none},
    {"cheap", kBoth, "maximal", "each row takes its first free column (Duff, Kaya & Ucar 2011)",
     &anywhere<&start_cheap, &device::cheap_start>},
    {"karp-sipser", kBoth, "maximal; maximum where vertices of degree one never run out",
     "vertices of degree one first, on both sides (Karp & Sipser 1981; in parallel: Azad et al. 2012)",
     &anywhere<&start_karp_sipser, &device::karp_sipser_start>},
    {"min-degree", kCpu, "maximal; maximum where vertices of degree one never run out",
     "a vertex of least degree takes its neighbour of least degree, on both sides (Langguth, Manne & Sanders "
     "2010)",
     &on_host<&start_min_degree>},
    {"greedy", kCpu, "maximal; the same for any number of threads",
     "edges whose ends have the fewest neighbours first, by greedy-suitor", &on_host<&start_greedy>},
}};

}  // namespace

std::span<const InitialiserInfo> initialisers() { return kInitialisers; }

const InitialiserInfo* find_initialiser(std::string_view name) {
  for (const auto& info : kInitialisers)
    if (info.name == name) return &info;
  return nullptr;
}

}  // namespace motes::matching
