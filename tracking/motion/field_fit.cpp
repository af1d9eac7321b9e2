#include "tracking/motion/field_fit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are passed only between inlined functions
#endif

namespace motes::tracking {
namespace {

// Lanes are independent, and operations are never fused, so vectors of any width give the same bits. Each
// instruction set uses its own width.
#define MOTES_INLINE inline __attribute__((always_inline))

constexpr double kRidge = 0.15, kTaper = 1.5, kRobust = 2;
constexpr int kReweightings = 3;
constexpr double kLeastForAffine = 8;
constexpr std::size_t kN = kFieldNeighbours;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Vectors of `Bytes` / 8 lanes.
template <std::size_t Bytes>
struct Vectors {
  typedef double V __attribute__((vector_size(Bytes)));
};

/// Batcher's sorting network: pairs of places to put in order, in this sequence.
constexpr std::size_t kComparators = 63;
struct Comparators {
  std::array<std::size_t, kComparators> low{}, high{};
};
constexpr Comparators batcher() {
  Comparators out;
  std::size_t count = 0;
  for (std::size_t p = 1; p < kN; p *= 2)
    for (std::size_t k = p; k >= 1; k /= 2)
      for (std::size_t j = k % p; j + k < kN; j += 2 * k)
        for (std::size_t i = 0; i < std::min(k, kN - j - k); ++i)
          if ((i + j) / (2 * p) == (i + j + k) / (2 * p)) {
            out.low[count] = i + j;
            out.high[count++] = i + j + k;
          }
  return out;
}
constexpr Comparators kNetwork = batcher();
static_assert(kN == 16 && kNetwork.high[kComparators - 1] != 0 && kNetwork.high[0] == 1);

template <class V>
MOTES_INLINE void put_in_order(V& a, V& b) {
  const V low = b < a ? b : a, high = b < a ? a : b;
  a = low, b = high;
}

template <class V, std::size_t... K>
MOTES_INLINE void sort_lanes(V (&v)[kN], std::index_sequence<K...>) {
  (put_in_order(v[kNetwork.low[K]], v[kNetwork.high[K]]), ...);
}

/// The upper median of each lane's `count` values; the values beyond must be infinite.
template <class V>
MOTES_INLINE V median(const V (&values)[kN], const V& count, bool full) {
  V v[kN];
  for (std::size_t k = 0; k < kN; ++k) v[k] = values[k];
  sort_lanes(v, std::make_index_sequence<kComparators>());
  V out = v[kN / 2];
  if (!full)
    for (std::size_t k = 0; k < kN / 2; ++k)
      out = count < 2.0 * static_cast<double>(kN / 2 - k) ? v[kN / 2 - 1 - k] : out;
  return out;
}

template <class V>
MOTES_INLINE V root(const V& x) {
  constexpr std::size_t kWidth = sizeof(V) / sizeof(double);
  double values[kWidth];
  std::memcpy(values, &x, sizeof x);
  for (double& value : values) value = std::sqrt(value);
  V out;
  std::memcpy(&out, values, sizeof out);
  return out;
}

/// exp(-y) for 0 <= y <= 1.2: the eighth power of a Taylor series; relative error below 1e-15.
template <class V>
MOTES_INLINE V exp_of_minus(const V& y) {
  const V r = y * -0.125;
  V series = r * (1.0 / 39916800) + 1.0 / 3628800;
  series = series * r + 1.0 / 362880;
  series = series * r + 1.0 / 40320;
  series = series * r + 1.0 / 5040;
  series = series * r + 1.0 / 720;
  series = series * r + 1.0 / 120;
  series = series * r + 1.0 / 24;
  series = series * r + 1.0 / 6;
  series = series * r + 0.5;
  const V e = 1 + (r + r * r * series), e2 = e * e, e4 = e2 * e2;
  return e4 * e4;
}

/// The affine map for one axis of the displacements: its value at the place, and its slopes.
template <class V>
struct Axis {
  V here, x, y, z;
};

/// Sums of the weighted normal equations.
template <class V>
struct Sums {
  V w{}, x{}, y{}, z{}, xx{}, xy{}, xz{}, yy{}, yz{}, zz{};
  V m[3]{}, mx[3]{}, my[3]{}, mz[3]{};
};

/// The neighbours of the places of one vector.
template <class V>
struct Places {
  V x[kN], y[kN], z[kN], move[3][kN], beyond[kN], taper[kN];
  V count, tiny, ridge_per_weight;
  bool full = false;  ///< all lanes have kN neighbours

  MOTES_INLINE Places(const FieldBatch& batch, std::size_t first) {
    const auto load = [&](const FieldBatch::Lanes& lanes, V& to) {
      std::memcpy(&to, lanes.data() + first, sizeof(V));
    };
    load(batch.count, count);
    full = true;
    for (std::size_t l = 0; l < sizeof(V) / sizeof(double); ++l)
      full = full && batch.count[first + l] == static_cast<double>(kN);
    V farthest{}, mean{}, squared[kN];
    for (std::size_t k = 0; k < kN; ++k) {
      load(batch.x[k], x[k]), load(batch.y[k], y[k]), load(batch.z[k], z[k]);
      load(batch.move_x[k], move[0][k]), load(batch.move_y[k], move[1][k]), load(batch.move_z[k], move[2][k]);
      squared[k] = (x[k] * x[k] + y[k] * y[k]) + z[k] * z[k];
      farthest = squared[k] > farthest ? squared[k] : farthest;
      mean += root(squared[k]);
    }
    const V none{}, per_farthest = farthest > none ? (0.5 * kTaper * kTaper) / farthest : none;
    for (std::size_t k = 0; k < kN; ++k) {
      const auto there = count > static_cast<double>(k);
      taper[k] = there ? exp_of_minus(squared[k] * per_farthest) : none;
      beyond[k] = there ? none : none + kInfinite;
    }
    const V d = mean / (count > none ? count : none + 1.0);
    tiny = 1e-9 * (root(farthest) + 1e-300);
    ridge_per_weight = kRidge * d * d;
  }
};

template <class V>
MOTES_INLINE void add(const Places<V>& p, std::size_t k, const V& w, Sums<V>& s) {
  const V x = p.x[k], y = p.y[k], z = p.z[k], wx = w * x, wy = w * y, wz = w * z;
  s.w += w, s.x += wx, s.y += wy, s.z += wz;
  s.xx += wx * x, s.xy += wx * y, s.xz += wx * z, s.yy += wy * y, s.yz += wy * z, s.zz += wz * z;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const V m = p.move[axis][k];
    s.m[axis] += w * m, s.mx[axis] += wx * m, s.my[axis] += wy * m, s.mz[axis] += wz * m;
  }
}

/// Solves the normal equations by elimination; the ridge on the slopes keeps every pivot positive.
template <class V>
MOTES_INLINE void solve(const Sums<V>& s, const V& ridge_per_weight, Axis<V> (&fit)[3]) {
  const V ridge = ridge_per_weight * s.w + 1e-300, per_w = 1.0 / s.w;
  const V cx = s.x * per_w, cy = s.y * per_w, cz = s.z * per_w;
  const V xx = s.xx - cx * s.x + ridge, xy = s.xy - cx * s.y, xz = s.xz - cx * s.z, per_xx = 1.0 / xx;
  const V ly = xy * per_xx, lz = xz * per_xx;
  const V yy = s.yy - cy * s.y - ly * xy + ridge, yz = s.yz - cy * s.z - ly * xz, per_yy = 1.0 / yy;
  const V lyz = yz * per_yy, zz = s.zz - cz * s.z - lz * xz - lyz * yz + ridge, per_zz = 1.0 / zz;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const V m = s.m[axis], rx = s.mx[axis] - cx * m, ry = s.my[axis] - cy * m - ly * rx;
    const V rz = s.mz[axis] - cz * m - lz * rx - lyz * ry;
    Axis<V>& a = fit[axis];
    a.z = rz * per_zz;
    a.y = ry * per_yy - lyz * a.z;
    a.x = rx * per_xx - ly * a.y - lz * a.z;
    a.here = m * per_w - cx * a.x - cy * a.y - cz * a.z;
  }
}

template <class V>
MOTES_INLINE V median_along(const Places<V>& p, std::size_t axis) {
  V values[kN];
  for (std::size_t k = 0; k < kN; ++k) values[k] = p.move[axis][k] + p.beyond[k];
  return median(values, p.count, p.full);
}

/// Squared distances between displacements and the fit; infinite for missing neighbours.
template <class V>
MOTES_INLINE void errors_of(const Places<V>& p, const Axis<V> (&fit)[3], V (&squared)[kN]) {
  for (std::size_t k = 0; k < kN; ++k) {
    V d[3];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const Axis<V>& a = fit[axis];
      d[axis] = p.move[axis][k] - (((a.here + a.x * p.x[k]) + a.y * p.y[k]) + a.z * p.z[k]);
    }
    squared[k] = ((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]) + p.beyond[k];
  }
}

struct Found {
  std::array<FieldBatch::Lanes, 3> median, fit;
};

template <class V>
MOTES_INLINE void fit_one(const FieldBatch& batch, std::size_t first, Found& out) {
  const Places<V> places(batch, first);
  Axis<V> fit[3]{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    fit[axis].here = median_along(places, axis);
    std::memcpy(out.median[axis].data() + first, &fit[axis].here, sizeof(V));
  }
  for (int round = 0; round < kReweightings; ++round) {
    V error[kN];
    errors_of(places, fit, error);
    const V spread = kRobust * (root(median(error, places.count, places.full)) + places.tiny);
    const V per_spread = 1.0 / (spread * spread);
    Sums<V> sums;
    for (std::size_t k = 0; k < kN; ++k) {
      const V shrink = 1.0 + error[k] * per_spread;
      add(places, k, V(places.taper[k] / (shrink * shrink)), sums);
    }
    solve(sums, places.ridge_per_weight, fit);
  }
  for (std::size_t axis = 0; axis < 3; ++axis)
    std::memcpy(out.fit[axis].data() + first, &fit[axis].here, sizeof(V));
}

template <std::size_t Bytes>
MOTES_INLINE void fit_all(const FieldBatch& batch, Found& out) {
  using V = typename Vectors<Bytes>::V;
  for (std::size_t first = 0; first < kFieldLanes; first += Bytes / sizeof(double))
    fit_one<V>(batch, first, out);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx512f"))) void fit_wide(const FieldBatch& batch, Found& out) {
  fit_all<64>(batch, out);
}
__attribute__((target("avx2"))) void fit_half(const FieldBatch& batch, Found& out) {
  fit_all<32>(batch, out);
}
#endif
void fit_plain(const FieldBatch& batch, Found& out) { fit_all<16>(batch, out); }

using Fit = void (*)(const FieldBatch&, Found&);

Fit choose_fit() {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx512f")) return fit_wide;
  if (__builtin_cpu_supports("avx2")) return fit_half;
#endif
  return fit_plain;
}

#undef MOTES_INLINE

}  // namespace

std::array<Vec3, kFieldLanes> fit_fields(const FieldBatch& batch) {
  static const Fit fit = choose_fit();
  Found found;
  fit(batch, found);
  std::array<Vec3, kFieldLanes> out;
  for (std::size_t l = 0; l < kFieldLanes; ++l) {
    const Vec3 affine{found.fit[0][l], found.fit[1][l], found.fit[2][l]};
    const bool finite = std::isfinite(affine.x) && std::isfinite(affine.y) && std::isfinite(affine.z);
    if (batch.count[l] == 0) continue;
    out[l] = finite && batch.count[l] >= kLeastForAffine
                 ? affine
                 : Vec3{found.median[0][l], found.median[1][l], found.median[2][l]};
  }
  return out;
}

}  // namespace motes::tracking
