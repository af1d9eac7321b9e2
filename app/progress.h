#pragma once
/// Progress of long work: a bar on a terminal, plain lines elsewhere, nothing with --quiet.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "app/console.h"

namespace motes::app {

class ProgressBar {
 public:
  /// `label`: the work ("detecting"); `unit`: the unit of `total`, in the plural ("frames").
  ProgressBar(Console& console, std::string label, std::string unit, std::int64_t total);
  /// Ends the line of an unfinished bar, so that an error is on its own line.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void advance(std::int64_t steps = 1);
  /// For work of unknown length: the last step ("round 3"), and the time so far.
  void tell(const std::string& step);
  /// Removes the bar from the terminal, so that other lines can follow.
  void wipe();
  /// Prints the closing line: count, time and rate.
  void finish();
  double seconds() const;

 private:
  std::string state() const;
  bool due();
  void draw(const std::string& line);

  Console& console_;
  std::string label_, unit_;
  std::int64_t total_, done_ = 0;
  std::chrono::steady_clock::time_point start_, last_shown_;
  bool bar_drawn_ = false;
  std::size_t drawn_ = 0;  ///< columns of the line on the terminal
};

/// "1 frame", "2 frames". `units`: a regular plural.
std::string counted(std::int64_t count, std::string_view units);

/// The progress line with its bar, in at most `columns` columns. A narrow line loses the bar first.
std::string progress_line(std::string_view label, double share, std::string_view state, std::size_t columns);

/// "850 ms", "12.3 s", "4 min 10 s", "2 h 5 min".
std::string duration_text(double seconds);

/// Without an exponent: "3.31", "73.3", "18800".
std::string rate_text(double per_second);

}  // namespace motes::app
