#pragma once
/// Two spots fitted to one window, and one elongated spot, on the CPU and on the GPU.
///
/// The elongated Gaussian is exp(-u' P u / 2), where u is the offset from its place in units of the typical
/// spot's widths. The fit determines height, background, place and the six numbers of P.

#include <array>
#include <cmath>

#include "tracking/detect/evidence/evidence_rules.h"
#include "tracking/detect/fit/fit_rules.h"

namespace motes::tracking::detect::rules {

// By how much an elongated spot's weighted squares must be lower than a pair's.
constexpr double kElongatedLead = 4;
constexpr double kPairSpread = 0.05;  // standard deviation of the prior of a pair's widths (ln)

/// Two spots in place of one, with fixed widths.
struct PairOfSpots {
  bool found = false;
  SpotModel spots[2];
  /// Ratio of the standard errors of a joint fit to those with the other spot known.
  double error_factor[2][3] = {};
  double cost = 0;
};

constexpr int kPairParameters = 9;  // background; height, x, y, z of each

template <class Team>
struct PairColumns {
  static constexpr int kCount = kPairParameters;
  using Floats = typename Team::Floats;
  const FitProfiles* g;
  Floats gx[2], gx1[2];
  float background, height[2];

  MOTES_LANES PairColumns(const Team& team, const FitProfiles* profiles, const double (&p)[kCount])
      : g(profiles),
        background(static_cast<float>(p[0])),
        height{static_cast<float>(p[1]), static_cast<float>(p[5])} {
    MOTES_UNROLL
    for (int s = 0; s < 2; ++s) {
      team.load(g[s][0].g, gx[s]);
      team.load(g[s][0].d1, gx1[s]);
    }
  }
  MOTES_LANES void at(int j, int k, Floats (&d)[kCount], Floats& model) const {
    d[0] = Floats{} + 1.0F;
    model = Floats{} + background;
    MOTES_UNROLL
    for (int s = 0; s < 2; ++s) {
      const float gy = g[s][1].g[j], gz = g[s][2].g[k], h = height[s];
      d[1 + 4 * s] = (gy * gz) * gx[s];
      d[2 + 4 * s] = (h * gy * gz) * gx1[s];
      d[3 + 4 * s] = (h * g[s][1].d1[j] * gz) * gx[s];
      d[4 + 4 * s] = (h * gy * g[s][2].d1[k]) * gx[s];
      model += h * d[1 + 4 * s];
    }
  }
};

MOTES_HOST_DEVICE inline SpotModel spot_of_pair(const double (&p)[kPairParameters], int which,
                                                const SpotModel& typical) {
  const int first = 1 + 4 * which;
  return {p[first], p[0], {p[first + 1], p[first + 2], p[first + 3]}, typical.sigma};
}

template <class Team>
MOTES_LANES void pair_equations(const Team& team, const Window& w, const double (&p)[kPairParameters],
                                const SpotModel& typical, FitScratch& scratch,
                                Normal<kPairParameters>& normal) {
  for (int s = 0; s < 2; ++s) make_profiles(team, w, spot_of_pair(p, s, typical), scratch.profiles[s]);
  normal_of(team, w, PairColumns<Team>(team, scratch.profiles, p), scratch, normal);
  hold_unknown(normal.matrix);
}

MOTES_HOST_DEVICE inline void begin_pair(const SpotModel& typical, const Matrix3& moments,
                                         double (&p)[kPairParameters]) {
  const Axes3 axes = axes_of(moments);
  double longest = axes.values[0];
  Vector3 along{axes.vectors[0][0], axes.vectors[1][0], axes.vectors[2][0]};
  for (std::size_t a = 1; a < 3; ++a)
    if (axes.values[a] > longest) {
      longest = axes.values[a];
      along = {axes.vectors[0][a], axes.vectors[1][a], axes.vectors[2][a]};
    }
  const double half = limited(std::sqrt(longest > 0 ? longest : 0), 0.7, 1.5);
  p[0] = typical.background;
  for (int s = 0; s < 2; ++s) {
    p[1 + 4 * s] = 0.6 * typical.height;
    for (std::size_t a = 0; a < 3; ++a)
      p[2 + 4 * s + static_cast<int>(a)] =
          typical.place[a] + (s == 0 ? -half : half) * along[a] * typical.sigma[a];
  }
}

MOTES_HOST_DEVICE inline bool is_sound_pair(const Window& w, const double (&p)[kPairParameters],
                                            const SpotModel& typical) {
  constexpr double kLeastApart = 0.8, kMostApart = 4, kLeastShare = 0.15;
  if (!all_finite(p)) return false;
  const double sum = p[1] + p[5];
  if (!(sum * typical.height > 0)) return false;
  if (!(p[1] / sum >= kLeastShare) || !(p[5] / sum >= kLeastShare)) return false;
  double square = 0;
  for (int a = 0; a < 3; ++a) {
    const double sigma = typical.sigma[static_cast<std::size_t>(a)];
    if (!(sigma > 0)) continue;
    const double apart = (p[2 + a] - p[6 + a]) / sigma;
    square += apart * apart;
    for (int s = 2; s <= 6; s += 4)
      if (p[s + a] < static_cast<double>(w.first[a]) - 0.75 ||
          p[s + a] > static_cast<double>(w.first[a] + w.count[a] - 1) + 0.75)
        return false;
  }
  return square >= kLeastApart * kLeastApart && square <= kMostApart * kMostApart;
}

/// Sets the ratios of the errors of two spots fitted together to those of each alone; false if the matrix is
/// singular.
MOTES_HOST_DEVICE inline bool set_error_factors(const Symmetric<kPairParameters>& matrix, PairOfSpots& pair) {
  Symmetric<kPairParameters> together = matrix;
  if (!factorise(together)) return false;
  MOTES_UNROLL
  for (int s = 0; s < 2; ++s) {
    Symmetric<5> alone;  // without the four rows of the other spot, which is known
    MOTES_UNROLL
    for (int a = 0; a < 5; ++a) {
      MOTES_UNROLL
      for (int b = 0; b <= a; ++b) alone.at(a, b) = matrix.at(a == 0 ? 0 : a + 4 * s, b == 0 ? 0 : b + 4 * s);
    }
    if (!factorise(alone)) return false;
    MOTES_UNROLL
    for (int a = 0; a < 3; ++a) {
      const double ratio = inverse_diagonal(together, 2 + 4 * s + a) / inverse_diagonal(alone, 2 + a);
      if (!(ratio <= 1.7976931348623157e308)) return false;
      pair.error_factor[s][a] = std::sqrt(ratio > 1 ? ratio : 1);
    }
  }
  return true;
}

/// Levenberg-Marquardt on nine parameters; `typical` gives the start and the widths.
template <class Team>
MOTES_LANES void fit_pair(const Team& team, const Window& w, const SpotModel& typical, const Matrix3& moments,
                          FitScratch& scratch, PairOfSpots& pair) {
  constexpr int kSteps = 25;
  constexpr double kPairStill = 1e-3;  // blocks
  double p[kPairParameters], step[kPairParameters], next[kPairParameters];
  begin_pair(typical, moments, p);
  Normal<kPairParameters> here, there;
  pair_equations(team, w, p, typical, scratch, here);
  double damping = 1e-2;
  for (int round = 0; round < kSteps; ++round) {
    if (!damped_step(here, damping, step)) return;
    double longest = 0;
    MOTES_UNROLL
    for (int a = 0; a < 3; ++a) {
      const double most = 0.5 * typical.sigma[static_cast<std::size_t>(a)];
      MOTES_UNROLL
      for (int s = 2; s <= 6; s += 4) {
        step[s + a] = limited(step[s + a], -most, most);
        longest = std::abs(step[s + a]) > longest ? std::abs(step[s + a]) : longest;
      }
    }
    MOTES_UNROLL
    for (int i = 0; i < kPairParameters; ++i) next[i] = p[i] + step[i];
    pair_equations(team, w, next, typical, scratch, there);
    if (!(there.cost <= here.cost * (1 + 1e-6))) {
      damping = 10 * damping > 0.1 ? 10 * damping : 0.1;
      continue;
    }
    MOTES_UNROLL
    for (int i = 0; i < kPairParameters; ++i) p[i] = next[i];
    here = there;
    damping *= 0.2;
    if (longest < kPairStill) break;
  }
  if (!is_sound_pair(w, p, typical) || !set_error_factors(here.matrix, pair)) return;
  pair.found = true;
  pair.cost = here.cost;
  for (int s = 0; s < 2; ++s) pair.spots[s] = spot_of_pair(p, s, typical);
}

constexpr int kElongatedParameters = 11;  // height, background, x, y, z, P: xx, yy, zz, xy, xz, yz

MOTES_HOST_DEVICE inline Matrix3 precision_of(const double (&p)[kElongatedParameters]) {
  return {{{p[5], p[8], p[9]}, {p[8], p[6], p[10]}, {p[9], p[10], p[7]}}};
}

template <class Team>
struct ElongatedColumns {
  static constexpr int kCount = kElongatedParameters;
  using Floats = typename Team::Floats;
  float per[3], from[3], height, background;  ///< per: inverse widths, 0 along axes of one voxel
  float xx, yy, zz, xy, xz, yz;
  Floats ux;

  MOTES_LANES ElongatedColumns(const Team& team, const Window& w, const double (&p)[kCount],
                               const SpotModel& typical)
      : height(static_cast<float>(p[0])),
        background(static_cast<float>(p[1])),
        xx(static_cast<float>(p[5])),
        yy(static_cast<float>(p[6])),
        zz(static_cast<float>(p[7])),
        xy(static_cast<float>(p[8])),
        xz(static_cast<float>(p[9])),
        yz(static_cast<float>(p[10])) {
    MOTES_UNROLL
    for (int a = 0; a < 3; ++a) {
      const double sigma = typical.sigma[static_cast<std::size_t>(a)];
      per[a] = sigma > 0 ? static_cast<float>(1 / sigma) : 0.0F;
      from[a] = static_cast<float>(static_cast<double>(w.first[a]) - p[2 + a]);
    }
    team.index(ux);
    ux = (ux + from[0]) * per[0];
  }
  MOTES_LANES void at(int j, int k, Floats (&d)[kCount], Floats& model) const {
    const float uy = (from[1] + static_cast<float>(j)) * per[1];
    const float uz = (from[2] + static_cast<float>(k)) * per[2];
    const Floats px = xx * ux + (xy * uy + xz * uz), py = xy * ux + (yy * uy + yz * uz),
                 pz = xz * ux + (yz * uy + zz * uz);
    Floats g = -0.5F * (ux * px + (uy * py + uz * pz));
    const Floats none{};
    g = none < g ? none : g;  // P is positive definite except for rounding
    exp_lanes<Team>(g);
    const Floats hg = height * g;
    d[0] = g;
    d[1] = Floats{} + 1.0F;
    d[2] = (per[0] * hg) * px;
    d[3] = (per[1] * hg) * py;
    d[4] = (per[2] * hg) * pz;
    d[5] = (-0.5F * hg) * (ux * ux);
    d[6] = (-0.5F * uy * uy) * hg;
    d[7] = (-0.5F * uz * uz) * hg;
    d[8] = (-uy * hg) * ux;
    d[9] = (-uz * hg) * ux;
    d[10] = (-uy * uz) * hg;
    model = background + hg;
  }
};

template <class Team>
MOTES_LANES void elongated_equations(const Team& team, const Window& w,
                                     const double (&p)[kElongatedParameters], const SpotModel& typical,
                                     FitScratch& scratch, Normal<kElongatedParameters>& normal) {
  normal_of(team, w, ElongatedColumns<Team>(team, w, p, typical), scratch, normal);
  hold_unknown(normal.matrix);
}

MOTES_HOST_DEVICE inline void begin_elongated(const SpotModel& typical, Matrix3 moments,
                                              double (&p)[kElongatedParameters]) {
  constexpr double kLeastVariance = 0.3, kMostVariance = 8;  // relative to the typical one
  for (std::size_t a = 0; a < 3; ++a) moments[a][a] += 1;
  const Axes3 axes = axes_of(moments);
  const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  p[0] = typical.height;
  p[1] = typical.background;
  for (int a = 0; a < 3; ++a) p[2 + a] = typical.place[static_cast<std::size_t>(a)];
  MOTES_UNROLL
  for (int e = 0; e < 6; ++e) {
    p[5 + e] = 0;
    for (std::size_t a = 0; a < 3; ++a)
      p[5 + e] += axes.vectors[static_cast<std::size_t>(row[e])][a] *
                  axes.vectors[static_cast<std::size_t>(column[e])][a] /
                  limited(axes.values[a], kLeastVariance, kMostVariance);
  }
}

/// The weighted squares left by a fit of one spot with any widths in any direction, started like fit_pair.
template <class Team>
MOTES_LANES double elongated_cost(const Team& team, const Window& w, const SpotModel& typical,
                                  const Matrix3& moments, FitScratch& scratch) {
  constexpr int kSteps = 20;
  constexpr double kLeastPrecision = 0.03, kEnough = 0.01;
  double p[kElongatedParameters], next[kElongatedParameters];
  begin_elongated(typical, moments, p);
  Normal<kElongatedParameters> here, there;
  elongated_equations(team, w, p, typical, scratch, here);
  double damping = 1e-2;
  for (int round = 0; round < kSteps; ++round) {
    bool better = damped_step(here, damping, next);
    MOTES_UNROLL
    for (int i = 0; i < kElongatedParameters; ++i) next[i] += p[i];
    if (better && exceeds(precision_of(next), 3, kLeastPrecision)) {
      elongated_equations(team, w, next, typical, scratch, there);
      better = there.cost <= here.cost;
    } else {
      better = false;
    }
    if (!better) {
      damping = 10 * damping > 0.1 ? 10 * damping : 0.1;
      continue;
    }
    const bool still = here.cost - there.cost < kEnough;
    MOTES_UNROLL
    for (int i = 0; i < kElongatedParameters; ++i) p[i] = next[i];
    here = there;
    damping *= 0.2;
    if (still) break;
  }
  return here.cost;
}

/// Fits two spots in place of one. The pair is found if it explains the window far better than one spot of
/// any widths along the axes, and as well as an elongated spot in any direction. Its cost becomes the
/// improvement over one spot.
template <class Team, class Voxels>
MOTES_LANES void pair_in_place_of(const Team& team, const FitSpots& spots, const Voxels& voxels,
                                  std::size_t spot, const Noise& noise, const std::array<double, 2>& typical,
                                  double excess, FitScratch& scratch, Window& w, PairOfSpots& pair) {
  const FitState& s = spots.states[spot];
  const SpotModel own = model_of(spots.source, s.p), model = typical_at(spots.source, s, typical);
  window_of(team, spots, voxels, spot, scratch, w);
  set_weights(team, own, noise, scratch, w);
  voxel_totals(team, w, own, scratch, scratch.totals);
  const double one = scratch.totals[numbers(kParameters) - 1];
  fit_pair(team, w, model, s.shape.moments, scratch, pair);
  if (!pair.found) return;
  const double gain = (one - pair.cost) / excess;
  const double elongated = elongated_cost(team, w, model, s.shape.moments, scratch);
  pair.found = !((elongated - pair.cost) / excess < -kElongatedLead) && gain >= kSplitGain;
  pair.cost = gain;
}

/// Sets a state to that of one spot of a pair.
MOTES_HOST_DEVICE inline void take_spot(const PairOfSpots& pair, int which,
                                        const std::array<double, 2>& typical, FitState& s) {
  const SpotModel& spot = pair.spots[which];
  s.p[kHeight] = spot.height;
  s.p[kBackground] = spot.background;
  for (int a = 0; a < 3; ++a) s.p[kX + a] = spot.place[static_cast<std::size_t>(a)];
  for (int i = 0; i < 2; ++i) s.width[i] = s.p[kWidthXY + i] = typical[static_cast<std::size_t>(i)];
  s.width_spread = kPairSpread;
  for (int i = 0; i < kParameters; ++i) s.start[i] = s.p[i];
  s.settled = false;
  s.last_move = 1;  // so that its neighbours are fitted again
  s.shape = Shape{};
  for (int a = 0; a < 3; ++a) s.error_factor[a] = pair.error_factor[which][a];
  s.split_gain = std::sqrt(pair.cost);
}

}  // namespace motes::tracking::detect::rules
