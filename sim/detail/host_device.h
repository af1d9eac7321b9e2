#pragma once
/// Marks functions that CPU and GPU share.

#ifdef __CUDACC__
#define MOTES_HOST_DEVICE __host__ __device__
#else
#define MOTES_HOST_DEVICE
#endif
