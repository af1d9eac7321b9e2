/// Sums the time of each stage.

#include "app/report/stages.h"

#include <motes/base/timer.h>

namespace motes::app {

StageClock::StageClock(double before)
    : start_(std::chrono::steady_clock::now()),
      last_(start_),
      before_(before),
      stages_{{"start", "", 0, before}} {}

void StageClock::begin(const std::string& name, const std::string& unit) {
  const auto now = std::chrono::steady_clock::now();
  stages_.back().seconds += std::chrono::duration<double>(now - last_).count();
  last_ = now;
  stages_.push_back({name, unit, 0, 0});
}

void StageClock::tell_work(const StageTime& told) {
  stages_.back().busy = told.busy;
  stages_.back().gpu = told.gpu;
  stages_.back().bound_by = told.bound_by;
}

const std::vector<StageTime>& StageClock::finish() {
  const auto now = std::chrono::steady_clock::now();
  stages_.back().seconds += std::chrono::duration<double>(now - last_).count();
  last_ = now;
  total_s_ = before_ + std::chrono::duration<double>(now - start_).count();
  return stages_;
}

}  // namespace motes::app
