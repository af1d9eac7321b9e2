#pragma once
/// The voxels around one spot, and the normal equations of a Gaussian spot fitted to them.

#include <array>
#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "tracking/detect/blocks.h"
#include "tracking/detect/fit_noise.h"
#include "tracking/detect/spot_model.h"

namespace motes::tracking::detect {

constexpr int kParameters = 7;
enum Parameter { kHeight, kBackground, kX, kY, kZ, kWidthXY, kWidthZ };  ///< widths: ln(width / filter sigma)
constexpr int kMostLanes = 16;

using Vector = Eigen::Matrix<double, kParameters, 1>;
using Matrix = Eigen::Matrix<double, kParameters, kParameters>;

/// The voxels of one spot's window, less its neighbours' light.
struct Window {
  Index3 first{}, count{};
  int width = 16;              ///< columns of a row: 8 or 16
  int lanes = 0;               ///< those in use; the others are 0
  std::vector<float> values;   ///< [count z][count y][width]
  std::vector<float> light;    ///< what the neighbours' models give there
  std::vector<float> weights;  ///< 1 / variance
};

/// exp(-u^2 / 2), times u / sigma, times u^2, for the voxels of a window along one axis.
struct Profile {
  std::array<float, kMostLanes> g{}, d1{}, d2{};
};
using Profiles3 = std::array<Profile, 3>;
Profiles3 profiles_of(const Window& window, const SpotModel& spot);

/// The window of `half` voxels either way of a place, cut by the frame; no light taken off yet.
Window cut_window(const Source& source, const Place& place, const Index3& half, int width);

/// Takes the light of a neighbour off the window.
void take_off(Window& window, const SpotModel& neighbour);

/// Weights by the expected values of `spot` and the neighbours.
void set_weights(Window& window, const SpotModel& spot, const Noise& noise);

struct Normal {
  Matrix matrix;
  Vector slope;
  double cost = 0;  ///< sum of weighted squared residuals
};

/// Normal equations of all seven parameters at `spot`.
Normal normal_equations(const Window& window, const SpotModel& spot);

/// How a spot's second moments differ from its model's: least squares on height, background and the six
/// moments at the model's place.
struct Shape {
  Eigen::Matrix3d moments = Eigen::Matrix3d::Zero();  ///< in units of the model's variances; 0: as the model
  double gain = 0;        ///< by how much the weighted squares fall for the six moments
  double deviatoric = 0;  ///< and for those that are not one width for all axes
};
Shape shape_of(const Window& window, const SpotModel& spot, int dimensions);

}  // namespace motes::tracking::detect
