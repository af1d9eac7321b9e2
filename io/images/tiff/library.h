#pragma once
/// A libtiff handle that owns the file, and catches messages that the library would print.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include <tiffio.h>

namespace motes::io::detail {

class TiffHandle {
 public:
  /// Opens with libtiff's `mode`. `max_bytes` bounds each allocation that the file asks for (0: no bound).
  /// After a failure, get() is null and take_error() gives the reason.
  TiffHandle(const std::filesystem::path& path, const char* mode, std::int64_t max_bytes);

  TIFF* get() const { return tiff_.get(); }

  /// Closes now instead of in the destructor.
  void close() { tiff_.reset(); }

  /// The first error since the last call, on one line; "no reason given" if there was none.
  std::string take_error();

 private:
  struct Close {
    void operator()(TIFF* tiff) const { TIFFClose(tiff); }
  };
  std::unique_ptr<std::string>
      error_;  // at a fixed address, and destroyed after the handle that writes to it
  std::unique_ptr<TIFF, Close> tiff_;
};

}  // namespace motes::io::detail
