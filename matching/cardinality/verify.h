#pragma once
/// Proof of maximum cardinality: a vertex cover of the same size (Koenig 1931).

#include <string>
#include <vector>

#include "matching/cardinality/problem.h"
#include "matching/matching.h"

namespace motes::matching {

/// Vertices that touch every edge; no matching can be larger than any cover.
struct VertexCover {
  std::vector<Index> rows, cols;  ///< ascending
  std::int64_t size() const { return static_cast<std::int64_t>(rows.size() + cols.size()); }
};

/// The coarse Dulmage-Mendelsohn decomposition, which any maximum matching gives: vertices reached by
/// alternating paths from free rows (horizontal), from free columns (vertical), and the rest (square).
enum class Part : std::uint8_t { horizontal, square, vertical };
struct DulmageMendelsohn {
  std::vector<Part> rows;  ///< [rows]
  std::vector<Part> cols;  ///< [cols]
};

/// From a maximum matching: columns reached from free rows by alternating paths, and matched rows that are
/// not reached. Smaller or larger than the matching where it is not maximum. Host problems; O(rows + cols +
/// nnz).
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

/// Checks an answer against a cover, trusting neither. Host problems; O(rows + cols + nnz).
CardinalityCertificate verify(const CardinalityProblem& problem, const Matching& answer,
                              const VertexCover& cover);

}  // namespace motes::matching
