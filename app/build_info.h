#pragma once
/// Version, compiler and options of this executable.

#include <string>
#include <string_view>

namespace motes::app {

std::string_view version();
std::string_view compiler();
/// "yes", or "no: " and the reason.
std::string cuda_state();
/// "OpenMP (201511), 16 processors": the date of its specification.
std::string openmp_state();

}  // namespace motes::app
