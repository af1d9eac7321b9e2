// Frames read into files have the voxels of frames read into memory.

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/base/system/mapped_file.h>
#include <motes/io/bdv_writer.h>
#include <motes/io/frame_source.h>
#include <motes/io/ome_tiff_writer.h>

#include "tests/support/skip.h"

using namespace motes;
using motes::testing::TempDir;

namespace {

constexpr Shape3 kShape{19, 70, 131};

template <class T>
VolumeFrame frame_of(std::int32_t t) {
  std::vector<T> voxels(static_cast<std::size_t>(kShape.voxels()));
  for (std::size_t i = 0; i < voxels.size(); ++i)
    voxels[i] = static_cast<T>(i * 7 + static_cast<std::size_t>(t));
  return {t, 0.25 * t, kShape, {0.1, 0.2, 0.5}, std::move(voxels)};
}

template <class T>
std::vector<T> voxels_of(const VolumeFrame& frame) {
  return visit_voxels(frame.voxels, [](auto voxels) { return std::vector<T>(voxels.begin(), voxels.end()); });
}

/// A source that only reads whole frames, like Python's arrays.
class WholeFrames : public io::FrameSource {
 public:
  explicit WholeFrames(io::SeriesInfo info) : info_(std::move(info)) {}
  const io::SeriesInfo& info() const override { return info_; }
  VolumeFrame read(std::int32_t t) override { return frame_of<std::uint16_t>(t); }

 private:
  io::SeriesInfo info_;
};

void check_series(io::FrameSource& whole, io::FrameSource& stored, const std::filesystem::path& folder) {
  for (std::int32_t t = 0; t < 2; ++t) {
    const VolumeFrame expected = whole.read(t), frame = stored.read(t);
    CHECK(scratch_of(expected) == nullptr);
    REQUIRE(scratch_of(frame) != nullptr);
    CHECK(frame.index == expected.index);
    CHECK(frame.time_s == expected.time_s);
    CHECK(frame.shape == expected.shape);
    CHECK(frame.voxel_um == expected.voxel_um);
    CHECK(voxels_of<float>(frame) == voxels_of<float>(expected));
    CHECK(std::filesystem::is_empty(folder));
  }
  CHECK_THROWS_AS(stored.read(2), InputError);
}

}  // namespace

TEMPLATE_TEST_CASE("frames read into files have the voxels of those in memory", "", std::uint8_t,
                   std::uint16_t, float) {
  const TempDir dir, folder;
  if (system::is_memory(folder.path())) MOTES_SKIP("the folder for temporary files is memory");
  const auto scratch = std::make_shared<Scratch>(folder.path(), 1'000'000);
  io::OmeTiffOptions tiff;
  tiff.frames = 2;
  tiff.dt_s = 0.25;
  {
    io::OmeTiffWriter writer(dir / "a.ome.tif", tiff);
    for (std::int32_t t = 0; t < 2; ++t) writer.write(frame_of<TestType>(t));
    writer.close();
  }
  std::vector<std::filesystem::path> files{dir / "a.ome.tif"};
  if constexpr (!std::is_same_v<TestType, float>) {
    io::BdvWriter writer(dir / "a.h5", {2, 0.25, true});
    for (std::int32_t t = 0; t < 2; ++t) writer.write(frame_of<TestType>(t));
    writer.close();
    files.push_back(dir / "a.h5");
  }
  for (const auto& file : files) {
    const auto stored = io::frames_in_files(io::open_frames(file), scratch);
    const auto whole = io::open_frames(file);
    check_series(*whole, *stored, folder.path());
    if constexpr (std::is_same_v<TestType, std::uint16_t>) {
      WholeFrames plain(whole->info());
      const VolumeFrame copied = io::read_frame(plain, 1, scratch);
      CHECK(voxels_of<TestType>(copied) == voxels_of<TestType>(whole->read(1)));
    }
  }
}
