/// libpng decodes row by row; an interlaced image needs memory for all its samples. Chunks that do not
/// concern the pixels are skipped, so that no compressed text or colour profile is unpacked.

#include "io/images/pages/png_file.h"

#include <array>
#include <bit>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <png.h>

#include <motes/base/errors.h>

#include "io/files/checked.h"
#include "io/images/pages/grey_pixels.h"
#include "io/jail/jail.h"

namespace motes::io::detail {
namespace {

constexpr std::string_view kPngSignature = "\x89PNG\r\n\x1a\n";

/// One pass of libpng over a file. libpng's errors jump: no object with a destructor may be made between
/// setjmp and its calls.
class PngDecoder {
 public:
  explicit PngDecoder(const InputFile& file) : file_(file) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &fail, &ignore_warning);
    if (png_ == nullptr) throw std::bad_alloc();
    info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
  }
  ~PngDecoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  /// Reads up to the pixels, and chooses how they are read. Throws as read_page.
  void read_header() {
    if (!try_header()) report();
  }
  PageFormat format() const {
    return {static_cast<std::int64_t>(png_get_image_width(png_, info_)),
            static_cast<std::int64_t>(png_get_image_height(png_, info_)),
            png_get_bit_depth(png_, info_) == 16 ? SampleType::u16 : SampleType::u8};
  }
  std::int64_t row_bytes() const { return static_cast<std::int64_t>(png_get_rowbytes(png_, info_)); }
  /// Rows of samples that must be in memory at a time.
  std::int64_t rows_at_once() const { return passes_ > 1 ? format().height : 1; }

  /// Decodes all rows with `samples` [rows_at_once() * row_bytes()] into greys.
  OddPixel read_greys(std::span<std::byte> samples, std::span<std::byte> out) {
    OddPixel odd;
    if (!try_greys(samples.data(), out.data(), odd)) report();
    return odd;
  }

 private:
  static void fail(png_structp png, png_const_charp message) {
    auto& self = *static_cast<PngDecoder*>(png_get_error_ptr(png));
    std::snprintf(self.message_.data(), self.message_.size(), "%s", message);
    png_longjmp(png, 1);
  }
  static void ignore_warning(png_structp, png_const_charp) {}
  static void read_bytes(png_structp png, png_bytep out, std::size_t count) {
    if (!static_cast<PngDecoder*>(png_get_io_ptr(png))->take({reinterpret_cast<std::byte*>(out), count}))
      png_error(png, "it ends early");
  }

  /// The next bytes of the file. Keeps exceptions, which must not pass through libpng.
  bool take(std::span<std::byte> out) noexcept {
    try {
      if (!file_.read_at(offset_, out)) return false;
    } catch (...) {
      failure_ = std::current_exception();
      return false;
    }
    offset_ += out.size();
    return true;
  }

  [[noreturn]] void report() const {
    if (failure_) std::rethrow_exception(failure_);
    const std::string_view why = message_.data();
    if (why.find("memory") != std::string_view::npos) throw std::bad_alloc();
    throw InputError(fmt::format("{}: {}: the file is truncated or damaged; copy or export it again",
                                 file_.path().string(), why));
  }

  bool try_header() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, this, &read_bytes);
    constexpr int kAllButPixels = -1;  // keeps the palette and its transparency
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, kAllButPixels);
    png_read_info(png_, info_);
    const int depth = png_get_bit_depth(png_, info_), colour = png_get_color_type(png_, info_);
    if (colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (colour == PNG_COLOR_TYPE_GRAY && depth < 8) png_set_expand_gray_1_2_4_to_8(png_);
    if (png_get_valid(png_, info_, PNG_INFO_tRNS) != 0) png_set_tRNS_to_alpha(png_);
    if (std::endian::native == std::endian::little && depth == 16) png_set_swap(png_);
    passes_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  bool try_greys(std::byte* samples, std::byte* out, OddPixel& odd) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    const std::int64_t width = png_get_image_width(png_, info_), height = png_get_image_height(png_, info_);
    const int channels = png_get_channels(png_, info_);
    const int sample_bytes = png_get_bit_depth(png_, info_) == 16 ? 2 : 1;
    for (int pass = 0; pass < passes_; ++pass) {
      for (std::int64_t y = 0; y < height; ++y) {
        std::byte* row = samples + (passes_ > 1 ? y * row_bytes() : 0);
        png_read_row(png_, reinterpret_cast<png_bytep>(row), nullptr);
        if (pass + 1 < passes_) continue;
        copy_greys(row, channels, sample_bytes, width, y, out + y * width * sample_bytes, odd);
      }
    }
    png_read_end(png_, nullptr);
    return true;
  }

  const InputFile& file_;
  std::uint64_t offset_ = 0;
  std::exception_ptr failure_;
  std::array<char, 200> message_{};
  int passes_ = 1;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

bool is_png_head(std::string_view head) { return head.starts_with(kPngSignature); }

PngFile::PngFile(const std::filesystem::path& path) : file_(path) {
  PngDecoder decoder(file_);
  decoder.read_header();
  format_ = decoder.format();
  const auto voxels = checked_product({format_.width, format_.height, bytes_per_voxel(format_.type())});
  const auto samples = checked_product({decoder.row_bytes(), decoder.rows_at_once()});
  const auto most = static_cast<std::int64_t>(Jail::memory_for(file_.size()));
  if (!voxels || !samples || *voxels > most || *samples > most - *voxels)
    throw InputError(
        fmt::format("{}: {} x {} voxels cannot come from {} bytes of file: it is damaged; copy or export it "
                    "again",
                    path.string(), format_.width, format_.height, file_.size()));
}

void PngFile::read_page(std::int64_t /*page*/, std::span<std::byte> out) {
  PngDecoder decoder(file_);
  decoder.read_header();
  const auto voxels = format_.width * format_.height * bytes_per_voxel(format_.type());
  if (decoder.format() != format_ || std::ssize(out) != voxels)
    throw InputError(path().string() + ": the file has changed since it was opened; run the command again");
  std::vector<std::byte> samples(static_cast<std::size_t>(decoder.row_bytes() * decoder.rows_at_once()));
  const OddPixel odd = decoder.read_greys(samples, out);
  if (odd.kind != OddPixel::Kind::none)
    throw InputError(fmt::format("{}: {}", path().string(), to_string(odd)));
}

}  // namespace motes::io::detail
