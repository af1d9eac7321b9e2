#pragma once
/// Mixtures of Gaussians around one centre: the distribution of Gaussian displacements of particles whose
/// mobility differs, or changes with time.

#include <span>
#include <vector>

namespace motes::tracking {

/// The lengths of tables of densities, rising from 0 to at least RadialDensity::kMostReach: multiples of
/// 1 / kTabulatedPerScale up to kTabulatedEvenTo, then each 5 % more than the one before.
const std::vector<double>& tabulated_lengths();
inline constexpr double kTabulatedPerScale = 16, kTabulatedEvenTo = 24;

/// The place of a length in tabulated_lengths(): 2.5 is half-way from the third to the fourth. At most the
/// last one.
double tabulated_place(double length);

/// The density, per unit volume in `dims` (1 to 3) dimensions at each of tabulated_lengths(), of the mixture
/// of Gaussians of different scales with the highest likelihood. The data are the lengths, of a typical size
/// of 1, and kPriorLengths more that follow the Student t of student_log_density (which is such a mixture
/// itself). The mixture falls with the length, and can represent a Gaussian as well as heavy tails and mixed
/// speeds. By expectation maximisation, starting from the Student t; O(lengths). Source: Kiefer, Wolfowitz
/// 1956; Laird 1978.
std::vector<double> scale_mixture_density(std::span<const double> lengths, int dims);

/// With fewer, the few longest lengths would decide how likely longer ones are.
inline constexpr double kPriorLengths = 4;

}  // namespace motes::tracking
