/// Decompression of gzip files through zlib.

#include "io/files/gzip.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <zlib.h>

#include <motes/base/errors.h>
#include <motes/base/system/memory.h>

#include "io/files/text.h"

namespace motes::io::detail {
namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib's value for gzip

std::size_t half_of_memory() { return static_cast<std::size_t>(system::physical_memory()) / 2; }

class Inflater {
 public:
  explicit Inflater(std::string_view bytes) : rest_(bytes) {
    if (inflateInit2(&stream_, kGzipWindow) != Z_OK) throw ResourceError("no memory to inflate a file");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Inflates until `out` has `most` bytes or the input ends; false for damaged data.
  bool fill(std::string& out, std::size_t most) {
    constexpr std::size_t kPiece = 1 << 20;
    while (!done_ && out.size() < most) {
      const std::size_t before = out.size(), piece = std::min(kPiece, most - before);
      out.resize(before + piece);
      const std::size_t input = std::min<std::size_t>(rest_.size(), std::numeric_limits<uInt>::max());
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest_.data()));  // zlib only reads it
      stream_.avail_in = static_cast<uInt>(input);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + before);
      stream_.avail_out = static_cast<uInt>(piece);
      const int state = inflate(&stream_, Z_NO_FLUSH);
      out.resize(before + piece - stream_.avail_out);
      rest_.remove_prefix(input - stream_.avail_in);
      if (state == Z_STREAM_END) {
        done_ = !rest_.starts_with(kGzipSignature);
        if (!done_ && inflateReset(&stream_) != Z_OK) return false;
      } else if (state != Z_OK) {
        return false;
      }
    }
    return true;
  }
  bool done() const { return done_; }

 private:
  std::string_view rest_;
  z_stream stream_{};
  bool done_ = false;
};

}  // namespace

std::string read_inflated(const std::filesystem::path& path) {
  std::string bytes = read_whole_file(path);
  if (!std::string_view(bytes).starts_with(kGzipSignature)) return bytes;
  std::string text;
  Inflater inflater(bytes);
  const std::size_t most = half_of_memory();
  if (!inflater.fill(text, most))
    throw InputError(path.string() + ": the gzip data are truncated or damaged after " +
                     std::to_string(text.size()) + " bytes of text; copy the file again");
  if (!inflater.done())
    throw ResourceError(path.string() +
                        ": inflates to more than half of this machine's memory; split the table");
  return text;
}

std::string inflated_start(const std::filesystem::path& path, std::size_t count) {
  const std::string bytes = read_file_start(path, count);
  if (!std::string_view(bytes).starts_with(kGzipSignature)) return bytes;
  std::string text;
  Inflater(bytes).fill(text, count);
  return text;
}

}  // namespace motes::io::detail
