/// Writes TrackMate's XML.

#include <algorithm>
#include <cmath>
#include <utility>

#include <motes/io/trackmate_xml.h>
#include <motes/version.h>

#include "io/files/text.h"
#include "io/tracks/frame_points.h"
#include "io/tracks/lineages/track_graph.h"
#include "io/tracks/tables/text_blocks.h"
#include "io/tracks/xml/feature_key.h"

namespace motes::io {
namespace {

/// The TrackMate version with this file structure.
constexpr const char* kTrackMateVersion = "7.11.1";

/// The radius that TrackMate draws for spots of unknown radius.
constexpr double kRadius = 1;

void attribute(std::string& out, std::string_view name, double value) {
  out.append(" ").append(name).append("=\"");
  if (std::isnan(value)) {
    out += "NaN";  // as Java reads and writes it
  } else if (std::isinf(value)) {
    out += value > 0 ? "Infinity" : "-Infinity";
  } else {
    detail::append_number(out, value);
  }
  out += '"';
}

void attribute(std::string& out, std::string_view name, std::int64_t value) {
  out.append(" ").append(name).append("=\"");
  detail::append_number(out, value);
  out += '"';
}

void attribute(std::string& out, std::string_view name, std::string_view text) {
  out.append(" ").append(name).append("=\"").append(detail::xml_escaped(text)).append("\"");
}

struct Feature {
  std::string key;
  const PropertyColumn* column;
};

/// The tracks' properties, with TrackMate's names if it has them.
class Features {
 public:
  explicit Features(const TrackSet& tracks) {
    const std::string radius_name = tracks.length_unit == "px" ? "radius_px" : "radius_um";
    std::set<std::string> taken{"ID",         "name",       "QUALITY",    "RADIUS", "VISIBILITY", "PARTICLE",
                                "POSITION_X", "POSITION_Y", "POSITION_Z", "FRAME",  "POSITION_T"};
    for (const PropertyColumn& column : tracks.point_properties) {
      if (column.name == radius_name) {
        radius = &column;
      } else if (column.name == "quality") {
        quality = &column;
      } else {
        others.push_back({detail::unique_name(detail::feature_key(column.name), taken), &column});
      }
    }
  }
  const PropertyColumn* radius = nullptr;
  const PropertyColumn* quality = nullptr;
  std::vector<Feature> others;
};

void declare(std::string& out, std::string_view key, std::string_view name, std::string_view dimension,
             bool whole) {
  out += "        <Feature";
  attribute(out, "feature", key);
  attribute(out, "name", name);
  attribute(out, "shortname", name);
  attribute(out, "dimension", dimension);
  attribute(out, "isint", std::string_view(whole ? "true" : "false"));
  out += " />\n";
}

void declare_features(std::string& out, const Features& features) {
  out += "    <FeatureDeclarations>\n      <SpotFeatures>\n";
  declare(out, "QUALITY", "Quality", "QUALITY", false);
  declare(out, "POSITION_X", "X", "POSITION", false);
  declare(out, "POSITION_Y", "Y", "POSITION", false);
  declare(out, "POSITION_Z", "Z", "POSITION", false);
  declare(out, "POSITION_T", "T", "TIME", false);
  declare(out, "FRAME", "Frame", "NONE", true);
  declare(out, "RADIUS", "Radius", "LENGTH", false);
  declare(out, "VISIBILITY", "Visibility", "NONE", true);
  declare(out, "PARTICLE", "Particle", "NONE", true);
  for (const Feature& feature : features.others)
    declare(out, feature.key, feature.column->name, "NONE", false);
  out += "      </SpotFeatures>\n      <EdgeFeatures>\n";
  declare(out, "SPOT_SOURCE_ID", "Source spot ID", "NONE", true);
  declare(out, "SPOT_TARGET_ID", "Target spot ID", "NONE", true);
  declare(out, "LINK_COST", "Edge cost", "COST", false);
  out += "      </EdgeFeatures>\n      <TrackFeatures>\n";
  declare(out, "TRACK_INDEX", "Track index", "NONE", true);
  declare(out, "TRACK_ID", "Track ID", "NONE", true);
  declare(out, "NUMBER_SPOTS", "Number of spots in track", "NONE", true);
  out += "      </TrackFeatures>\n    </FeatureDeclarations>\n";
}

/// Spots, edges and the rest of the file as rows, which write_rows streams: the spots by frame, the end of
/// their element, the edges by lineage (each lineage is a track of TrackMate), and the rest.
class Body {
 public:
  Body(const TrackSet& tracks, const Features& features, std::string tail)
      : tracks_(tracks),
        features_(features),
        frames_(detail::points_by_frame(tracks)),
        tail_(std::move(tail)) {
    sort_edges();
  }

  std::int64_t rows() const { return static_cast<std::int64_t>(tracks_.points() + edges_.size() + 2); }

  void format(std::int64_t begin, std::int64_t end, std::string& out) const {
    const std::size_t points = tracks_.points(), edges = edges_.size();
    for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
      if (row < points)
        add_spot(row, out);
      else if (row == points)
        out += "    </AllSpots>\n    <AllTracks>\n";
      else if (row <= points + edges)
        add_edge(row - points - 1, out);
      else
        add_rest(out);
    }
  }

 private:
  std::size_t track_of(std::size_t point) const {
    const auto& offsets = tracks_.track_offsets;
    return static_cast<std::size_t>(
        std::upper_bound(offsets.begin(), offsets.end(), static_cast<std::int64_t>(point)) - offsets.begin() -
        1);
  }

  /// Sorts edges by lineage, keeping their order within each.
  void sort_edges() {
    detail::TrackLinks links = detail::links_of(tracks_);
    std::vector<std::size_t> place(tracks_.tracks() + 1, 0);  // [tracks]: of the lineage's next edge
    const auto lineage_of = [&](const auto& edge) { return links.lineage[track_of(edge.second)]; };
    for (const auto& edge : links.edges) ++place[lineage_of(edge) + 1];
    for (std::size_t t = 0; t < tracks_.tracks(); ++t) {
      if (place[t + 1] > 0) starts_.push_back(place[t]);
      place[t + 1] += place[t];
    }
    starts_.push_back(links.edges.size());
    edges_.resize(links.edges.size());
    for (const auto& edge : links.edges) edges_[place[lineage_of(edge)]++] = edge;
  }

  /// Appends the spot at `row` in the order of frames.
  void add_spot(std::size_t row, std::string& out) const {
    const auto after = std::upper_bound(frames_.offsets.begin(), frames_.offsets.end(), row);
    if (*(after - 1) == row) {
      out += "      <SpotsInFrame";
      attribute(out, "frame", static_cast<std::int64_t>(tracks_.frame[frames_.order[row]]));
      out += ">\n";
    }
    const std::size_t i = frames_.order[row];
    const auto id = static_cast<std::int64_t>(i);
    out += "        <Spot";
    attribute(out, "ID", id);
    attribute(out, "name", "ID" + std::to_string(id));
    attribute(out, "QUALITY", features_.quality == nullptr ? -1.0 : features_.quality->values[i]);
    attribute(out, "POSITION_X", tracks_.x_um[i]);
    attribute(out, "POSITION_Y", tracks_.y_um[i]);
    attribute(out, "POSITION_Z", tracks_.z_um[i]);
    attribute(out, "POSITION_T", tracks_.time_s[i]);
    attribute(out, "FRAME", static_cast<std::int64_t>(tracks_.frame[i]));
    attribute(out, "RADIUS", features_.radius == nullptr ? kRadius : features_.radius->values[i]);
    attribute(out, "VISIBILITY", std::int64_t{1});
    attribute(out, "PARTICLE", tracks_.track_id[track_of(i)]);
    for (const Feature& feature : features_.others) attribute(out, feature.key, feature.column->values[i]);
    out += " />\n";
    if (row + 1 == *after) out += "      </SpotsInFrame>\n";
  }

  void add_edge(std::size_t e, std::string& out) const {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), e);
    if (*(after - 1) == e) {
      const std::int64_t index = after - starts_.begin() - 1;
      out += "      <Track";
      attribute(out, "name", "Track_" + std::to_string(index));
      attribute(out, "TRACK_ID", index);
      attribute(out, "TRACK_INDEX", index);
      attribute(out, "NUMBER_SPOTS", static_cast<std::int64_t>(*after - e + 1));
      out += ">\n";
    }
    out += "        <Edge";
    attribute(out, "SPOT_SOURCE_ID", static_cast<std::int64_t>(edges_[e].first));
    attribute(out, "SPOT_TARGET_ID", static_cast<std::int64_t>(edges_[e].second));
    attribute(out, "LINK_COST", -1.0);
    out += " />\n";
    if (e + 1 == *after) out += "      </Track>\n";
  }

  void add_rest(std::string& out) const {
    out += "    </AllTracks>\n    <FilteredTracks>\n";
    for (std::int64_t i = 0; i + 1 < std::ssize(starts_); ++i) {
      out += "      <TrackID";
      attribute(out, "TRACK_ID", i);
      out += " />\n";
    }
    out += "    </FilteredTracks>\n" + tail_;
  }

  const TrackSet& tracks_;
  const Features& features_;
  detail::FramePoints frames_;
  std::string tail_;
  std::vector<std::pair<std::size_t, std::size_t>> edges_;
  std::vector<std::size_t> starts_;  ///< [lineages with edges + 1] in edges_
};

/// Voxels from the origin to the farthest point, for the image that TrackMate creates if there is none.
std::int64_t extent(const std::vector<double>& values, double voxel) {
  constexpr double kMost = 1 << 20;
  const double farthest = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  return static_cast<std::int64_t>(std::clamp(std::floor(farthest / voxel) + 1, 1.0, kMost));
}

void write_settings(std::string& out, const TrackSet& tracks, const TrackImage& image) {
  const std::filesystem::path path(image.path);
  const Vec3 voxel = image.voxel_um.value_or(Vec3{1, 1, 1});
  const Shape3 shape = image.shape.value_or(
      Shape3{extent(tracks.z_um, voxel.z), extent(tracks.y_um, voxel.y), extent(tracks.x_um, voxel.x)});
  const std::int32_t last =
      tracks.frame.empty() ? 0 : *std::max_element(tracks.frame.begin(), tracks.frame.end());
  const std::int64_t frames = std::max(std::int64_t{last} + 1, std::int64_t{image.frames});
  out += "  <Settings>\n    <ImageData";
  attribute(out, "filename", path.filename().string());
  attribute(out, "folder", path.has_parent_path() ? path.parent_path().string() + "/" : std::string());
  attribute(out, "width", shape.nx);
  attribute(out, "height", shape.ny);
  attribute(out, "nslices", shape.nz);
  attribute(out, "nframes", frames);
  attribute(out, "pixelwidth", voxel.x);
  attribute(out, "pixelheight", voxel.y);
  attribute(out, "voxeldepth", voxel.z);
  attribute(out, "timeinterval", tracks.dt_s.value_or(1.0));
  out += " />\n    <BasicSettings";
  for (const auto& [axis, count] :
       {std::pair{"x", shape.nx}, {"y", shape.ny}, {"z", shape.nz}, {"t", frames}}) {
    attribute(out, std::string(axis) + "start", std::int64_t{0});
    attribute(out, std::string(axis) + "end", count - 1);
  }
  out +=
      " />\n"
      "    <DetectorSettings DETECTOR_NAME=\"MANUAL_DETECTOR\" RADIUS=\"1.0\" />\n"
      "    <InitialSpotFilter feature=\"QUALITY\" value=\"-1.0E300\" isabove=\"true\" />\n"
      "    <SpotFilterCollection />\n"
      "    <TrackerSettings TRACKER_NAME=\"MANUAL_TRACKER\" />\n"
      "    <TrackFilterCollection />\n"
      "    <AnalyzerCollection>\n      <SpotAnalyzers />\n      <EdgeAnalyzers />\n      <TrackAnalyzers />\n"
      "    </AnalyzerCollection>\n"
      "  </Settings>\n";
}

}  // namespace

void write_trackmate_xml(const std::filesystem::path& path, const TrackSet& tracks, const TrackImage& image) {
  const Features features(tracks);
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TrackMate";
  attribute(out, "version", std::string_view(kTrackMateVersion));
  out += ">\n  <Log>Written by motes " MOTES_VERSION ".</Log>\n  <Model";
  attribute(out, "spatialunits", std::string_view(tracks.length_unit == "px" ? "pixel" : "micron"));
  attribute(out, "timeunits", std::string_view(tracks.dt_s ? "sec" : "frame"));
  out += ">\n";
  declare_features(out, features);
  out += "    <AllSpots";
  attribute(out, "nspots", static_cast<std::int64_t>(tracks.points()));
  out += ">\n";
  std::string tail = "  </Model>\n";
  write_settings(tail, tracks, image);
  tail += "  <GUIState state=\"ConfigureViews\" />\n  <DisplaySettings />\n</TrackMate>\n";
  const Body body(tracks, features, std::move(tail));
  detail::write_rows(path, out, body.rows(), [&](std::int64_t begin, std::int64_t end, std::string& text) {
    body.format(begin, end, text);
  });
}

}  // namespace motes::io
