/// Device forms of the functions that every kind of problem needs: checks, certificates, copies.

#include <motes/base/gpu/thread_index.cuh>

#include "matching/assignment/canonical/canonical_form.cuh"
#include "matching/assignment/device_problem.h"
#include "matching/certificate.h"
#include "matching/points/verify_points.cuh"

namespace motes::matching {
namespace {

using gpu::Arena;

constexpr int kThreads = 256;

/// The first fault is reported, so that the message does not depend on timing.
constexpr unsigned long long kNoFault = ~0ULL;

__device__ void report(unsigned long long* fault, Index i, Index j) {
  atomicMin(fault,
            (static_cast<unsigned long long>(static_cast<unsigned>(i)) << 32) | static_cast<unsigned>(j));
}

template <class Entries>
__global__ void check_entries_kernel(Entries entries, Cost limit, unsigned long long* fault) {
  const int lane = threadIdx.x % 32;
  for (Index i = static_cast<Index>((blockIdx.x * blockDim.x + threadIdx.x) / 32); i < entries.rows;
       i += static_cast<Index>(gridDim.x * blockDim.x / 32))
    entries.for_each(i, lane, 32, [&](Index j, Cost c) {
      if (c > limit || c < -limit) report(fault, i, j);
    });
}

/// Offsets first: the columns may only be read if these are valid.
__global__ void check_offsets_kernel(device::SparseEntries e, Offset edges, unsigned long long* fault) {
  for (Index i = gpu::thread_index(); i < e.rows; i += gpu::thread_total()) {
    const Offset begin = e.offsets[i], end = e.offsets[i + 1];
    if (begin < 0 || begin > end || end > edges || (i == 0 && begin != 0) ||
        (i + 1 == e.rows && end != edges))
      report(fault, i, 0);
  }
}
__global__ void check_columns_kernel(device::SparseEntries e, unsigned long long* fault) {
  for (Index i = gpu::thread_index(); i < e.rows; i += gpu::thread_total()) {
    Index previous = -1;
    for (Offset k = e.offsets[i]; k < e.offsets[i + 1]; ++k) {
      const Index j = e.col_index[k];
      if (j <= previous || j >= e.cols) report(fault, i, j < 0 ? 0 : j);
      previous = j;
    }
  }
}
__global__ void check_points_kernel(const double* p, Index count, unsigned long long* fault) {
  for (Index i = gpu::thread_index(); i < count; i += gpu::thread_total())
    if (!(fabs(p[i]) < 1e300)) report(fault, i, 0);
}

int blocks(const gpu::Arena& arena) { return 8 * arena.multiprocessors(); }

/// Whether the bounding boxes prove that no point and no pair is at fault.
bool boxes_fit(gpu::Arena& arena, const CostsView& problem) {
  return detail::with_entries(problem, [&]<class Entries>(const Entries& entries) {
    if constexpr (std::is_same_v<Entries, device::GeometricEntries>) {
      const detail::PairOfBounds bounds = device::bounds_on_device(arena, entries);
      return bounds.row.finite && bounds.col.finite && detail::farthest_cost(entries, bounds) <= kMaxGridCost;
    } else {
      return false;
    }
  });
}

struct Fault {
  Index i = -1, j = -1;
  explicit operator bool() const { return i != -1; }
};

template <class Launch>
Fault run_check(gpu::Arena& arena, Launch&& launch) {
  auto* fault = arena.take_filled<unsigned long long>(1, 0xff);
  launch(fault);
  MOTES_CUDA_LAUNCHED();
  const unsigned long long found = arena.download(fault, 1)[0];
  if (found == kNoFault) return {};
  return {static_cast<Index>(found >> 32), static_cast<Index>(found & 0xffffffffU)};
}

std::string pair_text(const Fault& f) { return "(" + std::to_string(f.i) + ", " + std::to_string(f.j) + ")"; }

/// Reads of the certificate: everything by value, all in device memory.
template <class Entries>
struct VerifyParameters {
  Entries entries;
  const Index* row_to_col;
  const Cost *u, *v;  ///< both nullptr if the answer has no duals
};
/// The result of the pass over rows. Faults are the least (row, col) of each kind.
struct VerifyFaults {
  unsigned long long no_edge, infeasible, loose;
};

/// Duals are not trusted, so u + v may need more than 64 bits.
__device__ bool exceeds(Cost u, Cost v, Cost c) { return static_cast<__int128>(u) + v > c; }

/// Warp per row: is its pair an edge, is every edge feasible (of points find_infeasible_points says that), is
/// its own pair tight?
template <class Entries>
__global__ void verify_rows_kernel(VerifyParameters<Entries> p, VerifyFaults* faults, Cost* matched_cost) {
  const int lane = threadIdx.x % 32;
  for (Index i = static_cast<Index>((blockIdx.x * blockDim.x + threadIdx.x) / 32); i < p.entries.rows;
       i += static_cast<Index>(gridDim.x * blockDim.x / 32)) {
    const Cost u = p.u == nullptr ? 0 : p.u[i];
    const Index mate = p.row_to_col[i];
    if (lane == 0 && mate != -1) {
      const Cost c = p.entries.at(i, mate);
      matched_cost[i] = c;
      if (c == kInfiniteCost)
        report(&faults->no_edge, i, mate);
      else if (p.u != nullptr && static_cast<__int128>(u) + p.v[mate] != c)
        report(&faults->loose, i, mate);
    } else if (lane == 0) {
      matched_cost[i] = 0;
    }
    if (p.u == nullptr || std::is_same_v<Entries, device::GeometricEntries>) continue;
    p.entries.for_each(i, lane, 32, [&](Index j, Cost c) {
      if (exceeds(u, p.v[j], c)) report(&faults->infeasible, i, j);
    });
  }
}

}  // namespace

SparseCosts copy_to_host(const SparseCostsView& view) {
  const auto copy = [&]<class T>(std::span<const T> from) {
    std::vector<T> to(from.size());
    if (!to.empty()) MOTES_CUDA(cudaMemcpy(to.data(), from.data(), from.size_bytes(), cudaMemcpyDefault));
    return to;
  };
  return {{view.graph.rows, view.graph.cols, copy(view.graph.row_offsets), copy(view.graph.col_index)},
          copy(view.cost),
          copy(view.unmatched_row_cost),
          copy(view.unmatched_col_cost),
          view.fraction_bits};
}

namespace device {

HostUnmatched host_unmatched(const CostsView& problem) {
  const auto copy = [](std::span<const Cost> from) {
    std::vector<Cost> to(from.size());
    if (!to.empty()) MOTES_CUDA(cudaMemcpy(to.data(), from.data(), from.size_bytes(), cudaMemcpyDefault));
    return to;
  };
  return {copy(unmatched_row_cost_of(problem)), copy(unmatched_col_cost_of(problem))};
}

CostsView with_unmatched(const CostsView& problem, const HostUnmatched& unmatched) {
  return std::visit(
      [&](auto view) -> CostsView {
        view.unmatched_row_cost = unmatched.row;
        view.unmatched_col_cost = unmatched.col;
        return view;
      },
      problem);
}

}  // namespace device

namespace detail {

void check_device_problem(Workspace* workspace, int device, const CostsView& problem) {
  const auto* dense = std::get_if<DenseCostsView>(&problem);
  if (dense != nullptr && dense->data.index() == 0) return;  // no int32 is too large
  Workspace own;
  gpu::Arena& arena = (workspace != nullptr ? *workspace : own).arena(device);
  arena.reset();
  const int grid = blocks(arena);
  if (const auto* sparse = std::get_if<SparseCostsView>(&problem)) {
    const device::SparseEntries e{sparse->graph.rows, sparse->graph.cols, sparse->graph.row_offsets.data(),
                                  sparse->graph.col_index.data(), sparse->cost.data()};
    if (Fault f = run_check(arena, [&](auto* fault) {
          check_offsets_kernel<<<grid, kThreads, 0, arena.stream()>>>(e, sparse->graph.edges(), fault);
        }))
      throw std::invalid_argument("graph: row_offsets falls at row " + std::to_string(f.i) +
                                  ", or does not run from 0 to the number of edges");
    if (Fault f = run_check(arena, [&](auto* fault) {
          check_columns_kernel<<<grid, kThreads, 0, arena.stream()>>>(e, fault);
        }))
      throw std::invalid_argument("graph: columns of row " + std::to_string(f.i) +
                                  " are unsorted, repeat or lie outside (at column " + std::to_string(f.j) +
                                  ")");
  }
  if (const auto* points = std::get_if<GeometricCostsView>(&problem)) {
    if (boxes_fit(arena, problem)) return;
    for (const PointsView* side : {&points->row_points, &points->col_points})
      for (const auto& axis : {side->x, side->y, side->z})
        if (Fault f = run_check(arena, [&](auto* fault) {
              check_points_kernel<<<grid, kThreads, 0, arena.stream()>>>(
                  axis.data(), static_cast<Index>(axis.size()), fault);
            }))
          throw std::invalid_argument("point " + std::to_string(f.i) + " is not finite");
  }
  const Cost limit = largest_allowed(problem);
  if (Fault f = detail::with_entries(problem, [&](const auto& entries) {
        return run_check(arena, [&](auto* fault) {
          check_entries_kernel<<<grid, kThreads, 0, arena.stream()>>>(entries, limit, fault);
        });
      }))
    throw std::invalid_argument("cost of pair " + pair_text(f) + " is NaN, or lies beyond 2^" +
                                (limit == kMaxGridCost ? "50 steps of its grid" : "58"));
}

EdgeFindings find_faults_on_device(const Execution& execution, const CostsView& problem,
                                   const Matching& matching) {
  Workspace own;
  gpu::Arena& arena = (execution.workspace != nullptr ? *execution.workspace : own).arena(execution.device);
  arena.reset();
  const auto* sparse = std::get_if<SparseCostsView>(&problem);
  const Offset edges = sparse != nullptr ? sparse->graph.edges() : 0;
  EdgeFindings findings;
  detail::with_entries(problem, [&](const auto& host_entries) {
    const auto entries = device::to_device(arena, host_entries, space_of(problem), edges);
    using Entries = std::decay_t<decltype(entries)>;
    const bool duals = has_duals(problem, matching);
    const VerifyParameters<Entries> parameters{
        entries, arena.upload(std::span<const Index>(matching.row_to_col)),
        duals ? arena.upload(std::span<const Cost>(matching.duals.u)) : nullptr,
        duals ? arena.upload(std::span<const Cost>(matching.duals.v)) : nullptr};
    auto* faults = arena.take_filled<VerifyFaults>(1, 0xff);
    Cost* cost = arena.take<Cost>(matching.row_to_col.size());
    if (entries.rows > 0) {
      verify_rows_kernel<<<blocks(arena), kThreads, 0, arena.stream()>>>(parameters, faults, cost);
      MOTES_CUDA_LAUNCHED();
    }
    if constexpr (std::is_same_v<Entries, device::GeometricEntries>)
      if (duals)
        device::find_infeasible_points(arena, entries, parameters.u, parameters.v, &faults->infeasible);
    findings.matched_cost = arena.download(cost, matching.row_to_col.size());
    const VerifyFaults found = arena.download(faults, 1)[0];
    const auto pair_of = [](unsigned long long f) {
      return f == kNoFault ? Pair{} : Pair{static_cast<Index>(f >> 32), static_cast<Index>(f & 0xffffffffU)};
    };
    findings.no_edge = pair_of(found.no_edge);
    findings.infeasible = pair_of(found.infeasible);
    findings.loose = pair_of(found.loose);
  });
  return findings;
}

Certificate verify_on_device(const Execution& execution, const CostsView& problem, const Matching& matching) {
  EdgeFindings findings;
  if (indexable(problem, matching)) findings = find_faults_on_device(execution, problem, matching);
  const device::HostUnmatched unmatched = device::host_unmatched(problem);
  return certify(device::with_unmatched(problem, unmatched), matching, findings);
}

}  // namespace detail
}  // namespace motes::matching
