#pragma once
/// Proof of maximum cardinality: a vertex cover of the same size (Koenig 1931).

#include <cstdint>
#include <string>
#include <vector>

#include <motes/matching/answer.h>
#include <motes/matching/cardinality_problem.h>

namespace motes::matching {

/// Vertices that touch every edge; no matching can be larger than any cover.
struct VertexCover {
  std::vector<Index> rows, cols;  ///< ascending
  std::int64_t size() const { return static_cast<std::int64_t>(rows.size() + cols.size()); }
};

/// The coarse Dulmage-Mendelsohn decomposition, which any maximum matching gives, and all give the same
/// (Pothen & Fan 1990): vertices reached by alternating paths from free columns (horizontal: more columns
/// than rows), from free rows (vertical), and the rest (square, matched perfectly).
enum class Part : std::uint8_t { horizontal, square, vertical };
struct DulmageMendelsohn {
  std::vector<Part> rows;  ///< [rows]
  std::vector<Part> cols;  ///< [cols]
};

/// From a matching: columns reached from free rows by alternating paths, and rows that are not reached. It
/// touches every edge whatever the matching; it is larger than the matching by the free columns reached, of
/// which a maximum matching has none. Host problems; O(rows + cols + nnz). Throws std::invalid_argument
/// where the answer is not a matching of that many rows and columns.
VertexCover koenig_cover(const CardinalityProblem& problem, const Matching& answer);

/// Host problems; the columns' side is made where it is not given. Throws std::invalid_argument where the
/// matching is not maximum.
DulmageMendelsohn decompose(const CardinalityProblem& problem, const Matching& answer);

struct CardinalityCertificate {
  bool matching_valid = false;  ///< both sides agree, every pair is an edge, the cardinality is told right
  bool cover_valid = false;     ///< every edge is touched
  bool same_size = false;
  std::string fault;  ///< the first one, with the vertices; empty when none
  bool maximum() const { return matching_valid && cover_valid && same_size; }
};

/// Checks an answer against a cover, trusting neither; the graph must be sound (check_problem). Host
/// problems; O(rows + cols + nnz), in `threads` threads.
CardinalityCertificate verify(const CardinalityProblem& problem, const Matching& answer,
                              const VertexCover& cover, int threads = 1);

}  // namespace motes::matching
