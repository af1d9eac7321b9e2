#pragma once
/// Builds candidates on a GPU and leaves them there for a solver. The graph has the same bits as that of
/// build_candidates. Without CUDA all functions throw ResourceError.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <motes/matching/problem.h>
#include <motes/tracking/candidate_graph.h>
#include <motes/tracking/candidates.h>
#include <motes/tracking/detections.h>

#include "tracking/candidates/candidate_terms.h"

namespace motes::tracking {

namespace detail {
struct FrameMemory;
struct GraphMemory;
}  // namespace detail

/// A frame's positions in device memory, snapped and sorted by cell: the columns of one pair of frames and
/// the rows of the next. Its memory grows to the largest frame it has held.
class DeviceFrame {
 public:
  explicit DeviceFrame(int device = 0);
  ~DeviceFrame();
  DeviceFrame(DeviceFrame&&) noexcept;
  DeviceFrame& operator=(DeviceFrame&&) noexcept;

  /// Returns when the device has finished. Copies through the workspace's pinned memory, if there is one.
  /// Throws InputError as build_candidates does. O(detections).
  void load(const Execution& execution, const Detections& detections, const CandidateTerms& terms);

  const detail::FrameMemory& memory() const { return *memory_; }
  /// The largest number of detections in a slot of the table; coincident ones are in one slot.
  std::size_t most_in_slot() const { return most_in_slot_; }

 private:
  std::unique_ptr<detail::FrameMemory> memory_;
  std::size_t most_in_slot_ = 0;
};

/// As CandidateGraph, in device memory.
struct DeviceCandidateGraph {
  matching::SparseCostsView costs;
  double cost_unit = 1;
};

/// Builds candidate graphs one after the other in the same memory.
class DeviceCandidates {
 public:
  explicit DeviceCandidates(int device = 0);
  ~DeviceCandidates();
  DeviceCandidates(DeviceCandidates&&) noexcept;
  DeviceCandidates& operator=(DeviceCandidates&&) noexcept;

  /// Candidates between two frames loaded with `terms`; valid until the next call. `from` and `to` are the
  /// detections that were loaded, for messages. Throws ResourceError for more than `max_candidates`; 0: as
  /// many as fit into a quarter of the device's free memory. O(detections + candidates), for rows of d > 32
  /// candidates O(d log^2 d).
  DeviceCandidateGraph build(const DeviceFrame& from_frame, const DeviceFrame& to_frame,
                             const CandidateOptions& options, const CandidateTerms& terms,
                             const Detections& from, const Detections& to);

 private:
  std::unique_ptr<detail::GraphMemory> memory_;
};

/// A host copy.
CandidateGraph copy_to_host(const DeviceCandidateGraph& graph);

}  // namespace motes::tracking
