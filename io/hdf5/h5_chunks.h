#pragma once
/// Encodes the chunks of a dataset outside the HDF5 library, which would use one thread only.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace motes::io::detail::h5 {

/// One chunk as it lies in the file, by the filters shuffle, deflate and Fletcher-32 in that order.
struct EncodedChunk {
  std::vector<unsigned char> bytes;
  std::uint32_t filter_mask = 0;  ///< bit i: the i-th filter was left out
};

/// What filters 0 and 1 do and 2 checks. Chunks that would shrink little (the positions' last digits are
/// noise) are left as they are, but for the checksum; which ones depends on their contents alone.
EncodedChunk encode_chunk(const unsigned char* values, std::size_t count, std::size_t value_size);

/// Fletcher's sums of 16-bit words, high byte first, as the HDF5 library has them.
std::uint32_t fletcher32(const unsigned char* bytes, std::size_t count);

}  // namespace motes::io::detail::h5
