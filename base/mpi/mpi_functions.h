#pragma once
/// What the module motes_mpi gives to the rest: MPI behind plain functions. MPI lives in a module that is
/// loaded only by ranks of a launcher, so that motes neither needs libmpi nor starts slower for it.

#include <cstddef>
#include <cstdint>

namespace motes::mpi {

inline constexpr int kInterface = 3;  ///< changes with this struct

struct Functions {
  int interface;
  void (*enter)();
  int (*rank)();
  int (*size)();
  /// how: 0 min, 1 max, 2 sum
  void (*all_reduce)(std::int64_t* values, std::size_t count, int how);
  /// As many bytes of every rank.
  void (*all_gather)(const void* mine, std::size_t bytes, void* all);
  /// bytes [size]: of each rank.
  void (*all_gather_v)(const void* mine, const std::size_t* bytes, void* all);
  void (*broadcast)(void* values, std::size_t bytes, int root);
  /// `bytes` from every rank to every other: parcel k of `mine` goes to rank k, parcel k of `theirs` is from
  /// it.
  void (*all_to_all)(const void* mine, std::size_t bytes, void* theirs);
  /// The same with lists of different lengths, both known; those of 0 bytes send no message. [size] each.
  void (*all_to_all_v)(const void* const* mine, const std::size_t* bytes, void* const* theirs,
                       const std::size_t* bytes_of_theirs);
  /// Bytes from one rank to another; the receiver knows how many.
  void (*send)(const void* data, std::size_t bytes, int to);
  void (*receive)(void* data, std::size_t bytes, int from);
  /// Returns when all ranks are here; sleeps until then.
  void (*rest)();
  void (*abort)(int code);
  void (*leave)();
};

/// The name of the module's one function, of type const Functions* ().
inline constexpr const char* kSymbol = "motes_mpi_functions";

}  // namespace motes::mpi
