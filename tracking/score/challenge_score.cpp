/// Reduces the pairing of the challenge to one sparse assignment.
///
/// Only a real candidate point nearer than the gate to the reference's position in the same frame (a
/// "contact") makes a pair of tracks feasible, and each frame of their overlap without a contact costs the
/// gate. So the distance of a pair follows from its contacts:
///
///   gate * (|first - first| + |last - last| + overlap - contacts) + sum of the contacts' distances
///
/// Contacts are found frame by frame with hashed cells, then grouped by pair. Virtual points of candidates
/// cannot be in contact and only count in lengths, so they are not computed. Virtual points of references can
/// be in contact. They are interpolated, but only in frames where some candidate has a point.
///
/// A pair that costs more than the reference's dummy cannot be part of an optimum and is left out.
///
/// If many tracks are equal, point by point, one of them stands for all, since the number of pairs grows with
/// the square of theirs.

#include <algorithm>
#include <cmath>

#include <motes/base/errors.h>
#include <motes/base/parallel_for.h>
#include <motes/tracking/challenge_score.h>

#include "tracking/score/assign.h"
#include "tracking/score/equal_tracks.h"
#include "tracking/score/frame_index.h"
#include "tracking/score/gate_grid.h"
#include "tracking/score/ratio.h"

namespace motes::tracking {
namespace {

using detail::FrameIndex;
using matching::Index;

constexpr std::int64_t kMaxVirtualPoints = std::int64_t{1} << 30;

struct Extent {
  std::int64_t first = 0, last = -1;
  std::int64_t length() const { return last - first + 1; }  ///< virtual points included
};

Extent extent(const TrackSet& tracks, std::size_t track) {
  return {tracks.frame[static_cast<std::size_t>(tracks.track_offsets[track])],
          tracks.frame[static_cast<std::size_t>(tracks.track_offsets[track + 1] - 1)]};
}

Extent overlap(const Extent& a, const Extent& b) {
  return {std::max(a.first, b.first), std::min(a.last, b.last)};
}

std::int64_t real_points(const TrackSet& tracks, std::size_t track, const Extent& within) {
  const auto begin = tracks.frame.begin() + tracks.track_offsets[track];
  const auto end = tracks.frame.begin() + tracks.track_offsets[track + 1];
  return std::upper_bound(begin, end, within.last) - std::lower_bound(begin, end, within.first);
}

/// Interpolated reference positions, in CSR over the candidates' frames.
struct VirtualPoints {
  std::vector<std::int64_t> offsets;  ///< [slots + 1]
  std::vector<Vec3> at;
  std::vector<Index> track;
};

/// Calls act(slot of the candidates' frames, reference track, the point before the gap) for each frame in a
/// gap of a reference track.
template <class Act>
void for_each_virtual(const TrackSet& reference, const FrameIndex& frames, const Act& act) {
  for (std::size_t track = 0; track < reference.tracks(); ++track) {
    const auto last = static_cast<std::size_t>(reference.track_offsets[track + 1]) - 1;
    for (auto p = static_cast<std::size_t>(reference.track_offsets[track]); p < last; ++p) {
      if (reference.frame[p + 1] - reference.frame[p] < 2) continue;
      auto slot = std::upper_bound(frames.frames.begin(), frames.frames.end(), reference.frame[p]);
      for (; slot != frames.frames.end() && *slot < reference.frame[p + 1]; ++slot)
        act(static_cast<std::size_t>(slot - frames.frames.begin()), track, p);
    }
  }
}

Vec3 interpolated(const TrackSet& tracks, std::size_t before, std::int32_t frame) {
  const double part = (static_cast<double>(frame) - tracks.frame[before]) /
                      (static_cast<double>(tracks.frame[before + 1]) - tracks.frame[before]);
  const auto mixed = [&](const std::vector<double>& v) {
    return v[before] + part * (v[before + 1] - v[before]);
  };
  return {mixed(tracks.x_um), mixed(tracks.y_um), mixed(tracks.z_um)};
}

VirtualPoints fill_gaps(const TrackSet& reference, const FrameIndex& candidate_frames) {
  VirtualPoints points;
  points.offsets.assign(candidate_frames.frames.size() + 1, 0);
  std::int64_t total = 0;
  for_each_virtual(reference, candidate_frames, [&](std::size_t slot, std::size_t, std::size_t) {
    ++points.offsets[slot + 1];
    if (++total > kMaxVirtualPoints)
      throw ResourceError(
          "the true tracks: their gaps need over 2^30 interpolated points; split tracks at gaps");
  });
  for (std::size_t s = 1; s < points.offsets.size(); ++s) points.offsets[s] += points.offsets[s - 1];
  points.at.resize(static_cast<std::size_t>(total));
  points.track.resize(static_cast<std::size_t>(total));
  std::vector<std::int64_t> next(points.offsets.begin(), points.offsets.end() - 1);
  for_each_virtual(reference, candidate_frames, [&](std::size_t slot, std::size_t track, std::size_t before) {
    const auto n = static_cast<std::size_t>(next[slot]++);
    points.at[n] = interpolated(reference, before, candidate_frames.frames[slot]);
    points.track[n] = static_cast<Index>(track);
  });
  return points;
}

struct Contact {
  Index reference, candidate;
  double distance;
};

class ContactFinder {
 public:
  ContactFinder(const TrackSet& reference, const TrackSet& candidate, double gate)
      : reference_(reference),
        candidate_(candidate),
        gate_(gate),
        reference_frames_(detail::index_frames(reference)),
        candidate_frames_(detail::index_frames(candidate)),
        virtual_(fill_gaps(reference, candidate_frames_)) {}

  /// All contacts, ordered by frame. Expected O(points + contacts).
  std::vector<Contact> find(const Execution& execution) const {
    std::vector<std::vector<Contact>> by_slot(candidate_frames_.frames.size());
    parallel_for(thread_count(execution), candidate_frames_.slots(),
                 [&](std::int64_t slot) { by_slot[static_cast<std::size_t>(slot)] = contacts_of(slot); });
    std::vector<Contact> all;
    std::size_t total = 0;
    for (const auto& contacts : by_slot) total += contacts.size();
    all.reserve(total);
    for (const auto& contacts : by_slot) all.insert(all.end(), contacts.begin(), contacts.end());
    return all;
  }

 private:
  std::vector<Contact> contacts_of(std::int64_t slot) const {
    const auto s = static_cast<std::size_t>(slot);
    std::vector<Vec3> at;
    std::vector<Index> track;
    for (const std::int64_t p : reference_frames_.points_of_frame(candidate_frames_.frames[s])) {
      at.push_back(detail::position(reference_, p));
      track.push_back(reference_frames_.track_of_point[static_cast<std::size_t>(p)]);
    }
    at.insert(at.end(), virtual_.at.begin() + virtual_.offsets[s],
              virtual_.at.begin() + virtual_.offsets[s + 1]);
    track.insert(track.end(), virtual_.track.begin() + virtual_.offsets[s],
                 virtual_.track.begin() + virtual_.offsets[s + 1]);

    const detail::GateGrid grid(at, gate_);
    std::vector<Contact> contacts;
    for (const std::int64_t p : candidate_frames_.points_of_slot(slot)) {
      const Index candidate = candidate_frames_.track_of_point[static_cast<std::size_t>(p)];
      grid.for_each_within(detail::position(candidate_, p), [&](std::size_t i, double d) {
        contacts.push_back({track[i], candidate, d});
      });
    }
    return contacts;
  }

  const TrackSet& reference_;
  const TrackSet& candidate_;
  double gate_;
  FrameIndex reference_frames_, candidate_frames_;
  VirtualPoints virtual_;
};

/// A feasible pair of tracks.
struct Pair {
  Index candidate = -1;
  std::int64_t contacts = 0;
  double distance = 0;            ///< of the pair
  double contact_distances2 = 0;  ///< sum of the contacts' squared distances
};

/// Feasible pairs of each reference, in CSR; candidates ascend within a row.
struct Pairs {
  std::vector<std::int64_t> offsets;  ///< [references + 1]
  std::vector<Pair> pair;
};

Pairs gather_pairs(const TrackSet& reference, const TrackSet& candidate, double gate,
                   const std::vector<Contact>& contacts) {
  // Counting sort by reference keeps the order of frames, so that sums do not depend on the number of
  // threads.
  std::vector<std::int64_t> offsets(reference.tracks() + 1, 0);
  for (const Contact& c : contacts) ++offsets[static_cast<std::size_t>(c.reference) + 1];
  for (std::size_t r = 1; r < offsets.size(); ++r) offsets[r] += offsets[r - 1];
  std::vector<Contact> by_reference(contacts.size());
  std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
  for (const Contact& c : contacts)
    by_reference[static_cast<std::size_t>(next[static_cast<std::size_t>(c.reference)]++)] = c;

  Pairs pairs;
  pairs.offsets.push_back(0);
  for (std::size_t r = 0; r < reference.tracks(); ++r) {
    const auto begin = by_reference.begin() + offsets[r], end = by_reference.begin() + offsets[r + 1];
    std::stable_sort(begin, end,
                     [](const Contact& a, const Contact& b) { return a.candidate < b.candidate; });
    const Extent row = extent(reference, r);
    for (auto contact = begin; contact != end;) {
      Pair pair;
      pair.candidate = contact->candidate;
      for (; contact != end && contact->candidate == pair.candidate; ++contact) {
        ++pair.contacts;
        pair.distance += contact->distance;
        pair.contact_distances2 += contact->distance * contact->distance;
      }
      const Extent column = extent(candidate, static_cast<std::size_t>(pair.candidate));
      const std::int64_t gates = std::abs(row.first - column.first) + std::abs(row.last - column.last) +
                                 overlap(row, column).length() - pair.contacts;
      pair.distance += gate * static_cast<double>(gates);
      if (pair.distance <= gate * static_cast<double>(row.length())) pairs.pair.push_back(pair);
    }
    pairs.offsets.push_back(static_cast<std::int64_t>(pairs.pair.size()));
  }
  return pairs;
}

detail::RealCosts costs_of(const TrackSet& reference, const TrackSet& candidate, double gate,
                           const Pairs& pairs) {
  detail::RealCosts costs;
  costs.graph.rows = static_cast<Index>(reference.tracks());
  costs.graph.cols = static_cast<Index>(candidate.tracks());
  costs.graph.row_offsets = pairs.offsets;
  for (const Pair& pair : pairs.pair) {
    costs.graph.col_index.push_back(pair.candidate);
    costs.cost.push_back(pair.distance);
  }
  for (std::size_t r = 0; r < reference.tracks(); ++r)
    costs.unmatched_row_cost.push_back(gate * static_cast<double>(extent(reference, r).length()));
  return costs;
}

/// The pair of each reference; without a candidate if it is assigned to its dummy.
std::vector<Pair> choose_pairs(const Execution& execution, const TrackSet& reference,
                               const TrackSet& candidate, double gate) {
  const std::vector<Contact> contacts = ContactFinder(reference, candidate, gate).find(execution);
  const Pairs pairs = gather_pairs(reference, candidate, gate, contacts);
  const std::vector<Index> row_to_col =
      detail::assign(execution, costs_of(reference, candidate, gate, pairs));
  std::vector<Pair> chosen(reference.tracks());
  for (std::size_t r = 0; r < chosen.size(); ++r)
    for (std::int64_t n = pairs.offsets[r]; n < pairs.offsets[r + 1]; ++n) {
      const Pair& pair = pairs.pair[static_cast<std::size_t>(n)];
      if (pair.candidate == row_to_col[r]) chosen[r] = pair;
    }
  return chosen;
}

/// The same if many tracks are equal.
std::vector<Pair> choose_pairs(const Execution& execution, const detail::EqualTracks& rows,
                               const detail::EqualTracks& cols, double gate, std::size_t references) {
  const std::vector<Contact> contacts = ContactFinder(rows.one, cols.one, gate).find(execution);
  const Pairs pairs = gather_pairs(rows.one, cols.one, gate, contacts);
  const std::vector<Index> flow =
      detail::assign_copies(costs_of(rows.one, cols.one, gate, pairs), rows.copies, cols.copies);
  std::vector<Pair> chosen(references);
  std::vector<std::size_t> next_col = cols.first;
  for (std::size_t r = 0; r < rows.first.size(); ++r) {
    std::size_t next_row = rows.first[r];
    for (auto n = static_cast<std::size_t>(pairs.offsets[r]);
         n < static_cast<std::size_t>(pairs.offsets[r + 1]); ++n)
      for (Index k = 0; k < flow[n]; ++k) {
        Pair& pair = chosen[rows.track[next_row++]] = pairs.pair[n];
        pair.candidate = static_cast<Index>(cols.track[next_col[static_cast<std::size_t>(pair.candidate)]++]);
      }
  }
  return chosen;
}

ChallengeScores count(const TrackSet& reference, const TrackSet& candidate, double gate,
                      const std::vector<Pair>& chosen) {
  ChallengeScores scores;
  double squares = 0;
  std::int64_t reference_length = 0, spurious_length = 0;
  std::vector<bool> paired(candidate.tracks(), false);
  for (std::size_t r = 0; r < reference.tracks(); ++r) {
    const Extent row = extent(reference, r);
    const double dummy = gate * static_cast<double>(row.length());
    reference_length += row.length();
    scores.max_pairing_distance += dummy;
    const Pair& pair = chosen[r];
    if (pair.candidate < 0) {
      scores.pairing_distance += dummy;
      ++scores.missed_tracks;
      continue;
    }
    const auto c = static_cast<std::size_t>(pair.candidate);
    const Extent column = extent(candidate, c), common = overlap(row, column);
    paired[c] = true;
    ++scores.paired_tracks;
    scores.pairing_distance += pair.distance;
    squares += pair.contact_distances2;
    scores.true_positives += pair.contacts;
    scores.false_positives +=
        column.length() - common.length() + real_points(candidate, c, common) - pair.contacts;
  }
  for (std::size_t c = 0; c < candidate.tracks(); ++c) {
    if (paired[c]) continue;
    ++scores.spurious_tracks;
    scores.false_positives += candidate.track_offsets[c + 1] - candidate.track_offsets[c];
    spurious_length += extent(candidate, c).length();
  }
  scores.false_negatives = reference_length - scores.true_positives;

  const bool both_empty = reference.tracks() == 0 && candidate.tracks() == 0;
  const double gained = scores.max_pairing_distance - scores.pairing_distance;
  const auto tp = static_cast<double>(scores.true_positives);
  scores.alpha = detail::ratio(gained, scores.max_pairing_distance, both_empty);
  scores.beta = detail::ratio(
      gained, scores.max_pairing_distance + gate * static_cast<double>(spurious_length), both_empty);
  scores.jsc = detail::ratio(tp, tp + static_cast<double>(scores.false_negatives + scores.false_positives),
                             both_empty);
  scores.jsc_theta = detail::ratio(
      static_cast<double>(scores.paired_tracks),
      static_cast<double>(scores.paired_tracks + scores.missed_tracks + scores.spurious_tracks), both_empty);
  scores.rmse = scores.true_positives > 0 ? std::sqrt(squares / tp) : 0.0;
  return scores;
}

}  // namespace

ChallengeScores challenge_scores(const Execution& execution, const TrackSet& reference,
                                 const TrackSet& candidate, double gate) {
  detail::check_gate(gate, "gate");
  detail::check_tracks(reference, "the true tracks");
  detail::check_tracks(candidate, "the found tracks");
  if (!detail::many_equal(reference) && !detail::many_equal(candidate))
    return count(reference, candidate, gate, choose_pairs(execution, reference, candidate, gate));
  const detail::EqualTracks rows(reference), cols(candidate);
  return count(reference, candidate, gate, choose_pairs(execution, rows, cols, gate, reference.tracks()));
}

}  // namespace motes::tracking
