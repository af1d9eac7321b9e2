#pragma once
/// The motion models of the series linker (series_links.h).

namespace motes::tracking {

/// How displacements are predicted.
enum class MotionModel {
  automatic,  ///< chosen from the data
  standing,   ///< particles are expected where they are
  velocity,   ///< from the links before and after each candidate
  field,      ///< from the neighbours, then from the links before and after
  joint       ///< like velocity, but over all frames at once by belief propagation
};

}  // namespace motes::tracking
