#pragma once
/// Generated matching problems, named by a text: the same text gives the same bits on every machine.

#include <cstdint>
#include <string>
#include <string_view>

#include <motes/base/execution.h>
#include <motes/matching/problem.h>

namespace motes::matching {

/// Makes the assignment problem that a text beginning with "gen:" names:
///
///   gen:uniform?rows=5000&cols=5000&high=50000&seed=1   a full matrix of integers, uniform in 0..high
///     type=int32|int64|float|double   its number type (int32); density=D: each pair is allowed with
///     probability D (1)
///   gen:points?n=1000000&sigma=0.3&gate=1.2&seed=1      n points uniform in a cube (dims=2: a square) with
///     unit mean spacing; the second set is the first, displaced by a Gaussian of standard deviation sigma
///     along each axis, and shuffled. Costs are distances (metric=squared: their squares), not beyond gate
///     (none). dense=1: a full matrix (type=double, or float); sparse=1: a CSR graph of the pairs within the
///     gate, which must then be given; else matrix-free.
///
/// Square matrices with structure, which many solvers find hard; all take n, seed=S (1) and type=int32 (where
/// costs are whole numbers) |float|double:
///
///   gen:machol-wien?n=1000     i * j, counted from 1; mod=P: its remainder
///   gen:low-rank?n=5000&rank=8     sums of `rank` products of a row's and a column's number, 0..high (1000)
///   gen:sums?n=5000            a row's number plus a column's, both 0..high (10^6), plus 0..noise (1000)
///   gen:clusters?n=10000       distances between two sets of points around the same clusters=K (20) centres
///     of the unit square, sigma=S (.01) apart from them; squared=1: squared
///   gen:line?n=5000            the same for points of a line
///   gen:lattice?n=4096         squared distances between a square grid and itself, moved by shift=S (3)
///   gen:valued?n=5000          values=K (2) different costs, the least with probability share=P (.5)
///   gen:banded?n=5000          uniform, and dearer outside a band, or with blocks=1 outside blocks, of
///     width=W (n / 50); a share forbidden=F (.01) of those outside is forbidden
///   gen:heavy?n=5000           log-normal costs (law=power: a power law) of spread=S (2)
///   gen:sorted?n=5000          every row rises (order=falling: falls) from column to column
///   gen:progression?n=1000     q^(i + j), from 1 to range=R (10^9)
///
/// `rows` alone makes a square; unmatched=C lets vertices of both sides stay free for C each, in the costs'
/// own unit. Without it every vertex of the smaller side must be matched, and free ones of the larger side
/// cost nothing. Float, double and geometric costs lie on the grid of fraction_bits_for, which is part of the
/// problem. Throws UsageError naming what is wrong with the text.
Costs generate_assignment(const Execution& execution, std::string_view text);

/// The text names a generated problem.
bool is_generated(std::string_view text);

/// Sets the unmatched costs of both sides as `motes match` does: `unmatched` given (in grid steps):
/// that for every vertex; else the smaller side must be matched, and the larger side's free vertices cost 0.
void set_unmatched(Costs& costs, Cost unmatched);
void require_smaller_side(Costs& costs);

}  // namespace motes::matching
