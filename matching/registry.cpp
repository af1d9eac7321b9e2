#include "matching/registry.h"

#include <array>

#include "matching/assignment/auction.h"
#include "matching/assignment/hungarian.h"
#include "matching/assignment/jonker_volgenant.h"

namespace motes::matching {
namespace {

template <class Solver>
std::unique_ptr<AssignmentSolver> make() {
  return std::make_unique<Solver>();
}

constexpr std::array<SolverInfo, 5> kSolvers{{
    {"jv", Family::assignment, "cpu, cuda", "sparse, dense, geometric", "exact",
     "shortest augmenting paths (Jonker & Volgenant 1987)", &make<JonkerVolgenant>},
    {"hungarian-tree", Family::assignment, "cpu, cuda", "sparse, dense, geometric", "exact",
     "Hungarian method, alternating trees (Date & Nagi 2016)", &make<HungarianTree>},
    {"hungarian", Family::assignment, "cpu, cuda", "sparse, dense, geometric", "exact",
     "Hungarian method, classical (Date & Nagi 2016)", &make<Hungarian>},
    {"auction", Family::assignment, "cpu, cuda", "sparse, dense, geometric", "exact",
     "Jacobi auction (Vasconcelos & Rosenhahn 2009)", &make<Auction>},
    {"auction-scaled", Family::assignment, "cpu, cuda", "sparse, dense, geometric", "exact",
     "auction with epsilon scaling, forward and reverse", &make<AuctionScaled>},
}};

/// Below this many pairs of a matrix or of points, or edges of a graph, bringing the problem to a GPU, and
/// starting it, costs more than it saves.
constexpr double kPairsWorthAGpu = 1 << 22;
constexpr Offset kEdgesWorthAGpu = 1 << 22;

bool is_worth_a_gpu(const CostsView& problem) {
  if (const auto* sparse = std::get_if<SparseCostsView>(&problem))
    return sparse->graph.edges() >= kEdgesWorthAGpu;
  return static_cast<double>(rows_of(problem)) * cols_of(problem) >= kPairsWorthAGpu;
}

}  // namespace

std::string_view to_string(Family family) {
  switch (family) {
    case Family::assignment:
      return "assignment";
    case Family::cardinality:
      return "cardinality";
    case Family::greedy:
      return "greedy";
  }
  return "unknown";
}

std::span<const SolverInfo> solvers() { return kSolvers; }

const SolverInfo* find_solver(std::string_view name) {
  for (const SolverInfo& info : kSolvers)
    if (info.name == name) return &info;
  return nullptr;
}

AutoChoice choose_solver(const CostsView& problem, Backend backend, bool gpu_there) {
  const bool sparse = std::holds_alternative<SparseCostsView>(problem);
  const bool must = backend == Backend::cuda || space_of(problem) == Space::device;
  if (must || (backend == Backend::automatic && gpu_there && is_worth_a_gpu(problem))) {
    return {find_solver("jv"), Backend::cuda,
            sparse
                ? "row reduction by chains and one forest from the rows left are fastest for graphs on a GPU"
                : "a core of cheap pairs, priced out, is fastest for matrices and points on a GPU"};
  }
  const std::string small = backend == Backend::automatic && gpu_there ? "; too small to pay for a GPU" : "";
  if (sparse)
    return {find_solver("jv"), Backend::cpu,
            "shortest paths by components are fastest on sparse graphs" + small};
  return {find_solver("jv"), Backend::cpu,
          "shortest paths on a core of cheap pairs are fastest on the CPU" + small};
}

}  // namespace motes::matching
