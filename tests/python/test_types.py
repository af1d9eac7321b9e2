"""Type annotations and docstrings, as type checkers and numpydoc read them."""

import inspect
import subprocess
import sys
from pathlib import Path

import motes
import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = Path(motes.__file__).parent
HAS_STUB = (PACKAGE / "_core.pyi").exists()

USER = """
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import motes
from motes.matching import assign, linear_sum_assignment, maximum_bipartite_matching

stack = np.zeros((4, 8, 16, 16), np.uint16)
found: motes.Result = motes.track(stack, voxel_um=[0.4, 0.1, 0.1], dt_s=2, progress=print)
same = motes.track((frame for frame in stack), frames=4, axes="ZYX", voxel_um=1)
from_file = motes.track("stack.tif", settings={"linking": {"model": "velocity"}})
tracks: motes.Tracks = found.tracks
ids: NDArray[np.int64] = tracks.track_id
gate: float | None = found.gate
table = tracks.to_dataframe()
linked = motes.link(pd.DataFrame({"frame": [0, 1], "x": [0.0, 0.1], "y": [0.0, 0.1]}), 1.5, memory=2)
for frame, particles in motes.link_iter([np.zeros((3, 2))], [1.0, 2.0]):
    total: int = frame + sum(particles)
estimate = motes.estimate_gate(linked)
if estimate is not None:
    wide: float = 2 * estimate["gate"]
rows, cols = linear_sum_assignment(np.eye(3), maximize=True)
pairs: NDArray[np.intp] = rows
best = assign([[1, 2], [3, 4]], unmatched=2.5)
price: NDArray[np.float64] = best.v
try:
    motes.write("tracks.h5", motes.read("tracks.csv", voxel_um=[0.4, 0.1, 0.1]))
except motes.InputError as error:
    print(error)
made = motes.simulate(particles=5, frames=3, volumes=True)
motes.score(made.truth, tracks, gate=0.5)["link"]["f1"]
"""

#: Each line is one error.
WRONG = """
import numpy as np
import motes

motes.track(np.zeros((2, 2)), voxel_um="small")
motes.link(np.eye(2), 0.5, memory="two")
motes.read(5)
motes.matching.linear_sum_assignment()
motes.matching.maximum_bipartite_matching(np.eye(3))
text: str = motes.track("a.tif").gate
motes.score(1, 2)
"""


def mypy(*arguments, cwd):
    pytest.importorskip("mypy")
    if not HAS_STUB:
        pytest.skip("motes._core has no stub")
    command = [sys.executable, "-m", "mypy", "--cache-dir", "cache", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=None).stdout


@pytest.mark.timeout(300)
def test_the_package_is_typed_throughout(tmp_path):
    out = mypy("--config-file", ROOT / "pyproject.toml", PACKAGE, cwd=tmp_path)
    assert "Success: no issues found in 1" in out, out


@pytest.mark.timeout(300)
def test_a_users_script_is_checked(tmp_path, monkeypatch):
    monkeypatch.setenv("MYPYPATH", str(PACKAGE.parent))
    options = ("--strict", "--follow-imports", "silent", "--ignore-missing-imports")
    (tmp_path / "right.py").write_text(USER)
    out = mypy(*options, "right.py", cwd=tmp_path)
    assert "Success" in out, out
    (tmp_path / "wrong.py").write_text(WRONG)
    out = mypy(*options, "wrong.py", cwd=tmp_path)
    expected = [n for n, line in enumerate(WRONG.splitlines(), 1) if "(" in line]
    found = sorted({int(line.split(":")[1]) for line in out.splitlines() if ": error:" in line})
    assert found == expected, out


def public_objects():
    """Functions, classes and their methods, by their names."""
    for module in (motes, motes.matching):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.ismodule(value) or isinstance(value, str) or issubclass_of_error(value):
                continue
            yield f"{module.__name__}.{name}"
            if inspect.isclass(value):
                for own, member in vars(value).items():
                    if not own.startswith("_") and callable(getattr(value, own)) and not isinstance(member, type):
                        yield f"{module.__name__}.{name}.{own}"


def public_object(name):
    value = motes
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


def issubclass_of_error(value):
    return inspect.isclass(value) and issubclass(value, Exception)


#: numpydoc's checks that are a matter of taste here: no sections See Also and Examples, no extended summary in
#: each, one-line docstrings, and descriptions without a full stop.
TASTE = {"SA01", "EX01", "ES01", "GL01", "GL02", "GL03", "SS05", "SS06", "PR06", "PR08", "PR09", "RT02", "RT03", "RT04", "RT05", "YD01"}  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(public_objects())))
def test_docstrings_are_complete(name):
    validate = pytest.importorskip("numpydoc.validate").validate
    left_out = set(TASTE)
    value = public_object(name)
    if inspect.isclass(value):
        left_out.add("PR01")  # the fields of a dataclass are Attributes
    elif not inspect.isfunction(value) and not inspect.ismethod(value):
        left_out |= {"SS02", "SS03", "PR02"}  # compiled: its docstring begins with the signature, as it must
    errors = [f"{code}: {text}" for code, text in validate(name)["errors"] if code not in left_out]
    assert not errors, errors
