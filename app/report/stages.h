#pragma once
/// The time of a command by stages; each second belongs to exactly one stage.

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace motes::app {

/// Seconds and items of one stage. In a report, only these and the peak memory differ from run to run.
struct StageTime {
  std::string name, unit;
  std::int64_t items = 0;
  double seconds = 0;
  std::vector<std::pair<std::string, double>> busy = {};  ///< of work in parallel, summed over threads
  std::vector<std::pair<std::string, double>> gpu = {};   ///< on the GPU, by step
  std::string bound_by = {};  ///< the work that the rest waits for; empty: not known
};

/// A clock that always measures exactly one stage. The first one is "start", with the time before it.
class StageClock {
 public:
  /// `before`: seconds since the process began.
  explicit StageClock(double before);
  /// Ends the current stage and begins another.
  void begin(const std::string& name, const std::string& unit);
  /// Sets the number of items that the current stage has processed.
  void count(std::int64_t items) { stages_.back().items = items; }
  /// Sets the times of parallel work in the current stage: busy, gpu and bound_by of `told`.
  void tell_work(const StageTime& told);
  /// Ends the last stage. The stages' seconds add up to total_s().
  const std::vector<StageTime>& finish();
  double total_s() const { return total_s_; }  ///< from the start of the process to finish()

 private:
  std::chrono::steady_clock::time_point start_, last_;
  double before_, total_s_ = 0;
  std::vector<StageTime> stages_;
};

}  // namespace motes::app
