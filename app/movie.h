#pragma once
/// Movies, encoded by the program ffmpeg.

#include <filesystem>
#include <string>

#include <motes/io/atomic_file.h>
#include <motes/io/png.h>

namespace motes::app {

/// Throws UsageError unless the name ends in .mp4 or .gif.
void require_movie_name(const std::filesystem::path& target);

/// A movie to which pictures are added one by one. The file appears whole, by finish(), or not at all.
class Movie {
 public:
  /// Throws ResourceError, saying what to install, where ffmpeg cannot be started, and where the target
  /// cannot be written.
  Movie(const std::filesystem::path& target, int width, int height, double frames_per_s);
  /// Stops ffmpeg and leaves nothing behind where the movie is not finished.
  ~Movie();
  Movie(const Movie&) = delete;
  Movie& operator=(const Movie&) = delete;

  /// Throws ResourceError, with what ffmpeg says, where it fails.
  void add(const io::RgbImage& picture);
  void finish();

 private:
  [[noreturn]] void fail(int status);
  int wait();

  io::AtomicFile file_;
  std::size_t picture_bytes_;
  int to_ffmpeg_ = -1, messages_ = -1;
  int ffmpeg_ = -1;
};

}  // namespace motes::app
