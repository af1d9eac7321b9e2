/// Scans of rows for pairs that a core lacks.

#include "matching/assignment/core/pair_finder.h"

#include <algorithm>
#include <cstddef>

#include <motes/base/for_each_task.h>
#include <motes/base/index.h>

namespace motes::matching::detail {
namespace {

constexpr Index kRowsPerTask = 64;
constexpr Offset kPairsPerBatch = Offset{1} << 29;  ///< scanned for ways out, before a new attempt

}  // namespace

template <class Entries>
void PairFinder<Entries>::begin(bool v_falls) {
  proven_.assign(v_falls ? at(entries_.rows) : 0, -kBoundOfAll);
}

template <class Entries>
bool PairFinder<Entries>::price(const CoreSelection& selection, std::span<const Cost> u,
                                const std::vector<Cost>& v, PairsOfRows& found) {
  const BoundProof proof(selection, v);
  struct OpenRow {
    Index row;
    std::span<const Index> columns;
  };
  std::vector<OpenRow> open;
  for (Index i = 0; i < entries_.rows; ++i) {
    if (!proven_.empty() && u[at(i)] <= proven_[at(i)]) continue;
    if (const auto columns = proof.open(i, u[at(i)]); !columns.empty()) open.push_back({i, columns});
  }
  found.assign(at(entries_.rows), {});
  if (!open.empty()) pricer_.set_duals(v);
  for_each_block(threads_, static_cast<Index>(open.size()), kRowsPerTask, [&](Index begin, Index end) {
    PricingScratch scratch;
    for (Index k = begin; k < end; ++k) {
      const auto& [i, columns] = open[at(k)];
      auto& pairs = found[at(i)];
      if (pricer_.are_few(columns))
        pricer_.find_among(columns, i, u[at(i)], pairs);
      else
        pricer_.find(i, u[at(i)], scratch, pairs);
      if (!proven_.empty() && pairs.size() <= kAddedPerRow) proven_[at(i)] = u[at(i)];
      keep_best(pairs, kAddedPerRow, i, v);
    }
  });
  return std::any_of(found.begin(), found.end(), [](const auto& pairs) { return !pairs.empty(); });
}

/// Keeps the pairs of least reduced costs.
template <class Entries>
void PairFinder<Entries>::keep_best(std::vector<CorePair>& pairs, std::size_t count, Index row,
                                    const std::vector<Cost>& v) const {
  if (pairs.size() > count) {
    put_least_first(pairs, static_cast<Offset>(count), Offset{first_row_} + row, entries_.cols,
                    [&](const CorePair& p) { return p.cost - v[at(p.col)]; });
    pairs.resize(count);
  }
  std::sort(pairs.begin(), pairs.end(), by_column);
}

template <class Entries>
bool PairFinder<Entries>::ways_out(std::span<const Index> trapped, const std::vector<char>& reached,
                                   const std::vector<Cost>& v, std::size_t count, PairsOfRows& found) {
  std::vector<Index> outside;
  for (Index j = 0; j < entries_.cols; ++j)
    if (reached[at(j)] == 0) outside.push_back(j);
  const bool few_outside = pricer_.are_few(outside);
  found.assign(at(entries_.rows), {});
  const auto batch = static_cast<std::size_t>(std::max<Offset>(256, kPairsPerBatch / entries_.cols));
  bool any = false;
  for (std::size_t first = 0; first < trapped.size() && !any; first += batch) {
    const auto rows = trapped.subspan(first, std::min(batch, trapped.size() - first));
    for_each_block(threads_, static_cast<Index>(rows.size()), kRowsPerTask, [&](Index begin, Index end) {
      for (Index k = begin; k < end; ++k) {
        const Index i = rows[at(k)];
        auto& pairs = found[at(i)];
        if (few_outside) {
          for (const Index j : outside)
            if (const Cost c = entries_.at(i, j); c != kInfiniteCost) pairs.push_back({j, c});
        } else {
          entries_.for_each(i, 0, 1, [&](Index j, Cost c) {
            if (reached[at(j)] == 0) pairs.push_back({j, c});
          });
        }
        keep_best(pairs, count, i, v);
      }
    });
    for (const Index i : rows) any = any || !found[at(i)].empty();
  }
  return any;
}

template class PairFinder<DenseEntries<std::int32_t>>;
template class PairFinder<DenseEntries<std::int64_t>>;
template class PairFinder<DenseEntries<float>>;
template class PairFinder<DenseEntries<double>>;
template class PairFinder<GeometricEntries>;

}  // namespace motes::matching::detail
