#pragma once
/// Errors of inputs that cannot be opened.

#include <filesystem>
#include <string_view>

namespace motes::io::detail {

/// Throws for a file or folder that cannot be opened, listed, ... (`action`), for `error`, an errno: InputError
/// with what to check (the path or its permissions), or ResourceError if the machine lacks something.
[[noreturn]] void fail_to_open(const std::filesystem::path& path, std::string_view action, int error);

}  // namespace motes::io::detail
