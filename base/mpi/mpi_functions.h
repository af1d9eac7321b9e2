#pragma once
/// The interface of the module motes_mpi: MPI behind plain functions. The module is loaded only by ranks of a
/// launcher, so that motes neither needs libmpi nor starts more slowly because of it.

#include <cstddef>
#include <cstdint>

namespace motes::mpi {

inline constexpr int kInterface = 3;  ///< to be increased when this struct changes

struct Functions {
  int interface;
  void (*enter)();
  int (*rank)();
  int (*size)();
  /// how: 0 min, 1 max, 2 sum
  void (*all_reduce)(std::int64_t* values, std::size_t count, int how);
  /// The same number of bytes from every rank.
  void (*all_gather)(const void* mine, std::size_t bytes, void* all);
  /// bytes [size]: of each rank.
  void (*all_gather_v)(const void* mine, const std::size_t* bytes, void* all);
  void (*broadcast)(void* values, std::size_t bytes, int root);
  /// Sends `bytes` from every rank to every other: parcel k of `mine` goes to rank k, parcel k of `theirs`
  /// comes from it.
  void (*all_to_all)(const void* mine, std::size_t bytes, void* theirs);
  /// The same with lists of different lengths, known on both sides; lists of 0 bytes send no message. [size]
  /// each.
  void (*all_to_all_v)(const void* const* mine, const std::size_t* bytes, void* const* theirs,
                       const std::size_t* bytes_of_theirs);
  /// Sends bytes from one rank to another; the receiver must know their number.
  void (*send)(const void* data, std::size_t bytes, int to);
  void (*receive)(void* data, std::size_t bytes, int from);
  /// Returns when all ranks have called it; sleeps until then.
  void (*rest)();
  void (*abort)(int code);
  void (*leave)();
};

/// The name of the module's one function, of type const Functions* ().
inline constexpr const char* kSymbol = "motes_mpi_functions";

}  // namespace motes::mpi
