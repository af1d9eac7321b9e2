#!/usr/bin/env python3
"""Proves or rejects an optimal assignment without any code of motes, with the Python standard library only.

    motes match INSTANCE.mtx --certificate ANSWER [--unmatched COST]
    scripts/check_certificate.py INSTANCE.mtx ANSWER [--unmatched COST]

INSTANCE is a MatrixMarket file (.mtx, .mtx.gz): an array is a matrix of costs, a coordinate file a sparse one
(absent: forbidden). ANSWER holds the pairs and the duals, whole numbers of steps of 2^-fraction_bits.

What is checked, in whole numbers of any length (c: cost rounded to a step, ties to even; r, q: cost of a free row,
column; infinite where the vertex must be matched):
  the pairs are a matching of allowed edges, and every vertex that must be matched is;
  u_i + v_j <= c_ij for every allowed edge, u_i <= r_i, v_j <= q_j;
  the cost of the matching equals sum u + sum v.
The last line is then a proof: each matching costs at least sum u + sum v (weak duality: LP textbooks, for instance
Schrijver, Combinatorial Optimization, 17.2), so none costs less. With rounded costs the matching is within half a step
an edge of the optimum of the costs as written; that distance is printed.

Without --unmatched all of the smaller side must be matched, and free vertices of the larger cost nothing. Exit code:
0 proven, 1 refused, 2 unreadable. Takes O(edges) time and memory.
"""
import argparse
import gzip
import sys
from fractions import Fraction


class Refused(Exception):
    pass


def refuse_unless(condition, why):
    if not condition:
        raise Refused(why)


def to_steps(text, bits):
    """The cost as an integer number of steps; None for a forbidden pair (infinity)."""
    if text.lstrip("+-").lower() in ("inf", "infinity"):
        refuse_unless(not text.startswith("-"), f"a cost of {text}")
        return None
    value = Fraction(text) * Fraction(2) ** bits if "." in text or "e" in text.lower() else int(text) * Fraction(2) ** bits
    return round(value)  # ties to even


def lines_of(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="ascii")
    with opened as file:
        banner = file.readline().lower().split()
        refuse_unless(banner[:2] == ["%%matrixmarket", "matrix"] and len(banner) >= 5, "no MatrixMarket matrix")
        yield banner[2:5]
        for line in file:
            words = line.split()
            if words and not words[0].startswith("%"):
                yield words


def read_instance(path, bits):
    """(rows, cols, {(i, j): steps})"""
    lines = lines_of(path)
    form, field, symmetry = next(lines)
    refuse_unless(form in ("array", "coordinate") and field in ("integer", "real", "double", "pattern"), "unknown format")
    refuse_unless(symmetry in ("general", "symmetric"), "unknown symmetry")
    size = [int(word) for word in next(lines)]
    rows, cols = size[:2]
    cost = {}

    def add(i, j, text):
        refuse_unless(0 <= i < rows and 0 <= j < cols, f"entry ({i}, {j}) lies outside the matrix")
        refuse_unless((i, j) not in cost, f"entry ({i}, {j}) is given twice")
        steps = to_steps(text, bits)
        if steps is not None:
            cost[i, j] = steps
            if symmetry == "symmetric" and i != j:
                cost[j, i] = steps

    if form == "array":
        places = ((i, j) for j in range(cols) for i in range(j if symmetry == "symmetric" else 0, rows))
        for (i, j), words in zip(places, lines, strict=True):
            add(i, j, words[0])
    else:
        entries = 0
        for words in lines:
            add(int(words[0]) - 1, int(words[1]) - 1, "1" if field == "pattern" else words[2])
            entries += 1
        refuse_unless(entries == size[2], f"{entries} entries of {size[2]}")
    return rows, cols, cost


def read_answer(path):
    """(fraction_bits, row_to_col, u, col_to_row, v)"""
    head, rows, cols = {}, [], []
    with open(path, encoding="ascii") as file:
        refuse_unless(file.readline().split() == ["motes-certificate", "1"], "no certificate of version 1")
        for line in file:
            words = line.split()
            if words[0] in ("row", "col"):
                (rows if words[0] == "row" else cols).append((int(words[1]), int(words[2])))
            else:
                head[words[0]] = int(words[1])
    refuse_unless(len(rows) == head["rows"] and len(cols) == head["cols"], "the answer is cut off")
    return (head["fraction_bits"], [p for p, _ in rows], [d for _, d in rows], [p for p, _ in cols], [d for _, d in cols])


def primal_cost(row_to_col, col_to_row, cost, free_row, free_col):
    """The cost of the matching. Raises Refused if it is not a valid matching."""
    total = 0
    for i, j in enumerate(row_to_col):
        if j == -1:
            refuse_unless(free_row is not None, f"row {i} must be matched, and is free")
            total += free_row
            continue
        refuse_unless(0 <= j < len(col_to_row) and col_to_row[j] == i, f"row {i} and column {j} disagree")
        refuse_unless((i, j) in cost, f"the pair ({i}, {j}) is forbidden")
        total += cost[i, j]
    for j, i in enumerate(col_to_row):
        if i == -1:
            refuse_unless(free_col is not None, f"column {j} must be matched, and is free")
            total += free_col
        else:
            refuse_unless(0 <= i < len(row_to_col) and row_to_col[i] == j, f"column {j} and row {i} disagree")
    return total


def check_duals(u, v, cost, free_row, free_col):
    for (i, j), c in cost.items():
        refuse_unless(u[i] + v[j] <= c, f"u[{i}] + v[{j}] = {u[i] + v[j]} passes the cost {c}")
    for name, duals, free in (("u", u, free_row), ("v", v, free_col)):
        for k, dual in enumerate(duals):
            refuse_unless(free is None or dual <= free, f"{name}[{k}] = {dual} passes the cost {free} of a free vertex")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("instance")
    parser.add_argument("answer")
    parser.add_argument("--unmatched", help="cost of a free vertex of either side, in the costs' unit")
    arguments = parser.parse_args()
    bits, row_to_col, u, col_to_row, v = read_answer(arguments.answer)
    rows, cols, cost = read_instance(arguments.instance, bits)
    refuse_unless(len(u) == rows and len(v) == cols, f"an answer of {len(u)} x {len(v)} to a problem of {rows} x {cols}")
    if arguments.unmatched is not None:
        free_row = free_col = to_steps(arguments.unmatched, bits)
    else:
        free_row = None if rows <= cols else 0
        free_col = None if cols <= rows else 0
    primal = primal_cost(row_to_col, col_to_row, cost, free_row, free_col)
    check_duals(u, v, cost, free_row, free_col)
    dual = sum(u) + sum(v)
    refuse_unless(primal == dual, f"the matching costs {primal} steps, the duals prove {dual}")
    step = Fraction(2) ** -bits
    pairs = sum(j != -1 for j in row_to_col)
    print(f"proven: {pairs} pairs of cost {float(primal * step):.17g}, the least there is"
          + ("" if bits == 0 else f" (costs rounded to {float(step):.3g}; within {float((rows + cols) * step):.3g} without)"))


if __name__ == "__main__":
    try:
        main()
    except Refused as error:
        print(f"refused: {error}")
        sys.exit(1)
    except (OSError, ValueError, IndexError, KeyError, StopIteration) as error:
        print(f"unreadable: {error}", file=sys.stderr)
        sys.exit(2)
