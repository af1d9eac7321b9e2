/// The module motes_mpi; see mpi_functions.h. MPI's own errors end all ranks (its default).

#include <algorithm>
#include <ctime>
#include <vector>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "base/mpi/mpi_functions.h"

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 30;  ///< MPI's counts are of type int

int size_of_world() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}
int rank_in_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void enter() {
  int there = 0;
  MPI_Initialized(&there);
  int provided = 0;
  if (there == 0) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
}

void leave() {
  int there = 0, left = 0;
  MPI_Initialized(&there);
  MPI_Finalized(&left);
  if (there != 0 && left == 0) MPI_Finalize();
}

void all_reduce(std::int64_t* values, std::size_t count, int how) {
  const MPI_Op op = how == 0 ? MPI_MIN : how == 1 ? MPI_MAX : MPI_SUM;
  for (std::size_t at = 0; at < count; at += kPiece / 8)
    MPI_Allreduce(MPI_IN_PLACE, values + at, static_cast<int>(std::min(kPiece / 8, count - at)), MPI_INT64_T,
                  op, MPI_COMM_WORLD);
}

void all_gather(const void* mine, std::size_t bytes, void* all) {
  MPI_Allgather(mine, static_cast<int>(bytes), MPI_BYTE, all, static_cast<int>(bytes), MPI_BYTE,
                MPI_COMM_WORLD);
}

void broadcast(void* values, std::size_t bytes, int root) {
  auto* data = static_cast<char*>(values);
  for (std::size_t at = 0; at < bytes; at += kPiece)
    MPI_Bcast(data + at, static_cast<int>(std::min(kPiece, bytes - at)), MPI_BYTE, root, MPI_COMM_WORLD);
}

void send(const void* data, std::size_t bytes, int to) {
  const auto* from = static_cast<const char*>(data);
  for (std::size_t at = 0; at < bytes; at += kPiece)
    MPI_Send(from + at, static_cast<int>(std::min(kPiece, bytes - at)), MPI_BYTE, to, 0, MPI_COMM_WORLD);
}

void receive(void* data, std::size_t bytes, int from) {
  auto* into = static_cast<char*>(data);
  for (std::size_t at = 0; at < bytes; at += kPiece)
    MPI_Recv(into + at, static_cast<int>(std::min(kPiece, bytes - at)), MPI_BYTE, from, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

void rest() {
  constexpr timespec kNap{0, 1'000'000};
  MPI_Request all_here = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all_here);
  for (int done = 0;;) {
    MPI_Test(&all_here, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    nanosleep(&kNap, nullptr);
  }
}

void all_gather_v(const void* mine, const std::size_t* bytes, void* all) {
  const int size = size_of_world(), rank = rank_in_world();
  std::vector<int> counts, places;
  std::size_t total = 0;
  for (int k = 0; k < size; ++k) {
    counts.push_back(static_cast<int>(bytes[k]));
    places.push_back(static_cast<int>(total));
    total += bytes[k];
  }
  if (total <= kPiece) {
    MPI_Allgatherv(mine, counts[static_cast<std::size_t>(rank)], MPI_BYTE, all, counts.data(), places.data(),
                   MPI_BYTE, MPI_COMM_WORLD);
    return;
  }
  auto* to = static_cast<char*>(all);
  for (int k = 0; k < size; to += bytes[k], ++k) {
    if (k == rank) std::copy_n(static_cast<const char*>(mine), bytes[k], to);
    broadcast(to, bytes[k], k);
  }
}

void all_to_all(const void* mine, std::size_t bytes, void* theirs) {
  MPI_Alltoall(mine, static_cast<int>(bytes), MPI_BYTE, theirs, static_cast<int>(bytes), MPI_BYTE,
               MPI_COMM_WORLD);
}

void all_to_all_v(const void* const* mine, const std::size_t* bytes, void* const* theirs,
                  const std::size_t* bytes_of_theirs) {
  constexpr int kTag = 1;
  const int size = size_of_world(), rank = rank_in_world();
  std::vector<MPI_Request> open;
  const auto pieces = [&](std::size_t count, const auto& start) {
    for (std::size_t at = 0; at < count; at += kPiece)
      start(at, static_cast<int>(std::min(kPiece, count - at)), &open.emplace_back());
  };
  // Starts with the next rank, so that not all begin with the same one.
  for (int step = 1; step < size; ++step) {
    const int from = (rank + size - step) % size;
    pieces(bytes_of_theirs[from], [&](std::size_t at, int count, MPI_Request* request) {
      MPI_Irecv(static_cast<char*>(theirs[from]) + at, count, MPI_BYTE, from, kTag, MPI_COMM_WORLD, request);
    });
  }
  for (int step = 1; step < size; ++step) {
    const int to = (rank + step) % size;
    pieces(bytes[to], [&](std::size_t at, int count, MPI_Request* request) {
      MPI_Isend(static_cast<const char*>(mine[to]) + at, count, MPI_BYTE, to, kTag, MPI_COMM_WORLD, request);
    });
  }
  MPI_Waitall(static_cast<int>(open.size()), open.data(), MPI_STATUSES_IGNORE);
}

void abort_all(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

}  // namespace

// Exported although everything else is hidden (builds for Python).
extern "C" [[gnu::visibility("default")]] const motes::mpi::Functions* motes_mpi_functions() {
  static const motes::mpi::Functions functions{motes::mpi::kInterface,
                                               enter,
                                               rank_in_world,
                                               size_of_world,
                                               all_reduce,
                                               all_gather,
                                               all_gather_v,
                                               broadcast,
                                               all_to_all,
                                               all_to_all_v,
                                               send,
                                               receive,
                                               rest,
                                               abort_all,
                                               leave};
  return &functions;
}
