#pragma once
/// A handle of libtiff that owns the file, and catches what the library would print.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include <tiffio.h>

namespace motes::io::detail {

class TiffHandle {
 public:
  /// Opens with libtiff's `mode`. `max_bytes` bounds any one allocation that the file's numbers ask for (0:
  /// no bound). After a failure `get()` is null and take_error() says why.
  TiffHandle(const std::filesystem::path& path, const char* mode, std::int64_t max_bytes);

  TIFF* get() const { return tiff_.get(); }

  /// Closes now; the destructor does it otherwise.
  void close() { tiff_.reset(); }

  /// The first error since the last call, on one line; "no reason given" when there was none.
  std::string take_error();

 private:
  struct Close {
    void operator()(TIFF* tiff) const { TIFFClose(tiff); }
  };
  std::unique_ptr<std::string>
      error_;  // at a fixed address, and living longer than the handle that writes to it
  std::unique_ptr<TIFF, Close> tiff_;
};

}  // namespace motes::io::detail
