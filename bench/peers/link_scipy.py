"""Links the frames of `bench_linking --dump FOLDER` by a KD-tree and SciPy's exact sparse assignment.

usage: link_scipy.py FOLDER GATE [PAIRS]

The problem is that of bench_linking: squared distances within the gate, and gate^2 for each unmatched end (so
2 gate^2 for a row and a column that are not linked), stated for SciPy as a square problem with an exit per vertex.
Prints seconds per pair and the fraction of correct links.
"""
import sys
import time

import numpy as np
from scipy.sparse import bmat, coo_matrix, diags
from scipy.sparse.csgraph import min_weight_full_bipartite_matching
from scipy.spatial import cKDTree


def link(a, b, gate):
    tree_a, tree_b = cKDTree(a), cKDTree(b)
    near = tree_a.sparse_distance_matrix(tree_b, gate, output_type="coo_matrix")
    cost = coo_matrix((near.data**2 + 1e-12, (near.row, near.col)), shape=near.shape).tocsr()
    rows, cols = near.shape
    exits = cost.T.copy().tocsr()
    exits.data[:] = 1e-12  # two exits may be matched if their owners are linked
    full = bmat([[cost, diags(np.full(rows, gate**2))], [diags(np.full(cols, gate**2)), exits]]).tocsr()
    row, col = min_weight_full_bipartite_matching(full)
    keep = (row < rows) & (col < cols)
    return row[keep], col[keep]


def main():
    folder, gate = sys.argv[1], float(sys.argv[2])
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 19
    frames = [np.fromfile(f"{folder}/frame_{t}.f64").reshape(-1, 3) for t in range(pairs + 1)]
    seconds, right, total = [], 0, 0
    for a, b in zip(frames, frames[1:]):
        start = time.perf_counter()
        row, col = link(a, b, gate)
        seconds.append(time.perf_counter() - start)
        right += int((row == col).sum())
        total += len(a)
    print(f"scipy,n={len(frames[0])},gate={gate},pairs={pairs},seconds_per_pair_median={np.median(seconds):.4f},"
          f"fraction_correct={right / total:.4f}")


main()
