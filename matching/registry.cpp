#include "matching/registry.h"

#include <array>

#include "matching/assignment/auction.h"
#include "matching/assignment/jonker_volgenant.h"

namespace motes::matching {
namespace {

template <class Solver>
std::unique_ptr<AssignmentSolver> make() {
  return std::make_unique<Solver>();
}

constexpr std::array<SolverInfo, 3> kSolvers{{
    {"jv", Family::assignment, "cpu", "sparse, dense, geometric", "exact",
     "shortest augmenting paths (Jonker & Volgenant 1987)", &make<JonkerVolgenant>},
    {"auction", Family::assignment, "cpu, cuda", "sparse, dense, geometric", "exact",
     "Jacobi auction (Vasconcelos & Rosenhahn 2009)", &make<Auction>},
    {"auction-scaled", Family::assignment, "cpu, cuda", "sparse, dense, geometric", "exact",
     "auction with epsilon scaling, forward and reverse", &make<AuctionScaled>},
}};

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

AutoChoice choose_solver(const CostsView&) {
  return {find_solver("jv"), "the exact sparse solver of this build"};
}

}  // namespace motes::matching
