/// Reads tracks from .vtp files.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <system_error>
#include <unordered_map>

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkStringArray.h>

#include <motes/base/errors.h>
#include <motes/io/input_policy.h>
#include <motes/io/vtk_tracks.h>

#include "io/files/text.h"
#include "io/jail/jail.h"
#include "io/tracks/track_bytes.h"
#include "io/tracks/track_rows.h"
#include "io/tracks/vtk/support.h"

namespace motes::io {
namespace {

constexpr std::int64_t kNoTrack = std::numeric_limits<std::int64_t>::min();
constexpr double kCpuSeconds = 9;           // allowed for any file,
constexpr double kCpuBytesPerSecond = 1e6;  // and for each byte read

class VtpReader {
 public:
  explicit VtpReader(const std::filesystem::path& path) : path_(path), data_(detail::read_vtp(path)) {}

  TrackSet run() {
    read_tracks_of_points();
    detail::TrackRows rows = make_rows();
    TrackSet tracks = detail::group_tracks(std::move(rows), [&](std::size_t row) {
      return path_.string() + ", point " + std::to_string(points_[row]);
    });
    add_track_properties(tracks);
    read_units(tracks);
    return tracks;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InputError(path_.string() + ": " + what); }

  std::int64_t whole(vtkDataArray* array, vtkIdType i, const char* name) const {
    const vtkVariant value = array->GetVariantValue(i);
    if (array->GetDataType() != VTK_FLOAT && array->GetDataType() != VTK_DOUBLE) return value.ToTypeInt64();
    const double real = value.ToDouble();
    if (real != std::floor(real) || !(std::abs(real) < 9e15)) {
      fail(std::string(name) + " of point or cell " + std::to_string(i) +
           " is not a whole number; correct it");
    }
    return static_cast<std::int64_t>(real);
  }

  vtkDataArray* column(vtkFieldData* fields, const char* name, vtkIdType length) const {
    vtkDataArray* array = fields->GetArray(name);
    if (array == nullptr) return nullptr;
    if (array->GetNumberOfComponents() != 1 || array->GetNumberOfTuples() != length) {
      fail(std::string(name) + " has the wrong length; write the file again");
    }
    return array;
  }

  void assign(vtkIdType point, std::int64_t track) {
    std::int64_t& known = track_of_point_[static_cast<std::size_t>(point)];
    if (known != kNoTrack && known != track) {
      fail("point " + std::to_string(point) + " belongs to two tracks; give each its own point");
    }
    known = track;
  }

  /// Reads track_id from cells, or, in files of other programs, from points.
  void read_tracks_of_points() {
    track_of_point_.assign(static_cast<std::size_t>(data_->GetNumberOfPoints()), kNoTrack);
    vtkDataArray* ids = column(data_->GetCellData(), "track_id", data_->GetNumberOfCells());
    if (ids == nullptr) {
      ids = column(data_->GetPointData(), "track_id", data_->GetNumberOfPoints());
      if (ids == nullptr) fail("there is no track_id, neither of cells nor of points; give a file of tracks");
      for (vtkIdType i = 0; i < data_->GetNumberOfPoints(); ++i) assign(i, whole(ids, i, "track_id"));
      return;
    }
    vtkIdType cell = 0;
    for (vtkCellArray* cells : {data_->GetVerts(), data_->GetLines()}) {
      for (vtkIdType i = 0; i < cells->GetNumberOfCells(); ++i, ++cell) {
        vtkIdType size = 0;
        const vtkIdType* members = nullptr;
        cells->GetCellAtId(i, size, members);
        const std::int64_t id = whole(ids, cell, "track_id");
        cell_of_track_.try_emplace(id, cell);
        for (vtkIdType j = 0; j < size; ++j) assign(members[j], id);
      }
    }
  }

  void add_row(detail::TrackRows& rows, vtkIdType point, vtkDataArray* frames) {
    const std::int64_t frame = whole(frames, point, "frame");
    if (frame < 0 || frame > std::numeric_limits<std::int32_t>::max()) {
      fail("frame of point " + std::to_string(point) + " is " + std::to_string(frame) +
           "; frames are numbered from 0 to 2147483647");
    }
    double at[3];
    data_->GetPoint(point, at);
    if (!std::isfinite(at[0]) || !std::isfinite(at[1]) || !std::isfinite(at[2])) {
      fail("point " + std::to_string(point) + " is not finite; remove it");
    }
    points_.push_back(point);
    rows.track_id.push_back(track_of_point_[static_cast<std::size_t>(point)]);
    rows.frame.push_back(static_cast<std::int32_t>(frame));
    rows.x_um.push_back(at[0]);
    rows.y_um.push_back(at[1]);
    rows.z_um.push_back(at[2]);
  }

  detail::TrackRows make_rows() {
    detail::TrackRows rows;
    const vtkIdType count = data_->GetNumberOfPoints();
    vtkDataArray* frames = column(data_->GetPointData(), "frame", count);
    if (frames == nullptr) fail("there is no point data named frame; give a file of tracks");
    for (vtkIdType i = 0; i < count; ++i) {
      if (track_of_point_[static_cast<std::size_t>(i)] != kNoTrack) add_row(rows, i, frames);
    }
    if (vtkDataArray* times = column(data_->GetPointData(), "time_s", count)) {
      rows.time_s = values_of_points(times);
      if (!std::all_of(rows.time_s.begin(), rows.time_s.end(), [](double t) { return std::isfinite(t); })) {
        fail("time_s has values that are not finite; write the file again");
      }
    }
    for (auto& [name, relatives] :
         {std::pair{"parent", &rows.parent}, std::pair{"merged_into", &rows.merged_into}}) {
      vtkDataArray* const array = column(data_->GetCellData(), name, data_->GetNumberOfCells());
      if (array == nullptr) continue;
      for (const std::int64_t id : rows.track_id) {
        const auto cell = cell_of_track_.find(id);
        relatives->push_back(cell == cell_of_track_.end() ? -1 : whole(array, cell->second, name));
      }
    }
    add_properties(data_->GetPointData(), {"frame", "time_s", "speed", "track_id"}, [&](vtkDataArray* array) {
      rows.properties.push_back({array->GetName(), values_of_points(array)});
    });
    return rows;
  }

  /// Calls `add` for every one-component array of full length except the `known` ones.
  template <class Add>
  void add_properties(vtkDataSetAttributes* fields, std::vector<std::string> known, const Add& add) const {
    const vtkIdType length =
        fields == data_->GetPointData() ? data_->GetNumberOfPoints() : data_->GetNumberOfCells();
    for (int i = 0; i < fields->GetNumberOfArrays(); ++i) {
      vtkDataArray* array = fields->GetArray(i);
      if (array == nullptr || array->GetName() == nullptr || array->GetNumberOfComponents() != 1) continue;
      if (array->GetNumberOfTuples() != length) continue;
      if (std::find(known.begin(), known.end(), array->GetName()) == known.end()) add(array);
    }
  }

  std::vector<double> values_of_points(vtkDataArray* array) const {
    std::vector<double> values;
    values.reserve(points_.size());
    for (const vtkIdType point : points_) values.push_back(array->GetComponent(point, 0));
    return values;
  }

  void add_track_properties(TrackSet& tracks) const {
    if (cell_of_track_.empty()) return;
    add_properties(data_->GetCellData(), {"track_id", "length", "duration", "parent", "merged_into"},
                   [&](vtkDataArray* array) {
                     PropertyColumn& column = tracks.track_properties.emplace_back();
                     column.name = array->GetName();
                     for (const std::int64_t id : tracks.track_id) {
                       column.values.push_back(array->GetComponent(cell_of_track_.at(id), 0));
                     }
                   });
  }

  void read_units(TrackSet& tracks) const {
    vtkFieldData* fields = data_->GetFieldData();
    const auto* unit = vtkStringArray::SafeDownCast(fields->GetAbstractArray("length_unit"));
    tracks.length_unit =
        unit != nullptr && unit->GetNumberOfValues() == 1 && unit->GetValue(0) == "um" ? "um" : "px";
    vtkDataArray* dt = fields->GetArray("dt_s");
    if (dt == nullptr || dt->GetNumberOfValues() != 1) return;
    const double dt_s = dt->GetComponent(0, 0);
    if (!(dt_s > 0) || !std::isfinite(dt_s)) fail("dt_s must be a positive number; write the file again");
    tracks.dt_s = dt_s;
  }

  std::filesystem::path path_;
  vtkSmartPointer<vtkPolyData> data_;
  std::vector<std::int64_t> track_of_point_;
  std::unordered_map<std::int64_t, vtkIdType> cell_of_track_;
  std::vector<vtkIdType> points_;  ///< the point of each row
};

}  // namespace

TrackSet read_tracks_vtp(const std::filesystem::path& path) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error || input_policy().trusted) return VtpReader(path).run();
  // VTK's reader crashes on some damaged files.
  detail::Jail jail(path.string(), detail::Jail::memory_for(size), [&]() -> detail::Serve {
    system::allow_cpu(kCpuSeconds + static_cast<double>(size) / kCpuBytesPerSecond);
    return [packed = detail::pack_tracks(VtpReader(path).run())](std::string_view, std::span<std::byte> out) {
      if (!out.empty()) std::memcpy(out.data(), packed.data(), std::min(out.size(), packed.size()));
      return std::to_string(packed.size());
    };
  });
  const auto bytes = detail::parse_integer(jail.ask(""));
  std::optional<TrackSet> tracks;
  if (bytes && *bytes >= 0 && static_cast<std::uint64_t>(*bytes) <= detail::Jail::memory_for(size)) {
    jail.ask("", static_cast<std::size_t>(*bytes));
    tracks = detail::unpack_tracks(
        {reinterpret_cast<const char*>(jail.shared().data()), static_cast<std::size_t>(*bytes)});
  }
  if (!tracks) throw InputError(path.string() + ": damaged VTK file: restore the file or write it again");
  return *std::move(tracks);
}

}  // namespace motes::io
