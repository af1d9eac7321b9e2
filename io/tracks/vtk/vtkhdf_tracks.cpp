// Temporal PolyData in the VTKHDF format: the arrays of all steps follow one another, and the group Steps has
// the start of each. Every step is one part. Vertices are numbered within their step; the offsets of their
// cells start at 0 in each step, so a step has one more offset than cells. The other kinds of cells must
// exist, too, but are empty.

#include <numeric>

#include <omp.h>

#include <motes/base/execution.h>
#include <motes/base/parallel_gather.h>
#include <motes/io/atomic_file.h>
#include <motes/io/vtk_tracks.h>
#include <motes/version.h>

#include "io/hdf5/h5.h"
#include "io/tracks/frame_points.h"
#include "io/tracks/h5/detections_group.h"
#include "io/tracks/track_rows.h"

namespace motes::io {
namespace {

using Numbers = std::vector<std::int64_t>;

/// values[order[i]] for every i.
template <class T>
std::vector<T> in_order(const std::vector<T>& values, const detail::FramePoints& by_frame) {
  return parallel_gather(thread_count({omp_get_max_threads()}), values, by_frame.order);
}

class VtkHdfWriter {
 public:
  VtkHdfWriter(detail::h5::Writer& file, const TrackSet& tracks, std::int32_t frame_step)
      : file_(file),
        tracks_(tracks),
        frame_step_(frame_step),
        by_frame_(detail::points_by_frame(tracks)),
        steps_(std::max<std::size_t>(by_frame_.frames(), 1)) {
    if (by_frame_.frames() == 0) by_frame_.offsets.push_back(0);  // without points: one empty step
    for (std::size_t k = 0; k < steps_; ++k) {
      begins_.push_back(static_cast<std::int64_t>(by_frame_.offsets[k]));
      counts_.push_back(static_cast<std::int64_t>(by_frame_.offsets[k + 1]) - begins_.back());
    }
  }

  void write() {
    file_.attribute("motes_version", std::string(MOTES_VERSION));
    file_.attribute("units", tracks_.length_unit);
    if (tracks_.dt_s) file_.attribute("dt_s", std::vector<double>{*tracks_.dt_s});
    file_.dataset("/track_order", tracks_.track_id);
    file_.group("/VTKHDF");
    file_.attribute_of("/VTKHDF", "Version", Numbers{2, 0});
    file_.attribute_of("/VTKHDF", "Type", "PolyData");
    file_.dataset("/VTKHDF/NumberOfPoints", counts_);
    write_points();
    write_vertices();
    for (const char* kind : {"Lines", "Polygons", "Strips"})
      write_cells(kind, Numbers(steps_, 0), {}, Numbers(steps_, 0));
    file_.group("/VTKHDF/Steps");
    file_.group("/VTKHDF/Steps/PointDataOffsets");
    write_steps();
    write_fields();
  }

 private:
  void write_points() {
    std::vector<double> places;
    places.reserve(3 * by_frame_.order.size());
    for (const std::size_t i : by_frame_.order)
      places.insert(places.end(), {tracks_.x_um[i], tracks_.y_um[i], tracks_.z_um[i]});
    file_.table("/VTKHDF/Points", places, 3);
  }

  void write_vertices() {
    Numbers members, ends;
    members.reserve(by_frame_.order.size());
    ends.reserve(by_frame_.order.size() + steps_);
    for (const std::int64_t count : counts_) {
      const auto old = std::ssize(members);
      members.resize(members.size() + static_cast<std::size_t>(count));
      std::iota(members.begin() + old, members.end(), std::int64_t{0});
      ends.insert(ends.end(), members.begin() + old, members.end());
      ends.push_back(count);
    }
    write_cells("Vertices", counts_, members, ends);
  }

  /// Writes cells of one member each.
  void write_cells(const std::string& kind, const Numbers& counts, const Numbers& members,
                   const Numbers& offsets) {
    const std::string group = "/VTKHDF/" + kind;
    file_.group(group);
    file_.dataset(group + "/NumberOfCells", counts);
    file_.dataset(group + "/NumberOfConnectivityIds", counts);
    file_.dataset(group + "/Connectivity", members);
    file_.dataset(group + "/Offsets", offsets);
  }

  void write_steps() {
    Numbers parts(steps_);
    std::iota(parts.begin(), parts.end(), std::int64_t{0});
    std::vector<double> times;
    Numbers cells;  // [steps, 4]: vertices, lines, polygons, strips
    for (std::size_t k = 0; k < steps_; ++k) {
      times.push_back(counts_[k] == 0 ? 0 : tracks_.time_s[by_frame_.order[by_frame_.offsets[k]]]);
      cells.insert(cells.end(), {begins_[k], 0, 0, 0});
    }
    file_.attribute_of("/VTKHDF/Steps", "NSteps", static_cast<std::int64_t>(steps_));
    file_.dataset("/VTKHDF/Steps/Values", times);
    file_.dataset("/VTKHDF/Steps/NumberOfParts", Numbers(steps_, 1));
    file_.dataset("/VTKHDF/Steps/PartOffsets", parts);
    file_.dataset("/VTKHDF/Steps/PointOffsets", begins_);
    file_.table("/VTKHDF/Steps/CellOffsets", cells, 4);
    file_.table("/VTKHDF/Steps/ConnectivityIdOffsets", cells, 4);
  }

  void write_fields() {
    file_.group("/VTKHDF/PointData");
    const detail::PointFields fields = detail::point_fields(tracks_, frame_step_);
    write_field("track_id", fields.track_id);
    write_field("frame", tracks_.frame);
    write_field("speed", fields.speed);
    std::set<std::string> taken{"track_id", "frame", "speed", "parent", "merged_into"};
    if (!fields.parent.empty()) write_field("parent", fields.parent);
    if (!fields.merged_into.empty()) write_field("merged_into", fields.merged_into);
    for (const PropertyColumn& column : tracks_.point_properties)
      write_field(detail::encoded_property(detail::unique_name(column.name, taken)), column.values);
  }
  template <class T>
  void write_field(const std::string& name, const std::vector<T>& values) {
    file_.dataset("/VTKHDF/PointData/" + name, in_order(values, by_frame_));
    file_.dataset("/VTKHDF/Steps/PointDataOffsets/" + name, begins_);
  }

  detail::h5::Writer& file_;
  const TrackSet& tracks_;
  const std::int32_t frame_step_;
  detail::FramePoints by_frame_;
  const std::size_t steps_;
  Numbers begins_, counts_;  ///< [steps] first point and number of points
};

}  // namespace

void write_tracks_vtkhdf(const std::filesystem::path& path, const TrackSet& tracks, std::int32_t frame_step) {
  write_atomically(path, [&](const std::filesystem::path& temporary) {
    detail::h5::Writer file(temporary, path.string());
    VtkHdfWriter(file, tracks, frame_step).write();
    file.close();
  });
}

}  // namespace motes::io
