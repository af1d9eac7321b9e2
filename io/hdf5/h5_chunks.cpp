/// Shuffles, deflates and checksums a chunk as the filters of HDF5 do.

#include "io/hdf5/h5_chunks.h"

#include <algorithm>
#include <new>

#include <zlib.h>

namespace motes::io::detail::h5 {
namespace {

constexpr int kLevel = 1;
constexpr int kMemory = 8;               // zlib's default
constexpr std::size_t kSample = 4096;    // values sampled to decide whether to deflate, and how
constexpr double kWorthDeflating = 0.7;  // largest ratio of sizes at which to deflate
constexpr double kWorthRuns = 1.2;       // largest ratio of sizes at which to look for runs only
constexpr std::uint32_t kOnlyChecksum = 0b011;

/// The first bytes of all values, then all second bytes, and so on.
std::vector<unsigned char> shuffled(const unsigned char* values, std::size_t count, std::size_t value_size) {
  std::vector<unsigned char> out(count * value_size);
  for (std::size_t byte = 0; byte < value_size; ++byte)
    for (std::size_t i = 0; i < count; ++i) out[byte * count + i] = values[i * value_size + byte];
  return out;
}

std::vector<unsigned char> deflated(const std::vector<unsigned char>& bytes, int strategy) {
  z_stream stream{};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, MAX_WBITS, kMemory, strategy) != Z_OK) throw std::bad_alloc();
  std::vector<unsigned char> out(deflateBound(&stream, static_cast<uLong>(bytes.size())));
  stream.next_in = const_cast<Bytef*>(bytes.data());  // zlib only reads it
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

void append_checksum(std::vector<unsigned char>& bytes) {
  const std::uint32_t sum = fletcher32(bytes.data(), bytes.size());
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<unsigned char>(sum >> shift));
}

}  // namespace

std::uint32_t fletcher32(const unsigned char* bytes, std::size_t count) {
  constexpr std::size_t kUntilFolded = 360;  // words before 32-bit sums of sums may overflow
  std::uint32_t sum = 0, sum_of_sums = 0;
  std::size_t left = count / 2;
  const auto fold = [](std::uint32_t value) { return (value & 0xffffU) + (value >> 16); };
  while (left > 0) {
    const std::size_t now = std::min(left, kUntilFolded);
    left -= now;
    for (std::size_t i = 0; i < now; ++i, bytes += 2) {
      sum += static_cast<std::uint32_t>(bytes[0]) << 8 | bytes[1];
      sum_of_sums += sum;
    }
    sum = fold(sum);
    sum_of_sums = fold(sum_of_sums);
  }
  if (count % 2 != 0) {
    sum += static_cast<std::uint32_t>(*bytes) << 8;
    sum_of_sums += sum;
    sum = fold(sum);
    sum_of_sums = fold(sum_of_sums);
  }
  return fold(sum_of_sums) << 16 | fold(sum);
}

EncodedChunk encode_chunk(const unsigned char* values, std::size_t count, std::size_t value_size) {
  EncodedChunk chunk;
  const std::vector<unsigned char> sample = shuffled(values, std::min(count, kSample), value_size);
  const auto size = static_cast<double>(deflated(sample, Z_DEFAULT_STRATEGY).size());
  if (size < kWorthDeflating * static_cast<double>(sample.size())) {
    // Digits of positions hardly repeat but in runs, which are found in less than half the time.
    const bool runs = static_cast<double>(deflated(sample, Z_RLE).size()) <= kWorthRuns * size;
    chunk.bytes = deflated(shuffled(values, count, value_size), runs ? Z_RLE : Z_DEFAULT_STRATEGY);
  } else {
    chunk.bytes.reserve(count * value_size + 4);
    chunk.bytes.assign(values, values + count * value_size);
    chunk.filter_mask = kOnlyChecksum;
  }
  append_checksum(chunk.bytes);
  return chunk;
}

}  // namespace motes::io::detail::h5
