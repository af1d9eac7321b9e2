/// Positions of the particles in the first frame.

#include "sim/motion/seeding.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <sstream>

#include <motes/base/errors.h>
#include <motes/base/random.h>

#include "sim/motion/records.h"

namespace motes::sim::detail {
namespace {

constexpr int kDraws = 1000;
/// Draws between two calls of stop: well below a millisecond.
constexpr std::size_t kDrawsAQuestion = 4096;

double cube(Random& random) { return 2 * random.uniform() - 1; }

Vec3 uniform_in_unit_ball(Random& random) {
  while (true) {
    const double x = cube(random), y = cube(random), z = cube(random);
    if (x * x + y * y + z * z <= 1) return {x, y, z};
  }
}

/// Draws places by options.seeding.
class Places {
 public:
  Places(const MotionOptions& options, const Domain& domain) : options_(options), domain_(domain) {
    if (options.seeding != Seeding::clusters) return;
    for (std::int64_t c = 0; c < options.clusters; ++c) {
      Random random(options.seed, RandomStream::clusters, static_cast<std::uint32_t>(c), 0);
      centres_.push_back(uniform(random));
    }
  }

  Vec3 draw(Random& random) const {
    switch (options_.seeding) {
      case Seeding::uniform:
        return uniform(random);
      case Seeding::clusters:
        return in_cluster(random);
      case Seeding::ball:
        return around_centre(uniform_in_unit_ball(random));
      case Seeding::shell:
        return on_shell(random);
      case Seeding::plane:
        break;
    }
    Vec3 place = uniform(random);
    place.z = 0.5 * options_.box_um.z;
    return place;
  }

 private:
  Vec3 uniform(Random& random) const {
    const Vec3 &lower = domain_.lower, &size = domain_.size;
    const double x = lower.x + random.uniform() * size.x, y = lower.y + random.uniform() * size.y,
                 z = lower.z + random.uniform() * size.z;
    return {x, y, z};
  }

  Vec3 in_cluster(Random& random) const {
    const auto c = static_cast<std::size_t>(random.uniform() * static_cast<double>(centres_.size()));
    Vec3 place;
    for (int draw = 0; draw < kDraws; ++draw) {
      place = centres_[c] + options_.cluster_radius_um * uniform_in_unit_ball(random);
      if (inside(place - domain_.lower, domain_.size)) return place;
    }
    // If the ball is large compared with the box, its outer part is folded back.
    double unused = 0;
    Vec3 from = place - domain_.lower;
    reflect(from.x, unused, domain_.size.x);
    reflect(from.y, unused, domain_.size.y);
    reflect(from.z, unused, domain_.size.z);
    return from + domain_.lower;
  }

  Vec3 around_centre(const Vec3& unit) const {
    const Vec3 &box = options_.box_um, &radius = options_.seeding_radius_um;
    return {0.5 * box.x + unit.x * radius.x, 0.5 * box.y + unit.y * radius.y,
            0.5 * box.z + unit.z * radius.z};
  }

  /// Uniform by area: a direction is accepted in proportion to the stretch of area by the ellipsoid.
  Vec3 on_shell(Random& random) const {
    const Vec3& radius = options_.seeding_radius_um;
    const double least = std::min({radius.x, radius.y, radius.z});
    while (true) {
      const Vec3 unit = random_unit_vector(random);
      const Vec3 normal{unit.x / radius.x, unit.y / radius.y, unit.z / radius.z};
      if (random.uniform() <= length_of(normal) * least) return around_centre(unit);
    }
  }

  const MotionOptions& options_;
  Domain domain_;
  std::vector<Vec3> centres_;
};

Random stream_of(const MotionOptions& options, std::size_t particle) {
  return Random(options.seed, RandomStream::seeding, static_cast<std::uint32_t>(particle), 0);
}

/// The positions placed so far, in cells no smaller than the minimum distance, so that only the 27 cells
/// around a point can have a neighbour; in a periodic domain also those at the other end. At most about eight
/// cells per particle, also for a small distance.
class PlacedCells {
 public:
  PlacedCells(const Domain& domain, double distance, std::size_t particles, bool periodic)
      : distance_(distance), lower_(domain.lower), size_(domain.size), periodic_(periodic) {
    const Vec3& box = domain.size;
    const double most = 2 * std::ceil(std::cbrt(static_cast<double>(particles)));
    // Slightly larger than the distance, so that rounding never separates near points by two cells.
    const double cell = distance * (1 + 1e-9);
    const auto count = [&](double length) { return std::clamp(std::floor(length / cell), 1.0, most); };
    cells_ = {count(box.x), count(box.y), count(box.z)};
    per_um_ = {cells_.x / box.x, cells_.y / box.y, cells_.z / box.z};
    head_.assign(static_cast<std::size_t>(cells_.x * cells_.y * cells_.z), -1);
  }

  bool has_room(const Vec3& p, const std::vector<Vec3>& placed) const {
    const Around z = around((p.z - lower_.z) * per_um_.z, cells_.z);
    const Around y = around((p.y - lower_.y) * per_um_.y, cells_.y);
    const Around x = around((p.x - lower_.x) * per_um_.x, cells_.x);
    for (double k = z.first; k <= z.last; ++k)
      for (double j = y.first; j <= y.last; ++j)
        for (double i = x.first; i <= x.last; ++i)
          for (std::int64_t n = head_[cell(wrapped(i, cells_.x), wrapped(j, cells_.y), wrapped(k, cells_.z))];
               n >= 0; n = next_[static_cast<std::size_t>(n)])
            if (too_near(p, placed[static_cast<std::size_t>(n)])) return false;
    return true;
  }

  /// `p` is the point that was just added by placed.push_back().
  void add(const Vec3& p) {
    std::int64_t& head = head_[cell(clamped((p.x - lower_.x) * per_um_.x, cells_.x),
                                    clamped((p.y - lower_.y) * per_um_.y, cells_.y),
                                    clamped((p.z - lower_.z) * per_um_.z, cells_.z))];
    next_.push_back(head);
    head = static_cast<std::int64_t>(next_.size()) - 1;
  }

 private:
  static double clamped(double at, double cells) { return std::clamp(std::floor(at), 0.0, cells - 1); }
  struct Around {
    double first, last;
  };
  Around around(double at, double cells) const {
    if (!periodic_) return {clamped(at - 1, cells), clamped(at + 1, cells)};
    if (cells < 3) return {0, cells - 1};
    const double here = clamped(at, cells);
    return {here - 1, here + 1};
  }
  static double wrapped(double cell, double cells) {
    return cell < 0 ? cell + cells : cell >= cells ? cell - cells : cell;
  }
  std::size_t cell(double x, double y, double z) const {
    return static_cast<std::size_t>((z * cells_.y + y) * cells_.x + x);
  }
  bool too_near(const Vec3& a, const Vec3& b) const {
    const auto apart = [&](double d, double length) {
      const double across = std::abs(d);
      return periodic_ ? std::min(across, length - across) : across;
    };
    const double dx = apart(a.x - b.x, size_.x), dy = apart(a.y - b.y, size_.y),
                 dz = apart(a.z - b.z, size_.z);
    return dx * dx + dy * dy + dz * dz < distance_ * distance_;
  }

  double distance_;
  Vec3 lower_, size_;
  bool periodic_;
  Vec3 cells_, per_um_;  // integers stored as doubles; cells per um
  std::vector<std::int64_t> head_, next_;
};

void seed_apart(const MotionOptions& options, const Domain& domain, const Places& places,
                std::size_t particles, const StopAsked& stop, std::vector<Vec3>& placed) {
  std::size_t drawn = 0;
  const auto draw_from = [&](Random& random) {
    if (drawn++ % kDrawsAQuestion == 0 && stop && stop()) throw_stopped();
    return places.draw(random);
  };
  PlacedCells cells(domain, options.min_distance_um, particles, options.boundary == Boundary::periodic);
  while (placed.size() < particles) {
    Random random = stream_of(options, placed.size());
    Vec3 p = draw_from(random);
    for (int draw = 1; !cells.has_room(p, placed); ++draw) {
      if (draw == kDraws) {
        std::ostringstream message;
        message << "simulation.min_distance_um: there was room for only " << placed.size() << " of "
                << particles << " particles " << options.min_distance_um
                << " um apart; lower it or simulation.particles, or enlarge simulation.box_um";
        throw UsageError(message.str());
      }
      p = draw_from(random);
    }
    placed.push_back(p);
    cells.add(p);
  }
}

}  // namespace

std::vector<Vec3> seed_positions(const Execution& execution, const MotionOptions& options,
                                 const Domain& domain, std::size_t initial, std::size_t later,
                                 const StopAsked& stop) {
  const Places places(options, domain);
  std::vector<Vec3> positions;
  positions.reserve(initial + later);
  if (options.min_distance_um > 0) seed_apart(options, domain, places, initial, stop, positions);
  const std::size_t placed = positions.size();
  positions.resize(initial + later);
  std::atomic<bool> stopped{false};  // no exception may leave the threads' loop
#pragma omp parallel for num_threads(thread_count(execution)) schedule(static)
  for (std::size_t i = placed; i < positions.size(); ++i) {
    if (i % kDrawsAQuestion == 0 && stop && stop()) stopped.store(true, std::memory_order_relaxed);
    if (stopped.load(std::memory_order_relaxed)) continue;
    Random random = stream_of(options, i);
    positions[i] = places.draw(random);
  }
  if (stopped) throw_stopped();
  return positions;
}

}  // namespace motes::sim::detail
