#pragma once
/// Volumes in HDF5 datasets, of any number type.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include <motes/io/frame_source.h>

#include "io/hdf5/reader.h"
#include "io/images/sample_type.h"

namespace motes::io::detail {

/// A dataset [nz, ny, nx] as it is stored.
struct H5Volume {
  std::string name;
  Shape3 stored;
  h5::Number number = h5::Number::u8;  ///< in which it is read
  SampleType sample = SampleType::u8;  ///< what these bytes mean
  std::int64_t planes_at_once = 1;
  VoxelType type() const { return voxel_type(sample); }
};

/// Throws InputError if the dataset is missing, does not have three axes, or is too large.
H5Volume open_h5_volume(const std::filesystem::path& path, const h5::Reader& file, const std::string& name);

/// The part of it from the origin with the given shape, as voxels of type(). Throws InputError also if values
/// do not fit the voxel type (convert_samples).
void read_h5_volume(const std::filesystem::path& path, const h5::Reader& file, const H5Volume& volume,
                    const Shape3& shape, std::span<std::byte> out);

/// Throws InputError unless a later volume has the shape and type of the first.
void check_like_first(const SeriesInfo& first, const H5Volume& volume, const Shape3& shape);

}  // namespace motes::io::detail
