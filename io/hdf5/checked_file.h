#pragma once
/// HDF5 files of unknown origin, opened in one checked way. Refused by name: data or links outside of the
/// file, virtual datasets, number types other than the standard 8 to 64-bit ones, attributes of more than one
/// value where one is meant, and sizes that the file cannot hold. The library itself crashes on some damaged
/// files: use Reader (h5.h), which does all this in a child process.

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
  std::int64_t rows_at_once = 1;  ///< rows (of the first axis) that are best read together: whole chunks
  /// Of one row: the product of the other axes.
  std::int64_t row_values() const;
  std::int64_t values() const;  ///< the product of all axes; it never overflows
};

/// One open file. Every failure throws InputError with the path and the object's name. Names are paths from
/// the root; soft links within the file are followed, 16 deep.
class CheckedFile {
 public:
  explicit CheckedFile(const std::filesystem::path& path);

  bool has(const std::string& name) const;  ///< an object, and every group on the way to it
  /// Of a dataset of numbers; none where `name` is a group. Throws where it is missing or refused.
  std::optional<DatasetInfo> dataset(const std::string& name) const;
  /// Rows [first, first + count) of the first axis, converted to `as`, in row-major order. `out` must be as
  /// long as count * row_values() * size_of(as). Values outside of `as` are clipped to its range.
  void read_rows(const std::string& name, Number as, std::int64_t first, std::int64_t count,
                 std::span<std::byte> out) const;
  std::vector<std::string> names(const std::string& group) const;  ///< in the order of creation where known
  /// Up to 1024 numbers; none where the object has no such attribute.
  std::optional<std::vector<double>> numbers(const std::string& object, const std::string& attribute) const;
  /// One text, or (as Imaris writes it) an array of single characters, at most 64 MiB.
  std::optional<std::string> text(const std::string& object, const std::string& attribute) const;
  std::vector<std::string> attribute_names(const std::string& object) const;
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::optional<std::string> resolve(const std::string& name, int depth = 0) const;
  std::string must_resolve(const std::string& name) const;
  Handle open_dataset(const std::string& name) const;
  void check_storage(const Handle& dataset, const std::string& name, const DatasetInfo& info) const;
  Handle open_attribute(const std::string& object, const std::string& attribute) const;
  Number number_type(hid_t type, const std::string& what) const;

  std::string path_;
  std::uint64_t file_size_ = 0;
  Handle file_;
  mutable std::string last_name_;  ///< the dataset opened last: it is read in pieces
  mutable Handle last_;
  mutable DatasetInfo last_info_;
};

}  // namespace motes::io::detail::h5
