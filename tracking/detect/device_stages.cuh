#pragma once
/// Measures the time of the stages of a search on the device.

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <motes/base/gpu/arena.cuh>
#include <motes/base/gpu/stream_timer.cuh>

namespace motes::tracking::detect::device {

/// Named intervals of the stream's time.
class Stages {
 public:
  /// Begins a stage and ends the one before.
  void begin(gpu::Arena& arena, const char* name) {
    end();
    running_ = &times_.emplace_back(name, std::make_unique<gpu::StreamTimer>(arena.stream())).second;
  }
  void end() {
    if (running_ != nullptr) (*running_)->stop();
    running_ = nullptr;
  }
  /// The stream must be idle, and no stage running.
  void add_to(std::vector<std::pair<std::string, double>>& sums) const {
    for (const auto& stage : times_) {
      auto sum =
          std::find_if(sums.begin(), sums.end(), [&](const auto& s) { return s.first == stage.first; });
      if (sum == sums.end()) sum = sums.insert(sum, {stage.first, 0.0});
      sum->second += stage.second->seconds();
    }
  }

 private:
  std::deque<std::pair<std::string, std::unique_ptr<gpu::StreamTimer>>> times_;
  std::unique_ptr<gpu::StreamTimer>* running_ = nullptr;
};

}  // namespace motes::tracking::detect::device
