#pragma once
/// Turns errors of the CUDA runtime into exceptions with file and line.

#include <stdexcept>
#include <string>
#include <string_view>

#include <cuda_runtime.h>

#include <motes/base/workspace.h>

namespace motes::gpu {

inline void check(cudaError_t error, const char* what, std::string_view file, int line) {
  if (error == cudaSuccess) return;
  file.remove_prefix(file.find_last_of('/') + 1);  // removes folders of the machine that compiled it
  const std::string text = std::string(what) + ": " + cudaGetErrorString(error) + " (" + std::string(file) +
                           ":" + std::to_string(line) + ")";
  cudaGetLastError();  // clears the error, so that it is not reported twice
  if (error == cudaErrorMemoryAllocation || error == cudaErrorNoDevice ||
      error == cudaErrorInsufficientDriver || error == cudaErrorInvalidDevice)
    throw ResourceError(text);
  throw std::runtime_error(text);
}

}  // namespace motes::gpu

#define MOTES_CUDA(call) ::motes::gpu::check((call), #call, __FILE__, __LINE__)
/// After a kernel launch: reports launch errors; errors during execution appear at the next synchronisation.
#define MOTES_CUDA_LAUNCHED() MOTES_CUDA(cudaGetLastError())
