#pragma once
/// MOTES_CLONES before a function compiles it once for every instruction set listed; which one runs is chosen
/// at load time. For plain loops that the compiler vectorises, and that give the same result however wide.

// Sanitizers run before the resolvers can, so not there.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define MOTES_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define MOTES_CLONES
#endif
