#pragma once
/// Memory for a large answer, allocated and touched while a device still works on it: for a million rows the
/// first touch of its pages takes longer than many solutions.

#include <future>
#include <vector>

#include <motes/matching/answer.h>

namespace motes::matching::detail {

class ResultRoom {
 public:
  /// Starts to allocate the matching and the duals, in another thread if the answer is large and `threads`
  /// allow it.
  ResultRoom(Index rows, Index cols, int threads);

  /// The four arrays of an answer in the device's memory.
  struct Arrays {
    const Index *row_to_col, *col_to_row;  ///< [rows], [cols]
    const Cost *u, *v;                     ///< [rows], [cols]
  };
  /// Copies them. Call it once.
  Matching fill(const Arrays& from);

 private:
  Index rows_, cols_;
  int threads_;
  std::future<std::vector<Index>> row_to_col_, col_to_row_;
  std::future<std::vector<Cost>> u_, v_;
};

}  // namespace motes::matching::detail
