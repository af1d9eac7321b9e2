#include "tracking/motion/rigid_pair.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <motes/base/index.h>
#include <motes/tracking/radial_density.h>
#include <motes/tracking/series_model.h>

#include "tracking/motion/triangle_rotation.h"

namespace motes::tracking {
namespace {

constexpr double kLeastScale = 0.01, kScaleRatio = 2;
/// Assumed share of detections without a partner.
constexpr double kUnpaired = 0.1;
/// Number of detections (anchors) that make hypotheses; choices of neighbours for each; targets in the next
/// frame for an anchor; neighbours of a target that are tried; and detections that judge a hypothesis.
constexpr std::size_t kAnchors = 6, kChoices = 2, kTargets = 32, kAround = 32, kJudges = 32;
/// If there are more detections, half of the anchors are from the middle.
constexpr std::size_t kFewPoints = 50;
/// Tolerance of distances, in spacings.
constexpr double kTolerance = 0.2;
/// If more triples than this fit a group's distances (about 250 do by chance), the group is not used: its
/// points are much closer to each other than the spacing.
constexpr std::size_t kMostTried = 2048;
/// Number of neighbours that judge a hypothesis in all, and first. Near means within kNear spacings. A share
/// kAgreed of the first ones must be near.
constexpr std::size_t kGroup = 24, kFirst = 6;
constexpr double kNear = 0.3, kAgreed = 0.5;
/// Tolerances of rounding errors of distances, and of places.
constexpr double kSlack = 1 + 1e-9, kNearly = 1 + 1e-5;
/// Number of detections that make hypotheses of shifts.
constexpr std::size_t kShiftAnchors = 8;
/// Number of hypotheses that are kept of one choice of neighbours, and in all.
constexpr std::size_t kKeptOfGroup = 3, kKept = 6;
/// A motion that fits a group is then fitted to kGrowth times as many detections around it each time, at this
/// scale in spacings.
constexpr std::size_t kGrowth = 4, kMostGrown = 1024, kMostFitted = 512;
constexpr double kGrowthScale = 0.1;
/// The growth stops if a smaller share of the detections lies near others; by chance a tenth does.
constexpr double kLeastNear = 0.25;
/// Weights of the motion before as a prior: weak, for parameters that few points do not determine; and so
/// strong that the rotation is kept.
constexpr double kHint = 1e-6, kStiff = 1e9;

double best_of(const ByScale& gain) { return *std::max_element(gain.begin(), gain.end()); }
bool likelier(const RigidHypothesis& a, const RigidHypothesis& b) {
  return best_of(a.gain) > best_of(b.gain);
}

void keep_likeliest(std::vector<RigidHypothesis>& all, std::size_t most) {
  std::stable_sort(all.begin(), all.end(), likelier);
  if (all.size() > most) all.resize(most);
}

}  // namespace

/// A detection and its nearest neighbours, nearest first.
struct RigidPairSearch::Group {
  std::vector<std::size_t> members;
  const NearCells& cells;                ///< of the next frame, for distances that count as near
  std::vector<std::size_t> around = {};  ///< the detection and further neighbours, nearest first
};

int flat_axis(std::span<const Vec3> points, int dims) {
  if (dims != 2 || points.empty()) return -1;
  int axis = 0;
  for (double Vec3::*const along : {&Vec3::x, &Vec3::y, &Vec3::z}) {
    if (std::all_of(points.begin(), points.end(),
                    [&](const Vec3& p) { return p.*along == points.front().*along; }))
      return axis;
    ++axis;
  }
  return -1;
}

RigidPairSearch::RigidPairSearch(std::span<const Vec3> from, std::span<const Vec3> to, double density,
                                 double spacing, int dims, int flat)
    : from_(from), to_(to), near_from_(from), near_(to), spacing_(spacing), dims_(dims), flat_(flat) {
  for (std::size_t s = 0; s < kRigidScales; ++s) {
    scale_[s] = kLeastScale * std::pow(kScaleRatio, static_cast<double>(s)) * spacing_;
    per_chance_[s] = 1 / (std::pow(scale_[s], dims_) * density);
  }
}

double RigidPairSearch::off(const Vec3& place) const {
  std::size_t nearest = 0;
  double squared = 0;
  near_.nearest(place, 1, &nearest, &squared);
  return std::sqrt(squared);
}

/// The distance to the nearest detection of the next frame if it counts as near; otherwise any larger number.
double RigidPairSearch::off_if_near(const NearCells& cells, const Vec3& place) const {
  if (cells.known()) return std::sqrt(cells.squared(place));
  const double most = kNear * spacing_ * kSlack;
  return std::sqrt(near_.nearest_squared(place, most * most));
}

NearCells RigidPairSearch::cells() const { return {to_, kNear * spacing_ * kNearly}; }

/// At most `most` detections, evenly spaced in their order.
std::vector<std::size_t> RigidPairSearch::spread(std::size_t most) const {
  const std::size_t n = std::min(from_.size(), most);
  std::vector<std::size_t> out(n);
  for (std::size_t k = 0; k < n; ++k) out[k] = k * from_.size() / n;
  return out;
}

/// Detections evenly spaced in the sample, and in a large one as many in its middle: near the axis of a
/// rotation displacements are small.
std::vector<std::size_t> RigidPairSearch::anchors() const {
  if (from_.size() <= kFewPoints) return spread(kAnchors);
  std::vector<std::size_t> out = spread(kAnchors / 2), central(kAnchors - out.size());
  Vec3 middle;
  const double f = 1 / static_cast<double>(from_.size());
  for (const Vec3& p : from_) middle = {middle.x + f * p.x, middle.y + f * p.y, middle.z + f * p.z};
  std::vector<double> squared(central.size());
  near_from_.nearest(middle, central.size(), central.data(), squared.data());
  out.insert(out.end(), central.begin(), central.end());
  return out;
}

RigidHypothesis RigidPairSearch::judged(const RigidMotion& motion,
                                        std::span<const std::size_t> makers) const {
  RigidHypothesis out{motion, {}};
  LikelihoodRatios ratios;
  for (const std::size_t k : spread(kJudges)) {
    if (std::find(makers.begin(), makers.end(), k) != makers.end()) continue;
    const double far = off(motion.of(from_[k]));
    for (std::size_t s = 0; s < kRigidScales; ++s)
      ratios.times(s, kUnpaired + (1 - kUnpaired) * student_density(far / scale_[s], dims_) * per_chance_[s]);
    ratios.next(out.gain);
  }
  ratios.add(out.gain);
  return out;
}

/// The share of neighbours that lie near detections of the next frame: of the first few (`quick`; 0 as soon
/// as too few can), or of all.
double RigidPairSearch::agreement(const Group& group, std::span<const std::size_t> makers,
                                  const RigidMotion& motion, bool quick) const {
  double near = 0, asked = 0;
  for (const std::size_t k : group.members) {
    if (std::find(makers.begin(), makers.end(), k) != makers.end()) continue;
    const double far = off_if_near(group.cells, motion.of(from_[k])) / (kNear * spacing_);
    near += quick ? static_cast<double>(far < 1) : std::max(0.0, 1 - far);
    if (asked += 1; quick && asked >= kFirst) break;
    if (quick && asked - near > (1 - kAgreed) * kFirst) return 0;
  }
  return quick && asked > 0 ? near / asked : near;
}

/// A quick test that rejects most hypotheses. False only if the agreement of the first few is below kAgreed
/// or that of all is at most `least`. `motion` may have rounding errors.
bool RigidPairSearch::may_agree(const Group& group, std::span<const std::size_t> makers,
                                const RigidMotion& motion, double least) const {
  const double per_near = 1 / (kNear * spacing_);
  const auto all = static_cast<double>(group.members.size() - makers.size());
  double near = 0, asked = 0, most = 0;
  for (const std::size_t k : group.members) {
    if (std::find(makers.begin(), makers.end(), k) != makers.end()) continue;
    const double far = off_if_near(group.cells, motion.of(from_[k])) * per_near;
    if (far < kNearly) near += 1, most += kNearly - far;
    asked += 1;
    if (asked <= kFirst && asked - near > (1 - kAgreed) * kFirst) return false;
    if (asked == kFirst && near < kAgreed * kFirst) return false;
    if (most + kNearly * (all - asked) <= least) return false;
  }
  return true;
}

/// `motion`, fitted again to the points and the nearest detections of the next frame. `cells`: for distances
/// that count as near, or none. `share_near`, if given: the share of the points that were near others before
/// the fit.
RigidMotion RigidPairSearch::closer(const RigidMotion& motion, std::span<const std::size_t> points,
                                    double scale, double stiff, const NearCells& cells,
                                    double* share_near) const {
  RigidSums sums(from_[points.front()]);
  const double near = kNear * spacing_ * kNear * spacing_;
  double count = 0;
  for (const std::size_t k : points) {
    const Vec3 place = motion.of(from_[k]);
    NearCells::Found nearest;
    if (cells.known()) nearest = cells.nearest(place);
    if (!(nearest.squared <= near)) {
      std::size_t number = 0;
      near_.nearest(place, 1, &number, &nearest.squared);
      nearest.at = to_[number];
    }
    const double root = 1 / (1 + nearest.squared / (kStudentFreedom * scale * scale));
    sums.add(from_[k], nearest.at, root * root);
    count += nearest.squared < near;
  }
  if (share_near != nullptr) *share_near = count / static_cast<double>(points.size());
  return fit_rigid(sums, flat_, {motion, stiff * spacing_ * spacing_, kHint});
}

RigidMotion RigidPairSearch::grown(RigidMotion motion, const Group& group) const {
  for (std::size_t size = kGroup;; size *= kGrowth) {
    const auto part = std::span(group.around).first(std::min(size, group.around.size()));
    double share_near = 1;
    for (int round = 0; round < 2; ++round) {
      motion = closer(motion, part, kGrowthScale * spacing_, kHint, group.cells, &share_near);
      if (share_near < kLeastNear) return motion;
    }
    if (part.size() == group.around.size()) break;
  }
  return motion;
}

RigidMotion RigidPairSearch::refined(RigidMotion motion, std::size_t scale, int rounds) const {
  const std::vector<std::size_t> points = spread(kMostFitted);
  for (int round = 0; round < rounds; ++round) motion = closer(motion, points, scale_[scale], kHint, {{}, 0});
  return motion;
}

void RigidPairSearch::of_group(const Group& group, std::span<const std::size_t> makers,
                               std::vector<RigidHypothesis>& out) const {
  const Vec3 &a = from_[makers[0]], &b = from_[makers[1]], &c = from_[makers.back()];
  const double ab = length_of(b - a), ac = length_of(c - a), bc = length_of(c - b);
  const double slack = kTolerance * spacing_;
  // A triangle smaller than the tolerance of distances fits every other small one.
  if (std::max({ab, ac, bc}) <= slack) return;
  std::vector<std::size_t> targets(std::min(to_.size(), kTargets)), around(std::min(to_.size(), kAround));
  std::vector<double> squared(std::max(targets.size(), around.size()));
  near_.nearest(a, targets.size(), targets.data(), squared.data());
  // The kKeptOfGroup with the best agreement; of equal ones the first found.
  std::vector<std::pair<double, RigidMotion>> found;
  std::size_t tried = 0;
  const auto consider = [&](const std::array<std::size_t, 3>& to) {
    if (++tried > kMostTried) return;
    const double least = found.size() < kKeptOfGroup ? 0 : found.back().first;
    if (dims_ == 3 && group.cells.known()) {
      const auto rough = triangle_rotation({a, b, c}, {to_[to[0]], to_[to[1]], to_[to[2]]});
      if (rough && !may_agree(group, makers, *rough, least)) return;
    }
    RigidSums sums(a);
    for (std::size_t k = 0; k < makers.size(); ++k) sums.add(from_[makers[k]], to_[to[k]], 1);
    const RigidMotion motion = fit_rigid(sums, flat_);
    if (agreement(group, makers, motion, true) < kAgreed) return;
    const double agreed = agreement(group, makers, motion, false);
    const auto less = [&](const auto& one) { return one.first < agreed; };
    found.emplace(std::find_if(found.begin(), found.end(), less), agreed, motion);
    if (found.size() > kKeptOfGroup) found.pop_back();
  };
  std::vector<std::size_t> seconds, thirds;
  for (const std::size_t first : targets) {
    if (tried > kMostTried) return;
    near_.nearest(to_[first], around.size(), around.data(), squared.data());
    seconds.clear(), thirds.clear();
    for (const std::size_t k : around) {
      if (k == first) continue;
      const double far = length_of(to_[k] - to_[first]);
      if (std::abs(far - ab) <= slack) seconds.push_back(k);
      if (std::abs(far - ac) <= slack) thirds.push_back(k);
    }
    for (const std::size_t second : seconds) {
      if (dims_ == 2) {
        consider({first, second, second});
        continue;
      }
      for (const std::size_t third : thirds)
        if (third != second && std::abs(length_of(to_[third] - to_[second]) - bc) <= slack)
          consider({first, second, third});
    }
  }
  if (tried > kMostTried) return;
  const double price = std::log(static_cast<double>(std::max<std::size_t>(tried, 1)));
  for (const auto& [agreed, motion] : found) {
    RigidHypothesis one = judged(grown(motion, group), makers);
    for (double& gain : one.gain) gain -= price;
    out.push_back(one);
  }
}

std::vector<RigidHypothesis> RigidPairSearch::free(const NearCells& cells) const {
  std::vector<RigidHypothesis> out;
  const std::size_t least = dims_ == 2 ? 3 : 4;
  if (from_.size() < least || to_.size() < least) return out;
  for (const std::size_t anchor : anchors()) {
    Group group{std::vector<std::size_t>(std::min(from_.size(), kGroup)), cells};
    group.around.resize(std::min(from_.size(), kMostGrown));
    std::vector<double> squared(group.around.size());
    near_from_.nearest(from_[anchor], group.members.size(), group.members.data(), squared.data());
    near_from_.nearest(from_[anchor], group.around.size(), group.around.data(), squared.data());
    const std::size_t last = std::min<std::size_t>(group.members.size() - 1, 8);
    for (std::size_t choice = 0; choice < kChoices && choice + 1 < last; ++choice) {
      const std::size_t b = group.members[last - choice];
      // The third member is chosen for a large triangle.
      std::size_t c = b;
      double most = -1;
      for (std::size_t k = 1; k <= last; ++k) {
        const std::size_t one = group.members[k];
        if (one == b || (choice > 0 && k == last)) continue;
        const Vec3 area = cross(from_[b] - from_[anchor], from_[one] - from_[anchor]);
        if (length_of(area) > most) most = length_of(area), c = one;
      }
      const std::array<std::size_t, 3> makers{anchor, b, c};
      of_group(group, std::span(makers).first(dims_ == 2 ? 2 : 3), out);
    }
  }
  keep_likeliest(out, kKept);
  return out;
}

std::vector<RigidHypothesis> RigidPairSearch::shifted(const RigidMotion& motion) const {
  std::vector<RigidHypothesis> out;
  std::vector<std::size_t> targets(std::min(to_.size(), kTargets));
  std::vector<double> squared(targets.size());
  const NearCells near = cells();
  const Group few{spread(kShiftAnchors), near};
  for (const std::size_t anchor : few.members) {
    const Vec3 turned = motion.turned(from_[anchor]);
    near_.nearest(motion.of(from_[anchor]), targets.size(), targets.data(), squared.data());
    for (const std::size_t target : targets) {
      const RigidMotion moved{motion.rotation, to_[target] - turned};
      if (agreement(few, std::span(&anchor, 1), moved, true) < kAgreed) continue;
      out.push_back(
          judged(closer(moved, few.members, kGrowthScale * spacing_, kStiff, near), std::span(&anchor, 1)));
      for (double& gain : out.back().gain) gain -= std::log(static_cast<double>(targets.size()));
    }
  }
  keep_likeliest(out, kKept);
  return out;
}

}  // namespace motes::tracking
