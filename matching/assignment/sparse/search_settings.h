#pragma once
/// Settings of the GPU engine of `jv` (sparse_augmenting_paths.cuh).

namespace motes::matching::device {

/// Speed only, but for the last two.
struct SearchSettings {
  int budget = 16;             ///< bids of a chain of the row reduction
  int stages = 4;              ///< of an auction before it, for prices to start from (perfect and cold only)
  int stage_budget = 64;       ///< bids of a chain there
  int fight_budget = 16384;    ///< bids of a chain of rows that spent theirs...
  int few_fights = 64;         ///< ...which are broken off when so few go on
  float share = .5F;           ///< perfect: of the trees, that is to come to an end in a phase of searches
  long long most_rounds = 0;   ///< of searches; 0: as many as it takes. Beyond, they are broken off
  long long most_scanned = 0;  ///< rows, in all rounds; likewise
};

}  // namespace motes::matching::device
