/// Reads tracks from .vtkhdf files.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

#include <motes/base/errors.h>
#include <motes/io/vtk_tracks.h>

#include "io/hdf5/h5.h"
#include "io/tracks/h5/detections_group.h"
#include "io/tracks/track_rows.h"

namespace motes::io {
namespace {

using Numbers = std::vector<std::int64_t>;

class VtkHdfReader {
 public:
  explicit VtkHdfReader(const std::filesystem::path& path) : path_(path.string()), file_(path) {}

  TrackSet run() {
    if (!file_.has("/VTKHDF")) file_.fail("there is no group VTKHDF");
    for (const char* needed : {"Steps", "PointData/track_id", "PointData/frame"})
      if (!file_.has(std::string("/VTKHDF/") + needed))
        throw InputError(path_ + ": there is no " + needed +
                         " in this VTKHDF file; give PolyData over time with point data track_id and frame");
    read_steps();
    detail::TrackRows rows = make_rows();
    if (file_.has("/track_order")) put_in_order(rows, file_.int64s("/track_order"));
    TrackSet tracks = detail::group_tracks(
        std::move(rows), [&](std::size_t row) { return path_ + ", point " + std::to_string(row); });
    tracks.length_unit = file_.text_attribute("units").value_or("px") == "um" ? "um" : "px";
    tracks.dt_s = file_.number_attribute("dt_s");
    if (tracks.dt_s && !(*tracks.dt_s > 0 && std::isfinite(*tracks.dt_s)))
      file_.fail("dt_s must be a positive number");
    return tracks;
  }

 private:
  /// Reads the time of every step, the start of its points and their number.
  void read_steps() {
    times_ = file_.doubles("/VTKHDF/Steps/Values");
    begins_ = file_.int64s("/VTKHDF/Steps/PointOffsets");
    const Numbers parts = file_.int64s("/VTKHDF/Steps/NumberOfParts"),
                  first_part = file_.int64s("/VTKHDF/Steps/PartOffsets"),
                  points = file_.int64s("/VTKHDF/NumberOfPoints");
    const std::size_t steps = times_.size();
    if (begins_.size() < steps || parts.size() != steps || first_part.size() < steps)
      file_.fail("the lengths of Values, PointOffsets, NumberOfParts and PartOffsets do not match");
    for (std::size_t k = 0; k < steps; ++k) {
      const auto there = std::ssize(points);
      if (!std::isfinite(times_[k])) file_.fail("the times of Steps are not finite");
      if (first_part[k] < 0 || parts[k] < 0 || first_part[k] > there || parts[k] > there - first_part[k])
        file_.fail("step " + std::to_string(k) + " names parts that do not exist");
      counts_.push_back(0);
      for (std::int64_t part = first_part[k]; part < first_part[k] + parts[k]; ++part) {
        const std::int64_t count = points[static_cast<std::size_t>(part)];
        if (count < 0 || count > std::numeric_limits<std::int32_t>::max())
          file_.fail("NumberOfPoints is " + std::to_string(count));
        counts_.back() += count;
      }
    }
  }

  /// Values for the points of all steps, one step after another.
  template <class T>
  std::vector<T> over_steps(const std::string& name, const std::vector<T>& values, const Numbers& begins,
                            std::int64_t width) const {
    std::vector<T> out;
    for (std::size_t k = 0; k < counts_.size(); ++k) {
      const std::int64_t there = std::ssize(values) / width;
      if (begins[k] < 0 || begins[k] > there || counts_[k] > there - begins[k])
        file_.fail("step " + std::to_string(k) + " needs more of " + name + " than exists");
      const auto first = values.begin() + begins[k] * width;
      out.insert(out.end(), first, first + counts_[k] * width);
    }
    return out;
  }
  template <class T>
  std::vector<T> field(const std::string& name, const std::vector<T>& values) const {
    const std::string offsets = "/VTKHDF/Steps/PointDataOffsets/" + name;
    const Numbers begins = file_.has(offsets) ? file_.int64s(offsets) : begins_;
    if (begins.size() < counts_.size()) file_.fail(offsets + " has the wrong length");
    return over_steps(name, values, begins, 1);
  }
  static std::string field_path(const std::string& name) { return "/VTKHDF/PointData/" + name; }

  detail::TrackRows make_rows() {
    detail::TrackRows rows;
    rows.track_id = field("track_id", file_.int64s(field_path("track_id")));
    for (const std::int64_t frame : field("frame", file_.int64s(field_path("frame")))) {
      if (frame < 0 || frame > std::numeric_limits<std::int32_t>::max())
        file_.fail("frame is " + std::to_string(frame) + "; frames are numbered from 0 to 2147483647");
      rows.frame.push_back(static_cast<std::int32_t>(frame));
    }
    for (auto& [name, relatives] :
         {std::pair{"parent", &rows.parent}, std::pair{"merged_into", &rows.merged_into}})
      if (file_.has(field_path(name))) *relatives = field(name, file_.int64s(field_path(name)));
    const std::vector<double> places = over_steps("Points", file_.table("/VTKHDF/Points", 3), begins_, 3);
    if (!std::all_of(places.begin(), places.end(), [](double x) { return std::isfinite(x); }))
      file_.fail("Points has coordinates that are not finite");
    for (std::size_t i = 0; i < places.size(); i += 3) {
      rows.x_um.push_back(places[i]);
      rows.y_um.push_back(places[i + 1]);
      rows.z_um.push_back(places[i + 2]);
    }
    for (std::size_t k = 0; k < counts_.size(); ++k)
      rows.time_s.insert(rows.time_s.end(), static_cast<std::size_t>(counts_[k]), times_[k]);
    const std::vector<std::string> known{"track_id", "frame", "speed", "parent", "merged_into"};
    for (const std::string& name : file_.names("/VTKHDF/PointData")) {
      const bool one_number = file_.dimensions(field_path(name)) == 1;
      if (!one_number || std::find(known.begin(), known.end(), name) != known.end()) continue;
      rows.properties.push_back(
          {detail::decoded_property(name), field(name, file_.doubles(field_path(name)))});
    }
    return rows;
  }

  /// Puts the rows in this order of tracks; other tracks come last.
  static void put_in_order(detail::TrackRows& rows, const Numbers& tracks) {
    std::unordered_map<std::int64_t, std::size_t> rank;
    for (const std::int64_t id : tracks) rank.try_emplace(id, rank.size());
    std::vector<std::size_t> rank_of, order(rows.size());
    for (const std::int64_t id : rows.track_id) {
      const auto found = rank.find(id);
      rank_of.push_back(found == rank.end() ? rank.size() : found->second);
    }
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rank_of[a] < rank_of[b]; });
    const auto sort = [&](auto& values) {
      auto sorted = values;
      for (std::size_t i = 0; i < values.size(); ++i) sorted[i] = values[order[i]];
      values = std::move(sorted);
    };
    sort(rows.track_id);
    sort(rows.parent);
    sort(rows.merged_into);
    sort(rows.frame);
    for (auto* column : {&rows.time_s, &rows.x_um, &rows.y_um, &rows.z_um}) sort(*column);
    for (PropertyColumn& column : rows.properties) sort(column.values);
  }

  const std::string path_;
  const detail::h5::Reader file_;
  std::vector<double> times_;
  Numbers begins_, counts_;  ///< [steps] first point and number of points
};

}  // namespace

TrackSet read_tracks_vtkhdf(const std::filesystem::path& path) { return VtkHdfReader(path).run(); }

bool is_vtkhdf(const std::filesystem::path& path) { return detail::h5::holds(path, {"/VTKHDF"}); }

}  // namespace motes::io
