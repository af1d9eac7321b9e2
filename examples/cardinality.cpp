// As many pairs as a bipartite graph allows, and the proof: a vertex cover of the same size (Koenig 1931).
#include <iostream>

#include <motes/matching/koenig.h>
#include <motes/matching/registry.h>

int main() {
  using namespace motes::matching;

  // Four people (rows) and the seats (columns) that each may take, in CSR. Three of them share two seats.
  BipartiteGraph graph;
  graph.rows = 4;
  graph.cols = 4;
  graph.row_offsets = {0, 2, 4, 6, 8};
  graph.col_index = {0, 1, 0, 1, 0, 1, 2, 3};
  const CardinalityProblem problem{.graph = graph.view()};

  const auto solver = make_cardinality_solver("hk");  // Hopcroft and Karp; `motes info` lists the others
  const Matching answer = solver->solve(motes::Execution{}, problem).matching;
  const VertexCover cover = koenig_cover(problem, answer);
  const bool maximum = verify(problem, answer, cover).maximum();

  for (Index row = 0; row < graph.rows; ++row) {
    const Index seat = answer.row_to_col[row];
    std::cout << "person " << row << (seat < 0 ? " stands" : " takes seat " + std::to_string(seat)) << '\n';
  }
  std::cout << answer.cardinality << " pairs, a cover of " << cover.size()
            << " vertices: " << (maximum ? "proven maximum\n" : "not maximum\n");
  return maximum && answer.cardinality == 3 ? 0 : 1;
}
