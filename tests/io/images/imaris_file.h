#pragma once
/// Imaris files as Imaris writes them: text attributes of single characters, blocks with padding.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "io/hdf5/h5.h"

namespace motes::testing::imaris {

using io::detail::h5::Handle;

constexpr hsize_t kDepth = 3, kHeight = 5, kWidth = 7;    // of the image
constexpr hsize_t kBlocks = 8, kRows = 8, kColumns = 16;  // as stored

/// Contents of a file; an empty text omits an attribute.
struct Imaris {
  int frames = 3, channels = 2;
  hid_t type = H5T_STD_U16LE;
  std::map<std::string, std::string> image{
      {"X", "7"},       {"Y", "5"},          {"Z", "3"},        {"ExtMin0", "10"},  {"ExtMin1", "-5"},
      {"ExtMin2", "0"}, {"ExtMax0", "11.4"}, {"ExtMax1", "-4"}, {"ExtMax2", "1.5"}, {"Unit", "um"}};
  std::vector<std::string> times{"2024-02-28 23:59:59.000", "2024-02-29 00:00:01.500",
                                 "2024-02-29 00:00:04.000"};
  std::string time_points = "3", size_x = "7";
  bool contiguous = false;
};

inline void text(const Handle& object, const std::string& name, const std::string& value) {
  if (value.empty()) return;
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  const hsize_t length = value.size();
  const Handle space(H5Screate_simple(1, &length, nullptr), H5Sclose);
  const Handle made(H5Acreate2(object.id(), name.c_str(), type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT),
                    H5Aclose);
  H5Awrite(made.id(), type.id(), value.data());
}

inline Handle group(const Handle& file, const std::string& name) {
  return {H5Gcreate2(file.id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose};
}

inline std::uint16_t value_at(int t, int c, hsize_t z, hsize_t y, hsize_t x) {
  return static_cast<std::uint16_t>(t * 10000 + c * 1000 + static_cast<int>(z * 100 + y * 10 + x));
}

/// Padding is 65535, which a reader must never return.
inline void volume(const Handle& file, const std::string& name, const Imaris& what, int t, int c) {
  std::vector<std::uint16_t> voxels(kBlocks * kRows * kColumns, 65535);
  for (hsize_t z = 0; z < kDepth; ++z)
    for (hsize_t y = 0; y < kHeight; ++y)
      for (hsize_t x = 0; x < kWidth; ++x) voxels[(z * kRows + y) * kColumns + x] = value_at(t, c, z, y, x);
  const hsize_t shape[]{kBlocks, kRows, kColumns}, chunk[]{4, 8, 8};
  const Handle list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (!what.contiguous) {
    H5Pset_chunk(list.id(), 3, chunk);
    H5Pset_deflate(list.id(), 2);
  }
  const Handle space(H5Screate_simple(3, shape, nullptr), H5Sclose);
  const Handle made(
      H5Dcreate2(file.id(), name.c_str(), what.type, space.id(), H5P_DEFAULT, list.id(), H5P_DEFAULT),
      H5Dclose);
  H5Dwrite(made.id(), H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, voxels.data());
}

inline std::filesystem::path write_imaris(const std::filesystem::path& path, const Imaris& what = {}) {
  io::detail::h5::silence();
  std::filesystem::remove(path);
  const Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  const Handle set = group(file, "/DataSet"), info = group(file, "/DataSetInfo");
  const Handle image = group(file, "/DataSetInfo/Image"), times = group(file, "/DataSetInfo/TimeInfo");
  for (const auto& [name, value] : what.image) text(image, name, value);
  text(times, "DatasetTimePoints", what.time_points);
  for (std::size_t t = 0; t < what.times.size(); ++t)
    text(times, "TimePoint" + std::to_string(t + 1), what.times[t]);
  for (const std::string level : {"/DataSet/ResolutionLevel 0", "/DataSet/ResolutionLevel 1"}) {
    const Handle made = group(file, level);
    for (int t = 0; t < what.frames; ++t) {
      const std::string point = level + "/TimePoint " + std::to_string(t);
      const Handle of_time = group(file, point);
      for (int c = 0; c < what.channels; ++c) {
        const std::string name = point + "/Channel " + std::to_string(c);
        const Handle channel = group(file, name);
        text(channel, "ImageSizeX", what.size_x);
        text(channel, "ImageSizeY", "5");
        text(channel, "ImageSizeZ", "3");
        if (level.back() == '0') volume(file, name + "/Data", what, t, c);
      }
    }
  }
  return path;
}

}  // namespace motes::testing::imaris
