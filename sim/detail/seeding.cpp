#include "sim/detail/seeding.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "sim/random.h"
#include "tracking/types/errors.h"

namespace motes::sim::detail {
namespace {

constexpr int kDraws = 1000;

Vec3 uniform_in(Random& random, const Vec3& box) {
  const double x = random.uniform() * box.x, y = random.uniform() * box.y, z = random.uniform() * box.z;
  return {x, y, z};
}

Random stream_of(const MotionOptions& options, std::size_t particle) {
  return Random(options.seed, Stream::seeding, static_cast<std::uint32_t>(particle), 0);
}

/// The positions placed so far, in cells no smaller than the minimum distance: only the 27 cells around a
/// point can hold a neighbour. Cells are no more than about eight a particle, however small the distance is.
class PlacedCells {
 public:
  PlacedCells(const Vec3& box, double distance, std::size_t particles) : distance_(distance) {
    const double most = 2 * std::ceil(std::cbrt(static_cast<double>(particles)));
    // A little larger than the distance, so that rounding never puts near points two cells apart.
    const double cell = distance * (1 + 1e-9);
    const auto count = [&](double length) { return std::clamp(std::floor(length / cell), 1.0, most); };
    cells_ = {count(box.x), count(box.y), count(box.z)};
    per_um_ = {cells_.x / box.x, cells_.y / box.y, cells_.z / box.z};
    head_.assign(static_cast<std::size_t>(cells_.x * cells_.y * cells_.z), -1);
  }

  bool has_room(const Vec3& p, const std::vector<Vec3>& placed) const {
    const auto [z0, z1] = around(p.z * per_um_.z, cells_.z);
    const auto [y0, y1] = around(p.y * per_um_.y, cells_.y);
    const auto [x0, x1] = around(p.x * per_um_.x, cells_.x);
    for (double z = z0; z <= z1; ++z)
      for (double y = y0; y <= y1; ++y)
        for (double x = x0; x <= x1; ++x)
          for (std::int64_t i = head_[cell(x, y, z)]; i >= 0; i = next_[static_cast<std::size_t>(i)])
            if (too_near(p, placed[static_cast<std::size_t>(i)])) return false;
    return true;
  }

  /// `p` is the point that placed.push_back() was just called with.
  void add(const Vec3& p) {
    std::int64_t& head = head_[cell(clamped(p.x * per_um_.x, cells_.x), clamped(p.y * per_um_.y, cells_.y),
                                    clamped(p.z * per_um_.z, cells_.z))];
    next_.push_back(head);
    head = static_cast<std::int64_t>(next_.size()) - 1;
  }

 private:
  static double clamped(double at, double cells) { return std::clamp(std::floor(at), 0.0, cells - 1); }
  static std::pair<double, double> around(double at, double cells) {
    return {clamped(at - 1, cells), clamped(at + 1, cells)};
  }
  std::size_t cell(double x, double y, double z) const {
    return static_cast<std::size_t>((z * cells_.y + y) * cells_.x + x);
  }
  bool too_near(const Vec3& a, const Vec3& b) const {
    const double dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
    return dx * dx + dy * dy + dz * dz < distance_ * distance_;
  }

  double distance_;
  Vec3 cells_, per_um_;  // whole numbers held as doubles; cells per um
  std::vector<std::int64_t> head_, next_;
};

std::vector<Vec3> seed_apart(const MotionOptions& options) {
  const auto particles = static_cast<std::size_t>(options.particles);
  PlacedCells cells(options.box_um, options.min_distance_um, particles);
  std::vector<Vec3> placed;
  placed.reserve(particles);
  while (placed.size() < particles) {
    Random random = stream_of(options, placed.size());
    Vec3 p = uniform_in(random, options.box_um);
    for (int draw = 1; !cells.has_room(p, placed); ++draw) {
      if (draw == kDraws) {
        std::ostringstream message;
        message << "simulation.min_distance_um: found room for only " << placed.size() << " of " << particles
                << " particles " << options.min_distance_um
                << " um apart; lower it or simulation.particles, or enlarge simulation.box_um";
        throw UsageError(message.str());
      }
      p = uniform_in(random, options.box_um);
    }
    placed.push_back(p);
    cells.add(p);
  }
  return placed;
}

}  // namespace

std::vector<Vec3> seed_positions(const Execution& execution, const MotionOptions& options) {
  if (options.min_distance_um > 0) return seed_apart(options);
  std::vector<Vec3> positions(static_cast<std::size_t>(options.particles));
#pragma omp parallel for num_threads(thread_count(execution)) schedule(static)
  for (std::size_t i = 0; i < positions.size(); ++i) {
    Random random = stream_of(options, i);
    positions[i] = uniform_in(random, options.box_um);
  }
  return positions;
}

}  // namespace motes::sim::detail
