"""trackpy's linking tests through motes.link.

trackpy's packages do not hold its tests, and they are never copied here. Set MOTES_TRACKPY_TESTS to
the folder trackpy/tests of a checkout of trackpy to run those of test_linking.py as they are, with
our functions in place of trackpy's, but for `LEFT_OUT`. The cases that tell one linker from another
are also stated below in our own words.
"""

import importlib.util
import os
import sys
import unittest
from pathlib import Path

import numpy as np
import pytest

import motes

pandas = pytest.importorskip("pandas")

#: By test, or by class where all of its tests are left out.
LEFT_OUT = {
    "test_oversize_fail": "expects trackpy to give up on a large subnet; here there are none",
    "test_adaptive_fail": "expects the same after its adaptive search",
    "test_adaptive_range": "asks for adaptive_stop, which shrinks the gate where subnets are large",
    "test_drop_link": "asks for link_strategy='drop', which leaves particles of subnets unlinked",
    "test_custom_dist_pyfunc": "asks for dist_func, a distance that is not Euclidean",
    "test_custom_dist_metric": "the same",
    "TestMockSubnetlinker": "looks into trackpy's subnet linker",
    "TestPartialLink": "link_partial, which trackpy alone has, on frames that are linked already",
    "TestFindLink": "find_link, which detects again while it links",
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
    for name in ("link", "link_iter", "link_df_iter"):
        assert hasattr(module, name)
        setattr(module, name, getattr(motes, name))
    return module


def _adopt(module):
    """Its classes of tests, here, and the number of tests."""
    count = 0
    for name, value in vars(module).items():
        if not isinstance(value, type) or not hasattr(value, "link") or name in LEFT_OUT:
            continue
        adopted = type("Test" + name.removeprefix("Test"), (value,), {})
        for test in [t for t in dir(value) if t.startswith("test_")]:
            count += 1
            if test in LEFT_OUT:
                setattr(adopted, test, unittest.skip(LEFT_OUT[test])(getattr(value, test)))
        globals()[adopted.__name__] = adopted
    return count


_module = _own_tests()
if _module is not None:
    assert _adopt(_module) > 50
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


def test_polar_coordinates_through_to_eucl():
    rng = np.random.default_rng(5)
    x, y = np.cumsum(rng.random((2, 5, 6)) * 2 - 1, axis=1)
    f = pandas.DataFrame({"x": x.ravel(), "y": y.ravel(), "frame": np.repeat(np.arange(5), 6)})
    f["r"], f["angle"] = np.hypot(f.x, f.y), np.arctan2(f.y, f.x)

    def to_eucl(polar):
        r, angle = polar.T
        return np.column_stack([r * np.cos(angle), r * np.sin(angle)])

    found = motes.link(f, 3, pos_columns=["r", "angle"], to_eucl=to_eucl)
    assert (found.particle == motes.link(f, 3).particle).all()
    assert found.columns.tolist() == f.columns.tolist() + ["particle"]
    arrays = [t[["r", "angle"]].to_numpy() for _, t in f.groupby("frame")]
    linked = [p for _, ids in motes.link_iter(arrays, 3, to_eucl=to_eucl) for p in ids]
    assert linked == found.particle.tolist()
    with pytest.raises(ValueError, match="to_eucl: gave an array of shape"):
        motes.link(f, 3, to_eucl=lambda polar: polar[:4])


@pytest.mark.parametrize("dtype", [int, float, "int16"])
def test_types_of_frame_numbers(dtype):
    f = table([(t, t, 1) for t in range(5)]).astype({"frame": dtype})
    assert motes.link(f, 5).frame.dtype.kind == "i"
    frames = [f[f.frame == t] for t in range(5)]
    found = pandas.concat(motes.link_df_iter(frames, 5, link_strategy="numba"))
    assert found.frame.dtype == dtype and found.particle.tolist() == [0] * 5
    numbers = f.frame.to_numpy()
    pairs = list(motes.link_iter(((t, f.loc[f.frame == t, ["y", "x"]].to_numpy()) for t in numbers), 5))
    assert [type(t) for t, _ in pairs] == [type(t) for t in numbers]


def test_particles_are_numbered_as_they_appear():
    late = table([(t, t, 26) for t in range(1, 5)])
    f = pandas.concat([table([(t, t, 1) for t in range(5) if t != 3]), late])
    found = motes.link(f, 5).sort_values(["y", "frame"])
    assert found.particle.tolist() == [0, 0, 0, 2, 1, 1, 1, 1]
    shuffled = motes.link(f.sample(frac=1, random_state=0), 5).sort_values(["y", "frame"])
    assert shuffled.particle.tolist() == found.particle.tolist()


def test_points_at_the_same_place_and_empty_frames():
    trackpy = pytest.importorskip("trackpy")
    trackpy.quiet()
    f = table([(t, 1.0, 1.0) for t in (0, 0, 1, 1, 1, 4, 4)])
    found = motes.link(f, 2, memory=2)
    assert not found.duplicated(["frame", "particle"]).any()
    assert found.particle.nunique() == trackpy.link(f, 2, memory=2).particle.nunique() == 3


def test_analysis_goes_on_with_the_result():
    """trackpy's own functions give on our table what they give on trackpy's."""
    trackpy = pytest.importorskip("trackpy")
    trackpy.quiet()
    rng = np.random.default_rng(9)
    x, y = np.cumsum(rng.normal(0, 0.1, (2, 30, 20)), axis=1) + rng.random((2, 1, 20)) * 40
    f = pandas.DataFrame({"x": x.ravel(), "y": y.ravel(), "frame": np.repeat(np.arange(30), 20)})
    f = f[rng.random(len(f)) > 0.05].reset_index(drop=True)
    tables = [link(f, 1, memory=3) for link in (motes.link, trackpy.link)]
    ours, theirs = ([] for _ in tables)
    for t, out in zip(tables, (ours, theirs)):
        long = trackpy.filter_stubs(t, 10)
        out += [long.particle.nunique(), len(long), trackpy.compute_drift(long), trackpy.subtract_drift(long)]
        out += [trackpy.emsd(long, 0.1, 5).to_numpy(), trackpy.imsd(long, 0.1, 5).shape]
        out += [trackpy.msd(long[long.particle == long.particle.min()], 0.1, 5).shape]
        # Of all, since trackpy's releases number particles of one frame in different orders.
        sizes = [trackpy.motion.diagonal_size(one) for _, one in long.groupby("particle")]
        out += [np.sort(sizes).round(9).tolist()]
        out += [trackpy.proximity(long).shape, trackpy.relate_frames(long, 3, 4).shape]
    assert ours[:2] == theirs[:2]
    np.testing.assert_allclose(ours[2].to_numpy(), theirs[2].to_numpy(), atol=1e-12)
    np.testing.assert_allclose(ours[4], theirs[4])
    assert ours[5:] == theirs[5:]


def test_a_table_as_laptrack_takes_it():
    """Columns of any order and names, frames as the index, a segment's id beside."""
    rows = [(k, t, 10.0 * k + 0.1 * t, 5.0) for t in range(4) for k in range(3)]
    f = pandas.DataFrame(rows, columns=["label", "frame", "centroid-1", "centroid-0"])
    f = f.set_index(["frame", "label"])
    columns = ["centroid-0", "centroid-1"]
    with pytest.raises(ValueError, match="reset_index"):
        motes.link(f, 1, pos_columns=columns)
    found = motes.link(f.reset_index(), 1, pos_columns=columns)
    assert (found.particle == found.label).all()
