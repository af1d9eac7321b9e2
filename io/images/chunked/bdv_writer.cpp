/// The layout that bdv_frames.cpp reads and Fiji's BigDataViewer opens. Voxels are stored as int16 with the
/// bits of uint16, since Java has no unsigned type. The XML has no place for the frame interval: it is stored
/// as the attribute frame_interval_s of the HDF5 file's root, which other programs ignore.

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include <motes/base/errors.h>
#include <motes/io/atomic_file.h>
#include <motes/io/bdv_writer.h>

#include "io/files/checked.h"
#include "io/hdf5/hdf5_handle.h"

namespace motes::io {
namespace {

namespace h5 = detail::h5;

/// 128 KB per chunk: a plane or a corner of a volume can be read without the rest.
constexpr std::array<std::int64_t, 3> kChunk{16, 64, 64};
constexpr int kDeflateLevel = 1;

std::string xml_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string registrations(const VolumeFrame& frame, std::int32_t frames) {
  std::string out;
  for (std::int32_t t = 0; t < frames; ++t)
    out += fmt::format(
        "    <ViewRegistration timepoint=\"{}\" setup=\"0\"><ViewTransform type=\"affine\">"
        "<Name>calibration</Name><affine>{} 0 0 0 0 {} 0 0 0 0 {} 0</affine></ViewTransform>"
        "</ViewRegistration>\n",
        t, frame.voxel_um.x, frame.voxel_um.y, frame.voxel_um.z);
  return out;
}

std::string bdv_xml(const VolumeFrame& frame, const std::string& images, std::int32_t frames) {
  return fmt::format(
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
             "<SpimData version=\"0.2\">\n"
             "  <BasePath type=\"relative\">.</BasePath>\n"
             "  <SequenceDescription>\n"
             "    <ImageLoader format=\"bdv.hdf5\"><hdf5 type=\"relative\">{}</hdf5></ImageLoader>\n"
             "    <ViewSetups>\n"
             "      <ViewSetup><id>0</id><name>channel 0</name><size>{} {} {}</size>\n"
             "        <voxelSize><unit>um</unit><size>{} {} {}</size></voxelSize>\n"
             "        <attributes><illumination>0</illumination><channel>0</channel><tile>0</tile>"
             "<angle>0</angle></attributes>\n"
             "      </ViewSetup>\n",
             xml_escaped(images), frame.shape.nx, frame.shape.ny, frame.shape.nz, frame.voxel_um.x,
             frame.voxel_um.y, frame.voxel_um.z) +
         fmt::format(
             "      <Attributes name=\"illumination\"><Illumination><id>0</id><name>0</name></Illumination>"
             "</Attributes>\n"
             "      <Attributes name=\"channel\"><Channel><id>0</id><name>0</name></Channel></Attributes>\n"
             "      <Attributes name=\"tile\"><Tile><id>0</id><name>0</name></Tile></Attributes>\n"
             "      <Attributes name=\"angle\"><Angle><id>0</id><name>0</name></Angle></Attributes>\n"
             "    </ViewSetups>\n"
             "    <Timepoints type=\"range\"><first>0</first><last>{}</last></Timepoints>\n"
             "  </SequenceDescription>\n"
             "  <ViewRegistrations>\n{}  </ViewRegistrations>\n"
             "</SpimData>\n",
             frames - 1, registrations(frame, frames));
}

h5::Handle property_list(hid_t kind) {
  h5::Handle list(H5Pcreate(kind), H5Pclose);
  H5Pset_obj_track_times(list.id(), false);  // no timestamps, so that equal contents give equal bytes
  return list;
}

}  // namespace

struct BdvWriter::State {
  State(const std::filesystem::path& path, const BdvOptions& wanted) : file(path), options(wanted) {
    if (options.frames < 1) refuse(fmt::format("{} frames", options.frames));
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw UsageError(fmt::format("{}: cannot write {}", file.target().string(), what));
  }

  [[noreturn]] void fail() const {
    throw ResourceError(fmt::format(
        "{}: cannot write frame {}: {}; check free space and permissions, or choose another output",
        file.target().string(), written, h5::last_error()));
  }

  h5::Handle owned(hid_t id, h5::Handle::Close close) const {
    if (id < 0) fail();
    return {id, close};
  }
  void require(herr_t status) const {
    if (status < 0) fail();
  }

  void start(const VolumeFrame& frame);
  void check(const VolumeFrame& frame) const;
  void write_row(const std::string& name, hid_t file_type, hid_t memory_type, const void* values) const;
  void write_cells(const std::string& name, const std::uint16_t* voxels) const;

  AtomicFile file;  // declared first, so that HDF5 closes it before it is removed
  BdvOptions options;
  h5::Handle images;
  Shape3 shape;
  Vec3 voxel_um;
  std::size_t type = 0;
  std::array<hsize_t, 3> chunk{};
  std::string xml;
  std::vector<std::uint16_t> wide;  ///< u8 voxels, widened
  std::int32_t written = 0;
};

/// A [1, 3] dataset.
void BdvWriter::State::write_row(const std::string& name, hid_t file_type, hid_t memory_type,
                                 const void* values) const {
  const std::array<hsize_t, 2> dims{1, 3};
  const h5::Handle space = owned(H5Screate_simple(2, dims.data(), nullptr), H5Sclose);
  const h5::Handle create = property_list(H5P_DATASET_CREATE);
  const h5::Handle dataset = owned(
      H5Dcreate2(images.id(), name.c_str(), file_type, space.id(), H5P_DEFAULT, create.id(), H5P_DEFAULT),
      H5Dclose);
  require(H5Dwrite(dataset.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
}

void BdvWriter::State::start(const VolumeFrame& frame) {
  shape = frame.shape;
  voxel_um = frame.voxel_um;
  type = frame.voxels.index();
  if (type == 2) refuse("float voxels: BigDataViewer's HDF5 holds 16-bit ones; choose OME-TIFF");
  constexpr std::int64_t kMostPixels = 0x7fffffff;
  for (const std::int64_t side : {shape.nz, shape.ny, shape.nx})
    if (side < 1 || side > kMostPixels)
      refuse(fmt::format("a volume of {} x {} x {} voxels", shape.nz, shape.ny, shape.nx));
  const std::array<std::int64_t, 3> sides{shape.nz, shape.ny, shape.nx};
  for (std::size_t axis = 0; axis < 3; ++axis)
    chunk[axis] = static_cast<hsize_t>(std::min(kChunk[axis], sides[axis]));
  xml = bdv_xml(frame, file.target().filename().string(), options.frames);

  const h5::Handle create = property_list(H5P_FILE_CREATE);
  images = owned(H5Fcreate(file.path().c_str(), H5F_ACC_TRUNC, create.id(), H5P_DEFAULT), H5Fclose);
  const h5::Handle setup =
      owned(H5Gcreate2(images.id(), "s00", H5P_DEFAULT, property_list(H5P_GROUP_CREATE).id(), H5P_DEFAULT),
            H5Gclose);
  const std::array<double, 3> steps{1, 1, 1};
  const std::array<std::int32_t, 3> blocks{static_cast<std::int32_t>(chunk[2]),
                                           static_cast<std::int32_t>(chunk[1]),
                                           static_cast<std::int32_t>(chunk[0])};
  write_row("s00/resolutions", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, steps.data());
  write_row("s00/subdivisions", H5T_STD_I32LE, H5T_NATIVE_INT32, blocks.data());
  if (options.dt_s > 0) {
    const h5::Handle space = owned(H5Screate(H5S_SCALAR), H5Sclose);
    const h5::Handle attribute = owned(
        H5Acreate2(images.id(), "frame_interval_s", H5T_IEEE_F64LE, space.id(), H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose);
    require(H5Awrite(attribute.id(), H5T_NATIVE_DOUBLE, &options.dt_s));
  }
}

void BdvWriter::State::check(const VolumeFrame& frame) const {
  if (written == options.frames) refuse(fmt::format("more than the announced {} frames", options.frames));
  if (frame.shape != shape || frame.voxels.index() != type || frame.voxel_um != voxel_um)
    refuse(fmt::format("frame {}: its shape, type or voxel size differs from the first's", written));
  const auto voxels = detail::checked_product({shape.nz, shape.ny, shape.nx});
  const std::size_t given = std::visit([](const auto& values) { return values.size(); }, frame.voxels);
  if (!voxels || given != static_cast<std::size_t>(*voxels))
    refuse(fmt::format("frame {}: {} voxels are not {} x {} x {}", written, given, shape.nz, shape.ny,
                       shape.nx));
}

void BdvWriter::State::write_cells(const std::string& name, const std::uint16_t* voxels) const {
  const std::array<hsize_t, 3> dims{static_cast<hsize_t>(shape.nz), static_cast<hsize_t>(shape.ny),
                                    static_cast<hsize_t>(shape.nx)};
  const h5::Handle space = owned(H5Screate_simple(3, dims.data(), nullptr), H5Sclose);
  const h5::Handle create = property_list(H5P_DATASET_CREATE);
  require(H5Pset_chunk(create.id(), 3, chunk.data()));
  if (options.deflate) {
    require(H5Pset_shuffle(create.id()));
    require(H5Pset_deflate(create.id(), kDeflateLevel));
  }
  const h5::Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  require(H5Pset_create_intermediate_group(links.id(), 1));
  const h5::Handle cells = owned(
      H5Dcreate2(images.id(), name.c_str(), H5T_STD_I16LE, space.id(), links.id(), create.id(), H5P_DEFAULT),
      H5Dclose);
  require(H5Dwrite(cells.id(), H5T_NATIVE_INT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, voxels));
}

BdvWriter::BdvWriter(const std::filesystem::path& path, const BdvOptions& options)
    : state_(std::make_unique<State>(path, options)) {}
BdvWriter::~BdvWriter() = default;
BdvWriter::BdvWriter(BdvWriter&&) noexcept = default;
BdvWriter& BdvWriter::operator=(BdvWriter&&) noexcept = default;

void BdvWriter::write(const VolumeFrame& frame) {
  State& s = *state_;
  h5::silence();
  if (!s.images) s.start(frame);
  s.check(frame);
  const std::string name = fmt::format("t{:05}/s00/0/cells", s.written);
  if (const auto* bytes = std::get_if<std::vector<std::uint8_t>>(&frame.voxels)) {
    s.wide.assign(bytes->begin(), bytes->end());
    s.write_cells(name, s.wide.data());
  } else {
    s.write_cells(name, std::get<std::vector<std::uint16_t>>(frame.voxels).data());
  }
  ++s.written;
}

void BdvWriter::close() {
  State& s = *state_;
  if (s.written != s.options.frames)
    s.refuse(fmt::format("only {} of the announced {} frames", s.written, s.options.frames));
  if (!s.images.close_now()) s.fail();
  s.file.commit();
  std::filesystem::path xml = s.file.target();
  write_text(xml.replace_extension(".xml"), s.xml);
}

}  // namespace motes::io
