#pragma once
/// Reads and writes .vtp files, with errors of this project.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include <vtkPolyData.h>
#include <vtkSmartPointer.h>

namespace motes::io::detail {

/// Writes the polygonal data as a .vtp file, whole or not at all: binary appended, LZ4. The bytes depend on
/// the data alone. Throws ResourceError naming `path` when VTK cannot.
void write_vtp(vtkPolyData* data, const std::filesystem::path& path);

/// Several such files, by all threads: file(i) makes the data of the i-th, and take(i, bytes) is then called
/// for one after the other. Only a few are in memory at a time.
void write_vtps(std::int64_t count, const std::function<vtkSmartPointer<vtkPolyData>(std::int64_t)>& file,
                const std::function<void(std::int64_t, const std::string& bytes)>& take,
                const std::filesystem::path& path);

/// The polygonal data of a .vtp file. Throws InputError for a damaged file; lengths that the file's size
/// cannot hold are refused before VTK allocates them, and the cells' point numbers are checked.
vtkSmartPointer<vtkPolyData> read_vtp(const std::filesystem::path& path);

}  // namespace motes::io::detail
