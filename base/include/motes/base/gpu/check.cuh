#pragma once
/// Turns errors of the CUDA runtime into exceptions with file and line.

#include <stdexcept>
#include <string>

#include <cuda_runtime.h>

#include <motes/base/workspace.h>

namespace motes::gpu {

inline void check(cudaError_t error, const char* what, const char* file, int line) {
  if (error == cudaSuccess) return;
  const std::string text =
      std::string(what) + ": " + cudaGetErrorString(error) + " (" + file + ":" + std::to_string(line) + ")";
  cudaGetLastError();  // a sticky-free error must not be reported twice
  if (error == cudaErrorMemoryAllocation || error == cudaErrorNoDevice ||
      error == cudaErrorInsufficientDriver || error == cudaErrorInvalidDevice)
    throw ResourceError(text);
  throw std::runtime_error(text);
}

}  // namespace motes::gpu

#define MOTES_CUDA(call) ::motes::gpu::check((call), #call, __FILE__, __LINE__)
/// After a kernel launch: reports launch errors; errors during execution appear at the next synchronisation.
#define MOTES_CUDA_LAUNCHED() MOTES_CUDA(cudaGetLastError())
