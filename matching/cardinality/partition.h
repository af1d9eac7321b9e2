#pragma once
/// A partition of rows and columns: each thread owns some ranges.

#include <cstdint>
#include <vector>

#include <motes/base/parallel_for.h>
#include <motes/matching/cardinality_solver.h>

namespace motes::matching::detail {

/// Ranges of rows and of columns, dealt out to threads: thread k of n has parts k, k + n, ... Some may be
/// empty. Rows begin at multiples of a grain, so that a small table says whose a row is.
class Partition {
 public:
  /// Ranges of about as many rows and edges each, and of as many columns.
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
  /// The same in all threads; if fewer are given than asked for, one does what others would have done.
  template <class Body>
  void over_parts(int threads, const Body& body) const {
    each_thread(threads, [&](std::size_t thread, std::size_t given) {
      for (; thread < static_cast<std::size_t>(threads); thread += given)
        each_part(thread, static_cast<std::size_t>(threads), body);
    });
  }

  /// Rows go together that are the same number, shifted so far.
  int grain_shift() const { return grain_shift_; }
  /// Of each grain, whose it is where there are so many threads.
  std::vector<Index> owners(std::size_t threads) const;

 private:
  void to_grains();

  std::vector<Index> row_borders_, col_borders_;  ///< [parts + 1]
  int grain_shift_ = 0;
};

extern template Partition::Partition(const TwoSidedGraph&, int);
extern template Partition::Partition(const BasicTwoSidedGraph<std::uint32_t>&, int);

}  // namespace motes::matching::detail
