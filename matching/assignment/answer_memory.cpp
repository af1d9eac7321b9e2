/// Allocates the arrays of an answer in another thread.

#include "matching/assignment/answer_memory.h"

#include <array>

#include <motes/base/parallel_copy.h>

namespace motes::matching::detail {
namespace {

/// Below this many vertices a thread costs more time than it saves.
constexpr Offset kWorthThreads = 1 << 17;

template <class T>
std::future<std::vector<T>> make_room(Index count, bool beside) {
  return std::async(beside ? std::launch::async : std::launch::deferred,
                    [count] { return std::vector<T>(static_cast<std::size_t>(count)); });
}

}  // namespace

ResultRoom::ResultRoom(Index rows, Index cols, int threads)
    : rows_(rows), cols_(cols), threads_(Offset{rows} + cols < kWorthThreads ? 1 : threads) {
  const bool beside = threads_ > 1;
  u_ = make_room<Cost>(rows, beside), v_ = make_room<Cost>(cols, beside);
  row_to_col_ = make_room<Index>(rows, beside), col_to_row_ = make_room<Index>(cols, beside);
}

Matching ResultRoom::fill(const Arrays& from) {
  Matching out;
  out.row_to_col = row_to_col_.get(), out.col_to_row = col_to_row_.get();
  out.duals.u = u_.get(), out.duals.v = v_.get();
  const auto rows = static_cast<std::size_t>(rows_), cols = static_cast<std::size_t>(cols_);
  const std::array<Copy, 4> arrays{{{out.row_to_col.data(), from.row_to_col, rows * sizeof(Index)},
                                    {out.col_to_row.data(), from.col_to_row, cols * sizeof(Index)},
                                    {out.duals.u.data(), from.u, rows * sizeof(Cost)},
                                    {out.duals.v.data(), from.v, cols * sizeof(Cost)}}};
  parallel_copy(arrays, threads_);
  return out;
}

}  // namespace motes::matching::detail
