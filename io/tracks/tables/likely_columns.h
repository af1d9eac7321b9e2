#pragma once
/// Columns of other programs whose names are too rare to be used without asking, for error messages.

#include <string>
#include <string_view>
#include <vector>

namespace motes::io::detail {

/// The first column that probably counts frames, such as "Slice", "Time Point", "ImageNumber" or "First
/// Frame"; -1: none.
int likely_frames(const std::vector<std::string>& header);

/// The first column that probably numbers tracks, such as "track-id" or "TrackObjects_Label_50"; -1: none.
int likely_tracks(const std::vector<std::string>& header);

/// The columns that are probably positions, as "x=centroid_x,y=centroid_y"; empty: none. Their names differ
/// in the letter of the axis only ("Centroid X µm", "xnm"), or number the axes as scikit-image ("centroid-0"
/// is the slowest) and ilastik ("Object_Center_0" is x) do, or are rows and columns.
std::string likely_positions(const std::vector<std::string>& header);

/// "--columns NAMES", in quotes where the shell needs them.
std::string columns_option(const std::string& names);

}  // namespace motes::io::detail
