#pragma once
/// The log from which an interrupted run resumes: the detections of each finished frame, appended as they
/// come.
///
/// Layout, all little-endian: "MOTESLOG", u32 version, u32 length and bytes of the fingerprint, u64 FNV-1a of
/// what precedes; then records: u64 payload length, u64 FNV-1a of that length and the payload, payload.
/// Payload: i32 frame, f64 time_s, u64 n, then x_um, y_um, z_um, radius_um, intensity, quality as f64[n], u32
/// number of properties, each u32 name length, name, f64[n].

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <motes/tracking/detections.h>

namespace motes::io {

/// The records of a log, in the order in which they were appended; a truncated or damaged tail is left out.
/// Nothing when the file is absent, is no log, or was begun under another fingerprint. O(file size).
std::vector<Detections> read_checkpoint(const std::filesystem::path& path, const std::string& fingerprint);

/// Appends to a log. One writer a file at a time. The log is the one output that grows in place: each record
/// is handed to the system whole and carries its checksum, so that what was cut off by a crash is recognised.
class CheckpointWriter {
 public:
  enum class Start { fresh, resume };

  /// `fresh` begins an empty log; `resume` keeps the valid records of a log with this fingerprint (and cuts
  /// off its damaged tail), else begins an empty one. `fingerprint` says what the records depend on, for
  /// instance a hash of the configuration and of the input. Throws ResourceError (path and reason) where the
  /// disk refuses.
  CheckpointWriter(const std::filesystem::path& path, const std::string& fingerprint,
                   Start start = Start::resume);
  ~CheckpointWriter();
  CheckpointWriter(CheckpointWriter&& other) noexcept;
  CheckpointWriter& operator=(CheckpointWriter&& other) noexcept;

  /// The record survives this process once append returned. Throws ResourceError (full disk); the log then
  /// ends at the last whole record.
  void append(const Detections& detections);

 private:
  void write(const std::string& bytes);

  std::filesystem::path path_;
  int fd_ = -1;
  std::int64_t end_ = 0;  ///< bytes up to the last whole record
};

}  // namespace motes::io
