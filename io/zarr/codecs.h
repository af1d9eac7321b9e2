#pragma once
/// Decompression and checks of the bytes of a chunk.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/zarr/metadata.h"

namespace motes::io::detail::zarr {

/// CRC-32C (Castagnoli), as Zarr's codec and iSCSI have it.
std::uint32_t crc32c(std::span<const std::byte> bytes);

/// Decodes into `out`, whose size is what the chunk must have: what a file claims beyond that is refused
/// before memory is asked for. Returns what is wrong, empty where nothing is.
std::string decode_chunk(const ChunkCoding& coding, std::span<const std::byte> stored,
                         std::vector<std::byte>& out, std::size_t expected);

/// Values in the machine's byte order.
void swap_bytes(std::span<std::byte> values, int bytes);

}  // namespace motes::io::detail::zarr
