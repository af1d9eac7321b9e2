#pragma once
/// A rank's rows or columns of the costs on its device, and the reduction and first assignment on them
/// (distributed_start.h's rules).

#include <vector>

#include <motes/base/gpu/device_communicator.cuh>

#include "matching/papers/hungarian/initial_reduction.cuh"

namespace motes::matching::device::hungarian {

/// Entries brought over, with rows that can be read four entries at a time.
template <class T>
DenseEntries<T> bring(gpu::Arena& arena, DenseEntries<T> e) {
  if (e.rows == 0 || e.cols == 0) return e;
  if (e.col_stride != 1) {  // exchanged: over as it lies, and turned there
    const DenseEntries<T> lying = to_device(arena, detail::exchanged(e), Space::host, 0);
    return transposed(arena, lying);
  }
  const Offset stride = (static_cast<Offset>(e.cols) + 3) / 4 * 4;
  T* data = arena.take<T>(at(e.rows) * at(stride));
  MOTES_CUDA(cudaMemcpy2DAsync(data, at(stride) * sizeof(T), e.data,
                               at(std::max<Offset>(e.row_stride, e.cols)) * sizeof(T), at(e.cols) * sizeof(T),
                               at(e.rows), cudaMemcpyHostToDevice, arena.stream()));
  e.data = data;
  e.row_stride = stride;
  return e;
}
inline GeometricEntries bring(gpu::Arena& arena, const GeometricEntries& e) {
  return to_device(arena, e, Space::host, 0);
}

/// found[k] falls to the first free zero of row asking[k] among these columns, from the row's own place on:
/// steps from there, then the column, in one number. A warp a row.
template <class Entries>
__global__ void first_zero_kernel(Entries entries, Index first_row, Index first_col, Index all_cols, State s,
                                  const Index* asking, int count, Cost* found) {
  const int lane = threadIdx.x % kWarp;
  for (int k = thread_index() / kWarp; k < count; k += thread_total() / kWarp) {
    const Index row = asking[k], i = row - first_row, length = entries.cols;
    if (i < 0 || i >= entries.rows) continue;
    const auto place = static_cast<Index>(detail::scramble(row) % static_cast<unsigned>(all_cols));
    const Index split = min(max(place - first_col, 0), length);  // columns from here on come first
    const Cost u = s.u[i];
    bool done = false;
    for (Index begin = 0; begin < length && !done; begin += kGlances * kWarp) {
      Cost cost[kGlances];
      Index col[kGlances];
#pragma unroll
      for (int d = 0; d < kGlances; ++d) {
        const long long step = static_cast<long long>(begin) + d * kWarp + lane;
        col[d] = -1;
        if (step >= length) continue;
        col[d] = static_cast<Index>(step < length - split ? split + step : step - (length - split));
        cost[d] = entries.at(i, col[d]);
      }
#pragma unroll
      for (int d = 0; d < kGlances; ++d) {
        const bool zero = col[d] != -1 && cost[d] != kInfiniteCost && cost[d] - u == s.v[col[d]] &&
                          s.col_to_row[col[d]] == -1;
        const unsigned hit = __ballot_sync(kAll, zero);
        if (hit == 0 || done) continue;
        done = true;
        if (lane != __ffs(static_cast<int>(hit)) - 1) continue;
        const long long here = static_cast<long long>(first_col) + col[d];
        found[k] = (here >= place ? here - place : here - place + all_cols) << 32 | here;
      }
    }
  }
}

/// Duals of rows and columns, and the columns' partners, as far as this rank holds them.
template <class Entries>
class DistributedMatrix {
 public:
  /// `host`: rows [first, ...) of the problem (by_rows) or its columns.
  DistributedMatrix(gpu::Arena& arena, gpu::DeviceCommunicator& devices, Communicator& hosts,
                    const CanonicalSides& sides, const Entries& host, bool by_rows, Index first)
      : arena_(arena),
        devices_(devices),
        hosts_(hosts),
        sides_(sides),
        entries_(bring(arena, host)),
        by_rows_(by_rows),
        first_(first) {
    state_ = {arena.take<Cost>(at(entries_.rows)), arena.take<Cost>(at(entries_.cols)),
              arena.take_filled<Index>(at(entries_.rows), 0xff),
              arena.take_filled<Index>(at(entries_.cols), 0xff)};
  }

  const Entries& entries() const { return entries_; }
  const State& state() const { return state_; }
  Index first() const { return first_; }
  Index first_row() const { return by_rows_ ? first_ : 0; }
  Index first_col() const { return by_rows_ ? 0 : first_; }
  gpu::Arena& arena() const { return arena_; }
  gpu::DeviceCommunicator& devices() const { return devices_; }
  int blocks() const { return 8 * arena_.multiprocessors(); }

  /// Host duals and partners to the device.
  void send_u(const std::vector<Cost>& u) { send(u, first_row(), entries_.rows, state_.u); }
  void send_v(const std::vector<Cost>& v) { send(v, first_col(), entries_.cols, state_.v); }
  void send_partners(const std::vector<Index>& col_to_row) {
    send(col_to_row, first_col(), entries_.cols, state_.col_to_row);
  }

  void row_minima(detail::StartState& state) {
    send_v(state.v);
    if (entries_.rows > 0) {
      const gpu::Arena::Mark mark = arena_.mark();
      int* flags = arena_.take<int>(2);
      reduce_rows_kernel<<<blocks(), kThreads, 0, arena_.stream()>>>(form(), state_, flags, flags + 1);
      MOTES_CUDA_LAUNCHED();
      arena_.release(mark);
    }
    if (!by_rows_) devices_.all_reduce_min(state_.u, at(entries_.rows), arena_.stream());
    const std::vector<Cost> mine = arena_.download(state_.u, at(entries_.rows));
    if (by_rows_)
      hosts_.all_gather<Cost>(mine, state.u);
    else
      state.u = mine;
  }

  void col_minima(detail::StartState& state) {
    send_u(state.u);
    if (entries_.cols > 0) {
      fill_costs_kernel<<<blocks(), kThreads, 0, arena_.stream()>>>(state_.v, entries_.cols, kInfiniteCost);
      MOTES_CUDA_LAUNCHED();
      if (entries_.rows > 0) reduce_columns(arena_, form(), state_);
    }
    if (by_rows_) devices_.all_reduce_min(state_.v, at(entries_.cols), arena_.stream());
    const std::vector<Cost> mine = arena_.download(state_.v, at(entries_.cols));
    if (by_rows_)
      state.v = mine;
    else
      hosts_.all_gather<Cost>(mine, state.v);
  }

  void ask(const detail::StartState& state, const std::vector<Index>& asking, std::vector<Index>& wish) {
    const gpu::Arena::Mark mark = arena_.mark();
    send_u(state.u);
    send_v(state.v);
    send_partners(state.col_to_row);
    const Index* rows = arena_.upload(std::span<const Index>(asking));
    Cost* found = arena_.take<Cost>(asking.size());
    fill_costs_kernel<<<blocks(), kThreads, 0, arena_.stream()>>>(found, static_cast<Index>(asking.size()),
                                                                  kInfiniteCost);
    MOTES_CUDA_LAUNCHED();
    first_zero_kernel<<<blocks(), kThreads, 0, arena_.stream()>>>(entries_, first_row(), first_col(),
                                                                  sides_.cols, state_, rows,
                                                                  static_cast<int>(asking.size()), found);
    MOTES_CUDA_LAUNCHED();
    devices_.all_reduce_min(found, asking.size(), arena_.stream());
    const std::vector<Cost> all = arena_.download(found, asking.size());
    for (std::size_t k = 0; k < wish.size(); ++k)
      wish[k] = all[k] == kInfiniteCost ? -1 : static_cast<Index>(all[k] & 0xffffffff);
    arena_.release(mark);
  }

 private:
  template <class T>
  void send(const std::vector<T>& from, Index first, Index count, T* to) {
    if (count > 0)
      MOTES_CUDA(cudaMemcpyAsync(to, from.data() + first, at(count) * sizeof(T), cudaMemcpyHostToDevice,
                                 arena_.stream()));
  }
  /// The part as a problem of its own, without exits.
  DeviceCanonical<Entries> form() const {
    return {entries_.rows, entries_.cols, entries_, nullptr, nullptr, true, nullptr};
  }

  gpu::Arena& arena_;
  gpu::DeviceCommunicator& devices_;
  Communicator& hosts_;
  const CanonicalSides& sides_;
  Entries entries_;
  bool by_rows_;
  Index first_;
  State state_{};
};

}  // namespace motes::matching::device::hungarian
