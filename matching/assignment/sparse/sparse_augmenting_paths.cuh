#pragma once
/// The GPU engine of `jv`: solves sparse problems in device memory, from any starting state.

#include "matching/assignment/canonical/device_state.cuh"
#include "matching/assignment/sparse/search_settings.h"

namespace motes::matching::device {

/// What a row that must be matched pays to stay free where the solver needs every row to have a way out:
/// above what any optimum pays (make_sides keeps vertices * (2 * largest + 1) below it).
inline constexpr Cost kLargestExit = Cost{1} << 60;

/// Solves a sparse problem on the arena's device and stream, from the state given to the optimum and its
/// duals, which it leaves in `s` (u too). Columns of a row may come in any order; offsets are 64-bit.
///
/// Not perfect: every row has a finite exit (kLargestExit where it must be matched: a row still free with
/// u_i = kLargestExit at the end means infeasible). On entry s.v holds any prices (above their start they are
/// lowered to it), s.row_to_col and s.col_to_row any matching along pairs that exist, s.u nothing; what does
/// not fit is repaired first: pairs that are not tight are dropped, prices of free columns go back to their
/// start. Cold: no pairs, v = start.
///
/// Perfect (rows == cols; exits are not looked at): prices are free to be anything, and those of free columns
/// are not reset, so that a warm start loses only the pairs that are not tight. Faster on problems without
/// exits. Returns false when the pairs given allow no perfect matching; `s` then still holds feasible duals
/// and tight pairs.
///
/// *slow: the settings' budget has run out; `s` then holds feasible duals and tight pairs, and rows may be
/// free that need not be.
///
/// The objective is deterministic. The matching and the duals may depend on timing where optima tie.
/// Stats gain initial_assignments, assignments, phases, rounds, augmentations and seconds.
bool sparse_augmenting_paths(gpu::Arena& arena, const DeviceCanonical<SparseEntries>& p,
                             const search::State& s, Stats& stats, const SearchSettings& settings = {},
                             bool* slow = nullptr);

/// Prices near those of an optimum of a perfect problem with `edges` pairs, by the auction that
/// sparse_augmenting_paths begins with: v [cols] on the arena's device is where it starts and ends. Speed
/// only, as any prices are a start.
void auction_prices(gpu::Arena& arena, const DeviceCanonical<SparseEntries>& p, Offset edges, Cost* v,
                    const SearchSettings& settings = {});

}  // namespace motes::matching::device
