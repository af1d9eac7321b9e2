#pragma once
/// The checkpoint of `track` and `detect`: the frames that an interrupted run finished, kept in the output
/// folder until the results are written.

#include <filesystem>
#include <string>
#include <vector>

#include <motes/io/checkpoint.h>
#include <motes/tracking/detections.h>

#include "app/options/config.h"

namespace motes::app {

/// A text of everything that finished frames depend on: the version, the settings of input and detection, and
/// name, size, time of change and sampled contents of the input's files. `data`: the file with the voxels, if
/// the input names another one (BigDataViewer XML). Runs with the same fingerprint find the same detections.
std::string run_fingerprint(const Config& config, const std::filesystem::path& data);

class RunCheckpoint {
 public:
  /// Begins a checkpoint in `dir`, or continues the one there if `resume` is true. Throws UsageError if that
  /// one is of another run, ResourceError if the folder cannot be written to.
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
