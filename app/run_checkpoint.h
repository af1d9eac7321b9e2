#pragma once
/// The checkpoint of `track` and `detect`: the frames that an interrupted run finished, kept in the output
/// folder until the results are written.

#include <filesystem>
#include <string>
#include <vector>

#include <motes/io/checkpoint.h>
#include <motes/tracking/detections.h>

#include "app/config.h"

namespace motes::app {

/// What finished frames depend on: the version, the settings of input and detection, and name, size, time of
/// change and sampled contents of the input's files. `data`: the file that
/// holds the voxels where the input names another one (BigDataViewer XML). Runs that agree in it find the
/// same detections.
std::string run_fingerprint(const Config& config, const std::filesystem::path& data);

class RunCheckpoint {
 public:
  /// Begins a checkpoint in `dir`, or goes on with the one there. Throws UsageError where `resume` is asked
  /// for and the checkpoint there is another run's, ResourceError where the folder refuses.
  RunCheckpoint(const std::filesystem::path& dir, const std::string& fingerprint, bool resume);

  /// Frames that an earlier run finished, the first ones of the series in order.
  const std::vector<io::CheckpointRecord>& finished() const { return finished_; }
  void append(const Detections& detections, double threshold);

  /// Removes the checkpoint once the results are written.
  static void remove(const std::filesystem::path& dir);

 private:
  std::vector<io::CheckpointRecord> finished_;
  io::CheckpointWriter writer_;
};

}  // namespace motes::app
