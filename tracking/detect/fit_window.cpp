/// The model is separable, so a voxel's derivatives are products of three table entries, and sums over the
/// window are kept per column (x) and added up in a fixed order at the end: vector width changes nothing.

#include "tracking/detect/fit_window.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <Eigen/Cholesky>

#include <motes/base/function_clones.h>

namespace motes::tracking::detect {
namespace {

constexpr int kShapes = 8;  // height, background, xx, yy, zz, xy, xz, yz

constexpr int pairs(int n) { return n * (n + 1) / 2; }

template <int N>
struct Sums {
  float matrix[pairs(N)][kMostLanes];
  float slope[N][kMostLanes];
  float cost[kMostLanes];
};

struct RowTask {
  const float *values, *weights;
  const Profile *x, *y, *z;
  std::int64_t rows, planes;
  float height, background;
};

/// `Lanes` neighbouring columns of a window. Vector types, since loops this short are not turned into vector
/// code at every level of optimisation.
template <int Lanes>
struct Lane {
  typedef float Type __attribute__((vector_size(Lanes * sizeof(float))));
};

/// Derivatives of the seven parameters of the fit.
struct FitColumns {
  static constexpr int kCount = kParameters;
  template <class Floats>
  static void at(const RowTask& t, std::size_t j, std::size_t k, const Floats& gx, const Floats& gx1,
                 const Floats& gx2, Floats (&d)[kCount]) {
    const float gy = t.y->g[j], gz = t.z->g[k], h = t.height, g = gy * gz;
    d[kHeight] = g * gx;
    d[kBackground] = Floats{} + 1.0F;
    d[kX] = h * g * gx1;
    d[kY] = h * t.y->d1[j] * gz * gx;
    d[kZ] = h * gy * t.z->d1[k] * gx;
    d[kWidthXY] = h * g * gx2 + h * t.y->d2[j] * gz * gx;
    d[kWidthZ] = h * gy * t.z->d2[k] * gx;
  }
};

/// Height, background and the second moments in units of the model's own.
struct ShapeColumns {
  static constexpr int kCount = kShapes;
  template <class Floats>
  static void at(const RowTask& t, std::size_t j, std::size_t k, const Floats& gx, const Floats& gx1,
                 const Floats& gx2, Floats (&d)[kCount]) {
    const float gy = t.y->g[j], gz = t.z->g[k], h = t.height, g = gy * gz;
    d[0] = g * gx;
    d[1] = Floats{} + 1.0F;
    d[2] = 0.5F * h * g * gx2;
    d[3] = 0.5F * h * t.y->d2[j] * gz * gx;
    d[4] = 0.5F * h * gy * t.z->d2[k] * gx;
    d[5] = h * t.y->d1[j] * gz * gx1;
    d[6] = h * gy * t.z->d1[k] * gx1;
    d[7] = h * t.y->d1[j] * t.z->d1[k] * gx;
  }
};

template <class Columns, int Lanes>
[[gnu::always_inline]] inline void accumulate_rows(const RowTask& t, Sums<Columns::kCount>& sums) {
  constexpr int n = Columns::kCount;
  using Floats = typename Lane<Lanes>::Type;
  const auto load = [](const float* from, Floats& to) { std::memcpy(&to, from, sizeof(to)); };
  Floats matrix[pairs(n)] = {}, slope[n] = {}, cost{};
  Floats gx, gx1, gx2, w, r;
  load(t.x->g.data(), gx);
  load(t.x->d1.data(), gx1);
  load(t.x->d2.data(), gx2);
  for (std::int64_t k = 0; k < t.planes; ++k) {
    for (std::int64_t j = 0; j < t.rows; ++j) {
      load(t.weights + (k * t.rows + j) * Lanes, w);
      load(t.values + (k * t.rows + j) * Lanes, r);
      Floats d[n];
      Columns::at(t, static_cast<std::size_t>(j), static_cast<std::size_t>(k), gx, gx1, gx2, d);
      r -= t.background + t.height * d[0];
      int pair = 0;
      for (int p = 0; p < n; ++p) {
        const Floats wd = w * d[p];
        slope[p] += wd * r;
        for (int q = 0; q <= p; ++q, ++pair) matrix[pair] += wd * d[q];
      }
      cost += w * r * r;
    }
  }
  for (int i = 0; i < pairs(n); ++i) std::memcpy(sums.matrix[i], &matrix[i], sizeof(Floats));
  for (int i = 0; i < n; ++i) std::memcpy(sums.slope[i], &slope[i], sizeof(Floats));
  std::memcpy(sums.cost, &cost, sizeof(Floats));
}

MOTES_CLONES
void accumulate_fit(const RowTask& task, int width, Sums<FitColumns::kCount>& sums) {
  if (width == 8)
    accumulate_rows<FitColumns, 8>(task, sums);
  else
    accumulate_rows<FitColumns, 16>(task, sums);
}

MOTES_CLONES
void accumulate_shape(const RowTask& task, int width, Sums<ShapeColumns::kCount>& sums) {
  if (width == 8)
    accumulate_rows<ShapeColumns, 8>(task, sums);
  else
    accumulate_rows<ShapeColumns, 16>(task, sums);
}

double total(const float* lanes, int width) {
  double sum = 0;
  for (int i = 0; i < width; ++i) sum += static_cast<double>(lanes[i]);
  return sum;
}

template <int N>
void unpack(const Sums<N>& sums, int width, Eigen::Matrix<double, N, N>& matrix,
            Eigen::Matrix<double, N, 1>& slope) {
  int pair = 0;
  for (int a = 0; a < N; ++a) {
    slope[a] = total(sums.slope[a], width);
    for (int b = 0; b <= a; ++b, ++pair) matrix(a, b) = matrix(b, a) = total(sums.matrix[pair], width);
  }
}

Profile profile(double centre, double sigma, std::int64_t first, std::int64_t count) {
  Profile p;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const double u = sigma > 0 ? (static_cast<double>(first) + static_cast<double>(i) - centre) / sigma : 0;
    const double g = std::exp(-0.5 * u * u);
    p.g[i] = static_cast<float>(g);
    p.d1[i] = sigma > 0 ? static_cast<float>(g * u / sigma) : 0.0F;
    p.d2[i] = static_cast<float>(g * u * u);
  }
  return p;
}

RowTask task_of(const Window& w, const Profiles3& g, const SpotModel& spot) {
  return {w.values.data(),
          w.weights.data(),
          &g[0],
          &g[1],
          &g[2],
          w.count[1],
          w.count[2],
          static_cast<float>(spot.height),
          static_cast<float>(spot.background)};
}

using ShapeMatrix = Eigen::Matrix<double, kShapes, kShapes>;
using ShapeVector = Eigen::Matrix<double, kShapes, 1>;

/// How far the squares fall when the columns of `taken` are fitted too, besides height and background; those
/// columns' values go to `best`.
double fall_of(const ShapeMatrix& matrix, const ShapeVector& slope, ShapeVector& best) {
  ShapeMatrix held = matrix;
  for (int a = 0; a < kShapes; ++a)
    if (!(held(a, a) > 0)) held(a, a) = 1;  // no such axis
  best = held.llt().solve(slope);
  return best.dot(slope);
}

}  // namespace

Profiles3 profiles_of(const Window& window, const SpotModel& spot) {
  Profiles3 g;
  for (std::size_t a = 0; a < 3; ++a)
    g[a] = profile(spot.place[a], spot.sigma[a], window.first[a], window.count[a]);
  return g;
}

Window cut_window(const Source& source, const Place& place, const Index3& half, int width) {
  Window w;
  w.width = width;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t centre = std::clamp<std::int64_t>(std::lround(place[a]), 0, source.size[a] - 1);
    w.first[a] = std::max<std::int64_t>(0, centre - half[a]);
    w.count[a] = std::min<std::int64_t>(source.size[a] - 1, centre + half[a]) - w.first[a] + 1;
  }
  w.lanes = static_cast<int>(w.count[0]);
  w.values.assign(static_cast<std::size_t>(w.count[2] * w.count[1] * width), 0.0F);
  w.light.assign(w.values.size(), 0.0F);
  source.read([&](const auto* voxels) {
    float* out = w.values.data();
    for (std::int64_t k = 0; k < w.count[2]; ++k)
      for (std::int64_t j = 0; j < w.count[1]; ++j, out += width) {
        const auto* row =
            voxels + ((w.first[2] + k) * source.size[1] + w.first[1] + j) * source.size[0] + w.first[0];
        for (int i = 0; i < w.lanes; ++i) out[i] = static_cast<float>(row[i]);
      }
  });
  return w;
}

void take_off(Window& w, const SpotModel& neighbour) {
  const Profiles3 g = profiles_of(w, neighbour);
  std::size_t row = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(w.count[2]); ++k)
    for (std::size_t j = 0; j < static_cast<std::size_t>(w.count[1]);
         ++j, row += static_cast<std::size_t>(w.width)) {
      const float h = static_cast<float>(neighbour.height) * g[2].g[k] * g[1].g[j];
      for (std::size_t i = 0; i < static_cast<std::size_t>(w.lanes); ++i) {
        const float light = h * g[0].g[i];
        w.light[row + i] += light;
        w.values[row + i] -= light;
      }
    }
}

void set_weights(Window& w, const SpotModel& spot, const Noise& noise) {
  const Profiles3 g = profiles_of(w, spot);
  w.weights.assign(w.values.size(), 0.0F);
  const auto base = static_cast<float>(noise.base), slope = static_cast<float>(noise.slope),
             least = static_cast<float>(noise.least), background = static_cast<float>(spot.background);
  std::size_t row = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(w.count[2]); ++k)
    for (std::size_t j = 0; j < static_cast<std::size_t>(w.count[1]);
         ++j, row += static_cast<std::size_t>(w.width)) {
      const float h = static_cast<float>(spot.height) * g[2].g[k] * g[1].g[j];
      for (std::size_t i = 0; i < static_cast<std::size_t>(w.lanes); ++i) {
        const float expected = background + w.light[row + i] + h * g[0].g[i];
        w.weights[row + i] = 1 / std::max(base + slope * expected, least);
      }
    }
}

Normal normal_equations(const Window& window, const SpotModel& spot) {
  const Profiles3 g = profiles_of(window, spot);
  Sums<kParameters> sums;
  std::memset(&sums, 0, sizeof(sums));
  accumulate_fit(task_of(window, g, spot), window.width, sums);
  Normal normal;
  unpack<kParameters>(sums, window.width, normal.matrix, normal.slope);
  normal.cost = total(sums.cost, window.width);
  return normal;
}

Shape shape_of(const Window& window, const SpotModel& spot, int dimensions) {
  const Profiles3 g = profiles_of(window, spot);
  Sums<kShapes> sums;
  std::memset(&sums, 0, sizeof(sums));
  accumulate_shape(task_of(window, g, spot), window.width, sums);
  ShapeMatrix matrix;
  ShapeVector slope, best;
  unpack<kShapes>(sums, window.width, matrix, slope);
  const double plain = slope.head<2>().dot(matrix.topLeftCorner<2, 2>().llt().solve(slope.head<2>()));
  const double all = fall_of(matrix, slope, best);
  // One width for all axes: the sum of the three columns in the place of the first.
  Eigen::Matrix<double, kShapes, 3> to_one = Eigen::Matrix<double, kShapes, 3>::Zero();
  to_one(0, 0) = to_one(1, 1) = 1;
  for (int a = 0; a < 3; ++a) to_one(2 + a, 2) = 1;
  Eigen::Matrix3d one = to_one.transpose() * matrix * to_one;
  const Eigen::Vector3d one_slope = to_one.transpose() * slope;
  const double round = one_slope.dot(one.llt().solve(one_slope));
  Shape shape;
  shape.gain = all - plain;
  shape.deviatoric = dimensions > 1 ? all - round : 0;
  const std::array<std::array<int, 3>, 3> column{{{2, 5, 6}, {5, 3, 7}, {6, 7, 4}}};
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      const double value = best[column[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)]];
      // The columns of mixed moments are products of first derivatives: in units of one over both widths.
      const double scale = a == b ? 1
                                  : 1 / std::max(1e-30, spot.sigma[static_cast<std::size_t>(a)] *
                                                            spot.sigma[static_cast<std::size_t>(b)]);
      shape.moments(a, b) = a == b ? value : value * scale;
    }
  return shape;
}

}  // namespace motes::tracking::detect
