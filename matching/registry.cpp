/// The table of solvers, and the rules by which `auto` chooses one.

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <motes/matching/registry.h>

#include "matching/assignment/jonker_volgenant.h"
#include "matching/cardinality/bfs_reordering.h"
#include "matching/cardinality/ms_bfs/ms_bfs.h"
#include "matching/cardinality/push_relabel/push_relabel.h"
#include "matching/cardinality/short_search.h"
#include "matching/greedy/suitor/suitor.h"
#include "matching/papers/apfb/apfb.h"
#include "matching/papers/auction/auction.h"
#include "matching/papers/greedy_proposal/proposal.h"
#include "matching/papers/greedy_sequential.h"
#include "matching/papers/hopcroft_karp.h"
#include "matching/papers/hungarian/hungarian.h"
#include "matching/papers/p_dbfs.h"
#include "matching/papers/pothen_fan.h"
#include "matching/papers/single_source.h"

namespace motes::matching {
namespace {

template <class Solver>
std::unique_ptr<AssignmentSolver> make() {
  return std::make_unique<Solver>();
}

using CardinalityRow = std::unique_ptr<CardinalitySolver>;

template <class Solver, auto... kArguments>
CardinalityRow make_cardinality(const SolverOptions&) {
  return std::make_unique<Solver>(kArguments...);
}

constexpr OptionInfo kPothenFanOptions[] = {
    {"fairness", "1|0", "1", "visit the columns in reverse order in every second phase"},
};
CardinalityRow make_pothen_fan(const SolverOptions& options) {
  return std::make_unique<PothenFan>(options.flag("fairness"));
}

constexpr OptionInfo kPushRelabelOptions[] = {
    {"queue_limit", "1..1000000", "500", "cpu: active rows that a thread takes at a time"},
    {"relabel_frequency", "0..1000", "0", "cpu: global relabellings per `rows` pushes; 0: 2"},
    {"chain", "0..1000000", "0",
     "cuda: pushes of a chain between two global relabellings; 0: 24 plus the number of levels"},
    {"reorder", "auto|1|0", "auto",
     "cpu: reorder the graph first: slots on one thread, else new numbers; auto: slots, or only "
     "large graphs numbered at random"},
};
CardinalityRow make_push_relabel(const SolverOptions& options) {
  const std::string& reorder = options.word("reorder");
  return std::make_unique<PushRelabel>(PushRelabelOptions{
      options.number("queue_limit"), options.number("relabel_frequency"), options.number("chain"),
      reorder == "1"   ? Reorder::always
      : reorder == "0" ? Reorder::never
                       : Reorder::automatic});
}

constexpr OptionInfo kMsBfsOptions[] = {
    {"alpha", "1..1000000", "5",
     "search bottom-up if the frontier has at least 1/alpha of the unvisited columns"},
    {"direction", "1|0", "0", "choose the direction for each level; 0: always top-down"},
};
CardinalityRow make_ms_bfs(const SolverOptions& options) {
  return std::make_unique<MsBfs>(
      MsBfsOptions{options.number("alpha"), options.flag("direction"), false, false});
}

constexpr OptionInfo kMsBfsGraftOptions[] = {
    {"alpha", "1..1000000", "5",
     "search bottom-up if the frontier has at least 1/alpha of the unvisited columns"},
    {"direction", "1|0", "1", "choose the direction for each level; 0: always top-down"},
    {"graft", "1|0", "1", "move columns of trees that found a path to other trees; 0: start over"},
    {"finish", "1|0", "1", "leave the last rows to push-relabel if trees are too slow (not in the paper)"},
};
CardinalityRow make_ms_bfs_graft(const SolverOptions& options) {
  return std::make_unique<MsBfs>(MsBfsOptions{options.number("alpha"), options.flag("direction"),
                                              options.flag("graft"), options.flag("finish")});
}

constexpr OptionInfo kApfbOptions[] = {
    {"kernel", "bfs-wr|bfs", "bfs-wr", "bfs-wr: trees that have found a path stop growing"},
    {"threads", "ct|mt", "ct", "ct: 256 * 256 threads; mt: one per row, up to the device's limit"},
    {"start", "cheap|none", "cheap", "whether free rows of the start first take free columns"},
};
template <bool kShortest>
CardinalityRow make_apfb(const SolverOptions& options) {
  return std::make_unique<Apfb>(ApfbOptions{kShortest, options.word("kernel") == "bfs-wr",
                                            options.word("threads") == "mt",
                                            options.word("start") == "cheap"});
}

using GreedyRow = std::unique_ptr<GreedySolver>;

constexpr std::string_view kSeeds = "0..4294967295";
std::uint32_t seed_of(const SolverOptions& options) {
  return static_cast<std::uint32_t>(options.number("seed"));
}

constexpr OptionInfo kOneByOneOptions[] = {
    {"seed", kSeeds, "1", "seed of the order of the vertices; 0: by number"},
};
template <bool kWeighted>
GreedyRow make_one_by_one(const SolverOptions& options) {
  return std::make_unique<OneByOne>(kWeighted, seed_of(options));
}

constexpr OptionInfo kProposalOptions[] = {
    {"select", "weighted|random", "weighted", "a vertex takes its heaviest or its first neighbour"},
    {"blue", "0.01..0.99", "0.53406", "probability of proposing in a round"},
    {"seed", kSeeds, "1", "seed of the colours"},
};
GreedyRow make_proposal(const SolverOptions& options) {
  const auto blue_limit = static_cast<std::uint32_t>(std::ldexp(options.real("blue"), 32));
  return std::make_unique<Proposal>(
      ProposalOptions{options.word("select") == "weighted", blue_limit, seed_of(options)});
}

template <class Solver>
GreedyRow make_greedy(const SolverOptions&) {
  return std::make_unique<Solver>();
}

constexpr BackendSet kCpu{true, false}, kCuda{false, true}, kBoth{true, true};
constexpr CostKindSet kAnyCosts{static_cast<unsigned>(CostKind::sparse) |
                                static_cast<unsigned>(CostKind::dense) |
                                static_cast<unsigned>(CostKind::geometric)};
constexpr CostKindSet kGraph{static_cast<unsigned>(CostKind::graph)};

constexpr SolverInfo kSolvers[] = {
    {"jv", kBoth, kAnyCosts, Guarantee::exact, "shortest augmenting paths (Jonker & Volgenant 1987)",
     SolverInfo::AssignmentFactory{&make<JonkerVolgenant>}},
    {"hungarian-tree", kBoth, kAnyCosts, Guarantee::exact,
     "Hungarian method, alternating trees (Date & Nagi 2016)",
     SolverInfo::AssignmentFactory{&make<HungarianTree>}},
    {"hungarian", kBoth, kAnyCosts, Guarantee::exact, "Hungarian method, classical (Date & Nagi 2016)",
     SolverInfo::AssignmentFactory{&make<Hungarian>}},
    {"auction", kBoth, kAnyCosts, Guarantee::exact, "Jacobi auction (Vasconcelos & Rosenhahn 2009)",
     SolverInfo::AssignmentFactory{&make<Auction>}},
    {"auction-scaled", kBoth, kAnyCosts, Guarantee::exact,
     "auction with epsilon scaling, forward and reverse",
     SolverInfo::AssignmentFactory{&make<AuctionScaled>}},
    {"hk", kCpu, kGraph, Guarantee::exact, "shortest augmenting paths (Hopcroft & Karp 1973)",
     SolverInfo::CardinalityFactory{&make_cardinality<HopcroftKarp, false>}},
    {"hkdw", kCpu, kGraph, Guarantee::exact, "hk and a further search per phase (Duff & Wiberg 1988)",
     SolverInfo::CardinalityFactory{&make_cardinality<HopcroftKarp, true>}},
    {"pf", kCpu, kGraph, Guarantee::exact, "depth-first searches with lookahead (Pothen & Fan 1990)",
     SolverInfo::CardinalityFactory{&make_pothen_fan}, kPothenFanOptions},
    {"p-dbfs", kCpu, kGraph, Guarantee::exact, "disjoint breadth-first searches (Azad et al. 2012)",
     SolverInfo::CardinalityFactory{&make_cardinality<PDbfs>}},
    {"ss-bfs", kCpu, kGraph, Guarantee::exact, "breadth-first, one free row after another (Azad et al. 2015)",
     SolverInfo::CardinalityFactory{&make_cardinality<SingleSource, Order::breadth_first>}},
    {"ss-dfs", kCpu, kGraph, Guarantee::exact, "depth-first, one free row after another (Azad et al. 2015)",
     SolverInfo::CardinalityFactory{&make_cardinality<SingleSource, Order::depth_first>}},
    {"push-relabel", kBoth, kGraph, Guarantee::exact,
     "first come, first served, global relabelling (Kaya et al. 2013)",
     SolverInfo::CardinalityFactory{&make_push_relabel}, kPushRelabelOptions},
    {"pf-push-relabel", kCpu, kGraph, Guarantee::exact,
     "depth-first searches within a budget, then push-relabel (Pothen & Fan 1990; Kaya et al. 2013)",
     SolverInfo::CardinalityFactory{&make_cardinality<ShortSearch>}},
    {"ms-bfs", kBoth, kGraph, Guarantee::exact, "breadth-first from all free rows at once (Azad et al. 2015)",
     SolverInfo::CardinalityFactory{&make_ms_bfs}, kMsBfsOptions},
    {"ms-bfs-graft", kBoth, kGraph, Guarantee::exact,
     "ms-bfs with direction and tree grafting (Azad et al. 2015)",
     SolverInfo::CardinalityFactory{&make_ms_bfs_graft}, kMsBfsGraftOptions},
    {"apfb", kCuda, kGraph, Guarantee::exact, "paths of a full breadth-first search (Deveci et al. 2013)",
     SolverInfo::CardinalityFactory{&make_apfb<false>}, kApfbOptions},
    {"apsb", kCuda, kGraph, Guarantee::exact, "shortest paths of a breadth-first search (Deveci et al. 2013)",
     SolverInfo::CardinalityFactory{&make_apfb<true>}, kApfbOptions},
    {"greedy-suitor", kBoth, kGraph, Guarantee::half_weight,
     "proposals in order of weight (Manne & Halappanavar 2014)",
     SolverInfo::GreedyFactory{&make_greedy<Suitor>}},
    {"greedy-sorted", kCpu, kGraph, Guarantee::half_weight,
     "edges by decreasing weight (Fagginger Auer & Bisseling 2012)",
     SolverInfo::GreedyFactory{&make_greedy<Sorted>}},
    {"greedy-proposal", kBoth, kGraph, Guarantee::maximal,
     "blue propose, red answer (Fagginger Auer & Bisseling 2012)", SolverInfo::GreedyFactory{&make_proposal},
     kProposalOptions},
    {"greedy-weighted", kCpu, kGraph, Guarantee::maximal,
     "each vertex takes its heaviest free neighbour (Fagginger Auer & Bisseling 2012)",
     SolverInfo::GreedyFactory{&make_one_by_one<true>}, kOneByOneOptions},
    {"greedy-random", kCpu, kGraph, Guarantee::maximal,
     "each vertex takes its first free neighbour (Fagginger Auer & Bisseling 2012)",
     SolverInfo::GreedyFactory{&make_one_by_one<false>}, kOneByOneOptions},
};

/// From this many pairs of a matrix or of points, or edges of a graph, a GPU that is in use already saves
/// more time than the transfer takes.
constexpr double kPairsWorthAGpu = 1 << 22;
constexpr Offset kEdgesWorthAGpu = 1 << 22;
/// The same limit if the GPU must be started, measured against 16 threads of the Xeon host of an H200
/// (bench/results/auto-h200.csv).
constexpr double kEntriesWorthAStart = 1 << 28, kPointPairsWorthAStart = 0x1p32;
constexpr Offset kSparseCostsWorthAStart = 1 << 22, kWeightsWorthAStart = 1 << 26;
constexpr Offset kEdgesWorthAStart = 1 << 22;  ///< for each CPU thread
/// Below this many edges, or with at most kFewThreads threads, most graphs are solved before other solvers
/// have prepared their data.
constexpr Offset kEdgesWorthThreads = 1 << 20;
constexpr int kFewThreads = 2;

bool is_worth_a_gpu(const CostsView& problem, Gpu gpu) {
  if (gpu == Gpu::none) return false;
  const bool started = gpu == Gpu::started;
  if (const auto* sparse = std::get_if<SparseCostsView>(&problem))
    return sparse->graph.edges() >= (started ? kEdgesWorthAGpu : kSparseCostsWorthAStart);
  const bool points = std::holds_alternative<GeometricCostsView>(problem);
  const double enough = started ? kPairsWorthAGpu : points ? kPointPairsWorthAStart : kEntriesWorthAStart;
  return static_cast<double>(rows_of(problem)) * cols_of(problem) >= enough;
}

}  // namespace

std::string_view to_string(Family family) {
  switch (family) {
    case Family::assignment:
      return "assignment";
    case Family::cardinality:
      return "cardinality";
    case Family::greedy:
      return "greedy";
  }
  return "unknown";
}

std::string_view to_string(CostKind kind) {
  switch (kind) {
    case CostKind::sparse:
      return "sparse";
    case CostKind::dense:
      return "dense";
    case CostKind::geometric:
      return "geometric";
    case CostKind::graph:
      return "graph";
  }
  return "unknown";
}

std::string to_string(CostKindSet kinds) {
  std::string text;
  for (const CostKind kind : {CostKind::sparse, CostKind::dense, CostKind::geometric, CostKind::graph})
    if (kinds.contains(kind)) text += (text.empty() ? "" : ", ") + std::string(to_string(kind));
  return text;
}

CostKind kind_of(const CostsView& problem) {
  constexpr CostKind kKinds[] = {CostKind::sparse, CostKind::dense, CostKind::geometric};
  return kKinds[problem.index()];
}

std::string_view to_string(Guarantee guarantee) {
  switch (guarantee) {
    case Guarantee::exact:
      return "exact";
    case Guarantee::half_weight:
      return "half of the best weight";
    case Guarantee::maximal:
      return "maximal";
  }
  return "unknown";
}

namespace {

/// The entry's factory for its family; throws std::invalid_argument for an entry of another family.
template <class Factory>
Factory factory_of(const SolverInfo& info, std::string_view wanted) {
  if (const Factory* factory = std::get_if<Factory>(&info.factory)) return *factory;
  throw std::invalid_argument("'" + std::string(info.name) + "' solves " +
                              std::string(to_string(info.family())) + " problems, not " +
                              std::string(wanted) + " ones");
}

/// The entry that "name?options" names.
const SolverInfo& named(std::string_view name, std::string_view family) {
  if (const SolverInfo* info = find_solver(name)) return *info;
  throw std::invalid_argument("no " + std::string(family) + " solver is called '" + std::string(name) + "'");
}

}  // namespace

std::unique_ptr<AssignmentSolver> SolverInfo::make() const {
  return factory_of<AssignmentFactory>(*this, "assignment")();
}
std::unique_ptr<CardinalitySolver> SolverInfo::make_cardinality(std::string_view text) const {
  return factory_of<CardinalityFactory>(*this, "cardinality")(SolverOptions(options, text));
}
std::unique_ptr<GreedySolver> SolverInfo::make_greedy(std::string_view text) const {
  return factory_of<GreedyFactory>(*this, "greedy")(SolverOptions(options, text));
}

std::span<const SolverInfo> solvers() { return kSolvers; }

const SolverInfo* find_solver(std::string_view name) {
  for (const SolverInfo& info : kSolvers)
    if (info.name == name) return &info;
  return nullptr;
}

std::unique_ptr<CardinalitySolver> make_cardinality_solver(std::string_view text) {
  const auto [name, options] = split_solver_name(text);
  return named(name, "cardinality").make_cardinality(options);
}

std::unique_ptr<GreedySolver> make_greedy_solver(std::string_view text) {
  const auto [name, options] = split_solver_name(text);
  return named(name, "greedy").make_greedy(options);
}

AutoChoice choose_solver(const CostsView& problem, Backend backend, Gpu gpu) {
  const bool sparse = std::holds_alternative<SparseCostsView>(problem);
  const bool must = backend == Backend::cuda || space_of(problem) == Space::device;
  if (must || (backend == Backend::automatic && is_worth_a_gpu(problem, gpu))) {
    return {
        find_solver("jv"), Backend::cuda,
        sparse
            ? "row reduction by chains and one forest from the remaining rows are fastest for graphs on a GPU"
            : "a core of cheap pairs with pricing is fastest for matrices and points on a GPU"};
  }
  const std::string small =
      backend == Backend::automatic && gpu != Gpu::none ? "; too small for a GPU to be faster" : "";
  if (sparse)
    return {find_solver("jv"), Backend::cpu,
            "shortest paths by components are fastest on sparse graphs" + small};
  return {find_solver("jv"), Backend::cpu,
          "shortest paths on a core of cheap pairs are fastest on the CPU" + small};
}

AutoChoice choose_cardinality_solver(const BipartiteGraphView& graph, Backend backend, Gpu gpu, int threads) {
  const Offset enough =
      gpu == Gpu::started ? kEdgesWorthAGpu : kEdgesWorthAStart * (threads > 0 ? threads : thread_count({}));
  if (backend == Backend::cuda ||
      (backend == Backend::automatic && gpu != Gpu::none && graph.edges() >= enough))
    return {find_solver("push-relabel"), Backend::cuda,
            "push-relabel on a GPU is the fastest for hard graphs, and close to the fastest for others"};
  if (graph.edges() < kEdgesWorthThreads)
    return {find_solver("pf-push-relabel"), Backend::cpu,
            "most graphs of this size are solved before other solvers have prepared their data"};
  if (threads >= 1 && threads <= kFewThreads)
    return {find_solver("pf-push-relabel"), Backend::cpu,
            "on few threads most graphs are solved before other solvers have prepared their data"};
  return detail::choose_for_many_threads(graph);
}

AutoChoice detail::choose_for_many_threads(const BipartiteGraphView& graph) {
  // Forests of trees are fast if few rows are left after the start and all of these have short paths: on
  // triangulations and points of a plane whose neighbours have close numbers. They search most of the graph
  // again and again if it has hubs, is random, joins two sets of random points, or has low degrees (roads,
  // lattices, duals of meshes): paths are then long, or rows compete for columns that some of them cannot
  // get.
  constexpr Offset kHub = 32, kLowDegree = 5;
  const auto push = [](const char* reason) {
    return AutoChoice{find_solver("push-relabel"), Backend::cpu, reason};
  };
  Offset most = 0;
  for (std::size_t i = 0; i + 1 < graph.row_offsets.size(); ++i)
    most = std::max(most, graph.row_offsets[i + 1] - graph.row_offsets[i]);
  if (most * graph.rows > kHub * graph.edges()) return push("the graph has hubs, for which trees are slow");
  if (detail::scattered(graph))
    return push("consecutive rows have distant columns, as in a random numbering");
  if (graph.edges() < kLowDegree * graph.rows) return push("rows have few columns, and paths are long");
  return {find_solver("ms-bfs-graft"), Backend::cpu,
          "consecutive rows have columns near each other, as in a mesh", "cheap"};
}

AutoChoice choose_greedy_solver(const GreedyProblem& problem, Backend backend, Gpu gpu) {
  const bool must = backend == Backend::cuda || problem.space == Space::device;
  const Offset enough = gpu == Gpu::started ? kEdgesWorthAGpu : kWeightsWorthAStart;
  const bool cuda =
      must || (backend == Backend::automatic && gpu != Gpu::none && problem.graph.edges() >= enough);
  return {find_solver("greedy-suitor"), cuda ? Backend::cuda : Backend::cpu,
          "the fastest greedy solver, with the same matching as sorted greedy"};
}

}  // namespace motes::matching
