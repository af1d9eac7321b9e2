/// Each family is a formula for one entry. Random numbers of a row or a column are drawn beforehand; those
/// of a pair are functions of its indices, so that entries can be computed in any order.

#include "matching/instances/structured_matrices.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <motes/base/errors.h>
#include <motes/base/index.h>
#include <motes/base/memory.h>
#include <motes/base/random.h>

namespace motes::matching::instances {
namespace {

// Random streams that instances.cpp does not use.
constexpr RandomStream kOfPairs{140}, kOfRows{141}, kOfCols{142}, kOfCentres{143};

constexpr double kMostExactFloat = 0x1p24, kMostInt32 = 0x1p31 - 2;
const double kForbidden = std::numeric_limits<double>::infinity();

/// An entry by its place; infinite: forbidden. Never negative.
using Rule = std::function<double(Index, Index)>;

struct Family {
  Rule rule;
  double largest;  ///< no finite entry is above
  bool whole;      ///< entries are whole numbers
};

double uniform_of_pair(std::uint64_t seed, Index i, Index j) {
  return Random(seed, kOfPairs, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)).uniform();
}

/// Whole numbers in 0..high, `each` for every vertex of a side.
std::vector<double> whole_numbers(std::uint64_t seed, RandomStream stream, Index count, int each,
                                  double high) {
  std::vector<double> out;
  out.reserve(at(count) * static_cast<std::size_t>(each));
  for (Index k = 0; k < count; ++k) {
    Random random(seed, stream, static_cast<std::uint32_t>(k), 0);
    for (int r = 0; r < each; ++r) out.push_back(std::floor(random.uniform() * (high + 1)));
  }
  return out;
}

Family machol_wien(Recipe& recipe, Index n, std::uint64_t) {
  const double mod = static_cast<double>(recipe.whole("mod", 0, 0, kMostInt32));
  const auto rule = [mod](Index i, Index j) {
    const double product = (i + 1.0) * (j + 1.0);
    return mod == 0 ? product : std::fmod(product, mod);
  };
  return {rule, mod == 0 ? static_cast<double>(n) * n : mod, true};
}

Family low_rank(Recipe& recipe, Index n, std::uint64_t seed) {
  const auto rank = static_cast<int>(recipe.whole("rank", 1, 1, 64));
  const double high = recipe.number("high", 1000, 0, 5000);
  const auto a = whole_numbers(seed, kOfRows, n, rank, high), b = whole_numbers(seed, kOfCols, n, rank, high);
  const auto rule = [rank, a, b](Index i, Index j) {
    const auto width = static_cast<std::size_t>(rank);
    double sum = 0;
    for (std::size_t r = 0; r < width; ++r) sum += a[at(i) * width + r] * b[at(j) * width + r];
    return sum;
  };
  return {rule, rank * high * high, true};
}

Family sums(Recipe& recipe, Index n, std::uint64_t seed) {
  const double high = recipe.number("high", 1e6, 0, 1e9), noise = recipe.number("noise", 1000, 0, 1e8);
  const auto a = whole_numbers(seed, kOfRows, n, 1, high), b = whole_numbers(seed, kOfCols, n, 1, high);
  const auto rule = [seed, noise, a, b](Index i, Index j) {
    return a[at(i)] + b[at(j)] + std::floor((noise + 1) * uniform_of_pair(seed, i, j));
  };
  return {rule, 2 * high + noise, true};
}

/// The points of both sides, drawn independently: around common centres, or on a common line.
Family distances_of_drawn_points(Recipe& recipe, Index n, std::uint64_t seed, bool line) {
  const auto centres = line ? Index{1} : static_cast<Index>(recipe.whole("clusters", 20, 1, kMostVertices));
  const double sigma = line ? 0 : recipe.number("sigma", 0.01, 0, 1e3);
  const bool squared = recipe.flag("squared");
  const auto place = [&](RandomStream stream) {
    std::vector<std::array<double, 2>> points(at(n));
    for (Index k = 0; k < n; ++k) {
      Random random(seed, stream, static_cast<std::uint32_t>(k), 0);
      auto& [x, y] = points[at(k)];
      if (line) {
        x = y = random.uniform();
        continue;
      }
      Random centre(seed, kOfCentres, static_cast<std::uint32_t>(random.uniform() * centres), 0);
      x = centre.uniform() + sigma * random.normal();
      y = centre.uniform() + sigma * random.normal();
    }
    return points;
  };
  const auto rule = [squared, rows = place(kOfRows), cols = place(kOfCols)](Index i, Index j) {
    const double dx = rows[at(i)][0] - cols[at(j)][0], dy = rows[at(i)][1] - cols[at(j)][1];
    const double d2 = dx * dx + dy * dy;
    return squared ? d2 : std::sqrt(d2);
  };
  const double reach = 1.5 + 20 * sigma;
  return {rule, squared ? reach * reach : reach, false};
}

Family clusters(Recipe& recipe, Index n, std::uint64_t seed) {
  return distances_of_drawn_points(recipe, n, seed, false);
}
Family line(Recipe& recipe, Index n, std::uint64_t seed) {
  return distances_of_drawn_points(recipe, n, seed, true);
}

/// Squared distances between a square grid's points and the same grid moved by `shift` steps.
Family lattice(Recipe& recipe, Index n, std::uint64_t) {
  const double shift = static_cast<double>(recipe.whole("shift", 3, 0, 1e4));
  const auto side = static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(n))));
  const auto rule = [shift, side](Index i, Index j) {
    const double dx = i % side - (j % side + shift), dy = i / side - (j / side + shift);
    return dx * dx + dy * dy;
  };
  return {rule, 2 * (side + shift) * (side + shift), true};
}

Family valued(Recipe& recipe, Index, std::uint64_t seed) {
  const double values = static_cast<double>(recipe.whole("values", 2, 1, 1e6));
  const double share = recipe.number("share", 0.5, 0, 1);
  const auto rule = [seed, values, share](Index i, Index j) {
    const double u = uniform_of_pair(seed, i, j);
    return u < share || values == 1 ? 0.0 : 1 + std::floor((u - share) / (1 - share) * (values - 1));
  };
  return {rule, values, true};
}

/// Uniform costs, higher outside a band along the diagonal or outside blocks; a few of those pairs are
/// forbidden.
Family banded(Recipe& recipe, Index n, std::uint64_t seed) {
  const auto width =
      static_cast<Index>(recipe.whole("width", std::max(1.0, std::floor(n / 50.0)), 1, kMostVertices));
  const bool blocks = recipe.flag("blocks");
  const double forbidden = recipe.number("forbidden", 0.01, 0, 1);
  const auto rule = [=](Index i, Index j) {
    const bool near = blocks ? i / width == j / width : std::abs(i - j) <= width;
    const double cost = std::floor(1e5 * uniform_of_pair(seed, i, j));
    if (!near && uniform_of_pair(seed + 1, i, j) < forbidden) return kForbidden;
    return near ? cost : cost + 1e5;
  };
  return {rule, 2e5, true};
}

/// exp(spread * normal), or u^(-spread); cut off at the largest whole number of 24 bits.
Family heavy(Recipe& recipe, Index, std::uint64_t seed) {
  const std::string law = recipe.word("law", "log-normal");
  if (law != "log-normal" && law != "power") recipe.fail("law=" + law + " is neither log-normal nor power");
  const double spread = recipe.number("spread", 2, 0, 10);
  const auto rule = [seed, spread, normal = law == "log-normal"](Index i, Index j) {
    Random random(seed, kOfPairs, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
    const double x = normal ? std::exp(spread * random.normal()) : std::pow(1 - random.uniform(), -spread);
    return std::min(std::floor(1000 * x), kMostExactFloat);
  };
  return {rule, kMostExactFloat, true};
}

/// Row i holds a rising (order=falling: falling) sequence with a random step from column to column.
Family sorted(Recipe& recipe, Index n, std::uint64_t seed) {
  const std::string order = recipe.word("order", "rising");
  if (order != "rising" && order != "falling")
    recipe.fail("order=" + order + " is neither rising nor falling");
  const auto rule = [seed, n, rising = order == "rising"](Index i, Index j) {
    return 100.0 * (rising ? j : n - 1 - j) + std::floor(100 * uniform_of_pair(seed, i, j));
  };
  return {rule, 100.0 * n, true};
}

/// q^(i + j) with q such that the last entry is `range`.
Family progression(Recipe& recipe, Index n, std::uint64_t) {
  const double range = recipe.number("range", 1e9, 1, kMostInt32);
  const double rate = n <= 1 ? 0 : std::log(range) / (2.0 * (n - 1));
  return {[rate](Index i, Index j) { return std::floor(std::exp(rate * (static_cast<double>(i) + j))); },
          range + 1, true};
}

constexpr struct {
  const char* name;
  Family (*make)(Recipe&, Index, std::uint64_t);
} kFamilies[] = {{"machol-wien", machol_wien},
                 {"low-rank", low_rank},
                 {"sums", sums},
                 {"clusters", clusters},
                 {"line", line},
                 {"lattice", lattice},
                 {"valued", valued},
                 {"banded", banded},
                 {"heavy", heavy},
                 {"sorted", sorted},
                 {"progression", progression}};

template <class T>
std::vector<T> entries_of(const Execution& execution, Index n, const Rule& rule) {
  using Limits = std::numeric_limits<T>;
  constexpr T kMark = Limits::has_infinity ? Limits::infinity() : Limits::max();
  require_memory(static_cast<double>(n) * n * sizeof(T),
                 "a full matrix of " + std::to_string(n) + " x " + std::to_string(n));
  std::vector<T> out(at(n) * at(n));
#pragma omp parallel for num_threads(thread_count(execution)) schedule(static)
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      const double cost = rule(i, j);
      out[at(i) * at(n) + at(j)] = cost == kForbidden ? kMark : static_cast<T>(cost);
    }
  return out;
}

}  // namespace

std::string structured_families() {
  std::string out;
  for (const auto& family : kFamilies) out += std::string(out.empty() ? "" : ", ") + family.name;
  return out;
}

std::optional<DenseCosts> structured_matrix(const Execution& execution, Recipe& recipe) {
  for (const auto& known : kFamilies) {
    if (recipe.family() != known.name) continue;
    DenseCosts out;
    out.rows = out.cols = static_cast<Index>(recipe.whole("n", std::nullopt, 0, 1e6));
    const std::uint64_t seed = recipe.seed();
    const Family family = known.make(recipe, out.rows, seed);
    const std::string type =
        recipe.word("type", family.whole && family.largest <= kMostInt32 ? "int32" : "double");
    if (type == "int32" && family.whole && family.largest <= kMostInt32) {
      out.entries = entries_of<std::int32_t>(execution, out.rows, family.rule);
    } else if (type == "float" || type == "double") {
      out.fraction_bits = fraction_bits_for(family.largest, out.rows, out.cols);
      if (family.whole) out.fraction_bits = std::min(out.fraction_bits, 0);
      if (type == "float")
        out.entries = entries_of<float>(execution, out.rows, family.rule);
      else
        out.entries = entries_of<double>(execution, out.rows, family.rule);
    } else {
      recipe.fail("type=" + type +
                  " is not possible here; use double or float, or int32 where costs are whole numbers");
    }
    return out;
  }
  return std::nullopt;
}

}  // namespace motes::matching::instances
