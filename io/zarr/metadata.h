#pragma once
/// The metadata of a Zarr array of version 2 or 3 in one form.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/zarr/store.h"

namespace motes::io::detail::zarr {

enum class Kind { boolean, signed_integer, unsigned_integer, real };

struct DataType {
  Kind kind = Kind::unsigned_integer;
  int bytes = 1;
  std::string name;  ///< as in the metadata
};

enum class Compression { none, blosc, zstd, gzip, zlib, lz4 };

/// How the values of a chunk are stored as bytes.
struct ChunkCoding {
  std::vector<std::size_t> order;  ///< the axes as stored, slowest first
  bool big_endian = false;
  bool inner_checksum = false;  ///< crc32c of the plain bytes, before compression
  Compression compression = Compression::none;
  bool outer_checksum = false;  ///< crc32c of the compressed bytes
};

struct ArrayMetadata {
  std::vector<std::int64_t> shape;
  DataType type;
  std::vector<std::int64_t> chunk;  ///< shape of the part in one file: a chunk, or a shard of chunks
  std::optional<std::vector<std::int64_t>> inner_chunk;  ///< shape of a chunk within a shard
  bool index_first = false, index_checksum = false;      ///< for shards
  bool index_big_endian = false;
  ChunkCoding coding;
  double fill = 0;
  std::string separator = ".";
  bool prefix = false;  ///< keys start with c
  std::vector<std::string> dimension_names;

  std::size_t rank() const { return shape.size(); }
};

/// Throws InputError for damaged metadata, impossible sizes, and unsupported features (filters, other codecs,
/// nested shards), which it names.
ArrayMetadata read_array_metadata(const Store& store, const std::string& node);

bool is_array(const Store& store, const std::string& node);

}  // namespace motes::io::detail::zarr
