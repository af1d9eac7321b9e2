// A program that shares no code with motes proves or rejects an assignment.
#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>
#include <sys/wait.h>

#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes::testing;

namespace {

/// The checker's exit code.
int check(const std::string& instance, const std::string& answer, const std::string& more = "") {
  const std::string command = std::string("python3 ") + MOTES_SOURCE_DIR + "/scripts/check_certificate.py " +
                              instance + " " + answer + " " + more + " > /dev/null 2>&1";
  return WEXITSTATUS(std::system(command.c_str()));
}

bool python_there() { return std::system("python3 -c 'import fractions' > /dev/null 2>&1") == 0; }

void replace(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("The independent checker proves optimal assignments and refuses others") {
  if (!python_there()) MOTES_SKIP("no python3");
  const TempDir dir;
  const std::string matrix = (dir / "a.mtx").string(), sparse = (dir / "s.mtx").string(),
                    answer = (dir / "answer").string(), wrong = (dir / "wrong").string();
  write_file(matrix, "%%MatrixMarket matrix array integer general\n2 3\n4\n2\n1\n0\n3\n2\n");
  write_file(
      sparse,
      "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 0.1\n1 2 0.35\n2 2 0.7\n3 3 1e-3\n3 1 2\n");
  REQUIRE(run_motes({"match", matrix, "--certificate", answer}).code == 0);
  CHECK(check(matrix, answer) == 0);
  const std::string good = file_bytes(answer);

  std::string changed = good;
  replace(changed, "row 1 ", "row 0 ");
  write_file(wrong, changed);
  CHECK(check(matrix, wrong) == 1);
  changed = good;
  changed.insert(changed.size() - 1, "1");  // the last dual
  write_file(wrong, changed);
  CHECK(check(matrix, wrong) == 1);
  write_file(wrong, good.substr(0, good.size() / 2));
  CHECK(check(matrix, wrong) != 0);
  CHECK(check(sparse, answer) == 1);
  // A feasible matching that is not optimal, with the right duals.
  const std::size_t rows = good.find("row ");
  write_file(wrong, good.substr(0, rows) + "row 0 0\nrow 1 0\ncol 0 0\ncol 1 0\ncol -1 0\n");
  CHECK(check(matrix, wrong) == 1);

  REQUIRE(run_motes({"match", sparse, "--certificate", answer}).code == 0);
  CHECK(check(sparse, answer) == 0);
  REQUIRE(run_motes({"match", sparse, "--unmatched", "0.2", "--certificate", answer}).code == 0);
  CHECK(check(sparse, answer, "--unmatched 0.2") == 0);
  CHECK(check(sparse, answer, "--unmatched 0.3") == 1);
}
