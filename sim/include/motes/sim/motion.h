#pragma once
/// Simulated particle motion with ground truth. docs/method/simulation.md describes the models.

#include <cstdint>
#include <optional>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/geometry.h>
#include <motes/tracking/track_set.h>

namespace motes::sim {

/// The motion of a single particle. Flow, drift and rotation, which move all particles, are added to it.
enum class Motion : std::uint8_t {
  walk,      ///< correlated, biased walk of Vasconcelos & Rosenhahn 2009, section 6: one turn per frame
  brownian,  ///< diffusion only
  directed,  ///< a straight run in a random direction, plus diffusion
  confined,  ///< diffusion confined around the starting point
  switching  ///< changes between MotionOptions::states at random times
};

enum class Confinement : std::uint8_t { harmonic, sphere };
enum class Boundary : std::uint8_t { reflecting, periodic, absorbing, open };
enum class Flow : std::uint8_t { none, shear, vortex, turbulence };
enum class Seeding : std::uint8_t { uniform, clusters, ball, shell, plane };

struct MotionOptions {
  std::int64_t particles = 200;  ///< in the box, in the first frame
  double density_per_um3 = 0;    ///< if positive, determines the number of particles instead
  std::int32_t frames = 20;
  double dt_s = 1;           ///< time between frames
  double time_jitter_s = 0;  ///< standard deviation of the frames' true times about frame * dt_s
  Vec3 box_um{25.6, 25.6, 12.8};
  std::uint64_t seed = 1;

  Motion motion = Motion::walk;
  double persistence = 0.8;    ///< of walk, in [0, 1]; 0: independent directions, 1: straight lines
  double speed_um_s = 0.5;     ///< of walk and directed
  double speed_spread = 0;     ///< relative standard deviation of the particles' speeds
  double diffusion_um2_s = 0;  ///< of every motion; added to the steps of walk and directed
  Confinement confinement = Confinement::harmonic;
  double confinement_radius_um = 0.3;  ///< harmonic: standard deviation per axis; sphere: radius

  std::vector<Motion> states;                 ///< of switching: n = 2 to 8 motions other than switching
  std::vector<double> switch_rate_per_s;      ///< [n] of leaving each state, or [n * n] from row to column
  std::vector<double> state_speed_um_s;       ///< [n]; empty: speed_um_s
  std::vector<double> state_diffusion_um2_s;  ///< [n]; empty: diffusion_um2_s
  bool new_run_direction = false;             ///< draw a new direction whenever a state is entered

  Boundary boundary = Boundary::reflecting;
  std::optional<double> margin_um;    ///< boundary open: width around the box; none: chosen from the motion
  bool same_track_on_return = false;  ///< boundary open: a particle that returns continues its old track
  double birth_rate_per_s = 0;        ///< new particles in the box
  double death_rate_per_s = 0;        ///< of each particle

  Vec3 drift_um_s{0, 0, 0};
  double rotation_deg_s = 0;
  Vec3 rotation_axis{0, 0, 1};
  Flow flow = Flow::none;
  double flow_speed_um_s = 0.5;  ///< at the walls (shear), maximum (vortex), rms (turbulence)
  double flow_scale_um = 5;      ///< radius of the vortex core; longest wavelength of the turbulence
  int flow_modes = 32;           ///< number of waves in the turbulence

  double division_s = 0;            ///< mean length of the cell cycle; 0: no divisions
  double division_spread_s = 0;     ///< its standard deviation
  double division_distance_um = 1;  ///< between the daughters
  double repulsion_um = 0;          ///< particles closer than this push each other apart; 0: never
  double repulsion_rate_per_s = 1;

  Seeding seeding = Seeding::uniform;
  std::int64_t clusters = 10;
  double cluster_radius_um = 1;
  Vec3 seeding_radius_um{5, 5, 5};  ///< of ball and shell, an ellipsoid around the box's centre
  double min_distance_um = 0;       ///< between particles of the first frame
};

/// Throws UsageError naming the key (simulation.*) of the first invalid option.
void check_options(const MotionOptions& motion);

/// True tracks (`detection` -1), in the order of the particles. Every position lies in [0, box].
///
/// A particle's track begins with its first frame in view (frame 0, its birth, or its entry into the box)
/// and ends with its last. If particles divide, `parent` is filled. If they switch, the point property
/// `state` is the index into options.states. If tracks do not span all frames, there are the track
/// properties `began` (kBegan*) and `ended` (kEnded*), and with boundary open `particle`, since one
/// particle may then make several tracks.
///
/// Throws UsageError naming the key of an invalid option, and execution.backend for a population that
/// cannot be simulated on a GPU; ResourceError if cuda is requested and there is no GPU. The same bits for
/// any thread count, on CPU and GPU, on every machine with IEEE doubles. O(particles * frames), times
/// flow_modes with turbulence.
TrackSet simulate_motion(const Execution& execution, const MotionOptions& options);

/// Why a track begins and ends: the values of its properties `began` and `ended`.
inline constexpr double kBeganFirstFrame = 0, kBeganBorn = 1, kBeganEntered = 2, kBeganDivision = 3;
inline constexpr double kEndedLastFrame = 0, kEndedDied = 1, kEndedLeft = 2, kEndedDivided = 3;

/// The back end on which simulate_motion runs. Throws as simulate_motion if cuda is requested and cannot be
/// used.
Backend motion_backend(const Execution& execution, const MotionOptions& options);

/// The true times of all frames in seconds, ascending, [frames].
std::vector<double> frame_times(const MotionOptions& options);

}  // namespace motes::sim
