#pragma once
/// Conversion of tracks and detections from and to dictionaries of NumPy arrays.

#include <motes/tracking/detections.h>
#include <motes/tracking/track_set.h>

#include "python/src/python.h"

namespace motes::python {

nb::dict to_dict(TrackSet&& tracks);
TrackSet track_set_of(const nb::dict& dict);
/// Columns frame, t_s, x, y, z and the properties, one row per detection of all frames.
nb::dict to_dict(const std::vector<Detections>& frames);

}  // namespace motes::python
