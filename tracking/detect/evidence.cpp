/// The window's model is y = a g + b + c.x: g a Gaussian spot integrated over voxels, b a constant, c a
/// slope. With rho the correlation of y and g once constant and slope are taken out of both,
///   t = sign(rho) sqrt(-dof ln(1 - rho^2))
/// is the signed root of the likelihood ratio "a spot" to "none" for Gaussian noise of unknown strength. So
/// offset, gain, local noise, slope and bright neighbours are all told from the window itself, and t is
/// nearly the same on any white noise.
///
/// A box window makes everything separable: centred coordinates are orthogonal to each other and to the
/// constant even where the frame's edge cuts the box, so no system is solved, and all sums over g are
/// products of sums along the axes. Only five sums over the voxels remain (y, y^2, y g, y dy, y dz; y dx
/// comes from the lanes of y). They are kept per column of the box and added up at the end in a fixed order,
/// so vector width changes nothing.
///
/// Single voxels (hot ones, single photons): the same correlation with one voxel in place of g. Where it is
/// larger, the score is 0.
///
/// Roundness: the smallest eigenvalue e of the response's Hessian over an ideal spot's. The score is
/// t sqrt(min(e / .5, 1)), so that edges and filaments, which curve along some axes only, score low. Axes
/// along which the extremum lies on the frame's face are left out.
///
/// Frames of which most voxels hold the lowest value (photon counting): noise is far from Gaussian there, and
/// two photons side by side look like a spot. The score is then at most the signed root of the Poisson
/// likelihood ratio of the counts in the box's core to those around it, whose unit is the smallest step
/// between the lowest value and another.

#include "tracking/detect/evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <type_traits>

#include <motes/base/function_clones.h>
#include <motes/base/parallel_for.h>

#include "tracking/detect/blocks.h"

namespace motes::tracking::detect {
namespace {

constexpr double kRound = 0.5;  // of an ideal spot's least curvature: round enough
constexpr int kMostLanes = 16;
constexpr int kPhases = 16;         // sub-voxel places of a spot along an axis that are told apart
constexpr double kCoreReach = 1.5;  // sigmas of the box's core
constexpr double kZeroHeavy = 0.4;  // share of voxels of the lowest value
constexpr std::int64_t kTask = 256;

/// Sums along one axis of the box: of the profile g, its square, g c and c c, c the centred coordinate.
struct AxisSums {
  double n = 1, g = 1, gg = 1, gc = 0, cc = 0;
};

/// Of the n values of a profile from g on.
AxisSums axis_sums(const float* g, std::int64_t n) {
  AxisSums s;
  s.n = static_cast<double>(n);
  s.g = s.gg = 0;
  const double middle = 0.5 * (s.n - 1);
  for (std::int64_t i = 0; i < n; ++i) {
    const double v = static_cast<double>(g[i]), c = static_cast<double>(i) - middle;
    s.g += v;
    s.gg += v * v;
    s.gc += v * c;
    s.cc += c * c;
  }
  return s;
}

/// The profile of a spot along one axis at each sub-voxel place, relative to its own middle voxel's value.
struct Profiles {
  int half = 0;  ///< voxels either way
  std::vector<float> values;
  std::vector<AxisSums> whole;  ///< of the whole profile, at each place

  static std::size_t phase_of(double offset) {
    return static_cast<std::size_t>(
        std::clamp(std::lround((offset + 0.5) * kPhases), 0L, static_cast<long>(kPhases)));
  }
  const float* at(std::size_t phase) const { return &values[phase * static_cast<std::size_t>(2 * half + 1)]; }
};

Profiles make_profiles(double sigma, double reach) {
  Profiles p;
  if (sigma == 0) {
    p.values.assign(kPhases + 1, 1.0F);
    p.whole.resize(kPhases + 1);
    return p;
  }
  p.half = std::min(kMostLanes / 2 - 1, std::max(2, static_cast<int>(std::lround(reach * sigma))));
  const double k = 1 / (sigma * std::numbers::sqrt2);
  const double middle = std::erf(0.5 * k);
  for (int phase = 0; phase <= kPhases; ++phase) {
    const double offset = static_cast<double>(phase) / kPhases - 0.5;
    for (int i = -p.half; i <= p.half; ++i)
      p.values.push_back(static_cast<float>(
          0.5 * (std::erf((i - offset + 0.5) * k) - std::erf((i - offset - 0.5) * k)) / middle));
  }
  for (std::size_t phase = 0; phase <= kPhases; ++phase)
    p.whole.push_back(axis_sums(p.at(phase), 2 * p.half + 1));
  return p;
}

/// Of a frame of which most voxels hold the lowest value: that value, and the smallest step above it. unit is
/// 0 for all other frames.
struct Counting {
  double lowest = 0, unit = 0;
};

Counting counting_of(const VolumeFrame& frame) {
  constexpr std::size_t kSampled = 1 << 16;
  const auto look = [](const auto& values) {
    Counting counting;
    const std::size_t step = std::max<std::size_t>(1, values.size() / kSampled) | 1;
    double lowest = static_cast<double>(values[0]), second = std::numeric_limits<double>::infinity();
    std::size_t sampled = 0, equal = 0;
    for (std::size_t i = 0; i < values.size(); i += step, ++sampled) {
      const auto v = static_cast<double>(values[i]);
      if (v < lowest) {
        second = lowest;
        lowest = v;
        equal = 0;
      } else if (v > lowest) {
        second = std::min(second, v);
      }
      if (v == lowest) ++equal;
    }
    if (static_cast<double>(equal) > kZeroHeavy * static_cast<double>(sampled) && std::isfinite(second))
      counting = {lowest, second - lowest};
    return counting;
  };
  return std::visit(look, frame.voxels);
}

/// The same for blocks: their mean is worth as many counts as they have voxels.
Counting counting_of(const Source& source) {
  Counting counting = counting_of(*source.frame);
  counting.unit /= static_cast<double>(source.block[0] * source.block[1] * source.block[2]);
  return counting;
}

/// A box of voxels, cut by the frame. Sums over it are kept per column (x).
struct Box {
  Index3 first{}, count{};
};

struct Columns {
  std::array<float, kMostLanes> y{}, yy{}, y_dy{}, y_dz{}, yg{};
};

/// `Lanes` neighbouring columns of the box. Vector types, since loops this short are not turned into vector
/// code at every level of optimisation.
template <class T, int Lanes>
struct Lane {
  typedef T Type __attribute__((vector_size(Lanes * sizeof(T))));
};

/// Sums over the voxels of a box, less `offset` each, for each of `Lanes` columns.
template <int Lanes, class T>
[[gnu::always_inline]] inline void sum_columns(const T* voxels, std::int64_t nx, std::int64_t ny,
                                               const Box& box, const float* gy, const float* gz, float offset,
                                               Columns& out) {
  using Floats = typename Lane<float, Lanes>::Type;
  Floats y{}, yy{}, y_dy{}, y_dz{}, yg{};
  const float middle_y = 0.5F * static_cast<float>(box.count[1] - 1);
  const float middle_z = 0.5F * static_cast<float>(box.count[2] - 1);
  for (std::int64_t k = 0; k < box.count[2]; ++k) {
    const float dz = static_cast<float>(k) - middle_z;
    for (std::int64_t j = 0; j < box.count[1]; ++j) {
      const float dy = static_cast<float>(j) - middle_y, g = gy[j] * gz[k];
      typename Lane<T, Lanes>::Type raw;
      std::memcpy(&raw, voxels + ((box.first[2] + k) * ny + box.first[1] + j) * nx + box.first[0],
                  sizeof(raw));
      const Floats v = __builtin_convertvector(raw, Floats) - offset;
      y += v;
      yy += v * v;
      y_dy += v * dy;
      y_dz += v * dz;
      yg += v * g;
    }
  }
  std::memcpy(out.y.data(), &y, sizeof(y));
  std::memcpy(out.yy.data(), &yy, sizeof(yy));
  std::memcpy(out.y_dy.data(), &y_dy, sizeof(y_dy));
  std::memcpy(out.y_dz.data(), &y_dz, sizeof(y_dz));
  std::memcpy(out.yg.data(), &yg, sizeof(yg));
}

#define MOTES_SUM_BOX(T)                                                                                  \
  MOTES_CLONES void sum_box_of(const T* voxels, std::int64_t nx, std::int64_t ny, const Box& box,         \
                               const float* gy, const float* gz, float offset, Columns& out, int lanes) { \
    if (lanes == 8) return sum_columns<8>(voxels, nx, ny, box, gy, gz, offset, out);                      \
    if (lanes == 16) return sum_columns<16>(voxels, nx, ny, box, gy, gz, offset, out);                    \
    for (int i = 0; i < lanes; ++i) { /* frames narrower than a vector */                                 \
      Columns one;                                                                                        \
      Box column = box;                                                                                   \
      column.first[0] += i;                                                                               \
      sum_columns<1>(voxels, nx, ny, column, gy, gz, offset, one);                                        \
      const auto k = static_cast<std::size_t>(i);                                                         \
      out.y[k] = one.y[0], out.yy[k] = one.yy[0], out.y_dy[k] = one.y_dy[0], out.y_dz[k] = one.y_dz[0];   \
      out.yg[k] = one.yg[0];                                                                              \
    }                                                                                                     \
  }
MOTES_SUM_BOX(std::uint8_t)
MOTES_SUM_BOX(std::uint16_t)
MOTES_SUM_BOX(float)
#undef MOTES_SUM_BOX

/// Sums of products of y, g and a single voxel d, constant and slope taken out.
struct Moments {
  double yy = 0, yg = 0, gg = 0, yd = 0, dd = 0, dof = 1;
};

double signed_root(double yx, double yy, double xx, double dof) {
  if (!(yy > 0) || !(xx > 0)) return 0;
  const double rho = yx / std::sqrt(yy * xx);
  const double unexplained = std::max(1 - rho * rho, 1e-12);
  return std::copysign(std::sqrt(-dof * std::log(unexplained)), rho);
}

/// Smallest eigenvalue of a symmetric matrix of n rows (1 to 3).
double least_eigenvalue(const std::array<std::array<double, 3>, 3>& m, int n) {
  if (n == 1) return m[0][0];
  if (n == 2) {
    const double half = 0.5 * (m[0][0] + m[1][1]), d = 0.5 * (m[0][0] - m[1][1]);
    return half - std::sqrt(d * d + m[0][1] * m[0][1]);
  }
  const double q = (m[0][0] + m[1][1] + m[2][2]) / 3;
  const double off = m[0][1] * m[0][1] + m[0][2] * m[0][2] + m[1][2] * m[1][2];
  const double a = m[0][0] - q, b = m[1][1] - q, c = m[2][2] - q;
  const double p = std::sqrt((a * a + b * b + c * c + 2 * off) / 6);
  if (!(p > 0)) return q;
  const double det = a * (b * c - m[1][2] * m[1][2]) - m[0][1] * (m[0][1] * c - m[1][2] * m[0][2]) +
                     m[0][2] * (m[0][1] * m[1][2] - b * m[0][2]);
  const double r = std::clamp(det / (2 * p * p * p), -1.0, 1.0);
  return q + 2 * p * std::cos(std::acos(r) / 3 + 2 * std::numbers::pi / 3);
}

/// Is m - level * 1 positive definite?
bool exceeds(const std::array<std::array<double, 3>, 3>& m, int n, double level) {
  const double a = m[0][0] - level;
  if (!(a > 0)) return false;
  if (n == 1) return true;
  const double b = m[1][1] - level, ab = a * b - m[0][1] * m[0][1];
  if (!(ab > 0)) return false;
  if (n == 2) return true;
  const double c = m[2][2] - level;
  return a * (b * c - m[1][2] * m[1][2]) - m[0][1] * (m[0][1] * c - m[1][2] * m[0][2]) +
             m[0][2] * (m[0][1] * m[1][2] - b * m[0][2]) >
         0;
}

/// Fitter of all the extrema of one frame.
class Fitter {
 public:
  Fitter(const Execution& execution, const VolumeFrame& frame, const Filter& filter, const Response& response,
         Polarity polarity, Side side, double reach)
      : source_(make_source(execution, frame, filter)),
        counting_(counting_of(source_)),
        response_(response),
        response_size_{response.shape().nx, response.shape().ny, response.shape().nz},
        side_(side == Side::maxima ? 1 : -1),
        sign_((polarity == Polarity::bright ? 1 : -1) * side_) {
    for (std::size_t a = 0; a < 3; ++a) {
      profiles_[a] = make_profiles(source_.sigma[a], reach);
      // The response to a spot of the filter's own sigma, (1 - r^2 / (d v)) exp(-r^2 / (2 v)), v = 2 sigma^2.
      const double v = 2 * filter.sigma[a] * filter.sigma[a];
      const double next = v > 0 ? (1 - 1 / (filter.dimensions * v)) * std::exp(-1 / (2 * v)) : 1;
      curvature_scale_[a] = next < 1 ? 1 / std::sqrt(2 - 2 * next) : 0;
    }
  }

  Evidence at(const Voxel& v) const {
    const double shape = roundness(v);
    Evidence evidence;
    const Place place = sub_voxel(v);
    const Moments m = moments(place);
    evidence.amplitude = m.gg > 0 ? sign_ * m.yg / m.gg : 0;
    const double t = sign_ * signed_root(m.yg, m.yy, m.gg, m.dof);
    const double single = sign_ * signed_root(m.yd, m.yy, m.dd, m.dof);
    evidence.roundness = shape;
    evidence.single = single;
    const double most = counting_.unit > 0 ? sign_ * count_root(place) : t;
    evidence.score = t > single ? std::min(t, most) * std::sqrt(shape) : 0;
    return evidence;
  }

 private:
  double value(const Index3& i) const { return side_ * static_cast<double>(response_.at(i[2], i[1], i[0])); }

  /// The extremum's place by a parabola along each axis, in the source's blocks.
  Place sub_voxel(const Voxel& v) const {
    const Index3 at{v.x, v.y, v.z};
    Place place{};
    const double here = value(at);
    for (std::size_t a = 0; a < 3; ++a) {
      double offset = 0;
      if (at[a] > 0 && at[a] + 1 < response_size_[a]) {
        Index3 before = at, after = at;
        --before[a];
        ++after[a];
        const double low = value(before), high = value(after), bend = 2 * here - low - high;
        if (bend > 0) offset = std::clamp(0.5 * (high - low) / bend, -0.5, 0.5);
      }
      place[a] = source_.to_blocks(static_cast<double>(at[a]) + offset, a);
    }
    return place;
  }

  /// min(least curvature over an ideal spot's / kRound, 1), at least 0.
  double roundness(const Voxel& v) const {
    const Index3 at{v.x, v.y, v.z};
    const double here = value(at);
    std::array<std::size_t, 3> axes{};
    int n = 0;
    for (std::size_t a = 0; a < 3; ++a)
      if (at[a] > 0 && at[a] + 1 < response_size_[a]) axes[static_cast<std::size_t>(n++)] = a;
    if (n == 0 || !(here > 0)) return 1;
    std::array<std::array<double, 3>, 3> m{};
    const auto step = [&](std::size_t a, int da, std::size_t b, int db) {
      Index3 i = at;
      i[a] += da;
      i[b] += db;
      return value(i);
    };
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      const std::size_t a = axes[i];
      m[i][i] = (2 * here - step(a, 1, a, 0) - step(a, -1, a, 0)) * curvature_scale_[a] *
                curvature_scale_[a] / here;
      for (std::size_t j = 0; j < i; ++j) {
        const std::size_t b = axes[j];
        m[i][j] = m[j][i] = -0.25 *
                            (step(a, 1, b, 1) + step(a, -1, b, -1) - step(a, 1, b, -1) - step(a, -1, b, 1)) *
                            curvature_scale_[a] * curvature_scale_[b] / here;
      }
    }
    if (exceeds(m, n, kRound)) return 1;
    return std::clamp(least_eigenvalue(m, n) / kRound, 0.0, 1.0);
  }

  Moments moments(const Place& place) const {
    Index3 centre{};
    Box box;
    std::array<const float*, 3> g{};
    std::array<AxisSums, 3> axis;
    for (std::size_t a = 0; a < 3; ++a) {
      centre[a] = std::clamp<std::int64_t>(std::lround(place[a]), 0, source_.size[a] - 1);
      const int half = profiles_[a].half;
      box.first[a] = std::max<std::int64_t>(0, centre[a] - half);
      box.count[a] = std::min<std::int64_t>(source_.size[a] - 1, centre[a] + half) - box.first[a] + 1;
      const std::size_t phase = Profiles::phase_of(place[a] - static_cast<double>(centre[a]));
      g[a] = profiles_[a].at(phase) + (box.first[a] - (centre[a] - half));
      axis[a] = box.count[a] == 2 * half + 1 ? profiles_[a].whole[phase] : axis_sums(g[a], box.count[a]);
    }
    Columns columns;
    // Rows are read in full vectors: the box begins further left, where the frame ends at its right.
    const int wanted = profiles_[0].half <= 3 ? 8 : 16;
    Box read = box;
    std::size_t skipped = 0;
    int lanes = wanted;
    if (box.first[0] + wanted > source_.size[0]) {
      read.first[0] = std::max<std::int64_t>(0, source_.size[0] - wanted);
      skipped = static_cast<std::size_t>(box.first[0] - read.first[0]);
      lanes = static_cast<int>(std::min<std::int64_t>(wanted, source_.size[0]));
    }
    float centre_value = 0, offset = 0;
    const auto sum = [&](const auto* voxels) {
      const auto index = [&](std::int64_t z, std::int64_t y, std::int64_t x) {
        return (z * source_.size[1] + y) * source_.size[0] + x;
      };
      offset = static_cast<float>(voxels[index(box.first[2], box.first[1], box.first[0])]);
      centre_value = static_cast<float>(voxels[index(centre[2], centre[1], centre[0])]) - offset;
      sum_box_of(voxels, source_.size[0], source_.size[1], read, g[1], g[2], offset, columns, lanes);
    };
    source_.read(sum);

    double y = 0, yy = 0, yg = 0;
    std::array<double, 3> yc{};
    const double middle = 0.5 * (axis[0].n - 1);
    for (std::size_t i = 0; i < static_cast<std::size_t>(box.count[0]); ++i) {
      const auto c = [&](const auto& column) { return static_cast<double>(column[i + skipped]); };
      y += c(columns.y);
      yy += c(columns.yy);
      yg += c(columns.yg) * static_cast<double>(g[0][i]);
      yc[0] += c(columns.y) * (static_cast<double>(i) - middle);
      yc[1] += c(columns.y_dy);
      yc[2] += c(columns.y_dz);
    }
    const double n = axis[0].n * axis[1].n * axis[2].n, own = static_cast<double>(centre_value);
    Moments m;
    const double sum_g = axis[0].g * axis[1].g * axis[2].g;
    m.yy = yy - y * y / n;
    m.yg = yg - y * sum_g / n;
    m.gg = axis[0].gg * axis[1].gg * axis[2].gg - sum_g * sum_g / n;
    m.yd = own - y / n;
    m.dd = 1 - 1 / n;
    int slopes = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      if (!(axis[a].cc > 0)) continue;
      ++slopes;
      const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
      const double cc = axis[a].cc * axis[b].n * axis[c].n;
      const double gc = axis[a].gc * axis[b].g * axis[c].g;
      const double dc = static_cast<double>(centre[a] - box.first[a]) - 0.5 * (axis[a].n - 1);
      m.yy -= yc[a] * yc[a] / cc;
      m.yg -= yc[a] * gc / cc;
      m.gg -= gc * gc / cc;
      m.yd -= yc[a] * dc / cc;
      m.dd -= dc * dc / cc;
    }
    m.dof = std::max(1.0, n - slopes - 2);
    if (m.yy < 1e-6 * yy) m.yy = std::max(m.yy, 1e-7 * yy);  // what float sums cannot tell from 0
    return m;
  }

  /// Signed root of the Poisson likelihood ratio: are counts as dense in the box's core as around it?
  double count_root(const Place& place) const {
    std::array<std::int64_t, 3> first{}, last{}, core_first{}, core_last{};
    double core_voxels = 1, voxels = 1;
    for (std::size_t a = 0; a < 3; ++a) {
      const std::int64_t centre = std::clamp<std::int64_t>(std::lround(place[a]), 0, source_.size[a] - 1);
      const auto core =
          source_.sigma[a] > 0 ? std::max<std::int64_t>(1, std::lround(kCoreReach * source_.sigma[a])) : 0;
      const auto clip = [&](std::int64_t i) { return std::clamp<std::int64_t>(i, 0, source_.size[a] - 1); };
      first[a] = clip(centre - profiles_[a].half);
      last[a] = clip(centre + profiles_[a].half);
      core_first[a] = clip(centre - core);
      core_last[a] = clip(centre + core);
      voxels *= static_cast<double>(last[a] - first[a] + 1);
      core_voxels *= static_cast<double>(core_last[a] - core_first[a] + 1);
    }
    double inside = 0, all = 0;
    const auto sum = [&](const auto* values) {
      for (std::int64_t z = first[2]; z <= last[2]; ++z)
        for (std::int64_t y = first[1]; y <= last[1]; ++y)
          for (std::int64_t x = first[0]; x <= last[0]; ++x) {
            const double v = (static_cast<double>(values[(z * source_.size[1] + y) * source_.size[0] + x]) -
                              counting_.lowest) /
                             counting_.unit;
            all += v;
            if (z >= core_first[2] && z <= core_last[2] && y >= core_first[1] && y <= core_last[1] &&
                x >= core_first[0] && x <= core_last[0])
              inside += v;
          }
    };
    source_.read(sum);
    const double outside = all - inside, expected = all * core_voxels / voxels;
    const auto term = [](double n, double mean) { return n > 0 ? n * std::log(n / mean) : 0; };
    const double ratio = 2 * (term(inside, expected) + term(outside, all - expected));
    return std::copysign(std::sqrt(std::max(0.0, ratio)), inside - expected);
  }

  Source source_;
  Counting counting_;
  const Response& response_;
  Index3 response_size_;
  double side_, sign_;
  std::array<Profiles, 3> profiles_;
  std::array<double, 3> curvature_scale_{};
};

}  // namespace

bool mostly_lowest(const VolumeFrame& frame) { return counting_of(frame).unit > 0; }

std::vector<Evidence> evidence_at(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                                  const Response& response, Polarity polarity, std::span<const Voxel> extrema,
                                  Side side, double reach) {
  const Fitter fitter(execution, frame, filter, response, polarity, side, reach);
  std::vector<Evidence> evidence(extrema.size());
  const auto n = static_cast<std::int64_t>(extrema.size());
  parallel_for(thread_count(execution), (n + kTask - 1) / kTask, [&](std::int64_t task) {
    for (std::int64_t i = task * kTask; i < std::min(n, (task + 1) * kTask); ++i)
      evidence[static_cast<std::size_t>(i)] = fitter.at(extrema[static_cast<std::size_t>(i)]);
  });
  return evidence;
}

}  // namespace motes::tracking::detect
