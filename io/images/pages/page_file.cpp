#include "io/images/pages/page_file.h"

#include "io/images/input_file.h"
#include "io/images/pages/png_file.h"
#include "io/images/tiff/directories.h"
#include "io/images/tiff/file.h"

namespace motes::io::detail {

bool is_page_head(std::string_view head) { return is_tiff_head(head) || is_png_head(head); }

std::unique_ptr<PageFile> open_page_file(const std::filesystem::path& path) {
  if (is_png_head(InputFile(path).head(16))) return std::make_unique<PngFile>(path);
  return std::make_unique<TiffFile>(path);
}

}  // namespace motes::io::detail
