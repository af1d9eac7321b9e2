/// ffmpeg reads raw pictures from a pipe and writes the atomic file's temporary. What it says goes to a file
/// without a name, of which the last line is shown where it fails.

#include "app/movie.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <motes/base/errors.h>
#include <motes/base/system/program.h>

namespace motes::app {
namespace {

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

std::vector<std::string> arguments_of(const std::filesystem::path& target, const std::string& output,
                                      int width, int height, double frames_per_s) {
  std::vector<std::string> out{"ffmpeg",   "-loglevel",
                               "error",    "-y",
                               "-f",       "rawvideo",
                               "-pix_fmt", "rgb24",
                               "-s",       fmt::format("{}x{}", width, height),
                               "-r",       fmt::format("{:g}", frames_per_s),
                               "-i",       "pipe:0"};
  const bool gif = lower_case(target.extension().string()) == ".gif";
  const std::vector<std::string> coding =
      gif ? std::vector<std::string>{"-vf", "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none", "-f",
                                     "gif"}  // Players want even sides and two colour samples in four.
          : std::vector<std::string>{"-vf", "crop=floor(iw/2)*2:floor(ih/2)*2", "-pix_fmt", "yuv420p", "-f",
                                     "mp4"};
  out.insert(out.end(), coding.begin(), coding.end());
  out.push_back("file:" + output);
  return out;
}

/// The last line of what was said; the file's end is enough.
std::string last_line(int file) {
  std::string text(4096, '\0');
  const off_t size = lseek(file, 0, SEEK_END);
  const off_t from = size > 4096 ? size - 4096 : 0;
  const ssize_t got = pread(file, text.data(), text.size(), from);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text.substr(text.find_last_of("\r\n") + 1);
}

}  // namespace

void require_movie_name(const std::filesystem::path& target) {
  const std::string extension = lower_case(target.extension().string());
  if (extension != ".mp4" && extension != ".gif")
    throw UsageError("--movie: '" + target.string() + "' is not an .mp4 or .gif file; give one");
}

Movie::Movie(const std::filesystem::path& target, int width, int height, double frames_per_s)
    : file_(target), picture_bytes_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3) {
  const auto words = arguments_of(target, file_.path().string(), width, height, frames_per_s);
  int ends[2];
  messages_ = memfd_create("ffmpeg", MFD_CLOEXEC);
  if (messages_ < 0 || pipe2(ends, O_CLOEXEC) != 0)
    throw ResourceError(std::string("--movie: no pipe to ffmpeg: ") + std::strerror(errno));
  ffmpeg_ = system::start_program(words, {ends[0], -1, messages_}, system::Ending::kill);
  const int error = errno;
  close(ends[0]);
  to_ffmpeg_ = ends[1];
  if (ffmpeg_ < 0)
    throw ResourceError(std::string("--movie: ffmpeg cannot be started: ") + std::strerror(error));
}

Movie::~Movie() {
  if (to_ffmpeg_ >= 0) close(to_ffmpeg_);
  if (ffmpeg_ > 0) {
    system::end_program(ffmpeg_, system::Ending::kill);
  }
  if (messages_ >= 0) close(messages_);
}

void Movie::add(const io::RgbImage& picture) {
  if (picture.bytes.size() != picture_bytes_) throw ResourceError("--movie: the pictures differ in size");
  std::size_t done = 0;
  while (done < picture.bytes.size()) {
    const ssize_t wrote = write(to_ffmpeg_, picture.bytes.data() + done, picture.bytes.size() - done);
    if (wrote > 0)
      done += static_cast<std::size_t>(wrote);
    else if (wrote < 0 && errno != EINTR)
      fail(wait());  // it has closed the pipe: it ends
  }
}

void Movie::finish() {
  close(to_ffmpeg_);
  to_ffmpeg_ = -1;
  if (const int status = wait(); status != 0) fail(status);
  file_.commit();
}

/// The exit status; of a signal 128 and its number.
int Movie::wait() { return system::wait_for_program(std::exchange(ffmpeg_, -1)); }

void Movie::fail(int status) {
  if (status == system::kNotInstalled)
    throw ResourceError(
        "--movie: ffmpeg is not installed; install it (Debian: apt-get install ffmpeg), or draw pictures "
        "with --until");
  const std::string said = last_line(messages_);
  throw ResourceError(fmt::format("{}: ffmpeg failed (exit code {}){}", file_.target().string(), status,
                                  said.empty() ? "; try another size" : ": " + said));
}

}  // namespace motes::app
