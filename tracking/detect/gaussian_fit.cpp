/// Levenberg-Marquardt on seven parameters: height, background, x, y, z, ln width in xy, ln width in z.
///
/// Weights. Light's noise grows with the light. The first sweep, with equal weights and the widths held,
/// leaves residuals; the median of their squares in bins of the expected value gives the variance at each,
/// and a line through these (gain and read noise, in the end) the weights from then on. So the fit is that of
/// maximum likelihood to first order, and the inverse of its normal equations is the covariance.
///
/// Crowds. Each sweep fits every spot to the voxels less the models of its neighbours as the sweep before
/// left them. The fixed point is the joint least-squares fit.
///
/// Pairs. Two spots nearer than about two widths make one maximum. Their second moments exceed the typical
/// spot's along one axis. Where that is so beyond chance, two typical spots are fitted in place of one, and
/// taken where they explain the voxels far better than one, and no worse than one elongated spot. Where many
/// spots differ from the typical one, spots have shapes of their own, and none is split.

#include "tracking/detect/gaussian_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>

#include "tracking/detect/fit_elongated.h"
#include "tracking/detect/fit_neighbours.h"
#include "tracking/detect/fit_pair.h"
#include "tracking/detect/fit_tilt.h"
#include "tracking/detect/fit_window.h"

namespace motes::tracking::detect {
namespace {

constexpr double kReach = 2.5;  // sigmas of a window
constexpr int kSweeps = 10;
constexpr int kStepsOfSweep = 3;
constexpr double kTiltReach = 4;            // sigmas of the window that tells the background's slope
constexpr std::size_t kTiltNeighbours = 4;  // at most,
constexpr double kTiltApart = 3.5;          // and none nearer, in sigmas: neighbours are not known well yet
constexpr double kTiltErrors = 4;           // slopes beyond chance, in standard errors
constexpr double kFarthest = 1.5;           // sigmas that a fit may move from its start
constexpr double kStill = 2e-3;             // voxels: moves that end a spot's fit,
constexpr double kSettled = 0.2;            // and what the last sweep may move it at most
constexpr double kHeld = 1e-3;              // spread of widths that are held
constexpr double kPairSpread = 0.05;        // and of those of pairs
constexpr double kMedianGain = 5.35;        // of six moments, by chance
constexpr double kSplitGain = 25;           // of squares, for the moments and for the second spot
constexpr double kSplitMoment = 0.3;  // of the largest second moment over the typical one, and over the least
constexpr double kElongatedLead = 4;  // of squares, by which an elongated spot is taken for one
constexpr double kMostSplit = 0.3;    // share of spots: more have shapes of their own
constexpr std::size_t kFewest = 10;   // spots to tell the typical one from
constexpr double kElongated = 1.3;
constexpr double kElongatedGain = 20;  // five moments: one in a thousand by chance

struct State {
  Vector p = Vector::Zero();  ///< see Parameter; places in blocks
  Vector start = Vector::Zero();
  Place variance{};  ///< of the place
  bool good = true;
  bool settled = false;
  double last_move = 0;           ///< of the last sweep that moved it, voxels
  std::array<double, 2> width{};  ///< mean and spread of the prior of the widths
  double width_spread = 0;
  Place error_factor{1, 1, 1};
  double split_gain = 0;
  Tilt tilt;  ///< of the background around the start
  Shape shape;
};

class Fitter {
 public:
  Fitter(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
         std::span<const FitStart> starts, const FitOptions& options)
      : threads_(thread_count(execution)),
        dimensions_(filter.dimensions),
        options_(options),
        source_(make_source(execution, frame, filter)) {
    for (std::size_t a = 0; a < 3; ++a)
      half_[a] = source_.sigma[a] > 0
                     ? std::clamp<std::int64_t>(std::lround(kReach * source_.sigma[a]), 2, kMostLanes / 2 - 1)
                     : 0;
    width_ = half_[0] <= 3 ? 8 : 16;
    states_.resize(starts.size());
    for (std::size_t i = 0; i < starts.size(); ++i) {
      State& s = states_[i];
      s.width_spread = options.width_spread;
      s.p[kHeight] = starts[i].amplitude;
      for (std::size_t a = 0; a < 3; ++a)
        s.p[kX + static_cast<int>(a)] = source_.to_blocks(starts[i].place[a], a);
    }
    find_neighbours();
    tell_tilts();
    std::vector<double> background(states_.size());
    each_spot([&](std::size_t i) { background[i] = median_of(window_of(i)); });
    for (std::size_t i = 0; i < states_.size(); ++i) {
      states_[i].p[kBackground] = background[i];
      states_[i].start = states_[i].p;
    }
  }

  std::vector<FittedSpot> fit(std::size_t starts) {
    sweep(Noise{}, true);
    noise_ = noise_of_residuals();
    settle();
    tell_shapes();
    if (options_.split && split_pairs()) {
      find_neighbours();
      settle();
    }
    std::vector<FittedSpot> fitted(states_.size());
    each_spot([&](std::size_t i) { fitted[i] = result(states_[i]); });
    std::size_t kept = std::min(starts, fitted.size());
    for (std::size_t i = kept; i < fitted.size(); ++i)
      if (fitted[i].good) fitted[kept++] = fitted[i];
    fitted.resize(kept);
    return fitted;
  }

 private:
  template <class Body>
  void each_spot(const Body& body) const {
    constexpr std::int64_t kTask = 16;
    const auto n = static_cast<std::int64_t>(states_.size());
    parallel_for(threads_, (n + kTask - 1) / kTask, [&](std::int64_t task) {
      for (std::int64_t i = task * kTask; i < std::min(n, (task + 1) * kTask); ++i)
        body(static_cast<std::size_t>(i));
    });
  }

  SpotModel model_of(const Vector& p) const {
    return {p[kHeight],
            p[kBackground],
            {p[kX], p[kY], p[kZ]},
            {source_.sigma[0] * std::exp(p[kWidthXY]), source_.sigma[1] * std::exp(p[kWidthXY]),
             source_.sigma[2] * std::exp(p[kWidthZ])}};
  }

  double median_of(const Window& window) const {
    std::vector<float> sorted;
    for (std::int64_t row = 0; row < window.count[1] * window.count[2]; ++row)
      for (int x = 0; x < window.lanes; ++x)
        sorted.push_back(window.values[static_cast<std::size_t>(row * width_ + x)]);
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return static_cast<double>(*middle);
  }

  /// Spots whose Gaussians reach into each other's windows.
  void find_neighbours() {
    std::vector<Place> places;
    places.reserve(states_.size());
    for (const State& s : states_) places.push_back({s.p[kX], s.p[kY], s.p[kZ]});
    Place reach{};
    for (std::size_t a = 0; a < 3; ++a) reach[a] = 2 * static_cast<double>(half_[a]) + 1;
    neighbours_ = SpotNeighbours(threads_, places, reach);
  }

  /// Slopes of the background around spots that do not crowd.
  void tell_tilts() {
    Index3 half{};
    for (std::size_t a = 0; a < 3; ++a)
      half[a] = source_.sigma[a] > 0 ? std::lround(kTiltReach * source_.sigma[a]) : 0;
    std::vector<Tilt> tilts(states_.size());
    each_spot([&](std::size_t i) {
      const SpotModel spot = model_of(states_[i].p);
      std::vector<SpotModel> others;
      for (const std::uint32_t other : neighbours_of(i)) others.push_back(model_of(states_[other].p));
      if (others.size() > kTiltNeighbours ||
          std::any_of(others.begin(), others.end(),
                      [&](const SpotModel& o) { return sigmas_between(spot, o) < kTiltApart; }))
        return;
      tilts[i] = tilt_around(source_, spot, others, half, kTiltErrors);
    });
    for (std::size_t i = 0; i < states_.size(); ++i) states_[i].tilt = tilts[i];
  }

  std::span<const std::uint32_t> neighbours_of(std::size_t spot) const { return neighbours_.of(spot); }

  Window window_of(std::size_t spot) const {
    const Vector& p = states_[spot].p;
    Window w = cut_window(source_, {p[kX], p[kY], p[kZ]}, half_, width_);
    take_off(w, states_[spot].tilt);
    for (const std::uint32_t other : neighbours_of(spot))
      if (states_[other].good) take_off(w, model_of(states_[other].p));
    return w;
  }

  Normal normal_at(const Window& w, const State& s, const Vector& p, bool widths_held) const {
    Normal normal = normal_equations(w, model_of(p));
    // The prior of the widths; parameters that the voxels do not tell (no such axis) are held by a weak one.
    for (int i = 0; i < 2; ++i) {
      const int a = kWidthXY + i;
      const double spread = widths_held ? kHeld / std::sqrt(1 + normal.matrix(a, a)) : s.width_spread;
      const double precision = 1 / (spread * spread), off = p[a] - s.width[static_cast<std::size_t>(i)];
      normal.matrix(a, a) += precision;
      normal.slope[a] -= precision * off;
      normal.cost += precision * off * off;
    }
    for (int a = 0; a < kParameters; ++a)
      if (!(normal.matrix(a, a) > 0)) normal.matrix(a, a) = 1;
    return normal;
  }

  /// Some steps of one spot, its neighbours held.
  void fit_one(std::size_t spot, const Noise& noise, bool widths_held, State& out) const {
    out = states_[spot];
    if (!out.good) return;
    if (out.settled && !neighbours_moved(spot)) {
      out.last_move = 0;
      return;
    }
    Window w = window_of(spot);
    Vector& p = out.p;
    set_weights(w, model_of(p), noise);
    Normal here = normal_at(w, out, p, widths_held);
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
      const Normal there = normal_at(w, out, next, widths_held);
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
    const Matrix covariance = here.matrix.llt().solve(Matrix::Identity());
    for (std::size_t a = 0; a < 3; ++a)
      out.variance[a] = covariance(kX + static_cast<int>(a), kX + static_cast<int>(a));
    if (!covariance.allFinite() || !sane(out)) out.good = false;
    out.settled = !widths_held && out.last_move < kStill;
    // Two spots that each make way for the other at once would swing for ever.
    if (!neighbours_of(spot).empty()) p = 0.5 * (p + before);
  }

  bool neighbours_moved(std::size_t spot) const {
    const auto near = neighbours_of(spot);
    return std::any_of(near.begin(), near.end(),
                       [&](std::uint32_t other) { return states_[other].last_move >= kStill; });
  }

  bool sane(const State& s) const {
    if (!s.p.allFinite() || s.p[kHeight] * s.start[kHeight] <= 0) return false;
    for (std::size_t a = 0; a < 3; ++a) {
      const int i = kX + static_cast<int>(a);
      const double most = kFarthest * std::max(source_.sigma[a], 0.7);
      if (std::abs(s.p[i] - s.start[i]) > most) return false;
      if (s.p[i] < -0.75 || s.p[i] > static_cast<double>(source_.size[a]) - 0.25) return false;
    }
    return true;
  }

  void sweep(const Noise& noise, bool widths_held) {
    next_.resize(states_.size());
    each_spot([&](std::size_t i) { fit_one(i, noise, widths_held, next_[i]); });
    std::swap(states_, next_);
  }

  void settle() {
    const auto done = [](const State& s) { return s.settled || !s.good; };
    for (int s = 1; s < kSweeps && !std::all_of(states_.begin(), states_.end(), done); ++s)
      sweep(noise_, false);
  }

  /// Variance against expected value, from the residuals of all windows.
  Noise noise_of_residuals() const {
    constexpr std::size_t kMost = 400;
    std::vector<std::vector<NoiseSample>> parts(std::min(kMost, states_.size()));
    const std::size_t step = std::max<std::size_t>(1, states_.size() / kMost);
    parallel_for(threads_, static_cast<std::int64_t>(parts.size()), [&](std::int64_t k) {
      const std::size_t i = static_cast<std::size_t>(k) * step;
      if (!states_[i].good) return;
      const Window w = window_of(i);
      const SpotModel spot = model_of(states_[i].p);
      const Profiles3 g = profiles_of(w, spot);
      std::size_t row = 0;
      for (std::size_t z = 0; z < static_cast<std::size_t>(w.count[2]); ++z)
        for (std::size_t y = 0; y < static_cast<std::size_t>(w.count[1]);
             ++y, row += static_cast<std::size_t>(width_))
          for (std::size_t x = 0; x < static_cast<std::size_t>(w.lanes); ++x) {
            const float model = static_cast<float>(spot.background) +
                                static_cast<float>(spot.height) * g[0].g[x] * g[1].g[y] * g[2].g[z];
            const float r = w.values[row + x] - model;
            parts[static_cast<std::size_t>(k)].push_back({model + w.light[row + x], r * r});
          }
    });
    std::vector<NoiseSample> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return noise_line(std::move(all));
  }

  /// Medians of the widths of all good spots, ln.
  std::array<double, 2> typical_widths() const {
    std::array<std::vector<double>, 2> widths;
    for (const State& s : states_)
      if (s.good)
        for (std::size_t i = 0; i < 2; ++i) widths[i].push_back(s.p[kWidthXY + static_cast<int>(i)]);
    if (widths[0].size() < kFewest) return {0, 0};
    return {quantile(widths[0], 0.5), quantile(widths[1], 0.5)};
  }

  /// The spot with the typical widths in place of its own.
  SpotModel typical_at(const State& s) const {
    Vector p = s.p;
    p[kWidthXY] = typical_[0];
    p[kWidthZ] = typical_[1];
    return model_of(p);
  }

  void tell_shapes() {
    typical_ = typical_widths();
    std::vector<State>& states = states_;
    each_spot([&](std::size_t i) {
      State& s = states[i];
      if (!s.good) return;
      Window w = window_of(i);
      set_weights(w, model_of(s.p), noise_);
      s.shape = shape_of(w, typical_at(s), dimensions_);
    });
    std::vector<double> gains;
    for (const State& s : states_)
      if (s.good && std::isfinite(s.shape.gain)) gains.push_back(s.shape.gain);
    // Noise that is not white, and spots that are not Gaussian, make all gains larger.
    excess_ = gains.empty() ? 1 : std::max(1.0, quantile(gains, 0.5) / kMedianGain);
  }

  bool looks_double(const State& s) const {
    if (!s.good || s.shape.gain < kSplitGain * excess_ || !s.shape.moments.allFinite()) return false;
    const Eigen::Vector3d moments =
        Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(s.shape.moments).eigenvalues();
    return moments[2] > kSplitMoment && moments[2] - moments[0] > kSplitMoment;
  }

  /// Whether any spot became two.
  bool split_pairs() {
    std::vector<std::size_t> doubtful;
    std::size_t good = 0;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (states_[i].good) ++good;
      if (looks_double(states_[i])) doubtful.push_back(i);
    }
    if (good < kFewest || static_cast<double>(doubtful.size()) > kMostSplit * static_cast<double>(good))
      return false;
    std::vector<std::optional<FittedPair>> pairs(doubtful.size());
    parallel_for(threads_, static_cast<std::int64_t>(doubtful.size()), [&](std::int64_t k) {
      pairs[static_cast<std::size_t>(k)] = pair_in_place_of(doubtful[static_cast<std::size_t>(k)]);
    });
    bool any = false;
    for (std::size_t k = 0; k < doubtful.size(); ++k) {
      if (!pairs[k]) continue;
      any = true;
      states_.push_back(states_[doubtful[k]]);
      take_spot(states_[doubtful[k]], *pairs[k], 0);
      take_spot(states_.back(), *pairs[k], 1);
    }
    return any;
  }

  /// Two spots that explain the window far better than one of any widths along the axes does, and as well as
  /// an elongated one in any direction; else none. The cost of the pair is replaced by how much better.
  std::optional<FittedPair> pair_in_place_of(std::size_t spot) const {
    Window w = window_of(spot);
    const State& s = states_[spot];
    set_weights(w, model_of(s.p), noise_);
    const double one = normal_equations(w, model_of(s.p)).cost;
    std::optional<FittedPair> pair = fit_pair(w, typical_at(s), s.shape.moments);
    if (!pair) return std::nullopt;
    if ((elongated_cost(w, typical_at(s), s.shape.moments) - pair->cost) / excess_ < -kElongatedLead)
      return std::nullopt;
    pair->cost = (one - pair->cost) / excess_;
    if (pair->cost < kSplitGain) return std::nullopt;
    return pair;
  }

  void take_spot(State& s, const FittedPair& pair, std::size_t which) const {
    const SpotModel& spot = pair.spots[which];
    s.p[kHeight] = spot.height;
    s.p[kBackground] = spot.background;
    for (std::size_t a = 0; a < 3; ++a) s.p[kX + static_cast<int>(a)] = spot.place[a];
    s.width = typical_;
    s.width_spread = kPairSpread;
    s.p[kWidthXY] = typical_[0];
    s.p[kWidthZ] = typical_[1];
    s.start = s.p;
    s.settled = false;
    s.last_move = 1;  // its neighbours are to be fitted again
    s.shape = Shape{};
    s.error_factor = pair.error_factor[which];
    s.split_gain = std::sqrt(pair.cost);
  }

  void set_elongation(const State& s, FittedSpot& spot) const {
    std::vector<int> axes;
    for (int a = 0; a < 3; ++a)
      if (source_.sigma[static_cast<std::size_t>(a)] > 0) axes.push_back(a);
    const auto n = static_cast<int>(axes.size());
    Eigen::MatrixXd moments = Eigen::MatrixXd::Identity(n, n);
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < n; ++b)
        moments(a, b) +=
            s.shape.moments(axes[static_cast<std::size_t>(a)], axes[static_cast<std::size_t>(b)]);
    const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(moments).eigenvalues();
    const double least = std::max(0.05, values.minCoeff()), most = std::max(0.05, values.maxCoeff());
    spot.elongation = std::sqrt(most / least);
    spot.elongated = spot.elongation > kElongated && s.shape.deviatoric > kElongatedGain * excess_;
  }

  FittedSpot result(const State& s) const {
    FittedSpot spot;
    spot.good = s.good && s.last_move <= kSettled;
    const SpotModel model = model_of(spot.good ? s.p : s.start);
    spot.amplitude = model.height;
    spot.background = model.background;
    spot.split_gain = s.split_gain;
    spot.elongation = std::numeric_limits<double>::quiet_NaN();
    if (spot.good && s.shape.moments.allFinite()) set_elongation(s, spot);
    for (std::size_t a = 0; a < 3; ++a) {
      const auto block = static_cast<double>(source_.block[a]);
      spot.place[a] = source_.to_voxels(model.place[a], a);
      spot.sigma[a] = model.sigma[a] * block;
      spot.error[a] = !spot.good             ? std::numeric_limits<double>::quiet_NaN()
                      : source_.sigma[a] > 0 ? std::sqrt(s.variance[a]) * s.error_factor[a] * block
                                             : 0;
    }
    return spot;
  }

  int threads_, dimensions_;
  FitOptions options_;
  Source source_;
  Index3 half_{};
  int width_ = 16;
  std::vector<State> states_, next_;  ///< next_: of the sweep under way; kept, since new pages cost more
  SpotNeighbours neighbours_;
  Noise noise_;
  std::array<double, 2> typical_{};  ///< ln widths
  double excess_ = 1;                ///< of the gains of all spots over chance
};

}  // namespace

std::vector<FittedSpot> fit_spots(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                                  std::span<const FitStart> starts, const FitOptions& options) {
  if (starts.empty()) return {};
  return Fitter(execution, frame, filter, starts, options).fit(starts.size());
}

}  // namespace motes::tracking::detect
