#pragma once
/// Scale, frame interval and channel of a series, from its metadata and the user's options.

#include <optional>
#include <string>

#include <motes/io/frame_source.h>

namespace motes::io::detail {

/// Scale and interval from the metadata; unset values are unknown.
struct Calibration {
  std::optional<double> x_um, y_um, z_um;
  std::optional<double> dt_s;
  std::string source;  ///< "metadata (OME)"
};

/// Throws UsageError that names the key if a voxel size or an interval is not positive and finite.
void check_options(const FrameOptions& options);

/// Sets voxel_um, dt_s and their sources, from the options or else the metadata, and notes missing values.
/// `info.shape` and `info.frames` must be set.
void apply_calibration(SeriesInfo& info, const Calibration& metadata, const FrameOptions& options);

/// For messages that ask for the axes: "; set ... too" with the options for the voxel size and the frame
/// interval if neither metadata nor options give them; else empty.
std::string ask_for_calibration(const Calibration& metadata, const FrameOptions& options);

/// Sets info.channel from the option, or to 0 with a note. Throws UsageError if input.channel is out of
/// range.
void choose_channel(SeriesInfo& info, const FrameOptions& options);

/// Throws InputError unless t is in [0, info.frames).
void check_frame_number(const SeriesInfo& info, std::int32_t t);

/// The frame without its voxels: number, time, shape and voxel size (1 if unknown).
VolumeFrame empty_frame(const SeriesInfo& info, std::int32_t t);

}  // namespace motes::io::detail
