#pragma once
/// `jv`: exact assignment by shortest augmenting paths; sparse problems one connected component at a time.
///
/// Source: Jonker & Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment
/// problems", Computing 38 (1987): column reduction, augmenting row reduction, augmentation. Differences:
/// unmatched costs are part of the problem (a row may end its path by staying free); the row reduction has a
/// budget instead of a number of passes; reduction transfer is dropped. On sparse graphs components are found
/// first, and the column reduction is dropped too (it needs a column-wise copy and takes more time than it
/// saves on gated graphs).

#include <motes/matching/assignment_solver.h>

namespace motes::matching {

/// Small matrices are solved as in the paper (dense_augmenting_paths.h), graphs component by component
/// (sparse_augmenting_paths.h), and large matrices and point sets on a core of cheap pairs, with pricing of
/// the others (core_solver.h, after Volgenant 1996). A matrix is read once, checks included; geometric costs
/// are formed as they are needed. Threads share components, and the passes over a matrix or points. On the
/// GPU the same in device memory (core_solver.cuh; graphs and pairs within a gate are their own core), but
/// searches run in parallel on all components: if optima tie, the matching may depend on timing, but never
/// its objective and its proof.
class JonkerVolgenant final : public AssignmentSolver {
 protected:
  Matching run_for_partners(const Execution& execution, const CostsView& problem) const override;

 private:
  bool checks_entries(const Execution& execution, const CostsView& problem) const override;
  Matching run(const Execution& execution, const CostsView& problem, const Start& start) const override;
};

}  // namespace motes::matching
