#pragma once
/// Scale, frame interval and channel of a series, from its metadata and the user's options.

#include <optional>
#include <string>

#include <motes/io/frame_source.h>

namespace motes::io::detail {

/// From the metadata; what is missing is unknown.
struct Calibration {
  std::optional<double> x_um, y_um, z_um;
  std::optional<double> dt_s;
  std::string source;  ///< "metadata (OME)"
};

/// Throws UsageError (key named) for voxel sizes or intervals that are not positive and finite.
void check_options(const FrameOptions& options);

/// Fills voxel_um, dt_s and their sources: the options first, then the metadata; notes say what is missing.
/// `info.shape` and `info.frames` must be set.
void apply_calibration(SeriesInfo& info, const Calibration& metadata, const FrameOptions& options);

/// For messages that ask for the axes: "; set ... too" with the options for the voxel size and the frame
/// interval where neither metadata nor options give them; else empty.
std::string ask_for_calibration(const Calibration& metadata, const FrameOptions& options);

/// Fills info.channel from the option, or 0 with a note. Throws UsageError naming input.channel out of range.
void choose_channel(SeriesInfo& info, const FrameOptions& options);

/// Throws InputError unless t is in [0, info.frames).
void check_frame_number(const SeriesInfo& info, std::int32_t t);

/// The frame without its voxels: number, time, shape, scale (1 where unknown).
VolumeFrame empty_frame(const SeriesInfo& info, std::int32_t t);

}  // namespace motes::io::detail
