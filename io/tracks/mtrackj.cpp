/// Reads MTrackJ's files: a line for each assembly, cluster, track and point.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include <motes/base/errors.h>
#include <motes/io/mtrackj.h>

#include "io/files/gzip.h"
#include "io/files/text.h"
#include "io/tracks/track_rows.h"

namespace motes::io {
namespace {

constexpr std::string_view kStart = "MTrackJ ";
constexpr std::string_view kEnd = "End of MTrackJ Data File";

class MtrackjReader {
 public:
  explicit MtrackjReader(const std::filesystem::path& path)
      : path_(path.string()), text_(detail::read_inflated(path)) {}

  TrackSet run(std::vector<std::string>* notes) {
    if (!text_.starts_with(kStart)) fail("this is not an MTrackJ file, which begins with 'MTrackJ'");
    bool ended = false;
    for (std::size_t at = 0; at < text_.size() && !ended; ++line_) {
      const std::size_t end = std::min(text_.find_first_of("\r\n", at), text_.size());
      const std::string_view line = detail::trimmed(std::string_view(text_).substr(at, end - at));
      at = end + (std::string_view(text_).substr(end).starts_with("\r\n") ? 2 : 1);
      ended = line.starts_with(kEnd);
      if (line_ > 1 && !ended && !line.empty()) add(line);
    }
    if (!ended)
      fail("the file ends without the line '" + std::string(kEnd) + "': it is cut off; save it again");
    return tracks(notes);
  }

 private:
  struct Track {
    std::int64_t assembly, cluster, number;
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(path_ + ":" + std::to_string(line_) + ": " + what);
  }

  /// Lines before the first assembly have settings of the display.
  void add(std::string_view line) {
    const std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view word = line.substr(0, blank), rest = line.substr(blank);
    if (word == "Assembly") {
      assembly_ = number_of(word, rest);
    } else if (word == "Cluster" && assembly_ >= 0) {
      cluster_ = number_of(word, rest);
    } else if (word == "Track" && assembly_ >= 0) {
      tracks_.push_back({assembly_, cluster_, number_of(word, rest)});
    } else if (word == "Point" && !tracks_.empty()) {
      add_point(rest);
    } else if (word == "Point" || assembly_ >= 0) {
      fail("'" + std::string(line.substr(0, 40)) +
           "' is out of place: lines are Assembly, Cluster, Track, Point");
    }
  }

  std::int64_t number_of(std::string_view word, std::string_view rest) const {
    rest = detail::trimmed(rest);
    const auto number = detail::parse_integer(rest.substr(0, rest.find_first_of(" \t")));
    if (!number || *number < 0) fail(std::string(word) + " needs a whole number from 0");
    return *number;
  }

  void add_point(std::string_view rest) {
    std::array<double, 6> values{};  // id, x, y, z, t, c
    std::size_t count = 0;
    for (rest = detail::trimmed(rest); !rest.empty(); rest = detail::trimmed(rest)) {
      const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
      const auto value = detail::parse_double(rest.substr(0, end));
      if (count == values.size() || !value || !std::isfinite(*value)) count = values.size() + 1;
      if (count > values.size()) break;
      values[count++] = *value;
      rest.remove_prefix(end);
    }
    if (count != values.size()) fail("a point needs six finite numbers: its number, x, y, z, t and channel");
    const double t = values[4];
    if (t < 1 || t > std::numeric_limits<std::int32_t>::max() || t != std::floor(t))
      fail("t is not the number of a frame, which are whole and begin at 1");
    rows_.track_id.push_back(std::ssize(tracks_) - 1);
    rows_.frame.push_back(static_cast<std::int32_t>(t) - 1);
    rows_.x_um.push_back(values[1]);
    rows_.y_um.push_back(values[2]);
    rows_.z_um.push_back(values[3] - 1);
    channels_.push_back(values[5]);
    lines_.push_back(line_);
  }

  /// A property of the tracks, if it differs.
  template <class Part>
  void add_property(TrackSet& tracks, const char* name, Part part) const {
    std::vector<double> values;
    for (const std::int64_t index : tracks.track_id)
      values.push_back(static_cast<double>(tracks_[static_cast<std::size_t>(index)].*part));
    if (std::set<double>(values.begin(), values.end()).size() > 1)
      tracks.track_properties.push_back({name, std::move(values)});
  }

  TrackSet tracks(std::vector<std::string>* notes) {
    if (std::any_of(channels_.begin(), channels_.end(), [](double c) { return c != 1; }))
      rows_.properties.push_back({"channel", std::move(channels_)});
    TrackSet tracks = detail::group_tracks(
        std::move(rows_), [this](std::size_t row) { return path_ + ":" + std::to_string(lines_[row]); });
    tracks.length_unit = "px";
    add_property(tracks, "cluster", &Track::cluster);
    add_property(tracks, "assembly", &Track::assembly);
    std::set<std::int64_t> numbers;
    for (std::int64_t& index : tracks.track_id) {
      index = tracks_[static_cast<std::size_t>(index)].number;
      numbers.insert(index);
    }
    if (numbers.size() < tracks.tracks()) {
      for (std::size_t t = 0; t < tracks.tracks(); ++t) tracks.track_id[t] = static_cast<std::int64_t>(t) + 1;
      if (notes != nullptr)
        notes->push_back("several tracks share a number: all tracks get new numbers, from 1");
    }
    return tracks;
  }

  std::string path_, text_;
  std::int64_t line_ = 1, assembly_ = -1, cluster_ = 0;
  std::vector<Track> tracks_;
  detail::TrackRows rows_;           ///< track_id: index in tracks_
  std::vector<double> channels_;     ///< [rows]
  std::vector<std::int64_t> lines_;  ///< [rows]
};

}  // namespace

bool is_mtrackj(const std::filesystem::path& path) {
  std::error_code ignored;
  constexpr std::size_t kBytes = 512;
  return std::filesystem::is_regular_file(path, ignored) &&
         detail::inflated_start(path, kBytes).starts_with(kStart);
}

TrackSet read_mtrackj(const std::filesystem::path& path, std::vector<std::string>* notes) {
  return MtrackjReader(path).run(notes);
}

}  // namespace motes::io
