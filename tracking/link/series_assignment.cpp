#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <stdexcept>

#include <unistd.h>

#include <motes/base/errors.h>
#include <motes/base/hash.h>
#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/matching/registry.h>
#include <motes/matching/ties.h>
#include <motes/matching/verify.h>
#include <motes/tracking/series_assignment.h>

#include "tracking/score/gate_grid.h"

namespace motes::tracking {
namespace {

using matching::Cost;
using matching::Index;
using matching::Offset;

constexpr std::int64_t kRowsPerBlock = 2048;
/// Likelihoods beyond this many nats are not told apart.
constexpr double kMostNats = 200;

std::int64_t candidates_in_memory() {
  const auto bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  return bytes / 4 / 48;
}

Cost steps_of(double nats) {
  return std::llround(std::clamp(nats, -kMostNats, kMostNats) * (1 << kNatBits)) << kSeriesTieBits;
}

Cost tie_of(std::uint64_t row_hash, std::uint64_t column_hash) {
  return static_cast<Cost>(splitmix64_finaliser(row_hash ^ ((column_hash << 32) | (column_hash >> 32))) >>
                           (64 - kSeriesTieBits));
}

struct FreeCosts {
  std::vector<double> end, birth, lone;  ///< [points]
};

FreeCosts free_costs(const SeriesPoints& points, const SeriesModel& model) {
  FreeCosts out;
  std::vector<double> end, birth;
  for (std::int32_t t = 0; t < points.frames(); ++t) {
    end.push_back(model.end_cost(points.frames() - 1 - t));
    birth.push_back(model.birth_cost(points.density[at(t)], t));
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto t = at(points.slot[i]);
    out.end.push_back(end[t]);
    out.birth.push_back(birth[t]);
    out.lone.push_back(model.lone_cost(points, static_cast<Index>(i)));
  }
  return out;
}

/// Candidates that can be in an optimum, and the self edges, as a sparse problem.
matching::SparseCosts problem_of(int threads, const SeriesPoints& points, const FreeCosts& free,
                                 const SeriesCandidates& candidates, const std::vector<double>& costs) {
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
      add(static_cast<Index>(i), free.lone[at(i)]);
      for (Offset e = candidates.row_offsets[at(i)]; e < candidates.row_offsets[at(i) + 1]; ++e)
        if (useful(at(i), at(e))) add(candidates.to[at(e)], costs[at(e)]);
      out.unmatched_row_cost[at(i)] = steps_of(free.end[at(i)]);
      out.unmatched_col_cost[at(i)] = steps_of(free.birth[at(i)]);
    }
  });
  return out;
}

}  // namespace

namespace {

/// One number for each frame and lag.
class ByLag {
 public:
  ByLag(const SeriesModel& model, std::int32_t frames) : lags_(at(model.lags())) {
    for (std::int32_t t = 0; t < frames; ++t)
      for (int lag = 1; lag <= model.lags(); ++lag) {
        const double s = model.scale_of(t, lag);
        entries_.push_back({1 / s,
                            model.dims * std::log(s) - std::log(model.elapsed[at(lag) - 1] * (1 - model.end)),
                            &model.shape[at(lag) - 1]});
      }
  }
  /// As SeriesModel::link_cost, up to rounding.
  double cost(std::int32_t slot, int lag, double length) const {
    const Entry& e = entries_[at(slot) * lags_ + at(lag) - 1];
    return e.constant - e.shape->log_density(length * e.per_scale);
  }

 private:
  struct Entry {
    double per_scale, constant;
    const RadialDensity* shape;
  };
  std::size_t lags_;
  std::vector<Entry> entries_;
};

/// Candidates of one detection and what they cost.
struct Row {
  std::vector<Index> to;
  std::vector<double> cost;
  std::vector<double> sorted;
};

/// Leaves the likely ones and the one kept; rising order stays.
void keep_likely(Row& row, Index kept, double nats, std::size_t most) {
  if (row.to.empty()) return;
  double limit = *std::min_element(row.cost.begin(), row.cost.end()) + nats;
  if (row.to.size() > most) {
    row.sorted = row.cost;
    std::nth_element(row.sorted.begin(), row.sorted.begin() + static_cast<std::ptrdiff_t>(most) - 1,
                     row.sorted.end());
    limit = std::min(limit, row.sorted[most - 1]);
  }
  std::size_t place = 0;
  for (std::size_t k = 0; k < row.to.size(); ++k)
    if (row.cost[k] <= limit || row.to[k] == kept) row.to[place++] = row.to[k];
  row.to.resize(place);
}

/// All within reach, or, with `most` > 0, the likely ones.
SeriesCandidates find_candidates(const Execution& execution, const SeriesPoints& points,
                                 const Prediction& prediction, const SeriesModel& model, int lags,
                                 const SeriesLinking* keep, double nats, std::size_t most) {
  const int threads = thread_count(execution);
  const std::int32_t frames = points.frames();
  std::vector<std::vector<Index>> to(at(frames)), counts(at(frames));
  std::atomic<std::int64_t> found = 0;
  const std::int64_t most_in_memory = candidates_in_memory();
  const ByLag costs(model, frames);
  parallel_for(threads, frames, [&](std::int64_t slot) {
    const auto t = static_cast<std::int32_t>(slot);
    const auto from = points.frame(t);
    std::vector<std::unique_ptr<detail::GateGrid>> grids;
    for (int lag = 1; lag <= lags && t + lag < frames; ++lag) {
      const auto later = points.frame(t + lag);
      const double reach = model.reach(points, t, lag);
      grids.push_back(reach > 0 && !later.empty() ? std::make_unique<detail::GateGrid>(
                                                        std::vector<Vec3>(later.begin(), later.end()), reach)
                                                  : nullptr);
    }
    Row row;
    std::vector<std::pair<Index, double>> near;
    for (std::size_t k = 0; k < from.size(); ++k) {
      const Index i = points.offset[at(t)] + static_cast<Index>(k);
      row.to.clear();
      row.cost.clear();
      for (std::size_t g = 0; g < grids.size(); ++g) {
        if (!grids[g]) continue;
        const int lag = static_cast<int>(g) + 1;
        const Vec3 p = prediction.of(lag, i);
        const Vec3 centre{from[k].x + p.x, from[k].y + p.y, from[k].z + p.z};
        near.clear();
        grids[g]->for_each_within(centre, [&](std::size_t number, double distance) {
          const Vec3& there = points.at[at(points.offset[at(t + lag)]) + number];
          if (std::isfinite(model.gate_um) && length_of({there.x - from[k].x, there.y - from[k].y,
                                                         there.z - from[k].z}) > model.gate_um * lag)
            return;
          near.emplace_back(points.offset[at(t + lag)] + static_cast<Index>(number), distance);
        });
        std::sort(near.begin(), near.end());
        for (const auto& [j, distance] : near) {
          row.to.push_back(j);
          if (most > 0) row.cost.push_back(costs.cost(t, lag, distance));
        }
      }
      if (most > 0) {
        const bool given = keep != nullptr && keep->next.size() == points.size();
        keep_likely(row, given ? keep->next[at(i)] : -1, nats, most);
      }
      to[at(t)].insert(to[at(t)].end(), row.to.begin(), row.to.end());
      counts[at(t)].push_back(static_cast<Index>(row.to.size()));
    }
    if ((found += static_cast<std::int64_t>(to[at(t)].size())) > most_in_memory)
      throw ResourceError("linking.scope: series: over " + std::to_string(most_in_memory) +
                          " candidate links, more than memory holds; use linking.scope: pairs, or a smaller "
                          "linking.max_gap");
  });
  SeriesCandidates out;
  out.row_offsets.reserve(points.size() + 1);
  out.row_offsets.push_back(0);
  out.to.reserve(at(found.load()));
  out.from.reserve(at(found.load()));
  for (std::int32_t t = 0; t < frames; ++t) {
    out.to.insert(out.to.end(), to[at(t)].begin(), to[at(t)].end());
    std::vector<Index>().swap(to[at(t)]);
    for (const Index count : counts[at(t)]) {
      const auto i = static_cast<Index>(out.row_offsets.size() - 1);
      out.row_offsets.push_back(out.row_offsets.back() + count);
      out.from.insert(out.from.end(), at(count), i);
    }
  }
  return out;
}

}  // namespace

SeriesCandidates series_candidates(const Execution& execution, const SeriesPoints& points,
                                   const Prediction& prediction, const SeriesModel& model, int lags) {
  return find_candidates(execution, points, prediction, model, lags, nullptr, 0, 0);
}

SeriesCandidates likely_candidates(const Execution& execution, const SeriesPoints& points,
                                   const Prediction& prediction, const SeriesModel& model, int lags,
                                   const SeriesLinking& keep, double nats, std::size_t most) {
  return find_candidates(execution, points, prediction, model, lags, &keep, nats, most);
}

std::vector<double> candidate_costs(const Execution& execution, const SeriesPoints& points,
                                    const Prediction& prediction, const SeriesModel& model,
                                    const SeriesCandidates& candidates) {
  std::vector<double> costs(candidates.to.size());
  const auto n = candidates.size();
  const ByLag by_lag(model, points.frames());
  parallel_for(thread_count(execution), (n + kRowsPerBlock - 1) / kRowsPerBlock, [&](std::int64_t b) {
    for (std::int64_t e = b * kRowsPerBlock; e < std::min(n, (b + 1) * kRowsPerBlock); ++e) {
      const Index i = candidates.from[at(e)], j = candidates.to[at(e)];
      const std::int32_t t = points.slot[at(i)];
      costs[at(e)] = by_lag.cost(t, points.slot[at(j)] - t, length_of(residual(points, prediction, i, j)));
    }
  });
  return costs;
}

namespace {

SeriesSolution solve_with(const Execution& execution, const SeriesPoints& points, const FreeCosts& free,
                          const SeriesCandidates& candidates, const std::vector<double>& costs,
                          const std::string& solver, bool verify) {
  const matching::SparseCosts problem = problem_of(thread_count(execution), points, free, candidates, costs);
  const matching::SolverInfo& info = solver == "auto"
                                         ? *matching::choose_solver(problem.view(), Backend::cpu, false).info
                                         : *matching::find_solver(solver);
  Execution on_cpu = execution;
  on_cpu.backend = Backend::cpu;
  matching::Matching answer = info.make()->solve(on_cpu, problem.view());
  if (answer.status != matching::Status::optimal)
    throw std::logic_error("the series' assignment ended as " +
                           std::string(matching::to_string(answer.status)));
  answer = matching::resolve_ties(on_cpu, problem.view(), std::move(answer));
  SeriesSolution out;
  if (verify) {
    const auto certificate = matching::verify(on_cpu, problem.view(), answer);
    if (!certificate.optimal()) throw std::logic_error("the series' certificate fails: " + certificate.fault);
    out.verified = true;
  }
  out.linking = SeriesLinking::none(points.size());
  out.used.assign(points.size(), 1);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Index j = answer.row_to_col[i];
    if (j == static_cast<Index>(i)) ++out.false_detections, out.used[i] = 0;
    if (j < 0 || j == static_cast<Index>(i)) continue;
    out.linking.next[i] = j;
    out.linking.previous[at(j)] = static_cast<Index>(i);
  }
  out.edges = problem.graph.edges();
  out.objective = answer.objective / static_cast<double>(Cost{1} << (kNatBits + kSeriesTieBits));
  out.solver = info.name;
  return out;
}

}  // namespace

SeriesSolution solve_series(const Execution& execution, const SeriesPoints& points, const SeriesModel& model,
                            const SeriesCandidates& candidates, const std::vector<double>& costs,
                            const std::string& solver, bool verify) {
  return solve_with(execution, points, free_costs(points, model), candidates, costs, solver, verify);
}

SeriesSolution solve_odds(const Execution& execution, const SeriesPoints& points,
                          const SeriesCandidates& candidates, const std::vector<double>& costs,
                          double free_cost, const std::string& solver, bool verify) {
  // Twice the price of both ends: no self edge is ever taken.
  const FreeCosts free{std::vector<double>(points.size(), free_cost),
                       std::vector<double>(points.size(), free_cost),
                       std::vector<double>(points.size(), 4 * free_cost + 1)};
  return solve_with(execution, points, free, candidates, costs, solver, verify);
}

}  // namespace motes::tracking
