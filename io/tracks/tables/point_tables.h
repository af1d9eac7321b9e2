#pragma once
/// Points and tracks of columns, whatever file these come from.

#include <functional>
#include <string>
#include <vector>

#include <motes/io/tables.h>

#include "io/tracks/tables/point_columns.h"

namespace motes::io::detail {

/// Throws UsageError for lengths and intervals that are not positive.
void require_positive(const TableOptions& options);

/// Detections of at least one row, in um if the columns or the options state the unit; tracks are ignored,
/// with a note. `source` begins messages. Throws UsageError if the unit is needed, InputError as
/// require_dense_frames.
PointTable points_of_columns(PointColumns columns, const TableOptions& options, const std::string& source);

/// Tracks, or links if the columns have points that name their mothers; rows without a track number are left
/// out, with a note. Throws InputError that starts with where(line of the row) as group_tracks and
/// tracks_of_graph.
TrackSet tracks_of_columns(PointColumns columns, const TableOptions& options,
                           const std::function<std::string(std::int64_t line)>& where,
                           std::vector<std::string>* notes);

}  // namespace motes::io::detail
