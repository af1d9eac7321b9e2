"""SciPy's own tests of its matching functions, with ours in their place.

The tests are those of the installed SciPy: they are imported from it, never copied.
"""

import importlib
import types

import pytest

from motes import matching

pytest.importorskip("scipy")
NAMES = (
    "linear_sum_assignment",
    "min_weight_full_bipartite_matching",
    "maximum_bipartite_matching",
)


def _patched(module_name):
    """A copy of a test module whose functions are ours."""
    source = importlib.import_module(module_name)
    module = types.ModuleType(source.__name__ + "_with_motes")
    with open(source.__file__, encoding="utf-8") as file:
        code = compile(file.read(), source.__file__, "exec")
    exec(code, module.__dict__)
    replaced = 0
    for name in NAMES:
        if name in module.__dict__:
            setattr(module, name, getattr(matching, name))
            replaced += 1
    assert replaced >= 2, module_name
    return module


def _adopt(module_name, prefix):
    for name, value in vars(_patched(module_name)).items():
        if name.startswith("test_"):
            value.__module__ = __name__
            globals()[f"test_{prefix}_{name[5:]}"] = value


_adopt("scipy.optimize.tests.test_linear_assignment", "lsa")
_adopt("scipy.sparse.csgraph.tests.test_matching", "csgraph")
