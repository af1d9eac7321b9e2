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

/// If more detections of a frame than this are at one place (to within gate / 2^18), they are linked as
/// copies of one, since the number of candidates grows with the square of theirs. This is done on the CPU by
/// the solver `kCopiesSolver` (motes/matching/transportation.h), whichever exact solver was asked for.
inline constexpr std::size_t kMostCoincident = 256;
inline constexpr const char* kCopiesSolver = "transportation";

struct LinkOptions {
  CandidateOptions candidates;
  std::string solver = "auto";  ///< an assignment solver of the registry, or kGreedySolver (greedy_links.h)
  bool verify = false;  ///< check each pair's certificate of optimality; a failure throws std::logic_error
};

/// The links of one frame pair.
struct PairLinks {
  std::vector<matching::Index> next;  ///< [detections of the earlier frame] index in the later one, -1 none
  std::string solver;                 ///< the one that ran
  Backend backend = Backend::cpu;     ///< where it ran: cpu or cuda
  matching::Status status = matching::Status::optimal;
  bool verified = false;  ///< proven optimal; false for links by a heuristic
  std::int64_t candidates = 0, links = 0;
  /// Of the graph; 0 if the solver does not look for them.
  std::int64_t components = 0, largest_component = 0;
  double objective = 0, gap = 0;  ///< in um^2 (or um); the objective is at most `gap` above the optimum
  double candidates_s = 0;        ///< on cuda, including the copies of the frames
  double solve_s = 0;             ///< including the breaking of ties
  std::map<std::string, double> stage_s;  ///< seconds of the solver's stages, of ties and of loading, by
                                          ///< name; of the first 1000 pairs only
};

/// `automatic` uses a GPU, if there is one, for pairs of which a frame has at least `kFrameWorthAGpu`
/// detections, if the series has at least `kSeriesWorthAGpu`. Fewer are linked on the CPU before a GPU has
/// started.
inline constexpr std::size_t kFrameWorthAGpu = 100'000, kSeriesWorthAGpu = 2'500'000;

/// Links two frames: candidates, then the assignment, on the back end that `execution` asks for. The
/// links are the same on all. Throws as build_candidates does, UsageError for a solver that is unknown or
/// lacks that back end, and ResourceError if cuda is asked for and missing.
PairLinks link_pair(const Execution& execution, const Detections& from, const Detections& to,
                    const LinkOptions& options);

/// GPU memory that a caller of link_frames may keep from one series to the next, to save allocations. For one
/// call at a time. It grows to the need of the largest series and is freed by the destructor. It stays empty
/// if pairs are linked on the CPU.
class LinkWorkspace {
 public:
  LinkWorkspace();
  ~LinkWorkspace();
  LinkWorkspace(LinkWorkspace&&) noexcept;
  LinkWorkspace& operator=(LinkWorkspace&&) noexcept;

  struct Memory;
  /// The memory kept on that device. Memory of another device is freed.
  Memory& memory(int device);

 private:
  std::unique_ptr<Memory> memory_;
};

/// Links all pairs of successive frames, in parallel, each as link_pair does. Returns [frames - 1]. On cuda
/// each frame is copied to the device once, and one pair's copies and ties overlap another's solving. `done`,
/// if given, is called after each pair, by one thread at a time, with the number of finished pairs; an
/// exception from it stops the work and is rethrown. `workspace`, if given, provides and keeps GPU memory;
/// the links are the same without it.
std::vector<PairLinks> link_frames(const Execution& execution, std::span<const Detections> frames,
                                   const LinkOptions& options,
                                   const std::function<void(std::size_t)>& done = {},
                                   LinkWorkspace* workspace = nullptr);

/// Takes the links of frames k and k + 1. Called by several threads at once, in any order.
using TakeLinks = std::function<void(std::size_t k, PairLinks links)>;

/// As link_frames, but hands each pair's links over, so that the caller keeps only what it needs: for a
/// million small pairs, all PairLinks take more memory than the frames. Several executions, each with a GPU,
/// work in parallel: each links a run of successive pairs. Frames at the border of two runs are copied to
/// both GPUs. If pairs are linked on the CPU, the first execution links all.
void link_frames_on(std::span<const Execution> executions, std::span<const Detections> frames,
                    const LinkOptions& options, const TakeLinks& take,
                    const std::function<void(std::size_t)>& done = {});

/// Tracks from links: detection d of frames[k] is followed by detection links[k].next[d] of frames[k + 1].
/// Tracks are numbered from 0 by their first frame, then by the detection's index there; a detection without
/// links is a track of one point. Point properties: radius, intensity and quality, if known for any
/// detection, and the columns of the input. `links` has frames.size() - 1 entries (none for no frames).
/// O(detections).
TrackSet build_tracks(std::span<const Detections> frames, std::span<const PairLinks> links);

}  // namespace motes::tracking
