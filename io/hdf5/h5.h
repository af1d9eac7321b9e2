#pragma once
/// Writes HDF5 files with this project's errors; reader.h reads them.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5/hdf5_handle.h"
#include "io/hdf5/reader.h"

namespace motes::io::detail::h5 {

/// Writes one file. Every failure throws ResourceError, since only the disk can reject the contents. The
/// bytes depend only on the contents (no timestamps); metadata and data have checksums.
class Writer {
 public:
  /// `target` is the name for messages, `path` the file.
  Writer(const std::filesystem::path& path, std::string target);

  /// Creates a group that keeps the order of its members. `name` may be nested below an existing group.
  void group(const std::string& name);
  void dataset(const std::string& name, const std::vector<float>& values);
  void dataset(const std::string& name, const std::vector<double>& values);
  void dataset(const std::string& name, const std::vector<std::int32_t>& values);
  void dataset(const std::string& name, const std::vector<std::int64_t>& values);
  /// [values.size() / width, width]
  void table(const std::string& name, const std::vector<double>& values, std::size_t width);
  void table(const std::string& name, const std::vector<std::int64_t>& values, std::size_t width);
  void attribute(const std::string& name, const std::string& text);  ///< on the root
  void attribute(const std::string& name, const std::vector<double>& values);
  void attribute(const std::string& name, std::int64_t value);
  /// Of a group, as VTK's reader requires: text in ASCII, numbers as a list.
  void attribute_of(const std::string& group, const std::string& name, const std::string& text);
  void attribute_of(const std::string& group, const std::string& name,
                    const std::vector<std::int64_t>& values);
  void attribute_of(const std::string& group, const std::string& name, std::int64_t value);
  /// Flushes and closes. Without it the file is incomplete.
  void close();

 private:
  /// `width` 0: one dimension.
  void write(const std::string& name, hid_t type, const void* values, std::size_t count,
             std::size_t width = 0);
  void write_chunks(const Handle& dataset, const std::string& name, const unsigned char* values,
                    std::size_t rows, std::size_t width, std::size_t value_size);
  void write_attribute(hid_t object, const std::string& name, hid_t type, const Handle& space,
                       const void* values);
  void write_text(hid_t object, const std::string& name, const std::string& text, H5T_cset_t characters);
  Handle open_group(const std::string& name) const;
  [[noreturn]] void fail(const std::string& what) const;
  hid_t check(hid_t id, const std::string& what) const;
  void require(herr_t status, const std::string& what) const;

  std::string target_;
  Handle file_;
};

}  // namespace motes::io::detail::h5
