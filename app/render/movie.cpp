/// Movies. ffmpeg reads raw pictures from a pipe and writes the temporary of an atomic file. Its messages
/// go to a file in memory, whose last line is shown if ffmpeg fails.

#include "app/render/movie.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

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
  // Players of MP4 require even sides and 4:2:0 colour.
  const std::vector<std::string> coding =
      gif ? std::vector<std::string>{"-vf", "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none", "-f",
                                     "gif"}
          : std::vector<std::string>{"-vf", "crop=floor(iw/2)*2:floor(ih/2)*2", "-pix_fmt", "yuv420p", "-f",
                                     "mp4"};
  out.insert(out.end(), coding.begin(), coding.end());
  out.push_back("file:" + output);
  return out;
}

std::string last_line(const system::Descriptor& file) {
  std::string text = system::read_tail(file, 4096);
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
  int error = 0;
  messages_ = system::make_memory_file(error);
  system::Pipe pipe;
  if (error == 0) pipe = system::make_pipe(error);
  if (error != 0) throw ResourceError(std::string("--movie: no pipe to ffmpeg: ") + std::strerror(error));
  ffmpeg_ =
      system::start_program(words, {pipe.read_end.number(), -1, messages_.number()}, system::Ending::kill);
  error = errno;
  if (ffmpeg_ < 0)
    throw ResourceError(std::string("--movie: ffmpeg cannot be started: ") + std::strerror(error));
  to_ffmpeg_ = std::move(pipe.write_end);
}

Movie::~Movie() {
  to_ffmpeg_.close();
  if (ffmpeg_ > 0) system::end_program(ffmpeg_, system::Ending::kill);
}

void Movie::add(const io::RgbImage& picture) {
  if (picture.bytes.size() != picture_bytes_) throw ResourceError("--movie: the pictures differ in size");
  if (system::write_all(to_ffmpeg_, std::as_bytes(std::span(picture.bytes))) != 0)
    fail(wait());  // ffmpeg has closed the pipe, so it is ending
}

void Movie::finish() {
  to_ffmpeg_.close();
  if (const int status = wait(); status != 0) fail(status);
  file_.commit();
}

/// The exit status, or 128 plus the number of the signal that ended ffmpeg.
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
