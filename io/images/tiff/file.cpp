/// libtiff decodes. This file adds: directories addressed by offset (see directories.cpp), checks of
/// every number of a page before it sizes a buffer, and errors that name the file and the page. Two features
/// of libtiff are off: memory mapping (an I/O error would be a SIGBUS) and splitting long strips (a page
/// stored as one strip is best read at once).

#include "io/images/tiff/file.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <motes/base/errors.h>
#include <motes/base/system/worker.h>

#include "io/files/checked.h"
#include "io/images/input_file.h"
#include "io/images/pages/grey_pixels.h"
#include "io/images/tiff/directories.h"
#include "io/images/tiff/library.h"
#include "io/images/voxel_buffer.h"

namespace motes::io::detail {
namespace {

constexpr const char* kReadMode = "rmc";
constexpr std::int64_t kSmallAllocation = std::int64_t{64} << 20;
/// Deflate compresses at most 1032:1; LZW with twelve-bit codes also stays below this bound.
constexpr std::int64_t kMaxCompression = 1400;

template <typename T>
T tag_or(TIFF* tiff, std::uint32_t tag, T otherwise) {
  T value{};
  return TIFFGetFieldDefaulted(tiff, tag, &value) == 1 ? value : otherwise;
}

std::optional<double> resolution_tag(TIFF* tiff, std::uint32_t tag) {
  float value = 0;
  if (TIFFGetField(tiff, tag, &value) != 1 || !(value > 0)) return std::nullopt;
  return static_cast<double>(value);
}

PageResolution read_resolution(TIFF* tiff) {
  PageResolution found{resolution_tag(tiff, TIFFTAG_XRESOLUTION), resolution_tag(tiff, TIFFTAG_YRESOLUTION)};
  std::uint16_t unit = 0;
  if (TIFFGetField(tiff, TIFFTAG_RESOLUTIONUNIT, &unit) == 1) {
    if (unit == RESUNIT_INCH) found.unit = PageResolution::Unit::inch;
    if (unit == RESUNIT_CENTIMETER) found.unit = PageResolution::Unit::centimetre;
  }
  return found;
}

/// Copies the part of a tile that lies inside the page. Along x, all is in bytes.
struct TileWindow {
  std::int64_t left, y, row_bytes, height;  // in the page
  std::int64_t tile_row_bytes;

  void copy(std::span<const std::byte> tile, std::span<std::byte> page, std::int64_t page_row_bytes) const {
    for (std::int64_t row = 0; row < height; ++row) {
      std::memcpy(page.data() + (y + row) * page_row_bytes + left, tile.data() + row * tile_row_bytes,
                  static_cast<std::size_t>(row_bytes));
    }
  }
};

/// How the samples of a page's pixels are stored: grey, or red, green and blue; then alpha.
struct PixelLayout {
  int samples = 1;
  bool planar = false;  ///< all samples of one kind, then those of the next
  int planes() const { return planar ? samples : 1; }
  int samples_of_plane() const { return planar ? 1 : samples; }
};

/// The layout, if its pixels are grey or RGB, with or without alpha.
std::optional<PixelLayout> pixel_layout(TIFF* tiff) {
  const auto samples = tag_or<std::uint16_t>(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  const auto photometric = tag_or<std::uint16_t>(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  std::uint16_t extra = 0;
  std::uint16_t* kinds = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &extra, &kinds) != 1) extra = 0;
  if (samples == 1) return PixelLayout{};
  const int colours = samples - extra;
  const bool known = (photometric == PHOTOMETRIC_RGB && colours == 3) ||
                     (photometric == PHOTOMETRIC_MINISBLACK && colours == 1);
  const bool alpha = extra == 1 && (kinds[0] == EXTRASAMPLE_ASSOCALPHA || kinds[0] == EXTRASAMPLE_UNASSALPHA);
  if (!known || (extra != 0 && !alpha)) return std::nullopt;
  const auto planes = tag_or<std::uint16_t>(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  return PixelLayout{samples, planes == PLANARCONFIG_SEPARATE};
}

void swap_bytes(std::span<std::byte> bytes, int value_bytes) {
  const auto step = static_cast<std::size_t>(value_bytes);
  for (std::size_t i = 0; i + step <= bytes.size(); i += step) std::reverse(&bytes[i], &bytes[i] + step);
}

/// Whether libtiff's message reports a lack of memory rather than sizes that are impossible for this file.
bool is_out_of_memory(const std::string& why) {
  if (why.find("memory") == std::string::npos) return false;
  if (system::memory_is_limited() || why.starts_with("Out of memory reading of")) return true;
  long long elements = 0, bytes = 0;
  const auto claim = why.find('(');
  return why.starts_with("Failed to allocate") && claim != std::string::npos &&
         std::sscanf(why.c_str() + claim, "(%lld elements of %lld bytes", &elements, &bytes) == 2 &&
         elements > 0 && bytes > 0 && elements <= kSmallAllocation / bytes;
}

}  // namespace

struct TiffFile::State {
  explicit State(const std::filesystem::path& path)
      : file(path),
        directories(scan_directories(file)),
        pages(static_cast<std::int64_t>(directories.offsets.size())),
        tiff(path, kReadMode, std::max(kSmallAllocation, static_cast<std::int64_t>(file.size()))) {
    if (tiff.get() == nullptr) fail(0, tiff.take_error());
    const char* software = nullptr;
    by_tifffile = TIFFGetField(tiff.get(), TIFFTAG_SOFTWARE, &software) == 1 && software != nullptr &&
                  std::string_view(software).starts_with("tifffile");
    format = page_format(0);
    samples_per_pixel = pixel_layout(tiff.get()).value_or(PixelLayout{}).samples;
    frame_bytes(format.type(), {1, format.height, format.width}, path);
    stored_row_bytes = row_bytes(format.stored, format.width);
    stored_page_bytes = checked_product({stored_row_bytes, format.height}).value_or(0);
    const auto all_bytes = checked_product({stored_page_bytes, samples_per_pixel}).value_or(0);
    compression = tag_or<std::uint16_t>(tiff.get(), TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    if (all_bytes <= 0 || all_bytes > decoded_bytes_bound()) {
      fail(0, fmt::format("{} x {} voxels cannot come from {} bytes of file", format.width, format.height,
                          file.size()));
    }
  }

  [[noreturn]] void fail(std::int64_t page, const std::string& why) const {
    if (is_out_of_memory(why)) throw std::bad_alloc();
    throw InputError(
        fmt::format("{}: page {} of {}: {}: the file is truncated or damaged; copy or export it again",
                    file.path().string(), page + 1, pages, why));
  }

  /// For valid files in unsupported forms.
  [[noreturn]] void refuse(std::int64_t page, const std::string& what) const {
    throw InputError(
        fmt::format("{}: page {} of {}: {} cannot be read; export it as one grey value per pixel, 8-bit or "
                    "16-bit integer or 32-bit float",
                    file.path().string(), page + 1, pages, what));
  }

  PageFormat page_format(std::int64_t page) const;
  std::int64_t decoded_bytes_bound() const;
  void read_stored(std::int64_t page, std::span<std::byte> out);
  void read_greys(std::int64_t page, PixelLayout layout, std::span<std::byte> out);
  void read_plane(std::int64_t page, std::uint32_t plane, int channels, std::span<std::byte> out);
  void read_strips(std::int64_t page, std::uint32_t plane, int channels, std::span<std::byte> out);
  void read_tiles(std::int64_t page, std::uint32_t plane, int channels, std::span<std::byte> out);
  void read_contiguous(std::int64_t page, std::span<std::byte> out) const;

  InputFile file;
  TiffDirectories directories;
  std::int64_t pages;
  TiffHandle tiff;
  PageFormat format;
  std::int64_t stored_row_bytes = 0, stored_page_bytes = 0;  ///< of samples
  std::uint16_t compression = COMPRESSION_NONE;
  int samples_per_pixel = 1;  // of the first page
  bool by_tifffile = false;
  bool contiguous = false;
  std::uint64_t first_voxel = 0;   // byte offset, for contiguous files
  std::vector<std::byte> tile;     // one decoded tile
  std::vector<std::byte> samples;  // one page, where these are not its voxels
  std::vector<std::byte> colours;  // one page, where a pixel has several samples
};

PageFormat TiffFile::State::page_format(std::int64_t page) const {
  TIFF* t = tiff.get();
  const auto width = tag_or<std::uint32_t>(t, TIFFTAG_IMAGEWIDTH, 0);
  const auto height = tag_or<std::uint32_t>(t, TIFFTAG_IMAGELENGTH, 0);
  const auto bits = tag_or<std::uint16_t>(t, TIFFTAG_BITSPERSAMPLE, 1);
  const auto kind = tag_or<std::uint16_t>(t, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  if (width == 0 || height == 0) fail(page, "no width or height");
  const auto layout = pixel_layout(t);
  if (!layout) {
    refuse(page, fmt::format("{} samples per pixel other than RGB",
                             tag_or<std::uint16_t>(t, TIFFTAG_SAMPLESPERPIXEL, 1)));
  }
  if (tag_or<std::uint32_t>(t, TIFFTAG_IMAGEDEPTH, 1) != 1 ||
      tag_or<std::uint32_t>(t, TIFFTAG_TILEDEPTH, 1) != 1)
    refuse(page, "a volume inside one page");
  const bool is_unsigned = kind == SAMPLEFORMAT_UINT || kind == SAMPLEFORMAT_VOID;
  std::optional<SampleType> stored;
  if (is_unsigned || kind == SAMPLEFORMAT_INT) stored = integer_type(!is_unsigned, bits);
  if (kind == SAMPLEFORMAT_IEEEFP) stored = real_type(bits);
  if (!stored) {
    const char* name = is_unsigned ? "unsigned" : kind == SAMPLEFORMAT_INT ? "signed" : "float or complex";
    refuse(page, fmt::format("{}-bit {} samples", bits, name));
  }
  if (*stored == SampleType::bit && layout->samples > 1) refuse(page, "1-bit colours");
  if (kind == SAMPLEFORMAT_IEEEFP && layout->samples % 2 == 0) refuse(page, "floating-point alpha");
  PageFormat found{width, height, *stored};
  // tifffile stores True as 1 and calls it black: it does not mean that masks are negatives.
  const bool mask = by_tifffile && *stored == SampleType::bit;
  found.inverted = !mask && tag_or<std::uint16_t>(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK) ==
                                PHOTOMETRIC_MINISWHITE;
  if (found.inverted && found.type() == VoxelType::f32)
    refuse(page, "floating-point, signed or wide integer values with 0 as white");
  return found;
}

std::int64_t TiffFile::State::decoded_bytes_bound() const {
  const auto size = static_cast<std::int64_t>(file.size());
  switch (compression) {
    case COMPRESSION_NONE:
      return size;
    case COMPRESSION_LZW:
    case COMPRESSION_PACKBITS:
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
      return checked_product({size, kMaxCompression}).value_or(size);
    default: {  // codecs without a known bound: a blank page of a small file may have this size
      constexpr std::int64_t kBlankPage = std::int64_t{256} << 20;
      return checked_product({size, kMaxCompression}).value_or(size) + kBlankPage;
    }
  }
}

void TiffFile::State::read_plane(std::int64_t page, std::uint32_t plane, int channels,
                                 std::span<std::byte> out) {
  if (TIFFIsTiled(tiff.get()) != 0) {
    read_tiles(page, plane, channels, out);
  } else {
    read_strips(page, plane, channels, out);
  }
}

void TiffFile::State::read_strips(std::int64_t page, std::uint32_t plane, int channels,
                                  std::span<std::byte> out) {
  TIFF* t = tiff.get();
  const std::int64_t rows_per_strip =
      std::min<std::int64_t>(tag_or<std::uint32_t>(t, TIFFTAG_ROWSPERSTRIP, 0), format.height);
  if (rows_per_strip <= 0) fail(page, "no rows in a strip");
  const std::int64_t stored_row = stored_row_bytes * channels;
  auto strip = static_cast<std::uint32_t>(plane * ((format.height + rows_per_strip - 1) / rows_per_strip));
  for (std::int64_t row = 0; row < format.height; row += rows_per_strip, ++strip) {
    const std::int64_t bytes = std::min(rows_per_strip, format.height - row) * stored_row;
    const auto got =
        TIFFReadEncodedStrip(t, strip, out.data() + row * stored_row, static_cast<tmsize_t>(bytes));
    if (got != bytes) fail(page, fmt::format("strip {}: {}", strip, tiff.take_error()));
  }
}

void TiffFile::State::read_tiles(std::int64_t page, std::uint32_t plane, int channels,
                                 std::span<std::byte> out) {
  TIFF* t = tiff.get();
  const std::int64_t tile_width = tag_or<std::uint32_t>(t, TIFFTAG_TILEWIDTH, 0);
  const std::int64_t tile_height = tag_or<std::uint32_t>(t, TIFFTAG_TILELENGTH, 0);
  // Tiles are a multiple of 16 pixels wide, so that rows of bits begin at whole bytes too.
  if (tile_width % 8 != 0 && format.stored == SampleType::bit)
    fail(page, fmt::format("tiles of {} x {}", tile_width, tile_height));
  const std::int64_t stored_row = stored_row_bytes * channels;
  const std::int64_t tile_row_bytes = row_bytes(format.stored, tile_width) * channels;
  const std::int64_t bytes = checked_product({tile_row_bytes, tile_height}).value_or(0);
  // A tile may pass the page's edge, but not without measure: its size is only a number in the file.
  if (bytes <= 0 || bytes > std::max(kSmallAllocation, 4 * stored_page_bytes * channels) ||
      bytes != TIFFTileSize(t))
    fail(page, fmt::format("tiles of {} x {}", tile_width, tile_height));
  tile.resize(static_cast<std::size_t>(bytes));
  const std::int64_t across = (format.width + tile_width - 1) / tile_width;
  auto index = static_cast<std::uint32_t>(plane * across * ((format.height + tile_height - 1) / tile_height));
  for (std::int64_t y = 0; y < format.height; y += tile_height) {
    for (std::int64_t x = 0; x < format.width; x += tile_width, ++index) {
      if (TIFFReadEncodedTile(t, index, tile.data(), static_cast<tmsize_t>(bytes)) != bytes)
        fail(page, fmt::format("tile {}: {}", index, tiff.take_error()));
      const std::int64_t left = row_bytes(format.stored, x) * channels;
      const TileWindow window{left, y, std::min(tile_row_bytes, stored_row - left),
                              std::min(tile_height, format.height - y), tile_row_bytes};
      window.copy(tile, out, stored_row);
    }
  }
}

/// Reads all samples of the page's pixels, and keeps the grey that they agree on.
void TiffFile::State::read_greys(std::int64_t page, PixelLayout layout, std::span<std::byte> out) {
  const auto all_bytes = checked_product({stored_page_bytes, layout.samples}).value_or(0);
  if (all_bytes <= 0 || all_bytes > decoded_bytes_bound())
    fail(page,
         fmt::format("{} samples per pixel cannot come from {} bytes of file", layout.samples, file.size()));
  colours.resize(static_cast<std::size_t>(all_bytes));
  const std::span<std::byte> all(colours);
  if (layout.planar) {
    const auto plane_bytes = static_cast<std::size_t>(stored_page_bytes);
    for (int plane = 0; plane < layout.samples; ++plane)
      read_plane(page, static_cast<std::uint32_t>(plane), 1,
                 all.subspan(static_cast<std::size_t>(plane) * plane_bytes, plane_bytes));
  } else {
    read_plane(page, 0, layout.samples, all);
  }
  const int sample_bytes = bits_of(format.stored) / 8;
  std::vector<std::byte> interleaved(
      static_cast<std::size_t>(layout.planar ? stored_row_bytes * layout.samples : 0));
  OddPixel odd;
  for (std::int64_t y = 0; y < format.height; ++y) {
    const std::byte* row = all.data() + y * stored_row_bytes * layout.samples;
    if (layout.planar) {
      for (std::int64_t i = 0; i < format.width * layout.samples; ++i) {
        const std::int64_t plane = i % layout.samples, x = i / layout.samples;
        std::memcpy(interleaved.data() + i * sample_bytes,
                    all.data() + plane * stored_page_bytes + y * stored_row_bytes + x * sample_bytes,
                    static_cast<std::size_t>(sample_bytes));
      }
      row = interleaved.data();
    }
    copy_greys(row, layout.samples, sample_bytes, format.width, y, out.data() + y * stored_row_bytes, odd);
  }
  if (odd.kind != OddPixel::Kind::none)
    throw InputError(
        fmt::format("{}: page {} of {} {}", file.path().string(), page + 1, pages, to_string(odd)));
}

void TiffFile::State::read_contiguous(std::int64_t page, std::span<std::byte> out) const {
  const std::uint64_t offset = first_voxel + static_cast<std::uint64_t>(page * stored_page_bytes);
  if (!file.read_at(offset, out))
    fail(page, fmt::format("the file ends before byte {}", offset + out.size()));
  if (directories.big_endian && bits_of(format.stored) > 8) swap_bytes(out, bits_of(format.stored) / 8);
}

TiffFile::TiffFile(const std::filesystem::path& path) : state_(std::make_unique<State>(path)) {
  TIFF* t = state_->tiff.get();
  const char* text = nullptr;
  if (TIFFGetField(t, TIFFTAG_IMAGEDESCRIPTION, &text) == 1 && text != nullptr) description_ = text;
  resolution_ = read_resolution(t);
}
TiffFile::~TiffFile() = default;

const std::filesystem::path& TiffFile::path() const { return state_->file.path(); }
std::int64_t TiffFile::pages() const { return state_->pages; }
const PageFormat& TiffFile::format() const { return state_->format; }
int TiffFile::samples() const { return state_->samples_per_pixel; }
std::int64_t TiffFile::most_pages() const {
  return state_->decoded_bytes_bound() / state_->stored_page_bytes;
}

std::int64_t TiffFile::take_as_contiguous(std::int64_t wanted) {
  State& s = *state_;
  TIFF* t = s.tiff.get();
  if (s.pages != 1 || wanted <= 1 || s.compression != COMPRESSION_NONE || TIFFIsTiled(t) != 0 ||
      s.samples_per_pixel != 1)
    return s.pages;
  const std::uint64_t offset = TIFFGetStrileOffset(t, 0);
  const auto rows =
      std::min<std::int64_t>(tag_or<std::uint32_t>(t, TIFFTAG_ROWSPERSTRIP, 0), s.format.height);
  const auto strip_bytes = static_cast<std::uint64_t>(rows * s.stored_row_bytes);
  for (std::uint32_t strip = 1; strip < TIFFNumberOfStrips(t); ++strip) {
    if (TIFFGetStrileOffset(t, strip) != offset + strip * strip_bytes) return s.pages;
  }
  if (offset == 0 || offset >= s.file.size()) return s.pages;
  const auto room = static_cast<std::int64_t>(s.file.size() - offset) / s.stored_page_bytes;
  if (room <= 1) return s.pages;
  s.first_voxel = offset;
  s.contiguous = true;
  s.pages = std::min(wanted, room);
  return s.pages;
}

void TiffFile::read_page(std::int64_t page, std::span<std::byte> out) {
  State& s = *state_;
  if (is_voxel_type(s.format.stored)) {
    s.read_stored(page, out);
  } else {
    s.samples.resize(static_cast<std::size_t>(s.stored_page_bytes));
    s.read_stored(page, s.samples);
    const std::string why = convert_samples(s.format.stored, s.format.width, s.samples, out);
    if (!why.empty())
      throw InputError(fmt::format("{}: page {} of {} {}", s.file.path().string(), page + 1, s.pages, why));
  }
  // The largest value minus the voxel: the same as the complement of every bit.
  const std::byte largest{static_cast<unsigned char>(s.format.stored == SampleType::bit ? 1 : 255)};
  if (s.format.inverted)
    for (std::byte& byte : out) byte ^= largest;
}

void TiffFile::State::read_stored(std::int64_t page, std::span<std::byte> out) {
  State& s = *this;
  if (s.contiguous) return s.read_contiguous(page, out);
  s.tiff.take_error();
  if (TIFFSetSubDirectory(s.tiff.get(), s.directories.offsets[static_cast<std::size_t>(page)]) != 1)
    s.fail(page, s.tiff.take_error());
  const PageFormat found = s.page_format(page);
  if (found != s.format) {
    s.fail(page, fmt::format("{} x {} voxels of {}{}, unlike the first page ({} x {} of {})", found.width,
                             found.height, to_string(found.stored), found.inverted ? " with 0 as white" : "",
                             s.format.width, s.format.height, to_string(s.format.stored)));
  }
  const PixelLayout layout = pixel_layout(s.tiff.get()).value_or(PixelLayout{});
  if (layout.samples == 1) {
    s.read_plane(page, 0, 1, out);
  } else {
    s.read_greys(page, layout, out);
  }
}

}  // namespace motes::io::detail
