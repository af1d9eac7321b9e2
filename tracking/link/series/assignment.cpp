#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <stdexcept>

#include <motes/base/hash.h>
#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/matching/registry.h>
#include <motes/matching/ties.h>
#include <motes/matching/verify.h>
#include <motes/tracking/series_assignment.h>

#include "tracking/link/series/candidates.h"
#include "tracking/link/series/gap_shares.h"
#include "tracking/link/series/occlusion.h"
#include "tracking/link/series/problem.h"

namespace motes::tracking {
namespace {

using matching::Cost;
using matching::Index;
using matching::Offset;

constexpr std::int64_t kRowsPerBlock = 2048;
/// Costs are limited to this many nats.
constexpr double kMostNats = 200;

Cost steps_of(double nats) {
  return std::llround(std::clamp(nats, -kMostNats, kMostNats) * (1 << kNatBits)) << kSeriesTieBits;
}

Cost tie_of(std::uint64_t row_hash, std::uint64_t column_hash) {
  return static_cast<Cost>(splitmix64_finaliser(row_hash ^ ((column_hash << 32) | (column_hash >> 32))) >>
                           (64 - kSeriesTieBits));
}

}  // namespace

double alone_cost(double clutter, double end, double birth, bool few) {
  return few ? -std::log(std::exp(-clutter) + std::exp(-end - birth)) : std::min(clutter, end + birth);
}

bool FreeCosts::is_false(std::size_t i) const {
  // The sum of both probabilities exceeds twice that of a track if the other one is likelier.
  return !few || alone[i] < end[i] + birth[i] - std::numbers::ln2;
}

FreeCosts free_costs(const SeriesPoints& points, const SeriesModel& model, bool few,
                     std::int32_t frames_before) {
  FreeCosts out;
  out.few = few;
  for (auto* const costs : {&out.end, &out.birth, &out.alone}) costs->reserve(points.size());
  std::vector<double> end, birth;
  for (std::int32_t t = 0; t < points.frames(); ++t) {
    end.push_back(model.end_cost(points.frames() - 1 - t));
    birth.push_back(model.birth_cost(points.density[at(t)], frames_before + t));
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto t = at(points.slot[i]);
    out.end.push_back(end[t]);
    const double crowding = points.crowding.empty() ? 0 : std::log(points.crowding[i]);
    out.birth.push_back(birth[t] - crowding);
    const double clutter = model.clutter_cost(points, static_cast<Index>(i));
    // Otherwise end and birth are prices of their own, and the assignment takes the lower.
    out.alone.push_back(few ? alone_cost(clutter, end[t], out.birth.back(), few) : clutter);
  }
  return out;
}

matching::SparseCosts series_problem(const Execution& execution, const SeriesPoints& points,
                                     const FreeCosts& free, const SeriesCandidates& candidates,
                                     const std::vector<double>& costs) {
  const int threads = thread_count(execution);
  matching::SparseCosts out;
  const auto n = static_cast<std::int64_t>(points.size());
  out.graph.rows = out.graph.cols = static_cast<Index>(n);
  auto& offsets = out.graph.row_offsets;
  offsets.assign(points.size() + 1, 0);
  const auto useful = [&](std::size_t i, std::size_t e) {
    return costs[e] < free.end[i] + free.birth[at(candidates.to[e])];
  };
  const std::int64_t blocks = (n + kRowsPerBlock - 1) / kRowsPerBlock;
  parallel_for(threads, blocks, [&](std::int64_t b) {
    for (std::int64_t i = b * kRowsPerBlock; i < std::min(n, (b + 1) * kRowsPerBlock); ++i) {
      Offset kept = 1;
      for (Offset e = candidates.row_offsets[at(i)]; e < candidates.row_offsets[at(i) + 1]; ++e)
        kept += useful(at(i), at(e));
      offsets[at(i) + 1] = kept;
    }
  });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  out.graph.col_index.resize(at(offsets.back()));
  out.cost.resize(at(offsets.back()));
  out.unmatched_row_cost.resize(points.size());
  out.unmatched_col_cost.resize(points.size());
  parallel_for(threads, blocks, [&](std::int64_t b) {
    for (std::int64_t i = b * kRowsPerBlock; i < std::min(n, (b + 1) * kRowsPerBlock); ++i) {
      std::size_t place = at(offsets[at(i)]);
      const auto add = [&](Index j, double cost) {
        out.graph.col_index[place] = j;
        out.cost[place++] = steps_of(cost) + tie_of(points.hash[at(i)], points.hash[at(j)]);
      };
      add(static_cast<Index>(i), free.alone[at(i)]);
      for (Offset e = candidates.row_offsets[at(i)]; e < candidates.row_offsets[at(i) + 1]; ++e)
        if (useful(at(i), at(e))) add(candidates.to[at(e)], costs[at(e)]);
      out.unmatched_row_cost[at(i)] = steps_of(free.end[at(i)]);
      out.unmatched_col_cost[at(i)] = steps_of(free.birth[at(i)]);
    }
  });
  return out;
}

std::vector<double> candidate_costs(const Execution& execution, const SeriesPoints& points,
                                    const Prediction& prediction, const SeriesModel& model,
                                    const SeriesCandidates& candidates, const Occlusion* occlusion) {
  std::vector<double> costs(candidates.to.size());
  const auto n = candidates.size();
  const LagCosts lag_costs(model, points.frames());
  parallel_for(thread_count(execution), (n + kRowsPerBlock - 1) / kRowsPerBlock, [&](std::int64_t b) {
    std::vector<double> run;
    const std::int64_t last = std::min(n, (b + 1) * kRowsPerBlock);
    for (std::int64_t e = b * kRowsPerBlock; e < last;) {
      // All candidates from one frame over the same number of frames.
      const std::int64_t first = e;
      const std::int32_t t = points.slot[at(candidates.from[at(e)])];
      const std::int32_t lag = points.slot[at(candidates.to[at(e)])] - t;
      run.clear();
      for (; e < last; ++e) {
        const Index i = candidates.from[at(e)], j = candidates.to[at(e)];
        if (points.slot[at(i)] != t || points.slot[at(j)] != t + lag) break;
        run.push_back(length_of(residual(points, prediction, i, j)));
      }
      lag_costs.of(t, lag).costs(run);
      std::copy(run.begin(), run.end(), costs.begin() + first);
      for (std::int64_t k = first; lag > 1 && occlusion != nullptr && k < e; ++k)
        costs[at(k)] -= occlusion->gain(prediction, candidates.from[at(k)], candidates.to[at(k)]);
    }
  });
  return costs;
}

matching::Matching solve_problem(const Execution& execution, const matching::SparseCosts& problem,
                                 std::string& solver, bool verify, const matching::Start& start) {
  const matching::SolverInfo& info = solver == "auto"
                                         ? *matching::choose_solver(problem.view(), Backend::cpu).info
                                         : *matching::find_solver(solver);
  solver = info.name;
  Execution on_cpu = execution;
  on_cpu.backend = Backend::cpu;
  matching::Matching answer = info.make()->solve(on_cpu, problem.view(), start);
  if (answer.status != matching::Status::optimal)
    throw std::logic_error("the series' assignment ended as " +
                           std::string(matching::to_string(answer.status)));
  answer = matching::resolve_ties(on_cpu, problem.view(), std::move(answer));
  if (!verify) return answer;
  const auto certificate = matching::verify(on_cpu, problem.view(), answer);
  if (!certificate.optimal()) throw std::logic_error("the series' certificate fails: " + certificate.fault);
  return answer;
}

double nats_of(double steps) { return steps / static_cast<double>(Cost{1} << (kNatBits + kSeriesTieBits)); }

namespace {

SeriesSolution solve_with(const Execution& execution, const SeriesPoints& points, const FreeCosts& free,
                          const SeriesCandidates& candidates, const std::vector<double>& costs,
                          const std::string& solver, bool verify) {
  const matching::SparseCosts problem = series_problem(execution, points, free, candidates, costs);
  SeriesSolution out;
  out.solver = solver;
  const matching::Matching answer = solve_problem(execution, problem, out.solver, verify);
  out.verified = verify;
  out.linking = SeriesLinking::none(points.size());
  out.used.assign(points.size(), 1);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Index j = answer.row_to_col[i];
    if (j == static_cast<Index>(i) && free.is_false(i)) ++out.false_detections, out.used[i] = 0;
    if (j < 0 || j == static_cast<Index>(i)) continue;
    out.linking.next[i] = j;
    out.linking.previous[at(j)] = static_cast<Index>(i);
  }
  out.edges = problem.graph.edges();
  out.objective = nats_of(answer.objective);
  return out;
}

}  // namespace

SeriesSolution solve_series(const Execution& execution, const SeriesPoints& points, const SeriesModel& model,
                            const SeriesCandidates& candidates, const std::vector<double>& costs,
                            const std::string& solver, bool verify) {
  return solve_with(execution, points, free_costs(points, model, few_frames(points.frames(), model.lags())),
                    candidates, costs, solver, verify);
}

SeriesSolution solve_odds(const Execution& execution, const SeriesPoints& points,
                          const SeriesCandidates& candidates, const std::vector<double>& costs,
                          double free_cost, const std::string& solver, bool verify) {
  // Twice the cost of two free ends, so that no self edge is chosen.
  const FreeCosts free{std::vector<double>(points.size(), free_cost),
                       std::vector<double>(points.size(), free_cost),
                       std::vector<double>(points.size(), 4 * free_cost + 1)};
  return solve_with(execution, points, free, candidates, costs, solver, verify);
}

}  // namespace motes::tracking
