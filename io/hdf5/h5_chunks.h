#pragma once
/// Encodes the chunks of a dataset outside the HDF5 library, which uses only one thread.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace motes::io::detail::h5 {

/// A chunk as stored in the file, after the filters shuffle, deflate and Fletcher-32 in this order.
struct EncodedChunk {
  std::vector<unsigned char> bytes;
  std::uint32_t filter_mask = 0;  ///< bit i: the i-th filter was left out
};

/// Applies filters 0 and 1 and appends the checksum of 2. Chunks that would shrink little (the last digits of
/// positions are noise) get only the checksum. The choice, and that of zlib's strategy, depends only on their
/// contents.
EncodedChunk encode_chunk(const unsigned char* values, std::size_t count, std::size_t value_size);

/// Fletcher's sums of 16-bit words, high byte first, as in the HDF5 library.
std::uint32_t fletcher32(const unsigned char* bytes, std::size_t count);

}  // namespace motes::io::detail::h5
