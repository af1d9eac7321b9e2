#include "tracking/link/linker.h"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>

#include "matching/parallel_for.h"
#include "matching/registry.h"
#include "matching/ties.h"
#include "matching/verify.h"
#include "tracking/types/errors.h"

namespace motes::tracking {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

const matching::SolverInfo& solver_for(const std::string& name, const matching::SparseCostsView& problem) {
  if (name == "auto") return *matching::choose_solver(problem).info;
  const matching::SolverInfo* info = matching::find_solver(name);
  if (info == nullptr || info->family != matching::Family::assignment)
    throw UsageError("linking.solver: no assignment solver is called '" + name +
                     "'; `motes info` lists them");
  return *info;
}

}  // namespace

PairLinks link_pair(const Execution& execution, const Detections& from, const Detections& to,
                    const LinkOptions& options) {
  const auto start = Clock::now();
  const CandidateGraph graph = build_candidates(execution, from, to, options.candidates);
  const auto built = Clock::now();
  const auto problem = graph.costs.view();
  const matching::SolverInfo& info = solver_for(options.solver, problem);
  matching::Matching answer = info.make()->solve(execution, problem);
  if (answer.status == matching::Status::optimal) answer = matching::resolve_ties(execution, problem, answer);
  const auto solved = Clock::now();

  PairLinks out;
  out.solver = info.name;
  out.status = answer.status;
  if (options.verify) {
    const auto certificate = matching::verify(problem, answer);
    if (!certificate.optimal())
      throw std::logic_error("frames " + std::to_string(from.frame) + " and " + std::to_string(to.frame) +
                             ": the links' certificate fails: " + certificate.fault);
    out.verified = true;
  }
  out.candidates = problem.graph.edges();
  out.links = answer.cardinality;
  out.components = answer.stats.components;
  out.largest_component = answer.stats.largest_component;
  out.objective = answer.objective * graph.cost_unit;
  out.gap = answer.gap * graph.cost_unit;
  out.next = std::move(answer.row_to_col);
  out.candidates_s = seconds_between(start, built);
  out.solve_s = seconds_between(built, solved);
  return out;
}

std::vector<PairLinks> link_frames(const Execution& execution, std::span<const Detections> frames,
                                   const LinkOptions& options, const std::function<void(std::size_t)>& done) {
  const std::size_t pairs = frames.empty() ? 0 : frames.size() - 1;
  std::vector<PairLinks> links(pairs);
  // Pairs are independent: side by side they scale best; what threads they leave over go inside.
  const auto threads = static_cast<std::size_t>(thread_count(execution));
  const auto outer = static_cast<int>(std::clamp<std::size_t>(pairs, 1, threads));
  const Execution inner{
      static_cast<int>(std::max<std::size_t>(1, threads / static_cast<std::size_t>(outer)))};
  if (inner.threads > 1) omp_set_max_active_levels(std::max(2, omp_get_max_active_levels()));
  std::size_t finished = 0;
  std::mutex reporting;
  matching::parallel_for(outer, static_cast<std::int64_t>(pairs), [&](std::int64_t pair) {
    const auto k = static_cast<std::size_t>(pair);
    links[k] = link_pair(inner, frames[k], frames[k + 1], options);
    if (!done) return;
    const std::lock_guard<std::mutex> lock(reporting);
    done(++finished);
  });
  return links;
}

}  // namespace motes::tracking
