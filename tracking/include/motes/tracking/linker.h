#pragma once
/// Frame-to-frame linking by exact assignment (or nearest first), and tracks from links.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/matching/answer.h>
#include <motes/tracking/candidates.h>
#include <motes/tracking/detections.h>
#include <motes/tracking/track_set.h>

namespace motes::tracking {

/// The name of the nearest-first heuristic among the values of linking.solver.
inline constexpr const char* kGreedySolver = "greedy";

/// More detections of a frame at one place (to gate / 2^18) are linked as copies of one, on the CPU, because
/// candidates grow with the square of their number: by this solver (motes/matching/transportation.h),
/// whichever exact one was asked for.
inline constexpr std::size_t kMostCoincident = 256;
inline constexpr const char* kCopiesSolver = "transportation";

struct LinkOptions {
  CandidateOptions candidates;
  std::string solver = "auto";  ///< an assignment solver of the registry, or kGreedySolver (greedy_links.h)
  bool verify = false;          ///< check every pair's certificate; a failure throws std::logic_error
};

/// The links of one frame pair.
struct PairLinks {
  std::vector<matching::Index> next;  ///< [detections of the earlier frame] index in the later one, -1 none
  std::string solver;                 ///< the one that ran
  Backend backend = Backend::cpu;     ///< where it ran: cpu or cuda
  matching::Status status = matching::Status::optimal;
  bool verified = false;  ///< proven optimal; never of heuristic links
  std::int64_t candidates = 0, links = 0;
  std::int64_t components = 0, largest_component = 0;  ///< 0 where the solver does not look for them
  double objective = 0, gap = 0;  ///< in um^2 (or um); heuristic links: at most so far from the optimum
  double candidates_s = 0;        ///< on cuda including the frames' copies
  double solve_s = 0;             ///< including the settling of ties
  std::map<std::string, double>
      stage_s;  ///< of these, by name: the solver's own, ties, load; first 1000 pairs
};

/// From so many detections in the larger frame on, and so many in the whole series, `automatic` links on a
/// GPU if there is one: fewer are linked sooner than a GPU starts.
inline constexpr std::size_t kFrameWorthAGpu = 100'000, kSeriesWorthAGpu = 2'500'000;

/// Links two frames: candidates, then the assignment, on the back end that `execution` asks for. The
/// links are the same on all. Throws as build_candidates does, UsageError for a solver that is not known or
/// has no form for that back end, and ResourceError where cuda is asked for and not there.
PairLinks link_pair(const Execution& execution, const Detections& from, const Detections& to,
                    const LinkOptions& options);

/// GPU memory that a caller of link_frames may keep from one series to the next, so that each need not
/// allocate. Owned by one caller at a time; grows to the largest series seen and frees everything when it
/// dies. Of no use, and empty, where pairs are linked on the CPU.
class LinkWorkspace {
 public:
  LinkWorkspace();
  ~LinkWorkspace();
  LinkWorkspace(LinkWorkspace&&) noexcept;
  LinkWorkspace& operator=(LinkWorkspace&&) noexcept;

  struct Memory;
  /// What is kept, on that device; of another device nothing is kept.
  Memory& memory(int device);

 private:
  std::unique_ptr<Memory> memory_;
};

/// Links every pair of successive frames; pairs run side by side, each as link_pair would. On cuda a frame is
/// copied to the device once, and one pair's copies and ties overlap another's solving. `done`, where given,
/// is called after each pair, by one thread at a time, with the number of pairs finished; what it throws
/// stops the work and comes out of here. `workspace`, where given, is where GPU memory comes from and stays;
/// the links are the same with and without.
std::vector<PairLinks> link_frames(const Execution& execution, std::span<const Detections> frames,
                                   const LinkOptions& options,
                                   const std::function<void(std::size_t)>& done = {},
                                   LinkWorkspace* workspace = nullptr);

/// link_frames on several executions side by side, of one GPU each: each links a run of successive pairs.
/// Frames where runs meet are copied to both GPUs. Where pairs are linked on the CPU, the first execution
/// links all.
std::vector<PairLinks> link_frames_on(std::span<const Execution> executions,
                                      std::span<const Detections> frames, const LinkOptions& options,
                                      const std::function<void(std::size_t)>& done = {});

/// Tracks from links: detection d of frames[k] is followed by detection links[k].next[d] of frames[k + 1].
/// Tracks are numbered from 0 by their first frame, then by the detection's index there; a detection without
/// links is a track of one point. Point properties: radius, intensity, quality (where any is known) and the
/// tables' own columns. `links` has frames.size() - 1 entries (none for no frames).
TrackSet build_tracks(std::span<const Detections> frames, std::span<const PairLinks> links);

}  // namespace motes::tracking
