/// Runs the linker with its configuration, progress and warnings.

#include "app/run/linking.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <motes/base/errors.h>
#include <motes/base/quantile.h>

#include "app/command.h"
#include "app/interrupt.h"
#include "app/progress.h"
#include "app/report/report.h"
#include "app/run/warnings.h"

namespace motes::app {
namespace {

using tracking::Gate;
using tracking::GateSource;

/// Above this number of detections, linking the whole series takes minutes, and a note explains the choice.
constexpr std::size_t kMany = 1'000'000;

double gate_from_speed(const Config& config, std::optional<double> dt_s) {
  if (!dt_s) {
    throw UsageError("linking.max_speed_um_s: needs the time between frames; set input.dt_s");
  }
  return *config.linking.max_speed_um_s * *dt_s * config.input.frame_step;
}

/// The largest number of links within fractions and multiples of the gate, in percent of the detections.
std::string curve_line(const tracking::GateEstimate& estimate, double gate_um) {
  std::string gates, shares;
  for (const double part : {0.25, 0.5, 0.75, 1.0, 1.5, 2.0}) {
    gates += fmt::format(" {:g}", part);
    shares += fmt::format(" {:.0f}", 100 * estimate.linkable_within(part * gate_um));
  }
  const bool told = estimate.rule == tracking::GateRule::cardinality;
  return fmt::format("links possible within{} x the gate:{} %; ", gates, shares) +
         (told ? fmt::format("{:.0f} % of detections have a partner in the next frame",
                             100 * estimate.partners)
               : "the share of detections with a partner is unclear, so the gate is from nearest neighbours");
}

void warn_of_ratio(double ratio, Console& console) {
  console.warn(
      fmt::format("particles move {:.2f} of their spacing between frames: many links will be wrong, "
                  "with any linker; record faster, or label fewer particles",
                  ratio));
}

/// The expected share of wrong links above which a warning is printed.
constexpr double kManyWrong = 0.1;

/// Reports the confidence of the links, and cuts links below linking.min_confidence.
void judge_links(const Execution& execution, const Config& config, const tracking::SeriesOptions& options,
                 LinkedSeries& linked, Console& console) {
  linked.confidence = tracking::link_confidence(execution, *linked.series, options);
  if (linked.series->links == 0) return;
  const tracking::Confidence& c = *linked.confidence;
  // The error comes from simulated series; without them it is not given.
  const std::string share =
      c.calibrated
          ? fmt::format("{:.1f} % (+- {:.1f}) of the links are expected to be wrong", 100 * c.wrong,
                        100 * c.error)
          : fmt::format("{} of the links are expected to be wrong (a rough estimate)",
                        c.wrong < 0.001 ? "fewer than 0.1 %" : fmt::format("{:.1f} %", 100 * c.wrong));
  console.note(share);
  if (c.wrong > kManyWrong)
    console.warn(share +
                 "; record faster, label fewer particles, or cut uncertain links with --min-confidence 0.9");
  if (config.linking.min_confidence <= 0) return;
  linked.cut = tracking::cut_unsure_links(c, config.linking.min_confidence, *linked.series);
  console.note(
      fmt::format("{} links cut whose confidence is below {:g}", linked.cut, config.linking.min_confidence));
}

/// Warns if particles are too dense: without a motion model, no linker can then be trusted.
void warn_of_density(const tracking::SeriesLinks& links,
                     const std::optional<tracking::GateEstimate>& estimate, Console& console) {
  if (estimate && estimate->ratio() > tracking::kUntrustworthyRatio &&
      links.chosen == tracking::MotionModel::standing)
    warn_of_ratio(estimate->ratio(), console);
}

void report_estimate(const tracking::GateEstimate& estimate, double gate_um, const std::string& unit,
                     bool series, Console& console) {
  if (!estimate.curves.empty() && !series) console.note(curve_line(estimate, gate_um));
  console.note(fmt::format("typical displacement {:.4g} {}, spacing {:.4g} {}, ratio {:.2f}",
                           estimate.displacement_um, unit, estimate.spacing_um, unit, estimate.ratio()));
  if (estimate.ratio() > tracking::kUntrustworthyRatio && !series) warn_of_ratio(estimate.ratio(), console);
}

/// Coincident points can be linked by exact solvers only.
void accept_crowd(const Config& config, const std::string& crowd) {
  if (config.linking.solver == tracking::kGreedySolver)
    throw InputError(
        fmt::format("{}: {}; remove the copies, or set linking.solver: auto", config.input.path, crowd));
}

tracking::PairLinks unlinked() {
  tracking::PairLinks links;
  links.solver = "none";
  return links;
}

tracking::SeriesOptions series_options(const Config& config, const Gate& gate) {
  tracking::SeriesOptions options;
  options.model = config.linking.model;
  options.max_gap = config.linking.max_gap;
  options.features = config.linking.features;
  if (options.features && *options.features == std::vector<std::string>{"none"}) options.features->clear();
  options.exclusion_um = config.linking.exclusion_um;
  options.solver = config.linking.solver;
  options.verify = config.linking.verify;
  options.events = config.linking.events;
  if (gate.source != GateSource::estimated) options.gate = gate;
  return options;
}

/// `execution` on each of the GPUs, which share its threads.
std::vector<Execution> each_device(const Execution& execution, const Config& config) {
  const std::vector<int> devices = devices_of(config);
  std::vector<Execution> each(devices.size(), execution);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    each[i].device = devices[i];
    if (devices.size() > 1)
      each[i].threads = std::max(1, thread_count(execution) / static_cast<int>(devices.size()));
  }
  return each;
}

tracking::LinkOptions link_options(const Config& config, const Gate& gate) {
  tracking::LinkOptions options;
  options.candidates.gate = gate;
  options.candidates.cost = config.linking.cost;
  options.candidates.no_link_cost = config.linking.no_link_cost.value_or(-1);
  options.solver = config.linking.solver;
  options.verify = config.linking.verify;
  return options;
}

std::size_t detections_of(const std::vector<Detections>& frames) {
  std::size_t all = 0;
  for (const Detections& frame : frames) all += frame.size();
  return all;
}

/// Notes the choice of linking.scope: auto for many detections, and the alternative.
void explain_scope(const Config& config, std::size_t detections, bool series, Console& console) {
  if (config.linking.scope != Scope::automatic || detections <= kMany) return;
  console.note(
      series ? fmt::format("{} detections: linked as a series, because particles move far or are missed at "
                           "times; linking.scope: pairs is faster, but has more wrong links and no gaps",
                           detections)
             : fmt::format("{} detections: linked frame by frame; linking.scope: series links all frames "
                           "at once, over gaps, and takes longer",
                           detections));
}

/// Bounds the difference between the linking in windows and the most likely linking.
std::string windows_line(const tracking::SeriesLinks& links) {
  const std::string gap =
      links.gap_nats > 0
          ? fmt::format("at most {:.3g} nats in all ({:.2g} per detection) above the cost of the optimum",
                        links.gap_nats, links.gap_nats / static_cast<double>(links.points.size()))
          : "proven optimal for the complete series";
  return fmt::format("linked in {} overlapping windows of frames: {}", links.windows, gap);
}

/// The words for an event, its daughters, and the starts that a search moves.
struct EventWords {
  const char *name, *daughters, *starts;
};

/// Appends the divisions or merges found, and whether they are significant; nothing if none were found.
void add_events(const tracking::Divisions& d, const EventWords& words, std::vector<std::string>& lines) {
  if (d.found == 0) return;
  std::vector<std::string> chance;
  if (d.backwards) chance.push_back(fmt::format("reversed series: {}", *d.backwards));
  if (d.misplaced) chance.push_back(fmt::format("misplaced {}: {}", words.starts, *d.misplaced));
  const std::string by_chance =
      chance.empty() ? "" : fmt::format(" (by chance: {})", fmt::join(chance, ", "));
  lines.push_back(
      d.significant
          ? fmt::format("{} {}{}; {} {:.2f} +- {:.2f} spacings apart", d.list.size(), words.name, by_chance,
                        words.daughters, d.model.separation, d.model.spread)
          : fmt::format("no {}: the {} found are too few or too unclear{}", words.name, d.found, by_chance));
}

/// Links each pair of successive frames and keeps the partners, and the pairs that are reported.
void link_pairs(const Execution& execution, const Config& config, const std::vector<Detections>& frames,
                const Gate& gate, const std::function<void(std::size_t)>& done, LinkedSeries& linked) {
  std::vector<std::size_t> offsets{0};
  for (const Detections& frame : frames) offsets.push_back(offsets.back() + frame.size());
  linked.next.assign(offsets.back(), -1);
  const std::size_t pairs = std::max<std::size_t>(1, frames.size()) - 1;
  linked.pairs.assign(config.output.pairs ? pairs : std::min(pairs, kReportRows), unlinked());
  if (!gate.bounded()) return;
  const auto take = [&](std::size_t k, tracking::PairLinks links) {
    std::copy(links.next.begin(), links.next.end(),
              linked.next.begin() + static_cast<std::ptrdiff_t>(offsets[k]));
    if (k >= linked.pairs.size()) return;
    links.next = std::vector<matching::Index>();
    linked.pairs[k] = std::move(links);
  };
  tracking::link_frames_on(each_device(execution, config), frames, link_options(config, gate), take, done);
}

}  // namespace

bool links_whole_series(const Config& config, const std::vector<Detections>& frames,
                        const std::optional<tracking::GateEstimate>& estimate) {
  if (config.linking.scope != Scope::automatic) return config.linking.scope == Scope::series;
  if (frames.size() < 2 || config.linking.solver == tracking::kGreedySolver ||
      config.linking.cost != tracking::LinkCost::squared || config.linking.no_link_cost)
    return false;
  return tracking::series_pays(detections_of(frames), estimate);
}

std::string model_name(tracking::MotionModel model) {
  switch (model) {
    case tracking::MotionModel::automatic:
      return "auto";
    case tracking::MotionModel::standing:
      return "static";
    case tracking::MotionModel::velocity:
      return "velocity";
    case tracking::MotionModel::field:
      return "field";
    case tracking::MotionModel::joint:
      return "joint";
  }
  return "";
}

std::vector<std::string> series_parameters(const tracking::SeriesLinks& links, const std::string& unit) {
  std::string elapsed;
  for (const double share : links.model.elapsed)
    elapsed += fmt::format("{}{:.2f} %", elapsed.empty() ? "" : ", ", 100 * share);
  std::vector<double> scales = links.model.scale;
  const double scale = scales.empty() ? 0 : quantile(scales, 0.5);
  std::vector<std::string> lines{
      fmt::format("motion model: {} ({})", model_name(links.chosen), links.reason)};
  if (links.model.elapsed.empty()) return lines;
  lines.push_back(fmt::format("scale of displacements{}: {:.4g} {} (median over frames)",
                              links.drift ? " beyond the common motion"
                              : links.chosen == tracking::MotionModel::field
                                  ? " beyond the neighbours' motion"
                                  : "",
                              scale, unit));
  if (links.axes != Vec3{1, 1, 1})
    lines.push_back(
        fmt::format("scales along x, y and z are as {:.2f} : {:.2f} : {:.2f}; links are weighted accordingly",
                    links.axes.x / links.axes.x, links.axes.x / links.axes.y, links.axes.x / links.axes.z));
  lines.push_back(fmt::format("share of links over 1, 2, ... frames: {}", elapsed));
  lines.push_back(fmt::format(
      "tracks end at {:.2f} % and begin at {:.2f} % of detections; {:.2f} % of detections are on no track",
      100 * links.model.end, 100 * links.model.birth, 100 * links.model.clutter));
  if (links.exclusion_um > 0)
    lines.push_back(
        fmt::format("false detections cluster within {:.4g} {} of particles; {} of {} detections are "
                    "taken as false",
                    links.exclusion_um, unit, links.false_detections, links.points.size()));
  if (links.persistent)
    lines.push_back(fmt::format("persistence: beta {:.3f}, from {}", links.velocity.beta(),
                                links.velocity.form == tracking::PersistenceForm::turning
                                    ? "the angles between displacements"
                                    : "displacements minus beta times the previous ones"));
  lines.push_back(fmt::format("{} links, {} of them over gaps, in {} rounds", links.links, links.gap_links,
                              links.rounds));
  if (links.windows > 1) lines.push_back(windows_line(links));
  if (links.blocks > 1)
    lines.push_back(fmt::format(
        "linked in {} overlapping blocks of space and time, which disagree on {} links where they "
        "overlap",
        links.blocks, links.conflicting));
  add_events(links.divisions, {"divisions", "daughters", "starts"}, lines);
  add_events(links.merges, {"merges", "particles", "ends"}, lines);
  return lines;
}

/// The warning that no frame has points beside those of another, and what to do.
std::string no_neighbours(const std::vector<Detections>& frames) {
  constexpr int kFewest = 3;  // two frames may as well have an empty one between them
  std::int32_t step = 0, rise = 0, last = 0;
  int filled = 0;
  for (const Detections& frame : frames) {
    if (frame.size() == 0) continue;
    step = std::gcd(step, frame.frame);
    if (filled++ > 0) rise = std::gcd(rise, frame.frame - last);
    last = frame.frame;
  }
  return "no two consecutive frames have detections" +
         (step > 1 && step == rise && filled >= kFewest  // input.frame_step takes multiples of the step
              ? fmt::format(": frame numbers rise in steps of {0}; set input.frame_step to {0}", step)
              : std::string(", so nothing can be linked"));
}

GateChoice choose_gate(const Execution& execution, const Config& config,
                       const std::vector<Detections>& frames, const PointCheck& check,
                       std::optional<double> dt_s, const std::string& unit, Console& console) {
  const bool crowded = !check.crowd.empty();
  if (crowded) accept_crowd(config, check.crowd);
  const std::vector<Detections> distinct =
      crowded ? distinct_points(execution, frames) : std::vector<Detections>();
  const auto estimate =
      tracking::estimate_gate(execution, crowded ? distinct : frames, config.linking.gate_share);
  const Gate gate = config.linking.gate_um          ? Gate(*config.linking.gate_um, GateSource::length)
                    : config.linking.max_speed_um_s ? Gate(gate_from_speed(config, dt_s), GateSource::speed)
                    : estimate                      ? estimate->gate()
                                                    : Gate();
  if (gate.source != GateSource::estimated && gate.source != GateSource::none) require_length(gate);
  const bool series = links_whole_series(config, crowded ? distinct : frames, estimate);
  if (crowded && series) console.note(check.crowd + ": one of them is linked, and its copies follow it");
  const bool estimated = gate.source == GateSource::estimated;
  if (gate.bounded())
    console.note(fmt::format("gate {:.4g} {} ({}{})", gate.um, unit, to_string(gate.source),
                             series && estimated ? "; used with linking.scope: pairs only" : ""));
  if (estimate) report_estimate(*estimate, gate.um, unit, series, console);
  if (estimate && !estimated)
    for (const std::string& warning : gate_warnings(gate.um, *estimate, unit)) console.warn(warning);
  if (!estimate && frames.size() > 1) {
    console.warn(detections_of(frames) == 0
                     ? "no frame has detections, so there is nothing to link; check detection.threshold, "
                       "detection.radius_um and detection.polarity"
                     : no_neighbours(frames));
  }
  if (gate.bounded()) explain_scope(config, detections_of(frames), series, console);
  return {gate, estimate, series};
}

LinkedSeries link_series(const Execution& execution, const Config& config,
                         const std::vector<Detections>& frames, const GateChoice& choice,
                         const std::string& unit, Console& console) {
  const auto& [gate, estimate, series] = choice;
  LinkedSeries linked;
  ProgressBar progress(console, "linking", "frame pairs",
                       frames.empty() ? 0 : static_cast<std::int64_t>(frames.size()) - 1);
  if (gate.bounded() && series) {
    const tracking::SeriesOptions options = series_options(config, gate);
    linked.series = tracking::link_series(execution, frames, options, [&](int solved) {
      progress.tell(fmt::format("assignment {} of all frames solved", solved));
      stop_if_interrupted("interrupted while linking; run the same command with --resume to go on");
    });
    progress.advance(static_cast<std::int64_t>(frames.size()) - 1);
    progress.wipe();
    for (const std::string& line : series_parameters(*linked.series, unit)) console.note(line);
    const bool too_large = linked.series->windows > 1;
    if (config.linking.confidence && too_large)
      console.note("the links of a series linked in windows have no confidence");
    if (config.linking.confidence && !too_large)
      judge_links(execution, config, options, linked, console);
    else
      warn_of_density(*linked.series, estimate, console);
  } else {
    const auto done = [&](std::size_t) {
      progress.advance();
      stop_if_interrupted("interrupted while linking; run the same command with --resume to go on");
    };
    link_pairs(execution, config, frames, gate, done, linked);
    if (!gate.bounded()) progress.advance(std::max<std::int64_t>(1, std::ssize(frames)) - 1);
  }
  progress.finish();
  linked.seconds = progress.seconds();
  return linked;
}

}  // namespace motes::app
