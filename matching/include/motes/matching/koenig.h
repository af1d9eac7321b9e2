#pragma once
/// Proof of maximum cardinality: a vertex cover of the same size (Koenig 1931).

#include <cstdint>
#include <string>
#include <vector>

#include <motes/matching/answer.h>
#include <motes/matching/cardinality_problem.h>

namespace motes::matching {

/// A vertex cover: a set of vertices that touches every edge. No matching is larger than any cover.
struct VertexCover {
  std::vector<Index> rows, cols;  ///< ascending
  std::int64_t size() const { return static_cast<std::int64_t>(rows.size() + cols.size()); }
};

/// The coarse Dulmage-Mendelsohn decomposition, which does not depend on the maximum matching it is
/// computed from (Pothen & Fan 1990): the vertices reached by alternating paths from free columns
/// (horizontal: more columns than rows), those reached from free rows (vertical), and the rest (square,
/// perfectly matched).
enum class Part : std::uint8_t { horizontal, square, vertical };
struct DulmageMendelsohn {
  std::vector<Part> rows;  ///< [rows]
  std::vector<Part> cols;  ///< [cols]
};

/// Koenig's cover of a matching: the columns reached from free rows by alternating paths, and the rows that
/// are not reached. It covers every edge for any matching, and has as many vertices as the matching
/// has pairs, plus the free columns reached; a maximum matching reaches none. Host problems; O(rows + cols
/// + nnz). Throws std::invalid_argument if the answer is not a matching of the problem's rows and columns.
VertexCover koenig_cover(const CardinalityProblem& problem, const Matching& answer);

/// The decomposition, from a maximum matching. Host problems; the column side is computed if it is not given.
/// O(rows + cols + nnz). Throws std::invalid_argument if the matching is not maximum.
DulmageMendelsohn decompose(const CardinalityProblem& problem, const Matching& answer);

struct CardinalityCertificate {
  bool matching_valid = false;  ///< both sides agree, every pair is an edge, the stated cardinality is right
  bool cover_valid = false;     ///< every edge is covered
  bool same_size = false;       ///< the cover has as many vertices as the matching has pairs
  std::string fault;            ///< the first fault, with its vertices; empty if there is none
  bool maximum() const { return matching_valid && cover_valid && same_size; }
};

/// Checks a matching and a cover, trusting neither. The graph must be valid (check_problem). Host problems;
/// O(rows + cols + nnz) on `threads` threads.
CardinalityCertificate verify(const CardinalityProblem& problem, const Matching& answer,
                              const VertexCover& cover, int threads = 1);

}  // namespace motes::matching
