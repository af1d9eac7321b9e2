#pragma once
/// The log from which an interrupted run resumes: the detections of each finished frame, appended as they
/// come.
///
/// Layout, all little-endian: "MOTESLOG", u32 version, u32 length and bytes of the fingerprint, u64 FNV-1a of
/// what precedes; then records: u64 payload length, u64 FNV-1a of the header's, that length and the payload,
/// so that a record of another log is none of this one; payload. Payload: i32 frame, f64 time_s, f64
/// threshold, u64 n, then x_um, y_um, z_um, radius_um, intensity, quality as f64[n], u32 number of
/// properties, each u32 name length, name, f64[n].

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <motes/base/system/files.h>
#include <motes/tracking/detections.h>

namespace motes::io {

/// A finished frame.
struct CheckpointRecord {
  Detections detections;
  double threshold = 0;  ///< the quality from which on spots were kept
};

/// A record as bytes, as logs hold it, and back. Throws InputError where the bytes are not one whole record.
std::string bytes_of(const CheckpointRecord& record);
CheckpointRecord record_of(std::string_view bytes);

/// The records of a log, in the order in which they were appended; a truncated or damaged tail is left out.
/// Nothing when the file is absent, is no log, or was begun under another fingerprint. O(file size).
std::vector<CheckpointRecord> read_checkpoint(const std::filesystem::path& path,
                                              const std::string& fingerprint);

/// Appends to a log. One writer a file at a time. The log is the one output that grows in place: each record
/// is handed to the system whole and carries its checksum, so that what was cut off by a crash is recognised.
class CheckpointWriter {
 public:
  enum class Start { fresh, resume };

  /// `fresh` begins an empty log; `resume` keeps the valid records of a log with this fingerprint (and cuts
  /// off its damaged tail), else begins an empty one. `fingerprint` says what the records depend on, for
  /// instance a hash of the configuration and of the input. Throws ResourceError (path and reason) where the
  /// disk refuses, or a link or anything else than a regular file bears the name.
  CheckpointWriter(const std::filesystem::path& path, const std::string& fingerprint,
                   Start start = Start::resume);

  /// The record survives this process once append returned. Throws ResourceError (full disk); the log then
  /// ends at the last whole record.
  void append(const Detections& detections, double threshold = 0);

 private:
  void write(const std::string& bytes);

  std::filesystem::path path_;
  system::GrowingFile file_;
  std::uint64_t run_ = 0;  ///< checksum of the header
  std::int64_t end_ = 0;   ///< bytes up to the last whole record
};

}  // namespace motes::io
