/// Writes tracks as GEFF.

#include <algorithm>
#include <cctype>
#include <map>

#include <motes/io/geff.h>
#include <motes/version.h>

#include "io/files/atomic_folder.h"
#include "io/tracks/frame_points.h"
#include "io/tracks/lineages/track_graph.h"
#include "io/zarr/write.h"

namespace motes::io {
namespace {

using detail::zarr::Json;

constexpr const char* kGeffVersion = "1.1";

Json property(const std::string& key, const char* type, const char* unit = nullptr) {
  Json json{{"identifier", key}, {"dtype", type}, {"varlength", false}};
  if (unit != nullptr) json["unit"] = unit;
  return json;
}

Json axis(const char* name, const char* type, const char* unit, const std::vector<double>& values) {
  Json json{{"name", name}, {"type", type}, {"unit", unit}};
  if (values.empty()) return json;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  json["min"] = *low;
  json["max"] = *high;
  return json;
}

/// A folder name for a property.
std::string folder_name(const std::string& name, std::set<std::string>& taken) {
  std::string key;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    key += c == '/' || c == '\\' || byte < 0x20 || byte >= 0x7F ? '_' : c;
  }
  if (key.empty() || key[0] == '.') key.insert(0, "_");
  return detail::unique_name(key, taken);
}

/// Tracklets are whole unbranched paths, so a mother must not have exactly one daughter, and no single track
/// merges into another.
bool are_tracklets(const TrackSet& tracks) {
  const auto none_alone = [](const std::vector<std::int64_t>& relatives) {
    std::map<std::int64_t, int> times;
    for (const std::int64_t id : relatives)
      if (id >= 0) ++times[id];
    return std::none_of(times.begin(), times.end(), [](const auto& entry) { return entry.second == 1; });
  };
  return none_alone(tracks.parent) && none_alone(tracks.merged_into);
}

class GeffWriter {
 public:
  GeffWriter(std::filesystem::path folder, const TrackSet& tracks)
      : folder_(std::move(folder)), tracks_(tracks), links_(detail::links_of(tracks)) {}

  void run() {
    detail::zarr::write_group(folder_ / "nodes");
    detail::zarr::write_group(folder_ / "nodes" / "props");
    detail::zarr::write_group(folder_ / "edges");
    detail::zarr::write_group(folder_ / "edges" / "props");
    write_ids();
    const char* length = tracks_.length_unit == "px" ? "pixel" : "micrometer";
    add_integers("t", {tracks_.frame.begin(), tracks_.frame.end()}, "frame");
    add_numbers("z", "z", tracks_.z_um, length);
    add_numbers("y", "y", tracks_.y_um, length);
    add_numbers("x", "x", tracks_.x_um, length);
    add_identities();
    std::set<std::string> taken{"t", "x", "y", "z", "track_id", "lineage_id", "t_s"};
    if (has_own_times()) add_numbers("t_s", "t_s", tracks_.time_s, "second");
    for (const PropertyColumn& column : tracks_.point_properties) {
      keys_.push_back(folder_name(column.name, taken));
      add_numbers(keys_.back().get<std::string>(), column.name, column.values, nullptr);
    }
    detail::zarr::write_group(folder_, {{"geff", metadata(length)}});
  }

 private:
  std::filesystem::path props(const std::string& key) const { return folder_ / "nodes" / "props" / key; }
  std::vector<std::int64_t> count() const { return {static_cast<std::int64_t>(tracks_.points())}; }

  void write_ids() const {
    std::vector<std::uint64_t> ids(tracks_.points()), edges;
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = i;
    for (const auto& [source, target] : links_.edges) edges.insert(edges.end(), {source, target});
    detail::zarr::write_array(folder_ / "nodes" / "ids", count(), std::span<const std::uint64_t>(ids));
    detail::zarr::write_array(folder_ / "edges" / "ids", {static_cast<std::int64_t>(links_.edges.size()), 2},
                              std::span<const std::uint64_t>(edges));
  }

  void add_integers(const std::string& key, const std::vector<std::int64_t>& values, const char* unit) {
    detail::zarr::write_group(props(key));
    detail::zarr::write_array(props(key) / "values", count(), std::span<const std::int64_t>(values));
    described_[key] = property(key, "int64", unit);
  }

  void add_numbers(const std::string& key, const std::string& name, const std::vector<double>& values,
                   const char* unit) {
    detail::zarr::write_group(props(key));
    detail::zarr::write_array(props(key) / "values", count(), std::span<const double>(values));
    described_[key] = property(key, "float64", unit);
    described_[key]["name"] = name;
  }

  void add_identities() {
    std::vector<std::int64_t> particle, lineage;
    for (std::size_t t = 0; t < tracks_.tracks(); ++t) {
      const auto points = static_cast<std::size_t>(tracks_.track_offsets[t + 1] - tracks_.track_offsets[t]);
      particle.insert(particle.end(), points, tracks_.track_id[t]);
      lineage.insert(lineage.end(), points, tracks_.track_id[links_.lineage[t]]);
    }
    add_integers("track_id", particle, nullptr);
    add_integers("lineage_id", lineage, nullptr);
  }

  bool has_own_times() const {
    for (std::size_t i = 0; i < tracks_.points(); ++i)
      if (tracks_.dt_s && tracks_.time_s[i] != tracks_.frame[i] * *tracks_.dt_s) return true;
    return false;
  }

  Json metadata(const char* length) const {
    Json time = axis("t", "time", "frame", {tracks_.frame.begin(), tracks_.frame.end()});
    if (tracks_.dt_s) {
      time["scale"] = *tracks_.dt_s;
      time["scaled_unit"] = "second";
    }
    Json track_props{{"lineage", "lineage_id"}};
    if (are_tracklets(tracks_)) track_props["tracklet"] = "track_id";
    return {{"geff_version", kGeffVersion},
            {"directed", true},
            {"axes",
             {time, axis("z", "space", length, tracks_.z_um), axis("y", "space", length, tracks_.y_um),
              axis("x", "space", length, tracks_.x_um)}},
            {"node_props_metadata", described_},
            {"edge_props_metadata", Json::object()},
            {"track_node_props", track_props},
            {"display_hints",
             {{"display_horizontal", "x"},
              {"display_vertical", "y"},
              {"display_depth", "z"},
              {"display_time", "t"}}},
            {"extra",
             {{"motes", {{"version", MOTES_VERSION}, {"particle", "track_id"}, {"properties", keys_}}}}}};
  }

  std::filesystem::path folder_;
  const TrackSet& tracks_;
  detail::TrackLinks links_;
  Json described_ = Json::object();
  Json keys_ = Json::array();  ///< keys of the points' properties, in their order
};

}  // namespace

void write_geff(const std::filesystem::path& path, const TrackSet& tracks) {
  detail::write_folder_atomically(
      path, is_geff, [&](const std::filesystem::path& folder) { GeffWriter(folder, tracks).run(); });
}

}  // namespace motes::io
