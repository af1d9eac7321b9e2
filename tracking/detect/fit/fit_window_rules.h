#pragma once
/// The window around one spot and the sums over it that fits need, on the CPU and on the GPU.
///
/// A window's columns are the lanes of a team: on the CPU those of a vector (fit_team.h), on the GPU
/// neighbouring threads (device_fit.cu). All other code runs in every thread of the team with the same
/// values. Models are separable, so a voxel's derivatives are products of three table entries. Sums are kept
/// in a float for each column, row after row, and added up in double in the order of columns, so the number
/// of parallel lanes does not change the result.
///
/// Team: kWidth; Floats, Ints; load(from, to), store(to, from); load_voxels(row, end, lanes, to);
/// index(to): 0, 1, ...; each(n, use): calls use(i) for i in [0, n), shared by the threads; sync().

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <motes/base/exact_math.h>
#include <motes/base/host_device.h>

#include "tracking/detect/evidence/spot_model.h"
#include "tracking/detect/filter/response_view.h"
#include "tracking/detect/fit/fit_noise.h"
#include "tracking/detect/fit/fit_tilt.h"
#include "tracking/detect/fit/small_matrix_rules.h"

// Always inlined: compilers disagree on how functions take vectors as arguments.
#define MOTES_LANES MOTES_HOST_DEVICE __attribute__((always_inline)) inline

namespace motes::tracking::detect::rules {

constexpr int kMostLanes = 16;

/// Number of sums for a system of n columns: matrix, slope, cost.
constexpr int numbers(int n) { return pairs(n) + n + 1; }
constexpr int kMostNumbers = numbers(11);

/// For the voxels of a window along one axis: g = exp(-u^2 / 2), d1 = g u / sigma, d2 = g u^2; 0 beyond the
/// window up to the team's width.
struct FitProfile {
  float g[kMostLanes], d1[kMostLanes], d2[kMostLanes];
};
using FitProfiles = FitProfile[3];

/// The working memory of a team, besides the window. Sums may share memory with profiles.
struct FitScratch {
  FitProfiles* profiles;  ///< of a spot; two for pairs
  double* totals;         ///< [numbers of a system], or of two
  float* sums;            ///< [numbers of a system][width]
};

/// The voxels of one spot's window, minus the light of its neighbours.
struct Window {
  int first[3], count[3];
  float* values;   ///< [count z][count y][width]
  float* weights;  ///< 1 / variance; before set_weights: the sum of the neighbours' models there
  MOTES_HOST_DEVICE int rows() const { return count[1] * count[2]; }
};

/// The frame that windows are cut from, in blocks. Trivially copyable.
struct FitSource {
  std::int64_t size[3];
  double sigma[3];  ///< of the filter, blocks
  int half[3];      ///< of a window
};

/// exp(x), x <= 0, to 2e-7; 1e-38 below -87.
template <class Team>
MOTES_LANES void exp_lanes(typename Team::Floats& x) {
  using Floats = typename Team::Floats;
  using Ints = typename Team::Ints;
  constexpr float kShift = 12582912;  // 1.5 * 2^23: adding it rounds to an integer
  const Floats least = Floats{} - 87.0F;
  x = x < least ? least : x;
  const Floats shifted = x * 1.44269504F + kShift, k = shifted - kShift;
  const Floats r = (x - k * 0.693359375F) - k * -2.12194440e-4F;
  Floats series = r * (1.0F / 5040) + 1.0F / 720;
  series = series * r + 1.0F / 120;
  series = series * r + 1.0F / 24;
  series = series * r + 1.0F / 6;
  series = series * r + 0.5F;
  series = series * r + 1.0F;
  series = series * r + 1.0F;
  Ints bits;
  std::memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits - 0x4b400000 + 127) << 23;
  Floats power;
  std::memcpy(&power, &bits, sizeof(bits));
  x = series * power;
}

template <class Team>
MOTES_LANES void make_profile(const Team& team, double centre, double sigma, int first, int count,
                              FitProfile& p) {
  using Floats = typename Team::Floats;
  const double per = sigma > 0 ? 1 / sigma : 0;
  const int padded = (count + Team::kWidth - 1) / Team::kWidth * Team::kWidth;
  team.each(padded, [&](int i) {
    const double u = (static_cast<double>(first + i) - centre) * per;
    p.g[i] = static_cast<float>(-0.5 * u * u);
    p.d1[i] = static_cast<float>(u * per);
    p.d2[i] = static_cast<float>(u * u);
  });
  Floats index, g, d;
  for (int c = 0; c < padded; c += Team::kWidth) {
    team.index(index);
    team.load(p.g + c, g);
    exp_lanes<Team>(g);
    const Floats none{}, end = Floats{} + static_cast<float>(count - c);
    g = index < end ? g : none;
    team.store(p.g + c, g);
    team.load(p.d1 + c, d);
    d *= g;
    team.store(p.d1 + c, d);
    team.load(p.d2 + c, d);
    d *= g;
    team.store(p.d2 + c, d);
  }
}

/// Computes the profiles of the window's voxels; synchronises the team before and after.
template <class Team>
MOTES_LANES void make_profiles(const Team& team, const Window& w, const SpotModel& spot, FitProfiles& g) {
  team.sync();
  MOTES_ROLLED
  for (std::size_t a = 0; a < 3; ++a)
    make_profile(team, spot.place[a], spot.sigma[a], w.first[a], w.count[a], g[a]);
  team.sync();
}

/// Calls use(row, j, k), row the first element of the row, for every row of the window.
template <class Team, class Use>
MOTES_LANES void each_row(const Window& w, const Use& use) {
  int row = 0;
  MOTES_ROLLED
  for (int k = 0; k < w.count[2]; ++k) MOTES_ROLLED
  for (int j = 0; j < w.count[1]; ++j, row += Team::kWidth) use(row, j, k);
}

/// The same for slow memory: a GPU loads several rows before it waits for the first.
template <class Team, class Use>
MOTES_LANES void each_row_ahead(const Window& w, const Use& use) {
  int row = 0;
  for (int k = 0; k < w.count[2]; ++k)
    for (int j = 0; j < w.count[1]; ++j, row += Team::kWidth) use(row, j, k);
}

/// Copies the window around a place, within the frame. `voxels`: the frame's first voxel, x fastest.
template <class Team, class First>
MOTES_LANES void cut_window(const Team& team, const FitSource& source, const First& voxels,
                            const double (&place)[3], Window& w) {
  using Floats = typename Team::Floats;
  for (int a = 0; a < 3; ++a) {
    const auto end = static_cast<int>(source.size[a]) - 1;
    const int centre = limited(static_cast<int>(std::lround(place[a])), 0, end);
    const int first = centre - source.half[a], last = centre + source.half[a];
    w.first[a] = first > 0 ? first : 0;
    w.count[a] = (last < end ? last : end) - w.first[a] + 1;
  }
  const First end = voxels + source.size[0] * source.size[1] * source.size[2];
  const Floats none{};
  each_row_ahead<Team>(w, [&](int row, int j, int k) {
    Floats v;
    team.load_voxels(
        voxels + ((w.first[2] + k) * source.size[1] + w.first[1] + j) * source.size[0] + w.first[0], end,
        w.count[0], v);
    team.store(w.values + row, v);
    team.store(w.weights + row, none);
  });
}

/// Subtracts the light of a neighbour from the window.
template <class Team>
MOTES_LANES void take_off(const Team& team, const SpotModel& neighbour, FitScratch& scratch, Window& w) {
  using Floats = typename Team::Floats;
  FitProfiles& g = scratch.profiles[0];
  make_profiles(team, w, neighbour, g);
  const auto height = static_cast<float>(neighbour.height);
  Floats gx, v, light;
  team.load(g[0].g, gx);
  each_row<Team>(w, [&](int row, int j, int k) {
    const Floats more = (height * g[2].g[k] * g[1].g[j]) * gx;
    team.load(w.weights + row, light);
    light += more;
    team.store(w.weights + row, light);
    team.load(w.values + row, v);
    v -= more;
    team.store(w.values + row, v);
  });
}

/// Subtracts a slope from the window; for the weights it counts as light.
template <class Team>
MOTES_LANES void take_off(const Team& team, const Tilt& tilt, Window& w) {
  using Floats = typename Team::Floats;
  if (tilt.slope[0] == 0 && tilt.slope[1] == 0 && tilt.slope[2] == 0) return;
  const auto rise = [&](std::size_t a, int i) {
    return tilt.slope[a] * (static_cast<double>(w.first[a] + i) - tilt.place[a]);
  };
  Floats index, v, light;
  team.index(index);
  const Floats none{}, end = Floats{} + static_cast<float>(w.count[0]);
  const auto slope = static_cast<float>(tilt.slope[0]);
  each_row<Team>(w, [&](int row, int j, int k) {
    Floats more = index * slope + static_cast<float>(rise(0, 0) + rise(1, j) + rise(2, k));
    more = index < end ? more : none;
    team.load(w.weights + row, light);
    light += more;
    team.store(w.weights + row, light);
    team.load(w.values + row, v);
    v -= more;
    team.store(w.values + row, v);
  });
}

/// Sets the weights from the expected values of `spot` and its neighbours.
template <class Team>
MOTES_LANES void set_weights(const Team& team, const SpotModel& spot, const Noise& noise, FitScratch& scratch,
                             Window& w) {
  using Floats = typename Team::Floats;
  FitProfiles& g = scratch.profiles[0];
  make_profiles(team, w, spot, g);
  const auto base = static_cast<float>(noise.base), slope = static_cast<float>(noise.slope),
             background = static_cast<float>(spot.background), height = static_cast<float>(spot.height);
  Floats gx, light, index;
  team.load(g[0].g, gx);
  team.index(index);
  const Floats none{}, least = Floats{} + static_cast<float>(noise.least),
                       end = Floats{} + static_cast<float>(w.count[0]);
  each_row<Team>(w, [&](int row, int j, int k) {
    team.load(w.weights + row, light);
    const Floats expected = background + light + (height * g[2].g[k] * g[1].g[j]) * gx;
    Floats variance = base + slope * expected;
    variance = variance < least ? least : variance;
    Floats weight = 1.0F / variance;
    weight = index < end ? weight : none;
    team.store(w.weights + row, weight);
  });
}

/// Normal equations of N columns.
template <int N>
struct Normal {
  Symmetric<N> matrix;
  double slope[N];
  double cost;  ///< sum of weighted squared residuals
};

/// Adds up the lanes of scratch.sums in order.
template <class Team>
MOTES_LANES void add_lanes(const Team& team, int count, const FitScratch& scratch, double* totals) {
  team.sync();
  team.each(count, [&](int i) {
    double sum = 0;
    MOTES_UNROLL
    for (int lane = 0; lane < Team::kWidth; ++lane)
      sum += static_cast<double>(scratch.sums[i * Team::kWidth + lane]);
    totals[i] = sum;
  });
  team.sync();
}

/// The normal equations of a model: the matrix, the slope and the cost go to `totals`, for all threads of the
/// team. Columns: kCount; at(j, k, d, model) gives the derivatives and the model in row (j, k). The profiles
/// must exist; if sums share their memory, they are overwritten.
template <class Team, class Columns>
MOTES_LANES void totals_of(const Team& team, const Window& w, const Columns& columns,
                           const FitScratch& scratch, double* totals) {
  constexpr int n = Columns::kCount;
  using Floats = typename Team::Floats;
  Floats matrix[pairs(n)] = {}, slope[n] = {}, cost{};
  each_row_ahead<Team>(w, [&](int row, int j, int k) {
    Floats weight, r, model, d[n];
    team.load(w.weights + row, weight);
    team.load(w.values + row, r);
    columns.at(j, k, d, model);
    r -= model;
    MOTES_UNROLL
    for (int p = 0; p < n; ++p) {
      const Floats wd = weight * d[p];
      slope[p] += wd * r;
      MOTES_UNROLL
      for (int q = 0; q <= p; ++q) matrix[p * (p + 1) / 2 + q] += wd * d[q];
    }
    cost += weight * r * r;
  });
  team.sync();
  MOTES_UNROLL
  for (int i = 0; i < pairs(n); ++i) team.store(scratch.sums + i * Team::kWidth, matrix[i]);
  MOTES_UNROLL
  for (int i = 0; i < n; ++i) team.store(scratch.sums + (pairs(n) + i) * Team::kWidth, slope[i]);
  team.store(scratch.sums + (pairs(n) + n) * Team::kWidth, cost);
  add_lanes(team, numbers(n), scratch, totals);
}

template <int N>
MOTES_HOST_DEVICE inline Normal<N> normal_from(const double* totals) {
  Normal<N> normal;
  MOTES_UNROLL
  for (int i = 0; i < pairs(N); ++i) normal.matrix.v[i] = totals[i];
  MOTES_UNROLL
  for (int i = 0; i < N; ++i) normal.slope[i] = totals[pairs(N) + i];
  normal.cost = totals[pairs(N) + N];
  return normal;
}

/// As totals_of.
template <class Team, class Columns>
MOTES_LANES void normal_of(const Team& team, const Window& w, const Columns& columns,
                           const FitScratch& scratch, Normal<Columns::kCount>& normal) {
  totals_of(team, w, columns, scratch, scratch.totals);
  normal = normal_from<Columns::kCount>(scratch.totals);
}

/// Fixes parameters that the voxels do not determine (axes of one voxel).
template <int N>
MOTES_HOST_DEVICE inline void hold_unknown(Symmetric<N>& m) {
  MOTES_UNROLL
  for (int a = 0; a < N; ++a)
    if (!(m.at(a, a) > 0)) m.at(a, a) = 1;
}

/// The Levenberg-Marquardt step; false if the matrix is not positive definite.
template <int N>
MOTES_HOST_DEVICE inline bool damped_step(const Normal<N>& normal, double damping, double (&step)[N]) {
  Symmetric<N> damped = normal.matrix;
  MOTES_UNROLL
  for (int a = 0; a < N; ++a) damped.at(a, a) *= 1 + damping;
  MOTES_UNROLL
  for (int a = 0; a < N; ++a) step[a] = normal.slope[a];
  if (!factorise(damped)) return false;
  solve_factored(damped, step);
  return all_finite(step);
}

}  // namespace motes::tracking::detect::rules
