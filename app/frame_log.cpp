/// A record of the log is a frame's detections and one more point, the last, whose quality is the threshold
/// that was used: the report of a resumed run names it too.
#include "app/frame_log.h"

#include <algorithm>
#include <system_error>

#include <motes/base/errors.h>

#include "app/build_info.h"

namespace motes::app {
namespace {

std::filesystem::path log_path(const std::filesystem::path& dir) { return dir / "checkpoint.log"; }

/// Calls `change` with every column of the frame.
template <class Change>
void for_each_column(Detections& d, Change change) {
  for (auto* column : {&d.x_um, &d.y_um, &d.z_um, &d.radius_um, &d.intensity, &d.quality}) change(*column);
  for (PropertyColumn& column : d.properties) change(column.values);
}

Detections with_threshold(Detections detections, double threshold) {
  for_each_column(detections, [&](std::vector<double>& column) { column.push_back(threshold); });
  return detections;
}

FrameLog::Entry split(Detections detections) {
  const double threshold = detections.quality.back();
  for_each_column(detections, [](std::vector<double>& column) { column.pop_back(); });
  return {std::move(detections), threshold};
}

std::vector<FrameLog::Entry> read_log(const std::filesystem::path& path, const std::string& fingerprint) {
  std::vector<FrameLog::Entry> entries;
  for (Detections& record : io::read_checkpoint(path, fingerprint)) {
    if (record.empty()) break;
    entries.push_back(split(std::move(record)));
  }
  return entries;
}

std::string file_state(const std::filesystem::path& file) {
  std::error_code ignored;
  const auto changed = std::filesystem::last_write_time(file, ignored).time_since_epoch().count();
  return file.filename().string() + " " + std::to_string(std::filesystem::file_size(file, ignored)) + " " +
         std::to_string(changed) + "\n";
}

/// A log longer than its header holds frames; when none of them can be read it belongs to another run.
std::vector<FrameLog::Entry> frames_to_resume(const std::filesystem::path& path,
                                              const std::string& fingerprint) {
  std::vector<FrameLog::Entry> entries = read_log(path, fingerprint);
  constexpr std::uintmax_t kHeaderBesidesFingerprint = 24;
  std::error_code missing;
  const auto size = std::filesystem::file_size(path, missing);
  if (entries.empty() && !missing && size > kHeaderBesidesFingerprint + fingerprint.size()) {
    throw UsageError(
        path.string() +
        ": is the log of a run with other settings or another input, or is damaged; repeat that run's "
        "command, or leave out --resume to start anew");
  }
  return entries;
}

}  // namespace

std::string run_fingerprint(const Config& config) {
  std::string text = "motes " + std::string(version()) + "\n" + to_yaml(config, {"input", "detection"});
  const std::filesystem::path input(config.input.path);
  if (!std::filesystem::is_directory(input)) return text + file_state(input);
  std::vector<std::string> states;
  for (const auto& entry : std::filesystem::directory_iterator(input)) {
    if (entry.is_regular_file()) states.push_back(file_state(entry.path()));
  }
  std::sort(states.begin(), states.end());
  for (const std::string& state : states) text += state;
  return text;
}

FrameLog::FrameLog(const std::filesystem::path& dir, const Config& config, bool resume)
    : finished_(resume ? frames_to_resume(log_path(dir), run_fingerprint(config)) : std::vector<Entry>()),
      writer_(log_path(dir), run_fingerprint(config),
              resume ? io::CheckpointWriter::Start::resume : io::CheckpointWriter::Start::fresh) {}

void FrameLog::append(const Detections& detections, double threshold) {
  writer_.append(with_threshold(detections, threshold));
}

void FrameLog::remove(const std::filesystem::path& dir) {
  std::error_code ignored;
  std::filesystem::remove(log_path(dir), ignored);
}

}  // namespace motes::app
