#pragma once
/// The frame interval of a list of times, exact or approximate.

#include <cstdint>
#include <optional>
#include <vector>

namespace motes::io::detail {

/// The dt for which every time is a constant plus frame * dt (to 1e-6 of dt); none if there is no such
/// positive dt. If a dt reproduces all times to the bit as frame * dt, that one is returned, so that times
/// written by motes read back unchanged. A single frame other than 0 counts from time 0.
std::optional<double> infer_interval(const std::vector<std::int32_t>& frame,
                                     const std::vector<double>& time_s);

/// The mean interval of irregular times: all rows of a frame must state the same time, and each time must be
/// within half an interval of the straight line through all (least squares). None if there is no such line,
/// or fewer than two frames.
std::optional<double> mean_interval(const std::vector<std::int32_t>& frame,
                                    const std::vector<double>& time_s);

/// The frame number of each time: the time divided by the interval, which is `dt_s`, or else the smallest
/// difference between two times. `times` are in units of `unit_s` seconds. If only the differences are
/// multiples of the interval, frames are counted from the first time. None if neither are, to a tenth of the
/// interval.
std::optional<std::vector<std::int32_t>> frames_of_times(const std::vector<double>& times, double unit_s,
                                                         std::optional<double> dt_s);

}  // namespace motes::io::detail
