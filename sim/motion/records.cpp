/// Cuts the records of particles into tracks, with their properties.

#include "sim/motion/records.h"

#include <functional>

#include <motes/base/errors.h>
#include <motes/base/index.h>
#include <motes/base/large_pages.h>
#include <motes/base/stop.h>

namespace motes::sim::detail {
namespace {

/// A track: the records [begin, end) of a particle, including absent ones between them.
struct Run {
  std::size_t particle, begin, end;
  std::int64_t points;
};

/// Calls emit(run) for the particle's tracks, in order.
template <class Emit>
void for_each_run(const Records& records, std::size_t particle, bool bridge_absence, const Emit& emit) {
  const std::size_t begin = at(records.offsets[particle]), end = at(records.offsets[particle + 1]);
  Run run{particle, 0, 0, 0};
  bool absent = false;
  for (std::size_t r = begin; r < end; ++r) {
    const std::uint8_t code = records.code[r];
    if (code == kAbsent) {
      absent = true;
      continue;
    }
    if (run.points > 0 && ((code & kRenewedBit) != 0 || (absent && !bridge_absence))) {
      emit(run);
      run.points = 0;
    }
    if (run.points == 0) run.begin = r;
    run.end = r + 1;
    ++run.points;
    absent = false;
  }
  if (run.points > 0) emit(run);
}

struct Cut {
  std::vector<Run> runs;
  std::vector<std::int64_t> offsets{0};  ///< [runs + 1] points
};

Cut cut_into_runs(const MotionOptions& options, const Records& records) {
  constexpr std::size_t kParticlesAQuestion = 4096;
  const Stop stop = Stop::of_this_thread();
  Cut cut;
  for (std::size_t p = 0; p < records.particles(); ++p) {
    if (p % kParticlesAQuestion == 0) stop.check();
    const auto emit = [&](const Run& run) {
      cut.runs.push_back(run);
      cut.offsets.push_back(cut.offsets.back() + run.points);
    };
    if (!records.code.empty()) {
      for_each_run(records, p, options.same_track_on_return, emit);
    } else if (records.offsets[p + 1] > records.offsets[p]) {
      emit({p, at(records.offsets[p]), at(records.offsets[p + 1]),
            records.offsets[p + 1] - records.offsets[p]});
    }
  }
  return cut;
}

class Assembly {
 public:
  Assembly(const Execution& execution, const MotionOptions& options, const Simulation& simulation,
           Records& records)
      : execution_(execution),
        options_(options),
        simulation_(simulation),
        records_(records),
        cut_(cut_into_runs(options, records)) {}

  TrackSet build() {
    const bool as_they_are = at(cut_.offsets.back()) == records_.frame.size();
    tracks_.dt_s = options_.dt_s;
    tracks_.track_id.resize(cut_.runs.size());
    for (std::size_t t = 0; t < cut_.runs.size(); ++t) tracks_.track_id[t] = static_cast<std::int64_t>(t);
    if (options_.motion == Motion::switching) tracks_.point_properties.push_back({"state", {}});
    if (as_they_are) {
      tracks_.frame = std::move(records_.frame);
      tracks_.x_um = std::move(records_.x);
      tracks_.y_um = std::move(records_.y);
      tracks_.z_um = std::move(records_.z);
    }
    size_points(as_they_are);
    fill_points(as_they_are);
    name_tracks();
    tracks_.track_offsets = std::move(cut_.offsets);
    return std::move(tracks_);
  }

 private:
  void size_points(bool as_they_are) {
    const std::size_t points = at(cut_.offsets.back());
    // If the records are exactly the points of the tracks, these have the right size already.
    tracks_.detection = std::move(records_.detection);
    tracks_.time_s = std::move(records_.time);
    std::vector<std::function<void()>> jobs;
    if (tracks_.detection.size() != points)
      jobs.push_back([&, points] { size_large(tracks_.detection, points, std::int64_t{-1}); });
    if (tracks_.time_s.size() != points) jobs.push_back([&, points] { size_large(tracks_.time_s, points); });
    if (!as_they_are) {
      jobs.push_back([&, points] { size_large(tracks_.frame, points); });
      for (auto* axis : {&tracks_.x_um, &tracks_.y_um, &tracks_.z_um})
        jobs.push_back([axis, points] { size_large(*axis, points); });
    }
    for (PropertyColumn& column : tracks_.point_properties)
      jobs.push_back([&column, points] { size_large(column.values, points); });
    run_side_by_side(execution_, jobs);
  }

  void fill_points(bool as_they_are) {
    double* state =
        tracks_.point_properties.empty() ? nullptr : tracks_.point_properties.front().values.data();
    const MotionModel& model = simulation_.model;
#pragma omp parallel for num_threads(thread_count(execution_)) schedule(static)
    for (std::size_t t = 0; t < cut_.runs.size(); ++t) {
      std::size_t point = at(cut_.offsets[t]);
      for (std::size_t r = cut_.runs[t].begin; r < cut_.runs[t].end; ++r) {
        const std::uint8_t code = records_.code.empty() ? std::uint8_t{0} : records_.code[r];
        if (code == kAbsent) continue;
        if (!as_they_are) {
          tracks_.frame[point] = records_.frame[r];
          tracks_.x_um[point] = records_.x[r];
          tracks_.y_um[point] = records_.y[r];
          tracks_.z_um[point] = records_.z[r];
        }
        tracks_.time_s[point] = frame_time(model, tracks_.frame[point]);
        if (state != nullptr) state[point] = code & ~kRenewedBit;
        ++point;
      }
    }
  }

  void name_tracks() {
    const bool divides = !records_.parent.empty();
    const bool comes_and_goes = divides || options_.boundary == Boundary::absorbing ||
                                options_.boundary == Boundary::open || options_.birth_rate_per_s > 0 ||
                                options_.death_rate_per_s > 0;
    if (divides) name_parents();
    if (comes_and_goes) {
      PropertyColumn began{"began", {}}, ended{"ended", {}};
      for (std::size_t t = 0; t < cut_.runs.size(); ++t) {
        began.values.push_back(how_began(t));
        ended.values.push_back(how_ended(t));
      }
      tracks_.track_properties.push_back(std::move(began));
      tracks_.track_properties.push_back(std::move(ended));
    }
    if (options_.boundary != Boundary::open) return;
    PropertyColumn particle{"particle", {}};
    for (const Run& run : cut_.runs) particle.values.push_back(static_cast<double>(run.particle));
    tracks_.track_properties.push_back(std::move(particle));
  }

  /// A daughter's mother is the last track of the mother's particle.
  void name_parents() {
    std::vector<std::int64_t> last_track(records_.particles(), -1);
    for (std::size_t t = 0; t < cut_.runs.size(); ++t)
      last_track[cut_.runs[t].particle] = static_cast<std::int64_t>(t);
    for (std::size_t t = 0; t < cut_.runs.size(); ++t) {
      std::int64_t mother = records_.parent[cut_.runs[t].particle];
      // A cell that divided again before it was in any frame has no track; its daughters then name its
      // mother.
      while (mother >= 0 && last_track[at(mother)] < 0) mother = records_.parent[at(mother)];
      const bool first = t == 0 || cut_.runs[t - 1].particle != cut_.runs[t].particle;
      tracks_.parent.push_back(first && mother >= 0 ? last_track[at(mother)] : -1);
    }
  }

  double birth(std::size_t particle) const {
    return records_.birth.empty() ? simulation_.birth(particle) : records_.birth[particle];
  }
  double death(std::size_t particle) const {
    return records_.death.empty()
               ? death_time(simulation_.model, static_cast<std::uint32_t>(particle), birth(particle))
               : records_.death[particle];
  }

  double how_began(std::size_t t) const {
    const std::int32_t frame = tracks_.frame[at(cut_.offsets[t])];
    const std::size_t particle = cut_.runs[t].particle;
    if (frame == 0) return kBeganFirstFrame;
    if (!(birth(particle) > frame_time(simulation_.model, frame - 1))) return kBeganEntered;
    return !records_.parent.empty() && records_.parent[particle] >= 0 ? kBeganDivision : kBeganBorn;
  }

  double how_ended(std::size_t t) const {
    const std::int32_t frame = tracks_.frame[at(cut_.offsets[t + 1]) - 1];
    const std::size_t particle = cut_.runs[t].particle;
    if (frame + 1 == options_.frames) return kEndedLastFrame;
    const bool last = t + 1 == cut_.runs.size() || cut_.runs[t + 1].particle != particle;
    if (last && !records_.divided.empty() && records_.divided[particle] != 0) return kEndedDivided;
    const double next = frame_time(simulation_.model, frame + 1);
    return death(particle) <= next ? kEndedDied : kEndedLeft;
  }

  const Execution& execution_;
  const MotionOptions& options_;
  const Simulation& simulation_;
  Records& records_;
  Cut cut_;
  TrackSet tracks_;
};

}  // namespace

void throw_stopped() { throw Interrupted("interrupted while simulating; nothing was written"); }

bool always_seen(const MotionOptions& options) {
  const bool stays = options.boundary == Boundary::reflecting || options.boundary == Boundary::periodic;
  return stays && options.motion != Motion::switching && !(options.birth_rate_per_s > 0) &&
         !(options.death_rate_per_s > 0);
}

Records dense_records(const Execution& execution, const Simulation& simulation, bool with_codes) {
  Records records;
  const std::size_t particles = simulation.particles();
  const auto frames = static_cast<std::size_t>(simulation.model.frames), total = particles * frames;
  std::vector<std::function<void()>> jobs{
      [&] { records.offsets.resize(particles + 1); }, [&] { size_large(records.frame, total); },
      [&] { size_large(records.x, total); }, [&] { size_large(records.y, total); },
      [&] { size_large(records.z, total); }};
  if (with_codes) {
    jobs.push_back([&] { size_large(records.code, total); });
  } else {
    jobs.push_back([&] { size_large(records.time, total); });
    jobs.push_back([&] { size_large(records.detection, total, std::int64_t{-1}); });
  }
  run_side_by_side(execution, jobs);
#pragma omp parallel for num_threads(thread_count(execution)) schedule(static)
  for (std::size_t p = 0; p < particles; ++p) {
    records.offsets[p + 1] = static_cast<std::int64_t>((p + 1) * frames);
    for (std::size_t k = 0; k < frames; ++k) records.frame[p * frames + k] = static_cast<std::int32_t>(k);
  }
  return records;
}

TrackSet assemble_tracks(const Execution& execution, const MotionOptions& options,
                         const Simulation& simulation, Records records) {
  return Assembly(execution, options, simulation, records).build();
}

}  // namespace motes::sim::detail
