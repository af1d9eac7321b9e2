#include "python/src/track_data.h"

#include <cmath>
#include <limits>

#include <motes/base/errors.h>

namespace motes::python {
namespace {

nb::dict columns_of(std::vector<PropertyColumn>&& columns) {
  nb::dict out;
  for (PropertyColumn& column : columns) out[column.name.c_str()] = to_numpy(std::move(column.values));
  return out;
}

template <class T>
std::vector<T> vector_of(const nb::dict& dict, const char* name, std::size_t size) {
  const auto array = nb::cast<Array1<T>>(dict[name]);
  if (array.size() != size)
    throw UsageError(std::string("tracks.") + name + " has " + std::to_string(array.size()) +
                     " entries, not " + std::to_string(size));
  return {array.data(), array.data() + size};
}

std::vector<PropertyColumn> properties_of(const nb::dict& dict, const char* name, std::size_t size) {
  const auto columns = nb::cast<nb::dict>(dict[name]);
  std::vector<PropertyColumn> out;
  for (const auto& [key, value] : columns) {
    const auto column = nb::cast<std::string>(key);
    out.push_back({column, vector_of<double>(columns, column.c_str(), size)});
  }
  return out;
}

}  // namespace

nb::dict to_dict(TrackSet&& t) {
  nb::dict out;
  out["offsets"] = to_numpy(std::move(t.track_offsets));
  out["track_id"] = to_numpy(std::move(t.track_id));
  out["parent"] = t.parent.empty() ? nb::none() : to_numpy(std::move(t.parent));
  out["merged_into"] = t.merged_into.empty() ? nb::none() : to_numpy(std::move(t.merged_into));
  out["frame"] = to_numpy(std::move(t.frame));
  out["detection"] = to_numpy(std::move(t.detection));
  out["time_s"] = to_numpy(std::move(t.time_s));
  out["x"] = to_numpy(std::move(t.x_um));
  out["y"] = to_numpy(std::move(t.y_um));
  out["z"] = to_numpy(std::move(t.z_um));
  out["point_properties"] = columns_of(std::move(t.point_properties));
  out["track_properties"] = columns_of(std::move(t.track_properties));
  out["unit"] = t.length_unit;
  out["dt_s"] = t.dt_s ? nb::cast(*t.dt_s) : nb::none();
  return out;
}

TrackSet track_set_of(const nb::dict& dict) {
  TrackSet t;
  const std::size_t tracks = nb::cast<Array1<std::int64_t>>(dict["track_id"]).size();
  const std::size_t points = nb::cast<Array1<std::int32_t>>(dict["frame"]).size();
  t.track_offsets = vector_of<std::int64_t>(dict, "offsets", tracks + 1);
  t.track_id = vector_of<std::int64_t>(dict, "track_id", tracks);
  for (auto& [name, relatives] : {std::pair{"parent", &t.parent}, std::pair{"merged_into", &t.merged_into}})
    if (!nb::object(dict[name]).is_none()) *relatives = vector_of<std::int64_t>(dict, name, tracks);
  t.frame = vector_of<std::int32_t>(dict, "frame", points);
  t.detection = vector_of<std::int64_t>(dict, "detection", points);
  t.time_s = vector_of<double>(dict, "time_s", points);
  t.x_um = vector_of<double>(dict, "x", points);
  t.y_um = vector_of<double>(dict, "y", points);
  t.z_um = vector_of<double>(dict, "z", points);
  t.point_properties = properties_of(dict, "point_properties", points);
  t.track_properties = properties_of(dict, "track_properties", tracks);
  t.length_unit = nb::cast<std::string>(dict["unit"]);
  if (const nb::object dt = dict["dt_s"]; !dt.is_none()) t.dt_s = nb::cast<double>(dt);
  if (t.track_offsets.front() != 0 || t.track_offsets.back() != static_cast<std::int64_t>(points))
    throw UsageError("tracks.offsets must run from 0 to the number of points");
  for (std::size_t k = 0; k < tracks; ++k)
    if (t.track_offsets[k] > t.track_offsets[k + 1]) throw UsageError("tracks.offsets falls");
  return t;
}

nb::dict to_dict(const std::vector<Detections>& frames) {
  std::size_t points = 0;
  for (const Detections& frame : frames) points += frame.size();
  std::vector<std::int32_t> number;
  std::vector<double> time;
  const auto gather = [&](auto&& column_of) {
    std::vector<double> all;
    all.reserve(points);
    bool any = false;
    for (const Detections& frame : frames) {
      const std::vector<double>* column = column_of(frame);
      any = any || (column != nullptr && !column->empty());
      if (column != nullptr && column->size() == frame.size())
        all.insert(all.end(), column->begin(), column->end());
      else
        all.insert(all.end(), frame.size(), std::numeric_limits<double>::quiet_NaN());
    }
    return any ? all : std::vector<double>{};
  };
  for (const Detections& frame : frames) {
    number.insert(number.end(), frame.size(), frame.frame);
    time.insert(time.end(), frame.size(), frame.time_s);
  }
  nb::dict out;
  out["frame"] = to_numpy(std::move(number));
  out["t_s"] = to_numpy(std::move(time));
  const auto add = [&](const char* name, std::vector<double> Detections::*column) {
    std::vector<double> values = gather([&](const Detections& d) { return &(d.*column); });
    if (!values.empty() || points == 0) out[name] = to_numpy(std::move(values));
  };
  add("x_um", &Detections::x_um);
  add("y_um", &Detections::y_um);
  add("z_um", &Detections::z_um);
  add("radius_um", &Detections::radius_um);
  add("intensity", &Detections::intensity);
  add("quality", &Detections::quality);
  for (const Detections& frame : frames)
    for (const PropertyColumn& known : frame.properties) {
      if (out.contains(known.name.c_str())) continue;
      out[known.name.c_str()] = to_numpy(gather([&](const Detections& d) -> const std::vector<double>* {
        for (const PropertyColumn& column : d.properties)
          if (column.name == known.name) return &column.values;
        return nullptr;
      }));
    }
  return out;
}

}  // namespace motes::python
