/// The first page's description has all metadata, as OME-XML 2016-06; the pages follow in the order XYCZT
/// with one channel. It is plain ASCII (the micro sign as a character reference), as TIFF requires. The
/// dialect is chosen by the uncompressed size, so that no file becomes too large for it.

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <motes/base/errors.h>
#include <motes/io/atomic_file.h>
#include <motes/io/ome_tiff_writer.h>

#include "io/files/checked.h"
#include "io/images/tiff/library.h"

namespace motes::io {
namespace {

constexpr std::int64_t kClassicLimit = 3'900'000'000;
constexpr std::int64_t kPageOverhead = 512;  // a directory, with a margin
constexpr std::int64_t kStripBytes = 256 * 1024;
constexpr int kPageDeflateLevel = 1;  // for noisy images as small as level 6, and eight times as fast

/// How the file describes a voxel type.
struct Sample {
  const char* ome;
  std::uint16_t bits, format, predictor;
};

Sample sample_of(const Voxels& voxels) {
  switch (voxels.index()) {
    case 0:
      return {"uint8", 8, SAMPLEFORMAT_UINT, PREDICTOR_HORIZONTAL};
    case 1:
      return {"uint16", 16, SAMPLEFORMAT_UINT, PREDICTOR_HORIZONTAL};
    default:
      return {"float", 32, SAMPLEFORMAT_IEEEFP, PREDICTOR_NONE};
  }
}

std::span<const std::byte> bytes_of(const Voxels& voxels) {
  return std::visit([](const auto& values) { return std::as_bytes(std::span(values)); }, voxels);
}

std::string ome_xml(const VolumeFrame& frame, const OmeTiffOptions& options) {
  const std::string interval =
      options.dt_s > 0 ? fmt::format(" TimeIncrement=\"{}\" TimeIncrementUnit=\"s\"", options.dt_s) : "";
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\" "
      "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
      "xsi:schemaLocation=\"http://www.openmicroscopy.org/Schemas/OME/2016-06 "
      "http://www.openmicroscopy.org/Schemas/OME/2016-06/ome.xsd\" Creator=\"motes\">\n"
      "<Image ID=\"Image:0\"><Pixels ID=\"Pixels:0\" DimensionOrder=\"XYCZT\" Type=\"{}\" "
      "BigEndian=\"false\" "
      "SizeX=\"{}\" SizeY=\"{}\" SizeZ=\"{}\" SizeC=\"1\" SizeT=\"{}\" "
      "PhysicalSizeX=\"{}\" PhysicalSizeXUnit=\"&#181;m\" PhysicalSizeY=\"{}\" PhysicalSizeYUnit=\"&#181;m\" "
      "PhysicalSizeZ=\"{}\" PhysicalSizeZUnit=\"&#181;m\"{}>"
      "<Channel ID=\"Channel:0:0\" SamplesPerPixel=\"1\"/>"
      "<TiffData IFD=\"0\" FirstC=\"0\" FirstZ=\"0\" FirstT=\"0\" PlaneCount=\"{}\"/>"
      "</Pixels></Image></OME>\n",
      sample_of(frame.voxels).ome, frame.shape.nx, frame.shape.ny, frame.shape.nz, options.frames,
      frame.voxel_um.x, frame.voxel_um.y, frame.voxel_um.z, interval, frame.shape.nz * options.frames);
}

}  // namespace

struct OmeTiffWriter::State {
  State(const std::filesystem::path& path, const OmeTiffOptions& wanted) : file(path), options(wanted) {
    if (options.frames < 1) refuse(fmt::format("{} frames", options.frames));
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw UsageError(fmt::format("{}: cannot write {}", file.target().string(), what));
  }

  [[noreturn]] void fail() {
    throw ResourceError(
        fmt::format("{}: cannot write frame {}: {}; check free space and permissions, or choose "
                    "another output",
                    file.target().string(), written, tiff->take_error()));
  }

  void start(const VolumeFrame& frame);
  void check(const VolumeFrame& frame) const;
  void write_page(std::span<const std::byte> page, bool first);

  AtomicFile file;  // declared first, so that libtiff closes it before it is removed
  OmeTiffOptions options;
  std::optional<detail::TiffHandle> tiff;
  Shape3 shape;
  Vec3 voxel_um;
  Sample sample{};
  std::size_t type = 0;
  std::string description;
  std::int64_t row_bytes = 0, rows_per_strip = 1;
  std::int32_t written = 0;
};

void OmeTiffWriter::State::start(const VolumeFrame& frame) {
  shape = frame.shape;
  voxel_um = frame.voxel_um;
  type = frame.voxels.index();
  sample = sample_of(frame.voxels);
  constexpr std::int64_t kMostPixels = 0x7fffffff;
  if (shape.nx < 1 || shape.ny < 1 || shape.nz < 1 || shape.nx > kMostPixels || shape.ny > kMostPixels)
    refuse(fmt::format("a volume of {} x {} x {} voxels", shape.nz, shape.ny, shape.nx));
  row_bytes = shape.nx * (sample.bits / 8);
  rows_per_strip = std::clamp<std::int64_t>(kStripBytes / row_bytes, 1, shape.ny);
  const auto size = detail::checked_product({shape.nz, options.frames, shape.ny * row_bytes + kPageOverhead});
  if (!size) refuse("a series of this size");
  description = ome_xml(frame, options);
  // 'l': little-endian, so that the bytes are the same on every machine.
  tiff.emplace(file.path(), *size > kClassicLimit ? "w8l" : "wl", 0);
  if (tiff->get() == nullptr) fail();
}

void OmeTiffWriter::State::check(const VolumeFrame& frame) const {
  if (written == options.frames) refuse(fmt::format("more than the announced {} frames", options.frames));
  if (frame.shape != shape || frame.voxels.index() != type || frame.voxel_um != voxel_um)
    refuse(fmt::format("frame {}: its shape, type or voxel size differs from the first's", written));
  const auto bytes = detail::checked_product({shape.nz, shape.ny, row_bytes});
  if (!bytes || bytes_of(frame.voxels).size() != static_cast<std::size_t>(*bytes))
    refuse(fmt::format("frame {}: {} bytes of voxels are not {} x {} x {}", written,
                       bytes_of(frame.voxels).size(), shape.nz, shape.ny, shape.nx));
}

void OmeTiffWriter::State::write_page(std::span<const std::byte> page, bool first) {
  TIFF* t = tiff->get();
  TIFFSetField(t, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(shape.nx));
  TIFFSetField(t, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(shape.ny));
  TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, sample.bits);
  TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, sample.format);
  TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, std::uint16_t{1});
  TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(rows_per_strip));
  if (first) TIFFSetField(t, TIFFTAG_IMAGEDESCRIPTION, description.c_str());
  if (options.deflate) {
    TIFFSetField(t, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    TIFFSetField(t, TIFFTAG_ZIPQUALITY, kPageDeflateLevel);
    TIFFSetField(t, TIFFTAG_PREDICTOR, sample.predictor);
  }
  std::uint32_t strip = 0;
  while (!page.empty()) {
    const auto bytes = std::min(page.size(), static_cast<std::size_t>(rows_per_strip * row_bytes));
    // libtiff takes a mutable pointer, but changes the caller's bytes only to swap them, which 'l' does not
    // need.
    void* data = const_cast<std::byte*>(page.data());
    if (TIFFWriteEncodedStrip(t, strip++, data, static_cast<tmsize_t>(bytes)) < 0) fail();
    page = page.subspan(bytes);
  }
  if (TIFFWriteDirectory(t) != 1) fail();
}

OmeTiffWriter::OmeTiffWriter(const std::filesystem::path& path, const OmeTiffOptions& options)
    : state_(std::make_unique<State>(path, options)) {}
OmeTiffWriter::~OmeTiffWriter() = default;
OmeTiffWriter::OmeTiffWriter(OmeTiffWriter&&) noexcept = default;
OmeTiffWriter& OmeTiffWriter::operator=(OmeTiffWriter&&) noexcept = default;

void OmeTiffWriter::write(const VolumeFrame& frame) {
  State& s = *state_;
  if (!s.tiff) s.start(frame);
  s.check(frame);
  std::span<const std::byte> voxels = bytes_of(frame.voxels);
  const std::size_t page_bytes = voxels.size() / static_cast<std::size_t>(s.shape.nz);
  for (std::int64_t z = 0; z < s.shape.nz; ++z) {
    s.write_page(voxels.first(page_bytes), z == 0 && s.written == 0);
    voxels = voxels.subspan(page_bytes);
  }
  ++s.written;
}

void OmeTiffWriter::close() {
  State& s = *state_;
  if (s.written != s.options.frames)
    s.refuse(fmt::format("only {} of the announced {} frames", s.written, s.options.frames));
  if (TIFFFlush(s.tiff->get()) != 1) s.fail();
  s.tiff.reset();
  s.file.commit();
}

}  // namespace motes::io
