#pragma once
/// The assignment problem with copies of vertices.
///
/// Row i stands for row_copies[i] rows with the same edges and costs, column j for col_copies[j] columns
/// (the transportation problem: supplies and demands). A matching of the copies states the number of copies
/// of each row matched with copies of each column; all copies of a vertex share one dual, so that the
/// certificate of all copies has the size of the graph without copies.

#include <cstdint>
#include <span>
#include <vector>

#include <motes/matching/answer.h>
#include <motes/matching/problem.h>
#include <motes/matching/verify.h>

namespace motes::matching {

struct TransportationView {
  SparseCostsView costs;              ///< of one copy; host memory, unmatched costs finite
  std::span<const Index> row_copies;  ///< [rows], not negative
  std::span<const Index> col_copies;  ///< [cols], not negative
};

struct Transportation {
  std::vector<Index> flow;       ///< [nnz] copies matched along each edge
  Duals duals;                   ///< of every copy
  std::int64_t cardinality = 0;  ///< matched copies of rows
  double objective = 0;          ///< in cost steps, free copies' costs included
  std::int64_t searches = 0;     ///< searches for augmenting paths
};

/// Minimum cost, with the duals that prove it. Deterministic; one thread. Throws std::invalid_argument for
/// arrays of wrong lengths, negative copies, infinite unmatched costs and costs in device memory.
///
/// Successive shortest paths (Ahuja, Magnanti & Orlin, Network Flows, 9.7), each taking as many copies as
/// fit. O(searches x edges log rows) time, where searches are at most all rows' copies, in practice about as
/// many as rows; O(rows + cols + edges) memory.
Transportation solve_transportation(const TransportationView& problem);

/// As verify: exact, without trusting anything in the answer. O(rows + cols + edges).
Certificate verify(const TransportationView& problem, const Transportation& answer);

}  // namespace motes::matching
