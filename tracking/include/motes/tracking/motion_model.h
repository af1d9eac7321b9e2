#pragma once
/// The motion models of the series linker (series_links.h).

namespace motes::tracking {

/// How displacements are predicted.
enum class MotionModel {
  automatic,  ///< decided by the data
  standing,   ///< not at all
  velocity,   ///< from the links before and after
  field,      ///< from the neighbours, then from the links before and after
  joint       ///< as velocity, over all frames at once by belief propagation
};

}  // namespace motes::tracking
