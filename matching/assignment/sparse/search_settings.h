#pragma once
/// Settings of the GPU engine of `jv` (sparse_augmenting_paths.cuh).

namespace motes::matching::device {

/// Settings of speed; the last two may also stop the searches before the optimum.
struct SearchSettings {
  int budget = 16;  ///< bids of a chain of the row reduction
  int stages =
      4;  ///< stages of an auction before it, for starting prices (perfect problems without a start only)
  int stage_budget = 64;       ///< bids of a chain there
  int fight_budget = 16384;    ///< bids of a chain of rows that spent the stage budget...
  int few_fights = 64;         ///< ...which end once at most this many are running
  float share = .5F;           ///< perfect: the share of the trees that must reach an end in a phase
  long long most_rounds = 0;   ///< rounds of searches before they are stopped; 0: no limit
  long long most_scanned = 0;  ///< rows scanned in all rounds before searches are stopped; 0: no limit
};

}  // namespace motes::matching::device
