#pragma once
/// Detections far from where their particle is: a track that passes a detection by, seen before and after but
/// not in that frame, while a detection that is on no track lies nearby, nearer than chance would have it.
///
/// Link by link, a displacement there and another one back are less likely than a missed particle and a false
/// detection, so the assignment leaves such detections out. That they lie there and nowhere else is what
/// single links do not see.

#include <vector>

#include <motes/tracking/series_model.h>

namespace motes::tracking {

/// So many of the detections that tracks are given may lie there by chance, as a share of them.
inline constexpr double kJumpsByChance = 0.1;

struct LinkJumps {
  SeriesLinking linking;                ///< through the detections that were passed by
  std::vector<matching::Index> jumped;  ///< those, rising
};

/// A detection on no track belongs to the track that passes it by if, of all that are as near to where tracks
/// are expected in frames they leave out, at most a tenth were so by chance (Benjamini & Hochberg 1995), and
/// there are two of them; none farther than 1.5 spacings, or than the gate allows. O(points + gaps log gaps).
LinkJumps keep_jumps(const SeriesPoints& points, const SeriesLinking& linking, const Gate& gate = {});

}  // namespace motes::tracking
