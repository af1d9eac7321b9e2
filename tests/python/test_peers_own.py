"""Tests of other packages that solve assignment problems, with motes in the place of their solvers.

networkx and lap ship their tests, and those installed are run; the others' stand in their source
distributions, and are run where MOTES_PEER_TESTS names a folder with these, unpacked. Nothing is copied.
lapjv and the wheel of lapx have no tests; those of ultrack and motile were not looked at.

All that are run pass with networkx 3.6.1, laptrack 0.17.1, traccuracy 0.4.3 and munkres 3.0.0 (Python 3.11), and
SciPy's own (test_scipy_own.py) with 1.9.3, 1.11.4, 1.13.1, 1.14.1 and 1.17.1, NumPy 1.23.5 to 2.4.6.

    pip install lap laptrack traccuracy munkres pytest-datadir hypothesis
    pip download --no-deps --no-binary :all: -d DIR laptrack traccuracy munkres  # then tar xzf
    MOTES_PEER_TESTS=DIR PYTHONPATH=build/release/python python -m pytest -v tests/python/test_peers_own.py
"""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

#: What is left out, by package and by a part of the test's name, with the reason.
LEFT_OUT = {
    "networkx": {},
    "munkres": {},
    "lap": {
        "test_square": "expects one of several optima; motes may return another of the same cost",
        "4kx4k": "takes a minute, most of it to make the matrix",
    },
    "laptrack": {"ray": "runs laptrack in other processes, where its solver is not replaced"},
    "traccuracy": {"test_matching_from_in_memory": "fails with pandas 3 without motes too"},
}


def run(package, replaced, *tests, folder=None, least):
    """Runs a package's tests; at least so many pass, none fails, and motes is called."""
    pytest.importorskip(package)
    here = Path(__file__).parent
    paths = [str(here), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = dict(os.environ, MOTES_IN_PEERS=replaced, PYTHONPATH=os.pathsep.join(paths))
    options = ["-q", "-p", "motes_in_peers", "-p", "no:cacheprovider", "-p", "no:timeout", "-o", "addopts="]
    if LEFT_OUT[package]:
        options += ["-k", "not (" + " or ".join(LEFT_OUT[package]) + ")"]
    if folder is None:
        options.append("--pyargs")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        env=environment, cwd=folder or here, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
    passed = int(re.search(r"(\d+) passed", done.stdout)[1])
    called = int(re.search(r"motes was called (\d+) times", done.stdout)[1])
    assert passed >= least and called > 0, done.stdout[-1000:]


def sources(package):
    """The folder of a package's unpacked source distribution."""
    root = os.environ.get("MOTES_PEER_TESTS")
    found = sorted(Path(root).glob(package + "-*/tests")) if root else []
    if not found:
        pytest.skip(f"MOTES_PEER_TESTS names no folder with the sources of {package}")
    return found[-1].parent


@pytest.mark.timeout(600)
def test_networkx():
    run("networkx", "scipy,hopcroft-karp", "networkx.algorithms.bipartite.tests.test_matching", least=20)


@pytest.mark.timeout(600)
def test_lap():
    if importlib.util.find_spec("lap") and not importlib.util.find_spec("lap.tests"):
        pytest.skip("this lap ships no tests")
    run("lap", "lap", "lap.tests", least=34)


@pytest.mark.timeout(600)
def test_laptrack():
    """test_overlap_tracking.py is left out: it downloads its data."""
    tests = ("tests/test_tracking.py", "tests/test_tracking_routines.py")
    run("laptrack", "scipy", *tests, folder=sources("laptrack"), least=25)


@pytest.mark.timeout(600)
def test_traccuracy():
    """Its matchers alone: its metrics solve no assignment."""
    run("traccuracy", "scipy", "tests/matchers", folder=sources("traccuracy"), least=90)


def test_munkres():
    """Its solver beside ours, which its tests take for SciPy's: forbidden pairs, huge and tiny costs."""
    tests = ("tests/test_fuzz_oracle.py", "tests/test_properties.py", "tests/compatibility", "tests/numerical")
    run("munkres", "scipy", *tests, folder=sources("munkres"), least=20)


def test_traccuracy_counts_links_as_motes_score(tmp_path):
    """It reads what we write, and finds the same edges right, wrong and missed."""
    pytest.importorskip("traccuracy")
    pandas = pytest.importorskip("pandas")
    import motes
    import numpy as np
    from traccuracy import run_metrics
    from traccuracy.loaders import load_geff_data
    from traccuracy.matchers import PointMatcher
    from traccuracy.metrics import BasicMetrics

    rng = np.random.default_rng(3)
    steps = rng.normal(0, 0.8, (12, 10, 3)).cumsum(axis=1) + rng.uniform(10, 90, (12, 1, 3))
    p, t = np.indices((12, 10)).reshape(2, -1)
    z, y, x = steps.reshape(-1, 3).T
    truth = pandas.DataFrame({"frame": t, "particle": p, "x": x, "y": y, "z": z})
    seen = truth[rng.random(len(truth)) < 0.9].drop(columns="particle")
    tables = {"truth": truth, "found": motes.link(seen, 2, memory=1)}
    tracks, graphs = {}, {}
    for name, f in tables.items():
        tracks[name] = motes.Tracks.from_dataframe(f, dt_s=1)
        tracks[name].to_geff(tmp_path / f"{name}.geff")
        graphs[name] = load_geff_data(str(tmp_path / f"{name}.geff"))
        graphs[name].location_keys = ["z", "y", "x"]
    theirs = run_metrics(graphs["truth"], graphs["found"], PointMatcher(threshold=0.5), [BasicMetrics()])[0][0]
    ours = motes.score(tracks["truth"], tracks["found"], gate=0.5)["link"]
    assert 0.2 < ours["f1"] < 0.9
    for name in ("Precision", "Recall", "F1"):
        assert theirs["results"]["Edge " + name] == pytest.approx(ours[name.lower()])
