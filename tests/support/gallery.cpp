/// A picture is made in four steps: expected light (background and spots), noise of the light, what is done
/// to the voxels afterwards (filters, camera defects), storage. A picture's recipe names only what differs
/// from the plain one: 150 spots well apart, sigma 1.5 voxels, background 20 photons, SNR 7, Poisson noise,
/// u16.

#include "tests/support/gallery.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <random>
#include <stdexcept>

namespace motes::testing {
namespace {

using Field = std::vector<double>;

constexpr double kOffset = 100;  // of the camera, grey levels

class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}
  double uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  double normal() {
    const double u = std::max(uniform(), 1e-300), v = uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }
  double poisson(double mean) {
    if (mean > 200) return std::max(0.0, std::round(mean + std::sqrt(mean) * normal()));
    double count = 0;
    for (; mean > 0; mean -= 30) {
      const double limit = std::exp(-std::min(mean, 30.0));
      for (double product = uniform(); product > limit; product *= uniform()) ++count;
    }
    return count;
  }

 private:
  std::mt19937_64 bits_;
};

/// A picture in the making.
struct Scene {
  Shape3 shape;
  Vec3 sigma{1.5, 1.5, 1.5};
  double background = 20, peak = 0;
  std::vector<Spot> spots;
  std::vector<double> brightness;  ///< of each spot, in peaks
  std::vector<double> width;       ///< of each spot, in sigmas
  Field light;
  bool dark = false;
};

std::size_t at(const Shape3& s, std::int64_t z, std::int64_t y, std::int64_t x) {
  return static_cast<std::size_t>((z * s.ny + y) * s.nx + x);
}

template <class Body>
void each_voxel(const Shape3& s, const Body& body) {
  std::size_t i = 0;
  for (std::int64_t z = 0; z < s.nz; ++z)
    for (std::int64_t y = 0; y < s.ny; ++y)
      for (std::int64_t x = 0; x < s.nx; ++x, ++i)
        body(i, static_cast<double>(z), static_cast<double>(y), static_cast<double>(x));
}

/// Random places `margin` sigmas off the faces and at least `apart` sigmas from each other.
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

/// A random field of deviation 1 and correlation length `sigma`.
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

/// Blocks of 8 x 8 in each plane, their cosine coefficients rounded to multiples of steps that grow with
/// frequency, as JPEG does.
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

/// Richardson-Lucy with the spots' own Gaussian.
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

/// Every third plane taken, those between filled in linearly.
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

struct Recipe {
  Shape3 shape{24, 128, 128};
  Vec3 sigma{1.5, 1.5, 1.5};
  double background = 20, snr = 7;
  int spots = 150;
  double margin = 2.5, apart = 7;
  bool dark = false;
  std::function<void(Scene&, Random&)> place;  ///< changes spots before they are drawn
  std::function<void(Scene&, Random&)> light;  ///< changes light after that
  std::function<Field(const Scene&, const Field&, Random&)>
      noise;            ///< light to voxels; else Poisson + offset
  bool floats = false;  ///< stored as f32
};

Field poisson_with_offset(const Scene& scene, const Field& light, Random& random) {
  (void)scene;
  return plus(photons(light, random), kOffset);
}

/// An ellipsoid `factor` times as bright as the rest, sharp at its edge.
void add_cell(Scene& scene, double factor) {
  const Shape3& s = scene.shape;
  const double rz = 0.35 * static_cast<double>(s.nz), ry = 0.3 * static_cast<double>(s.ny),
               rx = 0.25 * static_cast<double>(s.nx);
  each_voxel(s, [&](std::size_t i, double z, double y, double x) {
    const double dz = (z - 0.5 * static_cast<double>(s.nz)) / rz,
                 dy = (y - 0.5 * static_cast<double>(s.ny)) / ry,
                 dx = (x - 0.45 * static_cast<double>(s.nx)) / rx;
    if (dz * dz + dy * dy + dx * dx < 1) scene.light[i] += (factor - 1) * scene.background;
  });
}

void add_filaments(Scene& scene, Random& random) {
  const Shape3& s = scene.shape;
  for (int f = 0; f < 10; ++f) {
    double z = random.uniform() * static_cast<double>(s.nz), y = random.uniform() * static_cast<double>(s.ny),
           x = 0;
    double slope_y = random.normal() * 0.5, slope_z = random.normal() * 0.05;
    Scene line;
    line.shape = s;
    line.sigma = scene.sigma;
    line.peak = 0.25 * scene.peak;
    line.light.assign(scene.light.size(), 0);
    for (; x < static_cast<double>(s.nx); x += 0.5) {
      slope_y += 0.02 * random.normal();
      y += 0.5 * slope_y;
      z += 0.5 * slope_z;
      if (y > 0 && y < static_cast<double>(s.ny - 1) && z > 0 && z < static_cast<double>(s.nz - 1))
        line.spots.push_back({z, y, x});
    }
    draw_spots(line);
    for (std::size_t i = 0; i < scene.light.size(); ++i) scene.light[i] += line.light[i];
  }
}

void add_hot_voxels(Field& values, int count, double level, Random& random) {
  for (int i = 0; i < count; ++i)
    values[static_cast<std::size_t>(random.uniform() * static_cast<double>(values.size()))] +=
        level * (0.3 + random.uniform());
}

Recipe with_snr(double snr) {
  Recipe r;
  r.snr = snr;
  return r;
}

using Recipes = std::vector<std::pair<std::string, Recipe>>;

void add_noise_recipes(Recipes& all) {
  all.emplace_back("plain-snr7", Recipe{});
  all.emplace_back("plain-snr4", with_snr(4));
  all.emplace_back("plain-snr3", with_snr(3));
  all.emplace_back("plain-snr2", with_snr(2));
  Recipe r;
  r.noise = [](const Scene& scene, const Field& light, Random& random) {
    return smoothed(poisson_with_offset(scene, light, random), scene.shape, {1, 1, 1});
  };
  all.emplace_back("smoothed", r);
  r.spots = 3;
  all.emplace_back("smoothed-three-spots", r);
  r = Recipe{};
  r.noise = [](const Scene& scene, const Field& light, Random& random) {
    return median_filtered(poisson_with_offset(scene, light, random), scene.shape);
  };
  all.emplace_back("median-filtered", r);
  r = Recipe{};
  r.noise = [](const Scene& scene, const Field& light, Random& random) {
    return block_compressed(poisson_with_offset(scene, light, random), scene.shape, 6);
  };
  all.emplace_back("block-compressed", r);
  r = Recipe{};
  r.noise = [](const Scene& scene, const Field& light, Random& random) {
    Field values = deconvolved(photons(light, random), scene.shape, scene.sigma, 6);
    return values;
  };
  r.floats = true;
  all.emplace_back("deconvolved", r);
  r = Recipe{};
  r.background = 0.02;
  r.noise = [](const Scene&, const Field& light, Random& random) { return photons(light, random); };
  r.snr = 1.4;
  all.emplace_back("photon-counting", r);
  r = Recipe{};
  r.noise = [](const Scene& scene, const Field& light, Random& random) {
    return z_interpolated(poisson_with_offset(scene, light, random), scene.shape);
  };
  r.sigma = {1.5, 1.5, 3};
  r.apart = 6;
  r.spots = 100;
  r.shape = {37, 128, 128};
  all.emplace_back("z-interpolated", r);
  r = Recipe{};
  r.noise = [](const Scene&, const Field& light, Random& random) {
    Field values = light;
    for (double& v : values) v = (v - 20) / 40 + 0.3 * random.normal();
    return values;
  };
  r.floats = true;
  all.emplace_back("gaussian-noise-float", r);
  r = Recipe{};
  r.noise = [](const Scene&, const Field& light, Random&) { return light; };
  r.floats = true;
  all.emplace_back("noise-free", r);
}

void add_background_recipes(Recipes& all) {
  Recipe r;
  r.light = [](Scene& scene, Random&) {
    each_voxel(scene.shape, [&](std::size_t i, double, double, double x) {
      scene.light[i] += 300 * x / static_cast<double>(scene.shape.nx);
    });
  };
  r.snr = 10;
  all.emplace_back("ramp", r);
  r = Recipe{};
  r.light = [](Scene& scene, Random&) {
    const Shape3& s = scene.shape;
    each_voxel(s, [&](std::size_t i, double, double y, double x) {
      const double dy = y / static_cast<double>(s.ny) - 0.5, dx = x / static_cast<double>(s.nx) - 0.5;
      scene.light[i] *= std::exp(-3 * (dy * dy + dx * dx));
    });
  };
  all.emplace_back("vignette", r);
  r = Recipe{};
  r.light = [](Scene& scene, Random&) { add_cell(scene, 10); };
  r.snr = 10;
  all.emplace_back("sharp-cell", r);
  r = Recipe{};
  r.light = [](Scene& scene, Random&) {
    const Shape3& s = scene.shape;
    each_voxel(s, [&](std::size_t i, double z, double y, double x) {
      const double dz = (z - 0.5 * static_cast<double>(s.nz)) / 8,
                   dy = (y - 0.4 * static_cast<double>(s.ny)) / 15,
                   dx = (x - 0.6 * static_cast<double>(s.nx)) / 15;
      scene.light[i] += 400 * std::exp(-0.5 * (dz * dz + dy * dy + dx * dx));
    });
  };
  r.snr = 10;
  all.emplace_back("broad-blob", r);
  r = Recipe{};
  r.light = [](Scene& scene, Random& random) {
    const Field field = texture(scene.shape, {6, 6, 4}, random);
    for (std::size_t i = 0; i < field.size(); ++i) scene.light[i] += 40 * std::exp(0.6 * field[i]);
  };
  r.snr = 9;
  all.emplace_back("autofluorescence", r);
  r = Recipe{};
  r.light = [](Scene& scene, Random& random) {
    const auto plane = static_cast<std::size_t>(scene.shape.ny * scene.shape.nx);
    for (std::size_t z = 0; z * plane < scene.light.size(); ++z) {
      const double factor = std::exp(0.2 * random.normal());
      for (std::size_t i = 0; i < plane; ++i) scene.light[z * plane + i] *= factor;
    }
  };
  all.emplace_back("plane-flicker", r);
  r = Recipe{};
  r.light = [](Scene& scene, Random& random) { add_filaments(scene, random); };
  r.snr = 9;
  all.emplace_back("filaments", r);
  r = Recipe{};
  r.background = 3;
  r.snr = 3;
  all.emplace_back("bleached", r);
}

void add_camera_recipes(Recipes& all) {
  Recipe r;
  r.noise = [](const Scene& scene, const Field& light, Random& random) {
    Field values = poisson_with_offset(scene, light, random);
    add_hot_voxels(values, 200, 600, random);
    return values;
  };
  all.emplace_back("hot-voxels", r);
  r = Recipe{};
  r.noise = [](const Scene& scene, const Field& light, Random& random) {
    Field values = poisson_with_offset(scene, light, random);
    std::vector<double> column(static_cast<std::size_t>(scene.shape.nx));
    for (double& c : column) c = 8 * random.normal();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += column[i % column.size()];
    return values;
  };
  all.emplace_back("camera-columns", r);
  r = Recipe{};
  r.noise = [](const Scene& scene, const Field& light, Random& random) {
    Field values = poisson_with_offset(scene, light, random);
    for (double& v : values) v = std::min(v, kOffset + 45);
    return values;
  };
  r.snr = 10;
  all.emplace_back("saturated", r);
}

void add_spot_recipes(Recipes& all) {
  Recipe r;
  r.place = [](Scene& scene, Random&) {
    scene.brightness.assign(scene.spots.size(), 1);
    for (std::size_t i = 0; i < std::min<std::size_t>(20, scene.spots.size()); ++i) scene.brightness[i] = 100;
  };
  r.apart = 9;
  all.emplace_back("outliers-100x", r);
  r = Recipe{};
  r.place = [](Scene& scene, Random& random) {
    for (std::size_t i = 0; i < scene.spots.size(); ++i)
      scene.brightness.push_back(std::exp(0.7 * random.normal()));
  };
  r.snr = 9;
  all.emplace_back("log-normal", r);
  r = Recipe{};
  r.place = [](Scene& scene, Random& random) {
    for (std::size_t i = 0; i < scene.spots.size(); ++i) {
      const double off = random.uniform(), across = random.uniform();
      Spot& p = scene.spots[i];
      const auto nx = static_cast<double>(scene.shape.nx - 1), ny = static_cast<double>(scene.shape.ny - 1);
      if (i % 4 == 0) p.x = off;
      if (i % 4 == 1) p.x = nx - off;
      if (i % 4 == 2) p.y = off;
      if (i % 4 == 3) p.y = ny - off;
      if (i % 4 < 2)
        p.y = 3 + (static_cast<double>(i / 4) + 0.2 * across) /
                      static_cast<double>(scene.spots.size() / 4 + 1) * (ny - 6);
      if (i % 4 >= 2)
        p.x = 8 + (static_cast<double>(i / 4) + 0.2 * across) /
                      static_cast<double>(scene.spots.size() / 4 + 1) * (nx - 16);
    }
  };
  r.spots = 48;
  r.margin = 2.5;
  all.emplace_back("side-faces", r);
  r = Recipe{};
  r.place = [](Scene& scene, Random& random) {
    for (std::size_t i = 0; i < scene.spots.size(); ++i)
      scene.spots[i].z =
          i % 2 == 0 ? random.uniform() : static_cast<double>(scene.shape.nz - 1) - random.uniform();
  };
  r.shape = {12, 128, 128};
  r.apart = 0;
  r.place = [](Scene& scene, Random& random) {
    Shape3 flat = scene.shape;
    flat.nz = 1;
    scene.spots = places(flat, scene.sigma, 100, 2.5, 7, random);
    for (std::size_t i = 0; i < scene.spots.size(); ++i)
      scene.spots[i].z =
          i % 2 == 0 ? random.uniform() : static_cast<double>(scene.shape.nz - 1) - random.uniform();
  };
  all.emplace_back("end-planes", r);
  r = Recipe{};
  r.place = [](Scene& scene, Random& random) {  // bright ones a few voxels inside the first plane
    Shape3 flat = scene.shape;
    flat.nz = 1;
    scene.spots = places(flat, scene.sigma, 60, 2.5, 8, random);
    for (Spot& p : scene.spots) p.z = 2 + 3 * random.uniform();
    scene.brightness.assign(scene.spots.size(), 20);
  };
  all.emplace_back("bright-near-face", r);
  r = Recipe{};
  r.shape = {1, 256, 256};
  r.spots = 200;
  all.emplace_back("single-plane", r);
  r.snr = 4;
  all.emplace_back("single-plane-snr4", r);
  r = Recipe{};
  r.shape = {16, 128, 128};
  r.sigma = {1.5, 1.5, 0.5};
  r.apart = 8;
  all.emplace_back("coarse-z", r);
  r = Recipe{};
  r.sigma = {1.2, 1.2, 4.8};
  r.shape = {48, 128, 128};
  r.apart = 6;
  all.emplace_back("elongated", r);
  r = Recipe{};
  r.place = [](Scene& scene, Random&) {
    for (std::size_t i = 0; i < scene.spots.size(); ++i) scene.width.push_back(i % 3 == 0 ? 3 : 0.75);
  };
  r.spots = 60;
  r.apart = 12;
  all.emplace_back("sizes-4-to-1", r);
  r = Recipe{};
  r.sigma = {5, 5, 5};
  r.shape = {48, 128, 128};
  r.spots = 40;
  r.apart = 5;
  r.margin = 1;
  r.snr = 4;
  all.emplace_back("large", r);
  r = Recipe{};
  r.sigma = {0.7, 0.7, 0.7};
  all.emplace_back("tiny", r);
  r = Recipe{};
  r.spots = 1;
  all.emplace_back("one-spot", r);
  r = Recipe{};
  r.dark = true;
  r.background = 100;
  all.emplace_back("dark-spots", r);
  r = Recipe{};
  r.sigma = {1.2, 1.2, 1.2};
  r.spots = 393;
  r.apart = 0;
  r.margin = 0;
  all.emplace_back("dense-.001", r);
  r.spots = 1966;
  all.emplace_back("dense-.005", r);
  r.sigma = {0.8, 0.8, 0.8};
  all.emplace_back("dense-.005-tiny", r);
}

void add_empty_recipes(Recipes& all) {
  const auto emptied = [&](const std::string& name) {
    const auto from = std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.first == name; });
    Recipe r = from->second;
    r.spots = 0;
    r.place = nullptr;
    all.emplace_back("empty-" + name, r);
  };
  for (const char* name : {"plain-snr7", "smoothed", "median-filtered", "block-compressed", "photon-counting",
                           "ramp", "sharp-cell", "autofluorescence", "hot-voxels", "plane-flicker",
                           "gaussian-noise-float", "single-plane", "camera-columns", "deconvolved"})
    emptied(name);
}

const Recipes& recipes() {
  static const Recipes all = [] {
    Recipes made;
    add_noise_recipes(made);
    add_background_recipes(made);
    add_camera_recipes(made);
    add_spot_recipes(made);
    add_empty_recipes(made);
    return made;
  }();
  return all;
}

}  // namespace

const std::vector<std::string>& gallery_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, recipe] : recipes()) all.push_back(name);
    return all;
  }();
  return names;
}

Picture make_picture(const std::string& name, int scale, std::uint64_t seed) {
  const auto found =
      std::find_if(recipes().begin(), recipes().end(), [&](const auto& p) { return p.first == name; });
  if (found == recipes().end()) throw std::invalid_argument("no picture is called " + name);
  const Recipe& recipe = found->second;
  Random random(seed);
  Scene scene;
  scene.shape = {recipe.shape.nz, recipe.shape.ny * scale, recipe.shape.nx * scale};
  scene.sigma = recipe.sigma;
  scene.background = recipe.background;
  scene.dark = recipe.dark;
  scene.peak = peak_of_snr(recipe.snr, recipe.background) * (recipe.dark ? -1 : 1);
  if (recipe.dark) scene.peak = std::max(scene.peak, -0.9 * recipe.background);
  const int count = recipe.spots > 5 ? recipe.spots * scale * scale : recipe.spots;
  scene.spots = places(scene.shape, scene.sigma, count, recipe.margin, recipe.apart, random);
  if (recipe.place) recipe.place(scene, random);
  scene.light.assign(static_cast<std::size_t>(scene.shape.voxels()), scene.background);
  draw_spots(scene);
  if (recipe.light) recipe.light(scene, random);
  const Field values = recipe.noise ? recipe.noise(scene, scene.light, random)
                                    : poisson_with_offset(scene, scene.light, random);
  Picture picture;
  picture.frame.shape = scene.shape;
  picture.frame.voxel_um = {1, 1, 1};
  picture.frame.voxels =
      recipe.floats ? Voxels(std::vector<float>(values.begin(), values.end())) : stored(values);
  picture.truth = scene.spots;
  picture.psf_sigma = scene.sigma;
  picture.dark = recipe.dark;
  return picture;
}

double f1_of(const SpotScore& score, std::size_t truth, std::size_t found) {
  const double all = static_cast<double>(truth + found);
  return all > 0 ? 2 * score.matched / all : 1;
}

}  // namespace motes::testing
