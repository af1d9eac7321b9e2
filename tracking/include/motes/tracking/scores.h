#pragma once
/// Scores of found tracks against true ones.

#include <cstdint>

namespace motes {

/// Link counts on consecutive true frames; see tracking/score/link_score.h for the rules.
struct LinkScores {
  double precision = 0, recall = 0, f1 = 0;
  std::int64_t true_links = 0, false_links = 0, missed_links = 0, neutral_links = 0;
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
  double gate = 0, gate_link = 0;  ///< in the tracks' own length unit
  ChallengeScores challenge;
  LinkScores link;
};

}  // namespace motes
