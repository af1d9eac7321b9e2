#pragma once
/// Traits of cells that are evidence for or against a division.

#include <cstdint>
#include <span>
#include <vector>

#include <motes/matching/problem.h>

namespace motes::tracking::detail {

/// The tracks of a series, in the direction of a search. The arrays are those of the series.
struct CellTracks {
  std::span<const matching::Index> before, after;  ///< [points] the detections linked to this one, or -1
  std::span<const std::int32_t> slot;              ///< [points] frame; rises with the number of the detection
  std::int32_t frames = 0;
  bool backwards = false;  ///< the search goes from the last frame to the first
};

/// Detections at which cells are born and those at which they divide.
struct CellBreaks {
  std::vector<matching::Index> mothers, daughters;
};

/// [points] The number of frames since the cell was born, counted from 1: since its track began or, among
/// `daughters`, was divided off. 0 if the cell can be older than the series. O(points).
std::vector<std::int32_t> cell_ages(const CellTracks& tracks, const CellBreaks& breaks);

/// [points] The number of frames until the cell's track ends or, at `mothers`, the cell divides, counted from
/// 1. 0 if the cell can outlast the series. O(points).
std::vector<std::int32_t> cell_lives(const CellTracks& tracks, const CellBreaks& breaks);

/// Classes of a trait. Class 0: unknown.
inline constexpr std::size_t kTraitClasses = 33;

/// The class of a number of frames: 1 of 1, 2 of 2, 3 of 3 to 4, 4 of 5 to 8 and so on.
std::int32_t duration_class(std::int32_t frames);

/// [points] For the first detection of each track of `starts`, the eighth, from 1, that its odds are in:
/// those of its first detections, on average. 0 for other points. Empty if `log_odds` [points] is.
std::vector<std::int32_t> odds_classes(const CellTracks& tracks, std::span<const matching::Index> starts,
                                       std::span<const double> log_odds);

/// [classes] Nats by which each class is more frequent among `some` than among `others`, both [classes]
/// counts. With few of either all are near 0. Class 0 has 0.
std::vector<double> class_evidence(const std::vector<double>& some, const std::vector<double>& others);

}  // namespace motes::tracking::detail
