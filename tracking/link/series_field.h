#pragma once
/// Predicted displacements from neighbours' links, and the linking such predictions begin from.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_model.h>

#include "tracking/motion/near_lists.h"

namespace motes::tracking {

/// The neighbours of every detection in its frame: they stay what they are while links change. A frame's are
/// listed when first asked for, by whichever thread asks.
class SeriesLists {
 public:
  /// `points` must outlive it.
  explicit SeriesLists(const SeriesPoints& points);
  const NearLists& operator[](std::size_t frame) const;
  /// Lists all frames' at once.
  void make(const Execution& execution) const;

 private:
  struct Frame {
    std::once_flag once;
    NearLists lists;
  };
  const SeriesPoints* points_;
  std::unique_ptr<Frame[]> frames_;
};

/// At every detection the field of the links from its frame to the next, its own link left out; over more
/// frames the fields of the frames between, one after the other. 0 where a frame has too few links.
/// `before`, where given, is that of the linking `of_before`: only frames whose links differ are computed,
/// with the same result. O(points x lags).
Prediction predict_by_field(const Execution& execution, const SeriesPoints& points, const SeriesLists& lists,
                            const SeriesLinking& linking, int lags, Prediction before = {},
                            const SeriesLinking& of_before = {});

/// Frame after frame: each pair is linked around the field of the pair before, then up to four times more
/// around its own, until no link changes. O(points) small problems. Where the links are long (0.25 of the
/// spacing) and the detections at most 100,000, each pair is linked from other starts too - no motion, the
/// best turn of the whole (rigid_search.h), the fields of the pairs after and before - and the likeliest
/// linking stays.
SeriesLinking link_along_field(const Execution& execution, const SeriesPoints& points,
                               const std::string& solver, const SeriesLists& lists);

/// How much likelier, in nats a detection, such links are than links without prediction in a few successive
/// pairs of frames in the middle of a long or large series; nothing for others.
std::optional<double> gain_of_some_pairs(const Execution& execution, const SeriesPoints& points,
                                         const std::string& solver, const SeriesLists& lists);

}  // namespace motes::tracking
