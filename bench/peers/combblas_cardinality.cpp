// CombBLAS's maximum cardinality matching (Karp-Sipser, then its level-synchronous search) on a MatrixMarket
// file, with its own functions and their timings. Not part of the build:
//
//   apt-get install libcombblas-dev
//   mpicxx -O3 -march=native -std=c++14 -fopenmp combblas_cardinality.cpp -I/usr/include/CombBLAS
//          -o combblas_cardinality -lCombBLAS
//   mpirun -n 4 --mca osc pt2pt combblas_cardinality FILE.mtx [RUNS]
//
// The number of ranks must be a square. Without --mca osc pt2pt, Open MPI 4.1 refuses its windows on one
// rank. Prints: file, ranks, pairs of Karp-Sipser, pairs, seconds of each and of both.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>

#include <mpi.h>

int cblas_splits = 1;  // CombBLAS wants it
#include <CombBLAS/BipartiteMatchings/BPMaximalMatching.h>
#include <CombBLAS/BipartiteMatchings/BPMaximumMatching.h>
#include <CombBLAS/CombBLAS.h>

namespace {

using combblas::FullyDistVec;
using combblas::SpParMat;
using Number = std::int64_t;
using Matrix = SpParMat<Number, bool, combblas::SpDCCols<Number, bool>>;
using Compressed = SpParMat<Number, bool, combblas::SpCCols<Number, bool>>;

void measure(const char* file, int runs) {
  auto grid = std::make_shared<combblas::CommGrid>(MPI_COMM_WORLD, 0, 0);
  Matrix matrix(grid);
  std::stringstream silence;  // it reports on standard output
  auto* spoken = std::cout.rdbuf(silence.rdbuf());
  matrix.ParallelReadMM(file, true, combblas::maximum<bool>());
  Matrix transposed = matrix;
  transposed.Transpose();
  const Compressed columns = matrix;
  for (int run = 0; run < runs; ++run) {
    FullyDistVec<Number, Number> rows(grid, matrix.getnrow(), -1), cols(grid, matrix.getncol(), -1),
        degrees(grid);
    const auto pairs = [&] { return rows.Count([](Number mate) { return mate != -1; }); };
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    matrix.Reduce(degrees, combblas::Column, std::plus<Number>(), Number{0});
    combblas::MaximalMatching(matrix, transposed, rows, cols, degrees, KARP_SIPSER, false);
    const double start_s = MPI_Wtime() - begin;
    const Number initial = pairs();
    Compressed searched = columns;
    const double then = MPI_Wtime();
    combblas::maximumMatching(searched, rows, cols, true, false);
    const double search_s = MPI_Wtime() - then;
    const Number all = pairs();
    if (grid->GetRank() == 0)
      std::printf("%s,%d,%lld,%lld,%.4f,%.4f,%.4f\n", file, grid->GetSize(), static_cast<long long>(initial),
                  static_cast<long long>(all), start_s, search_s, start_s + search_s);
    std::fflush(stdout);
  }
  std::cout.rdbuf(spoken);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1) measure(argv[1], argc > 2 ? std::atoi(argv[2]) : 1);
  MPI_Finalize();
  return argc > 1 ? 0 : 2;
}
