#pragma once
/// Reads HDF5 files of unknown origin with CheckedFile's checks, in a child process unless the input is
/// trusted.
///
///     h5::Reader file(path);
///     if (!file.has("/detections")) file.fail("there is no group /detections");
///     std::vector<double> x = file.doubles("/detections/x_um");

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5/checked_file.h"
#include "io/jail/jail.h"

namespace motes::io::detail::h5 {

/// Every failure throws InputError with the path and the object's name. Not thread-safe. The child process
/// sleeps between calls and ends with this object.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path);
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;

  bool has(const std::string& name) const;        ///< whether the object and all groups above it exist
  int dimensions(const std::string& name) const;  ///< of a dataset of numbers; -1 for anything else
  /// Shape and type of a dataset of numbers, or of this member of records; none if it is missing or a group.
  std::optional<DatasetInfo> dataset(const std::string& name, const std::string& member = "") const;
  /// All values, converted to `as`, row-major. `out` must have room for dataset(name)->values() of them. The
  /// memory shared with the child is at most one window of whole chunks, about 64 MB.
  void read(const std::string& name, Number as, std::span<std::byte> out) const;
  /// Rows [first, first + count) of the first axis.
  void read_rows(const std::string& name, Number as, std::int64_t first, std::int64_t count,
                 std::span<std::byte> out, const std::string& member = "") const;

  /// One-dimensional numeric data. Lengths that the file cannot have are rejected before allocating.
  std::vector<double> doubles(const std::string& name) const;
  std::vector<std::int32_t> int32s(const std::string& name) const;
  std::vector<std::int64_t> int64s(const std::string& name) const;
  std::vector<double> doubles(const std::string& name, const std::string& member) const;  ///< of records
  std::vector<std::string> members(const std::string& name) const;  ///< of records; empty: no records
  std::vector<double> table(const std::string& name, std::size_t width) const;  ///< [rows, width], row by row
  std::vector<std::string> names(const std::string& group) const;  ///< in the order of creation if known

  /// Attributes; none if missing, InputError if they are not a single number or text.
  std::optional<double> number_attribute(const std::string& name, const std::string& object = "/") const;
  std::optional<std::string> text_attribute(const std::string& name, const std::string& object = "/") const;
  /// 1 to 1024 numbers.
  std::optional<std::vector<double>> list_attribute(const std::string& name,
                                                    const std::string& object = "/") const;
  /// `count` numbers in an attribute of the root; empty if missing.
  std::vector<double> number_list_attribute(const std::string& name, std::size_t count) const;
  std::vector<std::string> attribute_names(const std::string& object = "/") const;
  [[noreturn]] void fail(const std::string& what) const;

 private:
  struct Request;
  std::string ask(const Request& request, std::span<std::byte> out = {}) const;
  template <class T>
  std::vector<T> column(const std::string& name, Number as, std::size_t width,
                        const std::string& member = "") const;

  std::string path_;
  mutable std::unique_ptr<CheckedFile> direct_;  ///< for a trusted file
  mutable std::unique_ptr<Jail> jail_;           ///< for other files
};

/// Whether the file is HDF5 and has all of `there` and none of `absent` (groups or datasets); false if it
/// cannot be opened. For recognising formats. Throws InputError if a name is a link to another file, or if
/// the file is damaged there.
bool holds(const std::filesystem::path& path, const std::vector<std::string>& there,
           const std::vector<std::string>& absent = {});

}  // namespace motes::io::detail::h5
