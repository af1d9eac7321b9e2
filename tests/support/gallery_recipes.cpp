/// The recipes of the detection gallery: images with known positions.

#include "tests/support/gallery_recipes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace motes::testing {

Field poisson_with_offset(const Scene& scene, const Field& light, Random& random) {
  (void)scene;
  return plus(photons(light, random), kOffset);
}

namespace {

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
}

void add_shape_recipes(Recipes& all) {
  Recipe r;
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
  r.place = [](Scene& scene, Random&) {
    for (std::size_t i = 0; i < scene.spots.size(); ++i) scene.width.push_back(i % 2 == 0 ? 3 : 1);
  };
  r.sigma = {1.2, 1.2, 1.2};
  r.apart = 14;
  r.spots = 40;
  all.emplace_back("sizes-3-to-1", r);
  r.place = [](Scene& scene, Random& random) {
    for (std::size_t i = 0; i < scene.spots.size(); ++i)
      scene.width.push_back(0.8 * std::exp(std::log(4.0) * random.uniform()));
  };
  all.emplace_back("sizes-mixed", r);
}

void add_crowd_recipes(Recipes& all) {
  Recipe r;
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
  r = Recipe{};
  r.place = [](Scene& scene, Random& random) {  // every fourth spot has a second one 2.2 sigma off
    const std::size_t n = scene.spots.size();
    for (std::size_t i = 0; i < n; i += 4) {
      Spot p = scene.spots[i];
      const double angle = 2 * std::numbers::pi * random.uniform();
      p.x += 2.2 * scene.sigma.x * std::cos(angle);
      p.y += 2.2 * scene.sigma.y * std::sin(angle);
      scene.spots.push_back(p);
    }
  };
  r.apart = 9;
  r.margin = 4;
  r.spots = 100;
  all.emplace_back("pairs", r);
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

}  // namespace

const Recipes& recipes() {
  static const Recipes all = [] {
    Recipes made;
    add_noise_recipes(made);
    add_background_recipes(made);
    add_camera_recipes(made);
    add_spot_recipes(made);
    add_shape_recipes(made);
    add_crowd_recipes(made);
    add_empty_recipes(made);
    return made;
  }();
  return all;
}

}  // namespace motes::testing
