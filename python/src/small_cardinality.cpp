#include "python/src/small_cardinality.h"

namespace motes::python {
namespace {

template <class OffsetType>
bool is_graph(Index rows, Index cols, std::span<const OffsetType> offsets, std::span<const Index> col_index) {
  if (offsets.size() != at(rows) + 1 || offsets.front() != 0 ||
      static_cast<std::size_t>(offsets.back()) != col_index.size())
    return false;
  bool sound = true;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) sound &= offsets[i] <= offsets[i + 1];
  for (const Index j : col_index) sound &= static_cast<std::uint32_t>(j) < static_cast<std::uint32_t>(cols);
  return sound;
}

}  // namespace

template <class OffsetType>
bool SmallCardinality::solve(Index rows, Index cols, std::span<const OffsetType> offsets,
                             std::span<const Index> col_index) {
  if (!is_graph(rows, cols, offsets, col_index)) return false;
  row_to_col.assign(at(rows), -1), col_to_row.assign(at(cols), -1);
  free_.clear();
  for (Index i = 0; i < rows; ++i) {
    for (OffsetType e = offsets[at(i)]; e < offsets[at(i) + 1]; ++e)
      if (const Index j = col_index[at(e)]; col_to_row[at(j)] == -1) {
        row_to_col[at(i)] = j, col_to_row[at(j)] = i;
        break;
      }
    if (row_to_col[at(i)] == -1) free_.push_back(i);
  }
  if (free_.empty()) return true;
  ahead_.assign(offsets.begin(), offsets.end() - 1);
  next_.resize(at(rows));
  seen_.assign(at(cols), 0);
  phase_ = 0;
  std::size_t before = free_.size() + 1;
  while (free_.size() < before) {
    before = free_.size();
    ++phase_;
    std::size_t left = 0;
    for (const Index i : free_)
      if (!search(i, offsets.data(), col_index.data())) free_[left++] = i;
    free_.resize(left);
  }
  return true;
}

/// Searches for an augmenting path and applies it; returns whether there was one.
template <class OffsetType>
bool SmallCardinality::search(Index source, const OffsetType* offsets, const Index* col) {
  stack_.assign(1, source);
  next_[at(source)] = offsets[source];
  while (!stack_.empty()) {
    const Index i = stack_.back();
    Index end = -1;
    // A matched column stays matched, so the search for a free column visits each entry once.
    for (std::int64_t& e = ahead_[at(i)]; e < offsets[i + 1] && end == -1; ++e)
      if (col_to_row[at(col[e])] == -1) end = col[e];
    if (end != -1) {
      for (; !stack_.empty(); stack_.pop_back()) {
        const Index row = stack_.back(), before = row_to_col[at(row)];
        row_to_col[at(row)] = end, col_to_row[at(end)] = row;
        end = before;
      }
      return true;
    }
    std::int64_t& e = next_[at(i)];
    while (e < offsets[i + 1] && seen_[at(col[e])] == phase_) ++e;
    if (e == offsets[i + 1]) {
      stack_.pop_back();
      continue;
    }
    const Index j = col[e];
    seen_[at(j)] = phase_;
    const Index owner = col_to_row[at(j)];
    next_[at(owner)] = offsets[owner];
    stack_.push_back(owner);
  }
  return false;
}

template bool SmallCardinality::solve(Index, Index, std::span<const std::int32_t>, std::span<const Index>);
template bool SmallCardinality::solve(Index, Index, std::span<const std::int64_t>, std::span<const Index>);

}  // namespace motes::python
