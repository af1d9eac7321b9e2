#include "io/images/paged_frames.h"

#include <limits>

#include <fmt/format.h>

#include <motes/base/errors.h>

#include "io/images/calibration.h"
#include "io/images/voxel_buffer.h"

namespace motes::io::detail {

PagedFrames::PagedFrames(SeriesInfo info, PageMap map, PageReader reader)
    : info_(std::move(info)), map_(std::move(map)), read_page_(std::move(reader)) {}

VolumeFrame PagedFrames::read(std::int32_t t) {
  check_frame_number(info_, t);
  VolumeFrame frame = empty_frame(info_, t);
  frame.voxels = make_voxels(info_.type, info_.shape, info_.path);
  std::span<std::byte> rest = bytes_of(frame.voxels);
  const auto page_bytes = rest.size() / static_cast<std::size_t>(info_.shape.nz);
  for (std::int64_t z = 0; z < info_.shape.nz; ++z) {
    read_page_(map_.page(t, z, info_.channel), rest.first(page_bytes));
    rest = rest.subspan(page_bytes);
  }
  return frame;
}

void describe_layout(SeriesInfo& info, const PageMap& map, const PageFormat& format) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (map.nt() > kMost || map.nc() > kMost) {
    throw InputError(fmt::format("{}: {} frames of {} channels cannot be: the metadata are damaged",
                                 info.path, map.nt(), map.nc()));
  }
  info.frames = static_cast<std::int32_t>(map.nt());
  info.channels = static_cast<int>(map.nc());
  info.shape = {map.nz(), format.height, format.width};
  info.type = format.type;
  if (format.inverted)
    info.notes.push_back("0 is white by the TIFF's tag (MINISWHITE): grey values are inverted");
}

}  // namespace motes::io::detail
