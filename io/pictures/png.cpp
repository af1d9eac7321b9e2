/// PNG files through libpng.

#include <csetjmp>
#include <cstddef>
#include <exception>
#include <string>

#include <png.h>
#include <zlib.h>

#include <motes/base/errors.h>
#include <motes/io/atomic_file.h>
#include <motes/io/png.h>

namespace motes::io {
namespace {

/// Errors jump back to encode(), as libpng wants it: its frames know no C++ exceptions.
[[noreturn]] void jump_back(png_structp png, png_const_charp) { png_longjmp(png, 1); }
void ignore_warning(png_structp, png_const_charp) {}

void append(png_structp png, png_bytep bytes, std::size_t count) {
  try {
    static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<const char*>(bytes), count);
  } catch (const std::exception&) {  // no memory
    png_error(png, "");
  }
}
void flush_nothing(png_structp) {}

/// For drawings of overlapping lines, PNG's filters and the search for repeats are not worth their time:
/// without them, files are as small as at level 3 and take half as long to write. For microscope images the
/// filter pays: files are a third smaller.
void choose_compression(png_structp png, PictureOf contents) {
  const bool lines = contents == PictureOf::lines;
  png_set_compression_level(png, lines ? 1 : 3);
  if (lines) png_set_compression_strategy(png, Z_RLE);
  png_set_filter(png, PNG_FILTER_TYPE_BASE, lines ? PNG_FILTER_NONE : PNG_FILTER_UP);
}

/// False if libpng gives up: out of memory, or sizes that it does not take.
bool encode(const RgbImage& picture, PictureOf contents, std::string& out) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, &jump_back, &ignore_warning);
  if (png == nullptr) return false;
  png_infop info = png_create_info_struct(png);
  if (info == nullptr || setjmp(png_jmpbuf(png)) != 0) {
    png_destroy_write_struct(&png, &info);
    return false;
  }
  png_set_write_fn(png, &out, &append, &flush_nothing);
  png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width), static_cast<png_uint_32>(picture.height),
               8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  choose_compression(png, contents);
  png_write_info(png, info);
  const std::size_t row_bytes = static_cast<std::size_t>(picture.width) * 3;
  for (int y = 0; y < picture.height; ++y)
    png_write_row(png, picture.bytes.data() + static_cast<std::size_t>(y) * row_bytes);
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return true;
}

}  // namespace

void write_png(const std::filesystem::path& path, const RgbImage& picture, PictureOf contents) {
  std::string out;
  if (!encode(picture, contents, out))
    throw ResourceError(path.string() + ": not enough memory for this picture");
  write_text(path, out);
}

}  // namespace motes::io
