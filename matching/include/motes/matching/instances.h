#pragma once
/// Generated assignment problems, described by a text. The same text gives the same bits on every machine.

#include <cstdint>
#include <string>
#include <string_view>

#include <motes/base/execution.h>
#include <motes/matching/problem.h>

namespace motes::matching {

/// Generates the assignment problem that a text beginning with "gen:" describes:
///
///   gen:uniform?rows=5000&cols=5000&high=50000&seed=1
///     a full matrix of integers, uniform in 0..high; type=int32|int64|float|double: its number type (int32);
///     density=D: each pair is allowed with probability D (1)
///   gen:points?n=1000000&sigma=0.3&gate=1.2&seed=1
///     n points uniform in a cube (dims=2: a square) of unit density; the second set is the first, displaced
///     by a Gaussian of standard deviation sigma along each axis, and shuffled. Costs are distances
///     (metric=squared: their squares); pairs beyond `gate` (default: none) are forbidden. Matrix-free by
///     default; dense=1: a full matrix (type=double or float); sparse=1: a CSR graph of the pairs within the
///     gate, which is then required
///
/// Structured square matrices, which many solvers find hard; all take n, seed=S (1) and
/// type=int32|float|double (int32 only where costs are whole numbers):
///
///   gen:machol-wien?n=1000     i * j, counted from 1; mod=P: its remainder modulo P
///   gen:low-rank?n=5000&rank=8     a matrix of rank `rank`, its factors uniform integers in 0..high (1000)
///   gen:sums?n=5000            a row term plus a column term, each in 0..high (10^6), plus 0..noise (1000)
///   gen:clusters?n=10000       distances between two sets of points scattered around the same clusters=K
///     (20) centres in the unit square with standard deviation sigma=S (.01); squared=1: squared distances
///   gen:line?n=5000            the same for points on a line
///   gen:lattice?n=4096         squared distances between a square grid and its copy shifted by shift=S (3)
///   gen:valued?n=5000          values=K (2) different costs, the least with probability share=P (.5)
///   gen:banded?n=5000          uniform costs, higher outside a band (blocks=1: outside blocks) of width=W
///     (n / 50); a share forbidden=F (.01) of the pairs outside is forbidden
///   gen:heavy?n=5000           log-normal costs (law=power: a power law) of spread=S (2)
///   gen:sorted?n=5000          costs of every row increase (order=falling: decrease) from column to column
///   gen:progression?n=1000     q^(i + j), from 1 to range=R (10^9)
///
/// `rows` alone makes a square matrix. unmatched=C lets vertices of both sides stay free at a cost of C
/// each, in the unit of the costs. Without it every vertex of the smaller side must be matched, and free
/// vertices of the larger side cost nothing. Float, double and geometric costs are rounded to the grid of
/// fraction_bits_for, which is part of the problem. Throws UsageError naming what is wrong with the text.
Costs generate_assignment(const Execution& execution, std::string_view text);

/// Whether the text describes a generated problem, that is, begins with "gen:".
bool is_generated(std::string_view text);

/// Sets the unmatched cost of every vertex, in grid steps.
void set_unmatched(Costs& costs, Cost unmatched);
/// Every vertex of the smaller side must be matched; free vertices of the larger side cost 0.
void require_smaller_side(Costs& costs);

}  // namespace motes::matching
