/// Reads TrackMate's XML.

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include <motes/base/errors.h>
#include <motes/io/trackmate_xml.h>

#include "io/files/text.h"
#include "io/images/frame_interval.h"
#include "io/images/units.h"
#include "io/tracks/lineages/track_graph.h"
#include "io/tracks/point_frames.h"
#include "io/tracks/xml/feature_key.h"
#include "io/tracks/xml/xml_file.h"

namespace motes::io {
namespace {

using detail::XmlFile;

/// Intervals with a smaller relative difference count as equal.
constexpr double kSameTime = 0.01;

/// Features that do not become properties, since tracks already have them or they are constant.
bool is_core_feature(std::string_view name) {
  for (const std::string_view core : {"ID", "name", "FRAME", "POSITION_X", "POSITION_Y", "POSITION_Z",
                                      "POSITION_T", "VISIBILITY", "PARTICLE"})
    if (name == core) return true;
  return false;
}

[[noreturn]] void fail(const XmlFile& file, const pugi::xml_node& node, const char* name,
                       const std::string& what) {
  const std::string place = file.at(node) + ": this <" + node.name() + ">";
  if (!node.attribute(name)) throw InputError(place + " has no attribute " + name + "; " + what);
  throw InputError(place + " has " + name + "=\"" + node.attribute(name).value() + "\"; " + what);
}

std::int64_t whole_number(const XmlFile& file, const pugi::xml_node& node, const char* name) {
  const auto value = detail::parse_trimmed_integer(node.attribute(name).value());
  if (!value) fail(file, node, name, "a whole number is needed");
  return *value;
}

double coordinate(const XmlFile& file, const pugi::xml_node& node, const char* name) {
  const auto value = detail::parse_trimmed_number(node.attribute(name).value());
  if (!value || !std::isfinite(*value)) fail(file, node, name, "a finite number is needed");
  return *value;
}

/// The contents of the file, before they become tracks.
struct Content {
  detail::TrackGraph graph;
  std::unordered_map<std::int64_t, std::size_t> row_of;  ///< spot ID -> row
  std::vector<std::string> place;                        ///< [rows] place in the file, for messages
  std::string length_unit = "px";
  std::optional<double> dt_s;
  std::vector<std::string> notes;
};

/// Collects the features of spots as columns.
class Spots {
 public:
  Spots(const XmlFile& file, Content& content) : file_(file), content_(content) {}

  void add(const pugi::xml_node& spot, const pugi::xml_node& frame) {
    // TrackMate shows spots with a value above 0; older versions write 0.0.
    if (detail::parse_trimmed_number(spot.attribute("VISIBILITY").value()).value_or(1) <= 0) {
      ++hidden_;
      return;
    }
    detail::TrackRows& rows = content_.graph.nodes;
    const std::size_t row = rows.size();
    if (!content_.row_of.emplace(whole_number(file_, spot, "ID"), row).second)
      fail(file_, spot, "ID", "two spots have this number; export the file again");
    rows.frame.push_back(frame_number(spot, frame));
    rows.x_um.push_back(coordinate(file_, spot, "POSITION_X"));
    rows.y_um.push_back(coordinate(file_, spot, "POSITION_Y"));
    rows.z_um.push_back(spot.attribute("POSITION_Z") ? coordinate(file_, spot, "POSITION_Z") : 0.0);
    rows.time_s.push_back(
        detail::parse_trimmed_number(spot.attribute("POSITION_T").value()).value_or(kUnknown));
    content_.graph.particle.push_back(
        detail::parse_trimmed_integer(spot.attribute("PARTICLE").value()).value_or(-1));
    content_.place.push_back(file_.at(spot));
    for (const pugi::xml_attribute& feature : spot.attributes()) add_feature(feature, row);
    for (PropertyColumn& column : rows.properties) column.values.resize(row + 1, kUnknown);
  }

  void finish() {
    // Removes a QUALITY that TrackMate gives to spots without a detector.
    auto& columns = content_.graph.nodes.properties;
    std::erase_if(columns, [](const PropertyColumn& column) {
      return column.name == "QUALITY" &&
             std::all_of(column.values.begin(), column.values.end(), [](double q) { return q == -1; });
    });
    if (hidden_ > 0) content_.notes.push_back(std::to_string(hidden_) + " hidden spots are left out");
    auto& particle = content_.graph.particle;
    if (std::all_of(particle.begin(), particle.end(), [](std::int64_t id) { return id < 0; }))
      particle.clear();
  }

 private:
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  static constexpr std::size_t kMostFeatures = 4096;

  std::int32_t frame_number(const pugi::xml_node& spot, const pugi::xml_node& frame) const {
    const bool own = static_cast<bool>(spot.attribute("FRAME"));
    const std::int64_t value = own ? whole_number(file_, spot, "FRAME") : whole_number(file_, frame, "frame");
    if (value < 0 || value > std::numeric_limits<std::int32_t>::max())
      fail(file_, own ? spot : frame, own ? "FRAME" : "frame", "frames are numbered from 0 to 2147483647");
    return static_cast<std::int32_t>(value);
  }

  void add_feature(const pugi::xml_attribute& feature, std::size_t row) {
    if (is_core_feature(feature.name())) return;
    const auto value = detail::parse_trimmed_number(feature.value());
    if (!value) return;
    auto& columns = content_.graph.nodes.properties;
    const auto [found, added] = column_of_.try_emplace(feature.name(), columns.size());
    if (added) {
      if (columns.size() >= kMostFeatures)
        throw InputError(content_.place[row] + ": more than 4096 spot features; the file is damaged");
      columns.push_back({feature.name(), std::vector<double>(row, kUnknown)});
    }
    columns[found->second].values.resize(row, kUnknown);
    columns[found->second].values.push_back(*value);
  }

  const XmlFile& file_;
  Content& content_;
  std::unordered_map<std::string, std::size_t> column_of_;
  std::size_t hidden_ = 0;
};

/// The tracks to show; none: all.
std::optional<std::set<std::int64_t>> filtered_tracks(const XmlFile& file, const pugi::xml_node& model) {
  const pugi::xml_node filtered = model.child("FilteredTracks");
  if (!filtered) return std::nullopt;
  std::set<std::int64_t> ids;
  for (const pugi::xml_node& id : filtered.children("TrackID"))
    ids.insert(whole_number(file, id, "TRACK_ID"));
  return ids;
}

std::size_t spot_row(const XmlFile& file, const Content& content, const pugi::xml_node& edge,
                     const char* name) {
  const auto found = content.row_of.find(whole_number(file, edge, name));
  if (found == content.row_of.end())
    fail(file, edge, name, "no visible spot has this number; export the file again");
  return found->second;
}

void add_edges(const XmlFile& file, const pugi::xml_node& model, Content& content) {
  const auto shown = filtered_tracks(file, model);
  std::int64_t index = 0, left_out = 0;
  for (const pugi::xml_node& track : model.child("AllTracks").children("Track")) {
    const std::int64_t id = track.attribute("TRACK_ID") ? whole_number(file, track, "TRACK_ID") : index;
    ++index;
    if (shown && shown->count(id) == 0) {
      ++left_out;
      continue;
    }
    for (const pugi::xml_node& edge : track.children("Edge")) {
      const bool old = !edge.attribute("SPOT_SOURCE_ID") && edge.attribute("sourceID");
      content.graph.edges.emplace_back(spot_row(file, content, edge, old ? "sourceID" : "SPOT_SOURCE_ID"),
                                       spot_row(file, content, edge, old ? "targetID" : "SPOT_TARGET_ID"));
      content.graph.lineage.push_back(id);
    }
  }
  if (left_out > 0)
    content.notes.push_back(std::to_string(left_out) + " tracks that TrackMate's filters hide are left out");
}

void scale(std::vector<double>& values, double factor) {
  if (factor == 1) return;
  for (double& value : values) value *= factor;
}

void settle_lengths(Content& content, const std::string& unit) {
  detail::TrackRows& rows = content.graph.nodes;
  const auto factor = detail::length_unit_um(unit);
  content.length_unit = factor ? "um" : "px";
  if (!factor)
    content.notes.push_back("lengths are in '" + unit + "', which is not a length: the unit is called px");
  if (factor && *factor != 1) content.notes.push_back("lengths are in " + unit + ", and converted to um");
  for (auto* values : {&rows.x_um, &rows.y_um, &rows.z_um}) scale(*values, factor.value_or(1));
  std::set<std::string> taken;
  for (PropertyColumn& column : rows.properties) {
    if (column.name == "RADIUS") {
      column.name = factor ? "radius_um" : "radius_px";
      scale(column.values, factor.value_or(1));
    } else if (column.name == "QUALITY") {
      column.name = "quality";
    }
    column.name = detail::unique_name(column.name, taken);
  }
}

/// Restores property names that were changed for XML.
void settle_names(Content& content, const pugi::xml_node& model) {
  std::unordered_map<std::string, std::string> name_of;
  for (const pugi::xml_node& feature :
       model.child("FeatureDeclarations").child("SpotFeatures").children("Feature")) {
    const std::string key = feature.attribute("feature").value(), name = feature.attribute("name").value();
    if (!name.empty() && key != name && key == detail::feature_key(name)) name_of[key] = name;
  }
  std::set<std::string> taken;
  for (PropertyColumn& column : content.graph.nodes.properties) {
    const auto found = name_of.find(column.name);
    column.name = detail::unique_name(found == name_of.end() ? column.name : found->second, taken);
  }
}

/// Sets times and interval from the spots' times if these are regular, else from the image's interval.
void settle_times(Content& content, const std::string& unit, const pugi::xml_node& image) {
  detail::TrackRows& rows = content.graph.nodes;
  const auto unit_s = detail::time_unit_s(unit);
  const bool known =
      std::all_of(rows.time_s.begin(), rows.time_s.end(), [](double t) { return std::isfinite(t); });
  if (!unit_s || !known) {
    rows.time_s.clear();
    if (!unit_s) {
      content.notes.push_back("times are in '" + unit + "', which is not a unit of time: set input.dt_s");
      return;
    }
  }
  scale(rows.time_s, *unit_s);
  content.dt_s = detail::infer_interval(rows.frame, rows.time_s);
  if (!content.dt_s) content.dt_s = detail::mean_interval(rows.frame, rows.time_s);
  const auto interval = detail::parse_positive(image.attribute("timeinterval").value());
  if (content.dt_s && interval && std::abs(*interval * *unit_s - *content.dt_s) > kSameTime * *content.dt_s) {
    std::string text = "the image's settings state ";
    detail::append_number(text, *interval * *unit_s);
    text += " s per frame, the spots' times ";
    detail::append_number(text, *content.dt_s);
    content.notes.push_back(text + " s: the latter are used; input.dt_s overrides them");
  }
  if (content.dt_s) return;
  rows.time_s.clear();
  if (!interval) return;
  content.dt_s = *interval * *unit_s;
  for (const std::int32_t frame : rows.frame) rows.time_s.push_back(frame * *content.dt_s);
}

Content read_content(const std::filesystem::path& path) {
  const XmlFile file(path);
  const pugi::xml_node root = file.document().child("TrackMate");
  if (!root)
    throw InputError(path.string() + ": there is no element TrackMate; give a file saved by TrackMate");
  const pugi::xml_node model =
      root.child("Model") ? root.child("Model") : root;  // before version 2: no Model
  const pugi::xml_node image =
      root.child("Settings") ? root.child("Settings").child("ImageData") : root.child("ImageData");
  const pugi::xml_node units = model.attribute("spatialunits") ? model : image;
  if (!model.child("AllSpots"))
    throw InputError(path.string() +
                     ": there is no element AllSpots; give a file that TrackMate saved with its spots");
  Content content;
  Spots spots(file, content);
  for (const pugi::xml_node& frame : model.child("AllSpots").children("SpotsInFrame")) {
    for (const pugi::xml_node& spot : frame.children("Spot")) spots.add(spot, frame);
  }
  spots.finish();
  add_edges(file, model, content);
  settle_names(content, model);
  settle_lengths(content, units.attribute("spatialunits").as_string("pixel"));
  settle_times(content, units.attribute("timeunits").as_string("frame"), image);
  return content;
}

}  // namespace

bool is_trackmate_xml(const std::filesystem::path& path) {
  const std::string start = detail::xml_start(path);
  const std::size_t root = start.find("<TrackMate");
  if (root == std::string::npos) return false;
  const char next = root + 10 < start.size() ? start[root + 10] : ' ';
  return next == '>' || next == ' ' || next == '\n' || next == '\t' || next == '\r' || next == '/';
}

TrackSet read_trackmate_xml(const std::filesystem::path& path, std::vector<std::string>* notes) {
  Content content = read_content(path);
  TrackSet tracks = detail::tracks_of_graph(
      std::move(content.graph), [&](std::size_t row) { return content.place[row]; }, content.notes);
  tracks.length_unit = content.length_unit;
  tracks.dt_s = content.dt_s;
  if (notes != nullptr) *notes = std::move(content.notes);
  return tracks;
}

PointTable read_trackmate_points(const std::filesystem::path& path) {
  Content content = read_content(path);
  detail::TrackRows& rows = content.graph.nodes;
  if (rows.size() == 0)
    throw InputError(path.string() + ": has no visible spots, so there is nothing to track");
  PointTable table;
  table.length_unit = content.length_unit;
  table.dt_s = content.dt_s;
  table.notes = std::move(content.notes);
  if (!content.graph.edges.empty())
    table.notes.push_back("TrackMate's tracks are ignored: motes links the points itself");
  const std::vector<double> radius =
      detail::take_property(rows, content.length_unit == "px" ? "radius_px" : "radius_um");
  const std::vector<double> quality = detail::take_property(rows, "quality");
  table.frames = detail::frames_of_rows(rows, content.dt_s, radius, quality, path.string());
  return table;
}

}  // namespace motes::io
