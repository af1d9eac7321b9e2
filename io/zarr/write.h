#pragma once
/// `values` [product of shape], last axis fastest. Throws ResourceError.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "io/zarr/store.h"

namespace motes::io::detail::zarr {

void write_group(const std::filesystem::path& folder, const Json& attributes = Json::object());

/// `values` [shape's product], last axis fastest. Throws ResourceError.
void write_array(const std::filesystem::path& folder, const std::vector<std::int64_t>& shape,
                 std::span<const double> values);
void write_array(const std::filesystem::path& folder, const std::vector<std::int64_t>& shape,
                 std::span<const std::int64_t> values);
void write_array(const std::filesystem::path& folder, const std::vector<std::int64_t>& shape,
                 std::span<const std::uint64_t> values);

}  // namespace motes::io::detail::zarr
