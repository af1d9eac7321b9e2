#pragma once
/// The frame interval of a list of times, exact or approximate.

#include <cstdint>
#include <optional>
#include <vector>

namespace motes::io::detail {

/// The dt for which every time is a constant plus frame * dt (to 1e-6 of dt); none where there is no such
/// positive dt. Where a dt reproduces all times to the bit as frame * dt, that one is chosen, so that times
/// written by motes read back unchanged. A single frame other than 0 counts from time 0.
std::optional<double> infer_interval(const std::vector<std::int32_t>& frame,
                                     const std::vector<double>& time_s);

/// The mean interval of times that belong to frames but are not regular: every row of a frame states the same
/// time, and each time lies within half an interval of a straight line (least squares) through them all. None
/// where there is no such line; two different frames are needed.
std::optional<double> mean_interval(const std::vector<std::int32_t>& frame,
                                    const std::vector<double>& time_s);

/// The number of the frame of every time: the time over the interval, which is `dt_s`, or the least
/// difference between two times (both in s, the times times `unit_s`); from 0 where the times are no
/// multiples of it, but their distances are. None where those are neither, to a tenth of the interval.
std::optional<std::vector<std::int32_t>> frames_of_times(const std::vector<double>& times, double unit_s,
                                                         std::optional<double> dt_s);

}  // namespace motes::io::detail
