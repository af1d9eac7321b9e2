#include "app/linking.h"

#include <cstdint>

#include <fmt/format.h>

#include <motes/base/errors.h>

#include "app/interrupt.h"
#include "app/progress.h"

namespace motes::app {
namespace {

double gate_from_speed(const Config& config, std::optional<double> dt_s) {
  if (!dt_s) {
    throw UsageError("linking.max_speed_um_s: needs the time between frames; set input.dt_s");
  }
  return *config.linking.max_speed_um_s * *dt_s * config.input.frame_step;
}

/// How many links there may be at all within parts and multiples of the gate, in percent of the detections.
std::string curve_line(const tracking::GateEstimate& estimate, double gate_um) {
  std::string gates, shares;
  for (const double part : {0.25, 0.5, 0.75, 1.0, 1.5, 2.0}) {
    gates += fmt::format(" {:g}", part);
    shares += fmt::format(" {:.0f}", 100 * estimate.linkable_within(part * gate_um));
  }
  const bool told = estimate.rule == tracking::GateRule::cardinality;
  return fmt::format("links possible within{} x the gate:{} %; ", gates, shares) +
         (told ? fmt::format("{:.0f} % of detections have a partner", 100 * estimate.partners)
               : "who has a partner cannot be told, so the gate is from nearest neighbours");
}

void report_estimate(const tracking::GateEstimate& estimate, double gate_um, const std::string& unit,
                     Console& console) {
  if (!estimate.curves.empty()) console.note(curve_line(estimate, gate_um));
  console.note(fmt::format("typical displacement {:.4g} {}, spacing {:.4g} {}, ratio {:.2f}",
                           estimate.displacement_um, unit, estimate.spacing_um, unit, estimate.ratio()));
  if (estimate.ratio() > tracking::kUntrustworthyRatio) {
    console.warn(
        fmt::format("particles move {:.2f} of their spacing between frames: many links will be wrong, "
                    "whatever the linker; record faster or fewer particles",
                    estimate.ratio()));
  }
}

tracking::PairLinks unlinked(const Detections& from) {
  tracking::PairLinks links;
  links.next.assign(from.size(), -1);
  links.solver = "none";
  return links;
}

tracking::LinkOptions link_options(const Config& config, double gate_um) {
  tracking::LinkOptions options;
  options.candidates.gate_um = gate_um;
  options.candidates.cost = config.linking.cost;
  options.candidates.no_link_cost = config.linking.no_link_cost.value_or(-1);
  options.solver = config.linking.solver;
  options.verify = config.linking.verify;
  return options;
}

}  // namespace

Gate choose_gate(const Execution& execution, const Config& config, const std::vector<Detections>& frames,
                 std::optional<double> dt_s, const std::string& unit, Console& console) {
  Gate gate;
  gate.estimate = tracking::estimate_gate(execution, frames, config.linking.gate_share);
  if (config.linking.gate_um) {
    gate.um = config.linking.gate_um;
    gate.source = "linking.gate_um";
  } else if (config.linking.max_speed_um_s) {
    gate.um = gate_from_speed(config, dt_s);
    gate.source = "linking.max_speed_um_s";
  } else if (gate.estimate) {
    gate.um = gate.estimate->gate_um;
    gate.source = "estimated";
  } else {
    gate.source = "none";
  }
  if (gate.um) console.note(fmt::format("gate {:.4g} {} ({})", *gate.um, unit, gate.source));
  if (gate.estimate) report_estimate(*gate.estimate, *gate.um, unit, console);
  if (!gate.estimate && frames.size() > 1) {
    console.warn("no two consecutive frames have detections, so nothing can be linked");
  }
  return gate;
}

LinkedSeries link_series(const Execution& execution, const Config& config,
                         const std::vector<Detections>& frames, const Gate& gate, Console& console) {
  LinkedSeries linked;
  Progress progress(console, "linking", "frame pairs",
                    frames.empty() ? 0 : static_cast<std::int64_t>(frames.size()) - 1);
  if (gate.um) {
    linked.pairs = tracking::link_frames(execution, frames, link_options(config, *gate.um), [&](std::size_t) {
      progress.advance();
      stop_if_interrupted("interrupted while linking; run the same command with --resume to go on");
    });
  } else {
    for (std::size_t k = 0; k + 1 < frames.size(); ++k) linked.pairs.push_back(unlinked(frames[k]));
    progress.advance(static_cast<std::int64_t>(linked.pairs.size()));
  }
  progress.finish();
  linked.seconds = progress.seconds();
  return linked;
}

}  // namespace motes::app
