/// Reads and appends records; checksums detect damage.

#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include <motes/base/checksum.h>
#include <motes/base/errors.h>
#include <motes/io/checkpoint.h>

#include "io/files/bytes.h"
#include "io/files/disk_error.h"
#include "io/files/text.h"

namespace motes::io {
namespace {

using detail::put;
using detail::put_number;
using detail::put_numbers;
using detail::put_text;
using detail::Source;

constexpr std::string_view kMagic = "MOTESLOG";
constexpr std::uint32_t kVersion = 2;

std::string header(const std::string& fingerprint) {
  std::string out(kMagic);
  put(out, kVersion);
  put_text(out, fingerprint);
  put(out, fnv1a64(out));
  return out;
}

std::string payload(const Detections& detections, double threshold) {
  std::string out;
  put(out, static_cast<std::uint32_t>(detections.frame));
  put_number(out, detections.time_s);
  put_number(out, threshold);
  put(out, static_cast<std::uint64_t>(detections.size()));
  for (const auto* values : {&detections.x_um, &detections.y_um, &detections.z_um, &detections.radius_um,
                             &detections.intensity, &detections.quality}) {
    put_numbers(out, *values);
  }
  put(out, static_cast<std::uint32_t>(detections.properties.size()));
  for (const PropertyColumn& column : detections.properties) {
    put_text(out, column.name);
    put_numbers(out, column.values);
  }
  return out;
}

/// A checksum of the version and the fingerprint, to which records are bound.
std::uint64_t run_of(const std::string& fingerprint) { return fnv1a64(header(fingerprint)); }

std::uint64_t record_checksum(std::uint64_t run, std::string_view body) {
  std::string head;
  put(head, run);
  put(head, static_cast<std::uint64_t>(body.size()));
  return fnv1a64(body, fnv1a64(head));
}

std::string record(std::uint64_t run, const Detections& detections, double threshold) {
  const std::string body = payload(detections, threshold);
  std::string out;
  put(out, static_cast<std::uint64_t>(body.size()));
  put(out, record_checksum(run, body));
  return out + body;
}

bool parse_payload(std::string_view body, CheckpointRecord& record) {
  Source source(body);
  Detections& detections = record.detections;
  detections.frame = static_cast<std::int32_t>(source.number<std::uint32_t>());
  detections.time_s = source.real();
  record.threshold = source.real();
  const auto count = source.number<std::uint64_t>();
  for (auto* values : {&detections.x_um, &detections.y_um, &detections.z_um, &detections.radius_um,
                       &detections.intensity, &detections.quality}) {
    *values = source.numbers(count);
  }
  const auto properties = source.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < properties && source.ok(); ++i) {
    std::string name = source.text();
    detections.properties.push_back({std::move(name), source.numbers(count)});
  }
  return source.ok() && source.left() == 0;
}

struct Log {
  std::vector<CheckpointRecord> records;
  std::size_t valid_bytes = 0;  ///< 0: no checkpoint, or one with another fingerprint
};

Log parse_log(std::string_view bytes, const std::string& fingerprint) {
  Log log;
  const std::string expected = header(fingerprint);
  if (!bytes.starts_with(expected)) return log;
  log.valid_bytes = expected.size();
  const std::uint64_t run = run_of(fingerprint);
  Source source(bytes.substr(expected.size()));
  for (;;) {
    const auto length = source.number<std::uint64_t>();
    const auto checksum = source.number<std::uint64_t>();
    const std::string_view body = source.take(length);
    CheckpointRecord read;
    if (!source.ok() || record_checksum(run, body) != checksum || !parse_payload(body, read)) return log;
    log.records.push_back(std::move(read));
    log.valid_bytes = bytes.size() - source.left();
  }
}

Log load(const std::filesystem::path& path, const std::string& fingerprint) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  return parse_log(detail::read_whole_file(path), fingerprint);
}

}  // namespace

std::string bytes_of(const CheckpointRecord& record) { return payload(record.detections, record.threshold); }

CheckpointRecord record_of(std::string_view bytes) {
  CheckpointRecord record;
  if (!parse_payload(bytes, record)) throw InputError("a frame's detections are damaged; start again");
  return record;
}

std::vector<CheckpointRecord> read_checkpoint(const std::filesystem::path& path,
                                              const std::string& fingerprint) {
  return load(path, fingerprint).records;
}

CheckpointWriter::CheckpointWriter(const std::filesystem::path& path, const std::string& fingerprint,
                                   Start start)
    : path_(path), run_(run_of(fingerprint)) {
  if (start == Start::resume) end_ = static_cast<std::int64_t>(load(path, fingerprint).valid_bytes);
  std::error_code failed;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), failed);
  if (failed) detail::fail_on_disk(path.parent_path(), "cannot create folder", failed.value());
  int error = 0;
  file_ = system::GrowingFile(path, error);
  if (error != 0) detail::fail_on_disk(path, "cannot open the checkpoint", error);
  if ((error = file_.resize(end_)) != 0) detail::fail_on_disk(path, "cannot write the checkpoint", error);
  if (end_ == 0) write(header(fingerprint));
}

void CheckpointWriter::append(const Detections& detections, double threshold) {
  write(record(run_, detections, threshold));
}

void CheckpointWriter::write(const std::string& bytes) {
  if (const int error = file_.write_at(end_, bytes)) {
    // Readers would ignore the partial record; removing it also frees disk space.
    file_.resize(end_);
    detail::fail_on_disk(path_, "cannot write the checkpoint", error);
  }
  end_ += static_cast<std::int64_t>(bytes.size());
}

}  // namespace motes::io
