"""Tracking of arrays and files: the same bytes as the command line's, in every form of the input."""

import io
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import motes

pandas = pytest.importorskip("pandas")
ROOT = Path(__file__).parents[2]
STACK = ROOT / "sample" / "stack.ome.tif"
POINTS = ROOT / "sample" / "points.csv"
VOXEL, DT = [0.2, 0.1, 0.1], 1.0


def command_line(*words, cwd):
    """Runs `motes` in a process of its own, by the executable where there is one."""
    executable = os.environ.get("MOTES_EXECUTABLE")
    start = [executable] if executable else [sys.executable, "-c", "from motes._command import main; main()"]
    done = subprocess.run([*start, *map(str, words)], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def by_command_line(tmp_path_factory):
    folder = tmp_path_factory.mktemp("command-line")
    command_line("track", STACK, "-o", "stack", "--set", "output.preview=false", cwd=folder)
    command_line("track", POINTS, "-o", "points", "--set", "output.preview=false", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def frames():
    """The sample stack as an array [t, z, y, x]."""
    tifffile = pytest.importorskip("tifffile")
    return tifffile.imread(STACK)


def bytes_of(tracks, tmp_path, name="tracks.csv"):
    motes.write(tmp_path / name, tracks)
    return (tmp_path / name).read_bytes()


def test_a_file_gives_the_command_lines_bytes(by_command_line, tmp_path):
    seen = []
    found = motes.track(STACK, progress=seen.append)
    assert bytes_of(found.tracks, tmp_path) == (by_command_line / "stack/tracks.csv").read_bytes()
    assert seen == list(range(1, 13))
    table = motes.track(str(POINTS))
    assert bytes_of(table.tracks, tmp_path) == (by_command_line / "points/tracks.csv").read_bytes()


def test_reading_gives_the_same_numbers(by_command_line):
    found = motes.track(STACK).tracks
    read = motes.read(by_command_line / "stack/tracks.h5")
    for name in ("offsets", "track_id", "frame", "detection", "time_s", "x", "y", "z"):
        assert (getattr(found, name) == getattr(read, name)).all(), name
    assert read.unit == "um" and read.dt_s == DT
    for name, values in found.point_properties.items():
        assert np.array_equal(values, read.point_properties[name], equal_nan=True)


def test_arrays_of_every_kind_give_the_same_bytes(by_command_line, frames, tmp_path):
    expected = (by_command_line / "stack/tracks.csv").read_bytes()
    two_channels = np.stack([np.zeros_like(frames), frames], axis=1)
    forms = {
        "array": (frames, {}),
        "axes": (np.moveaxis(frames, 0, -1), {"axes": "ZYXT"}),
        "channel": (two_channels, {"axes": "TCZYX", "channel": 1}),
        "list": (list(frames), {}),
        "iterator": (iter(list(frames)), {}),
        "iterator of known length": (iter(list(frames)), {"frames": len(frames)}),
        "generator, axes": ((f.transpose(2, 1, 0) for f in frames), {"axes": "XYZ", "frames": 12}),
        "float32": (frames.astype(np.float32), {}),
        "float64": (frames.astype(float), {}),
    }
    for name, (source, more) in forms.items():
        found = motes.track(source, voxel_um=VOXEL, dt_s=DT, **more)
        assert bytes_of(found.tracks, tmp_path) == expected, name


def test_dask_and_zarr(by_command_line, frames, tmp_path):
    expected = (by_command_line / "stack/tracks.csv").read_bytes()
    dask = pytest.importorskip("dask.array")
    found = motes.track(dask.from_array(frames, chunks=(1, 5, 40, 40)), voxel_um=VOXEL, dt_s=DT)
    assert bytes_of(found.tracks, tmp_path) == expected
    zarr = pytest.importorskip("zarr")
    store = zarr.create_array(tmp_path / "a.zarr", shape=frames.shape, dtype=frames.dtype, chunks=(1, 19, 50, 50))
    store[:] = frames
    found = motes.track(store, voxel_um=VOXEL, dt_s=DT)
    assert bytes_of(found.tracks, tmp_path) == expected


def test_batch_and_link_and_locate(by_command_line, frames):
    found = motes.track(frames, voxel_um=VOXEL, dt_s=DT)
    spots = motes.batch(frames, voxel_um=VOXEL, dt_s=DT)
    assert (spots.x == found.detections["x_um"]).all()
    linked = motes.link(spots)
    assert linked.particle.nunique() == len(found.tracks)
    one = motes.locate(frames[0], radius_um=found.radius_um, voxel_um=VOXEL)
    assert (one.x.to_numpy() == spots.x[spots.frame == 0].to_numpy()).all()
    pixels = motes.locate(frames[0].max(0), voxel_um=1)
    assert 20 < len(pixels) < 60


def test_settings_are_the_configurations_keys(frames):
    one = motes.track(frames, voxel_um=VOXEL, dt_s=DT, gate=0.5, scope="pairs", threads=1)
    two = motes.track(
        frames, settings={"linking": {"gate_um": 0.5, "scope": "pairs"}, "input.voxel_um": VOXEL, "input.dt_s": 1}
    )
    assert (one.tracks.x == two.tracks.x).all() and one.gate == two.gate == 0.5
    with pytest.raises(motes.UsageError, match="^settings: unknown key 'linking.gat_um'.*linking.gate_um"):
        motes.track(frames, voxel_um=VOXEL, dt_s=DT, settings={"linking.gat_um": 1})
    with pytest.raises(TypeError, match="radius"):
        motes.track(frames, voxel_um=VOXEL, radius=1)


def test_nothing_is_guessed(frames):
    with pytest.raises(motes.UsageError, match="voxel_um, dt_s: .* um .1: .* and the time between frames in s"):
        motes.track(frames)
    with pytest.raises(motes.UsageError, match="^dt_s: an array has no metadata"):
        motes.track(frames, voxel_um=VOXEL)
    with pytest.raises(ValueError, match="axes"):
        motes.track(frames[0], voxel_um=VOXEL)
    with pytest.raises(ValueError, match="axes"):
        motes.track(frames, axes="TZYY", voxel_um=VOXEL)
    with pytest.raises(ValueError, match="channel"):
        motes.track(frames, axes="TCYX", voxel_um=VOXEL)
    with pytest.raises(ValueError, match="shape"):
        motes.track([frames[0], frames[1][:, 1:]], voxel_um=VOXEL, dt_s=1)
    with pytest.raises(ValueError, match="ended after 3"):
        motes.track(iter(list(frames[:3])), frames=5, voxel_um=VOXEL, dt_s=1)
    with pytest.raises(motes.InputError, match="nothing.tif"):
        motes.track("nothing.tif")


def test_what_reading_throws_comes_out(frames):
    class Broken(Exception):
        pass

    def all_but_the_last():
        yield from frames[:-1]
        raise Broken

    with pytest.raises(Broken):
        motes.track(all_but_the_last(), frames=12, voxel_um=VOXEL, dt_s=1)


INTERRUPTED = """
import os, signal, sys, threading
import numpy as np, motes
frame = np.random.default_rng(1).integers(0, 200, (20, 200, 200)).astype(np.uint8)
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    motes.track((frame for _ in range(10000)), frames=10000, voxel_um=1, dt_s=1, radius_um=2)
except KeyboardInterrupt:
    print("heard")
"""


def test_ctrl_c_is_heard():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "heard", done.stderr


def test_score_equals_the_command_lines(by_command_line):
    import json

    truth, found = ROOT / "sample/stack_truth.csv", by_command_line / "stack/tracks.h5"
    words = ("score", "--truth", truth, "--tracks", found, "--gate", ".5", "--json", "-", "--quiet")
    theirs = json.loads(command_line(*words, cwd=by_command_line).stdout)
    ours = motes.score(motes.read(truth), motes.read(found), 0.5)
    for name in ("alpha", "beta", "jsc", "jsc_theta", "rmse", "true_positives", "spurious_tracks"):
        assert ours[name] == theirs[name], name
    for name in ("precision", "recall", "f1", "true", "false", "missed", "neutral"):
        assert ours["link"][name] == theirs["link"][name], name


def test_simulate_equals_the_command_lines(tmp_path):
    import_yaml = (ROOT / "sample/sample.yaml").read_text().split("imaging:")[0]
    (tmp_path / "s.yaml").write_text(import_yaml)
    command_line("simulate", "s.yaml", "-o", "out", cwd=tmp_path)
    made = motes.simulate(
        particles=40, frames=12, dt_s=1, box_um=[3.6, 9.9, 9.9], speed_um_s=0.3, persistence=0.7,
        min_distance_um=0.9, seed=5,
    )  # fmt: skip
    assert bytes_of(made.truth, tmp_path) == (tmp_path / "out/truth.csv").read_bytes()
    table = pandas.read_csv(tmp_path / "out/detections.csv", float_precision="round_trip")
    assert (table.x_um.to_numpy() == made.detections.x.to_numpy()).all()
    volumes = motes.simulate(particles=5, frames=2, box_um=[2, 4, 4], volumes=True, seed=1)
    assert len(volumes.volumes) == 2 and volumes.volumes[0].shape == (11, 41, 41)
    assert volumes.voxel_um == (0.2, 0.1, 0.1)


# --- other programs ---


@pytest.fixture(scope="module")
def tracks():
    return motes.track(STACK).tracks


def test_tables_there_and_back(tracks, tmp_path):
    f = tracks.to_dataframe()
    assert list(f.columns[:3]) == ["frame", "particle", "t_s"] and {"x", "y", "z"} <= set(f.columns)
    again = motes.Tracks.from_dataframe(f.sample(frac=1, random_state=2), dt_s=DT)
    for name in ("offsets", "track_id", "frame", "x", "y", "z", "time_s"):
        assert (getattr(again, name) == getattr(tracks, name)).all(), name
    own = tracks.to_dataframe("motes")
    written = io.BytesIO(bytes_of(tracks, tmp_path))
    theirs = pandas.read_csv(written, float_precision="round_trip")
    assert (own.x_um.to_numpy() == theirs.x_um.to_numpy()).all()
    for extension in (".h5", ".csv", ".vtkhdf"):
        motes.write(tmp_path / f"t{extension}", tracks)
        assert (motes.read(tmp_path / f"t{extension}").x == tracks.x).all()
    with pytest.raises(motes.UsageError, match="txt"):
        motes.write(tmp_path / "t.txt", tracks)


def test_graph(tracks):
    networkx = pytest.importorskip("networkx")
    graph = tracks.to_networkx()
    assert graph.number_of_nodes() == len(tracks.frame)
    assert graph.number_of_edges() == len(tracks.frame) - len(tracks)
    assert networkx.number_weakly_connected_components(graph) == len(tracks)
    assert all(graph.nodes[a]["particle"] == graph.nodes[b]["particle"] for a, b in graph.edges)


def mother_and_daughters():
    one = np.array([0, 1, 2, 2, 3, 2], np.int32)
    return motes.Tracks(
        offsets=np.array([0, 3, 5, 6]), track_id=np.array([7, 8, 9]), frame=one, x=one * 1.0, y=one * 2.0,
        z=one * 0.5, time_s=one * 0.5, detection=np.full(6, -1), parent=np.array([-1, 7, 7]), dt_s=0.5,
    )  # fmt: skip


def test_napari_data(tracks):
    data, properties, graph = tracks.to_napari(voxel_um=VOXEL)
    assert data.shape == (len(tracks.frame), 5) and graph == {}
    assert (data[:, 2] * VOXEL[0] == pytest.approx(tracks.z))
    assert set(properties) == set(tracks.point_properties)
    assert mother_and_daughters().to_napari()[2] == {8: [7], 9: [7]}


def test_trackmate(tracks, tmp_path):
    import xml.etree.ElementTree as tree

    tracks.to_trackmate(tmp_path / "t.xml")
    assert [path.name for path in tmp_path.iterdir()] == ["t.xml"]
    root = tree.parse(tmp_path / "t.xml").getroot()
    model = root.find("Model")
    assert model.get("spatialunits") == "micron"
    spots = model.findall("AllSpots/SpotsInFrame/Spot")
    assert len(spots) == len(tracks.frame)
    assert len(model.findall("AllTracks/Track/Edge")) == len(tracks.frame) - len(tracks)
    k = int(spots[5].get("ID"))
    assert float(spots[5].get("POSITION_X")) == tracks.x[k]
    lineage = replace(mother_and_daughters(), frame=np.array([0, 1, 2, 3, 4, 3], np.int32))
    lineage.to_trackmate(tmp_path / "m.xml")
    model = tree.parse(tmp_path / "m.xml").getroot().find("Model")
    assert [len(t) for t in model.findall("AllTracks/Track")] == [5]  # with its daughters one track
    tracks.to_trackmate(str(tmp_path / "t.trackmate.xml"))
    assert (tmp_path / "t.trackmate.xml").read_bytes() == (tmp_path / "t.xml").read_bytes()


def test_spots_of_unknown_quality_pass_trackmates_filter(tmp_path):
    import xml.etree.ElementTree as tree

    tracks = replace(mother_and_daughters(), frame=np.array([0, 1, 2, 3, 4, 3], np.int32))
    tracks.to_trackmate(tmp_path / "m.xml")
    root = tree.parse(tmp_path / "m.xml").getroot()
    limit = root.find("Settings/InitialSpotFilter")
    assert limit.get("isabove") == "true"
    assert all(float(s.get("QUALITY")) > float(limit.get("value")) for s in root.iter("Spot"))
    pytrackmate = pytest.importorskip("pytrackmate")
    table = pytrackmate.trackmate_peak_import(tmp_path / "m.xml", get_tracks=True)
    assert sorted(table.x) == sorted(tracks.x) and table.label.nunique() == 1


def test_geff(tracks, tmp_path):
    geff = pytest.importorskip("geff")
    tracks.to_geff(tmp_path / "t.geff")
    geff.validate_structure(tmp_path / "t.geff")
    graph, metadata = geff.read(tmp_path / "t.geff", backend="networkx")
    assert graph.number_of_edges() == len(tracks.frame) - len(tracks)
    assert [axis.name for axis in metadata.axes] == ["t", "z", "y", "x"]
    assert graph.nodes[3]["x"] == tracks.x[3]


def test_geff_keeps_times_and_numbers_and_replaces_only_stores(tracks, tmp_path):
    tracks.to_geff(tmp_path / "store.geff")
    for name in ("t.geff", "store"):
        path = tmp_path / name
        tracks.to_geff(path)
        with pytest.raises(FileExistsError, match="overwrite=True"):
            tracks.to_geff(path)
        tracks[:2].to_geff(path, overwrite=True)
        back = motes.read(path)
        assert back.track_id.tolist() == tracks.track_id[:2].tolist() and back.dt_s == tracks.dt_s
    assert sorted(p.name for p in tmp_path.iterdir()) == ["store", "store.geff", "t.geff"]
    assert motes.read(tmp_path / "store.geff").track_id.tolist() == tracks.track_id.tolist()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "data.csv").write_text("1")
    with pytest.raises(FileExistsError, match="not a GEFF store"):
        tracks.to_geff(tmp_path / "mine", overwrite=True)
    assert (tmp_path / "mine" / "data.csv").exists() and not (tmp_path / "mine.geff").exists()


# --- arrays as users have them ---


@pytest.fixture(scope="module")
def points(frames):
    return motes.track(frames, voxel_um=VOXEL, dt_s=DT).tracks


def test_other_layouts_and_types_give_the_same_tracks(frames, points):
    forms = {
        "F": np.asfortranarray(frames),
        "big-endian": frames.astype(">u2"),
        "strided": frames[:, ::-1][:, ::-1],
        "int16": frames.astype("i2"),
        "uint32": frames.astype("u4"),
        "int64, an exact offset": frames.astype("i8") + 1000,
        "float16": frames.astype("f2"),
        "axes apart": (frames, {"axes": ("t", "z", "y", "x")}),
        "axes with blanks": (frames, {"axes": "T, Z, Y, X"}),
        "channel 0 of none": (frames, {"channel": np.int64(0)}),
        "nothing masked": np.ma.masked_array(frames, mask=False),
    }
    for name, form in forms.items():
        array, more = form if isinstance(form, tuple) else (form, {})
        found = motes.track(array, voxel_um=VOXEL, dt_s=DT, **more).tracks
        assert len(found) == len(points), name
        if "offset" not in name:
            assert (found.x == points.x).all(), name


class Named:
    """An array whose axes have names, as xarray's."""

    def __init__(self, array, dims):
        self.array, self.dims, self.shape, self.ndim = array, dims, array.shape, array.ndim

    def __getitem__(self, index):
        return self.array[index]


def test_named_axes_count(frames, points):
    turned = Named(np.moveaxis(frames, 0, -1), ("z", "y", "x", "t"))
    assert (motes.track(turned, voxel_um=VOXEL, dt_s=DT).tracks.x == points.x).all()
    with pytest.raises(ValueError, match="axes"):
        motes.track(Named(frames[0], ("plane", "row", "column")), voxel_um=VOXEL)


def test_planes_need_no_depth(frames):
    planes = frames.max(axis=1)
    one, two = (motes.track(planes, axes="TYX", voxel_um=v, dt_s=DT).tracks for v in (0.1, [0.1, 0.1]))
    assert len(one) and (one.x == two.x).all() and (one.y == two.y).all()
    with pytest.raises(motes.UsageError, match="two are for planes"):
        motes.track(frames, voxel_um=[0.1, 0.1], dt_s=DT)


def test_arrays_that_would_be_misread_are_refused(frames):
    given = dict(voxel_um=VOXEL, dt_s=DT)
    two = np.stack([frames, frames], axis=1)
    for channel, what in ((2, "the image has 2"), (-1, "below 0"), ("GFP", "'GFP' is not a number")):
        with pytest.raises(ValueError, match=what):
            motes.track(two, axes="TCZYX", channel=channel, **given)
    with pytest.raises(ValueError, match="no C"):
        motes.track(frames, channel=1, **given)
    with pytest.raises(ValueError, match="frames: only for an iterator"):
        motes.track(frames, frames=3, **given)
    with pytest.raises(ValueError, match="one frame"):
        motes.locate(frames, voxel_um=VOXEL)
    masked = np.ma.masked_greater(frames, 50)
    with pytest.raises(ValueError, match="masked"):
        motes.track(masked, **given)
    with pytest.raises(ValueError, match="masked"):
        motes.locate(masked[0], voxel_um=VOXEL)
    for wide in (frames.astype("u4") + 2**31, frames + 1e12):
        with pytest.raises(ValueError, match="steps; subtract a constant"):
            motes.track(wide, **given)
    for wrong in (None, 5):
        with pytest.raises(TypeError, match="give a path, an array"):
            motes.track(wrong, **given)
    with pytest.raises(TypeError, match="has arrays by name"):
        motes.track({"a": frames}, **given)
    with pytest.raises(TypeError, match="axes: 4"):
        motes.track(frames, axes=4, **given)


def test_formats_of_others_are_pointed_to_python(tmp_path):
    (tmp_path / "a.czi").write_bytes(b"ZISRAWFILE" + bytes(100))
    with pytest.raises(motes.InputError, match=r"does not read \.czi.*bioio"):
        motes.track(tmp_path / "a.czi")


# --- Imaris ---


def write_imaris(path, frames, **changes):
    """As Imaris writes: attributes of single characters, volumes padded to whole blocks."""
    h5py = pytest.importorskip("h5py")

    def state(place, **attributes):
        for name, text in attributes.items():
            place.attrs[name] = np.array([c.encode() for c in str(text)], dtype="S1")

    nz, ny, nx = frames.shape[1:]
    with h5py.File(path, "w") as file:
        image, times = file.create_group("DataSetInfo/Image"), file.create_group("DataSetInfo/TimeInfo")
        far = {f"ExtMax{k}": f"{n * v:g}" for k, (n, v) in enumerate(zip((nx, ny, nz), VOXEL[::-1]))}
        near = {f"ExtMin{k}": 0 for k in range(3)}
        state(image, **{**far, **near, "X": nx, "Y": ny, "Z": nz, "Unit": "um", **changes})
        state(times, DatasetTimePoints=len(frames))
        for t, frame in enumerate(frames):
            state(times, **{f"TimePoint{t + 1}": f"2024-12-31 23:59:{55 + t}.000" if t < 5 else
                            f"2025-01-01 00:00:{t - 5:02}.000"})  # fmt: skip
            channel = file.create_group(f"DataSet/ResolutionLevel 0/TimePoint {t}/Channel 0")
            state(channel, ImageSizeX=nx, ImageSizeY=ny, ImageSizeZ=nz)
            padded = np.pad(frame, [(0, 32 - nz), (0, 128 - ny), (0, 128 - nx)], constant_values=255)
            channel.create_dataset("Data", data=padded, chunks=(8, 64, 64), compression="gzip")


def test_an_imaris_file_gives_the_command_lines_bytes(by_command_line, frames, tmp_path):
    write_imaris(tmp_path / "a.ims", frames)
    expected = (by_command_line / "stack/tracks.csv").read_bytes()
    assert bytes_of(motes.track(tmp_path / "a.ims").tracks, tmp_path) == expected
    write_imaris(tmp_path / "b.ims", frames, Unit="inches or so")
    with pytest.raises(motes.InputError, match="voxel_um"):
        motes.track(tmp_path / "b.ims")


def test_what_is_no_series_is_told_before_anything_is_asked():
    for nothing in (None, 3, object()):
        with pytest.raises(TypeError, match="give a path, an array"):
            motes.track(nothing)
    with pytest.raises(TypeError, match="a table of points; motes.link"):
        motes.track(pandas.DataFrame({"x": [1.0]}))
    with pytest.raises(TypeError, match="bytes: give a path as text"):
        motes.track(b"a.tif")
    with pytest.raises(ValueError, match="no voxels: their shape is .4, 5, 0."):
        motes.track(np.ones((3, 4, 5, 0), np.uint8), voxel_um=1, dt_s=1)
    with pytest.raises(TypeError, match="progress: 5 cannot be called"):
        motes.track(STACK, progress=5)


def test_files_and_tracks_change_places():
    tracks = motes.Tracks.from_dataframe(pandas.DataFrame(dict(frame=[0], x=[1.0], y=[2.0], particle=[3])))
    with pytest.raises(TypeError, match="the path first"):
        motes.write(tracks, "a.csv")
    with pytest.raises(TypeError, match="tracks: give motes.Tracks, not DataFrame; Tracks.from_dataframe"):
        motes.write("a.csv", tracks.to_dataframe())
    with pytest.raises(TypeError, match="truth: give motes.Tracks, not str; motes.read"):
        motes.score("truth.csv", tracks)


def test_a_path_may_be_bytes(tmp_path):
    tracks = motes.Tracks.from_dataframe(pandas.DataFrame(dict(frame=[0], x=[1.0], y=[2.0], particle=[3])))
    path = os.fsencode(tmp_path / "a.csv")
    motes.write(path, tracks)
    assert motes.read(path).track_id.tolist() == [3]


def test_settings_and_voxels_of_other_kinds_are_refused():
    with pytest.raises(TypeError, match="settings: give a mapping of keys to values, not list"):
        motes.track(STACK, settings=["input.dt_s"])
    table = pandas.DataFrame(dict(frame=[0], x=[1.0], y=[2.0], z=[4.0], particle=[3]))
    for voxel in (0, [1, 2], [1, 1, float("nan")]):
        with pytest.raises(ValueError, match="is not one or three lengths above 0"):
            motes.Tracks.from_dataframe(table).to_napari(voxel_um=voxel)


def test_tables_that_are_no_tracks():
    table = pandas.DataFrame(dict(frame=[0, 1], x=[1.0, 2], y=[2.0, 3], particle=[3.0, 3]))
    assert motes.Tracks.from_dataframe(table).track_id.tolist() == [3]
    for column, value, message in [
        ("particle", [np.nan, 3], "column 'particle': nan in the row of index 0"),
        ("frame", [0, 0.5], "column 'frame': 0.5 in the row of index 1"),
        ("frame", [1, 1], "particle 3 has two rows in frame 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            motes.Tracks.from_dataframe(table.assign(**{column: value}))
    with pytest.raises(ValueError, match="no column 'particle'"):
        motes.Tracks.from_dataframe(table.drop(columns="particle"))
