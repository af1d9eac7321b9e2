#pragma once
/// The HDF5 group /detections of tracks.h5 and detections.h5.

#include <string>
#include <vector>

#include <motes/tracking/pooled_detections.h>
#include <motes/tracking/properties.h>

#include "io/hdf5/h5.h"

namespace motes::io::detail {

/// In names of properties, characters with a meaning in HDF5 ('/' and a lone '.') are percent-encoded.
std::string encoded_property(const std::string& name);
std::string decoded_property(const std::string& name);
void write_properties(h5::Writer& file, const std::string& group, const std::vector<PropertyColumn>& columns);
/// Throws InputError if a column is not `length` long; none if the group is missing.
std::vector<PropertyColumn> read_properties(const h5::Reader& file, const std::string& group,
                                            std::size_t length);

/// Omits radius, intensity and quality if they are unknown in all frames and `all` is false.
void write_detections_group(h5::Writer& file, const PooledDetections& detections, bool all);

/// Throws InputError if the group contradicts itself or has coordinates that are not finite.
std::vector<Detections> read_detections_group(const h5::Reader& file);

}  // namespace motes::io::detail
