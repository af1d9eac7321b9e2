#pragma once
/// Families of assignment problems, and their optimum by brute force.

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <motes/matching/problem.h>

namespace motes::testing {

struct Instance {
  std::string name;  ///< family, sizes and seed: enough to make it again
  matching::SparseCosts costs;
};

/// A dense matrix as a sparse problem; entries equal to kInfiniteCost are left out.
matching::SparseCosts from_matrix(const std::vector<std::vector<matching::Cost>>& matrix);

/// Small instances of every family for one seed: empty, 1 x n, rectangular, infeasible, all equal, ties,
/// duplicate rows, long alternating chains, geometric progressions, negative costs, mixed unmatched costs.
std::vector<Instance> small_instances(std::uint64_t seed);

/// n points and their copies displaced by Gaussian steps of `sigma` mean spacings, gated at 2.4 sigma; both
/// sides may stay free.
matching::SparseCosts points_costs(std::uint64_t seed, matching::Index n, double sigma);

/// Larger ones (hundreds to thousands of vertices) for the certificate alone.
std::vector<Instance> large_instances(std::uint64_t seed);

/// The same problem in every dense number type that holds its costs exactly, as matrices with padded rows.
struct DenseForm {
  std::string name;
  std::shared_ptr<const matching::DenseCosts>
      matrix;  ///< with `stride` columns, of which the view shows cols
  matching::DenseCostsView view;
};
std::vector<DenseForm> dense_forms(const matching::SparseCosts& costs);

/// Small matrix-free problems: both metrics, two and three dimensions, gates, duplicate points, all-equal
/// distances, lines of equidistant points, unmatched costs of every kind.
struct GeometricInstance {
  std::string name;
  matching::GeometricCosts costs;
};
std::vector<GeometricInstance> geometric_instances(std::uint64_t seed);

/// The least objective by dynamic programming over column sets (at most 12 columns); none when infeasible.
std::optional<matching::Cost> brute_force(const matching::SparseCostsView& problem);

}  // namespace motes::testing
