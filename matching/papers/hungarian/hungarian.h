#pragma once
/// The Hungarian method after Date & Nagi, "GPU-accelerated Hungarian algorithms for the Linear Assignment
/// Problem", Parallel Computing 57 (2016): the classical and the alternating-tree variant, sequential, with
/// OpenMP and in CUDA, from one set of rules (canonical/search_rules.h).
///
/// Both begin with the initial reduction (section 4.1) and a greedy assignment on the pairs it leaves with
/// slack c_ij - u_i - v_j = 0. Then searches alternate with augmentations until no row is free: all free rows
/// are roots of one forest of alternating trees, which grows level by level over zero slacks (forward pass);
/// where it cannot, duals move by the least slack theta (dual update); trees that reach an end, a free column
/// or the exit of one of their rows, are augmented together, since no two share a vertex (reverse and
/// augmentation pass).
///
/// `hungarian`, classical: the least slack is sought row by row. What a row saw when it was last read is a
/// bound on its least slack to the columns still uncovered; a row is read again when theta has used that
/// bound up. This is Algorithm 7's array U, kept from one dual update to the next. O(n^2) dual updates at
/// worst, so for costs with few ties `hungarian-tree` is better.
///
/// `hungarian-tree`: every column keeps the least slack of any tree's row. The same thing said without dual
/// updates: a column's label is its distance from the nearest root, slacks being lengths, and theta, summed
/// up, is how far the forest has grown. So duals move once a search, by what each label lacks to the forest's
/// reach, and the forest may grow by a whole band of distances at a time, correcting labels inside the band
/// until they hold (Band): rounds then cost a barrier for hundreds of rows rather than for one.
///
/// Where this differs from the paper, and why:
/// - Ends. There a search stops with the first theta that reaches a free column. Here the tree variant's goes
///   on until half of the trees have an end, and each takes its nearest: dozens of searches instead of one
///   per free row. On a perfect problem (square, all vertices must be matched) that is sound because no
///   column's dual has a fixed level. Elsewhere a column that stays free has, so the forest's reach stops at
///   the nearest exit, and at the nearest free column that comes second in its tree: all nearer ones are
///   taken.
/// - Races. There, trees are told apart by which thread wrote last, and of several ends in a tree the reverse
///   pass's last writer wins. Here each column goes to the least row in an order of the column's own, and
///   each tree takes its nearest and then least end; nothing depends on timing. All rounds are synchronous,
///   so that the matching and the duals are the same bits for any number of threads, on CPU and GPU. What
///   this costs is a second look at ties; the reverse pass is only the choice of ends.
/// - Duals are integers: theta goes to the rows in full, not theta / 2 to either side.
/// - Zero slacks are compressed (section 3.3) per level on the CPU; on the GPU a level's rows claim columns
///   as they are read: the list would be used once. There is no copy of the matrix, nor anything of its size.
/// - Rectangles, unmatched costs and forbidden pairs come with the canonical form
///   (canonical/canonical_form.h). Trees are rebuilt for each search, as in the paper.
///
/// Warm starts: see Start; on the GPU it is read from host memory whatever the problem's space.
///
/// Stats: phases = searches that ended in augmentations; rounds = levels of the forward pass; augmentations =
/// paths turned over; assignments = pairs gained in each search (paths that end at an exit gain none), so
/// that initial_assignments and these add up to the cardinality. Seconds: initial_reduction,
/// initial_assignment, forward_pass (the tree variant's search for theta included), dual_update,
/// reverse_pass, augmentation_pass; on the GPU also transfer (bringing the problem over and checking its
/// range).
///
/// Time O(n^3) for the tree variant with bands of width 0, O(n^4) for the classical one; memory O(rows +
/// cols) beside the problem.

#include <motes/matching/assignment_solver.h>

namespace motes::matching {

/// The classical variant. CPU and CUDA; sparse, dense and geometric costs.
class Hungarian final : public AssignmentSolver {
  Matching run(const Execution& execution, const CostsView& problem, const Start& start) const override;
};

/// The alternating-tree variant. CPU and CUDA; sparse, dense and geometric costs.
class HungarianTree final : public AssignmentSolver {
  Matching run(const Execution& execution, const CostsView& problem, const Start& start) const override;
};

}  // namespace motes::matching
