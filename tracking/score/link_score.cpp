/// First positions are matched, then links are judged. In each frame found positions are matched one to one
/// to true ones: minimise the sum of squared distances of matched positions (strictly nearer than the gate) +
/// gate^2 for every free end, true or found. So a matched pair always costs less than two free ends. A link
/// joins consecutive points of a found track, over any number of frames. It is judged by the true points that
/// its ends are matched to.

#include <motes/base/index.h>
#include <motes/tracking/link_score.h>

#include "tracking/score/division_score.h"
#include "tracking/score/frame_index.h"
#include "tracking/score/match_positions.h"
#include "tracking/score/ratio.h"

namespace motes::tracking {
namespace {

using detail::FrameIndex;
enum class Verdict { true_link, false_link, neutral };

/// Judges links by the true points of their ends.
class LinkJudge {
 public:
  LinkJudge(const TrackSet& truth, const FrameIndex& frames)
      : truth_(truth), track_of_point_(frames.track_of_point) {}

  /// `from` and `to` are true points, -1 none; `to` lies in a later frame.
  Verdict operator()(std::int64_t from, std::int64_t to) const {
    if (from < 0 && to < 0) return Verdict::neutral;
    if (from < 0 || to < 0) return Verdict::false_link;
    const auto mother = static_cast<std::size_t>(track_of_point_[static_cast<std::size_t>(from)]);
    const auto daughter = static_cast<std::size_t>(track_of_point_[static_cast<std::size_t>(to)]);
    // Consecutive points of one track: no true frame lies between.
    if (mother == daughter) return to == from + 1 ? Verdict::true_link : Verdict::false_link;
    const auto names = [&](const std::vector<std::int64_t>& relatives, std::size_t one, std::size_t other) {
      return !relatives.empty() && relatives[one] >= 0 && relatives[one] == truth_.track_id[other];
    };
    const bool event = names(truth_.parent, daughter, mother) || names(truth_.merged_into, mother, daughter);
    return event ? Verdict::neutral : Verdict::false_link;
  }

 private:
  const TrackSet& truth_;
  const std::vector<std::int32_t>& track_of_point_;
};

/// See DetectedLinkScores. Links between mother and daughter, and between positions of no particle, are
/// ignored.
DetectedLinkScores detected_links(const TrackSet& truth, const TrackSet& found, const LinkJudge& judge,
                                  const std::vector<std::int64_t>& found_to_true) {
  std::vector<bool> detected(truth.points(), false), covered(truth.points(), false);
  for (const std::int64_t p : found_to_true)
    if (p >= 0) detected[at(p)] = true;
  // For each detected position, the previous detected one of the same particle, -1 none.
  std::vector<std::int64_t> before(truth.points(), -1);
  for (std::size_t track = 0; track < truth.tracks(); ++track) {
    std::int64_t last = -1;
    for (std::int64_t p = truth.track_offsets[track]; p < truth.track_offsets[track + 1]; ++p) {
      if (!detected[at(p)]) continue;
      before[at(p)] = last;
      last = p;
    }
  }
  DetectedLinkScores out;
  for (std::size_t track = 0; track < found.tracks(); ++track)
    for (std::int64_t p = found.track_offsets[track]; p + 1 < found.track_offsets[track + 1]; ++p) {
      const std::int64_t from = found_to_true[at(p)], to = found_to_true[at(p + 1)];
      if (from >= 0 && to >= 0 && before[at(to)] == from) {
        ++out.true_links;
        out.gap_links += to - from > 1;
        covered[at(to)] = true;
      } else if (judge(from, to) != Verdict::neutral) {
        ++out.false_links;
      }
    }
  for (std::size_t track = 0; track < truth.tracks(); ++track) {
    std::int64_t links = 0, right = 0;
    for (std::int64_t p = truth.track_offsets[track]; p < truth.track_offsets[track + 1]; ++p)
      if (before[at(p)] >= 0) ++links, right += covered[at(p)];
    out.missed_links += links - right;
    out.tracks += links > 0;
    out.complete += links > 0 && right == links;
  }
  const auto right = static_cast<double>(out.true_links), wrong = static_cast<double>(out.false_links),
             missed = static_cast<double>(out.missed_links);
  const bool both_empty = right + wrong + missed == 0;
  out.precision = detail::ratio(right, right + wrong, both_empty);
  out.recall = detail::ratio(right, right + missed, both_empty);
  out.f1 = detail::ratio(2 * right, 2 * right + wrong + missed, both_empty);
  return out;
}

std::int64_t links_of(const TrackSet& tracks) {
  return static_cast<std::int64_t>(tracks.points()) - static_cast<std::int64_t>(tracks.tracks());
}

}  // namespace

LinkScores link_scores(const Execution& execution, const TrackSet& truth, const TrackSet& found,
                       double gate) {
  detail::check_gate(gate, "gate of links");
  detail::check_tracks(truth, "the true tracks");
  detail::check_tracks(found, "the found tracks");
  const FrameIndex true_frames = detail::index_frames(truth);
  const std::vector<std::int64_t> found_to_true =
      detail::match_positions(execution, truth, found, true_frames, gate);

  LinkScores scores;
  const LinkJudge judge(truth, true_frames);
  for (std::size_t track = 0; track < found.tracks(); ++track) {
    const auto last = static_cast<std::size_t>(found.track_offsets[track + 1]) - 1;
    for (auto p = static_cast<std::size_t>(found.track_offsets[track]); p < last; ++p) {
      switch (judge(found_to_true[p], found_to_true[p + 1])) {
        case Verdict::true_link:
          ++scores.true_links;
          break;
        case Verdict::false_link:
          ++scores.false_links;
          break;
        case Verdict::neutral:
          ++scores.neutral_links;
          scores.clutter_links += found_to_true[p] < 0 && found_to_true[p + 1] < 0;
          break;
      }
    }
  }
  // Positions are matched one to one, so two found links cannot be the same true link.
  scores.missed_links = links_of(truth) - scores.true_links;
  const bool both_empty = links_of(truth) == 0 && scores.false_links == 0;
  const auto right = static_cast<double>(scores.true_links);
  const auto wrong = static_cast<double>(scores.false_links),
             missed = static_cast<double>(scores.missed_links);
  scores.precision = detail::ratio(right, right + wrong, both_empty);
  scores.recall = detail::ratio(right, right + missed, both_empty);
  scores.f1 = detail::ratio(2 * right, 2 * right + wrong + missed, both_empty);
  const auto clutter = static_cast<double>(scores.clutter_links);
  scores.strict_f1 =
      detail::ratio(2 * right, 2 * right + wrong + clutter + missed, both_empty && scores.clutter_links == 0);
  scores.detected = detected_links(truth, found, judge, found_to_true);
  scores.division = detail::division_scores(truth, found, found_to_true);
  scores.merge = detail::merge_scores(truth, found, found_to_true);
  return scores;
}

}  // namespace motes::tracking
