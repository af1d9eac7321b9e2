#pragma once
/// Whose a row or column is: each thread's are a range.

#include <vector>

#include "matching/cardinality/solver.h"
#include "matching/parallel_for.h"

namespace motes::matching::detail {

/// Ranges of rows and of columns, one of each for every thread; some may be empty. If fewer threads are given
/// than asked for, thread k of n does parts k, k + n, ...
class Split {
 public:
  /// Ranges of about as many rows and edges each, and of as many columns.
  template <class Graph>
  Split(const Graph& graph, int threads);
  /// Ranges between these borders: [threads + 1], rising from 0 to all.
  Split(std::vector<Index> row_borders, std::vector<Index> col_borders)
      : row_borders_(std::move(row_borders)), col_borders_(std::move(col_borders)) {}

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
  /// The same in all threads.
  template <class Body>
  void over_parts(const Body& body) const {
    each_thread(static_cast<int>(size()),
                [&](std::size_t thread, std::size_t threads) { each_part(thread, threads, body); });
  }

 private:
  std::vector<Index> row_borders_, col_borders_;  ///< [threads + 1]
};

extern template Split::Split(const TwoSidedGraph&, int);
extern template Split::Split(const BasicTwoSidedGraph<std::uint32_t>&, int);

}  // namespace motes::matching::detail
