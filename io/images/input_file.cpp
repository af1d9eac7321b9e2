/// Input files, with errors for users.

#include "io/images/input_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <motes/base/errors.h>

#include "io/files/open_error.h"

namespace motes::io::detail {

InputFile::InputFile(std::filesystem::path path) : path_(std::move(path)) {
  int error = 0;
  file_ = system::ReadableFile(path_, error);
  if (error == 0) return;
  if (error == system::ReadableFile::kNotRegular)
    throw InputError(path_.string() + ": this is not a regular file; check the path (input.path)");
  const bool pattern = path_.filename().string().find_first_of("*?") != std::string::npos;
  if (pattern && error == ENOENT)
    throw InputError(path_.string() + ": cannot open: " + std::strerror(error) +
                     "; give the folder, not a pattern");
  fail_to_open(path_, "open", error);
}

bool InputFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > size() || out.size() > size() - offset) return false;
  int error = 0;
  const std::size_t got = file_.read_at(offset, out, error);
  if (error != 0)
    throw InputError(path_.string() + ": cannot read at byte " + std::to_string(offset + got) + ": " +
                     std::strerror(error) + "; copy the file again");
  return got == out.size();
}

std::string InputFile::head(std::size_t count) const {
  std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(count, size())), '\0');
  if (!read_at(0, std::as_writable_bytes(std::span(bytes)))) bytes.clear();
  return bytes;
}

}  // namespace motes::io::detail
