#include <bit>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <motes/base/errors.h>
#include <motes/io/checkpoint.h>

#include "io/files/text.h"

namespace motes::io {
namespace {

constexpr std::string_view kMagic = "MOTESLOG";
constexpr std::uint32_t kVersion = 1;

template <class Unsigned>
void put(std::string& out, Unsigned value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

void put_numbers(std::string& out, const std::vector<double>& values) {
  for (const double value : values) put(out, std::bit_cast<std::uint64_t>(value));
}

void put_text(std::string& out, const std::string& text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

/// Takes values off the front of bytes; once something is missing, everything after it is too.
class Source {
 public:
  explicit Source(std::string_view bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  std::size_t left() const { return bytes_.size(); }

  std::string_view take(std::uint64_t count) {
    if (!ok_ || count > bytes_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = bytes_.substr(0, static_cast<std::size_t>(count));
    bytes_.remove_prefix(taken.size());
    return taken;
  }

  template <class Unsigned>
  Unsigned number() {
    Unsigned value = 0;
    const std::string_view raw = take(sizeof value);
    for (std::size_t i = 0; i < raw.size(); ++i) {
      value |= static_cast<Unsigned>(static_cast<Unsigned>(static_cast<unsigned char>(raw[i])) << (8 * i));
    }
    return value;
  }

  std::vector<double> numbers(std::uint64_t count) {
    if (count > left() / sizeof(double)) ok_ = false;
    std::vector<double> values;
    if (!ok_) return values;
    values.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < count; ++i)
      values.push_back(std::bit_cast<double>(number<std::uint64_t>()));
    return values;
  }

  std::string text() { return std::string(take(number<std::uint32_t>())); }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

std::string header(const std::string& fingerprint) {
  std::string out(kMagic);
  put(out, kVersion);
  put_text(out, fingerprint);
  put(out, detail::fnv1a64(out));
  return out;
}

std::string payload(const Detections& detections) {
  std::string out;
  put(out, static_cast<std::uint32_t>(detections.frame));
  put(out, std::bit_cast<std::uint64_t>(detections.time_s));
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

std::uint64_t record_checksum(std::string_view body) {
  std::string checked;
  put(checked, static_cast<std::uint64_t>(body.size()));
  checked += body;
  return detail::fnv1a64(checked);
}

std::string record(const Detections& detections) {
  const std::string body = payload(detections);
  std::string out;
  put(out, static_cast<std::uint64_t>(body.size()));
  put(out, record_checksum(body));
  return out + body;
}

bool parse_payload(std::string_view body, Detections& detections) {
  Source source(body);
  detections.frame = static_cast<std::int32_t>(source.number<std::uint32_t>());
  detections.time_s = std::bit_cast<double>(source.number<std::uint64_t>());
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
  std::vector<Detections> records;
  std::size_t valid_bytes = 0;  ///< 0: no log, or one of another fingerprint
};

Log parse_log(std::string_view bytes, const std::string& fingerprint) {
  Log log;
  const std::string expected = header(fingerprint);
  if (!bytes.starts_with(expected)) return log;
  log.valid_bytes = expected.size();
  Source source(bytes.substr(expected.size()));
  for (;;) {
    const auto length = source.number<std::uint64_t>();
    const auto checksum = source.number<std::uint64_t>();
    const std::string_view body = source.take(length);
    Detections detections;
    if (!source.ok() || record_checksum(body) != checksum || !parse_payload(body, detections)) return log;
    log.records.push_back(std::move(detections));
    log.valid_bytes = bytes.size() - source.left();
  }
}

Log load(const std::filesystem::path& path, const std::string& fingerprint) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  return parse_log(detail::read_whole_file(path), fingerprint);
}

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& doing, int error) {
  throw ResourceError(path.string() + ": " + doing + ": " + std::strerror(error) +
                      "; check permissions and free space, or choose another output");
}

}  // namespace

std::vector<Detections> read_checkpoint(const std::filesystem::path& path, const std::string& fingerprint) {
  return load(path, fingerprint).records;
}

CheckpointWriter::CheckpointWriter(const std::filesystem::path& path, const std::string& fingerprint,
                                   Start start)
    : path_(path) {
  if (start == Start::resume) end_ = static_cast<std::int64_t>(load(path, fingerprint).valid_bytes);
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) fail(path.parent_path(), "cannot create folder", error.value());
  fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0) fail(path, "cannot open the checkpoint log", errno);
  try {
    if (ftruncate(fd_, end_) != 0) fail(path, "cannot write the checkpoint log", errno);
    if (end_ == 0) write(header(fingerprint));
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

CheckpointWriter::~CheckpointWriter() {
  if (fd_ >= 0) ::close(fd_);
}

CheckpointWriter::CheckpointWriter(CheckpointWriter&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), end_(other.end_) {}

CheckpointWriter& CheckpointWriter::operator=(CheckpointWriter&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(end_, other.end_);
  return *this;
}

void CheckpointWriter::append(const Detections& detections) { write(record(detections)); }

void CheckpointWriter::write(const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto written =
        pwrite(fd_, bytes.data() + done, bytes.size() - done, end_ + static_cast<std::int64_t>(done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int error = written < 0 ? errno : ENOSPC;
      // What part of the record is there would be ignored on reading; gone it also frees the disk.
      [[maybe_unused]] const int cut = ftruncate(fd_, end_);
      fail(path_, "cannot write the checkpoint log", error);
    }
    done += static_cast<std::size_t>(written);
  }
  end_ += static_cast<std::int64_t>(bytes.size());
}

}  // namespace motes::io
