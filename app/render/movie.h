#pragma once
/// Movies, encoded by the program ffmpeg.

#include <filesystem>
#include <string>

#include <motes/base/system/descriptor.h>
#include <motes/io/atomic_file.h>
#include <motes/io/png.h>

namespace motes::app {

/// Throws UsageError unless the name ends in .mp4 or .gif.
void require_movie_name(const std::filesystem::path& target);

/// A movie whose pictures are added one by one. The file appears only after finish().
class Movie {
 public:
  /// Throws ResourceError, with what to install, if ffmpeg cannot be started, or if the target cannot be
  /// written.
  Movie(const std::filesystem::path& target, int width, int height, double frames_per_s);
  /// Stops ffmpeg and removes an unfinished movie.
  ~Movie();
  Movie(const Movie&) = delete;
  Movie& operator=(const Movie&) = delete;

  /// Throws ResourceError with the message of ffmpeg if it fails.
  void add(const io::RgbImage& picture);
  /// Waits for ffmpeg and gives the file its name. Throws as add().
  void finish();

 private:
  [[noreturn]] void fail(int status);
  int wait();

  io::AtomicFile file_;
  std::size_t picture_bytes_;
  system::Descriptor to_ffmpeg_;  ///< the pipe of pictures
  system::Descriptor messages_;   ///< a file that receives the messages of ffmpeg
  int ffmpeg_ = -1;               ///< process number; -1: not running
};

}  // namespace motes::app
