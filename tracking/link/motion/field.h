#pragma once
/// Predicts displacements from the links of neighbours, and makes the linking from which such predictions
/// start.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_model.h>

#include "tracking/motion/near_lists.h"

namespace motes::tracking {

/// Lists of the neighbours of every detection in its frame, which do not depend on links. The lists of a
/// frame are made at the first request, by the thread that requests them.
class SeriesLists {
 public:
  /// `points` must outlive it.
  explicit SeriesLists(const SeriesPoints& points);
  const NearLists& operator[](std::size_t frame) const;
  /// Makes the lists of all frames at once.
  void make(const Execution& execution) const;

 private:
  struct Frame {
    std::once_flag once;
    NearLists lists;
  };
  const SeriesPoints* points_;
  std::unique_ptr<Frame[]> frames_;
};

/// Predicts at every detection the field of the links from its frame to the next, without its own link; over
/// more frames, the fields of the frames between in succession. 0 in frames with too few links. `before`, if
/// given: the prediction by the linking `of_before`; then only frames with different links are computed, with
/// the same result. O(points x lags).
Prediction predict_by_field(const Execution& execution, const SeriesPoints& points, const SeriesLists& lists,
                            const SeriesLinking& linking, int lags, Prediction before = {},
                            const SeriesLinking& of_before = {});

/// Links frame by frame. Each pair is linked with predictions by the field of the pair before, then up to
/// four times with its own field, until no link changes. O(points) small problems. If the links are long
/// (over 0.25 spacings) and there are at most 100,000 detections, each pair is also linked from other starts
/// (no motion, the best rotation of the whole (rigid_search.h), and the fields of the pairs after and
/// before), and the most likely linking is kept.
SeriesLinking link_along_field(const Execution& execution, const SeriesPoints& points,
                               const std::string& solver, const SeriesLists& lists);

/// The gain, in nats per detection, of such links over links without prediction, in a few successive pairs of
/// frames in the middle of a long or large series; none for other series.
std::optional<double> gain_of_some_pairs(const Execution& execution, const SeriesPoints& points,
                                         const std::string& solver, const SeriesLists& lists);

}  // namespace motes::tracking
