/// Finds the frame interval in a list of times.

#include "io/images/frame_interval.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace motes::io::detail {
namespace {

/// `value` rounded to `digits` significant decimal digits.
double rounded(double value, int digits) {
  char buffer[64];
  const auto written =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, digits - 1);
  double result = value;
  std::from_chars(buffer, written.ptr, result);
  return result;
}

bool reproduces(const std::vector<std::int32_t>& frame, const std::vector<double>& time_s, double dt) {
  for (std::size_t i = 0; i < frame.size(); ++i) {
    if (frame[i] * dt != time_s[i]) return false;
  }
  return true;
}

bool is_constant_interval(const std::vector<std::int32_t>& frame, const std::vector<double>& time_s,
                          std::size_t first, double dt) {
  for (std::size_t i = 0; i < frame.size(); ++i) {
    const double expected = time_s[first] + (static_cast<double>(frame[i]) - frame[first]) * dt;
    if (!(std::abs(time_s[i] - expected) <= 1e-6 * dt)) return false;
  }
  return true;
}

}  // namespace

std::optional<double> infer_interval(const std::vector<std::int32_t>& frame,
                                     const std::vector<double>& time_s) {
  if (frame.empty() || time_s.size() != frame.size()) return std::nullopt;
  const auto [low, high] = std::minmax_element(frame.begin(), frame.end());
  const auto first = static_cast<std::size_t>(low - frame.begin());
  const auto last = static_cast<std::size_t>(high - frame.begin());
  const double dt = *low == *high ? time_s[first] / frame[first]
                                  : (time_s[last] - time_s[first]) / (static_cast<double>(*high) - *low);
  if (!(dt > 0) || !std::isfinite(dt)) return std::nullopt;
  if (!is_constant_interval(frame, time_s, first, dt)) return std::nullopt;
  // Rounding may change the last bit of the quotient; an interval that people type has few digits.
  const double candidates[] = {rounded(dt, 12), rounded(dt, 15), dt, std::nextafter(dt, 0.0),
                               std::nextafter(dt, 2 * dt)};
  for (const double candidate : candidates) {
    if (reproduces(frame, time_s, candidate)) return candidate;
  }
  return dt;
}

std::optional<double> mean_interval(const std::vector<std::int32_t>& frame,
                                    const std::vector<double>& time_s) {
  if (time_s.size() != frame.size()) return std::nullopt;
  std::map<std::int32_t, double> times;
  for (std::size_t i = 0; i < frame.size(); ++i) {
    const auto [entry, added] = times.emplace(frame[i], time_s[i]);
    if (!std::isfinite(time_s[i]) || (!added && entry->second != time_s[i])) return std::nullopt;
  }
  if (times.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(times.size());
  double mean_frame = 0, mean_time = 0, covariance = 0, variance = 0;
  for (const auto& [f, t] : times) mean_frame += f / count, mean_time += t / count;
  for (const auto& [f, t] : times) {
    covariance += (f - mean_frame) * (t - mean_time);
    variance += (f - mean_frame) * (f - mean_frame);
  }
  const double dt = covariance / variance;
  if (!(dt > 0) || !std::isfinite(dt)) return std::nullopt;
  const bool near = std::all_of(times.begin(), times.end(), [&](const auto& entry) {
    return std::abs(entry.second - mean_time - (entry.first - mean_frame) * dt) < 0.5 * dt;
  });
  return near ? std::optional(dt) : std::nullopt;
}

std::optional<std::vector<std::int32_t>> frames_of_times(const std::vector<double>& times, double unit_s,
                                                         std::optional<double> dt_s) {
  constexpr double kNear = 0.1, kMost = 2e9;
  std::vector<double> distinct(times);
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.empty()) return std::vector<std::int32_t>{};
  if (!std::all_of(distinct.begin(), distinct.end(), [](double t) { return std::isfinite(t); }))
    return std::nullopt;
  double dt = dt_s ? *dt_s / unit_s : 1;
  if (!dt_s && distinct.size() > 1) {
    dt = distinct.back() - distinct.front();
    for (std::size_t i = 1; i < distinct.size(); ++i) dt = std::min(dt, distinct[i] - distinct[i - 1]);
  }
  const auto numbers_from = [&](double start) -> std::optional<std::vector<std::int32_t>> {
    std::vector<std::int32_t> frames;
    for (const double t : times) {
      const double number = (t - start) / dt;
      if (!(number > -kNear && number < kMost) || std::abs(number - std::round(number)) > kNear)
        return std::nullopt;
      frames.push_back(static_cast<std::int32_t>(std::lround(number)));
    }
    return frames;
  };
  if (auto frames = numbers_from(0)) return frames;
  return numbers_from(distinct.front());
}

}  // namespace motes::io::detail
