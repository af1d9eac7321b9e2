#include "matching/registry.h"

#include <array>

#include "matching/assignment/hungarian.h"
#include "matching/assignment/jonker_volgenant.h"

namespace motes::matching {
namespace {

template <class Solver>
std::unique_ptr<AssignmentSolver> make() {
  return std::make_unique<Solver>();
}

constexpr std::array<SolverInfo, 3> kSolvers{{
    {"hungarian", Family::assignment, "cpu, cuda", "sparse, dense, geometric", "exact",
     "Hungarian method, classical (Date & Nagi 2016)", &make<Hungarian>},
    {"hungarian-tree", Family::assignment, "cpu, cuda", "sparse, dense, geometric", "exact",
     "Hungarian method, alternating trees (Date & Nagi 2016)", &make<HungarianTree>},
    {"jv", Family::assignment, "cpu", "sparse, dense, geometric", "exact",
     "shortest augmenting paths (Jonker & Volgenant 1987)", &make<JonkerVolgenant>},
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
