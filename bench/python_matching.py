"""Speed of motes.matching beside SciPy: both by turns in one run, medians of the rounds.

    PYTHONPATH=build/release/python OMP_WAIT_POLICY=passive python3 bench/python_matching.py [--large]
"""

import sys
import time

import numpy as np
from motes import matching
from scipy import optimize, sparse
from scipy.spatial import cKDTree


def seconds(call, repeats):
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def compare(name, ours, theirs, repeats=1, rounds=5):
    one, two = [], []
    for _ in range(rounds):
        one.append(seconds(ours, repeats))
        two.append(seconds(theirs, repeats))
    a, b = np.median(one), np.median(two)
    print(f"{name:34} motes {a * 1e3:11.4f} ms   SciPy {b * 1e3:11.4f} ms   ratio {b / a:7.2f}", flush=True)


def gated_points(rng, n, move):
    """Pairs within a gate, n points of unit mean spacing that move by a Gaussian step."""
    side = n ** (1 / 3)
    before = rng.random((n, 3)) * side
    after = before + rng.normal(0, move, (n, 3))
    gate = 1.01 * np.sqrt(((after - before) ** 2).sum(1)).max()  # so that all can be matched
    near = cKDTree(before).sparse_distance_matrix(cKDTree(after), gate, output_type="coo_matrix")
    graph = sparse.csr_array(near)
    graph.data = graph.data**2
    graph.data[graph.data == 0] = 1e-300
    return graph


def main():
    rng = np.random.default_rng(1)
    for n in (10, 20, 50, 100, 200, 500):
        repeats = max(1, 200_000 // n**2)
        for name, costs in (
            ("random", rng.random((n, n))),
            ("distances", np.sqrt(((rng.random((n, 1, 3)) - rng.random((1, n, 3))) ** 2).sum(2))),
            ("integers", rng.integers(0, 1000, (n, n)).astype(float)),
        ):
            compare(
                f"dense {name} n={n}",
                lambda: matching.linear_sum_assignment(costs),
                lambda: optimize.linear_sum_assignment(costs),
                max(1, repeats // 10),
                rounds=51,
            )
    for n in (2000, 5000, 10000) if "--large" in sys.argv else (2000,):
        for name, costs in (
            ("random", rng.random((n, n))),
            ("distances", np.sqrt(((rng.random((n, 1, 3)) - rng.random((1, n, 3))) ** 2).sum(2))),
        ):
            compare(
                f"dense {name} n={n}",
                lambda: matching.linear_sum_assignment(costs),
                lambda: optimize.linear_sum_assignment(costs),
                rounds=3 if n < 5000 else 1,
            )
    for move in (0.1, 0.3):
        graph = gated_points(rng, 50_000, move)
        compare(
            f"sparse gated n=50000 move={move}",
            lambda: matching.min_weight_full_bipartite_matching(graph),
            lambda: sparse.csgraph.min_weight_full_bipartite_matching(graph),
            rounds=9,
        )
        compare(
            f"cardinality n=50000 move={move}",
            lambda: matching.maximum_bipartite_matching(graph),
            lambda: sparse.csgraph.maximum_bipartite_matching(graph),
            rounds=31,
        )


main()
