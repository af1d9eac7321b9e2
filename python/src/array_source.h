#pragma once
/// A volume series whose frames come from a Python callable, one at a time.

#include <motes/io/frame_source.h>

#include "python/src/python.h"

namespace motes::python {

/// One frame, [nz, ny, nx] of uint8, uint16 or float32.
VolumeFrame volume_of(nb::handle array, std::int32_t index, double time_s, const Vec3& voxel_um);

class ArraySource final : public io::FrameSource {
 public:
  /// `read(t)` gives frame t as an array. Constructed and destroyed with the GIL held.
  ArraySource(nb::callable read, io::SeriesInfo info) : read_(std::move(read)), info_(std::move(info)) {}
  const io::SeriesInfo& info() const override { return info_; }
  VolumeFrame read(std::int32_t t) override {
    const nb::gil_scoped_acquire lock;
    VolumeFrame frame =
        volume_of(read_(t), t, info_.dt_s ? t * *info_.dt_s : t, info_.voxel_um.value_or(Vec3{1, 1, 1}));
    if (!(frame.shape == info_.shape))
      throw nb::value_error(("frame " + std::to_string(t) + " differs in shape from the first one").c_str());
    return frame;
  }

 private:
  nb::callable read_;
  io::SeriesInfo info_;
};

}  // namespace motes::python
