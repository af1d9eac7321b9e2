/// The certificate of maximum cardinality over all ranks: each checks its own rows, their edges, and columns.

#include <algorithm>
#include <string>

#include "matching/distributed/cardinality/distributed_state.h"

namespace motes::matching {
namespace {

struct Pair {
  Index row, col;
};

std::string name(const char* kind, Index k) { return kind + (" " + std::to_string(k)); }

bool right_sizes(const DistributedGraph& graph, const DistributedMatching& answer) {
  return answer.row_to_col.size() == at(graph.my_rows.count) &&
         answer.col_to_row.size() == at(graph.my_cols.count) &&
         answer.row_in_cover.size() == at(graph.my_rows.count) &&
         answer.col_in_cover.size() == at(graph.my_cols.count);
}

/// The first fault of this rank's rows by themselves: columns that do not exist, pairs without an edge.
std::string fault_of_rows(const DistributedGraph& graph, const DistributedMatching& answer) {
  for (Index k = 0; k < graph.my_rows.count; ++k) {
    const Index j = answer.row_to_col[at(k)], row = graph.my_rows.first + k;
    if (j == -1) continue;
    if (j < 0 || j >= graph.cols) return name("row", row) + " is matched to no column: " + std::to_string(j);
    const auto begin = graph.part.col_index.begin() + graph.part.row_offsets[at(k)],
               end = graph.part.col_index.begin() + graph.part.row_offsets[at(k) + 1];
    if (!std::binary_search(begin, end, j))
      return name("row", row) + " and " + name("column", j) + " are matched, but no edge joins them";
  }
  return {};
}

/// Every row tells its column's rank, where the column must name the row. Columns that name a row which does
/// not name them are found by counting.
std::string fault_of_mates(Communicator& ranks, const DistributedGraph& graph,
                           const DistributedMatching& answer) {
  detail::Mail<Pair> mail(ranks);
  const detail::Owners owners(graph.cols, ranks.size());
  for (Index k = 0; k < graph.my_rows.count; ++k)
    if (const Index j = answer.row_to_col[at(k)]; j != -1)
      mail.send(owners.of(j), {graph.my_rows.first + k, j});
  std::int64_t told = 0;
  std::string fault;
  mail.exchange([&](const Pair& pair) {
    ++told;
    if (fault.empty() && answer.col_to_row[at(pair.col - graph.my_cols.first)] != pair.row)
      fault = name("row", pair.row) + " and " + name("column", pair.col) + " disagree";
  });
  const auto matched = std::ssize(answer.col_to_row) -
                       std::count(answer.col_to_row.begin(), answer.col_to_row.end(), Index{-1});
  if (fault.empty() && told != matched)
    fault = "one of columns " + std::to_string(graph.my_cols.first) + " to " +
            std::to_string(graph.my_cols.first + graph.my_cols.count - 1) +
            " is matched to a row that is not matched to it";
  return fault;
}

/// The first edge of this rank that the cover does not touch.
std::string fault_of_cover(Communicator& ranks, const DistributedGraph& graph,
                           const DistributedMatching& answer) {
  // As bits: a list of all columns would be 32 times as long.
  std::vector<std::uint64_t> bits(at(graph.my_cols.count) / 64 + 1, 0);
  for (std::size_t k = 0; k < answer.col_in_cover.size(); ++k)
    if (answer.col_in_cover[k]) bits[k / 64] |= std::uint64_t{1} << (k % 64);
  const std::vector<std::uint64_t> all = ranks.all_gather<std::uint64_t>(bits);
  std::vector<std::size_t> word_of_rank;
  std::size_t word = 0;
  for (int k = 0; k < ranks.size(); ++k) {
    word_of_rank.push_back(word);
    word += at(block_of(graph.cols, k, ranks.size()).count) / 64 + 1;
  }
  const detail::Owners owners(graph.cols, ranks.size());
  const auto covered = [&](Index j) {
    const int owner = owners.of(j);
    const std::size_t k = at(j - block_of(graph.cols, owner, ranks.size()).first);
    return (all[word_of_rank[at(owner)] + k / 64] >> (k % 64) & 1) != 0;
  };
  for (Index k = 0; k < graph.my_rows.count; ++k) {
    if (answer.row_in_cover[at(k)]) continue;
    for (Offset e = graph.part.row_offsets[at(k)]; e < graph.part.row_offsets[at(k) + 1]; ++e)
      if (const Index j = graph.part.col_index[at(e)]; !covered(j))
        return "cover: the edge of " + name("row", graph.my_rows.first + k) + " and " + name("column", j) +
               " is not touched";
  }
  return {};
}

/// The fault of the lowest rank that found one; empty if none did.
std::string first_of_all(Communicator& ranks, std::string fault) {
  const std::int64_t first = ranks.all_reduce(fault.empty() ? ranks.size() : ranks.rank(), Reduction::min);
  if (first == ranks.size()) return {};
  ranks.broadcast(fault, static_cast<int>(first));
  return fault;
}

}  // namespace

CardinalityCertificate verify_distributed(Communicator& ranks, const DistributedGraph& graph,
                                          const DistributedMatching& answer) {
  CardinalityCertificate found;
  // A fault that makes the rest unreadable ends the check on all ranks.
  found.fault =
      first_of_all(ranks, right_sizes(graph, answer) ? fault_of_rows(graph, answer)
                                                     : "matching has the wrong number of rows or columns");
  if (!found.fault.empty()) return found;
  found.fault = first_of_all(ranks, fault_of_mates(ranks, graph, answer));
  const auto ones = [&](const std::vector<bool>& set) { return std::count(set.begin(), set.end(), true); };
  const auto free_rows = std::count(answer.row_to_col.begin(), answer.row_to_col.end(), Index{-1});
  std::int64_t sums[] = {std::ssize(answer.row_to_col) - free_rows,
                         ones(answer.row_in_cover) + ones(answer.col_in_cover)};
  ranks.all_reduce(sums, Reduction::sum);
  if (found.fault.empty())
    found.fault = first_of_all(ranks, sums[0] == answer.cardinality
                                          ? ""
                                          : "the matching has " + std::to_string(sums[0]) + " pairs, not " +
                                                std::to_string(answer.cardinality));
  found.matching_valid = found.fault.empty();
  const std::string open = first_of_all(ranks, fault_of_cover(ranks, graph, answer));
  found.cover_valid = open.empty();
  found.same_size = sums[1] == sums[0];
  if (found.fault.empty()) found.fault = open;
  if (found.fault.empty() && !found.same_size)
    found.fault = "the cover has " + std::to_string(sums[1]) + " vertices, the matching " +
                  std::to_string(sums[0]) + " pairs";
  return found;
}

}  // namespace motes::matching
