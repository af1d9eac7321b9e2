#pragma once
/// Checks of a .vtp file before VTK reads it.

#include <filesystem>
#include <string_view>

namespace motes::io::detail {

/// VTK's reader divides by block sizes, allocates by counts and dereferences arrays of unknown type as the
/// file states them. Throws InputError where XML, types, counts, offsets or block sizes cannot be those of a
/// whole PolyData file of this size. Data is not touched: O(size of the XML).
void check_vtp(const std::filesystem::path& path, std::string_view bytes);

}  // namespace motes::io::detail
