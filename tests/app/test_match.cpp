// motes match: instances, solvers, answers and refusals.

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "matching/registry.h"
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
      if (info.family != matching::Family::assignment) continue;
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

TEST_CASE("match writes what its contract names") {
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

TEST_CASE("match reads files, writes pairs, and lets vertices stay free for a price") {
  const testing::TempDir dir;
  const std::string file = (dir / "p.mtx").string(), pairs = (dir / "pairs.csv").string();
  std::ofstream(file) << "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 0.5\n1 2 3\n2 1 0.75\n";
  json report = matched({file, "--matching", pairs});
  CHECK(report["objective"] == 3.75);
  std::ifstream in(pairs);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  CHECK(text == "row,col\n0,1\n1,0\n");
  report = matched({file, "--unmatched", "1"});
  CHECK(report["objective"] == 2.5);  // 0.5 for the one pair, 1 for each of the two that are free
  CHECK(report["cardinality"] == 1);
}

TEST_CASE("match tells an infeasible problem and why") {
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

TEST_CASE("the hash rule makes all solvers tell the same pairs") {
  const testing::TempDir dir;
  std::optional<std::string> first;
  for (const auto& info : matching::solvers()) {
    if (info.family != matching::Family::assignment) continue;
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

TEST_CASE("match refuses what makes no sense, and says what to do") {
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
  refused({"gen:points?n=10&sigma=-1"}, 2, "sigma=-1");
  refused({"gen:points?n=10&sigma=1&sparse=1"}, 2, "needs gate");
  refused({"gen:uniform?rows=3&high=2", "--problem", "packing"}, 2, "none of assignment");
  refused({"gen:uniform?rows=3&high=2", "--unmatched", "-1"}, 2, "--unmatched");
  refused({"gen:uniform?rows=3&high=2", "--ties", "coin"}, 2, "--ties");
  refused({"/nonexistent.mtx"}, 3, "nonexistent");
  refused({"gen:uniform?rows=3000000&high=2"}, 4,
          "a full matrix of 3000000 x 3000000 needs 33527.6 GiB of memory");
  refused({"gen:uniform?rows=3&high=2", "--problem", "cardinality"}, 2, "no cardinality solvers");
}
