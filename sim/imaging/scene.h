#pragma once
/// The data for rendering a series, without the spots of frames; computed once, on the CPU.

#include <vector>

#include <motes/sim/imaging.h>

#include "sim/imaging/photon_table.h"
#include "sim/imaging/psf.h"
#include "sim/imaging/render_rules.h"

namespace motes::sim::detail {

/// Photons and radius of a point, as in the truth, without defocus.
struct Appearance {
  double photons, radius_um;
};

struct Scene {
  /// Checks the options, and tabulates the PSF and the random numbers.
  Scene(const Execution& execution, const MotionOptions& motion, const ImagingOptions& imaging);

  /// Rules of frame t; they contain pointers into this scene.
  FrameRules rules(std::int32_t t) const;

  /// The spots to draw in frame t, in the order of tracks, without spots outside the view. Throws InputError
  /// for a point without a finite position or with negative photons or radius.
  std::vector<Spot> spots(const Execution& execution, const TrackSet& truth, std::int32_t t) const;

  /// The spot to draw, with widths, depth and light.
  Spot spot_of(const Vec3& at, const Appearance& look) const;

  bool tabulated() const { return imaging.psf != Psf::gaussian; }

  MotionOptions motion;
  ImagingOptions imaging;
  Shape3 shape;
  std::vector<CumulativeNode> cumulative;
  PsfTable psf;
  PhotonTables photons;
  InversionTables noise{12};
  SpotLight light;
  double radius_um;  ///< radius of a spot without spread
};

/// The appearance of a particle's point by the options.
Appearance appearance(const Scene& scene, std::int64_t track_id, double time_s);

/// Adds the expected light of `spots` to the voxels of a box [z0, z1) x [y0, y1) x all x, x fastest.
void add_light(const FrameRules& rules, const std::vector<Spot>& spots,
               const std::vector<std::uint32_t>& order, Reach z, Reach y, float* light);

}  // namespace motes::sim::detail
