/// Works row by row. A branch-free comparison with the six face neighbours marks the few voxels to compare
/// with all 26. Voxels equal to a neighbour are examined afterwards, plateau by plateau, since only the whole
/// plateau shows whether it is a maximum (an L-shaped one has several "first" voxels, and a higher voxel may
/// be around the corner).

#include "tracking/detect/maxima/maxima.h"

#include <algorithm>
#include <limits>
#include <set>

#include <motes/base/parallel_for.h>

#include "tracking/detect/maxima/maxima_rules.h"

namespace motes::tracking::detect {
namespace {

constexpr std::int64_t kBand = 64;  // rows per task

Shape3 shape_of(const ResponseView& response) { return {response.nz, response.ny, response.nx}; }

const float* row_of(const ResponseView& response, std::int64_t z, std::int64_t y) {
  return response.log + (z * response.ny + y) * response.nx;
}

struct Found {
  std::vector<Voxel> strict, tied;
};

/// Calls visit(neighbour) for up to 26 neighbours, until it returns false.
template <class Visit>
void visit_neighbours(const Shape3& shape, const Voxel& v, const Visit& visit) {
  for (std::int64_t z = std::max<std::int64_t>(0, v.z - 1); z <= std::min(shape.nz - 1, v.z + 1); ++z)
    for (std::int64_t y = std::max<std::int64_t>(0, v.y - 1); y <= std::min(shape.ny - 1, v.y + 1); ++y)
      for (std::int64_t x = std::max<std::int64_t>(0, v.x - 1); x <= std::min(shape.nx - 1, v.x + 1); ++x)
        if (!(z == v.z && y == v.y && x == v.x) && !visit(Voxel{z, y, x})) return;
}

enum class Standing { exceeded, tied, strict };

/// Compares `v` with its neighbours, in the response (Sign 1) or in its negative (Sign -1).
template <int Sign>
Standing standing_of(const ResponseView& response, const Voxel& v) {
  const Shape3 s = shape_of(response);
  const float value = Sign * response.at(v.z, v.y, v.x);
  const std::int64_t first = std::max<std::int64_t>(0, v.x - 1), last = std::min(s.nx - 1, v.x + 1);
  int equal = 0;  // including the voxel itself
  for (std::int64_t z = std::max<std::int64_t>(0, v.z - 1); z <= std::min(s.nz - 1, v.z + 1); ++z)
    for (std::int64_t y = std::max<std::int64_t>(0, v.y - 1); y <= std::min(s.ny - 1, v.y + 1); ++y) {
      const float* row = row_of(response, z, y);
      for (std::int64_t x = first; x <= last; ++x) {
        const float other = Sign * row[x];
        if (other > value) return Standing::exceeded;
        equal += static_cast<int>(other == value);
      }
    }
  return equal > 1 ? Standing::tied : Standing::strict;
}

/// Sets marks[x] to non-zero where the response times Sign is over the floor and no face neighbour exceeds
/// it. At a face of the frame the row takes the place of the missing one.
template <int Sign>
void mark_row(const ResponseView& response, std::int64_t z, std::int64_t y, float floor,
              unsigned char* marks) {
  const Shape3 s = shape_of(response);
  const float* row = row_of(response, z, y);
  const float* above = y > 0 ? row_of(response, z, y - 1) : row;
  const float* below = y + 1 < s.ny ? row_of(response, z, y + 1) : row;
  const float* before = z > 0 ? row_of(response, z - 1, y) : row;
  const float* after = z + 1 < s.nz ? row_of(response, z + 1, y) : row;
  const auto is_high = [=](std::int64_t x, std::int64_t left, std::int64_t right) {
    const float v = Sign * row[x];
    const auto beats = [=](float other) { return static_cast<int>(v >= Sign * other); };
    return static_cast<unsigned char>(static_cast<int>(v > floor) & beats(row[left]) & beats(row[right]) &
                                      beats(above[x]) & beats(below[x]) & beats(before[x]) & beats(after[x]));
  };
  marks[0] = is_high(0, 0, std::min<std::int64_t>(1, s.nx - 1));
#pragma omp simd
  for (std::int64_t x = 1; x < s.nx - 1; ++x) marks[x] = is_high(x, x - 1, x + 1);
  if (s.nx > 1) marks[s.nx - 1] = is_high(s.nx - 1, s.nx - 2, s.nx - 1);
}

void scan_row(const ResponseView& response, std::int64_t z, std::int64_t y, float floor,
              std::vector<unsigned char>& marks, Found& found) {
  mark_row<1>(response, z, y, floor, marks.data());
  const auto end = marks.cend();
  for (auto it = std::find(marks.cbegin(), end, 1); it != end; it = std::find(it + 1, end, 1)) {
    const Voxel v{z, y, it - marks.cbegin()};
    const Standing standing = standing_of<1>(response, v);
    if (standing == Standing::strict) found.strict.push_back(v);
    if (standing == Standing::tied) found.tied.push_back(v);
  }
}

/// The plateau around `seed`, sorted; empty if an adjacent voxel is higher. Its voxels are added to `seen`.
std::vector<Voxel> plateau_around(const ResponseView& response, const Voxel& seed, std::set<Voxel>& seen) {
  const float value = response.at(seed.z, seed.y, seed.x);
  std::vector<Voxel> members{seed};
  bool exceeded = false;
  seen.insert(seed);
  for (std::size_t next = 0; next < members.size(); ++next) {
    const Voxel at = members[next];  // a copy: the vector grows below
    visit_neighbours(shape_of(response), at, [&](const Voxel& n) {
      const float other = response.at(n.z, n.y, n.x);
      exceeded = exceeded || other > value;
      if (other == value && seen.insert(n).second) members.push_back(n);
      return true;
    });
  }
  if (exceeded) members.clear();
  std::sort(members.begin(), members.end());
  return members;
}

Voxel middle_of(const std::vector<Voxel>& members) {
  const auto member = [&](std::int64_t i) {
    const Voxel& v = members[static_cast<std::size_t>(i)];
    return std::array<std::int64_t, 3>{v.z, v.y, v.x};
  };
  return members[static_cast<std::size_t>(
      rules::middle_of(static_cast<std::int64_t>(members.size()), member))];
}

}  // namespace

std::vector<Voxel> local_maxima(const Execution& execution, const ResponseView& response, float floor) {
  const Shape3 shape = shape_of(response);
  const std::int64_t bands = (shape.ny + kBand - 1) / kBand;
  std::vector<Found> found(static_cast<std::size_t>(shape.nz * bands));
  parallel_for(thread_count(execution), shape.nz * bands, [&](std::int64_t task) {
    std::vector<unsigned char> marks(static_cast<std::size_t>(shape.nx));
    const std::int64_t begin = task % bands * kBand;
    for (std::int64_t y = begin; y < std::min(begin + kBand, shape.ny); ++y)
      scan_row(response, task / bands, y, floor, marks, found[static_cast<std::size_t>(task)]);
  });

  std::vector<Voxel> maxima;
  std::set<Voxel> seen;
  for (const Found& part : found) {
    maxima.insert(maxima.end(), part.strict.begin(), part.strict.end());
    for (const Voxel& v : part.tied) {
      if (seen.contains(v)) continue;
      const std::vector<Voxel> plateau = plateau_around(response, v, seen);
      if (!plateau.empty()) maxima.push_back(middle_of(plateau));
    }
  }
  if (!std::is_sorted(maxima.begin(), maxima.end())) std::sort(maxima.begin(), maxima.end());  // plateaus
  return maxima;
}

SampledMinima sample_minima(const Execution& execution, const ResponseView& response, float floor,
                            std::int64_t rows_per_sample) {
  const Shape3 shape = shape_of(response);
  const std::int64_t step =
      std::clamp<std::int64_t>(rows_per_sample, 1, std::max<std::int64_t>(1, shape.nz * shape.ny));
  const std::int64_t rows = (shape.nz * shape.ny) / step;
  std::vector<std::vector<Voxel>> found(static_cast<std::size_t>(rows));
  parallel_for(thread_count(execution), rows, [&](std::int64_t i) {
    const std::int64_t row = i * step + step / 2, z = row / shape.ny, y = row % shape.ny;
    std::vector<unsigned char> marks(static_cast<std::size_t>(shape.nx));
    mark_row<-1>(response, z, y, floor, marks.data());
    for (std::int64_t x = 0; x < shape.nx; ++x)
      if (marks[static_cast<std::size_t>(x)] != 0 && standing_of<-1>(response, {z, y, x}) == Standing::strict)
        found[static_cast<std::size_t>(i)].push_back({z, y, x});
  });
  SampledMinima sample;
  sample.rows_per_sample =
      rows > 0 ? static_cast<double>(shape.nz * shape.ny) / static_cast<double>(rows) : 1;
  for (const auto& part : found) sample.voxels.insert(sample.voxels.end(), part.begin(), part.end());
  return sample;
}

void erase_outside(std::span<const std::uint8_t> mask, const Shape3& shape, std::vector<Voxel>& voxels) {
  if (mask.empty()) return;
  std::erase_if(voxels, [&](const Voxel& v) {
    return mask[static_cast<std::size_t>((v.z * shape.ny + v.y) * shape.nx + v.x)] == 0;
  });
}

}  // namespace motes::tracking::detect
