// Maximum cardinality over ranks: generated graphs, certified.
//
//   mpirun -n 2 bench_cardinality_ranks --instance 'gen:gated?n=1000000&degree=8' [--repeats 5] [--verify 1]
//                                       [--header 1] [--mtx FILE]
//
// Several instances: separated by blanks. One CSV row each, printed by rank 0. Each rank makes its own rows
// before any clock starts; seconds_* are those of solve_distributed from one barrier to the next, so those of
// the slowest rank; certificates are checked outside the timer. bytes_sent is the sum over ranks, of one run;
// rounds is the number of exchanges in which trees grow. --mtx writes the graph as MatrixMarket (`pattern`),
// for other programs (peers/combblas_cardinality.cpp), and solves nothing: for one rank and one instance.

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include <motes/base/communicator.h>
#include <motes/matching/distributed_cardinality.h>

#include "bench/arguments.h"

using namespace motes;

namespace {

void write_mtx(const std::string& path, const matching::DistributedGraph& graph) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) throw std::runtime_error(path + ": cannot be written");
  std::fprintf(file, "%%%%MatrixMarket matrix coordinate pattern general\n%d %d %lld\n", graph.rows,
               graph.cols, static_cast<long long>(graph.part.edges()));
  for (std::size_t i = 0; i < graph.part.row_offsets.size() - 1; ++i)
    for (auto e = graph.part.row_offsets[i]; e < graph.part.row_offsets[i + 1]; ++e)
      std::fprintf(file, "%zu %d\n", i + 1, graph.part.col_index[static_cast<std::size_t>(e)] + 1);
  if (std::fclose(file) != 0) throw std::runtime_error(path + ": cannot be written");
}

void measure(Communicator& ranks, const std::string& instance, int repeats, bool verify) {
  const matching::DistributedGraph graph = matching::generate_distributed_graph(ranks, {1}, instance);
  matching::DistributedMatching answer;
  std::vector<double> seconds;
  std::int64_t bytes = 0;
  for (int k = 0; k < repeats; ++k) {
    ranks.rest();
    const std::int64_t before = ranks.traffic().bytes;
    seconds.push_back(bench::timed([&] {
      answer = matching::solve_distributed(ranks, graph);
      ranks.all_reduce(0, Reduction::sum);
    }));
    bytes = ranks.all_reduce(ranks.traffic().bytes - before, Reduction::sum);
  }
  const char* certified = "unchecked";
  if (verify) certified = matching::verify_distributed(ranks, graph, answer).maximum() ? "yes" : "NO";
  const std::int64_t edges = ranks.all_reduce(graph.part.edges(), Reduction::sum);
  if (ranks.rank() > 0) return;
  const auto& stats = answer.stats;
  std::string steps;
  for (const auto& [name, took] : stats.seconds) {
    char item[64];
    std::snprintf(item, sizeof item, "%s%s=%.6f", steps.empty() ? "" : " ", name.c_str(), took);
    steps += item;
  }
  std::printf(
      "%s,%d,%d,%d,%d,%lld,%lld,%lld,%lld,%s,%.6f,%.6f,%.6f,%lld,%lld,%lld,%lld,%s\n", instance.c_str(),
      ranks.size(), repeats, graph.rows, graph.cols, static_cast<long long>(edges),
      static_cast<long long>(answer.local_pairs), static_cast<long long>(answer.initial_pairs),
      static_cast<long long>(answer.cardinality), certified, bench::median(seconds),
      *std::min_element(seconds.begin(), seconds.end()), *std::max_element(seconds.begin(), seconds.end()),
      static_cast<long long>(stats.phases),
      static_cast<long long>(std::accumulate(stats.levels.begin(), stats.levels.end(), std::int64_t{0})),
      static_cast<long long>(stats.edges_traversed), static_cast<long long>(bytes), steps.c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  const int repeats = static_cast<int>(arguments.number("repeats", 5));
  const bool verify = arguments.number("verify", 1) != 0;
  Communicator& ranks = world();
  try {
    if (const auto path = arguments.text("mtx")) {
      write_mtx(*path,
                matching::generate_distributed_graph(ranks, {1}, arguments.words("instance", "").at(0)));
    } else {
      if (ranks.rank() == 0 && arguments.number("header", 1) != 0)
        std::puts(
            "instance,ranks,repeats,rows,cols,edges,local_pairs,initial_pairs,pairs,certified,seconds_median,"
            "seconds_min,seconds_max,phases,rounds,edges_traversed,bytes_sent,steps");
      for (const std::string& instance : arguments.words("instance", "gen:gated?n=100000&degree=8"))
        measure(ranks, instance, repeats, verify);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", ranks.rank(), error.what());
    ranks.abort(1);
  }
  leave_world();
  return 0;
}
