"""Arguments as people give them: each call works, or says in one line what is wrong."""

import io
import re
from fractions import Fraction
from pathlib import Path

import motes
import numpy as np
import pytest

pandas = pytest.importorskip("pandas")
ROOT = Path(__file__).parents[2]
STACK = ROOT / "sample" / "stack.ome.tif"


@pytest.fixture(scope="module")
def frames():
    """Three frames of the sample stack, [t, z, y, x] of uint8, and the number of their tracks."""
    return pytest.importorskip("tifffile").imread(STACK)[:3]


def tracks_of(array, **more):
    return motes.track(array, **{"voxel_um": [0.2, 0.1, 0.1], "dt_s": 1, **more}).tracks


def table():
    rows = [(t, 5 * k + 0.1 * t, 3.0 * k, 1.0) for t in range(5) for k in range(4)]
    return pandas.DataFrame(rows, columns=["frame", "x", "y", "z"])


class DlpackAlone:
    """An array of another library, which NumPy reads by DLPack alone."""

    def __init__(self, array, kind=1):
        self.array, self.kind = array, kind
        self.shape, self.ndim = array.shape, array.ndim

    def __getitem__(self, key):
        return DlpackAlone(self.array[key], self.kind)

    def __dlpack_device__(self):
        return (self.kind, 0)

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


LAYOUTS = {
    "Fortran order": np.asfortranarray,
    "big-endian": lambda a: a.astype(">u2"),
    "negative strides": lambda a: a[::-1, ::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1, ::-1],
    "every second of a larger one": lambda a: np.repeat(a, 2, axis=3)[..., ::2],
    "int16": lambda a: a.astype(np.int16),
    "uint64": lambda a: a.astype(np.uint64),
    "float16": lambda a: a.astype(np.float16),
    "long double": lambda a: a.astype(np.longdouble),
    "masked, none of it": np.ma.masked_array,
    "DLPack alone": DlpackAlone,
    "list": list,
    "tuple": tuple,
    "generator": lambda a: (frame for frame in a),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_and_types_do_not_matter(frames, name):
    assert np.array_equal(tracks_of(LAYOUTS[name](frames)).x, tracks_of(frames).x)


def test_read_only_arrays_and_booleans(frames):
    frozen = frames.copy()
    frozen.flags.writeable = False
    assert np.array_equal(tracks_of(frozen).x, tracks_of(frames).x)
    blobs = frames > np.percentile(frames, 99)
    assert len(tracks_of(blobs)) > 20


def test_axes_by_the_names_of_an_xarray(frames):
    xarray = pytest.importorskip("xarray")
    expected = tracks_of(frames).x
    for order, names in (("tzyx", "tzyx"), ("zyxt", "zyxt"), ("tzyx", ("time", "depth", "height", "width"))):
        moved = np.transpose(frames, ["tzyx".index(axis) for axis in order])
        assert np.array_equal(tracks_of(xarray.DataArray(moved, dims=tuple(names))).x, expected)
    volume = xarray.DataArray(np.moveaxis(frames[0], 0, 2), dims=("y", "x", "z"))
    assert len(motes.locate(volume, voxel_um=1)) == len(motes.locate(frames[0], voxel_um=1))
    with pytest.raises(ValueError, match="calls its dimensions .'well', 'z', 'y', 'x'.; name them"):
        tracks_of(xarray.DataArray(frames, dims=("well", "z", "y", "x")))


@pytest.mark.parametrize(
    "source, more, error, message",
    [
        (None, {}, TypeError, "NoneType: give a path, an array"),
        ("", {}, ValueError, "the path is empty"),
        (STACK, {"frames": 3}, ValueError, "input.frames"),
        (io.BytesIO(b"II*"), {}, TypeError, "open file; give its path"),
        ({1, 2}, {}, TypeError, "a set has no order"),
        (np.array(5), {}, ValueError, "not an image"),
        (np.arange(5), {}, ValueError, "not an image"),
        (np.zeros((2, 8, 8, 3)), {"axes": "TYXS"}, ValueError, "colours"),
        (np.zeros((0, 4, 4, 4)), {}, ValueError, "no frames"),
        (np.zeros((2, 4, 0, 4)), {}, ValueError, "no voxels"),
        (np.full((2, 4, 8, 8), "a"), {}, TypeError, "not numbers"),
        (np.zeros((2, 4, 8, 8), complex), {}, TypeError, "not numbers"),
        (np.full((2, 4, 8, 8), np.inf), {}, ValueError, "is infinite"),
        (np.geomspace(1, 1e300, 512).reshape(2, 4, 8, 8), {}, ValueError, "beyond float32"),
        (iter([]), {"frames": 3.5}, ValueError, "3.5 is not a whole number"),
        (iter([]), {"frames": "x"}, ValueError, "'x' is not a whole number"),
        (np.zeros((2, 4, 8, 8)), {"settings": {5: 1}}, TypeError, "5 is not a key"),
        (np.zeros((2, 4, 8, 8)), {"gate": 1, "settings": {"linking.gate_um": 2}}, TypeError, "give only one of them"),
        (DlpackAlone(np.zeros((2, 4, 8, 8)), kind=2), {}, TypeError, "in a GPU's memory"),
    ],
)
def test_what_track_refuses(source, more, error, message):
    with pytest.raises(error, match=message) as caught:
        tracks_of(source, **more)
    assert "\n" not in str(caught.value)


def test_numbers_of_any_kind(frames):
    expected = tracks_of(frames)
    assert np.array_equal(tracks_of(frames, voxel_um=np.array([0.2, 0.1, 0.1])).x, expected.x)
    cubes = tracks_of(frames, voxel_um=0.1).x
    assert np.array_equal(tracks_of(frames, voxel_um=np.array(0.1)).x, cubes)
    assert tracks_of(frames, dt_s=Fraction(1, 2)).dt_s == 0.5


def test_lengths_and_times_of_other_types(frames):
    from datetime import timedelta

    expected = tracks_of(frames).x
    for voxel in (pandas.Series([0.2, 0.1, 0.1]), (x for x in (0.2, 0.1, 0.1)), pandas.Index([0.2, 0.1, 0.1])):
        assert np.array_equal(tracks_of(frames, voxel_um=voxel).x, expected)
    assert tracks_of(frames, dt_s=timedelta(milliseconds=500)).dt_s == 0.5
    assert tracks_of(frames, dt_s=pandas.Timedelta("2s")).dt_s == 2
    with pytest.raises(TypeError, match=r"slowest axis first: \[z, y, x\]"):
        tracks_of(frames, voxel_um={"z": 0.2, "y": 0.1, "x": 0.1})


def test_frames_that_are_paths_or_planes(frames):
    for paths in ([STACK, STACK], (str(STACK),)):
        with pytest.raises(TypeError, match="stack.ome.tif' is a path; give the folder"):
            tracks_of(paths)
    planes = [frame[5] for frame in frames]
    expected = tracks_of(frames[:, 5], axes="TYX", voxel_um=[0.1, 0.1])
    assert len(expected) > 5
    for source in (planes, iter(planes), (plane for plane in planes)):
        assert np.array_equal(tracks_of(source, voxel_um=[0.1, 0.1]).x, expected.x)
    assert np.array_equal(tracks_of(iter(planes), frames=3, voxel_um=[0.1, 0.1]).x, expected.x)
    with pytest.raises(ValueError, match="a frame has 3 axes, not 'YX'"):
        tracks_of([planes[0], frames[1]])


def test_an_iterator_of_few_spots_gives_the_array_s_tracks_and_is_not_kept(rng):
    """Estimates look at frames all over the series, and then all are searched from the first on."""
    import weakref

    y, x = np.mgrid[:60, :60]
    at = rng.uniform(10, 50, (4, 2))
    movie = []
    for _ in range(40):
        at += rng.normal(0, 0.5, at.shape)
        movie.append(sum(80 * np.exp(-((y - b) ** 2 + (x - a) ** 2) / 8) for a, b in at))
    movie = rng.poisson(np.array(movie) + 20).astype(np.uint8)
    seen, alive = [], []

    def one_by_one():
        for plane in movie:
            seen.append(weakref.ref(copy := plane.copy()))
            yield copy

    def note(done):
        alive.append(sum(ref() is not None for ref in seen))

    expected = motes.track(movie, axes="TYX", voxel_um=1, dt_s=1, threads=1).tracks
    found = motes.track(one_by_one(), frames=40, voxel_um=1, dt_s=1, threads=1, progress=note).tracks
    assert len(expected) > 0 and np.array_equal(found.x, expected.x)
    assert alive[-1] < 5


def test_notebooks_show_what_was_estimated_and_the_first_points(frames):
    found = motes.track(frames, voxel_um=[0.2, 0.1, 0.1], dt_s=1)
    shown = found._repr_html_()
    assert "spot radius [" in shown and "ratio " in shown
    assert shown.count("<tr") == 1 + 5 and "<th>link_confidence</th>" in shown
    assert "<p>&lt;Tracks: " in shown
    tracks = found.tracks
    assert tracks[np.diff(tracks.offsets) < 0]._repr_html_().count("<tr") == 1  # none, and their columns
    short = tracks[:1]
    short.offsets = np.array([0, 2])
    for name in ("frame", "x", "y", "z", "time_s", "detection"):
        setattr(short, name, getattr(short, name)[:2])
    short.point_properties = {}
    assert short._repr_html_().count("<tr") == 1 + 2


@pytest.mark.parametrize(
    "axes, line",
    [
        (2, "axes: an array of 2 axes needs them, for instance axes='YX' (one plane)"),
        (3, "axes: an array of 3 axes needs them, for instance axes='TYX' (planes over time) or 'ZYX' (one volume)"),
        (5, "axes: an array of 5 axes needs them, for instance axes='TCZYX'"),
    ],
)
def test_an_array_without_axes_is_told_likely_ones(axes, line):
    with pytest.raises(ValueError) as error:
        tracks_of(np.zeros((4,) * axes, np.uint8))
    assert str(error.value) == line


@pytest.mark.parametrize(
    "call, line",
    [
        (lambda f: motes.track(f, voxel_um=1, dt_s=1, radius=3), "track() got .* 'radius'; did you mean 'radius_um'"),
        (lambda f: motes.batch(f, voxel_um=1, minmass=3), "batch() got .* 'minmass'; did you mean 'threshold'? "),
        (lambda f: motes.locate(f[0], voxel_um=1, diameter=11), "locate() got .* 'diameter'; did you mean 'radius_um'"),
        (lambda f: motes.track(f, voxel_um=1, dt_s=1, treshold=3), "track() got .* 'treshold'; did you mean 'threshold'? "),
        (lambda f: motes.track(f, voxel_um=1, dt_s=1, colour=3), "track() got .* 'colour' (settings={...} takes any key of "),
        (lambda f: motes.link(table(), 1, memry=3), "link() got .* 'memry'; did you mean 'memory'?"),
        (lambda f: motes.link(table(), 1, pos_column="x"), "link() got .* 'pos_column'; did you mean 'pos_columns'?"),
        (lambda f: motes.link(table(), 1, max_gap=2), "link() got .* 'max_gap'; did you mean 'memory'?"),
    ],
)
def test_an_argument_that_is_none_is_told_what_may_be_meant(frames, call, line):
    with pytest.raises(TypeError, match="^" + re.escape(line).replace(r"\.\*", "an unexpected keyword argument")):
        call(frames)


def test_messages_speak_of_python(tmp_path):
    with pytest.raises(motes.InputError, match=r"none\.tif: .*; check the path$"):
        motes.track(tmp_path / "none.tif")
    with pytest.raises(motes.InputError, match=r"an image, not tracks; motes\.track finds"):
        motes.read(STACK)
    with pytest.raises(motes.UsageError, match=r"\(docs/configuration\.md lists all keys\)$"):
        motes.track(STACK, settings={"linking.gate": 3})


def test_lags_are_whole(frames):
    for more in ({"max_lag": 1.5}, {"min_length": 2.5}):
        with pytest.raises(ValueError, match="is not a whole number"):
            motes.analyse(tracks_of(frames), **more)


def test_a_path_takes_axes_of_any_form():
    found = motes.track(STACK, axes=("T", "Z", "Y", "X"), settings={"input.frames": "0:2"})
    assert found.tracks.frame.max() == 1


@pytest.mark.parametrize("call", [motes.batch, motes.locate])
def test_spots_of_a_file_are_told_how(call):
    with pytest.raises(TypeError, match="motes.track.path..detections"):
        call(str(STACK), voxel_um=1)


@pytest.mark.parametrize(
    "change, more, message",
    [
        ({"x": pandas.to_datetime([0] * 20)}, {}, "'x' holds datetime64"),
        ({"x": [1j] * 20}, {}, "not real numbers"),
        ({"x": [None] * 20}, {}, "20 of 20 values are not finite"),
        ({"frame": np.arange(20) + 0.5}, {}, "0.5 is not a frame number"),
        ({"frame": pandas.array([None] + [1] * 19, dtype="Int64")}, {}, "1 of 20 values are not finite"),
        ({}, {"model": "velocity"}, "scope='series'"),
        ({}, {"scope": "series", "no_link_cost": 1}, "only for scope='pairs'"),
        ({}, {"no_link_cost": "a"}, "'a' is not a cost"),
        ({}, {"memory": 1.5}, "1.5 is not a whole number"),
    ],
)
def test_what_link_refuses(change, more, message):
    with pytest.raises(ValueError, match=message) as caught:
        motes.link(table().assign(**change), 1, **more)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "names, message",
    [
        ({"z": "z_um"}, "units are mixed: column 'z_um' beside 'x' and 'y'; name it 'z'"),
        ({"x": "x_um", "y": "y_um"}, "units are mixed: column 'z' beside 'x_um' and 'y_um'; name it 'z_um'"),
        ({"x": "x_um"}, "units are mixed: of 'z', 'y', 'x_um' only some"),
        ({"x": "X", "y": "Y", "z": "Z"}, r"pos_columns=\['Z', 'Y', 'X'\]"),
        ({"x": "POSITION_X", "y": "POSITION_Y", "z": "POSITION_Z"}, r"pos_columns=\['POSITION_Z', 'POSITION_Y'"),
        (
            {"x": "centroid-2", "y": "centroid-1", "z": "centroid-0"},
            r"give pos_columns=\['centroid-0', 'centroid-1', 'centroid-2'\]",
        ),
        ({"x": "a", "y": "b"}, "give pos_columns: the table has frame, a, b, z"),
        ({"frame": "Frame"}, r"the table has Frame, x, y, z; t_column='Frame'\?"),
        ({"frame": "t"}, r"t_column='t'\?"),
        ({"frame": "when"}, "the table has when, x, y, z$"),
    ],
)
def test_columns_that_are_not_there_are_looked_for(names, message):
    for call in (lambda f: motes.link(f, 1), motes.estimate_gate):
        with pytest.raises(ValueError, match=message):
            call(table().rename(columns=names))


def test_one_name_for_all_lengths_is_enough():
    both = table().assign(x_um=1.0, y_um=2.0, z_um=3.0)  # as output.csv_names: trackpy writes them
    assert motes.link(both, 1).particle.nunique() == 4
    flat = table().rename(columns={"x": "x_um", "y": "y_um"})
    assert motes.link(flat, 1, pos_columns=["y_um", "x_um"]).particle.nunique() == 4


@pytest.mark.filterwarnings("error")
def test_numbers_far_out_are_refused_by_column():
    with pytest.raises(ValueError, match="column 'x': 1.54e.101 is not a position"):
        motes.link(table().assign(x=lambda f: f.x * 1e100), 1)
    for far in (2.0**62, 1e300):
        with pytest.raises(ValueError, match="column 'frame': .* is too large for a frame number"):
            motes.link(table().assign(frame=lambda f: f.frame + far), 1)


def test_arguments_in_the_place_of_others():
    with pytest.raises(TypeError, match="pos_columns: 3 is not a list of names"):
        motes.link_df(table(), 1, 3)  # trackpy's third argument is memory only by name
    with pytest.raises(TypeError, match="to_eucl: 3 cannot be called"):
        motes.link(table(), 1, to_eucl=3)
    with pytest.raises(TypeError, match="motes.link takes a table of all frames"):
        list(motes.link_iter(table(), 1))
    with pytest.raises(TypeError, match="for _, table in f.groupby"):
        list(motes.link_df_iter(table().groupby("frame"), 1))
    with pytest.raises(TypeError, match=r"not str; motes.track\(path\)"):
        motes.link("points.csv", 1)
    for given in (table().to_dict("list"), table().to_records()):
        with pytest.raises(TypeError, match=r"give pandas.DataFrame\(f\)"):
            motes.link(given, 1)


def test_small_tables_take_one_thread(monkeypatch):
    """Threads without work hold up a busy machine: 20 rows took seconds."""
    from motes import _core, linking

    seen = []

    def series(*given):
        seen.append(given[-1])
        return _core._link_series(*given)

    class Watched:
        _link_series = staticmethod(series)

        def __getattr__(self, name):
            return getattr(_core, name)

    monkeypatch.setattr(linking, "_core", Watched())
    small = motes.link(table())
    assert np.array_equal(small.particle, motes.link(table(), threads=2).particle)
    many = pandas.concat([table().assign(x=lambda f: f.x + 100 * k) for k in range(501)])
    motes.link(many)
    assert seen[0] == 1 and seen[2] == 0


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "Float64", "object", "str"])
def test_columns_of_any_type(dtype):
    f = table().astype({"x": int}).astype({"x": dtype, "frame": "float32"})
    assert motes.link(f.sample(frac=1, random_state=1), 2).particle.nunique() == 4


def test_tables_of_other_libraries_are_told_what_to_give():
    calls = (lambda f: motes.link(f, 1), motes.estimate_gate, motes.Tracks.from_dataframe)
    for call in calls:
        for given in ([1], {"x": [1]}, table().x, table().groupby("frame"), None):
            with pytest.raises(TypeError, match="give a pandas.DataFrame, not"):
                call(given)
    polars = pytest.importorskip("polars")
    for call in calls:
        with pytest.raises(TypeError, match=re.escape("give table.to_pandas()")):
            call(polars.from_pandas(table()))
        with pytest.raises(TypeError, match=re.escape("collect().to_pandas()")):
            call(polars.from_pandas(table()).lazy())


def test_link_df_iter_gives_rows_back_to_their_own_tables():
    f = table()
    tables = [f[f.frame == t] for t in range(5)]
    with pytest.raises(ValueError, match="frame 0 comes after frame 2"):
        list(motes.link_df_iter([tables[2], tables[0]], 1))
    with pytest.raises(ValueError, match="rows of 5 frames"):
        list(motes.link_df_iter([f], 1))
    with pytest.raises(TypeError, match="one table per frame"):
        list(motes.link_df_iter(f, 1))
    found = list(motes.link_df_iter([tables[0], tables[1][:0], tables[3]], 1))
    assert [t.index.tolist() for t in found] == [[0, 1, 2, 3], [], [12, 13, 14, 15]]


def test_tracks_of_a_table_are_checked():
    linked = motes.link(table(), 1)
    make = motes.Tracks.from_dataframe
    refused = [
        ({}, {"unit": "nm"}, "'nm' is neither"),
        ({}, {"dt_s": 0}, "0 is not a time"),
        ({}, {"dt_s": -1}, "-1 is not a time"),
        ({"x": np.nan}, {}, "20 of 20 values are not finite"),
        ({"frame": 2**31}, {}, "beyond 32 bits"),
        ({"particle": 0.5}, {}, "0.5 in the row"),
    ]
    for change, more, message in refused:
        with pytest.raises(ValueError, match=message):
            make(linked.assign(**change), **more)
    for name, own, other in (("particle", "track_id", "tree"), ("frame", "t", "when")):
        with pytest.raises(ValueError, match=rf"give f.rename\(columns={{'{own}': '{name}'}}\)\?$"):
            make(linked.rename(columns={name: own}))
        with pytest.raises(ValueError, match=f"no column '{name}'; the table has .*{other}[^;]*$"):
            make(linked.rename(columns={name: other}))
        with pytest.raises(ValueError, match=f"'{name}' is the index, not a column; give f.reset_index"):
            make(linked.set_index(name))
    with_none = linked.assign(size=pandas.array([None, *range(19)], dtype="Int64"))
    assert np.isnan(make(with_none).point_properties["size"][0])


def test_some_of_the_tracks():
    f = motes.link(table(), 1).assign(size=np.arange(20.0), parent=[-1, 0, 1, -1] * 5)
    tracks = motes.Tracks.from_dataframe(f)
    tracks.track_properties["mean"] = np.arange(4.0)
    some = tracks[[3, 1, 2]]
    assert some.track_id.tolist() == [3, 1, 2] and some.parent.tolist() == [-1, -1, 1]
    assert some.particle.tolist() == [3] * 5 + [1] * 5 + [2] * 5
    assert some.track_properties["mean"].tolist() == [3, 1, 2]
    for name in ("frame", "x", "y", "z", "time_s", "detection"):
        assert np.array_equal(getattr(tracks[1:3], name), getattr(tracks, name)[5:15])
    assert some.point_properties["size"][:5].tolist() == [3, 7, 11, 15, 19]
    assert [t.track_id.tolist() for t in tracks] == [[0], [1], [2], [3]]
    assert len(tracks[np.diff(tracks.offsets) > 5]) == 0 and len(tracks[:0].frame) == 0
    assert np.array_equal(tracks[np.ones(4, bool)].to_dataframe(), tracks.to_dataframe())
    for which in (4, -5, [0, 0], [True], "a", (0, 1), 1.5):
        with pytest.raises(IndexError):
            tracks[which]


def test_columns_of_a_file_by_their_own_names(tmp_path):
    (tmp_path / "a.csv").write_text("Track,Time,PX,PY\n1,0,1.0,2.0\n1,1,1.1,2.0\n")
    columns = {"particle": "Track", "frame": "Time", "x": "PX", "y": "PY"}
    for settings in ({"input": {"columns": columns}}, {"input.columns": columns}):
        assert motes.read(tmp_path / "a.csv", voxel_um=1, settings=settings).x.tolist() == [1.0, 1.1]


def test_simulate_takes_anything_true():
    assert len(motes.simulate(particles=3, frames=2, volumes=1, seed=np.int64(3)).volumes) == 2


def test_linear_sum_assignment_is_a_function_of_python():
    import inspect
    import pickle

    from motes.matching import linear_sum_assignment as solve

    assert str(inspect.signature(solve)) == "(cost_matrix, maximize=False)"
    assert solve.__doc__.startswith("Solve the linear sum assignment problem exactly.\n\nDrop-in")
    assert solve.__module__ == "motes.matching"
    assert pickle.loads(pickle.dumps(solve)) is solve  # for multiprocessing


@pytest.mark.parametrize(
    "call, line",
    [
        ({"args": ()}, "linear_sum_assignment() missing 1 required positional argument: 'cost_matrix'"),
        ({"args": ([[1]], True, 3)}, "linear_sum_assignment() takes at most 2 arguments (3 given)"),
        ({"args": ([[1]],), "maximise": True}, "linear_sum_assignment() got an unexpected keyword argument 'maximise'"),
        ({"args": ([[1]],), "cost_matrix": 1}, "linear_sum_assignment() got multiple values for argument 'cost_matrix'"),
        ({"args": ([[1]],), "maximizé": 1}, "linear_sum_assignment() got an unexpected keyword argument 'maximizé'"),
    ],
)
def test_a_wrong_call_of_linear_sum_assignment_is_one_line(call, line):
    from motes.matching import linear_sum_assignment as solve

    args = call.pop("args")
    with pytest.raises(TypeError) as error:
        solve(*args, **call)
    assert str(error.value) == line


def test_linear_sum_assignment_takes_its_arguments_by_name_too():
    from motes.matching import linear_sum_assignment as solve

    costs = np.array([[1.0, 2.0], [4.0, 9.0]])
    for rows, cols in (
        solve(costs, True), solve(costs, maximize=1), solve(maximize=np.True_, cost_matrix=costs)
    ):  # fmt: skip
        assert (rows.tolist(), cols.tolist()) == ([0, 1], [0, 1])
    assert solve(cost_matrix=costs)[1].tolist() == solve(costs, None)[1].tolist() == [1, 0]


def test_an_argument_that_has_no_truth_is_refused():
    from motes.matching import linear_sum_assignment as solve

    with pytest.raises(ValueError, match="truth value"):
        solve([[1.0]], np.array([1, 2]))


def test_files_of_unknown_axes_name_the_argument(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((6, 8, 8), np.uint8))
    with pytest.raises(motes.InputError, match="give axes= to the order of its 6 pages") as refused:
        motes.track(tmp_path / "a.tif")
    assert "--" not in str(refused.value)
    assert len(motes.track(tmp_path / "a.tif", axes="TYX", voxel_um=1, dt_s=1).tracks) == 0
