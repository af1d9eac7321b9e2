#pragma once
/// The checkpoint from which an interrupted run resumes: a file to which the detections of each finished
/// frame are appended.
///
/// Layout, little-endian. Header: "MOTESLOG", u32 version, u32 length of the fingerprint, its bytes, u64
/// FNV-1a of all that. Then records: u64 payload length; u64 FNV-1a of the header's checksum, the length
/// and the payload (so that a record of another checkpoint is not valid in this one); payload. Payload: i32
/// frame, f64 time_s, f64 threshold, u64 n; x_um, y_um, z_um, radius_um, intensity, quality as f64[n] each;
/// u32 number of properties, and for each of them u32 length of its name, name, f64[n].

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
  double threshold = 0;  ///< lowest quality of the kept spots
};

/// A record's payload, and back. record_of throws InputError unless the bytes are exactly one record.
std::string bytes_of(const CheckpointRecord& record);
CheckpointRecord record_of(std::string_view bytes);

/// The records of a checkpoint in the order in which they were appended, without a truncated or damaged
/// tail. None if the file does not exist, is not a checkpoint, or has another fingerprint. O(file size).
std::vector<CheckpointRecord> read_checkpoint(const std::filesystem::path& path,
                                              const std::string& fingerprint);

/// Appends to a checkpoint; a file may have one writer at a time. Unlike other outputs the file grows in
/// place: each record is written in one piece and has a checksum, so that one cut off by a crash is
/// recognised.
class CheckpointWriter {
 public:
  enum class Start { fresh, resume };

  /// `fresh` starts an empty checkpoint. `resume` keeps the valid records of a checkpoint with this
  /// fingerprint and cuts off a damaged tail; otherwise it starts an empty one. `fingerprint` identifies
  /// what the records depend on, for instance a hash of the configuration and the input. Throws
  /// ResourceError (path and reason) for errors of the disk, and if the path is a link or anything other
  /// than a regular file.
  CheckpointWriter(const std::filesystem::path& path, const std::string& fingerprint,
                   Start start = Start::resume);

  /// Once append returns, the record survives the end of this process. Throws ResourceError (for instance
  /// if the disk is full); the checkpoint then ends with the last whole record.
  void append(const Detections& detections, double threshold = 0);

 private:
  void write(const std::string& bytes);

  std::filesystem::path path_;
  system::GrowingFile file_;
  std::uint64_t run_ = 0;  ///< checksum of the header
  std::int64_t end_ = 0;   ///< bytes up to the last whole record
};

}  // namespace motes::io
