#pragma once
/// Zarr stores written by the tests, version 2 and 3, with every codec that the reader knows.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <blosc.h>
#include <catch2/catch.hpp>
#include <zlib.h>
#include <zstd.h>

namespace motes::testing {

struct ZarrSpec {
  int version = 3;
  std::vector<std::int64_t> shape, chunk;
  std::vector<std::int64_t> inner;  ///< chunk shape within a shard; empty: no shards
  std::string codec;                ///< "", blosc, zstd, gzip
  std::string type = "uint16";
};

inline void put(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string list(const std::vector<std::int64_t>& sizes) {
  std::string text = "[";
  for (const auto size : sizes) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

inline std::string encoded(const std::string& codec, const std::string& bytes) {
  if (codec.empty()) return bytes;
  std::string out(bytes.size() + 4096, '\0');
  std::size_t size = 0;
  if (codec == "blosc") {
    const int got =
        blosc_compress_ctx(5, 1, 2, bytes.size(), bytes.data(), out.data(), out.size(), "lz4", 0, 1);
    REQUIRE(got > 0);
    size = static_cast<std::size_t>(got);
  } else if (codec == "zstd") {
    size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1);
    REQUIRE(ZSTD_isError(size) == 0);
  } else {
    z_stream stream{};
    REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    size = stream.total_out;
    deflateEnd(&stream);
  }
  out.resize(size);
  return out;
}

/// The bytes of the box at `start` of an array of `shape`, with zeros beyond its edges.
inline std::string box_bytes(const std::vector<std::uint16_t>& values, const std::vector<std::int64_t>& shape,
                             const std::vector<std::int64_t>& start, const std::vector<std::int64_t>& count) {
  std::string out;
  std::vector<std::int64_t> at(shape.size(), 0);
  while (true) {
    std::int64_t index = 0;
    bool inside = true;
    for (std::size_t a = 0; a < shape.size(); ++a) {
      inside = inside && start[a] + at[a] < shape[a];
      index = index * shape[a] + start[a] + at[a];
    }
    const std::uint16_t value = inside ? values[static_cast<std::size_t>(index)] : 0;
    out += static_cast<char>(value & 255);
    out += static_cast<char>(value >> 8);
    std::size_t axis = shape.size();
    while (axis > 0 && ++at[axis - 1] == count[axis - 1]) at[--axis] = 0;
    if (axis == 0) return out;
  }
}

inline std::string little64(std::uint64_t value) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

inline std::string codecs_json(const ZarrSpec& spec) {
  std::string plain = R"({"name": "bytes", "configuration": {"endian": "little"}})";
  if (!spec.codec.empty()) plain += ", {\"name\": \"" + spec.codec + "\", \"configuration\": {}}";
  if (spec.inner.empty()) return "[" + plain + "]";
  return "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": " + list(spec.inner) +
         ", \"codecs\": [" + plain + R"(], "index_codecs": [{"name": "bytes"}], "index_location": "end"}}])";
}

inline std::string array_json(const ZarrSpec& spec) {
  if (spec.version == 2) {
    const std::string codec = spec.codec.empty() ? "null" : "{\"id\": \"" + spec.codec + "\"}";
    return "{\"zarr_format\": 2, \"shape\": " + list(spec.shape) + ", \"chunks\": " + list(spec.chunk) +
           ", \"dtype\": \"<u2\", \"compressor\": " + codec +
           R"(, "fill_value": 0, "order": "C", "filters": null, "dimension_separator": "/"})";
  }
  return "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": " + list(spec.shape) +
         ", \"data_type\": \"" + spec.type +
         R"(", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": )" + list(spec.chunk) +
         R"(}}, "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": 0, "codecs": )" +
         codecs_json(spec) + "}";
}

/// Writes an array of uint16; chunks of zeros are omitted, as by other writers.
inline void write_zarr_array(const std::filesystem::path& node, const ZarrSpec& spec,
                             const std::vector<std::uint16_t>& values) {
  put(node / (spec.version == 2 ? ".zarray" : "zarr.json"), array_json(spec));
  std::vector<std::int64_t> at(spec.shape.size(), 0), grid;
  for (std::size_t a = 0; a < spec.shape.size(); ++a)
    grid.push_back((spec.shape[a] + spec.chunk[a] - 1) / spec.chunk[a]);
  while (true) {
    std::filesystem::path file = spec.version == 2 ? node : node / "c";
    std::vector<std::int64_t> start;
    for (std::size_t a = 0; a < at.size(); ++a) {
      file /= std::to_string(at[a]);
      start.push_back(at[a] * spec.chunk[a]);
    }
    if (spec.inner.empty()) {
      const std::string bytes = box_bytes(values, spec.shape, start, spec.chunk);
      if (bytes.find_first_not_of('\0') != std::string::npos) put(file, encoded(spec.codec, bytes));
    } else {
      std::string shard, index;
      std::vector<std::int64_t> in(at.size(), 0);
      for (bool more = true; more;) {
        std::vector<std::int64_t> from = start;
        for (std::size_t a = 0; a < in.size(); ++a) from[a] += in[a] * spec.inner[a];
        const std::string bytes = box_bytes(values, spec.shape, from, spec.inner);
        const bool empty = bytes.find_first_not_of('\0') == std::string::npos;
        const std::string stored = empty ? "" : encoded(spec.codec, bytes);
        index += empty ? little64(~0ull) + little64(~0ull) : little64(shard.size()) + little64(stored.size());
        shard += stored;
        std::size_t axis = in.size();
        while (axis > 0 && ++in[axis - 1] == spec.chunk[axis - 1] / spec.inner[axis - 1]) in[--axis] = 0;
        more = axis > 0;
      }
      put(file, shard + index);
    }
    std::size_t axis = at.size();
    while (axis > 0 && ++at[axis - 1] == grid[axis - 1]) at[--axis] = 0;
    if (axis == 0) return;
  }
}

/// OME metadata of an image with the array "0" and axes t, c, z, y, x.
inline std::string multiscales_json(const std::string& version) {
  const std::string image =
      R"("multiscales": [{"version": ")" + version +
      R"(", "axes": [{"name": "t", "type": "time", "unit": "second"}, {"name": "c", "type": "channel"},)"
      R"({"name": "z", "type": "space", "unit": "micrometer"}, {"name": "y", "type": "space", "unit": "nanometer"},)"
      R"({"name": "x", "type": "space", "unit": "nanometer"}], "datasets": [{"path": "0",)"
      R"("coordinateTransformations": [{"type": "scale", "scale": [0.5, 1, 0.25, 100, 200]}]}]}])";
  if (version == "0.4") return "{" + image + "}";
  return R"({"zarr_format": 3, "node_type": "group", "attributes": {"ome": {"version": "0.5", )" + image +
         "}}}";
}

inline void write_ome_zarr(const std::filesystem::path& folder, const ZarrSpec& spec,
                           const std::vector<std::uint16_t>& values) {
  if (spec.version == 2) {
    put(folder / ".zgroup", R"({"zarr_format": 2})");
    put(folder / ".zattrs", multiscales_json("0.4"));
  } else {
    put(folder / "zarr.json", multiscales_json("0.5"));
  }
  write_zarr_array(folder / "0", spec, values);
}

}  // namespace motes::testing
