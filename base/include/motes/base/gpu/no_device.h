#pragma once
/// The error that GPU functions throw in a build without CUDA.

namespace motes::gpu {

/// Throws ResourceError saying why this build has no GPU. Defined in builds without CUDA only.
[[noreturn]] void throw_no_device();

}  // namespace motes::gpu
