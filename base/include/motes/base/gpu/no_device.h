#pragma once
/// What the stubs of a build without CUDA throw.

namespace motes::gpu {

/// Throws ResourceError saying why this build has no GPU. Defined in builds without CUDA only.
[[noreturn]] void throw_no_device();

}  // namespace motes::gpu
