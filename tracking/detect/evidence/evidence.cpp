/// The window's model is y = a g + b + c.x: g a Gaussian spot integrated over voxels, b a constant, c a
/// slope. With rho the correlation of y and g once constant and slope are taken out of both,
///   t = sign(rho) sqrt(-dof ln(1 - rho^2))
/// is the signed root of twice the log-likelihood ratio of "a spot" to "no spot" for Gaussian noise of
/// unknown strength. Offset, gain, local noise, slope and bright neighbours are all estimated from the window
/// itself, so t has nearly the same distribution on any white noise.
///
/// A box window makes everything separable: centred coordinates are orthogonal to each other and to the
/// constant even where the frame's edge cuts the box, so no system is solved, and all sums over g are
/// products of sums along the axes. Only five sums over the voxels remain (y, y^2, y g, y dy, y dz; y dx
/// comes from the lanes of y). They are kept for each column of the box and added up at the end in a fixed
/// order, so the vector width does not change the result.
///
/// Single voxels (hot voxels, single photons): the same correlation with one voxel in place of g. If it is
/// larger, the score is 0.
///
/// Roundness: the ratio e of the smallest eigenvalue of the response's Hessian to that of an ideal spot. The
/// score is t sqrt(min(e / .5, 1)), so that edges and filaments, which curve only along some axes, score low.
/// Axes along which the extremum lies on the frame's face are ignored.
///
/// Frames of which most voxels hold the lowest value (photon counting): their noise is far from Gaussian, and
/// two photons side by side look like a spot. The score is then at most the signed root of twice the Poisson
/// log-likelihood ratio for different counts in the box's core and around it. The unit of counts is the step
/// from the lowest value to the next. If that next value is rare, the lowest value is padding.

#include "tracking/detect/evidence/evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <type_traits>

#include <motes/base/function_clones.h>
#include <motes/base/parallel_for.h>

#include "tracking/detect/filter/blocks.h"

namespace motes::tracking::detect {
namespace {

constexpr int kMostLanes = 16;
constexpr double kCoreReach = 1.5;  // sigmas from the middle of the box to the sides of its core
constexpr double kZeroHeavy = 0.4;  // least share of voxels of the lowest value in frames of counts,
constexpr double kSingles = 0.1;    // and of voxels of the next value among the others
constexpr std::int64_t kTask = 256;
constexpr std::int64_t kAhead = 3;  // number of extrema whose memory is prefetched

/// Blocks from the middle of a box to its sides.
int half_of_box(double sigma, double reach) {
  return std::min(kMostLanes / 2 - 1, std::max(2, static_cast<int>(std::lround(reach * sigma))));
}

/// The profile of a spot along one axis for each sub-voxel place, relative to the value at its middle voxel.
void make_profiles(double sigma, double reach, rules::EvidenceAxis& axis, std::vector<float>& values,
                   std::vector<rules::AxisSums>& whole) {
  if (sigma == 0) {
    values.assign(rules::kPhases + 1, 1.0F);
    whole.resize(rules::kPhases + 1);
  } else {
    axis.half = half_of_box(sigma, reach);
    axis.core = std::clamp(static_cast<int>(std::lround(kCoreReach * sigma)), 1, axis.half - 1);
    const double k = 1 / (sigma * std::numbers::sqrt2);
    const double middle = std::erf(0.5 * k);
    for (int phase = 0; phase <= rules::kPhases; ++phase) {
      const double offset = static_cast<double>(phase) / rules::kPhases - 0.5;
      for (int i = -axis.half; i <= axis.half; ++i)
        values.push_back(static_cast<float>(
            0.5 * (std::erf((i - offset + 0.5) * k) - std::erf((i - offset - 0.5) * k)) / middle));
    }
    const std::int64_t n = 2 * axis.half + 1;
    for (std::int64_t phase = 0; phase <= rules::kPhases; ++phase)
      whole.push_back(rules::axis_sums(values.data() + phase * n, n));
  }
  axis.profiles = values.data();
  axis.whole = whole.data();
}

template <class At>
Counting counting_from(std::size_t sampled, const At& at) {
  double lowest = at(0), second = std::numeric_limits<double>::infinity();
  std::size_t equal = 0, equal_second = 0;
  for (std::size_t i = 0; i < sampled; ++i) {
    const double v = at(i);
    if (v < lowest) {
      second = lowest;
      equal_second = equal;
      lowest = v;
      equal = 0;
    } else if (v > lowest && v < second) {
      second = v;
      equal_second = 0;
    }
    if (v == lowest) ++equal;
    if (v == second) ++equal_second;
  }
  const auto share = [](std::size_t part, std::size_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  if (share(equal, sampled) > kZeroHeavy && equal < sampled &&
      share(equal_second, sampled - equal) > kSingles)
    return {lowest, second - lowest};
  return {};
}

/// Sums over a box are kept per column (x).
using rules::EvidenceBox;

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
                                               const EvidenceBox& box, const float* gy, const float* gz,
                                               float offset, Columns& out) {
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
  MOTES_CLONES void sum_box_of(const T* voxels, std::int64_t nx, std::int64_t ny, const EvidenceBox& box, \
                               const float* gy, const float* gz, float offset, Columns& out, int lanes) { \
    if (lanes == 8) return sum_columns<8>(voxels, nx, ny, box, gy, gz, offset, out);                      \
    if (lanes == 16) return sum_columns<16>(voxels, nx, ny, box, gy, gz, offset, out);                    \
    for (int i = 0; i < lanes; ++i) { /* frames narrower than a vector */                                 \
      Columns one;                                                                                        \
      EvidenceBox column = box;                                                                           \
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

/// The sums over the box's columns, in order, and the value at the centre minus the offset.
struct Summed {
  rules::BoxSums sums;
  float own = 0;
};

/// Rows are read as whole vectors. If the frame ends to the right of the box, the vectors begin further left.
template <class T>
Summed sum_box(const T* voxels, const Index3& size, int half, const EvidenceBox& box) {
  Columns columns;
  const int wanted = half <= 3 ? 8 : 16;
  EvidenceBox read = box;
  std::size_t skipped = 0;
  int lanes = wanted;
  if (box.first[0] + wanted > size[0]) {
    read.first[0] = std::max<std::int64_t>(0, size[0] - wanted);
    skipped = static_cast<std::size_t>(box.first[0] - read.first[0]);
    lanes = static_cast<int>(std::min<std::int64_t>(wanted, size[0]));
  }
  const auto index = [&](const Index3& i) { return (i[2] * size[1] + i[1]) * size[0] + i[0]; };
  const auto offset = static_cast<float>(voxels[index(box.first)]);
  sum_box_of(voxels, size[0], size[1], read, box.g[1], box.g[2], offset, columns, lanes);
  Summed summed;
  summed.own = static_cast<float>(voxels[index(box.centre)]) - offset;
  const double middle = 0.5 * (box.axis[0].n - 1);
  for (std::size_t i = 0; i < static_cast<std::size_t>(box.count[0]); ++i) {
    const std::size_t c = i + skipped;
    summed.sums.add({columns.y[c], columns.yy[c], columns.y_dy[c], columns.y_dz[c], columns.yg[c]},
                    box.g[0][i], static_cast<double>(i) - middle);
  }
  return summed;
}

/// Prefetches the memory that evidence_of will read; waiting for it would take most of the time.
void prefetch(const rules::EvidenceModel& model, const Source& source, const ResponseView& response,
              const Voxel& voxel) {
  const auto each_row = [](const Index3& at, const Index3& size, int y_half, int z_half, const auto& use) {
    for (std::int64_t z = std::max<std::int64_t>(0, at[2] - z_half);
         z <= std::min(size[2] - 1, at[2] + z_half); ++z)
      for (std::int64_t y = std::max<std::int64_t>(0, at[1] - y_half);
           y <= std::min(size[1] - 1, at[1] + y_half); ++y)
        use((z * size[1] + y) * size[0] + at[0]);
  };
  each_row({voxel.x, voxel.y, voxel.z}, {response.nx, response.ny, response.nz}, 1, 1,
           [&](std::int64_t i) { __builtin_prefetch(response.log + i); });
  const auto block = [&](std::int64_t i, std::size_t a) {
    return std::min(i / source.block[a], source.size[a] - 1);
  };
  source.read([&](const auto* voxels) {
    each_row({block(voxel.x, 0), block(voxel.y, 1), block(voxel.z, 2)}, source.size, model.axes[1].half,
             model.axes[2].half, [&](std::int64_t i) { __builtin_prefetch(voxels + i); });
  });
}

MOTES_CLONES [[gnu::flatten]] Evidence evidence_of(const rules::EvidenceModel& model, const Source& source,
                                                   const ResponseView& response, const Voxel& voxel) {
  const Index3 at{voxel.x, voxel.y, voxel.z};
  const Place place = rules::sub_voxel(model, response, at);
  const EvidenceBox box = rules::box_around(model, place);
  Summed summed;
  double counts = 0;
  source.read([&](const auto* voxels) {
    summed = sum_box(voxels, source.size, model.axes[0].half, box);
    if (model.unit > 0) counts = rules::count_root(model, voxels, place);
  });
  return rules::evidence_of(model, rules::moments_of(box, summed.sums, summed.own),
                            rules::roundness(model, response, at), counts);
}

}  // namespace

CountingSample::CountingSample(std::size_t voxels) {
  constexpr std::size_t kSampled = 1 << 16;
  step = std::max<std::size_t>(1, voxels / kSampled) | 1;
  count = (voxels + step - 1) / step;
}

Counting counting_of(std::span<const float> sampled) {
  return counting_from(sampled.size(), [&](std::size_t i) { return static_cast<double>(sampled[i]); });
}

Counting counting_of(const VolumeFrame& frame) {
  return std::visit(
      [](const auto& values) {
        const CountingSample sample(values.size());
        return counting_from(sample.count,
                             [&](std::size_t i) { return static_cast<double>(values[i * sample.step]); });
      },
      frame.voxels);
}

double share_of_lowest(const VolumeFrame& frame) {
  return std::visit(
      [](const auto& values) {
        const CountingSample sample(values.size());
        auto lowest = values[0];
        std::size_t equal = 0;
        for (std::size_t i = 0; i < sample.count; ++i) {
          const auto value = values[i * sample.step];
          if (value < lowest) lowest = value, equal = 0;
          if (value == lowest) ++equal;
        }
        return static_cast<double>(equal) / static_cast<double>(sample.count);
      },
      frame.voxels);
}

double dof_of_box(const VolumeFrame& frame, const Filter& filter) {
  const Source source = block_geometry(frame, filter);
  double voxels = 1, parameters = 2;  // amplitude and constant
  for (std::size_t a = 0; a < 3; ++a) {
    if (!(source.sigma[a] > 0)) continue;
    const std::int64_t side = 2 * half_of_box(source.sigma[a], kEvidenceReach) + 1;
    voxels *= static_cast<double>(std::min(side, source.size[a]));
    ++parameters;  // slope
  }
  return std::max(1.0, voxels - parameters);
}

EvidenceTables::EvidenceTables(const VolumeFrame& frame, const Source& source, const Filter& filter,
                               Polarity polarity, Side side_of, const Counting& counting, double reach) {
  model.lowest = counting.lowest;
  // The sum of counts in a block is its mean times its number of voxels.
  model.unit = counting.unit / static_cast<double>(source.block[0] * source.block[1] * source.block[2]);
  model.side = side_of == Side::maxima ? 1 : -1;
  model.sign = (polarity == Polarity::bright ? 1 : -1) * model.side;
  const Index3 voxels{frame.shape.nx, frame.shape.ny, frame.shape.nz};
  for (std::size_t a = 0; a < 3; ++a) {
    rules::EvidenceAxis& axis = model.axes[a];
    axis.size = source.size[a];
    axis.block = source.block[a];
    axis.response_size = voxels[a];
    make_profiles(source.sigma[a], reach, axis, profiles[a], whole[a]);
    // The response to a spot of the filter's own sigma, (1 - r^2 / (d v)) exp(-r^2 / (2 v)), v = 2 sigma^2.
    const double v = 2 * filter.sigma[a] * filter.sigma[a];
    const double next = v > 0 ? (1 - 1 / (filter.dimensions * v)) * std::exp(-1 / (2 * v)) : 1;
    axis.curvature_scale = next < 1 ? 1 / std::sqrt(2 - 2 * next) : 0;
  }
}

std::vector<Evidence> evidence_at(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                                  const Response& response, Polarity polarity, std::span<const Voxel> extrema,
                                  Side side, const Counting& counting, double reach) {
  const Source source = make_source(execution, frame, filter);
  const EvidenceTables tables(frame, source, filter, polarity, side, counting, reach);
  const ResponseView view = response.view();
  std::vector<Evidence> evidence(extrema.size());
  const auto n = static_cast<std::int64_t>(extrema.size());
  parallel_for(thread_count(execution), (n + kTask - 1) / kTask, [&](std::int64_t task) {
    const std::int64_t end = std::min(n, (task + 1) * kTask);
    for (std::int64_t i = task * kTask; i < end; ++i) {
      if (i + kAhead < end)
        prefetch(tables.model, source, view, extrema[static_cast<std::size_t>(i + kAhead)]);
      evidence[static_cast<std::size_t>(i)] =
          evidence_of(tables.model, source, view, extrema[static_cast<std::size_t>(i)]);
    }
  });
  return evidence;
}

}  // namespace motes::tracking::detect
