#pragma once
/// report.json, and the tables that commands print.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <motes/tracking/scores.h>
#include <motes/tracking/track_set.h>

#include "app/report/stages.h"
#include "app/run/input.h"
#include "app/run/linking.h"

namespace motes::app {

/// The result of detection (or the contents of the table) for one frame.
struct FrameSummary {
  std::int32_t frame = 0;
  std::int64_t detections = 0;
  std::optional<double> threshold;  ///< none: points of a table, or detections of an interrupted run
};

/// {"motes": version, "command": ...}, the beginning of every report.
nlohmann::ordered_json report_head(const std::string& command);

nlohmann::ordered_json stages_json(const std::vector<StageTime>& stages);
/// The largest number of frames and of pairs that a report lists, so that it stays readable. output.pairs
/// writes all pairs to a table.
inline constexpr std::size_t kReportRows = 1000;
nlohmann::ordered_json frames_json(const std::vector<FrameSummary>& frames);
nlohmann::ordered_json pairs_json(const std::vector<FrameSummary>& frames,
                                  const std::vector<tracking::PairLinks>& pairs);
nlohmann::ordered_json gate_json(const GateChoice& choice);
/// The same list for a series linked at once.
nlohmann::ordered_json pairs_json(const std::vector<FrameSummary>& frames,
                                  const tracking::SeriesLinks& links);
/// A table of all pairs, one per line, with a header (output.pairs).
std::string pairs_csv(const std::vector<FrameSummary>& frames, const std::vector<tracking::PairLinks>& pairs);
std::string pairs_csv(const std::vector<FrameSummary>& frames, const tracking::SeriesLinks& links);
nlohmann::ordered_json series_json(const tracking::SeriesLinks& links);
nlohmann::ordered_json confidence_json(const tracking::Confidence& confidence, std::int64_t cut);
nlohmann::ordered_json tracks_json(const TrackSet& tracks);

/// The keys of `motes score --json`.
nlohmann::ordered_json scores_json(const Scores& scores);
/// The same scores as a text for people.
std::string scores_table(const Scores& scores, const std::string& unit);

/// The peak memory of this process, in MB (10^6 bytes).
double peak_memory_mb();

}  // namespace motes::app
