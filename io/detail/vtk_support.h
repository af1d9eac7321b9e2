#pragma once
/// VTK behind the project's errors: nothing of it reaches standard error.

#include <vtkPolyData.h>
#include <vtkSmartPointer.h>

#include <filesystem>
#include <mutex>
#include <string>

namespace motes::io::detail {

/// Collects what VTK reports while it lives, in place of printing it. VTK reports through globals: one such
/// object at a time, a second waits.
class VtkMessages {
 public:
  VtkMessages();
  ~VtkMessages();
  VtkMessages(const VtkMessages&) = delete;
  VtkMessages& operator=(const VtkMessages&) = delete;
  bool any() const;           ///< an error or warning was reported
  std::string first() const;  ///< the first one, on one line

 private:
  class Collector;
  std::unique_lock<std::mutex> lock_;
  vtkSmartPointer<Collector> collector_;
  int verbosity_;
};

/// The polygonal data as a .vtp file: binary appended, zlib. The bytes depend on the data alone.
/// Throws ResourceError naming `path` when VTK cannot.
std::string vtp_bytes(vtkPolyData* data, const std::filesystem::path& path);

/// The polygonal data of a .vtp file. Throws InputError for a damaged file; lengths that the file's size
/// cannot hold are refused before VTK allocates them, and the cells' point numbers are checked.
vtkSmartPointer<vtkPolyData> read_vtp(const std::filesystem::path& path);

}  // namespace motes::io::detail
