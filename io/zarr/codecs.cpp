/// Decompression (zlib, gzip, blosc, zstd, lz4) and CRC-32C checksums.

#include "io/zarr/codecs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include <blosc.h>
#include <lz4.h>
#include <zlib.h>
#include <zstd.h>

namespace motes::io::detail::zarr {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kMostExpansion = 1100;  // the limit of deflate is 1032, that of lz4 lower

std::array<std::uint32_t, 256> make_crc_table() {
  constexpr std::uint32_t kReversed = 0x82F63B78;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ kReversed : crc >> 1;
    table[i] = crc;
  }
  return table;
}

std::uint32_t little32(Bytes bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= static_cast<std::uint32_t>(bytes[i]) << (8 * i);
  return value;
}

/// Removes the checksum at the end; false if it is wrong or missing.
bool take_checksum(Bytes& bytes) {
  if (bytes.size() < 4) return false;
  const Bytes body = bytes.first(bytes.size() - 4);
  if (crc32c(body) != little32(bytes.last(4))) return false;
  bytes = body;
  return true;
}

std::string decode_blosc(Bytes stored, std::vector<std::byte>& out, std::size_t expected) {
  std::size_t claimed = 0;
  if (blosc_cbuffer_validate(stored.data(), stored.size(), &claimed) != 0)
    return "the blosc data are damaged";
  if (claimed != expected) return "the blosc data do not have the chunk's number of bytes";
  out.resize(expected);
  const int got = blosc_decompress_ctx(stored.data(), out.data(), out.size(), 1);
  return got >= 0 && static_cast<std::size_t>(got) == expected ? "" : "the blosc data are damaged";
}

std::string decode_zstd(Bytes stored, std::vector<std::byte>& out, std::size_t expected) {
  const auto claimed = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (claimed == ZSTD_CONTENTSIZE_ERROR) return "the zstd data are damaged";
  if (claimed != ZSTD_CONTENTSIZE_UNKNOWN && claimed > expected)
    return "the zstd data have more bytes than the chunk";
  out.resize(expected);
  const std::size_t got = ZSTD_decompress(out.data(), out.size(), stored.data(), stored.size());
  return ZSTD_isError(got) == 0 && got == expected ? "" : "the zstd data are damaged";
}

std::string decode_deflate(Bytes stored, std::vector<std::byte>& out, std::size_t expected) {
  constexpr int kEitherHeader = 15 + 32;
  constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
  if (stored.size() > kMost || expected > kMost) return "chunks beyond 4 GiB are not supported";
  if (expected / kMostExpansion > stored.size()) return "the chunk is larger than its bytes can inflate to";
  out.resize(expected);
  z_stream stream{};
  if (inflateInit2(&stream, kEitherHeader) != Z_OK) return "no memory to inflate";
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(stored.data()));  // zlib only reads it
  stream.avail_in = static_cast<uInt>(stored.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(expected);
  const int state = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  return state == Z_STREAM_END && stream.avail_out == 0 ? "" : "the gzip data are damaged";
}

/// numcodecs writes the size before the block.
std::string decode_lz4(Bytes stored, std::vector<std::byte>& out, std::size_t expected) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  if (stored.size() < 4 || stored.size() > kMost || expected > kMost || little32(stored) != expected)
    return "the lz4 data do not have the chunk's number of bytes";
  if (expected / kMostExpansion > stored.size()) return "the chunk is larger than its bytes can inflate to";
  out.resize(expected);
  const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data()) + 4,
                                      reinterpret_cast<char*>(out.data()),
                                      static_cast<int>(stored.size() - 4), static_cast<int>(expected));
  return got >= 0 && static_cast<std::size_t>(got) == expected ? "" : "the lz4 data are damaged";
}

std::string decompress(Compression compression, Bytes stored, std::vector<std::byte>& out,
                       std::size_t expected) {
  switch (compression) {
    case Compression::blosc:
      return decode_blosc(stored, out, expected);
    case Compression::zstd:
      return decode_zstd(stored, out, expected);
    case Compression::gzip:
    case Compression::zlib:
      return decode_deflate(stored, out, expected);
    case Compression::lz4:
      return decode_lz4(stored, out, expected);
    case Compression::none:
      break;
  }
  if (stored.size() != expected)
    return "it has " + std::to_string(stored.size()) + " bytes, but the chunk has " +
           std::to_string(expected);
  out.assign(stored.begin(), stored.end());
  return "";
}

}  // namespace

std::uint32_t crc32c(Bytes bytes) {
  static const std::array<std::uint32_t, 256> table = make_crc_table();
  std::uint32_t crc = 0xFFFFFFFF;
  for (const std::byte byte : bytes)
    crc = (crc >> 8) ^ table[(crc ^ static_cast<std::uint32_t>(byte)) & 0xFF];
  return crc ^ 0xFFFFFFFF;
}

std::string decode_chunk(const ChunkCoding& coding, Bytes stored, std::vector<std::byte>& out,
                         std::size_t expected) {
  if (coding.outer_checksum && !take_checksum(stored)) return "the checksum is wrong";
  const std::size_t inner = expected + (coding.inner_checksum ? 4 : 0);
  if (std::string fault = decompress(coding.compression, stored, out, inner); !fault.empty()) return fault;
  if (coding.inner_checksum) {
    Bytes plain(out);
    if (!take_checksum(plain)) return "the checksum is wrong";
    out.resize(expected);
  }
  return "";
}

void swap_bytes(std::span<std::byte> values, int bytes) {
  if (bytes <= 1) return;
  const auto width = static_cast<std::size_t>(bytes);
  for (std::size_t i = 0; i + width <= values.size(); i += width)
    std::reverse(values.begin() + static_cast<std::ptrdiff_t>(i),
                 values.begin() + static_cast<std::ptrdiff_t>(i + width));
}

}  // namespace motes::io::detail::zarr
