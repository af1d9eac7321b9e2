/// The bottleneck curve. A forest of alternating trees grows from all free rows. Each step follows the
/// shortest edge that is not yet explored, whichever row has it; the longest edge followed so far is the
/// threshold. As long as no free column is reached, the forest contains everything that alternating paths
/// of such edges reach, so that the matching is maximum for edges below the threshold (Berge), and the
/// first path found is the first that exists. Its tree is then removed, and edges of other trees' rows to
/// its columns are explored again.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <stdexcept>

#include <motes/base/index.h>
#include <motes/matching/bottleneck.h>

#include "matching/assignment/canonical/canonical_form.h"

namespace motes::matching {
namespace {

void require_host(const SparseCostsView& problem) {
  if (problem.space == Space::device) throw std::invalid_argument("bottleneck: the problem lies on a device");
  check_problem(problem);
}

class Growth {
 public:
  explicit Growth(const SparseCostsView& problem)
      : graph_(problem.graph),
        length_(problem.cost.begin(), problem.cost.end()),
        col_(graph_.col_index.begin(), graph_.col_index.end()),
        row_to_col_(at(graph_.rows), -1),
        root_(at(graph_.rows), -1),
        version_(at(graph_.rows), 0),
        cursor_(at(graph_.rows), 0),
        tree_cols_(at(graph_.rows), -1),
        col_to_row_(at(graph_.cols), -1),
        parent_(at(graph_.cols), -1),
        next_in_tree_(at(graph_.cols), -1),
        reached_(at(graph_.cols), 0) {
    sort_rows();
    index_columns();
  }

  std::vector<Cost> run() {
    for (Index i = 0; i < graph_.rows; ++i) join(i, i);
    Cost longest = std::numeric_limits<Cost>::min();
    std::vector<Cost> thresholds;
    while (!offers_.empty()) {
      const Offer offer = offers_.top();
      offers_.pop();
      if (version_[at(offer.row)] != offer.version) continue;  // its tree was removed
      if (offer.edge == cursor_[at(offer.row)]) {
        ++cursor_[at(offer.row)];
        offer_next(offer.row);
      }
      const Index j = col_[at(offer.edge)];
      if (reached_[at(j)] != 0) continue;
      longest = std::max(longest, offer.length);
      const Index root = root_[at(offer.row)];
      reached_[at(j)] = 1;
      parent_[at(j)] = offer.row;
      next_in_tree_[at(j)] = std::exchange(tree_cols_[at(root)], j);
      if (col_to_row_[at(j)] != -1) {
        join(col_to_row_[at(j)], root);
      } else {
        thresholds.push_back(longest);
        augment(root, j);
      }
    }
    return thresholds;
  }

 private:
  struct Offer {
    Cost length;
    Offset edge;
    Index row;
    std::uint32_t version;
    bool operator<(const Offer& other) const { return length > other.length; }  // the shortest on top
  };
  struct Place {
    Index row;
    Offset edge;
  };

  void sort_rows() {
    std::vector<std::pair<Cost, Index>> row;
    for (Index i = 0; i < graph_.rows; ++i) {
      const Offset first = graph_.row_offsets[at(i)], last = graph_.row_offsets[at(i) + 1];
      row.clear();
      for (Offset e = first; e < last; ++e) row.emplace_back(length_[at(e)], col_[at(e)]);
      std::sort(row.begin(), row.end());
      for (Offset e = first; e < last; ++e) std::tie(length_[at(e)], col_[at(e)]) = row[at(e - first)];
    }
  }

  void index_columns() {
    col_offsets_.assign(at(graph_.cols) + 1, 0);
    for (const Index j : col_) ++col_offsets_[at(j) + 1];
    std::partial_sum(col_offsets_.begin(), col_offsets_.end(), col_offsets_.begin());
    places_.resize(col_.size());
    std::vector<Offset> end(col_offsets_.begin(), col_offsets_.end() - 1);
    for (Index i = 0; i < graph_.rows; ++i)
      for (Offset e = graph_.row_offsets[at(i)]; e < graph_.row_offsets[at(i) + 1]; ++e)
        places_[at(end[at(col_[at(e)])]++)] = {i, e};
  }

  void join(Index row, Index root) {
    root_[at(row)] = root;
    cursor_[at(row)] = graph_.row_offsets[at(row)];
    offer_next(row);
  }
  void offer_next(Index row) {
    const Offset e = cursor_[at(row)];
    if (e < graph_.row_offsets[at(row) + 1]) offers_.push({length_[at(e)], e, row, version_[at(row)]});
  }
  void leave(Index row) {
    root_[at(row)] = -1;
    ++version_[at(row)];
  }

  void augment(Index root, Index end) {
    leave(root);
    for (Index j = tree_cols_[at(root)]; j != -1; j = next_in_tree_[at(j)]) {
      reached_[at(j)] = 0;
      if (col_to_row_[at(j)] != -1) leave(col_to_row_[at(j)]);
    }
    for (Index j = end; j != -1;) {
      const Index row = parent_[at(j)];
      col_to_row_[at(j)] = row;
      j = std::exchange(row_to_col_[at(row)], j);
    }
    for (Index j = tree_cols_[at(root)]; j != -1; j = next_in_tree_[at(j)])
      for (Offset k = col_offsets_[at(j)]; k < col_offsets_[at(j) + 1]; ++k) {
        const auto [row, edge] = places_[at(k)];
        if (root_[at(row)] != -1 && edge < cursor_[at(row)])
          offers_.push({length_[at(edge)], edge, row, version_[at(row)]});
      }
    tree_cols_[at(root)] = -1;
  }

  BipartiteGraphView graph_;
  std::vector<Cost> length_;  ///< [nnz] each row's edges, the shortest first
  std::vector<Index> col_;    ///< [nnz] likewise
  std::vector<Index> row_to_col_;
  std::vector<Index> root_;             ///< [rows] root of the row's tree; -1: in no tree
  std::vector<std::uint32_t> version_;  ///< [rows] offers with an older version are invalid
  std::vector<Offset> cursor_;          ///< [rows] the first edge that was not offered yet
  std::vector<Index> tree_cols_;        ///< [rows] of a root: one column of its tree, linked to the others
  std::vector<Index> col_to_row_;
  std::vector<Index> parent_;        ///< [cols] the row that reached it
  std::vector<Index> next_in_tree_;  ///< [cols]
  std::vector<char> reached_;        ///< [cols]
  std::vector<Offset> col_offsets_;
  std::vector<Place> places_;  ///< [nnz] edges by column
  std::priority_queue<Offer> offers_;
};

}  // namespace

std::int64_t BottleneckCurve::cardinality_within(Cost length) const {
  return std::upper_bound(threshold.begin(), threshold.end(), length) - threshold.begin();
}

BottleneckCurve bottleneck_curve(const SparseCostsView& problem) {
  require_host(problem);
  return {Growth(problem).run()};
}

}  // namespace motes::matching
