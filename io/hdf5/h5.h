#pragma once
/// The HDF5 C library behind owning handles and the project's errors.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5/hdf5_handle.h"

namespace motes::io::detail::h5 {

/// Writes one file. Every failure throws ResourceError: nothing but the disk can refuse what we write.
/// The bytes depend on the contents alone (no timestamps); metadata and data carry checksums.
class Writer {
 public:
  /// `target` is the name for messages, `path` the file.
  Writer(const std::filesystem::path& path, std::string target);

  /// Groups remember the order of what they hold. `name` may be nested below an existing group.
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
  /// Of a group, as VTK's reader wants them: text in ASCII, numbers as a list.
  void attribute_of(const std::string& group, const std::string& name, const std::string& text);
  void attribute_of(const std::string& group, const std::string& name,
                    const std::vector<std::int64_t>& values);
  void attribute_of(const std::string& group, const std::string& name, std::int64_t value);
  /// Flushes and closes; without it the file is to be thrown away.
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

/// Reads one file. Every failure throws InputError with the path and the object's name.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path);

  bool has(const std::string& name) const;        ///< an object, and every group on the way to it
  int dimensions(const std::string& name) const;  ///< of a dataset; -1 where it is none
  /// One-dimensional numeric data. Lengths that the file's size cannot hold are refused before allocating.
  std::vector<double> doubles(const std::string& name) const;
  std::vector<std::int32_t> int32s(const std::string& name) const;
  std::vector<std::int64_t> int64s(const std::string& name) const;
  std::vector<double> table(const std::string& name, std::size_t width) const;  ///< [rows, width], row by row
  std::vector<std::string> names(const std::string& group) const;  ///< in the order of creation where known
  std::optional<double> number_attribute(const std::string& name) const;  ///< of the root; none where absent
  /// `count` numbers in an attribute of the root; empty where absent.
  std::vector<double> number_list_attribute(const std::string& name, std::size_t count) const;
  std::optional<std::string> text_attribute(const std::string& name) const;
  [[noreturn]] void fail(const std::string& what) const;

 private:
  template <class T>
  std::vector<T> read(const std::string& name, hid_t type, H5T_class_t expected, std::size_t width = 0) const;
  std::size_t checked_length(const Handle& dataset, const std::string& name, std::size_t width) const;
  Handle open_attribute(const std::string& name) const;

  std::string path_;
  std::uint64_t file_size_ = 0;
  Handle file_;
};

}  // namespace motes::io::detail::h5
