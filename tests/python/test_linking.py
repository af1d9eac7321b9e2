"""motes.link: trackpy's habits, the exact optimum, and the series linker."""

import warnings

import numpy as np
import pytest

import motes

pandas = pytest.importorskip("pandas")


def walkers(rng, particles=60, frames=8, step=0.1, dims=3, side=4.0):
    """Diffusing points in shuffled order, and the truth in the column `true`."""
    at = rng.random((particles, dims)) * side
    rows = []
    for t in range(frames):
        order = rng.permutation(particles)
        table = pandas.DataFrame(at[order], columns=list("zyx")[-dims:])
        rows.append(table.assign(frame=t, true=order))
        at = at + rng.normal(0, step, at.shape)
    return pandas.concat(rows, ignore_index=True)


def links(f):
    """Pairs of index labels that follow each other on a track."""
    g = f.sort_values(["particle", "frame"], kind="stable")
    same = g.particle.to_numpy()[1:] == g.particle.to_numpy()[:-1]
    label = g.index.to_numpy()
    return set(zip(label[:-1][same], label[1:][same]))


def test_the_table_is_kept(rng):
    f = walkers(rng).sample(frac=1, random_state=1)
    f["frame"] = f["frame"].astype(float)
    f["note"] = "kept"
    before = f.copy()
    found = motes.link(f, 0.5)
    assert (f == before).all().all()
    assert found.particle.dtype == np.int64
    assert found.frame.dtype == np.int64
    assert found.frame.is_monotonic_increasing
    assert sorted(found.index) == sorted(f.index)
    pandas.testing.assert_frame_equal(
        found.drop(columns=["particle", "frame"]).sort_index(), f.drop(columns="frame").sort_index()
    )


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("memory", [0, 2])
def test_the_links_are_trackpys(rng, dims, memory):
    trackpy = pytest.importorskip("trackpy")
    trackpy.quiet()
    f = walkers(rng, 40, 10, 0.08, dims, side={1: 40.0, 2: 8.0, 3: 4.0}[dims])
    f = f[rng.random(len(f)) > 0.1]
    columns = list("zyx")[-dims:]
    ours = motes.link(f, 0.35, columns, memory=memory)
    theirs = trackpy.link(f, 0.35, columns, memory=memory)
    assert links(ours) == links(theirs)
    again = motes.link(f, search_range=(0.35,) * dims, pos_columns=columns, memory=memory)
    assert (again.particle == ours.particle).all()


def test_an_ellipsoid_as_gate(rng):
    trackpy = pytest.importorskip("trackpy")
    f = walkers(rng)
    gate = (0.6, 0.3, 0.2)
    assert links(motes.link(f, gate)) == links(trackpy.link(f, gate))


def test_trackpy_works_on_the_result(rng):
    trackpy = pytest.importorskip("trackpy")
    found = motes.link(walkers(rng, frames=12), 0.5)
    long = trackpy.filter_stubs(found, 5)
    drift = trackpy.compute_drift(long, pos_columns=["x", "y", "z"])
    assert len(drift) == 11
    still = trackpy.subtract_drift(long, drift)
    msd = trackpy.emsd(still, 1, 1, pos_columns=["x", "y", "z"])
    assert msd.iloc[0] == pytest.approx(3 * 0.1**2, rel=0.3)


def test_memory_bridges_gaps():
    f = pandas.DataFrame({"x": [0.0, 0.1, 0.2, 0.3], "y": 0.0, "frame": [0, 1, 4, 5]})
    assert motes.link(f, 1).particle.nunique() == 2
    assert motes.link(f, 1, memory=1).particle.nunique() == 2
    assert motes.link(f, 1, memory=2).particle.nunique() == 1


def test_a_series_without_a_gate(rng):
    f = walkers(rng, 200, 10, 0.05, side=6.0)
    found = motes.link(f)
    truth = f.assign(particle=f.true)
    right = links(truth)
    assert len(links(found) & right) > 0.98 * len(right)
    assert links(motes.link(f, threads=1)) == links(found)
    assert motes.estimate_gate(f)["ratio"] < 0.3


def test_empty_and_single(rng):
    f = walkers(rng)
    assert len(motes.link(f.iloc[:0], 1)) == 0
    one = motes.link(f[f.frame == 0], 1)
    assert one.particle.tolist() == list(range(len(one)))
    assert motes.link(f[f.frame == 0]).particle.nunique() == len(one)


def test_refusals(rng):
    f = walkers(rng)
    for bad in (0, -1, np.nan, np.inf, (1, 2)):
        with pytest.raises(ValueError, match="gate"):
            motes.link(f, bad)
    with pytest.raises(ValueError, match="'t'"):
        motes.link(f, 1, t_column="t")
    with pytest.raises(ValueError, match="'w'"):
        motes.link(f, 1, ["w", "x"])
    with pytest.raises(TypeError, match="memry"):
        motes.link(f, 1, memry=1)
    with pytest.raises(NotImplementedError, match="predictor"):
        motes.link(f, 1, predictor=print)
    with pytest.raises(ValueError, match="scope"):
        motes.link(f, 1, scope="all")
    with pytest.raises(ValueError, match="model"):
        motes.link(f, model="fast")
    f.loc[3, "x"] = np.nan
    with pytest.raises(ValueError, match="finite"):
        motes.link(f, 1)
    assert motes.link(walkers(rng), 1, link_strategy="recursive").particle.nunique() > 0


def test_what_progress_throws_comes_out(rng):
    class Enough(Exception):
        pass

    def stop(done):
        raise Enough

    with pytest.raises(Enough):
        motes.link(walkers(rng), 0.5, progress=stop)
    seen = []
    motes.link(walkers(rng), 0.5, memory=1, progress=seen.append)
    assert seen == list(range(8))


def test_bad_tables_are_told_by_column_and_row(rng):
    f = walkers(rng)
    with pytest.raises(ValueError, match="column 'x': 1 of 480 .* index 3"):
        motes.link(f.assign(x=f.x.where(f.index != 3)), 1)
    with pytest.raises(ValueError, match="column 'x': 1 of 480 .* index 3"):
        motes.link(f.assign(x=f.x.where(f.index != 3, np.inf)), 1)
    with pytest.raises(ValueError, match="column 'frame': 1 of 480"):
        motes.link(f.assign(frame=f.frame.where(f.index != 3)), 1)
    with pytest.raises(ValueError, match="0.5 is not a frame number"):
        motes.link(f.assign(frame=f.frame + 0.5), 1)
    for bad in ("a", pandas.Timestamp(0)):
        with pytest.raises(ValueError, match="column 'frame' holds"):
            motes.link(f.assign(frame=bad), 1)
    with pytest.raises(ValueError, match="column 'y' holds .*, not numbers"):
        motes.link(f.assign(y="a"), 1)
    with pytest.raises(ValueError, match="gate: '1'"):
        motes.link(f, "1")
    with pytest.raises(ValueError, match="memory: 1.5 is not a whole number"):
        motes.link(f, 1, memory=1.5)
    with pytest.raises(TypeError, match="pandas.DataFrame, not ndarray"):
        motes.link(f[["frame", "x"]].to_numpy(), 1)


def test_other_types_of_columns_give_the_same_links(rng):
    f = walkers(rng)
    expected = motes.link(f, 0.5, memory=1).particle.to_numpy()
    assert (motes.link(f, 0.5, memory=1.0).particle == expected).all()
    assert (motes.link(f.convert_dtypes(), 0.5, memory=1).particle == expected).all()
    assert (motes.link(f.assign(frame=f.frame.astype("uint8")), 0.5, memory=1).particle == expected).all()
    assert (motes.link(f.assign(frame=f.frame.astype(float)), 0.5, memory=1).particle == expected).all()


def test_frames_that_come_one_by_one(rng):
    f = walkers(rng)
    expected = motes.link(f, 0.5, memory=1)
    tables = [table for _, table in f.groupby("frame")]
    tables.insert(3, f.iloc[:0])
    found = list(motes.link_df_iter(iter(tables), 0.5, memory=1))
    assert [len(t) for t in found] == [len(t) for t in tables]
    assert pandas.concat([t for t in found if len(t)]).equals(expected)
    arrays = [table[["z", "y", "x"]].to_numpy() for _, table in f.groupby("frame")]
    pairs = list(motes.link_iter(arrays, 0.5, memory=1))
    assert [t for t, _ in pairs] == list(range(8))
    assert np.concatenate([p for _, p in pairs]).tolist() == expected.particle.tolist()
    assert list(motes.link_iter([np.empty((0, 2)), [[1, 2]], []], 1)) == [(0, []), (1, [0]), (2, [])]
    assert list(motes.link_iter([(4, [[1, 2]]), (6, [[1, 2]])], 1, memory=1)) == [(4, [0]), (6, [0])]
    with pytest.raises(ValueError, match="do not rise"):
        list(motes.link_iter([(4, [[1, 2]]), (4, [[1, 2]])], 1))
    assert motes.link_df is motes.link


def test_odd_indices_are_kept(rng):
    f = walkers(rng).sample(frac=1, random_state=3)
    expected = motes.link(f, 0.5).particle.to_numpy()
    by_frame = f.set_index("frame", drop=False)  # as filter_stubs leaves it
    for odd in (by_frame, f.set_index(["frame", "true"], drop=False), f.set_axis([0] * len(f))):
        found = motes.link(odd, 0.5)
        assert (found.particle.to_numpy() == expected).all()
        assert found.index.names == odd.index.names
    with pytest.raises(ValueError, match="'frame' is the index, not a column; .*reset_index"):
        motes.link(f.set_index("frame"), 0.5)


def test_columns_that_are_there_twice_or_not_at_all(rng):
    f = walkers(rng)
    for name in ("x", "frame"):
        with pytest.raises(ValueError, match=f"2 columns are called '{name}'"):
            motes.link(pandas.concat([f, f[[name]]], axis=1), 0.5)
    with pytest.raises(ValueError, match="name a column twice"):
        motes.link(f, 0.5, ["x", "x"])
    with pytest.raises(ValueError, match="no column 'frame'.*the table has z, y, x, t, true"):
        motes.link(f.rename(columns={"frame": "t"}), 0.5)
    with pytest.raises(ValueError, match=r"give pos_columns=\['Y', 'X'\]: the table has X, Y"):
        motes.link(f[["x", "y"]].rename(columns=str.upper).assign(frame=f.frame), 0.5)
    line = motes.link(f.assign(x_nm=f.x), 0.5, "x_nm")
    assert (line.particle == motes.link(f, 0.5, ["x"]).particle).all()


def test_frame_numbers_far_apart(rng):
    f = walkers(rng, 20, 6)
    expected = motes.link(f, 0.5, memory=1).particle
    with pytest.warns(UserWarning, match="no two frames are within 2 of each other.* steps of 10 or more"):
        apart = motes.link(f.assign(frame=f.frame * 10), 0.5, memory=1)
    assert apart.particle.nunique() == len(f)
    late = f.assign(frame=f.frame.where(f.frame < 3, f.frame + 1_500_000_000))
    found = motes.link(late, 0.5, memory=1)
    assert found.particle.nunique() == 40
    assert (found.particle[f.frame < 3] == expected[f.frame < 3]).all()
    assert motes.link(late).particle.nunique() == 40
    with pytest.raises(ValueError, match="are too many; number the existing frames"):
        motes.link(late, 0.5, memory=10**12)
    assert motes.link(f, 0.5, memory=10**12).particle.nunique() == 20
    ends = f.assign(frame=f.frame.where(f.frame < 3, f.frame + (2**63 - 6)).where(f.frame >= 3, f.frame + -(2**63)))
    for options in ({"gate": 0.5, "memory": 1}, {}):
        assert motes.link(ends, **options).particle.nunique() == 40


@pytest.mark.parametrize("scope", ["pairs", "series"])
def test_a_gate_below_the_typical_displacement_is_warned_of(rng, tmp_path, scope):
    f = walkers(rng, 60, 8, 0.05).rename(columns="{}_um".format).rename(columns={"frame_um": "frame"})
    f.to_csv(tmp_path / "points.csv")
    with pytest.warns(UserWarning, match="the gate of 0.04 um is shorter than the typical displacement of 0.0"):
        found = motes.track(tmp_path / "points.csv", gate=0.04)
    with pytest.warns(UserWarning) as heard:
        linked = motes.link(f, 0.04, scope=scope)
    assert [str(w.message) for w in heard] == [w for w in found.warnings if w.startswith("the gate")]
    assert heard[0].filename == __file__
    assert linked.particle.nunique() > 200
    # Positions without a unit, and a gate for each column.
    plain = f.rename(columns=lambda name: name.removesuffix("_um"))
    with pytest.warns(UserWarning, match=r"the gate of 0.04 is shorter than the typical displacement of 0\.0\d+: "):
        motes.link(plain, 0.04, scope=scope)
    with pytest.warns(UserWarning, match=r"the gate of 1 x \(0.04, 0.04, 0.03\) is shorter .* of 2\.\d+ x \(0.04, "):
        motes.link(plain, (0.04, 0.04, 0.03), scope=scope)


@pytest.mark.parametrize("gate", [0.12, 0.3, None])
def test_a_gate_that_suits_the_data_is_not_warned_of(rng, gate):
    f = walkers(rng, 60, 8, 0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motes.link(f, gate)
        motes.link(f[rng.random(len(f)) > 0.5], gate)  # few are linked on, but not for the gate
        motes.link(f[f.frame == 0], gate)


@pytest.mark.parametrize("step", [0, 1e-9, 1e-5])
@pytest.mark.parametrize("dims", [2, 3])
def test_particles_that_stay_where_they_are(rng, dims, step):
    f = walkers(rng, 50, 12, step, dims)
    for options in ({}, {"model": "static"}, {"gate": 0.1}, {"gate": 0.1, "memory": 2}):
        found = motes.link(f, **options)
        assert found.particle.nunique() == 50, options
        assert (found.groupby("particle").true.nunique() == 1).all()


def test_gates_that_are_no_lengths(rng):
    f = walkers(rng)
    for gate in (1e300, 1e-300, (1e200, 1, 1)):
        with pytest.raises(ValueError, match="gate: .* is not between"):
            motes.link(f, gate)


def test_tables_of_other_libraries_and_complex_columns():
    class Frame:
        def to_pandas(self):
            raise AssertionError

    with pytest.raises(TypeError, match="not Frame; give table.to_pandas"):
        motes.link(Frame(), gate=1)
    table = pandas.DataFrame(dict(frame=[0, 1], x=[1.0, 1.5], y=[2.0, 2]))
    with pytest.raises(ValueError, match="'x' holds complex128, not real numbers"):
        motes.link(table.astype({"x": complex}), gate=1)
    # As many threads as this ended the process.
    assert motes.link(table, gate=1, threads=1_000_000)["particle"].tolist() == [0, 0]
    with pytest.raises(TypeError, match="threads: '2' is not a whole number"):
        motes.link(table, gate=1, threads="2")
    for cost in (-1, float("nan")):
        with pytest.raises(ValueError, match="no_link_cost: .* is not a cost"):
            motes.link(table, gate=1, no_link_cost=cost)
    with pytest.raises(TypeError, match="progress: 5 cannot be called"):
        motes.link(table, gate=1, progress=5)
