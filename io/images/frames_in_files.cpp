/// Frames whose voxels are in scratch files.

#include <utility>

#include <motes/io/frame_source.h>

#include "io/images/calibration.h"
#include "io/images/voxel_buffer.h"

namespace motes::io {
namespace {

template <class T>
Voxels voxels_in_file(FrameSource& source, std::int32_t t, const std::shared_ptr<Scratch>& scratch) {
  ScratchArray<T> voxels(scratch, static_cast<std::size_t>(source.info().shape.voxels()));
  source.read_voxels(t, std::as_writable_bytes(std::span(voxels.data(), voxels.size())));
  return FileVoxels<T>(std::move(voxels));
}

class FramesInFiles : public FrameSource {
 public:
  FramesInFiles(std::unique_ptr<FrameSource> source, std::shared_ptr<Scratch> scratch)
      : source_(std::move(source)), scratch_(std::move(scratch)) {}
  const SeriesInfo& info() const override { return source_->info(); }
  VolumeFrame read(std::int32_t t) override { return read_frame(*source_, t, scratch_); }
  void read_voxels(std::int32_t t, std::span<std::byte> out) override { source_->read_voxels(t, out); }

 private:
  std::unique_ptr<FrameSource> source_;
  std::shared_ptr<Scratch> scratch_;
};

}  // namespace

VolumeFrame read_frame(FrameSource& source, std::int32_t t, const std::shared_ptr<Scratch>& scratch) {
  if (!scratch) return source.read(t);
  const SeriesInfo& info = source.info();
  detail::check_frame_number(info, t);
  detail::frame_bytes(info.type, info.shape, info.path);
  VolumeFrame frame = detail::empty_frame(info, t);
  switch (info.type) {
    case VoxelType::u8:
      frame.voxels = voxels_in_file<std::uint8_t>(source, t, scratch);
      break;
    case VoxelType::u16:
      frame.voxels = voxels_in_file<std::uint16_t>(source, t, scratch);
      break;
    case VoxelType::f32:
      frame.voxels = voxels_in_file<float>(source, t, scratch);
      break;
  }
  return frame;
}

std::unique_ptr<FrameSource> frames_in_files(std::unique_ptr<FrameSource> source,
                                             std::shared_ptr<Scratch> scratch) {
  return std::make_unique<FramesInFiles>(std::move(source), std::move(scratch));
}

}  // namespace motes::io
