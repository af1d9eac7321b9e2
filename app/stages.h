#pragma once
/// The time of a command by stages; every second belongs to one stage.

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace motes::app {

/// Seconds and items of one stage of the work; only these and the peak memory differ from run to run.
struct StageTime {
  std::string name, unit;
  std::int64_t items = 0;
  double seconds = 0;
  std::vector<std::pair<std::string, double>> busy =
      {};  ///< of what is done side by side, summed over threads
  std::vector<std::pair<std::string, double>> gpu = {};  ///< on the GPU, by step
  std::string bound_by = {};                             ///< what the rest waits for; empty: not told
};

/// A clock that always runs for exactly one stage. The first is "start", with what passed before.
class StageClock {
 public:
  /// `before`: seconds since the process began.
  explicit StageClock(double before);
  /// Ends the current stage and begins another.
  void begin(const std::string& name, const std::string& unit);
  /// What the current stage has done.
  void count(std::int64_t items) { stages_.back().items = items; }
  /// What was done side by side in the current stage: busy, gpu and bound_by of `told`.
  void tell_work(const StageTime& told);
  /// Ends the last stage. The stages' seconds add up to total_s().
  const std::vector<StageTime>& finish();
  double total_s() const { return total_s_; }  ///< from the process's begin to finish()

 private:
  std::chrono::steady_clock::time_point start_, last_;
  double before_, total_s_ = 0;
  std::vector<StageTime> stages_;
};

}  // namespace motes::app
