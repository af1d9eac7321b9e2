/// Reads regions of an array chunk by chunk.

#include "io/zarr/array.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include <motes/base/errors.h>
#include <motes/base/system/memory.h>

#include "io/files/checked.h"
#include "io/files/half.h"
#include "io/zarr/codecs.h"

namespace motes::io::detail::zarr {
namespace {

using Sizes = std::vector<std::int64_t>;
constexpr std::int64_t kMostChunks = 4'000'000;  // per read
constexpr std::uint64_t kNoChunk = std::numeric_limits<std::uint64_t>::max();

std::int64_t product(const Sizes& sizes) {
  std::int64_t all = 1;
  for (const std::int64_t size : sizes) {
    const auto next = checked_product({all, size});
    if (!next) return -1;
    all = *next;
  }
  return all;
}

std::int64_t half_of_memory() { return system::physical_memory() / 2; }

/// Calls visit(index) for every index in [low, high) of all axes, last axis fastest.
template <class Visit>
void for_each_index(const Sizes& low, const Sizes& high, const Visit& visit) {
  for (std::size_t a = 0; a < low.size(); ++a)
    if (low[a] >= high[a]) return;
  Sizes index = low;
  while (true) {
    visit(index);
    std::size_t axis = index.size();
    while (axis > 0 && ++index[axis - 1] == high[axis - 1]) {
      index[axis - 1] = low[axis - 1];
      --axis;
    }
    if (axis == 0) return;
  }
}

/// A box of an array: its start and its extent.
struct VoxelRange {
  Sizes start, count;
};

VoxelRange intersection(const VoxelRange& a, const VoxelRange& b) {
  VoxelRange box;
  for (std::size_t i = 0; i < a.start.size(); ++i) {
    const std::int64_t low = std::max(a.start[i], b.start[i]);
    const std::int64_t high = std::min(a.start[i] + a.count[i], b.start[i] + b.count[i]);
    box.start.push_back(low);
    box.count.push_back(std::max<std::int64_t>(0, high - low));
  }
  return box;
}

/// Bytes from one value to the next along each axis, for values stored with `order`, slowest first.
Sizes strides(const Sizes& count, const std::vector<std::size_t>& order, std::int64_t bytes) {
  Sizes out(count.size());
  for (std::size_t i = order.size(); i-- > 0;) {
    out[order[i]] = bytes;
    bytes *= count[order[i]];
  }
  return out;
}

/// Copies `part` of the chunk `from` into the region `to`, both in the array's coordinates.
struct Copy {
  const VoxelRange& chunk;
  const VoxelRange& region;
  Sizes chunk_strides, region_strides;
  std::size_t value_bytes;

  void run(const VoxelRange& part, std::span<const std::byte> from, std::span<std::byte> to) const {
    const std::size_t last = part.start.size() - 1;
    const auto width = static_cast<std::int64_t>(value_bytes);
    const bool rows = chunk_strides[last] == width && region_strides[last] == width;
    Sizes low = part.start, high = part.start;
    for (std::size_t a = 0; a < high.size(); ++a) high[a] += part.count[a];
    if (rows) high[last] = part.count[last] > 0 ? low[last] + 1 : low[last];
    const std::size_t run_bytes =
        rows ? static_cast<std::size_t>(part.count[last]) * value_bytes : value_bytes;
    for_each_index(low, high, [&](const Sizes& index) {
      std::int64_t source = 0, target = 0;
      for (std::size_t a = 0; a < index.size(); ++a) {
        source += (index[a] - chunk.start[a]) * chunk_strides[a];
        target += (index[a] - region.start[a]) * region_strides[a];
      }
      std::memcpy(to.data() + target, from.data() + source, run_bytes);
    });
  }
};

std::uint64_t read_u64(std::span<const std::byte> bytes, bool big_endian) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i)
    value |= static_cast<std::uint64_t>(bytes[big_endian ? 7 - i : i]) << (8 * i);
  return value;
}

/// The chunks of one region, read from files or from shards in them.
class RegionReader {
 public:
  RegionReader(const Store& store, const ArrayMetadata& metadata, VoxelRange region, std::span<std::byte> out)
      : store_(store), m_(metadata), region_(std::move(region)), out_(out) {
    const Sizes& unit = m_.inner_chunk ? *m_.inner_chunk : m_.chunk;
    const std::int64_t values = product(unit);
    const auto bytes = values < 0 ? std::nullopt : checked_product({values, m_.type.bytes});
    if (!bytes || *bytes > half_of_memory())
      throw InputError(store_.root().string() +
                       ": its chunks need more than half of this machine's memory; write "
                       "the array with smaller chunks");
    chunk_bytes_ = static_cast<std::size_t>(*bytes);
    std::vector<std::size_t> c_order = m_.coding.order;
    std::sort(c_order.begin(), c_order.end());
    region_strides_ = strides(region_.count, c_order, m_.type.bytes);
    chunk_strides_ = strides(unit, m_.coding.order, m_.type.bytes);
  }

  /// Adds the file `key`, which has the box `file_box` of the array.
  void add_file(const std::string& key, const VoxelRange& file_box) {
    const std::unique_ptr<InputFile> file = store_.open(key);
    if (!file) return;
    if (m_.inner_chunk) {
      add_shard(*file, key, file_box);
    } else {
      stored_.resize(checked_size(file->size(), key));
      if (!file->read_at(0, stored_)) store_.fail(key, "cannot be read; copy the store again");
      add_chunk(key, stored_, file_box);
    }
  }

 private:
  std::size_t checked_size(std::uint64_t bytes, const std::string& key) const {
    // No codec makes a chunk much longer than its plain bytes.
    if (bytes > 2 * static_cast<std::uint64_t>(chunk_bytes_) + (1 << 20))
      store_.fail(
          key, "is longer than a chunk of " + std::to_string(chunk_bytes_) + " bytes; copy the store again");
    return static_cast<std::size_t>(bytes);
  }

  void add_chunk(const std::string& key, std::span<const std::byte> stored, const VoxelRange& box) {
    const VoxelRange part = intersection(box, region_);
    const std::string fault = decode_chunk(m_.coding, stored, plain_, chunk_bytes_);
    if (!fault.empty()) store_.fail(key, fault + "; copy or export the store again");
    const bool big_machine = std::endian::native == std::endian::big;
    if (m_.coding.big_endian != big_machine) swap_bytes(plain_, m_.type.bytes);
    Copy{box, region_, chunk_strides_, region_strides_, static_cast<std::size_t>(m_.type.bytes)}.run(
        part, plain_, out_);
  }

  void add_shard(const InputFile& file, const std::string& key, const VoxelRange& shard) {
    Sizes per_axis;
    for (std::size_t a = 0; a < m_.rank(); ++a) per_axis.push_back(m_.chunk[a] / (*m_.inner_chunk)[a]);
    const auto entries = checked_product({product(per_axis), 16});
    const std::uint64_t index_bytes =
        entries ? static_cast<std::uint64_t>(*entries) + (m_.index_checksum ? 4 : 0) : 0;
    if (!entries || product(per_axis) < 0 || index_bytes > file.size())
      store_.fail(key, "is shorter than a shard's index; copy the store again");
    std::vector<std::byte> index(index_bytes);
    if (!file.read_at(m_.index_first ? 0 : file.size() - index_bytes, index))
      store_.fail(key, "cannot be read; copy the store again");
    if (m_.index_checksum) check_index(key, index);
    Sizes low, high;
    const VoxelRange wanted = intersection(shard, region_);
    for (std::size_t a = 0; a < m_.rank(); ++a) {
      const std::int64_t size = (*m_.inner_chunk)[a];
      low.push_back((wanted.start[a] - shard.start[a]) / size);
      high.push_back((wanted.start[a] - shard.start[a] + wanted.count[a] + size - 1) / size);
    }
    for_each_index(low, high, [&](const Sizes& at) {
      std::int64_t entry = 0;
      VoxelRange box{{}, *m_.inner_chunk};
      for (std::size_t a = 0; a < m_.rank(); ++a) {
        entry = entry * per_axis[a] + at[a];
        box.start.push_back(shard.start[a] + at[a] * (*m_.inner_chunk)[a]);
      }
      const auto place = std::span(index).subspan(static_cast<std::size_t>(entry) * 16, 16);
      const std::uint64_t offset = read_u64(place, m_.index_big_endian);
      const std::uint64_t bytes = read_u64(place.subspan(8), m_.index_big_endian);
      if (offset == kNoChunk && bytes == kNoChunk) return;
      stored_.resize(checked_size(bytes, key));
      if (!file.read_at(offset, stored_))
        store_.fail(key, "its index points beyond its end; copy the store again");
      add_chunk(key, stored_, box);
    });
  }

  void check_index(const std::string& key, std::span<const std::byte> index) const {
    const auto body = index.first(index.size() - 4);
    std::uint32_t stated = 0;
    for (std::size_t i = 0; i < 4; ++i)
      stated |= static_cast<std::uint32_t>(index[body.size() + i]) << (8 * i);
    if (crc32c(body) != stated)
      store_.fail(key, "the checksum of the shard's index is wrong; copy the store again");
  }

  const Store& store_;
  const ArrayMetadata& m_;
  VoxelRange region_;
  std::span<std::byte> out_;
  std::size_t chunk_bytes_ = 0;
  Sizes region_strides_, chunk_strides_;
  std::vector<std::byte> stored_, plain_;
};

template <class T>
void repeat(std::span<std::byte> out, double value) {
  const T cast = static_cast<T>(value);
  for (std::size_t i = 0; i + sizeof(T) <= out.size(); i += sizeof(T))
    std::memcpy(out.data() + i, &cast, sizeof(T));
}

/// Calls use(T{}) with the C++ type.
template <class Use>
void with_type(const DataType& type, const Use& use) {
  const bool is_signed = type.kind == Kind::signed_integer;
  if (type.kind == Kind::real)
    return type.bytes == 2 ? use(Half{}) : type.bytes == 4 ? use(float{}) : use(double{});
  switch (type.bytes) {
    case 1:
      return is_signed ? use(std::int8_t{}) : use(std::uint8_t{});
    case 2:
      return is_signed ? use(std::int16_t{}) : use(std::uint16_t{});
    case 4:
      return is_signed ? use(std::int32_t{}) : use(std::uint32_t{});
    default:
      return is_signed ? use(std::int64_t{}) : use(std::uint64_t{});
  }
}

/// The number, limited to the range of the type.
double bounded_fill(const DataType& type, double value) {
  if (type.kind == Kind::real) return value;
  double low = 0, high = 0;
  with_type(type, [&](auto zero) {
    low = static_cast<double>(std::numeric_limits<decltype(zero)>::lowest());
    high = static_cast<double>(std::numeric_limits<decltype(zero)>::max());
  });
  constexpr double kSafe = 9e18;  // as doubles, the bounds of int64 round up
  return std::isnan(value) ? 0 : std::clamp(value, std::max(low, -kSafe), std::min(high, kSafe));
}

}  // namespace

Array::Array(Store store, std::string node)
    : store_(std::move(store)), node_(std::move(node)), metadata_(read_array_metadata(store_, node_)) {}

std::string Array::chunk_key(std::span<const std::int64_t> index) const {
  std::string name = metadata_.prefix ? "c" : "";
  for (const std::int64_t i : index) {
    if (!name.empty()) name += metadata_.separator;
    name += std::to_string(i);
  }
  return join(node_, name);
}

void Array::fill(std::span<std::byte> out) const {
  const double value = bounded_fill(metadata_.type, metadata_.fill);
  with_type(metadata_.type, [&](auto zero) { repeat<decltype(zero)>(out, value); });
}

void Array::read(std::span<const std::int64_t> start, std::span<const std::int64_t> count,
                 std::span<std::byte> out) const {
  VoxelRange region{{start.begin(), start.end()}, {count.begin(), count.end()}};
  Sizes low, high, chunks;
  for (std::size_t a = 0; a < metadata_.rank(); ++a) {
    low.push_back(region.start[a] / metadata_.chunk[a]);
    high.push_back((region.start[a] + region.count[a] + metadata_.chunk[a] - 1) / metadata_.chunk[a]);
    chunks.push_back(high.back() - low.back());
  }
  if (const std::int64_t visits = product(chunks); visits < 0 || visits > kMostChunks)
    store_.fail(node_, "one frame has more than 4 million chunks; write the array with larger chunks");
  fill(out);
  RegionReader reader(store_, metadata_, region, out);
  for_each_index(low, high, [&](const Sizes& index) {
    VoxelRange box{{}, metadata_.chunk};
    for (std::size_t a = 0; a < index.size(); ++a) box.start.push_back(index[a] * metadata_.chunk[a]);
    reader.add_file(chunk_key(index), box);
  });
}

template <class T>
std::vector<T> Array::values(std::size_t rank, std::int64_t most) const {
  if (metadata_.rank() != rank)
    store_.fail(node_, "has " + std::to_string(metadata_.rank()) + " axes, where " + std::to_string(rank) +
                           " are needed");
  const std::int64_t total = product(metadata_.shape);
  if (total < 0 || total > most)
    store_.fail(node_, "claims more values than are possible; the store is damaged");
  std::vector<std::byte> bytes(static_cast<std::size_t>(total) *
                               static_cast<std::size_t>(metadata_.type.bytes));
  if (total > 0) read(Sizes(rank, 0), metadata_.shape, bytes);
  std::vector<T> out(static_cast<std::size_t>(total));
  with_type(metadata_.type, [&](auto zero) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::memcpy(&zero, bytes.data() + i * sizeof zero, sizeof zero);
      out[i] = static_cast<T>(zero);
    }
  });
  return out;
}

std::vector<double> Array::doubles(std::size_t rank, std::int64_t most) const {
  return values<double>(rank, most);
}

std::vector<std::int64_t> Array::integers(std::size_t rank, std::int64_t most) const {
  if (metadata_.type.kind == Kind::real)
    store_.fail(node_, "has " + metadata_.type.name + ", but whole numbers are needed");
  return values<std::int64_t>(rank, most);
}

}  // namespace motes::io::detail::zarr
