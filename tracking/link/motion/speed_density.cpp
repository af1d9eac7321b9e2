#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <motes/tracking/speed_density.h>

namespace motes::tracking {
namespace {

constexpr double kLeastLog = -12, kBinsPerOctave = 4;
/// Most groups, and least number of pairs of lengths for each pair of groups.
constexpr std::size_t kMostGroups = 8, kLeastInPair = 25;
/// Added pairs of independent lengths: as a share, and at least this many.
constexpr double kPseudo = 0.02, kLeastPseudo = 12;

std::vector<std::uint8_t> bins_of(std::span<const double> lengths) {
  std::vector<std::uint8_t> out;
  out.reserve(lengths.size());
  for (const double length : lengths) out.push_back(static_cast<std::uint8_t>(SpeedDensity::bin_of(length)));
  return out;
}

/// Sets the group of each bin; groups have equal numbers of lengths. `lengths`: the bins of lengths.
template <std::size_t N>
void set_groups(const std::vector<std::uint8_t>& lengths, std::size_t groups,
                std::array<std::uint8_t, N>& out) {
  std::array<double, N> counts{};
  for (const std::uint8_t bin : lengths) counts[bin] += 1;
  double before = 0;
  for (std::size_t bin = 0; bin < N; ++bin) {
    const double middle = (before + counts[bin] / 2) / static_cast<double>(lengths.size());
    out[bin] = static_cast<std::uint8_t>(
        std::min(groups - 1, static_cast<std::size_t>(middle * static_cast<double>(groups))));
    before += counts[bin];
  }
}

}  // namespace

std::size_t SpeedDensity::bin_of(double length) {
  const double place = (std::log2(length) - kLeastLog) * kBinsPerOctave;
  return place > 0 ? std::min(kBins - 1, static_cast<std::size_t>(place)) : 0;
}

SpeedDensity::SpeedDensity(std::span<const double> lengths, std::span<const double> beside) {
  const auto n = static_cast<double>(lengths.size());
  groups_ = std::min(kMostGroups, static_cast<std::size_t>(std::sqrt(n / static_cast<double>(kLeastInPair))));
  if (groups_ < 2) return;
  const std::vector<std::uint8_t> bins = bins_of(lengths), bins_beside = bins_of(beside);
  set_groups(bins, groups_, group_);
  set_groups(bins_beside, groups_, group_beside_);
  std::vector<double> counts(groups_ * groups_, 0), here(groups_, 0), there(groups_, 0);
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    const std::size_t a = group_[bins[k]], b = group_beside_[bins_beside[k]];
    counts[a * groups_ + b] += 1, here[a] += 1, there[b] += 1;
  }
  const double pseudo = std::max(kLeastPseudo, kPseudo * n);
  for (std::size_t a = 0; a < groups_; ++a)
    for (std::size_t b = 0; b < groups_; ++b) {
      const double share = here[a] / n * (there[b] / n);
      log_ratio_.push_back(
          share > 0 ? std::log((counts[a * groups_ + b] + pseudo * share) / ((n + pseudo) * share)) : 0);
    }
}

}  // namespace motes::tracking
