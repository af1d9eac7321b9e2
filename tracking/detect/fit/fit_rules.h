#pragma once
/// The fit of one spot with fixed neighbours: Levenberg-Marquardt on seven parameters, then its second
/// moments. On the CPU and on the GPU; gaussian_fit.cpp describes how the fits of all spots are combined.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "tracking/detect/fit/fit_window_rules.h"
#include "tracking/detect/fit/gaussian_fit.h"

namespace motes::tracking::detect::rules {

constexpr int kParameters = 7;
enum Parameter { kHeight, kBackground, kX, kY, kZ, kWidthXY, kWidthZ };  ///< widths: ln(width / filter sigma)

constexpr int kStepsOfSweep = 3;
constexpr double kFarthest = 1.5;  // sigmas that a fit may move from its start
constexpr double kStill = 2e-3;    // voxels: a shorter move ends a spot's fit
constexpr double kLastMove = 0.2;  // voxels: a longer move in the last sweep means that the fit failed
constexpr double kCrowded = 0.35;  // sum of coupling to neighbours from which on a sweep moves only half-way
constexpr double kHeld = 1e-3;     // spread of the prior that fixes widths
constexpr double kElongated = 1.3;
constexpr double kElongatedGain = 20;  // of five moments; by chance one in a thousand exceeds it
constexpr double kSplitGain = 25;      // least decrease of squares by the moments and by a second spot
// Least excess of the largest second moment over the typical and over the smallest one.
constexpr double kSplitMoment = 0.3;

/// The difference of a spot's second moments from its model's, by least squares on height, background and the
/// six moments at the model's place.
struct Shape {
  Matrix3 moments{};      ///< in units of the model's variances; 0: the same as the model's
  double gain = 0;        ///< decrease of the weighted squares by the six moments
  double deviatoric = 0;  ///< the part of it that a common width for all axes does not give
};

/// The state of one spot's fit. Trivially copyable.
struct FitState {
  double p[kParameters] = {};  ///< see Parameter; places in blocks
  double start[kParameters] = {};
  double variance[3] = {};    ///< of the place
  double light_variance = 0;  ///< of the logarithm of height times widths
  double last_move = 0;       ///< voxels, in the last sweep that moved it
  double width[2] = {0, 0};   ///< mean and spread of the prior of the widths
  double width_spread = 0;
  double error_factor[3] = {1, 1, 1};
  double split_gain = 0;
  Tilt tilt;  ///< of the background around the start
  Shape shape;
  bool good = true, settled = false;
};

/// The spots that are fitted together. Trivially copyable.
struct FitSpots {
  FitSource source;
  const FitState* states;
  const std::size_t* offsets;  ///< [spots + 1] of `neighbours`
  const std::uint32_t* neighbours;
};

/// The state to start from; places in voxels become blocks.
MOTES_HOST_DEVICE inline FitState start_of(const Index3& block, const FitStart& start, double width_spread) {
  FitState s;
  s.width_spread = width_spread;
  s.p[kHeight] = start.amplitude;
  for (std::size_t a = 0; a < 3; ++a)
    s.p[kX + static_cast<int>(a)] = (start.place[a] + 0.5) / static_cast<double>(block[a]) - 0.5;
  for (int i = 0; i < kParameters; ++i) s.start[i] = s.p[i];
  return s;
}

MOTES_HOST_DEVICE MOTES_CALLED double width_of(double ln) { return exact_exp(ln); }
MOTES_HOST_DEVICE inline SpotModel model_of(const FitSource& source, const double (&p)[kParameters]) {
  const double xy = width_of(p[kWidthXY]), z = width_of(p[kWidthZ]);
  return {p[kHeight],
          p[kBackground],
          {p[kX], p[kY], p[kZ]},
          {source.sigma[0] * xy, source.sigma[1] * xy, source.sigma[2] * z}};
}

/// The spot with the typical widths (ln) instead of its fitted ones.
MOTES_HOST_DEVICE inline SpotModel typical_at(const FitSource& source, const FitState& s,
                                              const std::array<double, 2>& typical) {
  const double p[kParameters] = {s.p[kHeight], s.p[kBackground], s.p[kX],   s.p[kY],
                                 s.p[kZ],      typical[0],       typical[1]};
  return model_of(source, p);
}

/// The voxels around a spot's current place, minus the light of its well-fitted neighbours. Voxels::cut(team,
/// source, place, window) does what cut_window does.
template <class Team, class Voxels>
MOTES_LANES void window_of(const Team& team, const FitSpots& spots, const Voxels& voxels, std::size_t spot,
                           FitScratch& scratch, Window& w) {
  const FitState& s = spots.states[spot];
  const double place[3] = {s.p[kX], s.p[kY], s.p[kZ]};
  voxels.cut(team, spots.source, place, w);
  take_off(team, s.tilt, w);
  for (std::size_t k = spots.offsets[spot]; k < spots.offsets[spot + 1]; ++k) {
    const FitState& other = spots.states[spots.neighbours[k]];
    if (other.good) take_off(team, model_of(spots.source, other.p), scratch, w);
  }
}

/// Distance of two spots in the first one's sigmas.
MOTES_HOST_DEVICE inline double sigmas_between(const SpotModel& a, const SpotModel& b) {
  double square = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    if (!(a.sigma[k] > 0)) continue;
    const double sigmas = (a.place[k] - b.place[k]) / a.sigma[k];
    square += sigmas * sigmas;
  }
  return std::sqrt(square);
}

/// Derivatives of the seven parameters of the fit.
template <class Team>
struct FitColumns {
  static constexpr int kCount = kParameters;
  using Floats = typename Team::Floats;
  const FitProfile &y, &z;
  Floats gx, gx1, gx2;
  float height, background;

  MOTES_LANES FitColumns(const Team& team, const FitProfiles& g, const SpotModel& spot)
      : y(g[1]),
        z(g[2]),
        height(static_cast<float>(spot.height)),
        background(static_cast<float>(spot.background)) {
    team.load(g[0].g, gx);
    team.load(g[0].d1, gx1);
    team.load(g[0].d2, gx2);
  }
  MOTES_LANES void at(int j, int k, Floats (&d)[kCount], Floats& model) const {
    const float gy = y.g[j], gz = z.g[k], g = gy * gz, hg = height * g;
    d[kHeight] = g * gx;
    d[kBackground] = Floats{} + 1.0F;
    d[kX] = hg * gx1;
    d[kY] = (height * y.d1[j] * gz) * gx;
    d[kZ] = (height * gy * z.d1[k]) * gx;
    d[kWidthXY] = hg * gx2 + (height * y.d2[j] * gz) * gx;
    d[kWidthZ] = (height * gy * z.d2[k]) * gx;
    model = background + height * d[kHeight];
  }
};

/// Height, background and the second moments in units of the model's own: xx, yy, zz, xy, xz, yz.
template <class Team>
struct ShapeColumns {
  static constexpr int kCount = 8;
  using Floats = typename Team::Floats;
  const FitProfile &y, &z;
  Floats gx, gx1, gx2;
  float height, background;

  MOTES_LANES ShapeColumns(const Team& team, const FitProfiles& g, const SpotModel& spot)
      : y(g[1]),
        z(g[2]),
        height(static_cast<float>(spot.height)),
        background(static_cast<float>(spot.background)) {
    team.load(g[0].g, gx);
    team.load(g[0].d1, gx1);
    team.load(g[0].d2, gx2);
  }
  MOTES_LANES void at(int j, int k, Floats (&d)[kCount], Floats& model) const {
    const float gy = y.g[j], gz = z.g[k], g = gy * gz;
    d[0] = g * gx;
    d[1] = Floats{} + 1.0F;
    d[2] = (0.5F * height * g) * gx2;
    d[3] = (0.5F * height * y.d2[j] * gz) * gx;
    d[4] = (0.5F * height * gy * z.d2[k]) * gx;
    d[5] = (height * y.d1[j] * gz) * gx1;
    d[6] = (height * gy * z.d1[k]) * gx1;
    d[7] = (height * y.d1[j] * z.d1[k]) * gx;
    model = background + height * d[0];
  }
};

/// The normal equations of the voxels, without the prior.
template <class Team>
MOTES_LANES void voxel_totals(const Team& team, const Window& w, const SpotModel& spot,
                              const FitScratch& scratch, double* totals) {
  FitProfiles& g = scratch.profiles[0];
  make_profiles(team, w, spot, g);
  totals_of(team, w, FitColumns<Team>(team, g, spot), scratch, totals);
}

/// The inverse variances of the prior of the widths.
MOTES_HOST_DEVICE inline std::array<double, 2> width_precisions(const double* totals, const FitState& s,
                                                                bool widths_held) {
  std::array<double, 2> precision{};
  MOTES_UNROLL
  for (int i = 0; i < 2; ++i) {
    const int a = kWidthXY + i;
    const double spread = widths_held ? kHeld / std::sqrt(1 + totals[pairs(a + 1) - 1]) : s.width_spread;
    precision[static_cast<std::size_t>(i)] = 1 / (spread * spread);
  }
  return precision;
}

/// The normal equations of the voxels and the prior of the widths; `precision`: from width_precisions.
MOTES_HOST_DEVICE inline Normal<kParameters> equations_from(const double* totals, const FitState& s,
                                                            const double (&p)[kParameters],
                                                            const std::array<double, 2>& precision) {
  Normal<kParameters> normal = normal_from<kParameters>(totals);
  MOTES_UNROLL
  for (int i = 0; i < 2; ++i) {
    const int a = kWidthXY + i;
    const double own = precision[static_cast<std::size_t>(i)];
    normal.matrix.at(a, a) += own;
    normal.slope[a] -= own * (p[a] - s.width[i]);
  }
  hold_unknown(normal.matrix);
  return normal;
}
MOTES_HOST_DEVICE inline double cost_from(const double* totals, const FitState& s,
                                          const double (&p)[kParameters],
                                          const std::array<double, 2>& precision) {
  double cost = totals[numbers(kParameters) - 1];
  MOTES_UNROLL
  for (int i = 0; i < 2; ++i) {
    const double off = p[kWidthXY + i] - s.width[i];
    cost += precision[static_cast<std::size_t>(i)] * off * off;
  }
  return cost;
}

MOTES_HOST_DEVICE inline double longest_move(const double (&from)[kParameters],
                                             const double (&to)[kParameters]) {
  double longest = 0;
  MOTES_UNROLL
  for (int a = kX; a <= kZ; ++a) {
    const double move = std::abs(to[a] - from[a]);
    if (!(move <= longest)) longest = move;
  }
  return longest;
}

MOTES_HOST_DEVICE inline bool sane(const FitSource& source, const FitState& s) {
  if (!all_finite(s.p) || s.p[kHeight] * s.start[kHeight] <= 0) return false;
  MOTES_UNROLL
  for (int a = 0; a < 3; ++a) {
    const double most = kFarthest * (source.sigma[a] > 0.7 ? source.sigma[a] : 0.7), at = s.p[kX + a];
    if (std::abs(at - s.start[kX + a]) > most) return false;
    if (at < -0.75 || at > static_cast<double>(source.size[a]) - 0.25) return false;
  }
  return true;
}

/// How strongly the fits of two spots of the filter's widths depend on each other: about 1 at a distance of
/// one or two widths, 0.02 at five.
MOTES_HOST_DEVICE inline double coupling(const FitSource& source, const FitState& a, const FitState& b) {
  double square = 0;
  MOTES_UNROLL
  for (int k = 0; k < 3; ++k) {
    if (!(source.sigma[k] > 0)) continue;
    const double sigmas = (a.p[kX + k] - b.p[kX + k]) / source.sigma[k];
    square += sigmas * sigmas;
  }
  return width_of(-0.25 * square) * (square > 4 ? 0.5 * square - 1 : 1.0);
}

/// Whether a sweep can skip the spot: it has settled, and its neighbours' last moves are too short or too far
/// away to move it.
MOTES_HOST_DEVICE inline bool rests(const FitSpots& spots, std::size_t spot) {
  const FitState& s = spots.states[spot];
  if (!s.good) return true;
  if (!s.settled) return false;
  double moved = 0;
  for (std::size_t k = spots.offsets[spot]; k < spots.offsets[spot + 1]; ++k) {
    const FitState& other = spots.states[spots.neighbours[k]];
    if (other.last_move > 0) moved += coupling(spots.source, s, other) * other.last_move;
  }
  return moved < kStill;
}

/// Whether the spot is so close to its neighbours that simultaneous moves could oscillate for ever.
MOTES_HOST_DEVICE inline bool is_crowded(const FitSpots& spots, std::size_t spot) {
  double shared = 0;
  for (std::size_t k = spots.offsets[spot]; k < spots.offsets[spot + 1]; ++k) {
    const FitState& other = spots.states[spots.neighbours[k]];
    if (other.good) shared += coupling(spots.source, spots.states[spot], other);
  }
  return shared > kCrowded;
}

/// The mean of the window minus the spot: the start value for the background.
template <class Team>
MOTES_LANES double background_around(const Team& team, const Window& w, const SpotModel& spot,
                                     FitScratch& scratch) {
  using Floats = typename Team::Floats;
  FitProfiles& g = scratch.profiles[0];
  make_profiles(team, w, spot, g);
  double voxels = 1, light = spot.height;
  MOTES_ROLLED
  for (std::size_t a = 0; a < 3; ++a) {
    double sum = 0;
    MOTES_ROLLED
    for (int i = 0; i < w.count[a]; ++i) sum += static_cast<double>(g[a].g[i]);
    light *= sum;
    voxels *= w.count[a];
  }
  Floats sum{}, v;
  each_row<Team>(w, [&](int row, int, int) {
    team.load(w.values + row, v);
    sum += v;
  });
  team.sync();
  team.store(scratch.sums, sum);
  add_lanes(team, 1, scratch, scratch.totals);
  const double mean = (scratch.totals[0] - light) / voxels;
  team.sync();
  return mean;
}

/// Variance of ln(height * widths), from the factored equations.
MOTES_HOST_DEVICE inline double light_variance(const FitSource& source,
                                               const Symmetric<kParameters>& factored,
                                               const double (&p)[kParameters]) {
  double column[kParameters] = {};
  column[kHeight] = 1 / p[kHeight];
  column[kWidthXY] = (source.sigma[0] > 0 ? 1.0 : 0.0) + (source.sigma[1] > 0 ? 1.0 : 0.0);
  column[kWidthZ] = source.sigma[2] > 0 ? 1 : 0;
  return inverse_form(factored, column);
}

/// Some steps of the fit of one spot with fixed neighbours. `s`: its state, which changes. scratch.totals:
/// has room for two systems.
template <class Team, class Voxels>
MOTES_LANES void fit_steps(const Team& team, const FitSpots& spots, const Voxels& voxels, std::size_t spot,
                           const Noise& noise, bool widths_held, FitScratch& scratch, Window& w,
                           FitState& s) {
  const FitSource& source = spots.source;
  window_of(team, spots, voxels, spot, scratch, w);
  if (widths_held)
    s.p[kBackground] = s.start[kBackground] = background_around(team, w, model_of(source, s.p), scratch);
  set_weights(team, model_of(source, s.p), noise, scratch, w);
  double *here = scratch.totals, *there = here + numbers(kParameters);
  double before[kParameters], next[kParameters], cost = 0;
  std::array<double, 2> precision{};  // and cost: of `here`
  MOTES_UNROLL
  for (int i = 0; i < kParameters; ++i) before[i] = next[i] = s.p[i];
  double damping = 1e-3;
  bool still = false;
  // The large functions are called in one place only: on a GPU long code is slow to load.
  for (int round = 0;; ++round) {
    voxel_totals(team, w, model_of(source, next), scratch, there);
    const std::array<double, 2> next_precision = width_precisions(there, s, widths_held);
    const double next_cost = cost_from(there, s, next, next_precision);
    const bool better = round == 0 || next_cost <= cost * (1 + 1e-6);
    if (better) {
      precision = next_precision;
      cost = next_cost;
      still = round > 0 && longest_move(s.p, next) < kStill;
      MOTES_UNROLL
      for (int i = 0; i < kParameters; ++i) s.p[i] = next[i];
      double* const left = here;
      here = there;
      there = left;
    }
    if (round > 0) damping = better ? 0.2 * damping : 10 * damping > 0.1 ? 10 * damping : 0.1;
    const bool ends = round == kStepsOfSweep || still;
    Normal<kParameters> normal = equations_from(here, s, s.p, precision);
    MOTES_UNROLL
    for (int a = 0; a < kParameters; ++a)
      if (!ends) normal.matrix.at(a, a) *= 1 + damping;
    const bool sound = factorise(normal.matrix);
    if (ends) {
      s.last_move = longest_move(before, s.p);
      MOTES_UNROLL
      for (int a = 0; a < 3; ++a) s.variance[a] = sound ? inverse_diagonal(normal.matrix, kX + a) : 0;
      s.light_variance = sound ? light_variance(source, normal.matrix, s.p) : 0;
      if (!sound || !all_finite(s.variance) || !sane(source, s)) s.good = false;
      break;
    }
    if (sound) solve_factored(normal.matrix, normal.slope);
    if (!sound || !all_finite(normal.slope)) {
      s.good = false;
      return;
    }
    MOTES_UNROLL
    for (int i = 0; i < kParameters; ++i) {
      const double most = i < kX ? 0 : i < kWidthXY ? 0.5 * source.sigma[i - kX] : 0.3;
      next[i] = s.p[i] + (i < kX ? normal.slope[i] : limited(normal.slope[i], -most, most));
    }
  }
  const bool crowded = is_crowded(spots, spot);
  s.settled = !widths_held && (crowded ? s.last_move < kStill : still);
  if (crowded) {
    MOTES_UNROLL
    for (int i = 0; i < kParameters; ++i) s.p[i] = 0.5 * (s.p[i] + before[i]);
  }
}

/// The decrease of the squares by some columns, or NaN; the columns' coefficients go to `best`.
template <int N>
MOTES_HOST_DEVICE inline double fall_of(Symmetric<N> matrix, const double (&slope)[N], double (&best)[N]) {
  MOTES_UNROLL
  for (int a = 0; a < N; ++a) best[a] = slope[a];
  if (!factorise(matrix)) return std::numeric_limits<double>::quiet_NaN();
  solve_factored(matrix, best);
  return dot(best, slope);
}

/// The shape from the equations of ShapeColumns.
MOTES_HOST_DEVICE inline Shape shape_of(const Normal<8>& n, const SpotModel& spot, int dimensions) {
  const Symmetric<8>& m = n.matrix;
  Symmetric<8> held = m;
  hold_unknown(held);
  double best[8], best_plain[2], best_round[3];
  const double all = fall_of(held, n.slope, best);
  const Symmetric<2> plain{{m.at(0, 0), m.at(1, 0), m.at(1, 1)}};
  const double plain_slope[2] = {n.slope[0], n.slope[1]};
  // A common width for all axes: the sum of the three columns replaces the first.
  const double squares = m.at(2, 2) + m.at(3, 3) + m.at(4, 4);
  const Symmetric<3> round{{m.at(0, 0), m.at(1, 0), m.at(1, 1), m.at(2, 0) + m.at(3, 0) + m.at(4, 0),
                            m.at(2, 1) + m.at(3, 1) + m.at(4, 1),
                            squares + 2 * (m.at(3, 2) + m.at(4, 2) + m.at(4, 3))}};
  const double round_slope[3] = {n.slope[0], n.slope[1], n.slope[2] + n.slope[3] + n.slope[4]};
  Shape shape;
  shape.gain = all - fall_of(plain, plain_slope, best_plain);
  shape.deviatoric = dimensions > 1 ? all - fall_of(round, round_slope, best_round) : 0;
  const int column[3][3] = {{2, 5, 6}, {5, 3, 7}, {6, 7, 4}};
  MOTES_UNROLL
  for (int a = 0; a < 3; ++a) {
    MOTES_UNROLL
    for (int b = 0; b < 3; ++b) {
      // The columns of mixed moments are products of first derivatives, so their unit is 1 / (both widths).
      const double area = spot.sigma[static_cast<std::size_t>(a)] * spot.sigma[static_cast<std::size_t>(b)];
      const double scale = a == b ? 1 : 1 / (area > 1e-30 ? area : 1e-30);
      shape.moments[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = best[column[a][b]] * scale;
    }
  }
  return shape;
}

/// Computes the shape of a well-fitted spot.
template <class Team, class Voxels>
MOTES_LANES void tell_shape(const Team& team, const FitSpots& spots, const Voxels& voxels, std::size_t spot,
                            const Noise& noise, const std::array<double, 2>& typical, int dimensions,
                            FitScratch& scratch, Window& w, Shape& shape) {
  const FitState& s = spots.states[spot];
  window_of(team, spots, voxels, spot, scratch, w);
  set_weights(team, model_of(spots.source, s.p), noise, scratch, w);
  const SpotModel model = typical_at(spots.source, s, typical);
  FitProfiles& g = scratch.profiles[0];
  make_profiles(team, w, model, g);
  Normal<8> normal;
  normal_of(team, w, ShapeColumns<Team>(team, g, model), scratch, normal);
  shape = shape_of(normal, model, dimensions);
}

/// Whether the spot may be two. `excess`: ratio of the gains of all spots to those by chance.
MOTES_HOST_DEVICE inline bool looks_double(const FitState& s, double excess) {
  if (!s.good || !(s.shape.gain >= kSplitGain * excess) || !all_finite(s.shape.moments)) return false;
  const Vector3 values = axes_of(s.shape.moments).values;
  double least = values[0], most = values[0];
  for (std::size_t a = 1; a < 3; ++a) {
    least = values[a] < least ? values[a] : least;
    most = values[a] > most ? values[a] : most;
  }
  return most > kSplitMoment && most - least > kSplitMoment;
}

}  // namespace motes::tracking::detect::rules
