/// Reads and writes the challenge's XML, and reads Icy's tracks, which have the same detections.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include <pugixml.hpp>

#include <motes/base/errors.h>
#include <motes/io/atomic_file.h>
#include <motes/io/challenge_xml.h>

#include "io/files/text.h"
#include "io/tracks/track_rows.h"
#include "io/tracks/xml/xml_file.h"

namespace motes::io {
namespace {

using detail::at_byte;

constexpr const char* kContest = "TrackContestISBI2012";
constexpr const char* kIcyGroup = "trackgroup";

/// The offset of the element's '<'; pugixml returns that of its name.
std::ptrdiff_t offset_of(const pugi::xml_node& node) { return node.offset_debug() - 1; }

/// Reads the attributes of one <detection>. Every message has its byte offset.
class DetectionReader {
 public:
  DetectionReader(const std::filesystem::path& path, const pugi::xml_node& node) : path_(path), node_(node) {}

  std::int32_t frame() const {
    const auto value = detail::parse_integer(text("t"));
    if (!value) fail("t", "a whole number is needed");
    if (*value < 0) fail("t", "frames are numbered from 0");
    if (*value > std::numeric_limits<std::int32_t>::max()) fail("t", "the largest frame is 2147483647");
    return static_cast<std::int32_t>(*value);
  }

  double coordinate(const char* name) const {
    const auto value = detail::parse_double(text(name));
    if (!value || !std::isfinite(*value)) fail(name, "a finite number is needed");
    return *value;
  }

  double z() const { return node_.attribute("z") ? coordinate("z") : 0.0; }

 private:
  std::string_view text(const char* name) const { return detail::trimmed(node_.attribute(name).value()); }

  [[noreturn]] void fail(const char* name, const std::string& what) const {
    const std::string place = at_byte(path_, offset_of(node_)) + ": this <detection>";
    if (!node_.attribute(name)) throw InputError(place + " has no attribute " + name + "; " + what);
    throw InputError(place + " has " + name + "=\"" + node_.attribute(name).value() + "\"; " + what);
  }

  const std::filesystem::path& path_;
  const pugi::xml_node& node_;
};

/// Collects the detections of tracks, which are numbered from 0.
class TrackCollector {
 public:
  explicit TrackCollector(const std::filesystem::path& path) : path_(path) {}

  void add(const pugi::xml_node& track) {
    Span span{std::numeric_limits<std::int32_t>::max(), -1};
    for (const pugi::xml_node& node : track.children("detection")) {
      const DetectionReader detection(path_, node);
      rows_.track_id.push_back(std::ssize(spans_));
      rows_.frame.push_back(detection.frame());
      rows_.x_um.push_back(detection.coordinate("x"));
      rows_.y_um.push_back(detection.coordinate("y"));
      rows_.z_um.push_back(detection.z());
      offsets_.push_back(offset_of(node));
      span = {std::min(span.first, rows_.frame.back()), std::max(span.last, rows_.frame.back())};
    }
    const std::string id = track.attribute("id").value();
    if (span.last >= 0 && !id.empty() && !numbers_.emplace(id, spans_.size()).second)
      throw InputError(at_byte(path_, offset_of(track)) + ": a second track has the id " + id);
    spans_.push_back(span);
  }

  /// Icy's links between tracks: the mother of one that a single track leads to; else a merge.
  void link(const pugi::xml_node& list) {
    std::map<std::size_t, std::vector<std::size_t>> before;
    for (const pugi::xml_node& node : list.children("link")) {
      const auto number = [&](const char* name) {
        const auto found = numbers_.find(node.attribute(name).value());
        if (found != numbers_.end()) return found->second;
        throw InputError(at_byte(path_, offset_of(node)) + ": this <link> has no track of the file in " +
                         name);
      };
      const std::size_t from = number("from"), to = number("to");
      if (spans_[from].last >= spans_[to].first)
        throw InputError(at_byte(path_, offset_of(node)) +
                         ": this <link> leads to a track that begins before the other ends");
      before[to].push_back(from);
    }
    if (before.empty()) return;
    std::vector<std::int64_t> parent(spans_.size(), -1), merged_into(spans_.size(), -1);
    for (const auto& [track, those] : before) {
      if (those.size() == 1) parent[track] = static_cast<std::int64_t>(those[0]);
      if (those.size() > 1)
        for (const std::size_t one : those) merged_into[one] = static_cast<std::int64_t>(track);
    }
    for (const std::int64_t track : rows_.track_id) {
      rows_.parent.push_back(parent[static_cast<std::size_t>(track)]);
      rows_.merged_into.push_back(merged_into[static_cast<std::size_t>(track)]);
    }
  }

  TrackSet tracks() {
    TrackSet tracks = detail::group_tracks(std::move(rows_),
                                           [&](std::size_t row) { return at_byte(path_, offsets_[row]); });
    tracks.length_unit = "px";
    return tracks;
  }

 private:
  struct Span {
    std::int32_t first, last;  ///< frames
  };
  const std::filesystem::path& path_;
  detail::TrackRows rows_;
  std::vector<std::ptrdiff_t> offsets_;         ///< [rows]
  std::vector<Span> spans_;                     ///< [tracks]
  std::map<std::string, std::size_t> numbers_;  ///< of tracks with an id
};

}  // namespace

TrackSet read_challenge_xml(const std::filesystem::path& path) {
  const detail::XmlFile file(path);
  const pugi::xml_node root = file.document().child("root");
  const pugi::xml_node contest = root.child(kContest);
  if (!contest && !root.child(kIcyGroup)) {
    throw InputError(path.string() + ": there is no element root/" + kContest +
                     "; give a Particle Tracking Challenge file");
  }
  TrackCollector collector(path);
  for (const pugi::xml_node& particle : contest.children("particle")) collector.add(particle);
  for (const pugi::xml_node& group : root.children(kIcyGroup))
    for (const pugi::xml_node& track : group.children("track")) collector.add(track);
  collector.link(root.child("linklist"));
  return collector.tracks();
}

void write_challenge_xml(const std::filesystem::path& path, const TrackSet& tracks) {
  std::string out =
      "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n<root>\n<TrackContestISBI2012 SNR=\"?\" "
      "density=\"?\" generationDateTime=\"?\" info=\"written by motes\" scenario=\"?\">\n";
  const auto attribute = [&out](const char* name, auto value) {
    out += name;
    detail::append_number(out, value);
    out += '"';
  };
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    out += "<particle>\n";
    for (auto i = static_cast<std::size_t>(tracks.track_offsets[t]);
         i < static_cast<std::size_t>(tracks.track_offsets[t + 1]); ++i) {
      out += "<detection";
      attribute(" t=\"", static_cast<std::int64_t>(tracks.frame[i]));
      attribute(" x=\"", tracks.x_um[i]);
      attribute(" y=\"", tracks.y_um[i]);
      attribute(" z=\"", tracks.z_um[i]);
      out += "/>\n";
    }
    out += "</particle>\n";
  }
  out += "</TrackContestISBI2012>\n</root>\n";
  write_text(path, out);
}

bool is_challenge_xml(const std::filesystem::path& path) {
  const std::string start = detail::xml_start(path);
  return start.find("<TrackContestISBI2012") != std::string::npos ||
         start.find("<trackgroup") != std::string::npos;
}

}  // namespace motes::io
