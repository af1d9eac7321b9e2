#pragma once
/// HDF5 files of unknown origin, opened with checks. Rejected by name: data or links outside the file,
/// virtual datasets, number types other than the standard 8 to 64-bit ones, attributes of several values
/// where one is expected, and sizes that the file cannot have. The library itself crashes on some damaged
/// files: use Reader (reader.h), which does all this in a child process.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/hdf5/hdf5_handle.h"

namespace motes::io::detail::h5 {

/// The standard number types; any byte order in the file.
enum class Number : std::uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };
std::size_t size_of(Number number);
bool is_float(Number number);

struct DatasetInfo {
  std::vector<std::int64_t> shape;  ///< empty: one value
  Number type = Number::f64;
  std::int64_t rows_at_once = 1;  ///< rows (of the first axis) to read together: whole chunks
  /// Values of one row: the product of the other axes.
  std::int64_t row_values() const;
  std::int64_t values() const;  ///< the product of all axes; checked not to overflow
};

/// An open file. Every failure throws InputError with the path and the object's name. Names are paths from
/// the root; soft links within the file are followed, up to 16 deep.
class CheckedFile {
 public:
  explicit CheckedFile(const std::filesystem::path& path);

  bool has(const std::string& name) const;  ///< whether the object and all groups above it exist
  /// A dataset of numbers, or of records with `member` (then its type); none if `name` is a group. Throws if
  /// it is missing or rejected.
  std::optional<DatasetInfo> dataset(const std::string& name, const std::string& member = "") const;
  /// Rows [first, first + count) of the first axis, or this member of them, converted to `as`, in row-major
  /// order. `out`: count * row_values() * size_of(as) bytes. Values outside the range of `as` are clipped to
  /// it.
  void read_rows(const std::string& name, Number as, std::int64_t first, std::int64_t count,
                 std::span<std::byte> out, const std::string& member = "") const;
  /// The names of the members of a dataset of records, numbers or not; empty for anything else.
  std::vector<std::string> members(const std::string& name) const;
  std::vector<std::string> names(const std::string& group) const;  ///< in the order of creation if known
  /// Up to 1024 numbers; none if the object has no such attribute.
  std::optional<std::vector<double>> numbers(const std::string& object, const std::string& attribute) const;
  /// One text, or (as Imaris writes it) an array of single characters, of at most 64 MiB.
  std::optional<std::string> text(const std::string& object, const std::string& attribute) const;
  std::vector<std::string> attribute_names(const std::string& object) const;
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::optional<std::string> resolve(const std::string& name, int depth = 0) const;
  std::string must_resolve(const std::string& name) const;
  Handle open_dataset(const std::string& name) const;
  void check_storage(const Handle& dataset, const std::string& name, const DatasetInfo& info,
                     std::size_t value_bytes) const;
  Handle member_type(const Handle& records, const std::string& name, const std::string& member) const;
  Handle open_attribute(const std::string& object, const std::string& attribute) const;
  Number number_type(hid_t type, const std::string& what) const;

  std::string path_;
  std::uint64_t file_size_ = 0;
  Handle file_;
  mutable std::string last_name_, last_member_;  ///< the last opened dataset, which is read in pieces
  mutable Handle last_;
  mutable DatasetInfo last_info_;
};

}  // namespace motes::io::detail::h5
