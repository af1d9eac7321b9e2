#pragma once
/// Track sets, damaged files and quiet runs for the tests of track formats.

#include <bit>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <unistd.h>

#include <motes/base/errors.h>
#include <motes/tracking/track_set.h>

#include "tests/support/files.h"
#include "tests/support/skip.h"

namespace motes::testing {

/// Adds a track with the given frames; its coordinates need all digits of a double.
inline void add_track(TrackSet& tracks, std::int64_t id, const std::vector<std::int32_t>& frames) {
  for (const std::int32_t frame : frames) {
    const double seed = static_cast<double>(id) * 1.1 + frame / 3.0;
    tracks.frame.push_back(frame);
    tracks.detection.push_back(static_cast<std::int64_t>(tracks.points()) % 7);
    tracks.time_s.push_back(tracks.dt_s ? frame * *tracks.dt_s : frame);
    tracks.x_um.push_back(seed + 0.1);
    tracks.y_um.push_back(std::sqrt(seed + 2) * 1e-3);
    tracks.z_um.push_back(-seed * 1e5 / 7);
  }
  tracks.track_id.push_back(id);
  tracks.track_offsets.push_back(static_cast<std::int64_t>(tracks.points()));
}

/// Gaps, a single point, numbers out of order, a division, a merge, properties with NaN and infinity.
inline TrackSet sample_tracks(std::optional<double> dt_s = 0.1) {
  TrackSet tracks;
  tracks.dt_s = dt_s;
  add_track(tracks, 7, {0, 1, 2, 5, 6});
  add_track(tracks, 3, {4});
  add_track(tracks, 9'000'000'000'000'000'001, {3, 4, 5});
  add_track(tracks, 0, {0, 2});
  tracks.parent = {-1, 7, 7, -1};
  tracks.merged_into = {-1, -1, -1, 9'000'000'000'000'000'001};
  PropertyColumn quality{"quality", {}}, odd{"odd, \"name\" #1", {}};
  for (std::size_t i = 0; i < tracks.points(); ++i) {
    quality.values.push_back(static_cast<double>(i) / 3);
    odd.values.push_back(i % 3 == 0 ? std::nan("") : 1e-300 * static_cast<double>(i));
  }
  odd.values[1] = std::numeric_limits<double>::infinity();
  tracks.point_properties = {quality, odd};
  tracks.track_properties = {{"mean/weight", {1.5, std::nan(""), 3, 4}}};
  return tracks;
}

inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return (std::isnan(x) && std::isnan(y)) ||
           std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}

inline void require_same_columns(const std::vector<PropertyColumn>& a, const std::vector<PropertyColumn>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].name == b[i].name);
    CHECK(same_bits(a[i].values, b[i].values));
  }
}

/// Compares only paths, which every format keeps.
inline void require_same_paths(const TrackSet& a, const TrackSet& b) {
  REQUIRE(a.track_offsets == b.track_offsets);
  REQUIRE(a.frame == b.frame);
  CHECK(same_bits(a.x_um, b.x_um));
  CHECK(same_bits(a.y_um, b.y_um));
  CHECK(same_bits(a.z_um, b.z_um));
}

/// Compares paths, numbers, mothers, merges, times, unit and the points' properties.
inline void require_same_tracks(const TrackSet& a, const TrackSet& b) {
  require_same_paths(a, b);
  CHECK(a.track_id == b.track_id);
  CHECK(a.parent == b.parent);
  CHECK(a.merged_into == b.merged_into);
  CHECK(same_bits(a.time_s, b.time_s));
  CHECK(a.dt_s == b.dt_s);
  CHECK(a.length_unit == b.length_unit);
  require_same_columns(a.point_properties, b.point_properties);
}

/// Captures standard error during its lifetime.
class StderrCapture {
 public:
  StderrCapture() : file_(std::tmpfile()), saved_(dup(2)) { dup2(fileno(file_), 2); }
  ~StderrCapture() { stop(); }
  StderrCapture(const StderrCapture&) = delete;
  StderrCapture& operator=(const StderrCapture&) = delete;
  std::string stop() {
    if (saved_ < 0) return {};
    std::fflush(stderr);
    dup2(saved_, 2);
    close(saved_);
    saved_ = -1;
    std::rewind(file_);
    std::string text;
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) text += static_cast<char>(c);
    std::fclose(file_);
    return text;
  }

 private:
  std::FILE* file_;
  int saved_;
};

/// The bytes truncated, or with a few of them changed.
inline std::string damaged(std::string bytes, std::mt19937& random) {
  if (bytes.empty()) return bytes;
  if (random() % 4 == 0) {
    bytes.resize(random() % bytes.size());
    return bytes;
  }
  for (auto flips = 1 + random() % 3; flips > 0; --flips) {
    char& byte = bytes[random() % bytes.size()];
    byte = random() % 2 == 0 ? static_cast<char>(byte ^ (1 << (random() % 8))) : static_cast<char>(random());
  }
  return bytes;
}

/// Reads `rounds` damaged copies of `bytes`. Each must be read, or rejected with a one-line Error, and
/// nothing may reach standard error. At least `least_refused` (-1: a tenth) must be rejected, since a
/// reader that accepts everything would be wrong.
template <class Read>
void read_damaged_copies(const std::filesystem::path& path, const std::string& bytes, int rounds,
                         const Read& read, int least_refused = -1) {
  constexpr unsigned kSeed = 20240607;
  INFO("seed " << kSeed);
  std::mt19937 random(kSeed);
  StderrCapture capture;
  std::string complaint;
  int refused = 0;
  for (int round = 0; round < rounds && complaint.empty(); ++round) {
    spill(path, damaged(bytes, random));
    try {
      read(path);
    } catch (const Error& error) {
      ++refused;
      if (std::string(error.what()).find('\n') != std::string::npos) complaint = error.what();
      if (error.code() != ExitCode::input) complaint = std::string("not an input error: ") + error.what();
    } catch (const std::exception& error) {
      complaint = std::string("foreign error in round ") + std::to_string(round) + ": " + error.what();
    }
  }
  const std::string noise = capture.stop();
  CHECK(complaint == "");
  CHECK(noise == "");
  INFO(refused << " of " << rounds << " damaged copies were refused");
  CHECK(refused >= (least_refused == -1 ? rounds / 10 : least_refused));
}

/// The message of the Error that `action` throws; empty if it throws none.
template <class Expected, class Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Expected& error) {
    return error.what();
  }
  return {};
}

}  // namespace motes::testing
