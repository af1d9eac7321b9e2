#pragma once
/// The policy of core_solver.cuh for matrices: which pairs are cheap, and which of the others violate.
///
/// The matrix is streamed: a block reads eight rows at a time, at least sixteen bytes per thread and row,
/// so that data of the columns is read once for eight rows. There are three passes; the first two are made
/// only if rows must be matched and no prices are given:
///   1. rows: the least cost of each (except for int32, where the pass that checks the costs finds it).
///   2. columns: for each column, its cheapest row within each of kBands bands of rows, after subtracting
///   every
///      row's least cost. So a column that no row would select gets neighbours. If the problem is perfect,
///      the least of these costs is its price: these are the two reductions of the Hungarian method.
///   3. rows: all pairs up to a limit, which a sample of the row has set to give about `wanted` pairs.
///
/// A sample is a sixth of a row, in pieces of 64 bytes. Rows whose sample was misleading (too few pairs,
/// too many, thousands of equal ones) are selected again exactly, with a block for each.
///
/// The reference price is part of a pair's key, key_ij = c_ij - price_j; limits and bounds are keys. If few
/// rows select many columns, these prices are not good enough: square matrices then get annealed prices
/// (annealing.cuh), and the rows select again.

#include <functional>

#include "matching/assignment/core/annealing.cuh"
#include "matching/assignment/core/dense_core.cuh"
#include "matching/assignment/core/dense_pricing.cuh"
#include "matching/assignment/core/dense_selection.cuh"

namespace motes::matching::device::hungarian {

/// The alternating-tree solver on a whole matrix (papers/hungarian/alternating_tree.cu).
template <class Entries>
detail::Solution solve_by_forests(gpu::Arena& arena, const CanonicalSides& sides,
                                  const DeviceCanonical<Entries>& p, const Start& start);

}  // namespace motes::matching::device::hungarian

namespace motes::matching::device::core {

/// The policy; see core_solver.cuh.
template <class T>
class DensePolicy {
 public:
  using Problem = DeviceCanonical<DenseEntries<T>>;

  /// `combine`: makes columns' least costs those of all ranks, where the rows are distributed over `ranks`.
  /// Prices are not annealed then, and each rank gives a column neighbours from fewer bands of rows.
  explicit DensePolicy(int wanted, int ranks = 1, std::function<void(Cost*)> combine = {})
      : wanted_(std::clamp(wanted, 1, kMostWanted)),
        bands_(std::max(1, kBands / ranks)),
        combine_(std::move(combine)) {}

  Core select(gpu::Arena& arena, const Problem& p, const search::State& s, Cost* price, bool unpriced) {
    const DenseEntries<T>& e = p.entries;
    const auto rows = static_cast<std::size_t>(p.rows), cols = static_cast<std::size_t>(p.cols);
    const bool vectors = loads_four(e);
    Cost* limit = arena.take<Cost>(rows);
    Extras extras{bands_, nullptr, s.col_to_row, arena.take_filled<int>(rows, 0), nullptr};
    if (p.row_exit == nullptr && unpriced) {
      const Cost* least = p.row_least;
      if (least == nullptr) {
        survey_rows(arena, e, limit, nullptr);
        least = limit;
      }
      extras.band_row = reduce_columns(arena, p, vectors, least, p.perfect ? price : nullptr);
    }
    Core core;
    core.bound = arena.take<Cost>(rows);
    const int stride = std::min<int>(3 * wanted_, kMostKept);
    const PairSlots slots{stride,
                          wanted_,
                          arena.take<int>(rows),
                          arena.take<Index>(rows * static_cast<std::size_t>(stride)),
                          arena.take<Cost>(rows * static_cast<std::size_t>(stride)),
                          core.bound};
    choose(arena, p, vectors, price, limit, slots);
    if (p.perfect && unpriced && !combine_ && are_many_poor(arena, p, slots) && anneal(arena, p, price))
      choose(arena, p, vectors, price, limit, slots);
    extras.place = arena.take<int>(static_cast<std::size_t>(bands_ + 1) * cols);
    const dim3 by_column(static_cast<unsigned>(std::min<std::size_t>((cols + 255) / 256, 4096)),
                         static_cast<unsigned>(bands_) + 1);
    place_extras_kernel<<<by_column, 256, 0, arena.stream()>>>(e, price, slots, extras);
    MOTES_CUDA_LAUNCHED();

    Offset* offsets = arena.take<Offset>(rows + 1);
    const int blocks = 8 * arena.multiprocessors();
    first_lengths_kernel<<<blocks, 256, 0, arena.stream()>>>(slots, extras.count, p.rows, offsets);
    MOTES_CUDA_LAUNCHED();
    scan_in_place(arena, offsets, p.rows + 1);
    core.pairs = arena.download(offsets + rows, 1)[0];
    Index* col = arena.take<Index>(static_cast<std::size_t>(core.pairs));
    Cost* cost = arena.take<Cost>(static_cast<std::size_t>(core.pairs));
    gather_slots_kernel<<<blocks, 256, 0, arena.stream()>>>(slots, p.rows, offsets, col, cost);
    MOTES_CUDA_LAUNCHED();
    scatter_extras_kernel<<<by_column, 256, 0, arena.stream()>>>(e, slots, extras, offsets, col, cost);
    MOTES_CUDA_LAUNCHED();
    core.entries = {p.rows, p.cols, offsets, col, cost};
    return core;
  }

  Additions price(gpu::Arena& arena, const Problem& p, const search::State& s, const Cost* price,
                  const Core& core) {
    const auto rows = static_cast<std::size_t>(p.rows);
    const int blocks = 8 * arena.multiprocessors();
    if (list_.row == nullptr) {
      list_ = {arena.take<Index>(rows), nullptr};
      counts_ = arena.take<Counts>(1);
      list_.count = &counts_->unproven;
    }
    MOTES_CUDA(cudaMemsetAsync(counts_, 0x80, sizeof(Cost), arena.stream()));  // far below every price
    MOTES_CUDA(cudaMemsetAsync(&counts_->unproven, 0, sizeof(Counts) - sizeof(Cost), arena.stream()));
    highest_kernel<<<blocks, 256, 0, arena.stream()>>>(s.v, price, p.cols, &counts_->highest);
    MOTES_CUDA_LAUNCHED();
    unproven_rows_kernel<<<blocks, 256, 0, arena.stream()>>>(core.bound, s.u, p.rows, &counts_->highest,
                                                             list_);
    MOTES_CUDA_LAUNCHED();
    const int unproven = arena.download(counts_, 1)[0].unproven;
    unproven_ += unproven;
    if (unproven == 0) return {};
    reserve(arena, unproven);
    const bool vectors = loads_four(p.entries);
    if (unproven > 8 * arena.multiprocessors())
      scan_rows_kernel<kRowsAtOnce>
          <<<(unproven + kRowsAtOnce - 1) / kRowsAtOnce, kDenseBlock, 0, arena.stream()>>>(
              p.entries, vectors, s.u, s.v, list_.row, unproven, found_);
    else
      scan_rows_kernel<1><<<unproven, kDenseBlock, 0, arena.stream()>>>(p.entries, vectors, s.u, s.v,
                                                                        list_.row, unproven, found_);
    MOTES_CUDA_LAUNCHED();
    const Counts counts = arena.download(counts_, 1)[0];
    return {
        static_cast<Offset>(counts.pairs), counts.found, found_.row, found_.length, found_.col, found_.cost};
  }

  /// From prices, nullptr: from scratch.
  detail::Solution solve_whole(gpu::Arena& arena, const CanonicalSides& sides, const Problem& p,
                               const Cost* price) {
    if (price == nullptr) return hungarian::solve_by_forests(arena, sides, p, {});
    const std::vector<Cost> v = arena.download(price, static_cast<std::size_t>(p.cols));
    return hungarian::solve_by_forests(arena, sides, p, {{}, {}, v});
  }

  bool can_anneal(const Problem& p) const { return !combine_ && p.cols <= kMostAnnealed; }
  /// Puts annealed prices into `price`; false: they are there already, or the matrix is too wide.
  bool anneal(gpu::Arena& arena, const Problem& p, Cost* price) {
    if (annealed_ || !can_anneal(p)) return false;
    annealed_prices(arena, p.entries, price);
    return annealed_ = true;
  }
  bool annealed() const { return annealed_; }

  /// Rows that pricing had to scan, over all rounds.
  std::int64_t scanned() const { return unproven_; }

 private:
  struct Counts {
    Cost highest;
    int unproven, found;
    unsigned long long pairs;
  };

  /// Each row's pairs.
  void choose(gpu::Arena& arena, const Problem& p, bool vectors, const Cost* price, Cost* limit,
              const PairSlots& slots) {
    const DenseEntries<T>& e = p.entries;
    RowList again{nullptr, nullptr};
    if (p.cols >= kSampledFrom) {
      const unsigned bands = static_cast<unsigned>((p.rows + kRowsAtOnce - 1) / kRowsAtOnce);
      sample_rows_kernel<<<bands, kDenseBlock, 0, arena.stream()>>>(e, vectors, price,
                                                                    std::max(2, wanted_ / kSampled), limit);
      MOTES_CUDA_LAUNCHED();
      again = {arena.take<Index>(static_cast<std::size_t>(p.rows)), arena.take_filled<int>(1, 0)};
      select_rows_kernel<<<bands, kDenseBlock, 0, arena.stream()>>>(e, vectors, price, limit, slots, again);
      MOTES_CUDA_LAUNCHED();
    }
    exact_rows_kernel<<<std::min<int>(p.rows, 8 * arena.multiprocessors()), kDenseBlock, 0, arena.stream()>>>(
        e, vectors, price, slots, again);
    MOTES_CUDA_LAUNCHED();
  }

  /// Whether many of the columns are chosen by few rows.
  bool are_many_poor(gpu::Arena& arena, const Problem& p, const PairSlots& slots) {
    const auto mark = arena.mark();
    int* chosen = arena.take_filled<int>(static_cast<std::size_t>(p.cols) + 1, 0);
    const int blocks = 8 * arena.multiprocessors();
    count_choices_kernel<<<blocks, 256, 0, arena.stream()>>>(slots, p.rows, chosen);
    MOTES_CUDA_LAUNCHED();
    count_poor_kernel<<<blocks, 256, 0, arena.stream()>>>(chosen, p.cols, chosen + p.cols);
    MOTES_CUDA_LAUNCHED();
    const int poor = arena.download(chosen + p.cols, 1)[0];
    arena.release(mark);
    return kMostPoor * Offset{poor} > p.cols;
  }

  /// Each column's cheapest rows, [kBands * cols]; its price too, unless that is nullptr.
  Index* reduce_columns(gpu::Arena& arena, const Problem& p, bool vectors, const Cost* level, Cost* price) {
    const auto cols = static_cast<std::size_t>(p.cols);
    // One wave of blocks: in longer splits a column's least cost is replaced less often.
    const int wide = (p.cols + 4 * kColumnBlock - 1) / (4 * kColumnBlock);
    const auto kernel = split_columns_kernel<T>;
    int resident = 1;
    MOTES_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, kColumnBlock, 0));
    const int splits = std::clamp(resident * arena.multiprocessors() / wide, bands_, 512);
    const SplitMinima minima{arena.take<Cost>(static_cast<std::size_t>(splits) * cols),
                             arena.take<Index>(static_cast<std::size_t>(splits) * cols), splits};
    kernel<<<dim3(static_cast<unsigned>(wide), static_cast<unsigned>(splits)), kColumnBlock, 0,
             arena.stream()>>>(p.entries, vectors, level, minima);
    MOTES_CUDA_LAUNCHED();
    Index* band_row = arena.take<Index>(static_cast<std::size_t>(bands_) * cols);
    join_splits_kernel<<<static_cast<unsigned>((cols + 255) / 256), 256, 0, arena.stream()>>>(
        minima, bands_, p.cols, band_row, price, combine_ ? kInfiniteCost : 0);
    MOTES_CUDA_LAUNCHED();
    if (combine_ && price != nullptr) {
      combine_(price);
      no_pair_kernel<<<static_cast<unsigned>((cols + 255) / 256), 256, 0, arena.stream()>>>(price, p.cols);
      MOTES_CUDA_LAUNCHED();
    }
    return band_row;
  }

  void reserve(gpu::Arena& arena, int rows) {
    if (rows > room_) {
      room_ = std::max(rows, 2 * room_);
      const auto count = static_cast<std::size_t>(room_);
      found_ = {arena.take<Index>(count),
                arena.take<int>(count),
                arena.take<Index>(count * kAddedPerRow),
                arena.take<Cost>(count * kAddedPerRow),
                &counts_->found,
                &counts_->pairs};
    }
  }

  int wanted_, bands_;
  std::function<void(Cost*)> combine_;
  RowList list_{nullptr, nullptr};
  Counts* counts_ = nullptr;
  Found found_{};
  int room_ = 0;
  bool annealed_ = false;
  std::int64_t unproven_ = 0;
};

template <class T>
detail::Solution solve_dense(gpu::Arena& arena, const CanonicalSides& sides,
                             const DeviceCanonical<DenseEntries<T>>& p, const Start& start, int wanted) {
  DensePolicy<T> policy(wanted);
  return solve(arena, sides, p, start, policy);
}

}  // namespace motes::matching::device::core
