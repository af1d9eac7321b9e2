"""Compares the speed of motes.matching and SciPy in alternation in one run: for each matrix the ratio of SciPy's
median time to motes', and over the seeds the median ratio with its range. Compares the answers too.

    PYTHONPATH=build/release/python OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 \\
        python3 bench/python_matching.py [--csv FILE] [--cpu] [dense] [large] [sparse] [cardinality]

`large`: dense 2000, 5000 and 10,000. All but `large` by default. `--cpu`: CPU seconds, for busy machines.
"""

import sys
import time

import numpy as np
from motes import matching
from scipy import optimize, sparse
from scipy.spatial import Delaunay, cKDTree

SEEDS = 3
clock = time.process_time if "--cpu" in sys.argv else time.perf_counter


def seconds(call, repeats):
    start = clock()
    for _ in range(repeats):
        answer = call()
    return (clock() - start) / repeats, answer


def both(ours, theirs, repeats, rounds, value):
    """Median seconds of each function, called in alternation."""
    one, two = [], []
    for _ in range(rounds):
        time_of, answer = seconds(ours, repeats)
        one.append(time_of)
        time_of, expected = seconds(theirs, repeats)
        two.append(time_of)
    a, b = value(answer), value(expected)
    assert abs(a - b) <= 1e-9 * max(1, abs(b)), (a, b)
    return np.median(one), np.median(two)


def report(name, times, out):
    ours, theirs = (np.median([t[k] for t in times]) for k in (0, 1))
    ratios = sorted(b / a for a, b in times)
    middle = np.median(ratios)
    print(
        f"{name:46} motes {ours * 1e3:11.4f} ms   SciPy {theirs * 1e3:11.4f} ms   "
        f"ratio {middle:7.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})",
        flush=True,
    )
    print(f"{name},{ours:.4g},{theirs:.4g},{middle:.3g},{ratios[0]:.3g},{ratios[-1]:.3g}", file=out, flush=True)


def dense_kinds(rng, n):
    yield "uniform", rng.random((n, n))
    points = sum((rng.random((n, 1)) - rng.random((1, n))) ** 2 for _ in range(3))
    yield "points", np.sqrt(points, out=points)
    del points
    yield "integers to 1000", rng.integers(0, 1000, (n, n)).astype(float)
    if n < 1000:  # all assignments cost the same up to rounding
        yield "sums of a row's and a column's part", rng.random((n, 1)) + rng.random(n)
        yield "products of a row's and a column's part", rng.random((n, 1)) * rng.random(n)


def gated_points(rng, n, move):
    """Squared distances within a gate, n points of unit mean spacing that move by a Gaussian step."""
    side = n ** (1 / 3)
    before = rng.random((n, 3)) * side
    after = before + rng.normal(0, move, (n, 3))
    gate = 1.01 * np.sqrt(((after - before) ** 2).sum(1)).max()  # so that all vertices can be matched
    near = cKDTree(before).sparse_distance_matrix(cKDTree(after), gate, output_type="coo_matrix")
    graph = sparse.csr_array(near)
    graph.data = graph.data**2
    return graph


def from_pairs(rng, i, j, n, whole, full):
    """Weights on pairs; `full` adds the pairs of a permutation, so that all vertices can be matched."""
    if full:
        i, j = np.r_[i, np.arange(n)], np.r_[j, rng.permutation(n)]
    graph = sparse.coo_array((np.ones(len(i)), (i, j)), shape=(n, n)).tocsr()
    graph.data = rng.integers(1, 1000, graph.nnz).astype(float) if whole else rng.random(graph.nnz) + 1e-3
    return graph


def triangles(rng, n):
    t = Delaunay(rng.random((n, 2))).simplices
    e = np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]])
    return np.r_[e[:, 0], e[:, 1]], np.r_[e[:, 1], e[:, 0]]


def grid(rng, n, kept=0.6):
    """A square lattice without some of its edges, like roads."""
    side = int(n**0.5)
    at = np.arange(side * side).reshape(side, side)
    i = np.r_[at[:, :-1].ravel(), at[:-1].ravel()]
    j = np.r_[at[:, 1:].ravel(), at[1:].ravel()]
    keep = rng.random(len(i)) < kept
    return np.r_[i[keep], j[keep]], np.r_[j[keep], i[keep]]


def rmat(rng, scale, degree=8):
    edges = degree << scale
    i, j = np.zeros(edges, int), np.zeros(edges, int)
    for _ in range(scale):
        r = rng.random(edges)
        i, j = 2 * i + (r >= 0.76), 2 * j + (((r >= 0.57) & (r < 0.76)) | (r >= 0.95))
    return i, j


def sparse_kinds(rng):
    n = 50_000
    for move in (0.1, 0.2, 0.3):
        yield f"gated n={n} move={move}", gated_points(rng, n, move)
    for whole in (False, True):
        kind = "integers" if whole else "floats"
        yield f"delaunay n={n} {kind}", from_pairs(rng, *triangles(rng, n), n, whole, True)
        side = int(n**0.5)
        yield f"roads n={side**2} {kind}", from_pairs(rng, *grid(rng, n), side**2, whole, True)
        yield f"r-mat n=16384 {kind}", from_pairs(rng, *rmat(rng, 14), 1 << 14, whole, True)
        i, j = rng.integers(0, n, 6 * n), rng.integers(0, n, 6 * n)
        yield f"random degree 6 n={n} {kind}", from_pairs(rng, i, j, n, whole, True)
    yield "gated n=1000 move=0.3", gated_points(rng, 1000, 0.3)
    yield "gated n=100 move=0.3", gated_points(rng, 100, 0.3)


def cardinality_kinds(rng):
    for move in (0.1, 0.3):
        yield f"gated n=50000 move={move}", gated_points(rng, 50_000, move)
    for n in (50_000, 5_000, 500, 50):
        yield f"delaunay n={n}", from_pairs(rng, *triangles(rng, n), n, False, False)
    for n in (50_000, 2_500, 100):
        side = int(n**0.5)
        yield f"roads n={side**2}", from_pairs(rng, *grid(rng, n), side**2, False, False)
    for scale in (16, 13, 10, 8, 6):
        yield f"r-mat n={1 << scale}", from_pairs(rng, *rmat(rng, scale), 1 << scale, False, False)
    for n in (50_000, 500):
        i, j = rng.integers(0, n, 3 * n), rng.integers(0, n, 3 * n)
        yield f"random degree 3 n={n}", from_pairs(rng, i, j, n, False, False)


def in_turn(kinds, ours, theirs, label, rounds, repeats_of, value, out):
    times = {}
    for seed in range(SEEDS):
        for name, m in kinds(np.random.default_rng(seed)):
            pair = both(lambda: ours(m), lambda: theirs(m), repeats_of(m), rounds(m), lambda x: value(m, x))
            times.setdefault(name, []).append(pair)
    for name, pairs in times.items():
        report(f"{label} {name}", pairs, out)


def main():
    jobs = [a for a in sys.argv[1:] if not a.startswith("--") and "." not in a] or ["dense", "sparse", "cardinality"]
    out = open(sys.argv[sys.argv.index("--csv") + 1], "a") if "--csv" in sys.argv else open("/dev/null", "w")
    lsa, scipys = matching.linear_sum_assignment, optimize.linear_sum_assignment
    total = lambda m, pairs: m[pairs].sum()  # noqa: E731
    small, large = (10, 20, 50, 100, 200, 500), (2000, 5000, 10000)
    for n in (small if "dense" in jobs else ()) + (large if "large" in jobs else ()):
        in_turn(
            lambda rng: dense_kinds(rng, n), lsa, scipys, f"dense n={n}",
            lambda m: 51 if n < 1000 else 3 if n < 5000 else 1,
            lambda m: max(1, 20_000 // n**2), total, out,
        )  # fmt: skip
    weighted = lambda m, pairs: m.tocsr()[pairs].sum()  # noqa: E731
    few = lambda m: max(1, 2000 // m.nnz)  # noqa: E731
    if "sparse" in jobs:
        in_turn(
            sparse_kinds, matching.min_weight_full_bipartite_matching,
            sparse.csgraph.min_weight_full_bipartite_matching, "sparse", lambda m: 9, few, weighted, out,
        )  # fmt: skip
    if "cardinality" in jobs:
        in_turn(
            cardinality_kinds, matching.maximum_bipartite_matching,
            sparse.csgraph.maximum_bipartite_matching, "cardinality", lambda m: 31, few,
            lambda m, x: (x >= 0).sum(), out,
        )  # fmt: skip


main()
