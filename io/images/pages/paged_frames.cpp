/// Reads frames page by page, with checks of every page.

#include "io/images/pages/paged_frames.h"

#include <limits>

#include <fmt/format.h>

#include <motes/base/errors.h>

#include "io/images/calibration.h"
#include "io/images/sample_type.h"
#include "io/images/voxel_buffer.h"

namespace motes::io::detail {

PagedFrames::PagedFrames(SeriesInfo info, PageMap map, PageReader reader, OpenPages again)
    : info_(std::move(info)),
      map_(std::move(map)),
      read_page_(std::move(reader)),
      open_again_(std::move(again)) {}

VolumeFrame PagedFrames::read(std::int32_t t) { return read_into_memory(*this, t); }

VolumeFrame PagedFrames::read_over(std::int32_t t, VolumeFrame earlier) {
  return read_into_memory(*this, t, std::move(earlier));
}

std::unique_ptr<FrameSource> PagedFrames::again() const {
  return std::make_unique<PagedFrames>(info_, map_, open_again_(), open_again_);
}

void PagedFrames::read_voxels(std::int32_t t, std::span<std::byte> out) {
  check_frame_number(info_, t);
  const auto page_bytes = out.size() / static_cast<std::size_t>(info_.shape.nz);
  for (std::int64_t z = 0; z < info_.shape.nz; ++z) {
    read_page_(map_.page(t, z, info_.channel), out.first(page_bytes));
    out = out.subspan(page_bytes);
  }
}

void describe_layout(SeriesInfo& info, const PageMap& map, const PageFormat& format) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (map.nt() > kMost || map.nc() > kMost) {
    throw InputError(fmt::format("{}: {} frames of {} channels are impossible: the metadata are damaged",
                                 info.path, map.nt(), map.nc()));
  }
  info.frames = static_cast<std::int32_t>(map.nt());
  info.channels = static_cast<int>(map.nc());
  info.shape = {map.nz(), format.height, format.width};
  info.type = format.type();
  note_conversion(info, format.stored);
  if (format.inverted)
    info.notes.push_back("0 is white by the TIFF's tag (MINISWHITE): grey values are inverted");
}

}  // namespace motes::io::detail
