#include "tracking/detect/choice/objects.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <motes/base/index.h>

#include "tracking/detect/evidence/evidence.h"

namespace motes::tracking::detect {
namespace {

constexpr double kEmpty = 0.9;       // least share of voxels of the lowest value
constexpr double kDense = 0.003;     // maxima per voxel: more may be specks of one grey level
constexpr double kSingle = 0.1;      // most single voxels, relative to independent ones
constexpr double kMore = 1.5;        // least number of neighbours, likewise
constexpr double kFewLow = 0.1;      // most maxima below half the median (exponential responses: 0.29),
constexpr std::size_t kFewest = 20;  // of at least this many

/// Whether voxels over the lowest value lie side by side, unlike independent voxels, by a sample. They have
/// far more neighbours over it than those independent voxels that have any (single ones may have been
/// repaired).
template <class Voxels>
bool are_side_by_side(const Voxels& voxels, const Shape3& s) {
  const CountingSample sample(voxels.size());
  auto lowest = voxels[0];
  for (std::size_t i = 0; i < sample.count; ++i) lowest = std::min(lowest, voxels[i * sample.step]);
  const std::array<std::int64_t, 3> size{s.nx, s.ny, s.nz}, stride{1, s.nx, s.nx * s.ny};
  std::size_t higher = 0, single = 0, neighbours = 0;
  for (std::size_t i = 0; i < sample.count; ++i) {
    const auto voxel = static_cast<std::int64_t>(i * sample.step);
    const auto is_higher = [&](std::int64_t k) { return voxels[at(k)] > lowest; };
    if (!is_higher(voxel)) continue;
    const std::array<std::int64_t, 3> place{voxel % s.nx, voxel / s.nx % s.ny, voxel / (s.nx * s.ny)};
    std::size_t own = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      if (place[a] > 0 && is_higher(voxel - stride[a])) ++own;
      if (place[a] + 1 < size[a] && is_higher(voxel + stride[a])) ++own;
    }
    ++higher;
    neighbours += own;
    if (own == 0) ++single;
  }
  const auto all = static_cast<double>(higher), mean = static_cast<double>(neighbours) / all;
  const double share = all / static_cast<double>(sample.count);
  const double most = 2 * ((s.nx > 1 ? 1 : 0) + (s.ny > 1 ? 1 : 0) + (s.nz > 1 ? 1 : 0));
  const double alone = std::pow(1 - share, most);  // of independent voxels
  return share < 1 - kEmpty && static_cast<double>(single) <= kSingle * alone * all &&
         mean >= kMore * most * share / (1 - alone);
}

}  // namespace

std::optional<Choice> objects_on_empty_ground(const VolumeFrame& frame, const ScoredMaxima& maxima,
                                              const ChoiceOptions& options) {
  if (options.false_spots || options.comparing || options.polarity != Polarity::bright) return std::nullopt;
  if (static_cast<double>(maxima.size()) > kDense * static_cast<double>(frame.shape.voxels()))
    return std::nullopt;
  if (maxima.size() < kFewest || share_of_lowest(frame) <= kEmpty) return std::nullopt;
  if (!visit_voxels(frame.voxels, [&](const auto& v) { return are_side_by_side(v, frame.shape); }))
    return std::nullopt;
  constexpr double kLeast = -std::numeric_limits<double>::infinity();
  std::vector<LikelySpot> all = maxima.take({{kLeast, kLeast}});
  std::vector<double> responses;
  for (const LikelySpot& one : all) responses.push_back(one.response);
  std::sort(responses.begin(), responses.end());
  const double level = 0.5 * responses[responses.size() / 2];
  const auto low = std::lower_bound(responses.begin(), responses.end(), level) - responses.begin();
  if (static_cast<double>(low) > kFewLow * static_cast<double>(responses.size())) return std::nullopt;
  Choice choice;
  choice.level = std::numeric_limits<double>::infinity();
  for (LikelySpot& one : all) {
    if (one.response < level) continue;
    one.spot.over = one.response / level;
    choice.level = std::min(choice.level, one.spot.score);
    choice.spots.push_back(one.spot);
  }
  return choice;
}

}  // namespace motes::tracking::detect
