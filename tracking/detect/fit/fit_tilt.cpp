#include "tracking/detect/fit/fit_tilt.h"

#include <algorithm>
#include <vector>

#include <motes/base/function_clones.h>

#include "tracking/detect/fit/fit_tilt_rules.h"

namespace motes::tracking::detect {
namespace {

using rules::TiltAxis;

constexpr int kMostColumns = 32;

/// A spot's profiles over the box along x, y, z.
using Profiles = std::array<std::vector<double>, 3>;

Profiles profiles_on(const std::array<TiltAxis, 3>& axis, const SpotModel& spot) {
  Profiles g;
  for (std::size_t a = 0; a < 3; ++a)
    for (int i = 0; i < axis[a].count; ++i) g[a].push_back(rules::tilt_profile(axis[a], spot, a, i));
  return g;
}

/// Sums of some neighbouring columns.
struct Columns {
  double y[kMostColumns], yy[kMostColumns], y_cy[kMostColumns], y_cz[kMostColumns], yg[kMostColumns];
};

MOTES_CLONES
void add_row(const double* values, int count, double cy, double cz, double g, Columns& sums) {
#pragma omp simd
  for (int i = 0; i < count; ++i) {
    rules::TiltColumn column{sums.y[i], sums.yy[i], sums.y_cy[i], sums.y_cz[i], sums.yg[i]};
    column.add(values[i], cy, cz, g);
    sums.y[i] = column.y;
    sums.yy[i] = column.yy;
    sums.y_cy[i] = column.y_cy;
    sums.y_cz[i] = column.y_cz;
    sums.yg[i] = column.yg;
  }
}

}  // namespace

Tilt tilt_around(const Source& source, const SpotModel& spot, std::span<const SpotModel> neighbours,
                 const Index3& half, double errors) {
  std::array<TiltAxis, 3> axis;
  for (std::size_t a = 0; a < 3; ++a) axis[a] = rules::tilt_axis(spot.place[a], source.size[a], half[a]);
  const Profiles own = profiles_on(axis, spot);
  std::vector<Profiles> others;
  for (const SpotModel& other : neighbours) others.push_back(profiles_on(axis, other));
  rules::TiltBox box;
  source.read([&](const auto* voxels) {
    const auto row_at = [&](int k, int j) {
      return voxels + ((axis[2].first + k) * source.size[1] + axis[1].first + j) * source.size[0] +
             axis[0].first;
    };
    const auto offset = static_cast<double>(*row_at(0, 0));
    for (int begin = 0; begin < axis[0].count; begin += kMostColumns) {
      const int count = std::min(kMostColumns, axis[0].count - begin);
      Columns sums{};
      double values[kMostColumns];
      for (int k = 0; k < axis[2].count; ++k)
        for (int j = 0; j < axis[1].count; ++j) {
          const auto at_j = static_cast<std::size_t>(j), at_k = static_cast<std::size_t>(k);
          const auto* row = row_at(k, j) + begin;
          for (int i = 0; i < count; ++i) values[i] = static_cast<double>(row[i]) - offset;
          for (std::size_t m = 0; m < others.size(); ++m) {
            const double height = neighbours[m].height * others[m][1][at_j] * others[m][2][at_k];
            const double* gx = &others[m][0][static_cast<std::size_t>(begin)];
            for (int i = 0; i < count; ++i) values[i] -= height * gx[i];
          }
          add_row(values, count, axis[1].c(j), axis[2].c(k), own[1][at_j] * own[2][at_k], sums);
        }
      for (int i = 0; i < count; ++i)
        box.add({sums.y[i], sums.yy[i], sums.y_cy[i], sums.y_cz[i], sums.yg[i]}, axis[0].c(begin + i),
                own[0][static_cast<std::size_t>(begin + i)]);
    }
  });
  std::array<rules::TiltSums, 3> along;
  for (std::size_t a = 0; a < 3; ++a) along[a] = rules::tilt_sums(axis[a], own[a].data());
  return rules::tilt_of(spot, along, box, errors);
}

}  // namespace motes::tracking::detect
