// motes match: instances, solvers, answers and errors.

#include <fstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <motes/base/gpu/device.h>
#include <motes/matching/registry.h>

#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes;
using nlohmann::json;
using testing::run_motes;

namespace {

json matched(std::vector<std::string> words) {
  words.insert(words.begin(), "match");
  words.insert(words.end(), {"--json", "-", "--verify"});
  const auto result = run_motes(words);
  INFO(result.err);
  REQUIRE(result.code == 0);
  return json::parse(result.out);
}

}  // namespace

TEST_CASE("match solves generated instances with every assignment solver, and proves them") {
  for (const std::string instance :
       {"gen:uniform?rows=40&cols=40&high=40&seed=3", "gen:uniform?rows=30&cols=50&high=1000",
        "gen:uniform?rows=50&cols=30&high=1000&type=float", "gen:points?n=60&sigma=0.3",
        "gen:points?n=60&sigma=0.3&dense=1&type=float&metric=squared",
        "gen:points?n=60&sigma=0.3&gate=1.2&sparse=1&unmatched=1.2"}) {
    std::optional<double> objective;
    for (const auto& info : matching::solvers()) {
      if (info.family() != matching::Family::assignment) continue;
      INFO(instance << " with " << info.name);
      const json report = matched({instance, "--solver", std::string(info.name), "--backend", "cpu"});
      CHECK(report["status"] == "optimal");
      CHECK(report["verified"] == true);
      CHECK(report["gap"] == 0);
      CHECK(report["objective"] == report["dual_objective"]);
      CHECK(report["solver"] == info.name);
      CHECK(report["backend"] == "cpu");
      if (!objective) objective = report["objective"].get<double>();
      CHECK(report["objective"].get<double>() == *objective);
    }
  }
}

TEST_CASE("match writes the documented keys") {
  const json report = matched({"gen:uniform?rows=5&cols=7&high=9"});
  for (const char* key :
       {"instance", "rows", "cols", "edges", "solver", "backend", "threads", "device", "status",
        "cardinality", "objective", "dual_objective", "gap", "verified", "seconds", "stats"})
    CHECK(report.contains(key));
  for (const char* key : {"total", "init", "solve", "transfer"}) CHECK(report["seconds"].contains(key));
  CHECK(report["rows"] == 5);
  CHECK(report["cols"] == 7);
  CHECK(report["edges"] == 35);
  CHECK(report["cardinality"] == 5);
}

TEST_CASE("match reads files, writes pairs, and allows free vertices at a cost") {
  const testing::TempDir dir;
  const std::string file = (dir / "p.mtx").string(), pairs = (dir / "pairs.csv").string();
  std::ofstream(file) << "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 0.5\n1 2 3\n2 1 0.75\n";
  json report = matched({file, "--matching", pairs});
  CHECK(report["objective"] == 3.75);
  std::ifstream in(pairs);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  CHECK(text == "row,col\n0,1\n1,0\n");
  report = matched({file, "--unmatched", "1"});
  CHECK(report["objective"] == 2.5);  // 0.5 for the pair, 1 for each of the two free vertices
  CHECK(report["cardinality"] == 1);
}

TEST_CASE("match reports an infeasible problem and the reason") {
  const testing::TempDir dir;
  const std::string file = (dir / "p.mtx").string();
  std::ofstream(file)
      << "%%MatrixMarket matrix coordinate integer general\n3 3 4\n1 1 1\n2 1 1\n3 2 5\n3 3 5\n";
  const json report = matched({file});
  CHECK(report["status"] == "infeasible");
  CHECK(report["objective"].is_null());
  CHECK(report["hall_violator"]["side"] == "rows");
  CHECK(report["hall_violator"]["vertices"] == 2);
  CHECK(report["hall_violator"]["neighbours"] == 1);
}

TEST_CASE("with the hash rule all solvers give the same pairs") {
  const testing::TempDir dir;
  std::optional<std::string> first;
  for (const auto& info : matching::solvers()) {
    if (info.family() != matching::Family::assignment) continue;
    INFO(info.name);
    const std::string pairs = (dir / (std::string(info.name) + ".csv")).string();
    matched({"gen:uniform?rows=40&cols=40&high=3", "--solver", std::string(info.name), "--backend", "cpu",
             "--ties", "hash", "--matching", pairs});
    std::ifstream in(pairs);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!first) first = text;
    CHECK(text == *first);
  }
}

TEST_CASE("match finds and proves a maximum matching with every cardinality solver from every start") {
  for (const std::string instance :
       {"gen:gated?n=400&degree=4", "gen:road?n=500&permute=1", "gen:erdos-renyi?rows=300&cols=200&degree=2",
        "gen:uniform?rows=9&cols=7&high=3&density=0.3", "gen:grid?nx=0"}) {
    std::optional<std::int64_t> most;
    for (const auto& info : matching::solvers()) {
      if (info.family() != matching::Family::cardinality || !info.backends.contains(Backend::cpu)) continue;
      for (const std::string init : {"none", "cheap", "karp-sipser", "min-degree", "greedy"}) {
        INFO(instance << " with " << info.name << " from " << init);
        const json report = matched({instance, "--problem", "cardinality", "--solver", std::string(info.name),
                                     "--init", init, "--backend", "cpu"});
        CHECK(report["status"] == "optimal");
        CHECK(report["verified"] == true);
        CHECK(report["gap"] == 0);
        CHECK(report["cardinality"] == report["objective"]);
        CHECK(report["cardinality"] == report["cover"]["size"]);
        CHECK(report["init"] == init);
        if (!most) most = report["cardinality"].get<std::int64_t>();
        CHECK(report["cardinality"].get<std::int64_t>() == *most);
      }
    }
  }
}

TEST_CASE("match of cardinality writes the documented keys") {
  const testing::TempDir dir;
  const std::string file = (dir / "p.mtx").string(), pairs = (dir / "pairs.csv").string();
  std::ofstream(file) << "%%MatrixMarket matrix coordinate pattern general\n3 4 5\n1 1\n2 1\n3 2\n3 3\n3 4\n";
  json report = matched({file, "--problem", "cardinality", "--matching", pairs});
  for (const char* key :
       {"instance", "rows",         "cols",    "edges",       "solver",    "backend",
        "threads",  "device",       "status",  "cardinality", "objective", "dual_objective",
        "gap",      "verified",     "seconds", "stats",       "cover",     "dulmage_mendelsohn",
        "init",     "solver_reason"})
    CHECK(report.contains(key));
  for (const char* key : {"total", "init", "solve", "transfer"}) CHECK(report["seconds"].contains(key));
  CHECK(report["edges"] == 5);
  CHECK(report["cardinality"] == 2);
  const json parts = report["dulmage_mendelsohn"];
  CHECK(parts["vertical"] == json{{"rows", 2}, {"cols", 1}});
  CHECK(parts["horizontal"] == json{{"rows", 1}, {"cols", 3}});
  CHECK(parts["square"] == json{{"rows", 0}, {"cols", 0}});
  std::ifstream in(pairs);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);

  report =
      matched({"gen:gated?n=300&degree=3", "--solver", "pf?fairness=0"});  // the solver determines the family
  CHECK(report["problem"] == "cardinality");
  CHECK(report["options"] == "fairness=0");
  CHECK(report["stats"]["edges_traversed"] > 0);
}

TEST_CASE("match says which back end a solver lacks, with and without a GPU") {
  const bool gpu = !gpu::list_devices().devices.empty();
  const auto result_of = [](const std::string& solver, const std::string& backend) {
    return run_motes({"match", "gen:rgg?n=50&degree=3", "--solver", solver, "--backend", backend});
  };
  auto result = result_of("apfb?threads=mt", "cpu");
  CHECK(result.code == 2);
  CHECK_THAT(result.err, Catch::Contains("--backend: apfb has no CPU form; use cuda"));
  result = result_of("apfb", "auto");
  CHECK(result.code == (gpu ? 0 : 4));
  if (!gpu)
    CHECK_THAT(result.err,
               Catch::Contains("--solver apfb: no GPU: ") && Catch::Contains("; use push-relabel"));
  for (const std::string solver : {"hk", "greedy-weighted"}) {
    result = result_of(solver, "cuda");
    CHECK(result.code == (gpu ? 2 : 4));
    CHECK_THAT(result.err, Catch::Contains(gpu ? "--backend: " + solver + " has no CUDA form; use cpu"
                                               : "--backend cuda: no GPU: "));
  }
  result = run_motes({"match", "gen:uniform?rows=5&high=9", "--solver", "jv", "--backend", "cuda"});
  CHECK(result.code == (gpu ? 0 : 4));
}

TEST_CASE("match rejects invalid requests and says what to do") {
  const auto refused = [](std::vector<std::string> words, int code, const std::string& part) {
    words.insert(words.begin(), "match");
    const auto result = run_motes(words);
    INFO(result.err);
    CHECK(result.code == code);
    CHECK_THAT(result.err, Catch::Contains(part));
  };
  refused({}, 2, "needs an INSTANCE");
  refused({"gen:uniform?rows=3&high=2", "--solver", "jw"}, 2, "did you mean 'jv'");
  refused({"gen:uniform?rows=3&hihg=2"}, 2, "needs high");
  refused({"gen:uniform?rows=3&high=2&hogh=2"}, 2, "unknown parameter 'hogh'");
  refused({"gen:uniform?rows=x&high=2"}, 2, "rows=x is not a number");
  refused({"gen:uniform?rows=3&high=2&high=3"}, 2, "given twice");
  refused({"gen:unform?rows=3"}, 2, "no assignment family");
  for (const std::string family : {"uniform", "machol-wien", "gated", "rmat"})
    refused({"gen:"}, 2, family);  // of every kind of problem
  refused({"gen:points?n=10&sigma=-1"}, 2, "sigma=-1");
  refused({"gen:points?n=10&sigma=1&sparse=1"}, 2, "needs gate");
  refused({"gen:uniform?rows=3&high=2", "--problem", "packing"}, 2, "allowed: assignment");
  refused({"gen:uniform?rows=3&high=2", "--unmatched", "-1"}, 2, "--unmatched");
  refused({"gen:uniform?rows=3&high=2", "--ties", "coin"}, 2, "--ties");
  refused({"/nonexistent.mtx"}, 3, "nonexistent");
  refused({"gen:uniform?rows=3000000&high=2"}, 4,
          "a full matrix of 3000000 x 3000000 needs 33527.6 GiB of memory");
  refused({"gen:uniform?rows=3&high=2", "--solver", "jv?fast=1"}, 2, "jv has no options");
  refused({"gen:uniform?rows=3&high=2", "--init", "cheap"}, 2, "--init: only for cardinality");
  const auto refused_graph = [&](std::vector<std::string> words, int code, const std::string& part) {
    words.insert(words.end(), {"--problem", "cardinality"});
    refused(words, code, part);
  };
  refused_graph({"gen:rgg?n=9&degree=2", "--solver", "hq"}, 2, "did you mean 'hk'");
  refused_graph({"gen:rgg?n=9&degree=2", "--solver", "jv"}, 2, "jv solves assignment problems");
  refused_graph({"gen:rgg?n=9&degree=2", "--solver", "hk?fast=1"}, 2, "no option is called 'fast'");
  refused_graph({"gen:rgg?n=9&degree=2", "--solver", "ms-bfs-graft?alpha=0"}, 2, "alpha=0: it takes");
  refused_graph({"gen:rgg?n=9&degree=2", "--init", "karp-siper"}, 2, "did you mean 'karp-sipser'");
  refused_graph({"gen:rgg?n=9&degree=2", "--unmatched", "1"}, 2, "--unmatched: only for assignment");
  refused_graph({"gen:rgg?n=9&degree=2", "--ties", "hash"}, 2, "--ties: only for assignment");
  refused_graph({"gen:rgb?n=9&degree=2"}, 2, "no family of graphs");
  refused_graph({"gen:rgg?n=9"}, 2, "needs degree");
  refused_graph({"/nonexistent.mtx"}, 3, "nonexistent");
  const testing::TempDir dir;
  const std::string file = (dir / "p.mtx").string();
  const auto damaged = [&](const std::string& lines, const std::string& part) {
    std::ofstream(file) << "%%MatrixMarket matrix coordinate pattern general\n" << lines;
    refused_graph({file}, 3, part);
  };
  damaged("2 2 2\n1 1\n3 1\n", "p.mtx:4: row 3 lies outside 1..2");
  damaged("2 2 2\n1 1\n1 1\n", "p.mtx:4: entry (1, 1) was given in line 3 already");
  damaged("2 2 3\n1 1\n1 2\n", "after 2 of 3 entries");
  damaged("2 2 1\n1 1\n1 2\n", "more entries than the 1");
  damaged("2 2 1\n1 one\n", "p.mtx:3: column expected, not 'one'");
}
