#pragma once
/// Regions of a Zarr array, read with one chunk in memory at a time.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/zarr/metadata.h"

namespace motes::io::detail::zarr {

class Array {
 public:
  /// Throws as read_array_metadata does.
  Array(Store store, std::string node);

  const ArrayMetadata& metadata() const { return metadata_; }
  const std::string& node() const { return node_; }

  /// The values [start, start + count) along every axis, last axis fastest, in the machine's byte order;
  /// values of missing chunks are the fill value. `out`: as many values as the product of count. Throws
  /// InputError for chunks that are damaged or do not have the size in the metadata.
  void read(std::span<const std::int64_t> start, std::span<const std::int64_t> count,
            std::span<std::byte> out) const;

  /// The whole array as numbers, converted; its rank must be `rank`. Throws InputError if it has more than
  /// `most` values.
  std::vector<double> doubles(std::size_t rank, std::int64_t most) const;
  std::vector<std::int64_t> integers(std::size_t rank, std::int64_t most) const;

 private:
  template <class T>
  std::vector<T> values(std::size_t rank, std::int64_t most) const;
  std::string chunk_key(std::span<const std::int64_t> index) const;
  void fill(std::span<std::byte> out) const;

  Store store_;
  std::string node_;
  ArrayMetadata metadata_;
};

}  // namespace motes::io::detail::zarr
