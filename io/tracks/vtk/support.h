#pragma once
/// Reads and writes .vtp files, with errors of this project.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include <vtkPolyData.h>
#include <vtkSmartPointer.h>

namespace motes::io::detail {

/// Writes the polygonal data as a .vtp file, whole or not at all: binary appended, LZ4. The bytes depend only
/// on the data. Throws ResourceError naming `path` if VTK fails.
void write_vtp(vtkPolyData* data, const std::filesystem::path& path);

/// Writes several such files with all threads: file(i) makes the data of the i-th; take(i, bytes) is called
/// in order, for one at a time. Only a few are in memory at a time.
void write_vtps(std::int64_t count, const std::function<vtkSmartPointer<vtkPolyData>(std::int64_t)>& file,
                const std::function<void(std::int64_t, const std::string& bytes)>& take,
                const std::filesystem::path& path);

/// The polygonal data of a .vtp file. Throws InputError for a damaged file. Lengths that the file's size does
/// not allow are rejected before VTK allocates memory, and the point numbers of cells are checked.
vtkSmartPointer<vtkPolyData> read_vtp(const std::filesystem::path& path);

}  // namespace motes::io::detail
