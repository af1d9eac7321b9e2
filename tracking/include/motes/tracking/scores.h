#pragma once
/// Scores of found tracks against true ones.

#include <cstdint>

namespace motes {

/// Links between successive detected positions of a particle, over gaps too. A true position is detected if a
/// found position, on a track or alone, is matched to it.
struct DetectedLinkScores {
  double precision = 0, recall = 0, f1 = 0;
  std::int64_t true_links = 0, false_links = 0, missed_links = 0;
  std::int64_t gap_links = 0;  ///< true links over frames without detection
  std::int64_t tracks = 0;     ///< true tracks with at least two detected positions
  std::int64_t complete = 0;   ///< those of them of which all links were found
};

/// Divisions: a mother and the set of her daughters (at least two), from `parent`. A found division is true
/// if the mother's last position and the daughters' first positions match those of a true division.
struct DivisionScores {
  double precision = 0, recall = 0, f1 = 0;
  std::int64_t true_divisions = 0, false_divisions = 0, missed_divisions = 0;
  /// The same if divisions may be found one frame early or late: the tracks of mother and daughters must be
  /// right before and after both the true and the found division.
  std::int64_t true_within_one = 0;
  double f1_within_one = 0;
};

/// Link counts on consecutive true frames; see link_score.h for the rules.
struct LinkScores {
  double precision = 0, recall = 0, f1 = 0;
  std::int64_t true_links = 0, false_links = 0, missed_links = 0, neutral_links = 0;
  std::int64_t clutter_links = 0;  ///< neutral links between two positions that match no particle
  double strict_f1 = 0;            ///< f1 with clutter links counted as false
  DetectedLinkScores detected;
  DivisionScores division;  ///< all 0 if neither side has divisions
  /// The same of merges (`merged_into`): the merged particle's first position and the last ones of those that
  /// merge.
  DivisionScores merge;
};

/// The Particle Tracking Challenge's scores (Chenouard et al. 2014); see challenge_score.h.
struct ChallengeScores {
  double alpha = 0, beta = 0, jsc = 0, jsc_theta = 0, rmse = 0;
  double pairing_distance = 0;      ///< d(X, Y)
  double max_pairing_distance = 0;  ///< d(X, 0)
  std::int64_t true_positives = 0, false_negatives = 0, false_positives = 0;
  std::int64_t paired_tracks = 0, missed_tracks = 0, spurious_tracks = 0;
};

struct Scores {
  double gate = 0, gate_link = 0;  ///< in the tracks' length unit
  ChallengeScores challenge;
  LinkScores link;
};

}  // namespace motes
