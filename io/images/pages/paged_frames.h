#pragma once
/// A volume series that consists of pages: of one file, or of a folder of files.

#include <functional>

#include <motes/io/frame_source.h>

#include "io/images/pages/page_file.h"
#include "io/images/pages/page_layout.h"

namespace motes::io::detail {

/// Decodes a page into bytes; writes all of them.
using PageReader = std::function<void(std::int64_t page, std::span<std::byte> out)>;

/// Opens the pages for another thread.
using OpenPages = std::function<PageReader()>;

class PagedFrames : public FrameSource {
 public:
  /// `info` needs path, format, axes, frames, channels, channel, shape and type.
  PagedFrames(SeriesInfo info, PageMap map, PageReader reader, OpenPages again);
  const SeriesInfo& info() const override { return info_; }
  VolumeFrame read(std::int32_t t) override;
  VolumeFrame read_over(std::int32_t t, VolumeFrame earlier) override;
  void read_voxels(std::int32_t t, std::span<std::byte> out) override;
  std::unique_ptr<FrameSource> again() const override;

 private:
  SeriesInfo info_;
  PageMap map_;
  PageReader read_page_;
  OpenPages open_again_;
};

/// Sets the parts of SeriesInfo that follow from the layout. Throws InputError if int32 cannot count the
/// frames or channels.
void describe_layout(SeriesInfo& info, const PageMap& map, const PageFormat& format);

}  // namespace motes::io::detail
