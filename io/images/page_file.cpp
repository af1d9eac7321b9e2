#include "io/images/page_file.h"

#include "io/images/input_file.h"
#include "io/images/png_file.h"
#include "io/images/tiff_directories.h"
#include "io/images/tiff_file.h"

namespace motes::io::detail {

bool is_page_head(std::string_view head) { return is_tiff_head(head) || is_png_head(head); }

std::unique_ptr<PageFile> open_page_file(const std::filesystem::path& path) {
  if (is_png_head(InputFile(path).head(16))) return std::make_unique<PngFile>(path);
  return std::make_unique<TiffFile>(path);
}

}  // namespace motes::io::detail
