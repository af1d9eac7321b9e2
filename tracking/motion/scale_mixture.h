#pragma once
/// Mixtures of Gaussians around one centre: the law of displacements where steps are Gaussian, and of
/// particles or moments that differ in their mobility.

#include <span>
#include <vector>

namespace motes::tracking {

/// Lengths at which densities by distance are tabulated, increasing from 0 to at least
/// RadialDensity::kMostReach: multiples of 1/16 up to 24, and from there on each 5 % more.
const std::vector<double>& tabulated_lengths();

/// Where a length lies among them: 2.5 is in the middle of the third and the fourth. At most the last one.
double tabulated_place(double length);

/// The density, per unit volume in `dims` (1 to 3) dimensions and at each of tabulated_lengths(), of the
/// mixture of Gaussians of different scales that is likeliest for the lengths and kPriorLengths more of the
/// Student t of student_log_density, which is such a mixture itself. `lengths`: of a typical size of 1. The
/// mixture falls with the length, and follows a Gaussian as well as heavy tails and mixed speeds. By
/// expectation maximisation from the Student t on; O(lengths). Source: Kiefer, Wolfowitz 1956; Laird 1978.
std::vector<double> scale_mixture_density(std::span<const double> lengths, int dims);

/// Fewer let the few longest lengths alone decide how likely longer ones are.
inline constexpr double kPriorLengths = 4;

}  // namespace motes::tracking
