#pragma once
/// The classical variant of hungarian.h on the CPU.

#include "matching/assignment/canonical/canonical_form.h"

namespace motes::matching::detail {

/// Defined for every kind of entries in classical.cpp. The same bits for any number of threads.
template <class Entries>
Solution solve_by_covers(const Execution& execution, const Canonical<Entries>& problem, const Start& start);

}  // namespace motes::matching::detail
