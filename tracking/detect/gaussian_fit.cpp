/// Levenberg-Marquardt on seven parameters: height, background, x, y, z, ln width in xy, ln width in z. The
/// model is separable, so a voxel's derivatives are products of three table entries, and the normal equations
/// are sums over the window kept per column (x), added up in a fixed order at the end: vector width changes
/// nothing.
///
/// Weights. Light's noise grows with the light. The first sweep, with equal weights and the widths held,
/// leaves residuals; the median of their squares in bins of the expected value gives the variance at each,
/// and a line through these (gain and read noise, in the end) the weights from then on. So the fit is that of
/// maximum likelihood to first order, and the inverse of its normal equations is the covariance.
///
/// Crowds. Each sweep fits every spot to the voxels less the models of its neighbours as the sweep before
/// left them. The fixed point is the joint least-squares fit. The errors are each spot's own, given its
/// neighbours: for spots nearer than some 2 sigma they are too small.

#include "tracking/detect/gaussian_fit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <motes/base/function_clones.h>
#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>

namespace motes::tracking::detect {
namespace {

constexpr int kParameters = 7;
enum Parameter { kHeight, kBackground, kX, kY, kZ, kWidthXY, kWidthZ };
constexpr int kPairs = kParameters * (kParameters + 1) / 2;
constexpr double kReach = 2.5;  // sigmas of a window
constexpr int kMostLanes = 16;
constexpr int kSweeps = 10;
constexpr int kStepsOfSweep = 3;
constexpr double kFarthest = 1.5;  // sigmas that a fit may move from its start
constexpr double kStill = 2e-3;    // voxels: moves that end a spot's fit,
constexpr double kSettled = 0.2;   // and what the last sweep may move it at most

using Vector = Eigen::Matrix<double, kParameters, 1>;
using Matrix = Eigen::Matrix<double, kParameters, kParameters>;

struct Noise {
  double base = 1, slope = 0;  ///< variance = base + slope * expected value
  double least = 1;
};

/// The voxels of one spot's window, less its neighbours.
struct Window {
  Index3 first{}, count{};
  std::vector<float> values;   ///< [count z][count y][width], columns from `lanes` on are 0
  std::vector<float> light;    ///< what the neighbours' models give there
  std::vector<float> weights;  ///< 1 / variance, 0 in columns from `lanes` on
  int lanes = 0;
};

struct Normal {
  Matrix matrix;
  Vector slope;
  double cost = 0;
};

struct Profile {
  std::array<float, kMostLanes> g{}, d1{}, d2{};  ///< exp(-u^2 / 2), times u / sigma, times u^2
};

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

struct Sums {
  float matrix[kPairs][kMostLanes];
  float slope[kParameters][kMostLanes];
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

template <int Lanes>
[[gnu::always_inline]] inline void accumulate_rows(const RowTask& t, Sums& sums) {
  using Floats = typename Lane<Lanes>::Type;
  const auto load = [](const float* from, Floats& to) { std::memcpy(&to, from, sizeof(to)); };
  Floats matrix[kPairs] = {}, slope[kParameters] = {}, cost{};
  Floats gx, gx1, gx2, w, r;
  load(t.x->g.data(), gx);
  load(t.x->d1.data(), gx1);
  load(t.x->d2.data(), gx2);
  for (std::int64_t k = 0; k < t.planes; ++k) {
    for (std::int64_t j = 0; j < t.rows; ++j) {
      const auto kk = static_cast<std::size_t>(k), jj = static_cast<std::size_t>(j);
      const float gy = t.y->g[jj], gz = t.z->g[kk];
      const float g = gy * gz, hg = t.height * g;
      const float hy = t.height * t.y->d1[jj] * gz, hz = t.height * gy * t.z->d1[kk];
      const float hy2 = t.height * t.y->d2[jj] * gz, hz2 = t.height * gy * t.z->d2[kk];
      load(t.weights + (k * t.rows + j) * Lanes, w);
      load(t.values + (k * t.rows + j) * Lanes, r);
      r -= t.background + hg * gx;
      const Floats d[kParameters] = {g * gx,  Floats{} + 1.0F,     hg * gx1, hy * gx,
                                     hz * gx, hg * gx2 + hy2 * gx, hz2 * gx};
      int pair = 0;
      for (int p = 0; p < kParameters; ++p) {
        const Floats wd = w * d[p];
        slope[p] += wd * r;
        for (int q = 0; q <= p; ++q, ++pair) matrix[pair] += wd * d[q];
      }
      cost += w * r * r;
    }
  }
  for (int i = 0; i < kPairs; ++i) std::memcpy(sums.matrix[i], &matrix[i], sizeof(Floats));
  for (int i = 0; i < kParameters; ++i) std::memcpy(sums.slope[i], &slope[i], sizeof(Floats));
  std::memcpy(sums.cost, &cost, sizeof(Floats));
}

MOTES_CLONES
void accumulate(const RowTask& task, int width, Sums& sums) {
  if (width == 8)
    accumulate_rows<8>(task, sums);
  else
    accumulate_rows<16>(task, sums);
}

struct State {
  Vector p;  ///< see Parameter; places in blocks
  Vector start;
  Matrix covariance = Matrix::Zero();
  bool good = true;
  bool settled = false;
  double last_move = 0;  ///< of the last sweep that moved it, voxels
};

class Fitter {
 public:
  Fitter(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
         std::span<const FitStart> starts, const FitOptions& options)
      : threads_(thread_count(execution)), options_(options), source_(make_source(execution, frame, filter)) {
    for (std::size_t a = 0; a < 3; ++a)
      half_[a] = source_.sigma[a] > 0
                     ? std::clamp<std::int64_t>(std::lround(kReach * source_.sigma[a]), 2, kMostLanes / 2 - 1)
                     : 0;
    width_ = half_[0] <= 3 ? 8 : 16;
    states_.resize(starts.size());
    for (std::size_t i = 0; i < starts.size(); ++i) {
      Vector& p = states_[i].p;
      p.setZero();
      p[kHeight] = starts[i].amplitude;
      for (std::size_t a = 0; a < 3; ++a)
        p[kX + static_cast<int>(a)] = source_.to_blocks(starts[i].place[a], a);
    }
    find_neighbours();
    for (std::size_t i = 0; i < states_.size(); ++i) {
      Window window = window_of(i);
      float least = std::numeric_limits<float>::max();
      std::vector<float> sorted;
      for (std::int64_t row = 0; row < window.count[1] * window.count[2]; ++row)
        for (int x = 0; x < window.lanes; ++x)
          sorted.push_back(window.values[static_cast<std::size_t>(row * width_ + x)]);
      std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2),
                       sorted.end());
      least = sorted[sorted.size() / 2];
      states_[i].p[kBackground] = static_cast<double>(least);
      states_[i].start = states_[i].p;
    }
  }

  std::vector<FittedSpot> fit() {
    Noise equal;
    sweep(equal, true);
    const Noise noise = noise_of_residuals();
    for (int s = 1; s < kSweeps && !all_settled(); ++s) sweep(noise, false);
    std::vector<FittedSpot> fitted(states_.size());
    for (std::size_t i = 0; i < states_.size(); ++i) fitted[i] = result(states_[i]);
    return fitted;
  }

 private:
  std::array<double, 3> sigma_of(const Vector& p) const {
    return {source_.sigma[0] * std::exp(p[kWidthXY]), source_.sigma[1] * std::exp(p[kWidthXY]),
            source_.sigma[2] * std::exp(p[kWidthZ])};
  }

  /// Spots whose Gaussians reach into each other's windows, as CSR.
  void find_neighbours() {
    const std::size_t n = states_.size();
    neighbour_offsets_.assign(n + 1, 0);
    std::vector<std::uint32_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint32_t>(i);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return states_[a].p[kX] != states_[b].p[kX] ? states_[a].p[kX] < states_[b].p[kX] : a < b;
    });
    std::array<double, 3> reach{};
    for (std::size_t a = 0; a < 3; ++a) reach[a] = 2 * static_cast<double>(half_[a]) + 1;
    std::vector<std::vector<std::uint32_t>> near(n);
    parallel_for(threads_, static_cast<std::int64_t>(n), [&](std::int64_t k) {
      const std::uint32_t i = order[static_cast<std::size_t>(k)];
      const Vector& p = states_[i].p;
      const auto look = [&](std::int64_t from, std::int64_t step) {
        for (std::int64_t m = from; m >= 0 && m < static_cast<std::int64_t>(n); m += step) {
          const std::uint32_t j = order[static_cast<std::size_t>(m)];
          const Vector& q = states_[j].p;
          if (std::abs(q[kX] - p[kX]) > reach[0]) break;
          if (std::abs(q[kY] - p[kY]) <= reach[1] && std::abs(q[kZ] - p[kZ]) <= reach[2])
            near[i].push_back(j);
        }
      };
      look(k - 1, -1);
      look(k + 1, 1);
      std::sort(near[i].begin(), near[i].end());
    });
    for (std::size_t i = 0; i < n; ++i) {
      neighbours_.insert(neighbours_.end(), near[i].begin(), near[i].end());
      neighbour_offsets_[i + 1] = neighbours_.size();
    }
  }

  Window window_of(std::size_t spot) const {
    Window w;
    const Vector& p = states_[spot].p;
    for (std::size_t a = 0; a < 3; ++a) {
      const std::int64_t centre =
          std::clamp<std::int64_t>(std::lround(p[kX + static_cast<int>(a)]), 0, source_.size[a] - 1);
      w.first[a] = std::max<std::int64_t>(0, centre - half_[a]);
      w.count[a] = std::min<std::int64_t>(source_.size[a] - 1, centre + half_[a]) - w.first[a] + 1;
    }
    w.lanes = static_cast<int>(w.count[0]);
    w.values.assign(static_cast<std::size_t>(w.count[2] * w.count[1] * width_), 0.0F);
    w.light.assign(w.values.size(), 0.0F);
    source_.read([&](const auto* voxels) {
      float* out = w.values.data();
      for (std::int64_t k = 0; k < w.count[2]; ++k)
        for (std::int64_t j = 0; j < w.count[1]; ++j, out += width_) {
          const auto* row =
              voxels + ((w.first[2] + k) * source_.size[1] + w.first[1] + j) * source_.size[0] + w.first[0];
          for (int i = 0; i < w.lanes; ++i) out[i] = static_cast<float>(row[i]);
        }
    });
    for (std::size_t n = neighbour_offsets_[spot]; n < neighbour_offsets_[spot + 1]; ++n) {
      const State& other = states_[neighbours_[n]];
      if (!other.good) continue;
      const std::array<double, 3> sigma = sigma_of(other.p);
      std::array<Profile, 3> g;
      for (std::size_t a = 0; a < 3; ++a)
        g[a] = profile(other.p[kX + static_cast<int>(a)], sigma[a], w.first[a], w.count[a]);
      float* out = w.values.data();
      for (std::size_t k = 0; k < static_cast<std::size_t>(w.count[2]); ++k)
        for (std::size_t j = 0; j < static_cast<std::size_t>(w.count[1]); ++j, out += width_) {
          const float h = static_cast<float>(other.p[kHeight]) * g[2].g[k] * g[1].g[j];
          float* light = w.light.data() + (out - w.values.data());
          for (int i = 0; i < w.lanes; ++i) light[i] += h * g[0].g[static_cast<std::size_t>(i)];
        }
    }
    for (std::size_t i = 0; i < w.values.size(); ++i) w.values[i] -= w.light[i];
    return w;
  }

  /// Weights by the expected values under `p`: held while the spot moves, so that its cost is one function.
  void set_weights(Window& w, const Vector& p, const Noise& noise) const {
    const std::array<double, 3> sigma = sigma_of(p);
    std::array<Profile, 3> g;
    for (std::size_t a = 0; a < 3; ++a)
      g[a] = profile(p[kX + static_cast<int>(a)], sigma[a], w.first[a], w.count[a]);
    w.weights.assign(w.values.size(), 0.0F);
    std::size_t row = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(w.count[2]); ++k)
      for (std::size_t j = 0; j < static_cast<std::size_t>(w.count[1]);
           ++j, row += static_cast<std::size_t>(width_))
        for (std::size_t i = 0; i < static_cast<std::size_t>(w.lanes); ++i) {
          const float expected = static_cast<float>(p[kBackground]) + w.light[row + i] +
                                 static_cast<float>(p[kHeight]) * g[2].g[k] * g[1].g[j] * g[0].g[i];
          const float variance = static_cast<float>(noise.base) + static_cast<float>(noise.slope) * expected;
          w.weights[row + i] = 1 / std::max(variance, static_cast<float>(noise.least));
        }
  }

  Normal normal_at(const Window& w, const Vector& p, bool widths_held) const {
    const std::array<double, 3> sigma = sigma_of(p);
    std::array<Profile, 3> g;
    for (std::size_t a = 0; a < 3; ++a)
      g[a] = profile(p[kX + static_cast<int>(a)], sigma[a], w.first[a], w.count[a]);
    Sums sums{};
    const RowTask task{w.values.data(),
                       w.weights.data(),
                       &g[0],
                       &g[1],
                       &g[2],
                       w.count[1],
                       w.count[2],
                       static_cast<float>(p[kHeight]),
                       static_cast<float>(p[kBackground])};
    accumulate(task, width_, sums);
    Normal normal;
    const auto total = [&](const float* lanes) {
      double sum = 0;
      for (int i = 0; i < width_; ++i) sum += static_cast<double>(lanes[i]);
      return sum;
    };
    int pair = 0;
    for (int a = 0; a < kParameters; ++a) {
      normal.slope[a] = total(sums.slope[a]);
      for (int b = 0; b <= a; ++b, ++pair)
        normal.matrix(a, b) = normal.matrix(b, a) = total(sums.matrix[pair]);
    }
    normal.cost = total(sums.cost);
    // The prior of the widths; parameters that the voxels do not tell (no such axis) are held by a weak one.
    for (const int a : {kWidthXY, kWidthZ}) {
      const double precision =
          widths_held ? 1e6 * (1 + normal.matrix(a, a)) : 1 / (options_.width_spread * options_.width_spread);
      normal.matrix(a, a) += precision;
      normal.slope[a] -= precision * p[a];
      normal.cost += precision * p[a] * p[a];
    }
    for (int a = 0; a < kParameters; ++a)
      if (!(normal.matrix(a, a) > 0)) normal.matrix(a, a) = 1;
    return normal;
  }

  void fit_one(std::size_t spot, const Noise& noise, bool widths_held, State& out) const {
    out = states_[spot];
    if (!out.good) return;
    if (out.settled && !neighbours_moved(spot)) {
      out.last_move = 0;
      return;
    }
    Window w = window_of(spot);
    Vector& p = out.p;
    set_weights(w, p, noise);
    Normal here = normal_at(w, p, widths_held);
    const Vector before = p;
    double damping = 1e-3;
    for (int step = 0; step < kStepsOfSweep; ++step) {
      Matrix damped = here.matrix;
      damped.diagonal() *= 1 + damping;
      Vector move = damped.llt().solve(here.slope);
      if (!move.allFinite()) {
        out.good = false;
        return;
      }
      for (std::size_t a = 0; a < 3; ++a) {
        const double most = 0.5 * source_.sigma[a];
        double& m = move[kX + static_cast<int>(a)];
        m = std::clamp(m, -most, most);
      }
      for (const int a : {kWidthXY, kWidthZ}) move[a] = std::clamp(move[a], -0.3, 0.3);
      const Vector next = p + move;
      const Normal there = normal_at(w, next, widths_held);
      if (there.cost <= here.cost * (1 + 1e-6)) {
        p = next;
        here = there;
        damping *= 0.2;
        if (move.segment<3>(kX).cwiseAbs().maxCoeff() < kStill) break;
      } else {
        damping = std::max(10 * damping, 0.1);
      }
    }
    out.last_move = (p - before).segment<3>(kX).cwiseAbs().maxCoeff();
    out.covariance = here.matrix.llt().solve(Matrix::Identity());
    if (!sane(out)) out.good = false;
    out.settled = !widths_held && out.last_move < kStill;
    // Two spots that each make way for the other at once would swing for ever.
    if (neighbour_offsets_[spot + 1] > neighbour_offsets_[spot]) p = 0.5 * (p + before);
  }

  bool all_settled() const {
    return std::all_of(states_.begin(), states_.end(), [](const State& s) { return s.settled || !s.good; });
  }

  bool neighbours_moved(std::size_t spot) const {
    for (std::size_t n = neighbour_offsets_[spot]; n < neighbour_offsets_[spot + 1]; ++n)
      if (states_[neighbours_[n]].last_move >= kStill) return true;
    return false;
  }

  bool sane(const State& s) const {
    if (!s.p.allFinite() || !s.covariance.allFinite() || s.p[kHeight] * s.start[kHeight] <= 0) return false;
    for (std::size_t a = 0; a < 3; ++a) {
      const int i = kX + static_cast<int>(a);
      const double most = kFarthest * std::max(source_.sigma[a], 0.7);
      if (std::abs(s.p[i] - s.start[i]) > most) return false;
      if (s.p[i] < -0.75 || s.p[i] > static_cast<double>(source_.size[a]) - 0.25) return false;
    }
    return true;
  }

  void sweep(const Noise& noise, bool widths_held) {
    std::vector<State> next(states_.size());
    constexpr std::int64_t kTask = 16;
    const auto n = static_cast<std::int64_t>(states_.size());
    parallel_for(threads_, (n + kTask - 1) / kTask, [&](std::int64_t task) {
      for (std::int64_t i = task * kTask; i < std::min(n, (task + 1) * kTask); ++i)
        fit_one(static_cast<std::size_t>(i), noise, widths_held, next[static_cast<std::size_t>(i)]);
    });
    states_ = std::move(next);
  }

  /// Variance against expected value, from the residuals of all windows.
  Noise noise_of_residuals() const {
    struct Sample {
      float expected, square;
    };
    constexpr std::size_t kMost = 2000, kBins = 12;
    std::vector<std::vector<Sample>> parts(std::min(kMost, states_.size()));
    const std::size_t step = std::max<std::size_t>(1, states_.size() / kMost);
    parallel_for(threads_, static_cast<std::int64_t>(parts.size()), [&](std::int64_t k) {
      const std::size_t i = static_cast<std::size_t>(k) * step;
      const State& s = states_[i];
      if (!s.good) return;
      const Window w = window_of(i);
      const std::array<double, 3> sigma = sigma_of(s.p);
      std::array<Profile, 3> g;
      for (std::size_t a = 0; a < 3; ++a)
        g[a] = profile(s.p[kX + static_cast<int>(a)], sigma[a], w.first[a], w.count[a]);
      const float* values = w.values.data();
      for (std::size_t z = 0; z < static_cast<std::size_t>(w.count[2]); ++z)
        for (std::size_t y = 0; y < static_cast<std::size_t>(w.count[1]); ++y, values += width_)
          for (std::size_t x = 0; x < static_cast<std::size_t>(w.lanes); ++x) {
            const float model = static_cast<float>(s.p[kBackground]) +
                                static_cast<float>(s.p[kHeight]) * g[0].g[x] * g[1].g[y] * g[2].g[z];
            const float r = values[x] - model;
            const float light = w.light[static_cast<std::size_t>(values - w.values.data()) + x];
            parts[static_cast<std::size_t>(k)].push_back({model + light, r * r});
          }
    });
    std::vector<Sample> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    Noise noise;
    if (all.size() < 50) return noise;
    std::sort(all.begin(), all.end(), [](const Sample& a, const Sample& b) {
      return a.expected != b.expected ? a.expected < b.expected : a.square < b.square;
    });
    // Bins hold half of what is left each, so that the bright end, which tells the slope, has bins of its
    // own.
    constexpr double kMedianSquare = 0.4549;  // of a standard normal
    constexpr double kCounts = 4;
    double sw = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, least = std::numeric_limits<double>::infinity();
    std::size_t begin = 0;
    for (std::size_t bin = 0; bin < kBins && all.size() - begin >= 60; ++bin) {
      const std::size_t left = all.size() - begin;
      const std::size_t size = bin + 1 == kBins || left < 120 ? left : left / 2;
      std::vector<float> squares(size);
      double mean = 0, mean_square = 0;
      for (std::size_t i = 0; i < size; ++i) {
        squares[i] = all[begin + i].square;
        mean_square += static_cast<double>(all[begin + i].square) / static_cast<double>(size);
        mean += static_cast<double>(all[begin + i].expected) / static_cast<double>(size);
      }
      // The median is not misled by spots that were missed; but of single photons most squares are next to 0.
      const double middle = static_cast<double>(quantile(squares, 0.5)) / kMedianSquare;
      const double variance = mean_square > kCounts * middle ? mean_square : middle;
      if (variance > 0) {
        const double weight = static_cast<double>(size) / (variance * variance);
        sw += weight;
        sx += weight * mean;
        sy += weight * variance;
        sxx += weight * mean * mean;
        sxy += weight * mean * variance;
        least = std::min(least, variance);
      }
      begin += size;
    }
    if (!(sw > 0)) return noise;
    const double det = sw * sxx - sx * sx;
    noise.slope = det > 1e-9 * sw * sxx ? std::max(0.0, (sw * sxy - sx * sy) / det) : 0;
    noise.base = (sy - noise.slope * sx) / sw;
    noise.least = 0.3 * least;
    return noise;
  }

  FittedSpot result(const State& s) const {
    FittedSpot spot;
    spot.good = s.good && s.last_move <= kSettled;
    const Vector& p = spot.good ? s.p : s.start;
    const std::array<double, 3> sigma = sigma_of(p);
    spot.amplitude = p[kHeight];
    spot.background = p[kBackground];
    for (std::size_t a = 0; a < 3; ++a) {
      const int i = kX + static_cast<int>(a);
      const auto block = static_cast<double>(source_.block[a]);
      spot.place[a] = source_.to_voxels(p[i], a);
      spot.sigma[a] = sigma[a] * block;
      spot.error[a] = !spot.good             ? std::numeric_limits<double>::quiet_NaN()
                      : source_.sigma[a] > 0 ? std::sqrt(s.covariance(i, i)) * block
                                             : 0;
    }
    return spot;
  }

  int threads_;
  FitOptions options_;
  Source source_;
  Index3 half_{};
  int width_ = 16;
  std::vector<State> states_;
  std::vector<std::size_t> neighbour_offsets_;
  std::vector<std::uint32_t> neighbours_;
};

}  // namespace

std::vector<FittedSpot> fit_spots(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                                  std::span<const FitStart> starts, const FitOptions& options) {
  if (starts.empty()) return {};
  return Fitter(execution, frame, filter, starts, options).fit();
}

}  // namespace motes::tracking::detect
