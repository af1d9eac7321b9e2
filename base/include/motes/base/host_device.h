#pragma once
/// Functions marked MOTES_HOST_DEVICE are compiled for the CPU and, by nvcc, for the GPU too.

#ifdef __CUDACC__
#define MOTES_HOST_DEVICE __host__ __device__
#else
#define MOTES_HOST_DEVICE
#endif
