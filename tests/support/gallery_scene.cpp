/// Renders the scenes of the detection gallery.

#include "tests/support/gallery_scene.h"

#include <algorithm>
#include <array>

namespace motes::testing {

std::size_t at(const Shape3& s, std::int64_t z, std::int64_t y, std::int64_t x) {
  return static_cast<std::size_t>((z * s.ny + y) * s.nx + x);
}

std::vector<Spot> places(const Shape3& s, const Vec3& sigma, int count, double margin, double apart,
                         Random& random) {
  std::vector<Spot> spots;
  const auto along = [&](std::int64_t n, double width) {
    const double edge = std::min(margin * width, 0.4 * static_cast<double>(n - 1));
    return edge + random.uniform() * (static_cast<double>(n - 1) - 2 * edge);
  };
  for (int tries = 0; static_cast<int>(spots.size()) < count && tries < 100 * count; ++tries) {
    const Spot p{along(s.nz, sigma.z), along(s.ny, sigma.y), along(s.nx, sigma.x)};
    const bool free = std::none_of(spots.begin(), spots.end(), [&](const Spot& o) {
      const double dz = (p.z - o.z) / sigma.z, dy = (p.y - o.y) / sigma.y, dx = (p.x - o.x) / sigma.x;
      return dz * dz + dy * dy + dx * dx < apart * apart;
    });
    if (free) spots.push_back(p);
  }
  return spots;
}

Field smoothed(const Field& field, const Shape3& s, const Vec3& sigma) {
  Field out = field;
  const std::array<double, 3> sigmas{sigma.x, sigma.y, sigma.z};
  const std::array<std::int64_t, 3> size{s.nx, s.ny, s.nz}, stride{1, s.nx, s.nx * s.ny};
  for (std::size_t a = 0; a < 3; ++a) {
    if (sigmas[a] <= 0 || size[a] < 2) continue;
    const auto reach = static_cast<std::int64_t>(std::ceil(4 * sigmas[a]));
    Field weights;
    double sum = 0;
    for (std::int64_t k = -reach; k <= reach; ++k) {
      weights.push_back(std::exp(-0.5 * static_cast<double>(k * k) / (sigmas[a] * sigmas[a])));
      sum += weights.back();
    }
    const Field from = out;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto index = static_cast<std::int64_t>(i) / stride[a] % size[a];
      double value = 0;
      for (std::int64_t k = -reach; k <= reach; ++k) {
        const std::int64_t j = std::clamp<std::int64_t>(index + k, 0, size[a] - 1);
        value += weights[static_cast<std::size_t>(k + reach)] *
                 from[static_cast<std::size_t>(static_cast<std::int64_t>(i) + (j - index) * stride[a])];
      }
      out[i] = value / sum;
    }
  }
  return out;
}

Field texture(const Shape3& s, const Vec3& sigma, Random& random) {
  Field field(static_cast<std::size_t>(s.voxels()));
  for (double& v : field) v = random.normal();
  field = smoothed(field, s, sigma);
  double square = 0;
  for (const double v : field) square += v * v;
  const double scale = 1 / std::sqrt(square / static_cast<double>(field.size()));
  for (double& v : field) v *= scale;
  return field;
}

void draw_spots(Scene& scene) {
  for (std::size_t i = 0; i < scene.spots.size(); ++i) {
    const double width = scene.width.empty() ? 1 : scene.width[i];
    const double peak = scene.peak * (scene.brightness.empty() ? 1 : scene.brightness[i]);
    const Spot& p = scene.spots[i];
    const Shape3& s = scene.shape;
    const std::array<double, 3> sigma{scene.sigma.x * width, scene.sigma.y * width, scene.sigma.z * width};
    const std::array<double, 3> centre{p.x, p.y, p.z};
    const std::array<std::int64_t, 3> size{s.nx, s.ny, s.nz};
    std::array<std::int64_t, 3> first{};
    std::array<Field, 3> profile;
    for (std::size_t a = 0; a < 3; ++a) {
      first[a] = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(centre[a] - 5 * sigma[a])));
      const auto last =
          std::min<std::int64_t>(size[a] - 1, static_cast<std::int64_t>(std::ceil(centre[a] + 5 * sigma[a])));
      const double k = 1 / (sigma[a] * std::numbers::sqrt2);
      const double top = std::erf(0.5 * k);
      for (std::int64_t j = first[a]; j <= last; ++j) {
        const double d = static_cast<double>(j) - centre[a];
        profile[a].push_back(size[a] == 1 ? 1
                                          : 0.5 * (std::erf((d + 0.5) * k) - std::erf((d - 0.5) * k)) / top);
      }
    }
    for (std::size_t c = 0; c < profile[2].size(); ++c)
      for (std::size_t b = 0; b < profile[1].size(); ++b)
        for (std::size_t a = 0; a < profile[0].size(); ++a)
          scene.light[at(s, first[2] + static_cast<std::int64_t>(c), first[1] + static_cast<std::int64_t>(b),
                         first[0] + static_cast<std::int64_t>(a))] +=
              peak * profile[2][c] * profile[1][b] * profile[0][a];
  }
}

Field photons(const Field& light, Random& random) {
  Field out(light.size());
  for (std::size_t i = 0; i < light.size(); ++i) out[i] = random.poisson(std::max(0.0, light[i]));
  return out;
}

Voxels stored(const Field& values) {
  std::vector<std::uint16_t> voxels;
  voxels.reserve(values.size());
  for (const double v : values)
    voxels.push_back(static_cast<std::uint16_t>(std::clamp(std::round(v), 0.0, 65535.0)));
  return voxels;
}

Field plus(Field values, double offset) {
  for (double& v : values) v += offset;
  return values;
}

Field median_filtered(const Field& field, const Shape3& s) {
  Field out(field.size());
  each_voxel(s, [&](std::size_t i, double z, double y, double x) {
    std::vector<double> near;
    for (int dz = -1; dz <= 1; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
          const auto k = std::clamp<std::int64_t>(static_cast<std::int64_t>(z) + dz, 0, s.nz - 1);
          const auto j = std::clamp<std::int64_t>(static_cast<std::int64_t>(y) + dy, 0, s.ny - 1);
          const auto h = std::clamp<std::int64_t>(static_cast<std::int64_t>(x) + dx, 0, s.nx - 1);
          near.push_back(field[at(s, k, j, h)]);
        }
    std::nth_element(near.begin(), near.begin() + 13, near.end());
    out[i] = near[13];
  });
  return out;
}

Field block_compressed(const Field& field, const Shape3& s, double step) {
  Field out = field;
  std::array<std::array<double, 8>, 8> basis{};
  for (int k = 0; k < 8; ++k)
    for (int n = 0; n < 8; ++n)
      basis[static_cast<std::size_t>(k)][static_cast<std::size_t>(n)] =
          std::sqrt((k == 0 ? 1 : 2) / 8.0) * std::cos(std::numbers::pi * (n + 0.5) * k / 8);
  for (std::int64_t z = 0; z < s.nz; ++z)
    for (std::int64_t y0 = 0; y0 + 8 <= s.ny; y0 += 8)
      for (std::int64_t x0 = 0; x0 + 8 <= s.nx; x0 += 8) {
        std::array<std::array<double, 8>, 8> c{};
        for (std::size_t k = 0; k < 8; ++k)
          for (std::size_t l = 0; l < 8; ++l) {
            double sum = 0;
            for (std::size_t j = 0; j < 8; ++j)
              for (std::size_t i = 0; i < 8; ++i)
                sum += basis[k][j] * basis[l][i] *
                       field[at(s, z, y0 + static_cast<std::int64_t>(j), x0 + static_cast<std::int64_t>(i))];
            const double q = step * (1 + 0.5 * static_cast<double>(k + l));
            c[k][l] = q * std::round(sum / q);
          }
        for (std::size_t j = 0; j < 8; ++j)
          for (std::size_t i = 0; i < 8; ++i) {
            double sum = 0;
            for (std::size_t k = 0; k < 8; ++k)
              for (std::size_t l = 0; l < 8; ++l) sum += basis[k][j] * basis[l][i] * c[k][l];
            out[at(s, z, y0 + static_cast<std::int64_t>(j), x0 + static_cast<std::int64_t>(i))] =
                std::round(sum);
          }
      }
  return out;
}

Field deconvolved(const Field& field, const Shape3& s, const Vec3& sigma, int rounds) {
  Field estimate(field.size(), 1), ratio(field.size());
  double mean = 0;
  for (const double v : field) mean += v / static_cast<double>(field.size());
  std::fill(estimate.begin(), estimate.end(), mean);
  for (int i = 0; i < rounds; ++i) {
    const Field seen = smoothed(estimate, s, sigma);
    for (std::size_t v = 0; v < field.size(); ++v)
      ratio[v] = std::max(field[v], 0.0) / std::max(seen[v], 1e-6);
    const Field correction = smoothed(ratio, s, sigma);
    for (std::size_t v = 0; v < field.size(); ++v) estimate[v] *= correction[v];
  }
  return estimate;
}

Field z_interpolated(const Field& field, const Shape3& s) {
  Field out = field;
  each_voxel(s, [&](std::size_t i, double z, double y, double x) {
    const auto k = static_cast<std::int64_t>(z);
    const std::int64_t low = k / 3 * 3, high = std::min(low + 3, (s.nz - 1) / 3 * 3);
    const double part = high > low ? static_cast<double>(k - low) / static_cast<double>(high - low) : 0;
    const auto j = static_cast<std::int64_t>(y), h = static_cast<std::int64_t>(x);
    out[i] = (1 - part) * field[at(s, low, j, h)] + part * field[at(s, high, j, h)];
  });
  return out;
}

}  // namespace motes::testing
