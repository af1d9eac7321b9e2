#include "matching/detail/result_room.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "matching/parallel_for.h"

namespace motes::matching::detail {
namespace {

/// Below this many vertices threads cost more than they save.
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
  struct Piece {
    void* to;
    const void* from;
    std::size_t bytes;
  };
  const auto rows = static_cast<std::size_t>(rows_), cols = static_cast<std::size_t>(cols_);
  const std::array<Piece, 4> arrays{{{out.row_to_col.data(), from.row_to_col, rows * sizeof(Index)},
                                     {out.col_to_row.data(), from.col_to_row, cols * sizeof(Index)},
                                     {out.duals.u.data(), from.u, rows * sizeof(Cost)},
                                     {out.duals.v.data(), from.v, cols * sizeof(Cost)}}};
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::vector<Piece> pieces;
  for (const Piece& array : arrays)
    for (std::size_t at = 0; at < array.bytes; at += kPiece)
      pieces.push_back({static_cast<char*>(array.to) + at, static_cast<const char*>(array.from) + at,
                        std::min(kPiece, array.bytes - at)});
  const auto copy = [&](std::int64_t k) {
    const Piece& piece = pieces[static_cast<std::size_t>(k)];
    std::memcpy(piece.to, piece.from, piece.bytes);
  };
  if (threads_ > 1)
    parallel_for(std::min(threads_, 8), static_cast<std::int64_t>(pieces.size()), copy);
  else
    for (std::size_t k = 0; k < pieces.size(); ++k) copy(static_cast<std::int64_t>(k));
  return out;
}

}  // namespace motes::matching::detail
