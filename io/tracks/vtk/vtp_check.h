#pragma once
/// Checks of a .vtp file before VTK reads it.

#include <filesystem>
#include <string_view>

namespace motes::io::detail {

/// VTK's reader divides by block sizes, allocates by counts and dereferences arrays of unknown type as the
/// file states them. Throws InputError if XML, types, counts, offsets or block sizes are not possible for a
/// complete PolyData file of this size. Does not read the data: O(size of the XML).
void check_vtp(const std::filesystem::path& path, std::string_view bytes);

}  // namespace motes::io::detail
