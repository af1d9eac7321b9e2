#pragma once
/// Text files that may be compressed with gzip.

#include <filesystem>
#include <string>
#include <string_view>

namespace motes::io::detail {

constexpr std::string_view kGzipSignature = "\x1f\x8b";

/// The file's bytes, inflated if they are gzip (also of several members). Throws as read_whole_file,
/// InputError for damaged gzip data, ResourceError if the text needs more than half of the machine's memory.
std::string read_inflated(const std::filesystem::path& path);

/// At most `count` bytes from the start of the text, inflated if needed; fewer if the gzip data are damaged.
std::string inflated_start(const std::filesystem::path& path, std::size_t count);

}  // namespace motes::io::detail
