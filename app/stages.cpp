#include "app/stages.h"

#include <fstream>
#include <sstream>

#include <time.h>
#include <unistd.h>

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

const std::vector<StageTime>& StageClock::finish() {
  const auto now = std::chrono::steady_clock::now();
  stages_.back().seconds += std::chrono::duration<double>(now - last_).count();
  last_ = now;
  total_s_ = before_ + std::chrono::duration<double>(now - start_).count();
  return stages_;
}

double seconds_since_process_start() {
  std::ifstream in("/proc/self/stat");
  std::string text;
  std::getline(in, text);
  const auto name_end = text.rfind(')');  // the name before it may hold anything
  if (name_end == std::string::npos) return 0;
  constexpr int kStartTime = 19;  // fields between the name and it
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  for (int i = 0; i < kStartTime; ++i) fields >> field;
  long long ticks = 0;
  timespec now{};
  if (!(fields >> ticks) || clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
  const double started = static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) - started;
}

}  // namespace motes::app
