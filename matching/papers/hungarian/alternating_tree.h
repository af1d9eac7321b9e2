#pragma once
/// The alternating-tree variant of hungarian.h on the CPU.

#include "matching/assignment/canonical/canonical_form.h"

namespace motes::matching::detail {

/// Defined for every kind of entries in alternating_tree.cpp. The same bits for any number of threads.
template <class Entries>
Solution solve_by_trees(const Execution& execution, const Canonical<Entries>& problem, const Start& start);

}  // namespace motes::matching::detail
