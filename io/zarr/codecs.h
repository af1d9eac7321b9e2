#pragma once
/// Decompression and checks of the bytes of a chunk.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/zarr/metadata.h"

namespace motes::io::detail::zarr {

/// CRC-32C (Castagnoli), as in Zarr's codec and iSCSI.
std::uint32_t crc32c(std::span<const std::byte> bytes);

/// Decodes into `out`, which must become `expected` bytes; larger claims are rejected before memory is
/// allocated. Returns the fault; empty: none.
std::string decode_chunk(const ChunkCoding& coding, std::span<const std::byte> stored,
                         std::vector<std::byte>& out, std::size_t expected);

/// Reverses the bytes of each value.
void swap_bytes(std::span<std::byte> values, int bytes);

}  // namespace motes::io::detail::zarr
