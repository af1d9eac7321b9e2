/// motes score: compares found tracks with true ones.

#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/tracking/score_tracks.h>

#include "app/command.h"
#include "app/options/codec.h"
#include "app/report/report.h"
#include "app/run/input.h"
#include "app/run/warnings.h"

namespace motes::app {
namespace {

struct ScoreArguments {
  std::string truth, tracks, gate = "5", gate_link, frame_step = "1";
};

/// If one side is in px and the voxel size is given, that side is scaled to um already, or a pixel is 1 um.
void require_same_unit(TrackSet& truth, TrackSet& found, const Config& config,
                       const ScoreArguments& arguments) {
  if (truth.length_unit == found.length_unit) return;
  if (config.input.voxel_um) {
    for (TrackSet* tracks : {&truth, &found})
      if (tracks->length_unit == "px") tracks->length_unit = "um";
    if (truth.length_unit == found.length_unit) return;
  }
  throw UsageError(
      "lengths differ: " + arguments.truth + " is in " + truth.length_unit + ", " + arguments.tracks +
      " in " + found.length_unit +
      "; give the size of a pixel with --voxel Z,Y,X, in um (input.voxel_um), to scale the one in px, or "
      "--set input.unit=um if it is in um already");
}

void run_score(Session& session, const ScoreArguments& arguments) {
  const Config config = configure(session);
  tracking::ScoreOptions options;
  options.gate = parse_option(arguments.gate, "--gate", real(kPositive));
  options.gate_link = arguments.gate_link.empty()
                          ? options.gate
                          : parse_option(arguments.gate_link, "--gate-link", real(kPositive));
  const auto step = parse_option(arguments.frame_step, "--frame-step", integer<std::int32_t>(1, 1000000));

  TrackSet truth = read_tracks_scaled(arguments.truth, config);
  TrackSet found = read_tracks_scaled(arguments.tracks, config);
  require_same_unit(truth, found, config, arguments);
  if (step > 1) {
    truth = tracking::keep_every(truth, step);
    found = tracking::keep_every(found, step);
  }
  const Scores scores = tracking::score_tracks(execution_of(config), truth, found, options);
  for (const std::string& warning : score_warnings(execution_of(config), truth, found, scores))
    session.console.warn(warning);

  nlohmann::ordered_json report = report_head("score");
  report["truth"] = arguments.truth;
  report["tracks"] = arguments.tracks;
  report["length_unit"] = truth.length_unit;
  report["frame_step"] = step;
  report.update(scores_json(scores));
  report["warnings"] = session.console.warnings();
  emit_json(session, report);
  session.console.print(scores_table(scores, truth.length_unit));
}

}  // namespace

Command add_score(CLI::App& app, Session& session) {
  CommandOptions command = add_command(app, "score", "Score tracks against true ones");
  auto arguments = std::make_shared<ScoreArguments>();
  command.add_option("--truth", arguments->truth, "True tracks, in any readable format").type_name("FILE");
  command.add_option("--tracks", arguments->tracks, "Tracks to score").type_name("FILE");
  add_table_options(command, session);
  add_short_options(command, session.short_options, ShortOptionSet::units);
  command
      .add_option("--gate", arguments->gate,
                  "Largest distance of a found position from its true one, in the tracks' unit [5]")
      .type_name("LENGTH");
  command.add_option("--gate-link", arguments->gate_link, "The same for link scores [as --gate]")
      .type_name("LENGTH");
  command.add_option("--frame-step", arguments->frame_step, "Compare only frames that are multiples of K")
      .type_name("K");
  return {&command.app(), [&session, arguments] {
            require_argument(arguments->truth, "score needs --truth FILE");
            require_argument(arguments->tracks, "score needs --tracks FILE");
            run_score(session, *arguments);
          }};
}

}  // namespace motes::app
