// motes match --problem greedy: answers, certificates, coarser graphs, errors.

#include <algorithm>
#include <fstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <motes/matching/registry.h>

#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes;
using nlohmann::json;
using testing::run_motes;

namespace {

json matched(std::vector<std::string> words) {
  words.insert(words.begin(), "match");
  words.insert(words.end(), {"--json", "-", "--verify", "--backend", "cpu"});
  const auto result = run_motes(words);
  INFO(result.err);
  REQUIRE(result.code == 0);
  return json::parse(result.out);
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("match runs every greedy solver, and certifies it") {
  for (const std::string instance :
       {"gen:gated?n=400&degree=4", "gen:rgg?n=400&degree=5&general=1&weights=distance",
        "gen:road?n=500&general=1&weights=unit", "gen:rmat?scale=7&undirected=1", "gen:grid?nx=0"}) {
    std::optional<double> sorted;
    for (const auto& info : matching::solvers()) {
      if (info.family() != matching::Family::greedy) continue;
      INFO(instance << " with " << info.name);
      const json report = matched({instance, "--solver", std::string(info.name)});
      CHECK(report["problem"] == "greedy");
      CHECK(report["status"] == "heuristic");
      CHECK(report["verified"] == true);
      CHECK(report["upper_bound"].get<double>() >= report["objective"].get<double>() * (1 - 1e-12));
      CHECK(report["dual_objective"] == report["upper_bound"]);
      if (info.guarantee == matching::Guarantee::maximal) continue;
      CHECK(report["dominant"] == true);
      CHECK(report["share_of_upper_bound"].get<double>() >= 0.5);
      if (!sorted) sorted = report["objective"].get<double>();
      CHECK(report["objective"].get<double>() == *sorted);
    }
  }
}

TEST_CASE("match of greedy writes the documented keys") {
  const testing::TempDir dir;
  const std::string file = (dir / "g.mtx").string(), pairs = (dir / "pairs.csv").string();
  std::ofstream(file)
      << "%%MatrixMarket matrix coordinate real symmetric\n5 5 5\n2 1 3\n3 2 5\n4 3 4\n4 4 9\n5 4 1\n";
  const json report = matched({file, "--problem", "greedy", "--matching", pairs});
  for (const char* key : {"instance",     "rows",     "cols",        "edges",     "solver",
                          "backend",      "threads",  "device",      "status",    "kind",
                          "gap",          "verified", "cardinality", "objective", "dual_objective",
                          "seconds",      "dominant", "upper_bound", "stats",     "share_of_upper_bound",
                          "solver_reason"})
    CHECK(report.contains(key));
  for (const char* key : {"total", "init", "solve", "transfer"}) CHECK(report["seconds"].contains(key));
  CHECK(report["solver"] == "greedy-suitor");
  CHECK(report["kind"] == "general");
  CHECK(report["edges"] == 4);
  CHECK(report["cardinality"] == 2);
  CHECK(report["objective"] == 6);
  CHECK(text_of(pairs) == "row,col\n1,2\n3,4\n");
  // Without --verify the report claims nothing.
  const auto plain = run_motes({"match", file, "--problem", "greedy", "--json", "-"});
  CHECK(json::parse(plain.out)["verified"].is_null());
  CHECK(json::parse(plain.out)["upper_bound"].is_null());
}

TEST_CASE("coarsening by density continues where stars stop it by weight") {
  const std::string grid = "gen:grid?nx=60&general=1&keep=1";
  const auto last_of = [&](const char* by) {
    const json report = matched({grid, "--problem", "greedy", "--coarsen", "8", "--coarsen-by", by});
    return report["coarsen"]["vertices"].get<int>();
  };
  const int by_weight = last_of("weight"), by_density = last_of("density");
  CHECK(by_density <= 8);
  CHECK(by_density < by_weight);
}

TEST_CASE("match makes coarser graphs of greedy matchings") {
  const testing::TempDir dir;
  const std::string coarse = (dir / "coarse.mtx").string(), map = (dir / "map.csv").string();
  const json report = matched({"gen:grid?nx=30&general=1&keep=1", "--problem", "greedy", "--coarsen", "50",
                               "--coarse", coarse, "--coarse-map", map});
  const json levels = report["coarsen"]["levels"];
  REQUIRE(levels.size() >= 4);
  const int last = report["coarsen"]["vertices"].get<int>();
  CHECK(last <= 50);
  CHECK(levels.back()["vertices"] == last);
  CHECK(text_of(map).starts_with("vertex,coarse\n0,0\n"));
  const std::string lines = text_of(map);
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 901);
  // The coarse graph can be matched, too.
  const json again = matched({coarse, "--problem", "greedy"});
  CHECK(again["rows"] == last);
  CHECK(again["edges"] == levels.back()["edges"]);
}

TEST_CASE("match of greedy rejects invalid requests and says what to do") {
  const auto refused = [](std::vector<std::string> words, int code, const std::string& part) {
    words.insert(words.begin(), "match");
    words.insert(words.end(), {"--problem", "greedy"});
    const auto result = run_motes(words);
    INFO(result.err);
    CHECK(result.code == code);
    CHECK_THAT(result.err, Catch::Contains(part));
  };
  const std::string grid = "gen:grid?nx=5&general=1";
  refused({grid, "--solver", "greedy-suiter"}, 2, "did you mean 'greedy-suitor'");
  refused({grid, "--solver", "hk"}, 2, "hk solves cardinality problems, not greedy");
  refused({grid, "--solver", "greedy-proposal?blue=2"}, 2, "blue=2: it takes 0.01..0.99");
  refused({grid, "--init", "cheap"}, 2, "--init: only for cardinality");
  refused({grid, "--ties", "hash"}, 2, "--ties: only for assignment");
  refused({grid, "--unmatched", "1"}, 2, "--unmatched: only for assignment");
  refused({grid, "--coarse", "x.mtx"}, 2, "need --coarsen N");
  refused({grid, "--coarsen", "0"}, 2, "--coarsen");
  refused({grid, "--coarsen-by", "density"}, 2, "need --coarsen N");
  refused({grid, "--coarsen", "3", "--coarsen-by", "size"}, 2, "--coarsen-by");
  refused({"gen:uniform?rows=3&high=2"}, 2, "weighted graphs come from");
  refused({"/nonexistent.mtx"}, 3, "nonexistent");
  const testing::TempDir dir;
  const std::string bad = (dir / "bad.mtx").string();
  std::ofstream(bad) << "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 -3\n";
  refused({bad}, 3, ":3: a weight is negative");
  const auto other =
      run_motes({"match", "gen:rgg?n=9&degree=2", "--problem", "cardinality", "--coarsen", "3"});
  CHECK(other.code == 2);
  CHECK_THAT(other.err, Catch::Contains("--coarsen: only for greedy"));
}
