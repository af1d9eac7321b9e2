/// Positions first, links after. In each frame found positions are matched one to one to true ones: minimise
/// the sum of squared distances of matched positions (strictly nearer than the gate) + gate^2 for every free
/// end, true or found. So a pair is always worth more than two free ends. Then every link, which joins
/// consecutive points of a found track over any number of frames, is judged by what its two ends are matched
/// to.

#include <algorithm>
#include <tuple>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/tracking/link_score.h>

#include "tracking/score/assign.h"
#include "tracking/score/frame_index.h"
#include "tracking/score/gate_grid.h"
#include "tracking/score/ratio.h"

namespace motes::tracking {
namespace {

using detail::FrameIndex;
using matching::Index;

using PointNumbers = std::span<const std::int64_t>;

std::vector<std::pair<Vec3, std::int64_t>> sorted_positions(const TrackSet& tracks, PointNumbers points) {
  std::vector<std::pair<Vec3, std::int64_t>> sorted;
  sorted.reserve(points.size());
  for (const std::int64_t p : points) sorted.emplace_back(detail::position(tracks, p), p);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first.x, a.first.y, a.first.z, a.second) <
           std::tie(b.first.x, b.first.y, b.first.z, b.second);
  });
  return sorted;
}

bool before(const Vec3& a, const Vec3& b) { return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z); }

/// Matches positions that are exactly equal. True when that leaves no found or no true position over: the sum
/// is then as small as it can be. (Otherwise an exact pair need not belong to the optimum: squared distances
/// can gain by shifting a row of points by one.) Writes found_to_true only in that case.
bool match_exactly(const TrackSet& truth, const TrackSet& found, PointNumbers true_points,
                   PointNumbers found_points, std::vector<std::int64_t>& found_to_true) {
  const auto truths = sorted_positions(truth, true_points), founds = sorted_positions(found, found_points);
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  auto t = truths.begin();
  auto f = founds.begin();
  while (t != truths.end() && f != founds.end()) {
    if (before(t->first, f->first)) {
      ++t;
    } else if (before(f->first, t->first)) {
      ++f;
    } else {
      pairs.emplace_back((f++)->second, (t++)->second);
    }
  }
  if (pairs.size() < std::min(truths.size(), founds.size())) return false;
  for (const auto& [found_point, true_point] : pairs)
    found_to_true[static_cast<std::size_t>(found_point)] = true_point;
  return true;
}

void match_within_gate(const TrackSet& truth, const TrackSet& found, PointNumbers true_points,
                       PointNumbers found_points, double gate, std::vector<std::int64_t>& found_to_true) {
  std::vector<Vec3> at;
  at.reserve(found_points.size());
  for (const std::int64_t p : found_points) at.push_back(detail::position(found, p));
  const detail::GateGrid grid(at, gate);

  detail::RealCosts costs;
  costs.graph.rows = static_cast<Index>(true_points.size());
  costs.graph.cols = static_cast<Index>(found_points.size());
  costs.unmatched_row_cost.assign(true_points.size(), gate * gate);
  costs.unmatched_col_cost = gate * gate;
  std::vector<std::pair<Index, double>> row;
  for (const std::int64_t p : true_points) {
    row.clear();
    grid.for_each_within(detail::position(truth, p), [&](std::size_t col, double d) {
      row.emplace_back(static_cast<Index>(col), d * d);
    });
    std::sort(row.begin(), row.end());
    for (const auto& [col, cost] : row) {
      costs.graph.col_index.push_back(col);
      costs.cost.push_back(cost);
    }
    costs.graph.row_offsets.push_back(costs.graph.edges());
  }
  const std::vector<Index> row_to_col = detail::assign(Execution{1}, costs);
  for (std::size_t i = 0; i < row_to_col.size(); ++i)
    if (row_to_col[i] >= 0)
      found_to_true[static_cast<std::size_t>(found_points[static_cast<std::size_t>(row_to_col[i])])] =
          true_points[i];
}

/// The true point of each found point, -1 none. [found points]
std::vector<std::int64_t> match_positions(const Execution& execution, const TrackSet& truth,
                                          const TrackSet& found, const FrameIndex& true_frames, double gate) {
  const FrameIndex found_frames = detail::index_frames(found);
  std::vector<std::int64_t> found_to_true(found.points(), -1);
  parallel_for(thread_count(execution), found_frames.slots(), [&](std::int64_t slot) {
    const PointNumbers found_points = found_frames.points_of_slot(slot);
    const PointNumbers true_points =
        true_frames.points_of_frame(found_frames.frames[static_cast<std::size_t>(slot)]);
    if (true_points.empty()) return;
    if (!match_exactly(truth, found, true_points, found_points, found_to_true))
      match_within_gate(truth, found, true_points, found_points, gate, found_to_true);
  });
  return found_to_true;
}

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
    const bool divides = !truth_.parent.empty() && truth_.parent[daughter] >= 0 &&
                         truth_.parent[daughter] == truth_.track_id[mother];
    return divides ? Verdict::neutral : Verdict::false_link;
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
  // The detected position before each detected one of the same particle, -1 none.
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
  const std::vector<std::int64_t> found_to_true = match_positions(execution, truth, found, true_frames, gate);

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
  // Positions match one to one, so no two found links cover the same true one.
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
  return scores;
}

}  // namespace motes::tracking
