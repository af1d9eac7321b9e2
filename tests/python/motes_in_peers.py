"""A plugin of pytest that puts motes' matching in the place of others' before their tests run.

    PYTHONPATH=tests/python MOTES_IN_PEERS=scipy python -m pytest -p motes_in_peers --pyargs networkx

The packages and their tests then call motes; a line of the summary says how often. test_peers_own.py
runs it so.
"""

import importlib
import os

import numpy as np
from motes import matching

calls = {}


def _counted(name, call):
    calls[name] = 0

    def counting(*args, **kwargs):
        calls[name] += 1
        return call(*args, **kwargs)

    return counting


def _replace(module_name, name, call):
    module = importlib.import_module(module_name)
    assert hasattr(module, name), (module_name, name)
    setattr(module, name, _counted(name, call))


def _scipy():
    _replace("scipy.optimize", "linear_sum_assignment", matching.linear_sum_assignment)
    for name in ("min_weight_full_bipartite_matching", "maximum_bipartite_matching"):
        _replace("scipy.sparse.csgraph", name, getattr(matching, name))


def _solved_as_lap(cost, cost_limit):
    """Its answer: the cost of the pairs, and the partners of rows and columns; infinite where there is none.

    With a limit lap leaves both ends of a pair alone where that costs less, each at half the limit.
    """
    unmatched = None if np.isinf(cost_limit) else cost_limit / 2
    try:
        found = matching.assign(cost, unmatched=unmatched)
    except ValueError as error:
        if "infeasible" not in str(error):
            raise
        none = np.full(cost.shape[0], -1, np.int32)
        return np.inf, none, none
    pairs = found.row_ind, found.col_ind
    return float(np.asarray(cost[pairs]).sum()), found.row_to_col, found.col_to_row


def _lapjv(cost, extend_cost=False, cost_limit=np.inf, return_cost=True):
    cost = np.asarray(cost, dtype=np.float64)
    if cost.ndim != 2 or (cost.shape[0] != cost.shape[1] and not extend_cost):
        raise ValueError("lapjv takes a square matrix")
    found = _solved_as_lap(cost, cost_limit)
    return found if return_cost else found[1:]


def _lapmod(n, cc, ii, kk, fast=True, return_cost=True, fp_version=0):
    from scipy import sparse

    if len(cc) == 0 or not np.isfinite(cc).all():
        raise ValueError("lapmod takes finite costs")
    graph = sparse.csr_array((np.asarray(cc, dtype=np.float64), kk, ii), shape=(n, n))
    found = _solved_as_lap(graph, np.inf)
    return found if return_cost else found[1:]


def _lap():
    _replace("lap", "lapjv", _lapjv)
    _replace("lap", "lapmod", _lapmod)


def _cardinality(graph, top_nodes=None):
    """networkx's Hopcroft-Karp: a dictionary of partners, both ways."""
    import networkx
    from scipy import sparse

    left, right = (list(side) for side in networkx.bipartite.sets(graph, top_nodes))
    number = {node: k for k, node in enumerate(right)}
    edges = [(k, number[other]) for k, node in enumerate(left) for other in graph[node]]
    i, j = np.array(edges, dtype=int).reshape(-1, 2).T
    found = matching.maximum_bipartite_matching(
        sparse.coo_array((np.ones(len(i)), (i, j)), shape=(len(left), len(right))), perm_type="column"
    )
    one_way = {left[k]: right[column] for k, column in enumerate(found) if column >= 0}
    return one_way | {column: row for row, column in one_way.items()}


def _hopcroft_karp():
    for module in ("networkx.algorithms.bipartite.matching", "networkx.algorithms.bipartite"):
        _replace(module, "hopcroft_karp_matching", _cardinality)


def pytest_configure(config):
    for name in os.environ["MOTES_IN_PEERS"].split(","):
        {"scipy": _scipy, "lap": _lap, "hopcroft-karp": _hopcroft_karp}[name]()


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"motes was called {sum(calls.values())} times: {calls}")
