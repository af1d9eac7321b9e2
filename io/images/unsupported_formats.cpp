#include "io/images/unsupported_formats.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace motes::io::detail {

std::string_view what_to_do(std::string_view extension) {
  using Extensions = std::vector<std::string_view>;
  static const std::pair<Extensions, std::string_view> kKnown[] = {
      {{".czi", ".nd2", ".lif", ".oib", ".oif", ".vsi", ".sld", ".mvd2", ".dv", ".r3d", ".ics", ".ids",
        ".mrc", ".nii", ".dcm"},
       "save them as OME-TIFF in Fiji, or read them in Python: "
       "motes.track(bioio.BioImage(path).dask_data, axes=\"TCZYX\", channel=0, voxel_um=[z, y, x], dt_s=dt)"},
      {{".xlsx", ".xls", ".ods"}, "save the sheet as CSV (UTF-8)"},
      {{".mastodon"}, "export the tracks in Mastodon, as GEFF or as XML of MaMuT"},
      {{".rds", ".rda", ".rdata"}, "save the table in R: write.csv(table, \"table.csv\")"},
      {{".parquet", ".pq", ".feather", ".arrow", ".pkl", ".npy", ".npz", ".mat", ".json"},
       "read them in Python and give the table to motes.link, or the image to motes.track"},
      {{".zip", ".bz2", ".xz", ".zst", ".7z", ".tar", ".rar"}, "unpack them first"},
      {{".jpg", ".jpeg", ".bmp", ".gif"},
       "save them as one TIFF in Fiji (File > Import > Image Sequence), or read them in Python: "
       "motes.track(pims.as_grey(pims.open(\"folder/*.jpg\")), voxel_um=size, dt_s=dt)"},
      {{".avi", ".mp4", ".mov", ".mkv", ".wmv", ".webm", ".cine", ".seq"},
       "save them as TIFF in Fiji, or read them in Python: "
       "motes.track(pims.as_grey(pims.open(path)), voxel_um=size, dt_s=dt)"}};
  for (const auto& [extensions, what] : kKnown)
    if (std::find(extensions.begin(), extensions.end(), extension) != extensions.end()) return what;
  return {};
}

std::string_view content_of(std::string_view extension) {
  static const std::pair<std::string_view, std::string_view> kKnown[] = {
      {".tif", "TIFF"}, {".tiff", "TIFF"}, {".btf", "TIFF"},  {".png", "PNG"},
      {".ims", "HDF5"}, {".h5", "HDF5"},   {".hdf5", "HDF5"},
  };
  for (const auto& [known, content] : kKnown)
    if (known == extension) return content;
  return {};
}

}  // namespace motes::io::detail
