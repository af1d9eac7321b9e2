#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <omp.h>

#include <motes/base/errors.h>
#include <motes/base/gpu/device.h>
#include <motes/base/index.h>
#include <motes/base/nested_levels.h>
#include <motes/base/parallel_for.h>
#include <motes/base/stop.h>
#include <motes/matching/registry.h>
#include <motes/matching/ties.h>
#include <motes/matching/verify.h>
#include <motes/tracking/linker.h>

#include "tracking/link/pairs/device_frames.h"
#include "tracking/link/pairs/greedy_links.h"
#include "tracking/link/pairs/place_links.h"
#include "tracking/link/pairs/uncontested_links.h"

namespace motes::tracking {
namespace {

using Frames = std::span<const Detections* const>;
using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

const matching::SolverInfo& named_solver(const std::string& name) {
  const matching::SolverInfo* info = matching::find_solver(name);
  if (info == nullptr || info->family() != matching::Family::assignment)
    throw UsageError("linking.solver: no assignment solver is called '" + name +
                     "'; `motes info` lists them");
  return *info;
}

bool has_cuda_form(const std::string& solver) {
  if (solver == kGreedySolver) return false;
  return solver == "auto" || named_solver(solver).backends.contains(Backend::cuda);
}

/// Decides where pairs are linked, before candidates are built.
class Placement {
 public:
  Placement(const Execution& execution, Frames frames, const LinkOptions& options) {
    const bool possible = has_cuda_form(options.solver);
    if (execution.backend == Backend::cpu) return;
    if (execution.backend == Backend::cuda && !possible)
      throw UsageError("linking.solver: " + options.solver + " has no CUDA form; use execution.backend: cpu");
    const auto worth = [&] {
      std::size_t largest = 0, all = 0;
      for (const Detections* frame : frames) largest = std::max(largest, frame->size()), all += frame->size();
      return possible && largest >= kFrameWorthAGpu && all >= kSeriesWorthAGpu;
    };
    if (execution.backend == Backend::automatic && !worth()) return;  // without initialising a GPU
    const auto devices = gpu::list_devices();
    if (!devices.devices.empty())
      least_ = execution.backend == Backend::cuda ? 0 : kFrameWorthAGpu;
    else if (execution.backend == Backend::cuda)
      throw ResourceError("execution.backend: no GPU: " + devices.why_none + "; use execution.backend: cpu");
  }

  /// Whether some pairs may be linked on the GPU.
  bool any_on_gpu() const { return least_ != kNever; }
  Backend of(const Detections& from, const Detections& to) const {
    return any_on_gpu() && std::max(from.size(), to.size()) >= least_ ? Backend::cuda : Backend::cpu;
  }

 private:
  static constexpr std::size_t kNever = static_cast<std::size_t>(-1);
  std::size_t least_ = kNever;  ///< least number of detections in the larger frame for the GPU
};

const matching::SolverInfo& solver_for(const std::string& name, const matching::SparseCostsView& problem,
                                       Backend backend) {
  return name == "auto" ? *matching::choose_solver(problem, backend, matching::Gpu::started).info
                        : named_solver(name);
}

/// The optimum by the tie rule; with the duals that prove it only if `with_proof`.
matching::Matching exact_matching(const Execution& execution, const matching::SparseCostsView& problem,
                                  const matching::SolverInfo& info, bool with_proof,
                                  const matching::TieNames& names) {
  const auto solver = info.make();
  if (!with_proof && names.rows.empty()) return solver->solve_for_partners(execution, problem);
  matching::Matching answer = solver->solve(execution, problem);
  if (answer.status != matching::Status::optimal) return answer;
  return matching::resolve_ties(execution, problem, std::move(answer), names);
}

/// Links from candidates in host or device memory. `names`: the detections of rows and columns, if the
/// problem has them in another order.
PairLinks links_of(const Execution& execution, const matching::SparseCostsView& problem, double cost_unit,
                   const Detections& from, const Detections& to, const LinkOptions& options,
                   const matching::TieNames& names = {}) {
  const auto start = Clock::now();
  const bool greedy = options.solver == kGreedySolver;
  PairLinks out;
  matching::Matching answer;
  if (greedy) {
    answer = greedy_matching(execution, problem);
    out.solver = kGreedySolver;
  } else {
    const matching::SolverInfo& info = solver_for(options.solver, problem, execution.backend);
    answer = exact_matching(execution, problem, info, options.verify, names);
    out.solver = info.name;
  }
  const auto solved = Clock::now();

  out.backend = execution.backend;
  out.status = answer.status;
  if (options.verify && greedy) check_nearest_first(problem, answer);
  if (options.verify && !greedy) {
    const auto certificate = matching::verify(execution, problem, answer);
    if (!certificate.optimal())
      throw std::logic_error("frames " + std::to_string(from.frame) + " and " + std::to_string(to.frame) +
                             ": the links' certificate fails: " + certificate.fault);
    out.verified = true;
  }
  out.candidates = problem.graph.edges();
  out.links = answer.cardinality;
  out.components = answer.stats.components;
  out.largest_component = answer.stats.largest_component;
  out.objective = answer.objective * cost_unit;
  out.gap = answer.gap * cost_unit;
  out.next = std::move(answer.row_to_col);
  out.solve_s = seconds_between(start, solved);
  out.stage_s = std::move(answer.stats.seconds);
  return out;
}

/// Numbers the points by their places; returns the detection of each.
std::vector<matching::Index> number_by_place(SortedPoints& points) {
  std::vector<matching::Index> places(points.points.size());
  std::iota(places.begin(), places.end(), 0);
  return std::exchange(points.detection, std::move(places));
}

PairLinks link_on_cpu(Execution execution, const Detections& from, const Detections& to,
                      const LinkOptions& options) {
  execution.backend = Backend::cpu;
  const auto start = Clock::now();
  const CandidateTerms terms = terms_of(options.candidates);
  if (options.solver == "auto" && !options.verify)
    if (std::optional<PairLinks> links = link_uncontested(from, to, options, terms)) return *std::move(links);
  SortedPair pair = sort_pair(from, to, terms);
  const bool greedy = options.solver == kGreedySolver;
  if (!greedy && crowded(pair)) return link_places(pair, from, to, options, terms);
  // Rows and columns are numbered in the order of their places, so that neighbours are close in memory for
  // any order of the detections.
  std::vector<matching::Index> rows, cols;
  if (!greedy) rows = number_by_place(pair.rows), cols = number_by_place(pair.cols);
  const CandidateGraph graph = build_candidates(execution, pair, from, to, options.candidates, terms);
  pair = {};
  const auto built = Clock::now();
  PairLinks out = links_of(execution, graph.costs.view(), graph.cost_unit, from, to, options, {rows, cols});
  out.candidates_s = seconds_between(start, built);
  if (greedy) return out;
  const std::vector<matching::Index> partners = std::exchange(out.next, {});
  out.next.assign(partners.size(), -1);
  for (std::size_t i = 0; i < partners.size(); ++i)
    if (partners[i] != -1) out.next[at(rows[i])] = cols[at(partners[i])];
  return out;
}

/// Memory of one thread that links pairs on a GPU, kept from pair to pair.
struct LinkerMemory {
  explicit LinkerMemory(int device) : candidates(device) {}
  Workspace workspace;
  DeviceCandidates candidates;
};

}  // namespace

struct LinkWorkspace::Memory {
  int device;
  DeviceFrames::Spare spare;
  std::vector<std::unique_ptr<LinkerMemory>> linkers;
};

LinkWorkspace::LinkWorkspace() = default;
LinkWorkspace::~LinkWorkspace() = default;
LinkWorkspace::LinkWorkspace(LinkWorkspace&&) noexcept = default;
LinkWorkspace& LinkWorkspace::operator=(LinkWorkspace&&) noexcept = default;

LinkWorkspace::Memory& LinkWorkspace::memory(int device) {
  if (!memory_ || memory_->device != device) memory_ = std::make_unique<Memory>(Memory{device, {}, {}});
  return *memory_;
}

namespace {

/// The state of one thread that links pairs on a GPU.
struct DeviceLinker {
  DeviceLinker(Frames all, DeviceFrames& loaded, const Execution& given, const LinkOptions& link_options,
               LinkerMemory& memory)
      : detections(all),
        frames(loaded),
        options(link_options),
        terms(terms_of(link_options.candidates)),
        execution(given),
        candidates(memory.candidates) {
    execution.backend = Backend::cuda;
    execution.workspace = &memory.workspace;
  }

  /// Links frames k and k + 1.
  PairLinks link(std::size_t k) {
    const Detections &from = *detections[k], &to = *detections[k + 1];
    const auto start = Clock::now();
    const DeviceFrame& cols = frames.frame(
        execution, k + 1);  // the later one first, as on the CPU, so that the same error is thrown
    const DeviceFrame& rows = frames.frame(execution, k);
    const auto brought_over = Clock::now();
    if (std::max(rows.most_in_slot(), cols.most_in_slot()) > kMostCoincident &&
        crowded(sort_pair(from, to, terms))) {
      frames.release(k);
      frames.release(k + 1);
      return link_on_cpu(execution, from, to, options);
    }
    const DeviceCandidateGraph graph = candidates.build(rows, cols, options.candidates, terms, from, to);
    frames.release(k);
    frames.release(k + 1);
    const auto built = Clock::now();
    PairLinks out = links_of(execution, graph.costs, graph.cost_unit, from, to, options);
    out.candidates_s = seconds_between(start, built);
    out.stage_s["load"] = seconds_between(start, brought_over);
    return out;
  }

  Frames detections;
  DeviceFrames& frames;
  const LinkOptions& options;
  CandidateTerms terms;
  Execution execution;
  DeviceCandidates& candidates;
};

/// Threads take several pairs at once: at most kMostTogether, and few enough that each thread takes pairs
/// kTurnsOfThread times.
constexpr std::size_t kTurnsOfThread = 256, kMostTogether = 64;

/// Seconds by stage are kept for this many pairs; for a million pairs they would take more memory than all
/// else.
constexpr std::size_t kPairsWithStages = 1000;

/// Enough to overlap a pair's copies and ties with the solving of others; each pair has its own memory.
constexpr std::size_t kPairsOnGpuAtOnce = 3;

void link_all(const Execution& execution, const Placement& placement, Frames frames,
              const LinkOptions& options, const TakeLinks& take, const std::function<void(std::size_t)>& done,
              LinkWorkspace* workspace) {
  const std::size_t pairs = frames.empty() ? 0 : frames.size() - 1;
  if (pairs == 0) return;
  // Pairs are independent, so linking them in parallel scales best. Threads that are left work within pairs.
  const auto threads = static_cast<std::size_t>(thread_count(execution));
  const std::size_t at_once = placement.any_on_gpu() ? std::min(threads, kPairsOnGpuAtOnce) : threads;
  const auto outer = static_cast<int>(std::clamp<std::size_t>(pairs, 1, at_once));
  Execution inner = execution;
  inner.threads = static_cast<int>(std::max<std::size_t>(1, threads / static_cast<std::size_t>(outer)));
  inner.workspace = nullptr;  // a workspace belongs to one thread
  const NestedLevels nested(inner.threads > 1 ? 2 : 1);
  LinkWorkspace own;
  LinkWorkspace::Memory* kept = nullptr;
  std::optional<DeviceFrames> loaded;
  if (placement.any_on_gpu()) {
    kept = &(workspace != nullptr ? *workspace : own).memory(execution.device);
    kept->linkers.resize(std::max(kept->linkers.size(), static_cast<std::size_t>(outer)));
    loaded.emplace(frames, terms_of(options.candidates), kept->spare);
  }
  std::size_t finished = 0;
  std::mutex reporting;
  const Stop stop = Stop::of_this_thread();
  const auto link = [&](std::size_t k) {
    if (placement.of(*frames[k], *frames[k + 1]) != Backend::cuda)
      return link_on_cpu(inner, *frames[k], *frames[k + 1], options);
    auto& memory = kept->linkers[static_cast<std::size_t>(omp_get_thread_num())];
    if (!memory) memory = std::make_unique<LinkerMemory>(inner.device);
    return DeviceLinker(frames, *loaded, inner, options, *memory).link(k);
  };
  // A thread takes several small pairs at once, since taking and reporting one takes as long as linking it.
  const std::size_t together = std::clamp<std::size_t>(pairs / (at_once * kTurnsOfThread), 1, kMostTogether);
  parallel_for(outer, static_cast<std::int64_t>((pairs + together - 1) / together), [&](std::int64_t turn) {
    const Stop::Use same(stop);
    const std::size_t begin = static_cast<std::size_t>(turn) * together;
    const std::size_t end = std::min(pairs, begin + together);
    for (std::size_t k = begin; k < end; ++k) {
      PairLinks links = link(k);
      if (k >= kPairsWithStages) links.stage_s = {};
      take(k, std::move(links));
    }
    if (!done) return;
    const std::lock_guard<std::mutex> lock(reporting);
    for (std::size_t k = begin; k < end; ++k) done(++finished);
  });
}

std::vector<const Detections*> pointers_to(std::span<const Detections> frames) {
  std::vector<const Detections*> pointers(frames.size());
  std::transform(frames.begin(), frames.end(), pointers.begin(), [](const Detections& d) { return &d; });
  return pointers;
}

/// Each execution links a run of successive pairs in its own thread.
void link_runs(std::span<const Execution> executions, const Placement& placement, Frames frames,
               const LinkOptions& options, const TakeLinks& take,
               const std::function<void(std::size_t)>& done) {
  const std::size_t pairs = frames.size() - 1, runs = std::min(executions.size(), pairs);
  std::vector<std::exception_ptr> failures(runs);
  std::mutex reporting;
  std::size_t finished = 0;
  const Stop stop = Stop::of_this_thread();
  const auto link_run = [&](std::size_t run) {
    const Stop::Use same(stop);
    const std::size_t first = run * pairs / runs, end = (run + 1) * pairs / runs;
    const auto tell = [&](std::size_t) {
      const std::lock_guard<std::mutex> lock(reporting);
      if (done) done(++finished);
    };
    const auto take_of_run = [&](std::size_t k, PairLinks links) { take(first + k, std::move(links)); };
    try {
      link_all(executions[run], placement, frames.subspan(first, end - first + 1), options, take_of_run, tell,
               nullptr);
    } catch (...) {
      failures[run] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t run = 0; run < runs; ++run) threads.emplace_back(link_run, run);
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace

PairLinks link_pair(const Execution& execution, const Detections& from, const Detections& to,
                    const LinkOptions& options) {
  const Detections* const frames[] = {&from, &to};
  const Placement placement(execution, frames, options);
  PairLinks out;
  const auto take = [&](std::size_t, PairLinks links) { out = std::move(links); };
  link_all(execution, placement, frames, options, take, {}, nullptr);
  return out;
}

std::vector<PairLinks> link_frames(const Execution& execution, std::span<const Detections> frames,
                                   const LinkOptions& options, const std::function<void(std::size_t)>& done,
                                   LinkWorkspace* workspace) {
  const std::vector<const Detections*> pointers = pointers_to(frames);
  const Placement placement(execution, pointers, options);
  std::vector<PairLinks> all(frames.empty() ? 0 : frames.size() - 1);
  const auto take = [&](std::size_t k, PairLinks links) { all[k] = std::move(links); };
  link_all(execution, placement, pointers, options, take, done, workspace);
  return all;
}

void link_frames_on(std::span<const Execution> executions, std::span<const Detections> frames,
                    const LinkOptions& options, const TakeLinks& take,
                    const std::function<void(std::size_t)>& done) {
  const std::vector<const Detections*> pointers = pointers_to(frames);
  const Placement placement(executions.front(), pointers, options);
  if (executions.size() < 2 || frames.size() < 3 || !placement.any_on_gpu())
    link_all(executions.front(), placement, pointers, options, take, done, nullptr);
  else
    link_runs(executions, placement, pointers, options, take, done);
}

}  // namespace motes::tracking
