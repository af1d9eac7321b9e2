#pragma once
/// Named VTK arrays from vectors.

#include <algorithm>
#include <string>
#include <vector>

#include <vtkAOSDataArrayTemplate.h>
#include <vtkFieldData.h>
#include <vtkNew.h>
#include <vtkPoints.h>

#include <motes/tracking/track_set.h>

#include "io/files/text.h"

namespace motes::io::detail {

/// Adds a one-component array; VTK's array type fixes how it is stored. The name is escaped here, since VTK's
/// writer does not; its reader gives back the name itself.
template <class Array, class T>
void add_array(vtkFieldData* fields, const std::string& name, const std::vector<T>& values) {
  vtkNew<Array> array;
  array->SetName(xml_escaped(name).c_str());
  array->SetNumberOfTuples(static_cast<vtkIdType>(values.size()));
  std::transform(values.begin(), values.end(), array->GetPointer(0),
                 [](T value) { return static_cast<typename Array::ValueType>(value); });
  fields->AddArray(array);
}

/// Points [order[i]] of the tracks in double precision, so that nothing is lost.
inline vtkNew<vtkPoints> make_points(const TrackSet& tracks, const std::vector<std::size_t>& order) {
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  points->SetNumberOfPoints(static_cast<vtkIdType>(order.size()));
  for (std::size_t i = 0; i < order.size(); ++i) {
    points->SetPoint(static_cast<vtkIdType>(i), tracks.x_um[order[i]], tracks.y_um[order[i]],
                     tracks.z_um[order[i]]);
  }
  return points;
}

/// values[order[i]] for every i.
template <class T>
std::vector<T> pick(const std::vector<T>& values, const std::vector<std::size_t>& order) {
  std::vector<T> picked;
  picked.reserve(order.size());
  for (const std::size_t i : order) picked.push_back(values[i]);
  return picked;
}

}  // namespace motes::io::detail
