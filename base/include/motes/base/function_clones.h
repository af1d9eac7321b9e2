#pragma once
/// MOTES_CLONES before a function compiles it once for each of several instruction sets; the one for this
/// CPU is chosen at load time. For plain loops that the compiler vectorises and whose results do not depend
/// on the width.

// Not with sanitizers, whose run time is not ready when the clones are resolved.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define MOTES_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define MOTES_CLONES
#endif
