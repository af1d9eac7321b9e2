#pragma once
/// The HDF5 group /detections of tracks.h5 and detections.h5.

#include <string>
#include <vector>

#include <motes/tracking/detections.h>
#include <motes/tracking/properties.h>

#include "io/hdf5/h5.h"

namespace motes::io::detail {

/// Names of properties are percent-encoded where HDF5 gives a character a meaning ('/' and a lone '.').
std::string encoded_property(const std::string& name);
std::string decoded_property(const std::string& name);
void write_properties(h5::Writer& file, const std::string& group, const std::vector<PropertyColumn>& columns);
/// Throws InputError where a column is not `length` long; none where the group is absent.
std::vector<PropertyColumn> read_properties(const h5::Reader& file, const std::string& group,
                                            std::size_t length);

/// Radius, intensity and quality are left out where no frame knows them and `all` is false.
void write_detections_group(h5::Writer& file, const std::vector<Detections>& frames, bool all);

/// Throws InputError where the group contradicts itself or holds coordinates that are not finite.
std::vector<Detections> read_detections_group(const h5::Reader& file);

}  // namespace motes::io::detail
