/// Builds report.json and the tables on the console.

#include "app/report/report.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/system/memory.h>

#include "app/build_info.h"

namespace motes::app {

using nlohmann::ordered_json;

namespace {

/// Null if nothing was counted.
ordered_json count_or_null(std::int64_t count) {
  return count > 0 ? ordered_json(count) : ordered_json(nullptr);
}

}  // namespace

ordered_json report_head(const std::string& command) { return {{"motes", version()}, {"command", command}}; }

ordered_json stages_json(const std::vector<StageTime>& stages) {
  ordered_json list = ordered_json::array();
  for (const StageTime& stage : stages) {
    const double rate = stage.seconds > 0 ? static_cast<double>(stage.items) / stage.seconds : 0;
    list.push_back({{"stage", stage.name},
                    {"items", stage.items},
                    {"unit", stage.unit},
                    {"seconds", stage.seconds},
                    {"per_second", rate}});
    const auto times = [&](const char* key, const std::vector<std::pair<std::string, double>>& seconds) {
      for (const auto& [name, s] : seconds) list.back()[key][name] = s;
    };
    times("busy_s", stage.busy);
    times("gpu_s", stage.gpu);
    if (!stage.bound_by.empty()) list.back()["bound_by"] = stage.bound_by;
  }
  return list;
}

ordered_json frames_json(const std::vector<FrameSummary>& frames) {
  ordered_json list = ordered_json::array();
  for (const FrameSummary& frame : std::span(frames).first(std::min(frames.size(), kReportRows))) {
    ordered_json entry{{"frame", frame.frame}, {"detections", frame.detections}};
    if (frame.threshold) entry["threshold"] = *frame.threshold;
    list.push_back(std::move(entry));
  }
  return list;
}

ordered_json pairs_json(const std::vector<FrameSummary>& frames,
                        const std::vector<tracking::PairLinks>& pairs) {
  ordered_json list = ordered_json::array();
  for (std::size_t k = 0; k < std::min(pairs.size(), kReportRows); ++k) {
    const tracking::PairLinks& pair = pairs[k];
    list.push_back(
        {{"from", frames[k].frame},
         {"to", frames[k + 1].frame},
         {"solver", pair.solver},
         {"backend", pair.backend == Backend::cuda ? "cuda" : "cpu"},
         {"status", matching::to_string(pair.status)},
         {"verified", pair.verified ? ordered_json(true) : ordered_json(nullptr)},
         {"candidates", pair.candidates},
         {"links", pair.links},
         {"components", count_or_null(pair.components)},
         {"largest_component", count_or_null(pair.largest_component)},
         {"objective", pair.objective},
         {"gap", pair.status == matching::Status::optimal ? ordered_json(pair.gap) : ordered_json(nullptr)},
         {"seconds",
          {{"candidates", pair.candidates_s}, {"solve", pair.solve_s}, {"stages", pair.stage_s}}}});
  }
  return list;
}

ordered_json gate_json(const GateChoice& choice) {
  ordered_json json{{"gate_um", nullptr}, {"source", to_string(choice.gate.source)}};
  if (choice.gate.bounded()) json["gate_um"] = choice.gate.um;
  if (!choice.estimate) return json;
  const tracking::GateEstimate& estimate = *choice.estimate;
  json["displacement_um"] = estimate.displacement_um;
  json["spacing_um"] = estimate.spacing_um;
  json["ratio"] = estimate.ratio();
  ordered_json pairs = ordered_json::array();
  for (const tracking::GateCurve& curve : estimate.curves)
    pairs.push_back(
        {{"from", curve.from}, {"to", curve.to}, {"rows", curve.rows}, {"cardinality", curve.cardinality}});
  json["estimate"] = {
      {"rule", estimate.rule == tracking::GateRule::cardinality ? "cardinality" : "neighbours"},
      {"gate_um", estimate.gate_um},
      {"share", estimate.share},
      {"partners", estimate.partners},
      {"needed_um", estimate.needed_um},
      {"needed_by_all_um", estimate.needed_by_all_um},
      {"neighbours_um", estimate.neighbours_um},
      {"curve", {{"gates_um", estimate.gates_um}, {"pairs", std::move(pairs)}}}};
  return json;
}

namespace {

/// The number of links from each frame to the next, and over gaps.
struct LinkCounts {
  std::vector<std::int64_t> direct, over_gaps;
};

LinkCounts count_links(std::size_t frames, const tracking::SeriesLinks& links) {
  LinkCounts counts{std::vector<std::int64_t>(frames, 0), std::vector<std::int64_t>(frames, 0)};
  for (std::size_t i = 0; i < links.points.size(); ++i) {
    const auto next = links.linking.next[i];
    if (next < 0) continue;
    const auto from = static_cast<std::size_t>(links.points.slot[i]);
    ++(links.points.slot[static_cast<std::size_t>(next)] == links.points.slot[i] + 1
           ? counts.direct
           : counts.over_gaps)[from];
  }
  return counts;
}

}  // namespace

ordered_json pairs_json(const std::vector<FrameSummary>& frames, const tracking::SeriesLinks& links) {
  ordered_json list = ordered_json::array();
  const LinkCounts counts = count_links(frames.size(), links);
  for (std::size_t k = 0; k + 1 < frames.size() && k < kReportRows; ++k)
    list.push_back({{"from", frames[k].frame},
                    {"to", frames[k + 1].frame},
                    {"solver", links.solver},
                    {"backend", "cpu"},
                    {"status", "optimal"},
                    {"verified", links.verified ? ordered_json(true) : ordered_json(nullptr)},
                    {"links", counts.direct[k]},
                    {"gap_links", counts.over_gaps[k]}});
  return list;
}

namespace {

ordered_json or_null(const std::optional<std::int64_t>& number) {
  return number ? ordered_json(*number) : ordered_json(nullptr);
}

/// `name`: the key of their number.
ordered_json events_json(const tracking::Divisions& d, const char* name) {
  return {{name, d.list.size()},
          {"believed", d.significant},
          {"found", d.found},
          {"found_backwards", or_null(d.backwards)},
          {"found_misplaced", or_null(d.misplaced)},
          {"share", d.model.share},
          {"middle_per_spacing", d.model.middle},
          {"separation_per_spacing", d.model.separation},
          {"spread_per_spacing", d.model.spread}};
}

}  // namespace
std::string pairs_csv(const std::vector<FrameSummary>& frames,
                      const std::vector<tracking::PairLinks>& pairs) {
  std::string text = "from,to,solver,backend,status,verified,candidates,links,objective,gap,seconds\n";
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const tracking::PairLinks& pair = pairs[k];
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{},{},{}\n", frames[k].frame,
                   frames[k + 1].frame, pair.solver, pair.backend == Backend::cuda ? "cuda" : "cpu",
                   matching::to_string(pair.status), pair.verified ? 1 : 0, pair.candidates, pair.links,
                   pair.objective, pair.gap, pair.candidates_s + pair.solve_s);
  }
  return text;
}

std::string pairs_csv(const std::vector<FrameSummary>& frames, const tracking::SeriesLinks& links) {
  std::string text = "from,to,solver,status,verified,links,gap_links\n";
  const LinkCounts counts = count_links(frames.size(), links);
  for (std::size_t k = 0; k + 1 < frames.size(); ++k)
    fmt::format_to(std::back_inserter(text), "{},{},{},optimal,{},{},{}\n", frames[k].frame,
                   frames[k + 1].frame, links.solver, links.verified ? 1 : 0, counts.direct[k],
                   counts.over_gaps[k]);
  return text;
}

ordered_json series_json(const tracking::SeriesLinks& links) {
  const tracking::SeriesEvidence& evidence = links.evidence;
  const auto or_null = [](const std::optional<double>& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
  };
  return {{"model", model_name(links.chosen)},
          {"reason", links.reason},
          {"evidence",
           {{"static", evidence.plain},
            {"coherence", evidence.coherence},
            {"field", or_null(evidence.field)},
            {"drift", or_null(evidence.drift)},
            {"rotation", or_null(evidence.rotation)},
            {"velocity", or_null(evidence.velocity)},
            {"joint", or_null(evidence.joint)},
            {"beta", or_null(evidence.beta)}}},
          {"persistence", links.persistent},
          {"joint", links.joint},
          {"elapsed", links.model.elapsed},
          {"end", links.model.end},
          {"birth", links.model.birth},
          {"lone", links.model.clutter},
          {"scale_um", links.model.scale},
          {"growth", links.model.growth},
          {"axis_factors", {links.axes.z, links.axes.y, links.axes.x}},
          {"solver", links.solver},
          {"status", "optimal"},
          {"verified", links.verified ? ordered_json(true) : ordered_json(nullptr)},
          {"rounds", links.rounds},
          {"candidates", links.candidates},
          {"edges", links.edges},
          {"links", links.links},
          {"gap_links", links.gap_links},
          {"exclusion_um", links.exclusion_um > 0 ? ordered_json(links.exclusion_um) : ordered_json(nullptr)},
          {"false_detections", links.false_detections},
          {"events", events_json(links.divisions, "divisions")},
          {"merges", events_json(links.merges, "merges")},
          {"objective_nats", links.objective}};
}

ordered_json confidence_json(const tracking::Confidence& confidence, std::int64_t cut) {
  return {{"wrong_links", confidence.wrong},
          {"error", confidence.error},
          {"wrong_links_by_odds", confidence.wrong_by_odds},
          {"calibrated", confidence.calibrated},
          {"simulated_links", confidence.simulated_links},
          {"simulated_wrong", confidence.simulated_wrong},
          {"links_cut", cut}};
}

ordered_json tracks_json(const TrackSet& tracks) {
  const std::size_t links = tracks.points() - tracks.tracks();
  const double mean =
      tracks.tracks() > 0 ? static_cast<double>(tracks.points()) / static_cast<double>(tracks.tracks()) : 0;
  return {{"tracks", tracks.tracks()}, {"points", tracks.points()}, {"links", links}, {"mean_length", mean}};
}

namespace {

ordered_json division_scores_json(const DivisionScores& v) {
  return {{"precision", v.precision},
          {"recall", v.recall},
          {"f1", v.f1},
          {"true", v.true_divisions},
          {"false", v.false_divisions},
          {"missed", v.missed_divisions},
          {"true_within_one_frame", v.true_within_one},
          {"f1_within_one_frame", v.f1_within_one}};
}

}  // namespace

ordered_json scores_json(const Scores& scores) {
  const ChallengeScores& c = scores.challenge;
  const LinkScores& link = scores.link;
  return {{"gate", scores.gate},
          {"gate_link", scores.gate_link},
          {"alpha", c.alpha},
          {"beta", c.beta},
          {"jsc", c.jsc},
          {"jsc_theta", c.jsc_theta},
          {"rmse", c.rmse},
          {"pairing_distance", c.pairing_distance},
          {"max_pairing_distance", c.max_pairing_distance},
          {"true_positives", c.true_positives},
          {"false_negatives", c.false_negatives},
          {"false_positives", c.false_positives},
          {"paired_tracks", c.paired_tracks},
          {"missed_tracks", c.missed_tracks},
          {"spurious_tracks", c.spurious_tracks},
          {"link",
           {{"precision", link.precision},
            {"recall", link.recall},
            {"f1", link.f1},
            {"true", link.true_links},
            {"false", link.false_links},
            {"missed", link.missed_links},
            {"neutral", link.neutral_links},
            {"clutter", link.clutter_links},
            {"strict_f1", link.strict_f1},
            {"detected",
             {{"precision", link.detected.precision},
              {"recall", link.detected.recall},
              {"f1", link.detected.f1},
              {"true", link.detected.true_links},
              {"false", link.detected.false_links},
              {"missed", link.detected.missed_links},
              {"gap_links", link.detected.gap_links},
              {"tracks", link.detected.tracks},
              {"complete", link.detected.complete}}}}},
          {"division", division_scores_json(link.division)},
          {"merge", division_scores_json(link.merge)}};
}

std::string scores_table(const Scores& scores, const std::string& unit) {
  const ChallengeScores& c = scores.challenge;
  const LinkScores& link = scores.link;
  std::string table = fmt::format("challenge scores (gate {:g} {})\n", scores.gate, unit);
  table += fmt::format("  alpha      {:.6f}   beta       {:.6f}\n", c.alpha, c.beta);
  table += fmt::format("  JSC        {:.6f}   JSC theta  {:.6f}\n", c.jsc, c.jsc_theta);
  table += fmt::format("  RMSE       {:.6g} {}\n", c.rmse, unit);
  table += fmt::format("  positions  {} true, {} missed, {} spurious\n", c.true_positives, c.false_negatives,
                       c.false_positives);
  table += fmt::format("  tracks     {} paired, {} missed, {} spurious\n", c.paired_tracks, c.missed_tracks,
                       c.spurious_tracks);
  table += fmt::format("link scores (gate {:g} {})\n", scores.gate_link, unit);
  table += fmt::format("  F1         {:.6f}   precision  {:.6f}   recall  {:.6f}\n", link.f1, link.precision,
                       link.recall);
  table += fmt::format("  links      {} true, {} false, {} missed, {} neutral", link.true_links,
                       link.false_links, link.missed_links, link.neutral_links);
  table += fmt::format("\n  strict F1  {:.6f}   ({} links between two false detections count as false)",
                       link.strict_f1, link.clutter_links);
  const DetectedLinkScores& d = link.detected;
  table += fmt::format(
      "\nlinks between detected positions, over gaps too\n  F1         {:.6f}   precision  {:.6f}   "
      "recall  {:.6f}\n  links      {} true ({} over gaps), {} false, {} missed\n"
      "  complete   {} of {} tracks",
      d.f1, d.precision, d.recall, d.true_links, d.gap_links, d.false_links, d.missed_links, d.complete,
      d.tracks);
  const auto add = [&](const DivisionScores& v, const char* name) {
    if (v.true_divisions + v.false_divisions + v.missed_divisions == 0) return;
    table += fmt::format(
        "\n{}\n  F1         {:.6f}   precision  {:.6f}   recall  {:.6f}   within one frame {:.6f}\n"
        "  {:<9}  {} true, {} false, {} missed",
        name, v.f1, v.precision, v.recall, v.f1_within_one, name, v.true_divisions, v.false_divisions,
        v.missed_divisions);
  };
  add(link.division, "divisions");
  add(link.merge, "merges");
  return table;
}

double peak_memory_mb() { return static_cast<double>(system::peak_memory()) / 1e6; }

}  // namespace motes::app
