"""Exact matching: drop-ins for SciPy's functions, and the solver behind them.

Every answer is proven optimal for the given float64 numbers, not only up to rounding.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._core import linear_sum_assignment
from ._settings import counted, in_memory, whole_threads

__all__ = [
    "Assignment",
    "SparseArray",
    "assign",
    "linear_sum_assignment",
    "maximum_bipartite_matching",
    "min_weight_full_bipartite_matching",
]


class SparseArray(Protocol):
    """Sparse arguments: any of SciPy's arrays and matrices in CSR, CSC or COO format."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    def tocsr(self) -> Any:
        """The same in CSR format."""


def _as_matrix(cost_matrix: Any) -> NDArray[np.float64]:
    if hasattr(cost_matrix, "tocsr"):
        raise ValueError(
            "expected a matrix (2-D array), got a sparse one: see min_weight_full_bipartite_matching"
        )
    given = in_memory(cost_matrix, "cost_matrix")
    # As in SciPy, any numbers in a list are converted, but an array's type must fit float64.
    array = np.asarray(given) if hasattr(given, "shape") else np.asarray(given, dtype=np.float64)
    if array.dtype == object and hasattr(cost_matrix, "convert_dtypes"):  # pandas' types with missing values
        array = cost_matrix.to_numpy(dtype=np.float64, na_value=np.nan)
    array = array.astype(np.float64, casting="safe", copy=False)
    if array.ndim != 2:
        raise ValueError(f"expected a matrix (2-D array), got a {array.ndim} array")
    # Aligned and in the machine's byte order, as the compiled side requires.
    return np.require(array, requirements="A")


_core._set_matrix_reader(_as_matrix)


def _as_csr(graph: Any, name: str) -> Any:
    """The graph in canonical CSR form; `graph` is not changed."""
    if not hasattr(graph, "tocsr"):
        raise TypeError(f"{name} must be sparse: a SciPy array in CSC, CSR, or COO format")
    if getattr(graph, "format", None) not in ("csr", "csc", "coo"):
        raise TypeError(f"{name} must be in CSC, CSR, or COO format.")
    if len(graph.shape) != 2:
        raise ValueError(f"{name} must have two dimensions, not {len(graph.shape)}")
    in_memory(getattr(graph, "data", None), name)
    # SciPy's conversions read beyond the arrays if these are wrong.
    pointer = getattr(graph, "indptr", None)
    if pointer is not None and (
        pointer[0] != 0 or pointer[-1] > len(graph.indices) or (pointer[1:] < pointer[:-1]).any()
    ):
        raise ValueError(f"{name}: its index pointer does not rise from 0 to the number of entries")
    csr = graph.tocsr()
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr


def _structure(csr: Any) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    return csr.indptr.astype(np.int64, copy=False), csr.indices.astype(np.int32, copy=False)


def min_weight_full_bipartite_matching(
    biadjacency: SparseArray, maximize: bool = False
) -> tuple[NDArray[np.signedinteger], NDArray[np.signedinteger]]:
    """Match the smaller side of a sparse bipartite graph with minimum weight.

    Drop-in for :func:`scipy.sparse.csgraph.min_weight_full_bipartite_matching`.

    Parameters
    ----------
    biadjacency : sparse array or matrix, shape (rows, cols)
        Weights, in CSR, CSC or COO format. An absent pair cannot be matched; explicit zeros count as
        absent, with a warning.
    maximize : bool, default False
        Find the largest sum instead of the smallest.

    Returns
    -------
    row_ind, col_ind : ndarray, shape (min(rows, cols),)
        The pairs, by rising row. As in SciPy, indices of the larger side are int32, of the other intp.

    Raises
    ------
    TypeError
        `biadjacency` is not a sparse array in one of these formats.
    ValueError
        No matching covers the smaller side, or weights are not numbers.
    """
    csr = _as_csr(biadjacency, "graph")
    exchanged = csr.shape[0] > csr.shape[1]
    if exchanged:  # rows are the smaller side then
        csr = csr.T.tocsr()
    if not (np.issubdtype(csr.dtype, np.number) or csr.dtype == np.bool_):
        raise ValueError(f"expected a matrix containing numerical entries, got {csr.dtype}")
    weights = csr.data.astype(np.float64, copy=False)
    if maximize:
        weights = -weights
    zeros = np.count_nonzero(weights) < weights.size
    if zeros:
        warnings.warn(
            "explicit zero weights are removed before matching", UserWarning, stacklevel=2
        )
    offsets, columns = _structure(csr)
    if zeros or not np.isfinite(weights).all():
        kept = (weights != 0) & ~np.isposinf(weights)
        before = np.concatenate(([0], np.cumsum(kept)))
        offsets, columns, weights = before[offsets], columns[kept], weights[kept]
    rows, cols = csr.shape
    if rows == 0:
        return _types_of_scipy(np.arange(0), np.arange(0), exchanged)
    free_row, free_col = _smaller_side(rows, cols)
    found = _core._assign_sparse(rows, cols, offsets, columns, weights, free_row, free_col, 1)
    if not found["feasible"]:
        raise ValueError("no full matching exists")
    row_to_col = found["col_to_row" if exchanged else "row_to_col"]
    if row_to_col.size == min(rows, cols):
        return _types_of_scipy(np.arange(row_to_col.size), row_to_col, exchanged)
    row_ind = np.flatnonzero(row_to_col >= 0)
    return _types_of_scipy(row_ind, row_to_col[row_ind], exchanged)


def _types_of_scipy(
    row_ind: NDArray[Any], col_ind: NDArray[Any], more_rows: bool
) -> tuple[NDArray[np.signedinteger], NDArray[np.signedinteger]]:
    types = (np.int32, np.intp) if more_rows else (np.intp, np.int32)
    return row_ind.astype(types[0], copy=False), col_ind.astype(types[1], copy=False)


def maximum_bipartite_matching(
    graph: SparseArray, perm_type: Literal["row", "column"] = "row"
) -> NDArray[np.int32]:
    """Find a maximum matching of a sparse bipartite graph.

    Drop-in for :func:`scipy.sparse.csgraph.maximum_bipartite_matching`.

    Parameters
    ----------
    graph : sparse array or matrix, shape (rows, cols)
        Every stored entry is an edge, including zeros. CSR, CSC or COO format.
    perm_type : {'row', 'column'}, default 'row'
        With 'row' the answer has a row for each column, with 'column' a column for each row.

    Returns
    -------
    perm : ndarray of int32
        The partner of each column ('row') or row ('column'); -1: none.
    """
    csr = _as_csr(graph, "graph")
    if perm_type not in ("row", "column"):
        raise ValueError(f"perm_type must be 'row' or 'column', not {perm_type!r}")
    offsets, columns = csr.indptr, csr.indices
    if columns.dtype != np.int32:
        columns = columns.astype(np.int32)
    rows, cols = csr.shape
    perm: Any = _core._maximum_matching(rows, cols, offsets, columns, perm_type == "row")
    return perm


def _threads(entries: int) -> int:
    """One thread for problems that are solved before a second one has started, else all."""
    return 1 if entries < 1 << 16 else 0


def _smaller_side(rows: int, cols: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    must, may = np.array([np.inf]), np.array([0.0])
    return (may if rows > cols else must), (may if cols > rows else must)


@dataclass(frozen=True, eq=False, repr=False)
class Assignment:
    """An optimal assignment with its proof.

    Attributes
    ----------
    row_to_col : ndarray of int32, shape (rows,)
        The column of each row, -1: unmatched.
    col_to_row : ndarray of int32, shape (cols,)
        The row of each column, -1: unmatched.
    cost : float
        The sum over the pairs and the unmatched rows and columns (with `maximize`: the largest sum).
    u, v : ndarray of float64, shape (rows,) and (cols,)
        Dual prices of the problem as a minimum (costs negated with `maximize`): ``u[i] + v[j]`` is
        at most the cost of each pair, ``u`` and ``v`` at most the unmatched costs, and equality
        holds for all pairs and unmatched vertices. Exact if all costs are integers, else up to rounding.
    proof : str
        ``'grid'``: all costs are integers, and so is the proof. ``'doubles'``: the residual graph was
        searched for negative cycles in exact arithmetic, and has none.
    cycles_turned : int
        The number of negative cycles that were removed because the solver's grid was too coarse.
    solver : str
        The solver that ran.
    """

    row_to_col: NDArray[np.int32]
    col_to_row: NDArray[np.int32]
    cost: float
    u: NDArray[np.float64]
    v: NDArray[np.float64]
    proof: str
    cycles_turned: int
    solver: str

    @property
    def row_ind(self) -> NDArray[np.intp]:
        """Rows with a partner, rising."""
        return np.flatnonzero(self.row_to_col >= 0)

    @property
    def col_ind(self) -> NDArray[np.int32]:
        """Their partners."""
        return self.row_to_col[self.row_ind]

    def __repr__(self) -> str:
        return (
            f"<Assignment of {len(self.row_to_col)} x {len(self.col_to_row)}: "
            f"{counted(len(self.row_ind), 'pair')}, cost {self.cost:g}, optimal ({self.proof})>"
        )


def _unmatched(given: ArrayLike | None, fallback: NDArray[np.float64], size: int, name: str) -> NDArray[np.float64]:
    if given is None:
        return fallback
    try:
        costs = np.atleast_1d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        costs = np.empty((0, 0))  # rejected for its shape
    if costs.ndim != 1 or costs.size not in (1, size):
        raise ValueError(f"{name}: give one number or {size} of them")
    if np.isnan(costs).any() or np.isneginf(costs).any():
        raise ValueError(f"{name}: has NaN or -inf")
    return np.ascontiguousarray(costs)


def assign(
    costs: ArrayLike | SparseArray,
    *,
    unmatched: float | None = None,
    unmatched_row: ArrayLike | None = None,
    unmatched_col: ArrayLike | None = None,
    maximize: bool = False,
    threads: int | None = None,
) -> Assignment:
    """Solve an assignment problem exactly, with a proof.

    Minimises the sum of the costs of all pairs plus the unmatched costs of all other rows and columns.

    Parameters
    ----------
    costs : array_like or sparse array, shape (rows, cols)
        ``inf`` (or absence in a sparse array, where explicit zeros cost 0) forbids a pair.
    unmatched : float, optional
        Cost of an unmatched row or column. Without any of the three, every vertex of the smaller side
        must be matched, and unmatched vertices of the other side cost nothing, as in SciPy.
    unmatched_row, unmatched_col : float or array_like, optional
        The same for rows and for columns; ``inf``: must be matched.
    maximize : bool, default False
        Costs of pairs and unmatched costs are gains; their sum is maximised.
    threads : int, optional
        CPU threads; default: one for small problems, else all. The answer does not depend on it.

    Returns
    -------
    Assignment

    Raises
    ------
    ValueError
        For NaN, ``-inf``, wrong shapes, and if there is no feasible assignment.
    """
    sparse = hasattr(costs, "tocsr")
    if sparse:
        csr = _as_csr(costs, "costs")
        rows, cols = csr.shape
        entries = csr.data.astype(np.float64, copy=False)
    else:
        if isinstance(costs, np.ma.MaskedArray) and np.ma.is_masked(costs):
            raise ValueError("costs: some are masked; costs.filled(np.inf) forbids these pairs")
        entries = np.ascontiguousarray(_as_matrix(costs))
        rows, cols = entries.shape
    plain = unmatched is None and unmatched_row is None and unmatched_col is None
    forced = _smaller_side(rows, cols) if plain else (np.array([np.inf]),) * 2
    free = [
        _unmatched(unmatched if own is None else own, fallback, size, name)
        for own, fallback, size, name in (
            (unmatched_row, forced[0], rows, "unmatched_row"),
            (unmatched_col, forced[1], cols, "unmatched_col"),
        )
    ]
    if maximize:
        entries = -entries
        free = free if plain else [np.where(np.isposinf(f), f, -f) for f in free]
    if threads is None:
        threads = _threads(entries.size)
    threads = whole_threads(threads)
    if sparse:
        offsets, columns = _structure(csr)
        found = _core._assign_sparse(rows, cols, offsets, columns, entries, free[0], free[1], threads)
    else:
        found = _core._assign_dense(entries, free[0], free[1], threads)
    if not found["feasible"]:
        raise ValueError("cost matrix is infeasible")
    row_to_col, col_to_row, v = found["row_to_col"], found["col_to_row"], found["v"]
    paid = np.broadcast_to(free[0], rows).astype(np.float64)
    i = np.flatnonzero(row_to_col >= 0)
    j = row_to_col[i]
    paid[i] = _entries_at(csr, entries, i, j) if sparse else entries[i, j]
    u = paid.copy()
    u[i] -= v[j]
    alone = np.broadcast_to(free[1], cols)[col_to_row < 0]
    total = float(paid.sum() + alone.sum())
    return Assignment(
        row_to_col,
        col_to_row,
        -total if maximize else total,
        u,
        v,
        found["proof"],
        found["cycles_turned"],
        found["solver"],
    )


def _entries_at(
    csr: Any, entries: NDArray[np.float64], i: NDArray[np.intp], j: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Values of stored entries of a canonical CSR array."""
    row_of = np.repeat(np.arange(csr.shape[0], dtype=np.int64), np.diff(csr.indptr))
    key = row_of * csr.shape[1] + csr.indices
    return entries[np.searchsorted(key, i.astype(np.int64) * csr.shape[1] + j)]
