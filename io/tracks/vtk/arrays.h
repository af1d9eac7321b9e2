#pragma once
/// Conversion of vectors to named VTK arrays.

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include <vtkAOSDataArrayTemplate.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkNew.h>
#include <vtkPoints.h>
#include <vtkSOADataArrayTemplate.h>

#include <motes/tracking/track_set.h>

#include "io/files/text.h"

namespace motes::io::detail {

/// Adds a one-component array, stored as VTK's array type. Escapes the name, since VTK's writer does not;
/// VTK's reader restores it.
template <class Array, class T>
void add_array(vtkFieldData* fields, const std::string& name, const std::vector<T>& values) {
  vtkNew<Array> array;
  array->SetName(xml_escaped(name).c_str());
  array->SetNumberOfTuples(static_cast<vtkIdType>(values.size()));
  std::transform(values.begin(), values.end(), array->GetPointer(0),
                 [](T value) { return static_cast<typename Array::ValueType>(value); });
  fields->AddArray(array);
}

/// As add_array, but without a copy: the values must outlive the data set, which must not change them.
template <class Array, class T>
void share_array(vtkFieldData* fields, const std::string& name, const std::vector<T>& values) {
  static_assert(std::is_same_v<typename Array::ValueType, T>);
  constexpr int kNotOurs = 1;  // so that VTK does not free them
  vtkNew<Array> array;
  array->SetName(xml_escaped(name).c_str());
  array->SetArray(const_cast<T*>(values.data()), static_cast<vtkIdType>(values.size()), kNotOurs);
  fields->AddArray(array);
}

/// All points of the tracks, without a copy: the tracks must outlive the data set.
inline vtkNew<vtkPoints> share_points(const TrackSet& tracks) {
  constexpr bool kUpdateEnd = true, kNotOurs = true;
  vtkNew<vtkSOADataArrayTemplate<double>> places;
  places->SetNumberOfComponents(3);
  int axis = 0;
  for (const std::vector<double>* values : {&tracks.x_um, &tracks.y_um, &tracks.z_um})
    places->SetArray(axis++, const_cast<double*>(values->data()), static_cast<vtkIdType>(values->size()),
                     kUpdateEnd, kNotOurs);
  vtkNew<vtkPoints> points;
  points->SetData(places);
  return points;
}

/// Points place(0), ..., place(count - 1) of the tracks, in double precision.
template <class Place>
vtkNew<vtkPoints> make_points(const TrackSet& tracks, std::size_t count, const Place& place) {
  vtkNew<vtkDoubleArray> places;
  places->SetNumberOfComponents(3);
  places->SetNumberOfTuples(static_cast<vtkIdType>(count));
  double* to = places->GetPointer(0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = place(i);
    *to++ = tracks.x_um[from];
    *to++ = tracks.y_um[from];
    *to++ = tracks.z_um[from];
  }
  vtkNew<vtkPoints> points;
  points->SetData(places);
  return points;
}

/// Points [order[i]] of the tracks.
inline vtkNew<vtkPoints> make_points(const TrackSet& tracks, const std::vector<std::size_t>& order) {
  return make_points(tracks, order.size(), [&](std::size_t i) { return order[i]; });
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
