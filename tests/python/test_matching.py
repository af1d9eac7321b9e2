"""motes.matching beyond what SciPy's own tests ask: exactness for any doubles, shapes, errors, unmatched costs."""

from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from motes import matching

scipy_optimize = pytest.importorskip("scipy.optimize")
from scipy import sparse  # noqa: E402


def exact_sum(costs, i, j):
    return sum((Fraction(float(costs[a, b])) for a, b in zip(i, j)), Fraction(0))


def brute_force(costs):
    """The least exact sum over assignments of all rows; rows <= cols."""
    rows, cols = costs.shape
    return min(exact_sum(costs, range(rows), p) for p in permutations(range(cols), rows))


def matrices(rng, n, m):
    """Matrices on which rounded arithmetic goes wrong, and ordinary ones."""
    yield rng.random((n, m))
    yield rng.random((n, m)) * 10.0 ** rng.integers(-200, 200, (n, m))
    yield 1e6 + 1e-9 * rng.integers(0, 3, (n, m))
    yield np.ldexp(1.0, rng.integers(-900, 900, (n, m))) * rng.choice([-1, 1], (n, m))
    yield np.where(rng.random((n, m)) < 0.3, 1e15, rng.random((n, m)))
    yield np.nextafter(1.0, 2) ** rng.integers(0, 3, (n, m)).astype(float)
    yield rng.integers(-3, 3, (n, m)).astype(float)
    yield np.full((n, m), 1 / 3)
    yield 5e-324 * rng.integers(0, 4, (n, m))


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (4, 4), (5, 5), (3, 5), (1, 6), (6, 1), (5, 3)])
def test_exact_for_any_doubles(rng, shape):
    for _ in range(8):
        for costs in matrices(rng, *shape):
            wide = costs if shape[0] <= shape[1] else costs.T
            best = brute_force(wide)
            for given in (costs, np.asfortranarray(costs)):
                assert exact_sum(costs, *matching.linear_sum_assignment(given)) == best
            i, j = matching.linear_sum_assignment(-costs, maximize=True)
            assert exact_sum(costs, i, j) == best
            found = matching.assign(costs)
            assert exact_sum(costs, found.row_ind, found.col_ind) == best
            i, j = matching.min_weight_full_bipartite_matching(sparse.csr_array(costs + 0.0)) if (
                costs != 0
            ).all() else (found.row_ind, found.col_ind)
            assert exact_sum(costs, i, j) == best


@pytest.mark.parametrize("shape", [(150, 150), (140, 200), (220, 130)])
def test_large_ones_agree_with_the_exact_small_solver_split_in_two(rng, shape):
    """Exact sums of large matrices, by an integer form that every solver reads without rounding."""
    for scale in (1.0, 1e-12, 1e300 / 2**45):
        whole = rng.integers(0, 2**40, shape)
        costs = whole * scale if scale == 1.0 else np.ldexp(whole.astype(float), int(np.log2(scale)))
        i, j = matching.linear_sum_assignment(costs)
        k, m = matching.linear_sum_assignment(whole.astype(float))
        assert int(whole[i, j].sum()) == int(whole[k, m].sum())


def dual_gap(costs, found, unmatched=np.inf):
    """How far the duals are from proving the answer."""
    slack = costs - found.u[:, None] - found.v[None, :]
    return -min(0, slack.min(), (unmatched - found.u).min(), (unmatched - found.v).min())


@pytest.mark.parametrize("shape", [(40, 40), (30, 60), (300, 300), (200, 350), (350, 200)])
def test_near_ties_beyond_the_solvers_grid(rng, shape):
    """Costs that differ by less than 2^-49 of the largest: the solver alone cannot tell them apart."""
    base = 1e9 * (rng.random(shape) < 0.2)
    costs = base + rng.integers(0, 8, shape) * 2.0**-23
    i, j = matching.linear_sum_assignment(costs)
    scaled = np.round(costs * 2**23).astype(np.int64)
    k, m = scipy_optimize.linear_sum_assignment(scaled.astype(float))  # SciPy rounds nothing of these
    assert int(scaled[i, j].sum()) == int(scaled[k, m].sum())


@pytest.mark.parametrize("shape", [(40, 40), (50, 46), (300, 300), (290, 300), (600, 600), (800, 760)])
@pytest.mark.parametrize("noise", [1, 2000])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_sums_that_are_tied_but_for_last_bits(rng, shape, noise, form):
    """All assignments of the same lines cost the same but for the last bits, which are compared exactly."""
    a, b = (1 + rng.integers(0, 2**50, (1, n)) * 2.0**-54 for n in shape)
    few = min(shape)
    a[:, few:] += 1  # the first lines are the best ones
    b[:, few:] += 1
    a = a.T
    costs = a + b  # rounded to 2^-51, from multiples of 2^-54
    costs += rng.integers(0, noise, shape) * 2.0**-51
    a, b, whole = (np.round(x * 2.0**54).astype(np.int64) for x in (a, b, costs))
    rest = whole - a - b
    best = scipy_optimize.linear_sum_assignment(rest[:few, :few].astype(float))
    if form == "dense":
        i, j = matching.linear_sum_assignment(costs)
    else:
        i, j = matching.min_weight_full_bipartite_matching(sparse.csr_array(costs))
    assert set(i) == set(j) == set(range(few))
    assert int(rest[i, j].sum()) == int(rest[best].sum())


def test_ties_where_some_stay_alone(rng):
    """Pairs cost what their ends would cost alone, but for last bits."""
    bit = 2.0**-52
    a, b = rng.integers(0, 2**45, (2, 60)) * 2.0**-45
    more = rng.integers(0, 9, (60, 60))
    of_row, of_col = rng.integers(0, 6, (2, 60))
    found = matching.assign(
        a[:, None] + b + more * bit, unmatched_row=a + of_row * bit, unmatched_col=b + of_col * bit
    )
    rest = more - of_row[:, None] - of_col
    best = np.zeros((120, 120))
    best[:60, :60] = rest
    i, j = found.row_ind, found.col_ind
    assert 0 < len(i) < 60 and found.cycles_turned > 0
    assert rest[i, j].sum() == best[scipy_optimize.linear_sum_assignment(best)].sum()


def test_tied_costs_whose_best_cycle_has_a_heavy_edge():
    """Each pair of a long cycle saves less than the solver's grid shows, and the one that closes it costs
    more than the edges that are looked at first."""
    n, step = 300, 2.0**-48  # the grid's
    costs = np.where(np.tri(n, k=-1), np.inf, 1.0)
    costs[np.arange(n), np.arange(n)] += 7 / 16 * step
    costs[np.arange(n - 1), np.arange(1, n)] -= 7 / 16 * step
    costs[-1, 0] = 1 + 100 * step
    found = matching.assign(costs)
    assert (found.row_to_col == np.roll(np.arange(n), -1)).all()


@pytest.mark.parametrize("shape", [(500, 530), (530, 500), (480, 1000), (700, 740), (720, 736)])
def test_sizes_around_the_small_solvers_limit_agree_with_scipy(rng, shape):
    sums = rng.random((shape[0], 1)) + rng.random((1, shape[1]))
    for costs in (rng.random(shape), rng.integers(0, 99, shape), sums + 1e-3 * rng.random(shape)):
        i, j = matching.linear_sum_assignment(costs)
        a, b = scipy_optimize.linear_sum_assignment(costs)
        assert len(set(i)) == len(set(j)) == min(shape)
        assert costs[i, j].sum() == pytest.approx(costs[a, b].sum(), rel=1e-12)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int32, np.int64, np.float32, np.float64])
def test_dtypes_and_layouts(rng, dtype):
    costs = rng.integers(0, 2 if dtype == bool else 100, (12, 15)).astype(dtype)
    expected = scipy_optimize.linear_sum_assignment(costs.astype(float))
    best = costs.astype(float)[expected].sum()
    big_endian = costs.astype(costs.dtype.newbyteorder(">"))
    spread = np.zeros((24, 30), dtype)[::2, ::2]
    spread[:] = costs
    for given in (costs, costs.copy(order="F"), spread, big_endian, costs[::-1, ::-1], costs.tolist()):
        i, j = matching.linear_sum_assignment(given)
        assert i.dtype == j.dtype == np.intp
        assert np.asarray(given).astype(float)[i, j].sum() == best
    read_only = costs.copy()
    read_only.flags.writeable = False
    i, j = matching.linear_sum_assignment(read_only)
    assert costs.astype(float)[i, j].sum() == best


def test_large_arrays_are_left_as_they_are(rng):
    costs = rng.random((200, 200))
    before = costs.copy()
    matching.linear_sum_assignment(costs, maximize=True)
    matching.assign(costs, unmatched=0.1, maximize=True)
    assert (costs == before).all()


@pytest.mark.parametrize("n", [3, 200])
@pytest.mark.parametrize("maximize", [False, True])
def test_refusals(n, maximize):
    sign = -1 if maximize else 1
    costs = np.ones((n, n))
    costs[1, 1] = np.nan
    with pytest.raises(ValueError, match="contains invalid numeric entries"):
        matching.linear_sum_assignment(costs, maximize=maximize)
    costs[1, 1] = sign * -np.inf
    with pytest.raises(ValueError, match="contains invalid numeric entries"):
        matching.linear_sum_assignment(costs, maximize=maximize)
    costs[1] = sign * np.inf
    with pytest.raises(ValueError, match="cost matrix is infeasible"):
        matching.linear_sum_assignment(costs, maximize=maximize)
    with pytest.raises(TypeError):
        matching.linear_sum_assignment(np.ones((n, n), complex))
    with pytest.raises(ValueError, match="expected a matrix"):
        matching.linear_sum_assignment(np.ones((n, n, 2)))


def test_forbidden_pairs_are_avoided_at_any_price(rng):
    for n in (6, 160):
        costs = np.where(rng.random((n, n)) < 0.5, np.inf, rng.random((n, n)))
        np.fill_diagonal(costs, 1e12)
        i, j = matching.linear_sum_assignment(costs)
        k, m = scipy_optimize.linear_sum_assignment(costs)
        assert costs[i, j].sum() == costs[k, m].sum()


def brute_force_unmatched(costs, row, col):
    rows, cols = costs.shape
    best = None
    padded = [-1] * rows + list(range(cols))
    for p in set(permutations(padded, rows)):
        used = {j for j in p if j >= 0}
        total = sum((Fraction(float(costs[i, j] if j >= 0 else row[i])) for i, j in enumerate(p)), Fraction(0))
        total += sum((Fraction(float(col[j])) for j in range(cols) if j not in used), Fraction(0))
        best = total if best is None else min(best, total)
    return best


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2)])
def test_unmatched_costs(rng, shape):
    for _ in range(10):
        for costs in (rng.random(shape), rng.integers(0, 9, shape) / 7, 1e8 + rng.random(shape) / 3):
            row, col = rng.random(shape[0]) / 2, rng.random(shape[1]) / 2
            found = matching.assign(costs, unmatched_row=row, unmatched_col=col)
            total = exact_sum(costs, found.row_ind, found.col_ind)
            total += sum(Fraction(float(row[i])) for i in range(shape[0]) if found.row_to_col[i] < 0)
            total += sum(Fraction(float(col[j])) for j in range(shape[1]) if found.col_to_row[j] < 0)
            assert total == brute_force_unmatched(costs, row, col)
            assert found.cost == pytest.approx(float(total), rel=1e-15)


def test_duals_prove_the_answer(rng):
    costs = rng.integers(0, 50, (60, 80)).astype(float)
    found = matching.assign(costs, unmatched=9)
    assert found.proof == "grid"
    assert dual_gap(costs, found, 9) == 0
    assert found.u.sum() + found.v.sum() == found.cost
    costs = rng.random((60, 80))
    found = matching.assign(costs, unmatched=0.03)
    assert found.proof == "doubles"
    assert dual_gap(costs, found, 0.03) < 1e-12
    assert found.u.sum() + found.v.sum() == pytest.approx(found.cost, rel=1e-12)


def test_assign_sparse_equals_dense_and_keeps_zeros(rng):
    dense = rng.integers(0, 6, (50, 40)).astype(float)
    absent = rng.random(dense.shape) < 0.6
    i, j = np.nonzero(~absent)
    graph = sparse.coo_array((dense[i, j], (i, j)), dense.shape)
    one = matching.assign(graph, unmatched=4)
    two = matching.assign(np.where(absent, np.inf, dense), unmatched=4)
    assert one.cost == two.cost
    assert (matching.assign(graph, unmatched=4, threads=2).row_to_col == one.row_to_col).all()
    with pytest.raises(ValueError, match="unmatched_row"):
        matching.assign(dense, unmatched_row=[1, 2])
    with pytest.raises(ValueError, match="infeasible"):
        matching.assign(np.full((2, 2), np.inf))
    assert matching.assign(np.full((2, 2), np.inf), unmatched=1).cost == 4
    gain = matching.assign(dense, unmatched=4, maximize=True)
    loss = matching.assign(-dense, unmatched=-4)
    assert gain.cost == -loss.cost
    assert matching.assign(np.empty((0, 3))).cost == 0


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 3), (3, 2), (3, 3)])
def test_sparse_indices_have_scipys_types(rng, shape):
    from scipy.sparse import csgraph

    graph = sparse.csr_matrix(rng.random(shape) + 1)
    ours, theirs = (f.min_weight_full_bipartite_matching(graph) for f in (matching, csgraph))
    assert [side.dtype for side in ours] == [side.dtype for side in theirs]
    assert [side.tolist() for side in ours] == [side.tolist() for side in theirs]


@pytest.mark.parametrize("dtype", [complex, object, np.longdouble])
@pytest.mark.parametrize("shape", [4, (1, 2, 2)])
def test_of_two_faults_the_one_that_scipy_names_is_named(dtype, shape):
    for solve in (matching.linear_sum_assignment, scipy_optimize.linear_sum_assignment):
        with pytest.raises(TypeError, match="Cannot cast"):
            solve(np.ones(shape, dtype))


def test_maximum_matching_is_maximum(rng):
    from scipy.sparse import csgraph

    for density in (0.01, 0.03, 0.1):
        graph = sparse.random_array((300, 250), density=density, rng=rng, format="csr")
        ours = matching.maximum_bipartite_matching(graph, perm_type="column")
        theirs = csgraph.maximum_bipartite_matching(graph, perm_type="column")
        assert (ours >= 0).sum() == (theirs >= 0).sum()
        assert ours.dtype == theirs.dtype
        rows = np.flatnonzero(ours >= 0)
        assert (np.asarray(graph[rows, ours[rows]]).ravel() != 0).all()
    with pytest.raises(ValueError, match="perm_type"):
        matching.maximum_bipartite_matching(graph, perm_type="both")


def test_maximize_is_anything_true_or_false(rng):
    costs = rng.random((5, 6))
    least, most = (matching.linear_sum_assignment(costs, maximize=m) for m in (False, True))
    for given in (1, np.True_, "yes"):
        assert (matching.linear_sum_assignment(costs, given)[1] == most[1]).all()
    for given in (0, np.False_, None):
        assert (matching.linear_sum_assignment(costs, maximize=given)[1] == least[1]).all()


def test_what_is_not_a_matrix_is_told():
    with pytest.raises(ValueError, match="2-D"):
        matching.linear_sum_assignment(None)
    with pytest.raises(ValueError, match="sparse.*min_weight_full"):
        matching.linear_sum_assignment(sparse.csr_array(np.eye(3)))
    for function in (matching.min_weight_full_bipartite_matching, matching.maximum_bipartite_matching):
        for given in (np.eye(3), None, [[1]]):
            with pytest.raises(TypeError, match="must be sparse"):
                function(given)
        with pytest.raises(ValueError, match="two dimensions, not 1"):
            function(sparse.coo_array(np.ones(3)))


def test_lists_of_any_numbers_are_converted_as_by_scipy():
    """SciPy converts each element of a list, but no array of objects."""
    lists = ([[Fraction(1, 3), 1], [2, 3]], [[Decimal("1.5"), 1], [2, 3]], [[10**30, 1], [2, 3]], [["1", "2"], ["3", "9"]])
    for costs in lists:
        expected = scipy_optimize.linear_sum_assignment(costs)
        assert np.array_equal(matching.linear_sum_assignment(costs), expected)
        assert np.array_equal(matching.assign(costs).col_ind, expected[1])
    for costs, error in (([[None, 1], [1, 2]], ValueError), ([["a"]], ValueError), ({1, 2}, TypeError), ([[1j]], TypeError)):
        for solve in (scipy_optimize.linear_sum_assignment, matching.linear_sum_assignment):
            with pytest.raises(error):
                solve(costs)
    with pytest.raises(TypeError, match="safe"):
        matching.linear_sum_assignment(np.array(lists[0]))


def test_tables_of_pandas_with_missing_values():
    pandas = pytest.importorskip("pandas")
    whole = pandas.DataFrame([[1, 2, 9], [3, 5, 9]], dtype="Int64")
    assert [side.tolist() for side in matching.linear_sum_assignment(whole)] == [[0, 1], [1, 0]]
    assert matching.assign(whole).cost == 5
    with pytest.raises(ValueError, match="invalid numeric entries"):
        matching.linear_sum_assignment(whole.mask(whole == 9))
    with pytest.raises((TypeError, ValueError)):
        matching.linear_sum_assignment(pandas.DataFrame([["a", "b"]], dtype=object))


def test_masked_pairs_and_unmatched_costs_that_are_no_numbers():
    costs = np.ma.masked_greater([[1.0, 2.0], [3.0, 9.0]], 5)
    with pytest.raises(ValueError, match=r"costs.filled\(np.inf\) forbids these pairs"):
        matching.assign(costs)
    assert matching.assign(costs.filled(np.inf)).cost == 5
    assert matching.assign(np.ma.masked_array(costs.data, mask=False)).cost == 5
    for given in ("a", {}, [1, 2, 3], [[1, 2]]):
        with pytest.raises(ValueError, match="unmatched_row: give one number or 2 of them"):
            matching.assign(costs.data, unmatched_row=given, unmatched_col=1)


@pytest.mark.parametrize("place, value", [(3, 1000), (3, -5), (0, 1)])
def test_broken_index_pointers_are_refused(rng, place, value):
    graph = sparse.csr_array(rng.random((6, 6)))
    graph.indptr[place] = value
    for function in (
        matching.min_weight_full_bipartite_matching,
        matching.maximum_bipartite_matching,
        matching.assign,
    ):
        with pytest.raises(ValueError, match="index pointer"):
            function(graph)


class OfAnotherLibrary:
    """An array that shows itself by DLPack alone, as those of torch and CuPy do."""

    def __init__(self, array, kind=1):
        self.array, self.kind = array, kind

    def __dlpack_device__(self):
        return (self.kind, 0)

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


def test_arrays_of_other_libraries(rng):
    costs = rng.random((20, 30))
    expected = matching.linear_sum_assignment(costs)[1]
    assert (matching.linear_sum_assignment(OfAnotherLibrary(costs))[1] == expected).all()
    assert (matching.assign(OfAnotherLibrary(costs)).col_ind == expected).all()
    for function in (matching.linear_sum_assignment, matching.assign):
        with pytest.raises(TypeError, match="is in a GPU's memory.*cpu"):
            function(OfAnotherLibrary(costs, kind=2))
    of_gpu = type("Array", (), {"__cuda_array_interface__": {"shape": (2, 2), "version": 3}})()
    with pytest.raises(TypeError, match="is in a GPU's memory"):
        matching.linear_sum_assignment(of_gpu)


def test_dlpack_is_not_copied(rng):
    costs = rng.random((20, 30))
    assert np.shares_memory(matching._as_matrix(OfAnotherLibrary(costs)), costs)


@pytest.mark.parametrize("size", [0, 1, 7, 40, 300])
def test_small_maximum_matchings_agree_with_scipy(rng, size):
    from scipy.sparse import csgraph

    for density in (0.01, 0.1, 0.5):
        for shape in ((size, size), (size, 2 * size), (2 * size, size), (size, 3)):
            graph = sparse.random_array(shape, density=density, format="csr", rng=rng)
            for perm_type in ("row", "column"):
                ours = matching.maximum_bipartite_matching(graph, perm_type)
                theirs = csgraph.maximum_bipartite_matching(graph, perm_type)
                assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
                assert (ours >= 0).sum() == (theirs >= 0).sum()
                at = np.flatnonzero(ours >= 0)
                i, j = (ours[at], at) if perm_type == "row" else (at, ours[at])
                assert len(set(ours[at])) == len(at)
                assert (graph.toarray()[i, j] != 0).all()


def test_graphs_with_columns_out_of_range_are_refused():
    graph = sparse.csr_array(np.eye(3))
    graph.indices[1] = 7
    with pytest.raises(ValueError):
        matching.maximum_bipartite_matching(graph)
