#pragma once
/// A partition of rows and columns: each thread owns some ranges.

#include <cstdint>
#include <vector>

#include <motes/base/parallel_for.h>
#include <motes/matching/cardinality_solver.h>

namespace motes::matching::detail {

/// Ranges of rows and of columns, assigned to threads cyclically: thread k of n has parts k, k + n, ...
/// Some may be empty. Ranges of rows begin at multiples of a grain, so that a small table gives the owner
/// of a row.
class Partition {
 public:
  /// Ranges with about equal numbers of rows and edges, and of columns.
  template <class Graph>
  Partition(const Graph& graph, int parts);
  /// Ranges between borders near these: [parts + 1], rising from 0 to all.
  Partition(std::vector<Index> row_borders, std::vector<Index> col_borders);

  std::size_t size() const { return row_borders_.size() - 1; }
  Index first_row(std::size_t part) const { return row_borders_[part]; }
  Index end_row(std::size_t part) const { return row_borders_[part + 1]; }
  Index first_col(std::size_t part) const { return col_borders_[part]; }
  Index end_col(std::size_t part) const { return col_borders_[part + 1]; }
  /// Calls body(part) for the parts of this thread.
  template <class Body>
  void each_part(std::size_t thread, std::size_t threads, const Body& body) const {
    for (std::size_t part = thread; part < size(); part += threads) body(part);
  }
  /// Calls body(part) for all parts, on `threads` threads. If the system gives fewer, these do the work of
  /// the others.
  template <class Body>
  void over_parts(int threads, const Body& body) const {
    each_thread(threads, [&](std::size_t thread, std::size_t given) {
      for (; thread < static_cast<std::size_t>(threads); thread += given)
        each_part(thread, static_cast<std::size_t>(threads), body);
    });
  }

  /// The grain of a row is row >> grain_shift().
  int grain_shift() const { return grain_shift_; }
  /// The owner of each grain, one of `threads` threads.
  std::vector<Index> owners(std::size_t threads) const;

 private:
  void align_to_grains();

  std::vector<Index> row_borders_, col_borders_;  ///< [parts + 1]
  int grain_shift_ = 0;
};

extern template Partition::Partition(const TwoSidedGraph&, int);
extern template Partition::Partition(const BasicTwoSidedGraph<std::uint32_t>&, int);

}  // namespace motes::matching::detail
