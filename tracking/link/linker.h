#pragma once
/// Frame-to-frame linking by exact assignment, and tracks from links.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "matching/matching.h"
#include "tracking/candidates/candidates.h"
#include "tracking/execution.h"
#include "tracking/types/detections.h"
#include "tracking/types/track_set.h"

namespace motes::tracking {

struct LinkOptions {
  CandidateOptions candidates;
  std::string solver = "auto";  ///< a name of the solver registry
  bool verify = false;          ///< check every pair's certificate; a failure throws std::logic_error
};

/// The links of one frame pair.
struct PairLinks {
  std::vector<matching::Index> next;  ///< [detections of the earlier frame] index in the later one, -1 none
  std::string solver;                 ///< the one that ran
  matching::Status status = matching::Status::optimal;
  bool verified = false;
  std::int64_t candidates = 0, links = 0, components = 0, largest_component = 0;
  double objective = 0, gap = 0;  ///< in um^2 (or um)
  double candidates_s = 0, solve_s = 0;
};

/// Links two frames: candidates, then the exact assignment. Throws as build_candidates does, and
/// UsageError for an unknown solver.
PairLinks link_pair(const Execution& execution, const Detections& from, const Detections& to,
                    const LinkOptions& options);

/// Links every pair of successive frames; pairs run side by side, each as link_pair would. `done`, where
/// given, is called after each pair, by one thread at a time, with the number of pairs finished; what it
/// throws stops the work and comes out of here.
std::vector<PairLinks> link_frames(const Execution& execution, std::span<const Detections> frames,
                                   const LinkOptions& options,
                                   const std::function<void(std::size_t)>& done = {});

/// Tracks from links: detection d of frames[k] is followed by detection links[k].next[d] of frames[k + 1].
/// Tracks are numbered from 0 by their first frame, then by the detection's index there; a detection without
/// links is a track of one point. Point properties: radius, intensity, quality (where any is known) and the
/// tables' own columns. `links` has frames.size() - 1 entries (none for no frames).
TrackSet build_tracks(std::span<const Detections> frames, std::span<const PairLinks> links);

}  // namespace motes::tracking
