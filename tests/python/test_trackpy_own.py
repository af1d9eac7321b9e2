"""trackpy's linking tests through motes.link.

trackpy's packages do not hold its tests, and they are never copied here. Set MOTES_TRACKPY_TESTS to
the folder trackpy/tests of a checkout of trackpy to run those of test_linking.py as they are, but
for `LEFT_OUT`. The cases that tell one linker from another are also stated below in our own words.
"""

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import motes

pandas = pytest.importorskip("pandas")

LEFT_OUT = {
    "test_oversize_fail": "expects trackpy to give up on a large subnet; here there are none",
    "test_adaptive_fail": "expects the same after its adaptive search",
    "test_adaptive_range": "asks for adaptive_stop, which shrinks the gate where subnets are large",
    "test_drop_link": "asks for link_strategy='drop', which leaves particles of subnets unlinked",
}


def _own_tests():
    folder = os.environ.get("MOTES_TRACKPY_TESTS")
    if not folder:
        return None
    pytest.importorskip("trackpy")
    sys.modules.setdefault("trackpy.tests", type(sys)("trackpy.tests")).__path__ = [folder]
    spec = importlib.util.spec_from_file_location("trackpy_test_linking", Path(folder) / "test_linking.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_module = _own_tests()
if _module is not None:

    class TestTrackpysOwn(_module.SubnetNeededTests):
        def link(self, f, search_range, *args, **kwargs):
            return motes.link(f, search_range, *args, **{**self.linker_opts, **kwargs})

    for _name, _reason in LEFT_OUT.items():
        if hasattr(TestTrackpysOwn, _name):
            setattr(TestTrackpysOwn, _name, pytest.mark.skip(reason=_reason)(lambda self: None))
else:

    def test_trackpys_own():
        pytest.skip("MOTES_TRACKPY_TESTS names no checkout of trackpy")


def table(rows):
    return pandas.DataFrame(rows, columns=["frame", "x", "y"])


def particles(f, gate, **options):
    return motes.link(f, gate, **options).particle.tolist()


def test_squares_add_up():
    """Two pairings of equal cost in squares: a unit's difference decides, and lengths would not."""
    for shift, expected in ((1, [0, 1, 1, 0]), (-1, [0, 1, 0, 1])):
        f = table([(0, 6, 0), (0, 14 + shift, 8), (1, 8, 0), (1, 0, 8)])
        assert particles(f, 20) == expected
        f = table([(0, 10, 30), (0, 10, 0), (1, 0, 20), (1, 30, 20 + shift)])
        assert particles(f, 30) == expected


def test_a_missing_link_costs_the_gate_squared():
    """Two long links (226) against a short one and a lone particle (65 + gate^2)."""
    f = table([(0, 0, 0), (0, 8, 0), (1, 7, 8), (1, 15, 8)])
    assert particles(f, 13) == [0, 1, 0, 1]
    assert particles(f, 12) == [0, 1, 1, 2]


def test_a_particle_that_came_back_is_remembered_once():
    f = table([(0, 1, 1), (0, 4, 1), (1, 1, 1), (2, 1, 1), (2, 2, 1), (3, 1, 1), (3, 2, 1), (3, 4, 1)])
    linked = motes.link(f, 5, memory=2)
    assert linked.particle.nunique() == 3
    assert not linked.duplicated(["frame", "particle"]).any()


def test_gaps_and_late_appearances():
    steady = table([(t, t, 5) for t in range(5)])
    wander = table([(t, x, 0) for t, x in ((0, 0.0), (1, 0.7), (3, 0.2), (4, 1.1))])
    both = pandas.concat([steady, wander])
    assert motes.link(both, 3, memory=0).particle.nunique() == 3
    assert motes.link(both, 3, memory=2).particle.nunique() == 2
    late = pandas.concat([steady, wander[wander.frame.isin([1, 4])]])
    assert motes.link(late, 3, memory=1).particle.nunique() == 3
    assert motes.link(late, 3, memory=4).particle.nunique() == 2


def test_an_empty_frame_ends_tracks_without_memory():
    f = table([(t, k, 1) for k, t in enumerate([0, 1, 2, 4, 5])])
    assert particles(f, 5) == [0, 0, 0, 1, 1]
    assert particles(f, 5, memory=1) == [0] * 5


def test_frames_need_not_begin_at_0_and_steps_may_be_as_long_as_the_gate():
    f = table([(t + 3, t, 1) for t in range(5)])
    assert particles(f, 1) == [0] * 5
    assert particles(f, 0.9) == [0, 1, 2, 3, 4]


def test_rows_that_move_along_themselves():
    """A gate of several spacings: every particle has many candidates, all frames one large subnet."""
    f = table([(j, j, k + j) for j in range(5) for k in range(0, 32, 2)])
    assert motes.link(f, 8).particle.nunique() == 16


def test_no_subnet_is_too_large():
    """A grid of 441 points that contracts until its rim lies on the next ring: trackpy gives up."""
    grid = np.mgrid[-10:11, -10:11].reshape(2, -1).T * 2.0
    f = table([(t, x * s, y * s) for t, s in ((0, 1.0), (1, 0.9)) for x, y in grid])
    linked = motes.link(f, 2)
    before, after = (linked[linked.frame == t].set_index("particle") for t in (0, 1))
    lost = before.loc[before.index.difference(after.index)]
    assert 0 < len(lost) < 100
    assert (lost[["x", "y"]].abs().max(axis=1) > 19).all()  # of the rim alone
