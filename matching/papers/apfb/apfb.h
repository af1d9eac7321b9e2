#pragma once
/// `apfb` and `apsb`: augmenting paths on the GPU, as many as one full (apfb) or shortest (apsb)
/// breadth-first search finds.
///
/// Source: Deveci, Kaya, Ucar & Catalyurek, "GPU accelerated maximum cardinality matching algorithms for
/// bipartite graphs", Euro-Par 2013.

#include <motes/matching/cardinality_solver.h>

namespace motes::matching {

struct ApfbOptions {
  bool shortest = false;      ///< APsB: a search stops at the level of its first paths; else APFB
  bool roots = true;          ///< the paper's GPUBFS-WR: trees that found a path stop growing
  bool many_threads = false;  ///< MT: a vertex per thread, as far as the device holds them; CT: 256 * 256
  bool cheap = true;          ///< rows that the start leaves free first take free columns (the paper's start)
};

/// The paper's columns, from which it searches, are our rows. CUDA only. O(rows * nnz).
class Apfb final : public CardinalitySolver {
 public:
  explicit Apfb(const ApfbOptions& options) : options_(options) {}

 private:
  bool needs_columns() const override { return false; }
  void run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
           CardinalityStats& stats) const override;
  void run_on_device(const Execution& execution, const CardinalityProblem& problem, const GivenStart& start,
                     Mates& mates, CardinalityStats& stats) const override;
  ApfbOptions options_;
};

namespace device {
/// The CUDA form, for graphs in either memory space. Throws FaultyStart for a wrong start, ResourceError
/// without a device.
void augment_by_levels(const Execution& execution, const CardinalityProblem& problem,
                       const ApfbOptions& options, const GivenStart& start, Mates& mates,
                       CardinalityStats& stats);
}  // namespace device

}  // namespace motes::matching
