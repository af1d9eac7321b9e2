#pragma once
/// .vtp files behind the project's errors.

#include <filesystem>
#include <string>

#include <vtkPolyData.h>
#include <vtkSmartPointer.h>

namespace motes::io::detail {

/// The polygonal data as a .vtp file: binary appended, zlib. The bytes depend on the data alone.
/// Throws ResourceError naming `path` when VTK cannot.
std::string vtp_bytes(vtkPolyData* data, const std::filesystem::path& path);

/// The polygonal data of a .vtp file. Throws InputError for a damaged file; lengths that the file's size
/// cannot hold are refused before VTK allocates them, and the cells' point numbers are checked.
vtkSmartPointer<vtkPolyData> read_vtp(const std::filesystem::path& path);

}  // namespace motes::io::detail
