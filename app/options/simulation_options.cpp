/// The rows of the option table (options.cpp) for `motes simulate`.

#include "app/options/option_rows.h"

namespace motes::app {
namespace {

Codec<sim::Motion> own_motion() {
  return choice<sim::Motion>({{"walk", sim::Motion::walk},
                              {"brownian", sim::Motion::brownian},
                              {"directed", sim::Motion::directed},
                              {"confined", sim::Motion::confined},
                              {"switching", sim::Motion::switching}});
}

Codec<std::vector<double>> rates() { return list_of("a list of numbers not below 0", real(kNotNegative)); }

void add_simulation(std::vector<Option>& table) {
  table.push_back(row("simulation.particles", "particles", integer<std::int64_t>(1, 100000000),
                      MOTES_AT(simulation.particles), "Number of particles in the box at the start."));
  table.push_back(row("simulation.density_per_um3", "1/um^3", real(kNotNegative),
                      MOTES_AT(simulation.density_per_um3),
                      "Particles per um^3; above 0 it replaces simulation.particles."));
  table.push_back(row("simulation.frames", "frames", integer<std::int32_t>(1, 1000000),
                      MOTES_AT(simulation.frames), "Number of frames."));
  table.push_back(
      row("simulation.dt_s", "s", real(kPositive), MOTES_AT(simulation.dt_s), "Time between frames."));
  table.push_back(
      row("simulation.time_jitter_s", "s", real(kNotNegative), MOTES_AT(simulation.time_jitter_s),
          "Standard deviation of the frames' times around multiples of dt_s; frames keep their order."));
  table.push_back(row("simulation.box_um", "um", per_axis(kPositive), MOTES_AT(simulation.box_um),
                      "Size of the visible volume, which begins at 0."));
  table.push_back(row("simulation.motion", "", own_motion(), MOTES_AT(simulation.motion),
                      "A particle's own motion. walk: correlated, biased walk (persistence, speed_um_s). "
                      "brownian: diffusion. directed: straight runs. confined: tethered diffusion. "
                      "switching: changes between simulation.states."));
  table.push_back(row("simulation.persistence", "", real(kFraction), MOTES_AT(simulation.persistence),
                      "walk: weight of the previous direction in the next step (0: random, 1: straight)."));
  table.push_back(row("simulation.speed_um_s", "um/s", real(kNotNegative), MOTES_AT(simulation.speed_um_s),
                      "walk, directed: speed."));
  table.push_back(row("simulation.speed_spread", "", real(kNotNegative), MOTES_AT(simulation.speed_spread),
                      "Standard deviation of the particles' speeds, as a fraction of their mean."));
  table.push_back(row("simulation.diffusion_um2_s", "um^2/s", real(kNotNegative),
                      MOTES_AT(simulation.diffusion_um2_s),
                      "Diffusion constant; added to the steps of a walk or a run."));
  table.push_back(row("simulation.confinement", "",
                      choice<sim::Confinement>(
                          {{"harmonic", sim::Confinement::harmonic}, {"sphere", sim::Confinement::sphere}}),
                      MOTES_AT(simulation.confinement),
                      "confined: harmonic is a spring to the place where the particle began, sphere a "
                      "reflecting wall around it."));
  table.push_back(row("simulation.confinement_radius_um", "um", real(kPositive),
                      MOTES_AT(simulation.confinement_radius_um),
                      "confined: standard deviation per axis (harmonic), or radius of the sphere."));
  table.push_back(row("simulation.states", "",
                      list_of("a list of 2 to 8 of walk, brownian, directed and confined", own_motion()),
                      MOTES_AT(simulation.states), "switching: the motions to switch between."));
  table.push_back(row("simulation.switch_rate_per_s", "1/s", rates(), MOTES_AT(simulation.switch_rate_per_s),
                      "switching: the rate of leaving each state; or the rates from every state to every "
                      "state, row by row, with 0 from a state to itself."));
  table.push_back(row("simulation.state_speed_um_s", "um/s", rates(), MOTES_AT(simulation.state_speed_um_s),
                      "switching: one speed for each state; []: speed_um_s for all."));
  table.push_back(row("simulation.state_diffusion_um2_s", "um^2/s", rates(),
                      MOTES_AT(simulation.state_diffusion_um2_s),
                      "switching: one diffusion constant for each state; []: diffusion_um2_s for all."));
  table.push_back(
      row("simulation.new_run_direction", "", truth_value(), MOTES_AT(simulation.new_run_direction),
          "switching: draw a new direction when a state is entered; false: each particle keeps its own."));
}

void add_simulated_world(std::vector<Option>& table) {
  table.push_back(row("simulation.boundary", "",
                      choice<sim::Boundary>({{"reflecting", sim::Boundary::reflecting},
                                             {"periodic", sim::Boundary::periodic},
                                             {"absorbing", sim::Boundary::absorbing},
                                             {"open", sim::Boundary::open}}),
                      MOTES_AT(simulation.boundary),
                      "At the walls particles turn back (reflecting), re-enter on the other side (periodic), "
                      "end (absorbing), or leave and enter (open)."));
  table.push_back(
      row("simulation.margin_um", "um", word_or("auto", real(kNotNegative)), MOTES_AT(simulation.margin_um),
          "open: width of the margin outside the view in which particles are followed; auto: about as far "
          "as they move in a frame."));
  table.push_back(
      row("simulation.same_track_on_return", "", truth_value(), MOTES_AT(simulation.same_track_on_return),
          "open: a particle that returns keeps its track, with a gap; false: it begins a new one."));
  table.push_back(row("simulation.birth_rate_per_s", "1/s", real(kNotNegative),
                      MOTES_AT(simulation.birth_rate_per_s), "New particles per second in the box."));
  table.push_back(row("simulation.death_rate_per_s", "1/s", real(kNotNegative),
                      MOTES_AT(simulation.death_rate_per_s),
                      "Rate at which a particle dies; its inverse is the mean life."));
  table.push_back(row("simulation.drift_um_s", "um/s", per_axis(kAnyNumber), MOTES_AT(simulation.drift_um_s),
                      "Velocity common to all particles."));
  table.push_back(row("simulation.rotation_deg_s", "degrees/s", real(kAnyNumber),
                      MOTES_AT(simulation.rotation_deg_s),
                      "Rotation of all particles about the box's centre."));
  table.push_back(row("simulation.rotation_axis", "", per_axis(kAnyNumber),
                      MOTES_AT(simulation.rotation_axis), "Axis of the rotation."));
  table.push_back(row("simulation.flow", "",
                      choice<sim::Flow>({{"none", sim::Flow::none},
                                         {"shear", sim::Flow::shear},
                                         {"vortex", sim::Flow::vortex},
                                         {"turbulence", sim::Flow::turbulence}}),
                      MOTES_AT(simulation.flow),
                      "A flow that carries the particles. shear: along x, growing with y. vortex: about z. "
                      "turbulence: a sum of random waves. All are incompressible."));
  table.push_back(row("simulation.flow_speed_um_s", "um/s", real(kNotNegative),
                      MOTES_AT(simulation.flow_speed_um_s),
                      "The flow's speed: at the walls (shear), its largest (vortex), its root mean square "
                      "(turbulence)."));
  table.push_back(row(
      "simulation.flow_scale_um", "um", real(kPositive), MOTES_AT(simulation.flow_scale_um),
      "Radius of the vortex's core, or longest wave of the turbulence; the shortest is an eighth of it."));
  table.push_back(row("simulation.flow_modes", "waves", integer<int>(1, 4096),
                      MOTES_AT(simulation.flow_modes), "Number of waves of the turbulence."));
  table.push_back(row("simulation.division_s", "s", real(kNotNegative), MOTES_AT(simulation.division_s),
                      "Mean time between a cell's divisions; 0: none."));
  table.push_back(row("simulation.division_spread_s", "s", real(kNotNegative),
                      MOTES_AT(simulation.division_spread_s), "Standard deviation of that time."));
  table.push_back(row("simulation.division_distance_um", "um", real(kNotNegative),
                      MOTES_AT(simulation.division_distance_um),
                      "Distance of two daughters at the start, along a random axis."));
  table.push_back(row("simulation.repulsion_um", "um", real(kNotNegative), MOTES_AT(simulation.repulsion_um),
                      "Particles nearer than this push each other apart; 0: never."));
  table.push_back(row("simulation.repulsion_rate_per_s", "1/s", real(kNotNegative),
                      MOTES_AT(simulation.repulsion_rate_per_s),
                      "Fraction of their overlap that two particles lose per second."));
}

void add_seeding(std::vector<Option>& table) {
  table.push_back(row(
      "simulation.seeding", "",
      choice<sim::Seeding>({{"uniform", sim::Seeding::uniform},
                            {"clusters", sim::Seeding::clusters},
                            {"ball", sim::Seeding::ball},
                            {"shell", sim::Seeding::shell},
                            {"plane", sim::Seeding::plane}}),
      MOTES_AT(simulation.seeding),
      "Where particles begin. uniform: anywhere in the box. clusters: in balls around random places. ball: "
      "in an ellipsoid around the box's centre. shell: on its surface. plane: in the middle xy plane."));
  table.push_back(row("simulation.clusters", "clusters", integer<std::int64_t>(1, 100000000),
                      MOTES_AT(simulation.clusters), "seeding clusters: number of clusters."));
  table.push_back(row("simulation.cluster_radius_um", "um", real(kNotNegative),
                      MOTES_AT(simulation.cluster_radius_um), "seeding clusters: radius of each cluster."));
  table.push_back(row("simulation.seeding_radius_um", "um", per_axis(kPositive),
                      MOTES_AT(simulation.seeding_radius_um),
                      "seeding ball or shell: half axes of the ellipsoid."));
  table.push_back(row("simulation.min_distance_um", "um", real(kNotNegative),
                      MOTES_AT(simulation.min_distance_um),
                      "Smallest distance between particles in the first frame."));
  table.push_back(
      row("simulation.seed", "", integer<std::uint64_t>(0, std::uint64_t{1} << 62), MOTES_AT(simulation.seed),
          "Seed of all random numbers (--seed); the same seed gives the same bits on every machine."));
  table.push_back(row("simulation.truth", "",
                      word_or("auto", list_of("a list of h5, csv, xml and vtp",
                                              choice<TrackFileKind>({{"h5", TrackFileKind::h5},
                                                                     {"csv", TrackFileKind::csv},
                                                                     {"xml", TrackFileKind::xml},
                                                                     {"vtp", TrackFileKind::vtp}}))),
                      MOTES_AT(simulated.truth),
                      "Files of the true tracks (truth.h5 ...); auto: h5, and csv up to 2 million points."));
  table.push_back(row(
      "simulation.detections", "",
      word_or("auto", list_of("a list of csv and h5", choice<PointFileKind>({{"csv", PointFileKind::csv},
                                                                             {"h5", PointFileKind::h5}}))),
      MOTES_AT(simulated.detections),
      "Files of the detections (detections.csv ...); []: none; auto: csv up to 5 million points, h5 beyond. "
      "truth.h5, and detection_truth.csv beside a csv, state which detection belongs to each true point."));
}

void add_faults(std::vector<Option>& table) {
  table.push_back(row("faults.noise_um", "um", per_axis(kNotNegative), MOTES_AT(faults.noise_um),
                      "Standard deviation of the detections' positions about the true ones."));
  table.push_back(row("faults.miss", "", real(kFraction), MOTES_AT(faults.miss),
                      "Probability that a particle is missed in a frame, independent of other frames."));
  table.push_back(row("faults.blink_on_s", "s", real(kNotNegative), MOTES_AT(faults.blink_on_s),
                      "Mean time that a blinking particle is visible; 0: no blinking."));
  table.push_back(row("faults.blink_off_s", "s", real(kNotNegative), MOTES_AT(faults.blink_off_s),
                      "Mean time that a blinking particle is dark."));
  table.push_back(row("faults.false_per_frame", "detections", real(kNotNegative),
                      MOTES_AT(faults.false_per_frame),
                      "Mean number of false detections in a frame, anywhere in the box."));
  table.push_back(row("faults.merge_um", "um", real(kNotNegative), MOTES_AT(faults.merge_um),
                      "Particles nearer than this are detected as one; 0: never."));
  table.push_back(
      row("faults.merge_into", "",
          choice<sim::MergeInto>({{"mean", sim::MergeInto::mean}, {"brighter", sim::MergeInto::brighter}}),
          MOTES_AT(faults.merge_into),
          "Position of a merged detection: the particles' mean, or the brighter one's."));
}

void add_optics(std::vector<Option>& table) {
  table.push_back(row("imaging.voxel_um", "um", per_axis(kPositive), MOTES_AT(imaging.optics.voxel_um),
                      "Distance between voxel centres."));
  table.push_back(
      row("imaging.psf", "",
          choice<sim::Psf>({{"gaussian", sim::Psf::gaussian},
                            {"gibson-lanni", sim::Psf::gibson_lanni},
                            {"gaussian-beam", sim::Psf::gaussian_beam}}),
          MOTES_AT(imaging.optics.psf),
          "Point spread function. gaussian: a Gaussian of psf_sigma_um. gibson-lanni: scalar diffraction "
          "with index mismatch. gaussian-beam: a Gaussian in each plane, wider away from the spot."));
  table.push_back(row("imaging.psf_sigma_um", "um", per_axis(kPositive),
                      MOTES_AT(imaging.optics.psf_sigma_um),
                      "Standard deviation of the Gaussian point spread function."));
  table.push_back(row("imaging.na", "", real(kPositive), MOTES_AT(imaging.optics.na),
                      "gibson-lanni, gaussian-beam: numerical aperture, below refractive_index."));
  table.push_back(row("imaging.wavelength_um", "um", real(kPositive), MOTES_AT(imaging.optics.wavelength_um),
                      "gibson-lanni, gaussian-beam: wavelength of the emitted light in vacuum."));
  table.push_back(row("imaging.refractive_index", "", real(kPositive),
                      MOTES_AT(imaging.optics.refractive_index),
                      "gibson-lanni, gaussian-beam: index of the objective's immersion medium."));
  table.push_back(row("imaging.sample_index", "", word_or("auto", real(kPositive)),
                      MOTES_AT(imaging.optics.sample_index),
                      "gibson-lanni: index of the sample; auto: refractive_index (no mismatch)."));
  table.push_back(
      row("imaging.depth_um", "um", real(kNotNegative), MOTES_AT(imaging.optics.depth_um),
          "gibson-lanni: depth of the first plane below the cover slip; matters with a mismatch."));
  table.push_back(row("imaging.psf_range_um", "um", word_or("auto", real(kPositive)),
                      MOTES_AT(imaging.optics.psf_range_um),
                      "gibson-lanni, gaussian-beam: distance above and below a spot up to which its light is "
                      "drawn; auto: twice the distance of the first dark point on the axis (up to four times "
                      "with a mismatch), or five Rayleigh ranges."));
  table.push_back(row("imaging.defocus_um", "um", word_or("none", real(kPositive)),
                      MOTES_AT(imaging.optics.defocus_um),
                      "gaussian: Rayleigh range of spots that widen laterally away from focal_plane_um; "
                      "none: constant width."));
  table.push_back(row("imaging.focal_plane_um", "um", word_or("auto", real(kAnyNumber)),
                      MOTES_AT(imaging.optics.focal_plane_um),
                      "With defocus_um: z at which spots are in focus; auto: the middle of the box."));
}

void add_imaging(std::vector<Option>& table) {
  add_optics(table);
  table.push_back(row("imaging.photons", "photons", word_or("auto", real(kPositive)),
                      MOTES_AT(imaging.optics.photons),
                      "Mean photons of a spot, over all its voxels; auto: from snr. Not together with snr."));
  table.push_back(row("imaging.snr", "", word_or("auto", real(kPositive)), MOTES_AT(imaging.optics.snr),
                      "Signal to noise (peak - background) / sqrt(peak), as in the Particle Tracking "
                      "Challenge, of a spot on a voxel's centre; auto: 7, unless photons are given."));
  table.push_back(row("imaging.intensity_spread", "", real(Domain{0, 3, true, " from 0 to 3"}),
                      MOTES_AT(imaging.optics.intensity_spread),
                      "Standard deviation of the logarithm of a particle's photons."));
  table.push_back(row("imaging.radius_spread", "", real(Domain{0, 3, true, " from 0 to 3"}),
                      MOTES_AT(imaging.optics.radius_spread),
                      "Standard deviation of the logarithm of a particle's size."));
  table.push_back(row("imaging.bleaching_s", "s", word_or("none", real(kPositive)),
                      MOTES_AT(imaging.optics.bleaching_s),
                      "Time in which the spots' photons fall to 1/e; none: no bleaching."));
  table.push_back(row("imaging.background", "photons", real(kNotNegative),
                      MOTES_AT(imaging.optics.background), "Mean background photons per voxel."));
  table.push_back(row("imaging.gain", "grey levels per photon",
                      real(Domain{0.015625, 4096, true, " from 0.015625 to 4096"}),
                      MOTES_AT(imaging.optics.gain), "Grey levels that a photon adds to a voxel."));
  table.push_back(row("imaging.offset", "grey levels", real(kNotNegative), MOTES_AT(imaging.optics.offset),
                      "Camera offset added to every voxel."));
  table.push_back(row("imaging.read_noise", "grey levels", real(kNotNegative),
                      MOTES_AT(imaging.optics.read_noise),
                      "Standard deviation of the camera's Gaussian noise."));
  table.push_back(row("imaging.bit_depth", "bits", choice<int>({{"8", 8}, {"12", 12}, {"16", 16}}),
                      MOTES_AT(imaging.optics.bit_depth), "Grey levels are clamped at 2^bit_depth - 1."));
  table.push_back(row("imaging.write_frames", "", truth_value(), MOTES_AT(imaging.write_frames),
                      "Write the volumes, as frames/frames.ome.tif or frames/frames.h5 and .xml."));
  table.push_back(
      row("imaging.format", "",
          choice<VolumeFormat>({{"ome-tiff", VolumeFormat::ome_tiff}, {"bdv-h5", VolumeFormat::bdv_h5}}),
          MOTES_AT(imaging.format),
          "File format of the volumes: OME-TIFF (BigTIFF where large) or BigDataViewer HDF5."));
  table.push_back(
      row("imaging.deflate", "", truth_value(), MOTES_AT(imaging.deflate), "Compress the volumes."));
}

}  // namespace

void add_simulation_options(std::vector<Option>& table) {
  add_simulation(table);
  add_simulated_world(table);
  add_seeding(table);
  add_faults(table);
  add_imaging(table);
}

}  // namespace motes::app
