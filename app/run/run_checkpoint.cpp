/// The checkpoint of a run in its output folder, and the fingerprint of the run.

#include "app/run/run_checkpoint.h"

#include <algorithm>
#include <fstream>
#include <system_error>

#include <motes/base/checksum.h>
#include <motes/base/errors.h>

#include "app/build_info.h"

namespace motes::app {
namespace {

std::filesystem::path checkpoint_path(const std::filesystem::path& dir) { return dir / "checkpoint.log"; }

/// Hash of the file's start and end and of blocks between them. It detects a changed file of the same size
/// and time.
std::string content_hash(const std::filesystem::path& file, std::uintmax_t size) {
  constexpr std::uintmax_t kEnds = 65536, kBlock = 4096, kBlocks = 16;
  std::ifstream in(file, std::ios::binary);
  std::string bytes(kEnds, '\0');
  std::uint64_t hash = kFnvBasis;
  const auto add = [&](std::uintmax_t at, std::uintmax_t count) {
    in.clear();
    in.seekg(static_cast<std::streamoff>(at));
    in.read(bytes.data(), static_cast<std::streamsize>(count));
    hash = fnv1a64(std::string_view(bytes).substr(0, static_cast<std::size_t>(in.gcount())), hash);
  };
  add(0, kEnds);
  if (size > kEnds) add(size - std::min(size, kEnds), kEnds);
  for (std::uintmax_t i = 1; size > 3 * kEnds && i < kBlocks; ++i) add(size / kBlocks * i, kBlock);
  return std::to_string(hash);
}

std::string file_state(const std::filesystem::path& file) {
  std::error_code ignored;
  const auto changed = std::filesystem::last_write_time(file, ignored).time_since_epoch().count();
  const std::uintmax_t size = std::filesystem::file_size(file, ignored);
  return file.filename().string() + " " + std::to_string(size) + " " + std::to_string(changed) + " " +
         content_hash(file, size) + "\n";
}

/// A checkpoint longer than its header has frames. If none of them can be read, it belongs to another run.
std::vector<io::CheckpointRecord> frames_to_resume(const std::filesystem::path& path,
                                                   const std::string& fingerprint) {
  std::vector<io::CheckpointRecord> entries = io::read_checkpoint(path, fingerprint);
  constexpr std::uintmax_t kHeaderBesidesFingerprint = 24;
  std::error_code missing;
  const auto size = std::filesystem::file_size(path, missing);
  if (entries.empty() && !missing && size > kHeaderBesidesFingerprint + fingerprint.size()) {
    throw UsageError(
        path.string() +
        ": is the checkpoint of a run with other settings or another input, or is damaged; repeat that run's "
        "command, or leave out --resume to start from the first frame");
  }
  return entries;
}

}  // namespace

std::string run_fingerprint(const Config& config, const std::filesystem::path& data) {
  std::string text =
      "motes " + std::string(version()) + "\n" + to_yaml(without_policy(config), {"input", "detection"});
  const std::filesystem::path input(config.input.path);
  if (!std::filesystem::is_directory(input))
    return text + file_state(input) + (data.empty() || data == input ? "" : file_state(data));
  std::vector<std::string> states;
  for (const auto& entry : std::filesystem::directory_iterator(input)) {
    if (entry.is_regular_file()) states.push_back(file_state(entry.path()));
  }
  std::sort(states.begin(), states.end());
  for (const std::string& state : states) text += state;
  return text;
}

RunCheckpoint::RunCheckpoint(const std::filesystem::path& dir, const std::string& fingerprint, bool resume)
    : finished_(resume ? frames_to_resume(checkpoint_path(dir), fingerprint)
                       : std::vector<io::CheckpointRecord>()),
      writer_(checkpoint_path(dir), fingerprint,
              resume ? io::CheckpointWriter::Start::resume : io::CheckpointWriter::Start::fresh) {}

void RunCheckpoint::append(const Detections& detections, double threshold) {
  writer_.append(detections, threshold);
}

void RunCheckpoint::remove(const std::filesystem::path& dir) {
  std::error_code ignored;
  std::filesystem::remove(checkpoint_path(dir), ignored);
}

}  // namespace motes::app
