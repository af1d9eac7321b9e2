/// In each row (x) the runs of the padding's value at both ends are padding, and so are planes of that value
/// alone. If a region of interest was cut out, long runs inside rows are padding, too, provided that the
/// pieces of data are far wider than objects. The rest of the row is data, even where it contains that value.
/// Padding is replaced by the mirror image of the data: in rows, then in planes, then across planes. So a
/// filter meets neither an edge nor noise of another strength.

#include "tracking/detect/filter/padding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>

#include "tracking/detect/filter/mirror.h"

namespace motes::tracking::detect {
namespace {

constexpr double kMostInData = 0.25;   // largest share of the padding's value among the data
constexpr double kFewInData = 0.01;    // from this share on, padding is looked for inside rows
constexpr double kFewInPieces = 0.05;  // largest share among the data between
// Least share of data in the frame; less may be one object on an empty background.
constexpr double kLeastData = 0.25;
// Least ratio of the values next to padding to the mean; objects fade out at their ends.
constexpr double kEdge = 0.5;
constexpr std::int64_t kFewest = 1000;  // voxels of data
// Expected number of runs by chance that are longer than the shortest padding.
constexpr double kByChance = 0.01;
constexpr std::int64_t kTask = 64;       // rows
constexpr std::int64_t kLeastGap = 16;   // voxels: least length of padding inside a row
constexpr std::int64_t kLeastPiece = 8;  // voxels: shorter runs of data beside gaps are left out
constexpr std::int64_t kBorder = 2;      // voxels at the ends of such runs where nothing is searched
constexpr double kPieces = 0.2;          // least mean length of runs of data between, relative to a row

template <class T>
T corner_value(const T* voxels, const Shape3& s) {
  std::array<T, 8> corners{};
  for (std::size_t k = 0; k < 8; ++k) {
    const std::int64_t z = (k & 4) != 0 ? s.nz - 1 : 0, y = (k & 2) != 0 ? s.ny - 1 : 0,
                       x = (k & 1) != 0 ? s.nx - 1 : 0;
    corners[k] = voxels[(z * s.ny + y) * s.nx + x];
  }
  std::sort(corners.begin(), corners.end());
  T most = corners[0];
  std::ptrdiff_t times = 0;
  for (const T value : corners)
    if (const auto n = std::count(corners.begin(), corners.end(), value); n > times) most = value, times = n;
  return most;
}

/// The lowest of some thousand voxels.
template <class T>
T lowest_value(const T* voxels, const Shape3& s) {
  constexpr std::int64_t kSample = 1 << 13;
  const std::int64_t step = std::max<std::int64_t>(1, s.voxels() / kSample) | 1;
  T lowest = voxels[0];
  for (std::int64_t i = 0; i < s.voxels(); i += step) lowest = std::min(lowest, voxels[i]);
  return lowest;
}

/// The value of the first plane without any other value, as of a plane that was lost; else that of the
/// corners.
template <class T>
T padding_value(const T* voxels, const Shape3& s) {
  const std::int64_t size = s.ny * s.nx;
  for (std::int64_t z = 0; z < s.nz; ++z) {
    const T* plane = voxels + z * size;
    if (std::all_of(plane, plane + size, [&](T value) { return value == *plane; })) return *plane;
  }
  return corner_value(voxels, s);
}

template <class T>
Extent data_of_row(const T* row, std::int64_t nx, T value) {
  Extent data{0, nx};
  while (data.first < nx && row[data.first] == value) ++data.first;
  while (data.end > data.first && row[data.end - 1] == value) --data.end;
  return data;
}

/// The range from the first to the last row or plane that is not empty.
Extent data_among(std::int64_t count, const auto& is_empty) {
  Extent data{0, count};
  while (data.first < count && is_empty(data.first)) ++data.first;
  while (data.end > data.first && is_empty(data.end - 1)) --data.end;
  return data;
}

template <class T>
class Padding {
 public:
  Padding(const Execution& execution, const Shape3& shape, const T* voxels, T value)
      : threads_(thread_count(execution)),
        shape_(shape),
        voxels_(voxels),
        value_(value),
        rows_(at(shape.nz * shape.ny)) {}

  /// Finds the padding. False if there is too little or too much.
  bool find() {
    const std::int64_t rows = shape_.nz * shape_.ny;
    each_row([&](std::int64_t r) { rows_[at(r)] = data_of_row(voxels_ + r * shape_.nx, shape_.nx, value_); });
    std::int64_t data = 0;
    for (const Extent& row : rows_) data += row.count();
    if (data < kFewest || 2 * (shape_.voxels() - data) < rows) return false;
    if (static_cast<double>(data) < kLeastData * static_cast<double>(shape_.voxels())) return false;
    Inside seen = look_inside();
    if (static_cast<double>(seen.equal) > kFewInData * static_cast<double>(data) && find_pieces(data))
      seen = look_inside();
    if (!(seen.ends >= kEdge * seen.mean)) return false;  // NaN: reported elsewhere
    const double inside = static_cast<double>(seen.equal) / static_cast<double>(data);
    if (inside > kMostInData) return false;
    if (inside > 0 && pieces_.empty()) take_back_runs_by_chance(static_cast<double>(rows), inside);
    data = 0;
    for (const Extent& row : rows_) data += row.count();
    return 2 * (shape_.voxels() - data) >= rows;
  }

  Unpadded replaced(const VolumeFrame& frame) const {
    Unpadded out{frame, std::vector<std::uint8_t>(at(shape_.voxels()))};
    T* voxels = std::get<std::vector<T>>(out.frame.voxels).data();
    each_row([&](std::int64_t r) {
      const Extent& data = rows_[at(r)];
      if (data.empty()) return;
      T* row = voxels + r * shape_.nx;
      std::fill(out.is_data.begin() + r * shape_.nx + data.first,
                out.is_data.begin() + r * shape_.nx + data.end, std::uint8_t{1});
      fill_between_pieces(at(r), row, out.is_data.data() + r * shape_.nx);
      for (std::int64_t x = 0; x < shape_.nx; ++x)
        if (!data.has(x)) row[x] = row[data.mirrored(x)];
    });
    std::vector<unsigned char> is_empty_plane(at(shape_.nz));
    for (std::int64_t z = 0; z < shape_.nz; ++z) {
      const auto is_empty = [&](std::int64_t y) { return rows_[at(z * shape_.ny + y)].empty(); };
      is_empty_plane[at(z)] =
          fill(voxels + z * shape_.ny * shape_.nx, shape_.ny, shape_.nx, is_empty) ? 0 : 1;
    }
    fill(voxels, shape_.nz, shape_.ny * shape_.nx,
         [&](std::int64_t z) { return is_empty_plane[at(z)] != 0; });
    return out;
  }

 private:
  template <class Body>
  void each_row(const Body& body) const {
    const std::int64_t rows = shape_.nz * shape_.ny;
    parallel_for(threads_, (rows + kTask - 1) / kTask, [&](std::int64_t task) {
      for (std::int64_t r = task * kTask; r < std::min(rows, (task + 1) * kTask); ++r) body(r);
    });
  }

  /// The runs of data in row r that long runs of the padding's value separate; short ones are left out.
  std::vector<Extent> pieces_of(std::size_t r) const {
    std::vector<Extent> pieces;
    const T* row = voxels_ + static_cast<std::int64_t>(r) * shape_.nx;
    Extent piece{rows_[r].first, rows_[r].first};
    const auto end_piece = [&] {
      if (piece.count() >= kLeastPiece) pieces.push_back(piece);
    };
    for (std::int64_t x = rows_[r].first; x < rows_[r].end; ++x) {
      const std::int64_t first = x;
      while (row[x] == value_) ++x;  // a row of data ends with another value
      if (x - first >= kLeastGap) {
        end_piece();
        piece.first = x;
      }
      piece.end = x + 1;
    }
    end_piece();
    return pieces;
  }

  /// Finds the padding inside rows; `data` becomes the number of voxels of data. False, with no effect, if
  /// the pieces of data are short, as objects on an empty ground are, or hold the padding's value.
  bool find_pieces(std::int64_t& data) {
    std::vector<std::vector<Extent>> all(rows_.size());
    each_row([&](std::int64_t r) { all[at(r)] = pieces_of(at(r)); });
    double count = 0, squares = 0, equal = 0;
    for (std::size_t r = 0; r < all.size(); ++r)
      for (const Extent& piece : all[r]) {
        const T* row = voxels_ + static_cast<std::int64_t>(r) * shape_.nx;
        const auto n = static_cast<double>(piece.count());
        count += n;
        squares += n * n;
        equal += static_cast<double>(std::count(row + piece.first, row + piece.end, value_));
      }
    if (count < kFewest || count < kLeastData * static_cast<double>(shape_.voxels()) ||
        squares < kPieces * count * static_cast<double>(shape_.nx) || equal > kFewInPieces * count ||
        2 * (static_cast<double>(data) - count) < static_cast<double>(rows_.size()))
      return false;
    data = static_cast<std::int64_t>(count);
    for (std::size_t r = 0; r < rows_.size(); ++r)
      rows_[r] = all[r].empty() ? Extent{shape_.nx, shape_.nx} : Extent{all[r][0].first, all[r].back().end};
    pieces_ = std::move(all);
    return true;
  }

  /// Calls visit(Extent) for the runs of data in a row.
  template <class Visit>
  void for_pieces(std::size_t r, const Visit& visit) const {
    if (!pieces_.empty())
      std::for_each(pieces_[r].begin(), pieces_[r].end(), visit);
    else if (!rows_[r].empty())
      visit(rows_[r]);
  }

  /// Each half of the padding between two runs of data becomes the mirror image of the run next to it. Voxels
  /// at the border are not searched, since noise that is mirrored around them looks like a spot.
  void fill_between_pieces(std::size_t r, T* row, std::uint8_t* is_data) const {
    Extent before{};
    for_pieces(r, [&](const Extent& piece) {
      for (std::int64_t x = before.end; !before.empty() && x < piece.first; ++x) {
        row[x] = row[(x - before.end < piece.first - x ? before : piece).mirrored(x)];
        is_data[x] = 0;
      }
      if (!pieces_.empty() && piece.first > 0) std::fill_n(is_data + piece.first, kBorder, std::uint8_t{0});
      if (!pieces_.empty() && piece.end < shape_.nx)
        std::fill_n(is_data + piece.end - kBorder, kBorder, std::uint8_t{0});
      before = piece;
    });
  }

  /// For voxels of data: how many have the padding's value, and mean differences from it.
  struct Inside {
    std::int64_t equal = 0;
    double mean = 0, ends = 0;  ///< of all voxels; of those next to padding in their row
  };
  Inside look_inside() const {
    struct OfRow {
      std::int64_t equal = 0, ends = 0, count = 0;
      double sum = 0, sum_of_ends = 0;
    };
    std::vector<OfRow> seen(rows_.size());
    const auto distance = [&](T v) { return std::abs(static_cast<double>(v) - static_cast<double>(value_)); };
    each_row([&](std::int64_t r) {
      const T* row = voxels_ + r * shape_.nx;
      OfRow& one = seen[at(r)];
      for_pieces(at(r), [&](const Extent& data) {
        for (std::int64_t x = data.first; x < data.end; ++x) {
          if (row[x] == value_) ++one.equal;
          one.sum += distance(row[x]);
        }
        one.count += data.count();
        if (data.first > 0) ++one.ends, one.sum_of_ends += distance(row[data.first]);
        if (data.end < shape_.nx) ++one.ends, one.sum_of_ends += distance(row[data.end - 1]);
      });
    });
    Inside all;
    std::int64_t ends = 0, count = 0;
    for (const OfRow& one : seen) {
      all.equal += one.equal;
      all.mean += one.sum;
      all.ends += one.sum_of_ends;
      ends += one.ends;
      count += one.count;
    }
    all.mean /= static_cast<double>(count);
    all.ends = ends > 0 ? all.ends / static_cast<double>(ends) : all.mean;
    return all;
  }

  void take_back_runs_by_chance(double rows, double inside) {
    const auto longest =
        static_cast<std::int64_t>(std::ceil(std::log(2 * rows / kByChance) / -std::log(inside)));
    for (Extent& row : rows_) {
      if (row.empty()) continue;
      if (row.first < longest) row.first = 0;
      if (shape_.nx - row.end < longest) row.end = shape_.nx;
    }
  }

  /// Fills each empty one of `count` parts of `size` voxels with the mirror image of the others; an empty
  /// part between others becomes a copy of the part before it. False if all are empty.
  template <class IsEmpty>
  bool fill(T* parts, std::int64_t count, std::int64_t size, const IsEmpty& is_empty) const {
    const Extent data = data_among(count, is_empty);
    if (data.empty()) return false;
    const auto copy = [&](std::int64_t from, std::int64_t to) {
      std::copy_n(parts + from * size, size, parts + to * size);
    };
    for (std::int64_t i = data.first; i < data.end; ++i)
      if (is_empty(i)) copy(i - 1, i);
    for (std::int64_t i = 0; i < count; ++i)
      if (!data.has(i)) copy(data.mirrored(i), i);
    return true;
  }

  int threads_;
  Shape3 shape_;
  const T* voxels_;
  T value_;
  std::vector<Extent> rows_;                 ///< [nz * ny], from the first to the last data
  std::vector<std::vector<Extent>> pieces_;  ///< [nz * ny] of these; none if rows have no padding inside
};

}  // namespace

std::optional<Unpadded> without_padding(const Execution& execution, const VolumeFrame& frame) {
  if (frame.shape.voxels() == 0) return std::nullopt;
  return std::visit(
      [&](const auto& voxels) -> std::optional<Unpadded> {
        using T = typename std::decay_t<decltype(voxels)>::value_type;
        if constexpr (!std::is_same_v<std::decay_t<decltype(voxels)>, std::vector<T>>) {
          return std::nullopt;  // frames in files: a copy may not fit into memory
        } else {
          const T* const data = voxels.data();
          const T outer = padding_value(data, frame.shape), lowest = lowest_value(data, frame.shape);
          Padding<T> padding(execution, frame.shape, data, outer);
          if (padding.find()) return padding.replaced(frame);
          if (!(lowest < outer)) return std::nullopt;
          Padding<T> cut_out(execution, frame.shape, data, lowest);  // if the region reaches the corners
          if (!cut_out.find()) return std::nullopt;
          return cut_out.replaced(frame);
        }
      },
      frame.voxels);
}

}  // namespace motes::tracking::detect
