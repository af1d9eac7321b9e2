/// Parses .zarray and zarr.json.

#include "io/zarr/metadata.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <motes/base/errors.h>

#include "io/files/checked.h"
#include "io/files/text.h"

namespace motes::io::detail::zarr {
namespace {

constexpr std::size_t kMostAxes = 8;
constexpr std::int64_t kLongestAxis = std::int64_t{1} << 40;

/// Reads the metadata of an array; every error names the file.
class MetadataReader {
 public:
  MetadataReader(const Store& store, std::string key) : store_(store), key_(std::move(key)) {}

  ArrayMetadata version2(const Json& json) {
    ArrayMetadata array;
    array.shape = sizes(json, "shape", 0);
    array.chunk = sizes(json, "chunks", 1);
    array.type = type_of_version2(text(json, "dtype"), array.coding);
    array.coding.order = c_order(array.rank());
    const std::string order = json.value("order", Json("C")) == Json("F") ? "F" : "C";
    if (order == "F") std::reverse(array.coding.order.begin(), array.coding.order.end());
    array.fill = fill_value(json);
    if (const Json filters = json.value("filters", Json()); filters.is_array() && !filters.empty())
      unsupported("the filter '" + name_in(filters[0], "id") + "'");
    if (const Json compressor = json.value("compressor", Json()); compressor.is_object())
      array.coding.compression = compression(name_in(compressor, "id"));
    array.separator = json.value("dimension_separator", Json(".")) == Json("/") ? "/" : ".";
    return array;
  }

  ArrayMetadata version3(const Json& json) {
    ArrayMetadata array;
    array.shape = sizes(json, "shape", 0);
    const Json grid = member(json, "chunk_grid");
    if (name_in(grid, "name") != "regular") unsupported("the chunk grid '" + name_in(grid, "name") + "'");
    array.chunk = sizes(member(grid, "configuration"), "chunk_shape", 1);
    array.type = type_of_version3(json.value("data_type", Json()));
    array.fill = fill_value(json);
    read_keys(json, array);
    if (const Json extra = json.value("storage_transformers", Json()); extra.is_array() && !extra.empty())
      unsupported("a storage transformer");
    array.coding.order = c_order(array.rank());
    read_codecs(json.value("codecs", Json()), array, array.coding, false);
    if (const Json names = json.value("dimension_names", Json()); names.is_array()) {
      for (const Json& name : names)
        array.dimension_names.push_back(name.is_string() ? name.get<std::string>() : "");
    }
    return array;
  }

  void check(const ArrayMetadata& array) const {
    const std::size_t rank = array.rank();
    if (rank == 0 || rank > kMostAxes) fail("an array of " + std::to_string(rank) + " axes is not supported");
    if (array.chunk.size() != rank || array.coding.order.size() != rank)
      fail("shape and chunks differ in length");
    if (array.inner_chunk) {
      if (array.inner_chunk->size() != rank) fail("shape and the shards' chunks differ in length");
      for (std::size_t a = 0; a < rank; ++a)
        if (array.chunk[a] % (*array.inner_chunk)[a] != 0)
          fail("the shards are not a multiple of their chunks");
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    store_.fail(key_, what + "; copy or export the store again");
  }
  [[noreturn]] void unsupported(const std::string& what) const {
    store_.fail(key_,
                what +
                    " is not supported; write the array with blosc, zstd, gzip, zlib, lz4 or no compression, "
                    "and without filters");
  }

  static std::vector<std::size_t> c_order(std::size_t rank) {
    std::vector<std::size_t> order(rank);
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
  }

  Json member(const Json& json, const char* name) const {
    const auto found = json.find(name);
    if (!json.is_object() || found == json.end() || !found->is_object())
      fail(std::string("'") + name + "' is missing or not an object");
    return *found;
  }

  std::string text(const Json& json, const char* name) const {
    const auto found = json.find(name);
    if (found == json.end() || !found->is_string())
      unsupported(std::string("a '") + name + "' of several fields");
    return found->get<std::string>();
  }

  static std::string name_in(const Json& json, const char* name) {
    if (json.is_string()) return json.get<std::string>();
    if (!json.is_object()) return "?";
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>().substr(0, 60) : "?";
  }

  std::vector<std::int64_t> sizes(const Json& json, const char* name, std::int64_t least) const {
    const auto found = json.find(name);
    if (found == json.end() || !found->is_array() || found->size() > kMostAxes)
      fail(std::string("'") + name + "' is missing or not a list of sizes");
    std::vector<std::int64_t> all;
    for (const Json& size : *found) {
      const bool whole = size.is_number_integer() && size.get<double>() >= static_cast<double>(least) &&
                         size.get<double>() <= static_cast<double>(kLongestAxis);
      if (!whole) fail(std::string("'") + name + "' has a value that is not a size");
      all.push_back(size.get<std::int64_t>());
    }
    return all;
  }

  DataType type_of_version2(const std::string& name, ChunkCoding& coding) const {
    DataType type;
    type.name = name;
    if (name.size() < 3 || name.size() > 4) unsupported("the type '" + name.substr(0, 60) + "'");
    coding.big_endian = name[0] == '>';
    type.bytes = static_cast<int>(parse_integer(std::string_view(name).substr(2)).value_or(0));
    set_kind(type, name[1]);
    return type;
  }

  DataType type_of_version3(const Json& json) const {
    const std::string name = name_in(json, "name");
    DataType type;
    type.name = name;
    if (name == "bool") {
      type.bytes = 1;
      set_kind(type, 'b');
      return type;
    }
    const std::size_t digit = name.find_first_of("0123456789");
    const std::string base = name.substr(0, digit);
    const auto bits =
        digit == std::string::npos ? std::nullopt : parse_integer(std::string_view(name).substr(digit));
    if (!bits || *bits % 8 != 0) unsupported("the type '" + name + "'");
    type.bytes = static_cast<int>(std::min<std::int64_t>(*bits / 8, 1000));
    set_kind(type, base == "uint" ? 'u' : base == "int" ? 'i' : base == "float" ? 'f' : '?');
    return type;
  }

  void set_kind(DataType& type, char letter) const {
    const int b = type.bytes;
    const bool whole = b == 1 || b == 2 || b == 4 || b == 8;
    const bool good = (letter == 'b' && b == 1) || ((letter == 'u' || letter == 'i') && whole) ||
                      (letter == 'f' && (b == 2 || b == 4 || b == 8));
    if (!good) unsupported("the type '" + type.name.substr(0, 60) + "'");
    type.kind = letter == 'b'   ? Kind::boolean
                : letter == 'u' ? Kind::unsigned_integer
                : letter == 'i' ? Kind::signed_integer
                                : Kind::real;
  }

  double fill_value(const Json& json) const {
    const Json fill = json.value("fill_value", Json());
    if (fill.is_number()) return fill.get<double>();
    if (fill.is_boolean()) return fill.get<bool>() ? 1 : 0;
    if (fill.is_string()) {
      const auto number = parse_double(fill.get<std::string>());
      if (number) return *number;
      unsupported("the fill value '" + fill.get<std::string>().substr(0, 60) + "'");
    }
    return 0;
  }

  Compression compression(const std::string& id) const {
    if (id == "blosc") return Compression::blosc;
    if (id == "zstd") return Compression::zstd;
    if (id == "gzip") return Compression::gzip;
    if (id == "zlib") return Compression::zlib;
    if (id == "lz4") return Compression::lz4;
    unsupported("the codec '" + id + "'");
  }

  void read_keys(const Json& json, ArrayMetadata& array) const {
    const Json encoding = json.value("chunk_key_encoding", Json::object());
    const std::string name = name_in(encoding, "name");
    if (name != "default" && name != "v2") unsupported("the chunk keys '" + name + "'");
    array.prefix = name == "default";
    array.separator = array.prefix ? "/" : ".";
    if (!encoding.is_object()) return;
    const Json configuration = encoding.value("configuration", Json::object());
    if (!configuration.is_object()) return;
    const Json separator = configuration.value("separator", Json());
    if (separator == Json(".")) array.separator = ".";
    if (separator == Json("/")) array.separator = "/";
  }

  void read_transpose(const Json& configuration, ArrayMetadata& array, ChunkCoding& coding) const {
    const Json order = configuration.value("order", Json());
    if (order == Json("C")) return;
    if (order == Json("F")) {
      std::reverse(coding.order.begin(), coding.order.end());
      return;
    }
    std::vector<std::size_t> axes;
    if (order.is_array()) {
      for (const Json& axis : order)
        axes.push_back(axis.is_number_unsigned() ? axis.get<std::size_t>() : kMostAxes);
    }
    std::vector<std::size_t> sorted = axes;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != c_order(array.rank())) fail("the order of a transpose codec is not a permutation");
    std::vector<std::size_t> combined;
    for (const std::size_t axis : axes) combined.push_back(coding.order[axis]);
    coding.order = combined;
  }

  void read_codecs(const Json& codecs, ArrayMetadata& array, ChunkCoding& coding, bool in_shard) const {
    if (!codecs.is_array() || codecs.size() > 16) fail("'codecs' is missing or not a list");
    for (const Json& codec : codecs) {
      const std::string name = name_in(codec, "name");
      Json configuration = codec.is_object() ? codec.value("configuration", Json::object()) : Json::object();
      if (!configuration.is_object()) configuration = Json::object();
      if (!in_shard && array.inner_chunk) unsupported("the codec '" + name + "' around a shard");
      if (name == "bytes") {
        coding.big_endian = configuration.value("endian", Json("little")) == Json("big");
      } else if (name == "transpose") {
        read_transpose(configuration, array, coding);
      } else if (name == "crc32c") {
        (coding.compression == Compression::none ? coding.inner_checksum : coding.outer_checksum) = true;
      } else if (name == "sharding_indexed") {
        if (in_shard || array.inner_chunk) unsupported("a shard within a shard");
        if (coding.order != c_order(array.rank())) unsupported("a transposed shard");
        array.inner_chunk = sizes(configuration, "chunk_shape", 1);
        read_index(configuration, array);
        read_codecs(configuration.value("codecs", Json()), array, coding, true);
      } else {
        if (coding.compression != Compression::none) unsupported("'" + name + "' after another compression");
        coding.compression = compression(name);
      }
    }
  }

  void read_index(const Json& configuration, ArrayMetadata& array) const {
    array.index_first = configuration.value("index_location", Json("end")) == Json("start");
    const Json codecs = configuration.value("index_codecs", Json::array());
    for (const Json& codec : codecs) {
      const std::string name = name_in(codec, "name");
      if (name == "crc32c") {
        array.index_checksum = true;
      } else if (name != "bytes") {
        unsupported("the shard index codec '" + name + "'");
      } else if (codec.is_object() && codec.contains("configuration") && codec["configuration"].is_object()) {
        array.index_big_endian = codec["configuration"].value("endian", Json("little")) == Json("big");
      }
    }
  }

  const Store& store_;
  std::string key_;
};

}  // namespace

bool is_array(const Store& store, const std::string& node) {
  if (store.has(join(node, ".zarray"))) return true;
  const auto json = store.json(join(node, "zarr.json"));
  return json && json->value("node_type", Json()) == Json("array");
}

ArrayMetadata read_array_metadata(const Store& store, const std::string& node) {
  if (const auto json = store.json(join(node, "zarr.json"))) {
    MetadataReader reader(store, join(node, "zarr.json"));
    ArrayMetadata array = reader.version3(*json);
    reader.check(array);
    return array;
  }
  const auto json = store.json(join(node, ".zarray"));
  if (!json) store.fail(node, "there is no Zarr array (no zarr.json, no .zarray); check the path");
  MetadataReader reader(store, join(node, ".zarray"));
  ArrayMetadata array = reader.version2(*json);
  reader.check(array);
  return array;
}

}  // namespace motes::io::detail::zarr
