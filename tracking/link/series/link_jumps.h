#pragma once
/// Detections far from their particle. The track has detections before and after a frame but not in it, while
/// in that frame a detection on no track lies nearer than chance explains.
///
/// For single links, a displacement to the detection and another one back are less likely than a missed
/// particle and a false detection. So the assignment leaves such detections out, although there are too many
/// of them near gaps for chance.

#include <vector>

#include <motes/tracking/series_model.h>

namespace motes::tracking {

/// Expected share by chance of the detections that are added to tracks.
inline constexpr double kJumpsByChance = 0.1;

struct LinkJumps {
  SeriesLinking linking;                ///< with the jumped detections inserted
  std::vector<matching::Index> jumped;  ///< the inserted detections, in rising order
};

/// Adds detections on no track to tracks with a gap in that frame. A detection is added if at most a tenth of
/// all that are as near to the expected positions of tracks in their gaps would be so by chance (Benjamini &
/// Hochberg 1995), and if there are at least two of them. None is farther than 1.5 spacings, or than the gate
/// allows. O(points + gaps log gaps).
LinkJumps keep_jumps(const SeriesPoints& points, const SeriesLinking& linking, const Gate& gate = {});

}  // namespace motes::tracking
