/// Reads and writes the challenge's XML.

#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

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

}  // namespace

TrackSet read_challenge_xml(const std::filesystem::path& path) {
  const detail::XmlFile file(path);
  const pugi::xml_node contest = file.document().child("root").child(kContest);
  if (!contest) {
    throw InputError(path.string() + ": there is no element root/" + kContest +
                     "; give a Particle Tracking Challenge file");
  }
  detail::TrackRows rows;
  std::vector<std::ptrdiff_t> offsets;
  std::int64_t id = 0;
  for (const pugi::xml_node& particle : contest.children("particle")) {
    for (const pugi::xml_node& node : particle.children("detection")) {
      const DetectionReader detection(path, node);
      rows.track_id.push_back(id);
      rows.frame.push_back(detection.frame());
      rows.x_um.push_back(detection.coordinate("x"));
      rows.y_um.push_back(detection.coordinate("y"));
      rows.z_um.push_back(detection.z());
      offsets.push_back(offset_of(node));
    }
    ++id;
  }
  TrackSet tracks =
      detail::group_tracks(std::move(rows), [&](std::size_t row) { return at_byte(path, offsets[row]); });
  tracks.length_unit = "px";
  return tracks;
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
  return detail::xml_start(path).find("<TrackContestISBI2012") != std::string::npos;
}

}  // namespace motes::io
