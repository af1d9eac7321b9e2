/// Reads tracks from GEFF.

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include <motes/base/errors.h>
#include <motes/io/geff.h>

#include "io/images/frame_interval.h"
#include "io/images/units.h"
#include "io/tracks/lineages/track_graph.h"
#include "io/zarr/array.h"

namespace motes::io {
namespace {

using detail::zarr::Array;
using detail::zarr::Json;
using detail::zarr::Store;
using detail::zarr::text_of;

constexpr const char* kMetadata = "geff metadata";
constexpr double kMostCoordinate = 1e100;

struct Axis {
  std::string name, type, unit;
  std::optional<double> scale;
  std::string scaled_unit;
};

class GeffReader {
 public:
  explicit GeffReader(const std::filesystem::path& path) : store_(path) {
    const Json attributes = detail::zarr::attributes(store_, "");
    const auto found = attributes.find("geff");
    if (found == attributes.end() || !found->is_object())
      store_.fail("", "there are no GEFF metadata; give a GEFF folder");
    geff_ = *found;
    // The largest plausible size of an array: values compress well, but within limits.
    std::error_code ignored;
    std::uintmax_t bytes = 0;
    using Iterator = std::filesystem::recursive_directory_iterator;
    for (Iterator entry(path, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
      std::error_code none;
      if (entry->is_regular_file(none)) bytes += std::min<std::uintmax_t>(entry->file_size(none), 1ull << 40);
    }
    most_ = static_cast<std::int64_t>(std::clamp<std::uintmax_t>(bytes * 64, 1 << 20, 1ull << 33));
  }

  TrackSet run(std::vector<std::string>& notes) {
    read_axes();
    read_ids();
    const std::string unit = read_coordinates(notes);
    const std::optional<double> dt_s = read_times(notes);
    read_identities();
    read_properties(notes);
    read_edges();
    TrackSet tracks = detail::tracks_of_graph(
        std::move(graph_),
        [&](std::size_t row) { return store_.root().string() + ": node " + std::to_string(ids_[row]); },
        notes);
    tracks.length_unit = unit;
    tracks.dt_s = dt_s;
    return tracks;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    store_.fail(kMetadata, what + "; export the file again");
  }

  void read_axes() {
    const auto axes = geff_.find("axes");
    if (axes == geff_.end() || !axes->is_array() || axes->empty()) fail("they name no axes");
    for (const Json& json : *axes) {
      Axis axis{text_of(json, "name"), text_of(json, "type"), text_of(json, "unit"), std::nullopt,
                text_of(json, "scaled_unit")};
      if (json.is_object() && json.value("scale", Json()).is_number())
        axis.scale = json["scale"].get<double>();
      if (axis.name.empty()) fail("an axis has no name");
      axes_.push_back(std::move(axis));
    }
    const Json hints = geff_.value("display_hints", Json());
    x_ = hinted(text_of(hints, "display_horizontal"));
    y_ = hinted(text_of(hints, "display_vertical"));
    z_ = hinted(text_of(hints, "display_depth"));
    if (x_ == nullptr) x_ = lettered('x');
    if (y_ == nullptr) y_ = lettered('y');
    if (z_ == nullptr) z_ = lettered('z');
    time_ = hinted(text_of(hints, "display_time"));
    for (const Axis& axis : axes_)
      if (time_ == nullptr && axis.type == "time") time_ = &axis;
    if (x_ == nullptr || y_ == nullptr)
      fail("the axes do not say which is x and which y (names that end in x and y, or display hints)");
    if (time_ == nullptr) fail("there is no axis of time");
  }

  const Axis* hinted(const std::string& name) const {
    const auto found =
        std::find_if(axes_.begin(), axes_.end(), [&](const Axis& axis) { return axis.name == name; });
    return name.empty() || found == axes_.end() ? nullptr : &*found;
  }

  /// The space axis whose name ends in the letter, if there is exactly one.
  const Axis* lettered(char letter) const {
    const Axis* found = nullptr;
    for (const Axis& axis : axes_) {
      if (axis.type == "time" || (axis.name.back() | 0x20) != letter) continue;
      if (found != nullptr) return nullptr;
      found = &axis;
    }
    return found;
  }

  void read_ids() {
    ids_ = Array(store_, "nodes/ids").integers(1, most_);
    for (std::size_t row = 0; row < ids_.size(); ++row) {
      if (!row_of_.emplace(ids_[row], row).second)
        store_.fail("nodes/ids",
                    "two nodes have the number " + std::to_string(ids_[row]) + "; export the file again");
    }
  }

  /// A node property [nodes]; NaN for missing values. None if it has no values, has several per node, or is
  /// text.
  std::optional<std::vector<double>> property(const std::string& name) const {
    const std::string node = "nodes/props/" + name;
    if (!detail::zarr::is_array(store_, node + "/values")) return std::nullopt;
    const Array array(store_, node + "/values");
    if (array.metadata().rank() != 1) return std::nullopt;
    std::vector<double> values = array.doubles(1, most_);
    if (values.size() != ids_.size())
      store_.fail(node, "has " + std::to_string(values.size()) + " values for " +
                            std::to_string(ids_.size()) + " nodes; export the file again");
    if (detail::zarr::is_array(store_, node + "/missing")) {
      const std::vector<double> missing = Array(store_, node + "/missing").doubles(1, most_);
      for (std::size_t i = 0; i < std::min(missing.size(), values.size()); ++i)
        if (missing[i] != 0) values[i] = std::numeric_limits<double>::quiet_NaN();
    }
    return values;
  }

  std::vector<double> coordinates(const Axis& axis) const {
    auto values = property(axis.name);
    if (!values) store_.fail("nodes/props/" + axis.name, "the axis has no values; export the file again");
    for (std::size_t row = 0; row < values->size(); ++row) {
      if (std::isfinite((*values)[row]) && std::abs((*values)[row]) <= kMostCoordinate) continue;
      store_.fail("nodes/props/" + axis.name,
                  "node " + std::to_string(ids_[row]) + " has no finite value; remove it");
    }
    return *values;
  }

  std::string read_coordinates(std::vector<std::string>& notes) {
    graph_.nodes.x_um = coordinates(*x_);
    graph_.nodes.y_um = coordinates(*y_);
    graph_.nodes.z_um = z_ != nullptr ? coordinates(*z_) : std::vector<double>(ids_.size(), 0.0);
    if (z_ == nullptr) notes.emplace_back("no z axis: z is 0 throughout");
    bool known = true;
    for (const auto& [axis, values] :
         {std::pair{x_, &graph_.nodes.x_um}, {y_, &graph_.nodes.y_um}, {z_, &graph_.nodes.z_um}}) {
      if (axis == nullptr) continue;
      const auto factor = detail::length_unit_um(axis->unit);
      known = known && factor.has_value();
      if (factor && *factor != 1)
        for (double& value : *values) value *= *factor;
    }
    if (known) return "um";
    notes.push_back(x_->unit.empty() ? "the axes state no unit of length: the unit is called px"
                                     : "lengths are in '" + x_->unit + "': the unit is called px");
    return "px";
  }

  /// Sets frames and, if known, times; returns the frame interval.
  std::optional<double> read_times(std::vector<std::string>& notes) {
    const std::vector<double> time = coordinates(*time_);
    const auto unit_s = detail::time_unit_s(time_->unit);
    if (unit_s) return read_seconds(time, *unit_s, notes);
    if (time_->unit != "frame")
      notes.push_back("the time axis states no unit of time: it is taken as frame numbers");
    for (std::size_t row = 0; row < time.size(); ++row) {
      if (time[row] != std::floor(time[row]) || time[row] < 0 ||
          time[row] > std::numeric_limits<std::int32_t>::max())
        store_.fail("nodes/props/" + time_->name, "node " + std::to_string(ids_[row]) + " is in frame " +
                                                      std::to_string(time[row]) +
                                                      "; frames are numbered from 0");
      graph_.nodes.frame.push_back(static_cast<std::int32_t>(time[row]));
    }
    const auto scaled = detail::time_unit_s(time_->scaled_unit);
    if (!time_->scale || !scaled || !(*time_->scale > 0) || !std::isfinite(*time_->scale))
      return std::nullopt;
    const double dt = *time_->scale * *scaled;
    if (const auto own = property("t_s");
        own && std::all_of(own->begin(), own->end(), [](double t) { return std::isfinite(t); })) {
      graph_.nodes.time_s = *own;
    } else {
      for (const std::int32_t frame : graph_.nodes.frame) graph_.nodes.time_s.push_back(frame * dt);
    }
    return dt;
  }

  std::optional<double> read_seconds(const std::vector<double>& time, double unit_s,
                                     std::vector<std::string>& notes) {
    const auto frames = detail::frames_of_times(time, unit_s, std::nullopt);
    if (!frames)
      store_.fail("nodes/props/" + time_->name,
                  "the times are not multiples of one interval; export frame numbers");
    graph_.nodes.frame = *frames;
    for (const double t : time) graph_.nodes.time_s.push_back(t * unit_s);
    notes.push_back("frames are numbered by the times of axis '" + time_->name + "'");
    return detail::infer_interval(graph_.nodes.frame, graph_.nodes.time_s);
  }

  void read_identities() {
    const Json names = geff_.value("track_node_props", Json());
    std::string tracklet = text_of(names, "tracklet");
    const Json extra = geff_.value("extra", Json());
    if (tracklet.empty() && extra.is_object()) tracklet = text_of(extra.value("motes", Json()), "particle");
    for (const std::string& name : {tracklet, text_of(names, "lineage")}) {
      if (!name.empty()) identities_.push_back(name);
    }
    const auto particle = tracklet.empty() ? std::nullopt : whole(tracklet);
    if (particle) graph_.particle = *particle;
    if (const std::string name = text_of(names, "lineage"); !name.empty() && !particle) {
      if (const auto lineage = whole(name)) lineage_ = *lineage;
    }
    graph_.single_points = true;
  }

  std::optional<std::vector<std::int64_t>> whole(const std::string& name) const {
    const std::string node = "nodes/props/" + name + "/values";
    if (!detail::zarr::is_array(store_, node)) return std::nullopt;
    const Array array(store_, node);
    if (array.metadata().rank() != 1 || array.metadata().type.kind == detail::zarr::Kind::real)
      return std::nullopt;
    std::vector<std::int64_t> values = array.integers(1, most_);
    if (values.size() != ids_.size()) return std::nullopt;
    return values;
  }

  bool is_taken(const std::string& name) const {
    for (const Axis* axis : {x_, y_, z_, time_})
      if (axis != nullptr && axis->name == name) return true;
    return name == "t_s" || std::find(identities_.begin(), identities_.end(), name) != identities_.end();
  }

  /// Properties written by motes in their original order, then the others.
  static std::vector<std::string> property_order(const Json& described, const Json& ours) {
    std::vector<std::string> names;
    const Json listed = ours.is_object() ? ours.value("properties", Json()) : Json();
    for (const Json& name : listed.is_array() ? listed : Json::array())
      if (name.is_string() && described.contains(name.get<std::string>()) &&
          std::find(names.begin(), names.end(), name.get<std::string>()) == names.end())
        names.push_back(name.get<std::string>());
    const std::size_t count = names.size();
    for (const auto& [name, about] : described.items())
      if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(count), name) ==
          names.begin() + static_cast<std::ptrdiff_t>(count))
        names.push_back(name);
    return names;
  }

  void read_properties(std::vector<std::string>& notes) {
    const Json described = geff_.value("node_props_metadata", Json());
    if (!described.is_object()) return;
    const Json extra = geff_.value("extra", Json());
    const Json ours = extra.is_object() ? extra.value("motes", Json()) : Json();
    std::string left_out;
    for (const std::string& name : property_order(described, ours)) {
      if (is_taken(name)) continue;
      const Json& about = described[name];
      const std::string type = text_of(about, "dtype");
      const bool varied = about.is_object() && about.value("varlength", Json()) == Json(true);
      const auto values = type == "str" || varied ? std::nullopt : property(name);
      if (!values) {
        left_out += (left_out.empty() ? "" : ", ") + name.substr(0, 40);
        continue;
      }
      const std::string given = ours.is_object() ? text_of(about, "name") : "";
      graph_.nodes.properties.push_back({given.empty() ? name : given, *values});
    }
    if (!left_out.empty())
      notes.push_back("properties without one number per node are left out: " + left_out);
  }

  void read_edges() {
    if (!detail::zarr::is_array(store_, "edges/ids")) return;
    const std::vector<std::int64_t> ends = Array(store_, "edges/ids").integers(2, most_);
    const auto row = [&](std::int64_t id) {
      const auto found = row_of_.find(id);
      if (found == row_of_.end())
        store_.fail("edges/ids", "an edge names node " + std::to_string(id) + ", which does not exist");
      return found->second;
    };
    for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
      graph_.edges.emplace_back(row(ends[i]), row(ends[i + 1]));
      if (!lineage_.empty()) graph_.lineage.push_back(lineage_[graph_.edges.back().first]);
    }
  }

  Store store_;
  Json geff_;
  std::int64_t most_ = 0;
  std::vector<Axis> axes_;
  const Axis *x_ = nullptr, *y_ = nullptr, *z_ = nullptr, *time_ = nullptr;
  std::vector<std::int64_t> ids_, lineage_;
  std::vector<std::string> identities_;
  std::unordered_map<std::int64_t, std::size_t> row_of_;
  detail::TrackGraph graph_;
};

}  // namespace

bool is_geff(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored) || !detail::zarr::is_zarr(path)) return false;
  try {
    return detail::zarr::attributes(Store(path), "").contains("geff");
  } catch (const Error&) {
    return false;
  }
}

TrackSet read_geff(const std::filesystem::path& path, std::vector<std::string>* notes) {
  std::vector<std::string> said;
  TrackSet tracks = GeffReader(path).run(said);
  if (notes != nullptr) *notes = std::move(said);
  return tracks;
}

}  // namespace motes::io
