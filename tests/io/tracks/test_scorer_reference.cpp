/// Compares the challenge organisers' program with ours on the same files.

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/io/challenge_xml.h>
#include <motes/tracking/challenge_score.h>

#include "tests/support/skip.h"

using namespace motes;

namespace {

std::vector<std::string> cells_of(std::string line) {
  if (line.ends_with('\r')) line.pop_back();
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

}  // namespace

TEST_CASE("challenge scores agree with the organisers' program") {
  MOTES_NEED_DATA(dir, "scorer-reference");
  std::ifstream table(dir / "icy_reference_scores.csv");
  std::string line;
  REQUIRE(std::getline(table, line));
  const std::vector<std::string> header = cells_of(line);
  int cases = 0;
  while (std::getline(table, line)) {
    const std::vector<std::string> cells = cells_of(line);
    REQUIRE(cells.size() == header.size());
    std::map<std::string, std::string> theirs;
    for (std::size_t i = 0; i < header.size(); ++i) theirs[header[i]] = cells[i];
    CAPTURE(line);
    const ChallengeScores ours = tracking::challenge_scores(
        {}, io::read_challenge_xml(dir / theirs["reference"]),
        io::read_challenge_xml(dir / theirs["candidate"]), std::stod(theirs["gate"]));
    const auto number = [&](const char* column) { return std::stod(theirs.at(column)); };
    CHECK(ours.pairing_distance == Approx(number("pairing_distance")).epsilon(1e-11).margin(1e-9));
    CHECK(ours.alpha == Approx(number("alpha")).margin(1e-10));
    CHECK(ours.beta == Approx(number("beta")).margin(1e-10));
    CHECK(ours.jsc == Approx(number("JSC")).margin(1e-10));
    CHECK(ours.jsc_theta == Approx(number("JSC_theta")).margin(1e-10));
    CHECK(ours.paired_tracks == number("paired_tracks"));
    CHECK(ours.missed_tracks == number("missed_tracks"));
    CHECK(ours.spurious_tracks == number("spurious_tracks"));
    CHECK(ours.true_positives == number("paired_det"));
    CHECK(ours.false_negatives == number("missed_det"));
    CHECK(ours.false_positives == number("spurious_det"));
    ++cases;
  }
  CHECK(cases == 8);
}
