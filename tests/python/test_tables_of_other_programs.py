"""Tables as other programs write them, and what people look for in the results: repaired or told in one line."""

import warnings
from pathlib import Path

import motes
import numpy as np
import pytest

pandas = pytest.importorskip("pandas")
ROOT = Path(__file__).parents[2]


def table():
    rows = [(t, 5 * k + 0.1 * t, 3.0 * k, 1.0) for t in range(5) for k in range(4)]
    return pandas.DataFrame(rows, columns=["frame", "x", "y", "z"])


@pytest.mark.parametrize(
    "names, columns",
    [
        ({"x": "x [nm]", "y": "y [nm]", "z": "z [nm]"}, ["z [nm]", "y [nm]", "x [nm]"]),
        ({"x": "Location_Center_X", "y": "Location_Center_Y"}, ["Location_Center_Y", "Location_Center_X"]),
        ({"x": "Centroid X \xb5m", "y": "Centroid Y \xb5m"}, ["Centroid Y \xb5m", "Centroid X \xb5m"]),
        ({"x": "Object_Center_0", "y": "Object_Center_1"}, ["Object_Center_1", "Object_Center_0"]),  # ilastik
        ({"y": "centroid-0", "x": "centroid-1"}, ["centroid-0", "centroid-1"]),  # scikit-image
        ({"y": "row", "x": "col"}, ["row", "col"]),
    ],
)
def test_positions_of_other_programs_are_found_by_the_letter_of_the_axis(names, columns):
    f = table().rename(columns=names).assign(max=1.0, bx=1.0, by=2.0)
    with pytest.raises(ValueError) as caught:
        motes.link(f, 1)
    assert f"give pos_columns={columns}" in str(caught.value)
    assert motes.link(f, 1, pos_columns=columns).particle.nunique() == 4


@pytest.mark.parametrize("name", ["Slice", "Time Point", "ImageNumber", "axis-0", "FRAME", "Metadata_T", "First Frame", "Slice n\xb0"])
def test_frames_of_other_programs_are_found(name):
    f = table().rename(columns={"frame": name})
    with pytest.raises(ValueError) as caught:
        motes.link(f, 1)
    assert f"t_column={name!r}?" in str(caught.value)
    assert motes.link(f, 1, t_column=name).particle.nunique() == 4


@pytest.mark.parametrize(
    "change, message",
    [
        ({"x": ["1,5"] * 20}, "'1,5' in the row of index 0; for decimal commas: pandas.read_csv"),
        ({"x": ["1.5"] * 19 + ["?"]}, "not numbers: '\\?' in the row of index 19$"),
        ({"frame": ["t001"] * 20}, "not numbers: 't001' in the row of index 0"),
        ({"frame": pandas.to_datetime([0] * 20)}, r"/ dt\).round\(\).astype\(int\) makes them, with a pandas"),
    ],
)
def test_text_and_dates_are_told_with_their_place(change, message):
    with pytest.raises(ValueError, match=message) as caught:
        motes.link(table().assign(**change), 1)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "header, columns",
    [
        ("Time Point,Center X (\xb5m),Center Y (\xb5m)", ["Time Point", "Center X (\xb5m)", "Center Y (\xb5m)"]),
        ("Slice,x_um,y_um", ["Slice"]),
        ("ImageNumber,CenterX,CenterY", ["ImageNumber", "CenterX", "CenterY"]),
    ],
)
def test_columns_of_files_are_told_as_settings(tmp_path, header, columns):
    rows = "".join(f"{t},{x},1\n" for t in range(3) for x in range(5))
    (tmp_path / "t.csv").write_text(f"{header}\n{rows}", encoding="utf-8")
    names = dict(zip(["frame", "x", "y"], columns))
    with pytest.raises(motes.InputError) as caught:
        motes.track(tmp_path / "t.csv")
    told = "settings={" + f'"input.columns": {names}'.replace("'", '"') + "}"
    assert str(caught.value).endswith("counts frames, use " + told)
    settings = {"input.columns": names} | ({"input.unit": "um"} if "CenterX" in header else {})
    assert len(motes.track(tmp_path / "t.csv", settings=settings).tracks.x) == 15


def test_dates_become_frames_as_told():
    start = pandas.Timestamp("2024-05-01 10:00")
    f = table().assign(frame=lambda g: start + g.frame * pandas.Timedelta("500ms"))
    f["frame"] = ((f["frame"] - f["frame"].min()) / pandas.Timedelta("500ms")).round().astype(int)
    assert motes.link(f, 1).particle.nunique() == 4


@pytest.mark.parametrize("first", [10**12, -(10**12), 2**62, 1e12])
def test_only_differences_of_frame_numbers_matter(first):
    f = table().assign(frame=lambda g: g.frame + first)
    for gate in (1, None):
        expected, found = motes.link(table(), gate), motes.link(f, gate)
        assert (found.particle == expected.particle).all()
        assert (found.frame == f.frame).all()


def test_containers_are_told_what_to_give():
    f = table()
    levels = pandas.concat({"a": f}, axis=1)
    with pytest.raises(ValueError, match="have 2 levels; give one: f.droplevel"):
        motes.link(levels, 1)
    assert motes.link(levels.droplevel(0, axis=1), 1).particle.nunique() == 4
    with pytest.raises(TypeError, match="give the table itself: f.obj"):
        motes.link(f.groupby("frame"), 1)
    with pytest.raises(TypeError, match=r"give pandas.DataFrame\(f\)"):
        motes.link(np.array(f.to_records(index=False)), 1)


def test_points_that_are_there_twice_are_told():
    f = table()
    with pytest.warns(UserWarning, match="4 of 24 points lie exactly where another point of their frame does") as seen:
        motes.link(pandas.concat([f, f[f.frame == 2]]), 1)
    assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motes.link(f, 1)


def test_warnings_stand_at_the_line_of_the_caller():
    twice = pandas.concat([table(), table()])
    frame = np.zeros((3, 30, 30), np.uint8)
    calls = [
        lambda: motes.link(twice, 1),
        lambda: list(motes.link_df_iter((part for _, part in twice.groupby("frame")), 1)),
        lambda: motes.locate(frame[0], voxel_um=1),
        lambda: motes.batch(frame, axes="TYX", voxel_um=1),
        lambda: motes.track(frame, axes="TYX", voxel_um=1, dt_s=1),
    ]
    for call in calls:
        with pytest.warns(UserWarning) as seen:
            call()
        assert {warning.filename for warning in seen} == {__file__}


def test_what_people_look_for_is_told():
    tracks = motes.Tracks.from_dataframe(motes.link(table(), 1))
    for name, instead in {"to_csv": "save", "to_pandas": "to_dataframe", "msd": "motes.analyse"}.items():
        with pytest.raises(AttributeError, match=instead):
            getattr(tracks, name)
    with pytest.raises(AttributeError, match="no attribute 'sausage'$"):
        tracks.sausage
    found = motes.Result(tracks, {}, None, None, [], [])
    for name in ("save", "x", "to_csv", "nothing"):
        told = f"; tracks.{name} has it" if name in ("save", "x") else "'$"
        with pytest.raises(AttributeError, match=told):
            getattr(found, name)
    with pytest.raises(AttributeError, match="trackpy.emsd takes the tables of motes.link, and motes.analyse"):
        motes.emsd
    with pytest.raises(TypeError, match=r"give pandas.DataFrame\(f.detections\)"):
        motes.link(found, 1)


def test_tracks_one_by_one():
    tracks = motes.Tracks.from_dataframe(motes.link(table(), 1))
    assert tracks.lengths.tolist() == [5, 5, 5, 5]
    assert [int(track.track_id[0]) for track in tracks] == tracks.track_id.tolist()
    assert (tracks[-1].x == tracks[3].x).all() and (tracks[np.int64(2)].x == tracks.x[10:15]).all()
    for out in (4, -5):
        with pytest.raises(IndexError, match=f"track {out} does not exist: there are 4 tracks"):
            tracks[out]


@pytest.mark.parametrize(
    "given, message",
    [
        ("", "the path is empty"),
        (["a.csv", "b.csv"], "not list; read them one by one"),
        (None, "not NoneType; motes.track takes images"),
        (pandas.DataFrame(), "Tracks.from_dataframe takes a table"),
    ],
)
def test_what_is_no_path_is_told(given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        motes.read(given)


def test_an_open_file_or_an_address_is_told(tmp_path):
    with open(tmp_path / "a.csv", "w") as file, pytest.raises(TypeError, match="of an open file give its name"):
        motes.read(file)
    for call in (motes.read, motes.track):
        with pytest.raises(motes.UsageError, match="motes reads local files"):
            call("https://example.org/a.tif")


def test_trackers_of_other_packages_are_told_what_to_call():
    for name in ("LapTrack", "BayesianTracker"):
        with pytest.raises(AttributeError, match=f"'{name}'; motes.link takes a table"):
            getattr(motes, name)


def test_picasso_s_files_and_what_was_made_of_them(tmp_path, caplog):
    h5py = pytest.importorskip("h5py")
    locs = np.zeros(6, [("frame", "u4"), ("x", "f4"), ("y", "f4"), ("lpx", "f4"), ("track_id", "i4")])
    locs["frame"], locs["track_id"], locs["x"] = [0, 0, 1, 1, 2, 2], [0, 1] * 3, [10, 90, 11, 91, 12, 92]
    with h5py.File(tmp_path / "a_locs.hdf5", "w") as file:
        file["locs"] = locs
    assert motes.read(tmp_path / "a_locs.hdf5").unit == "px"
    with pytest.raises(motes.UsageError, match=r"voxel_um=\[z, y, x\] or one number"):
        motes.track(tmp_path / "a_locs.hdf5")
    (tmp_path / "a_locs.yaml").write_text("Frames: 3\n---\nPixelsize: 130\n")
    caplog.set_level("INFO", "motes")
    tracks = motes.read(tmp_path / "a_locs.hdf5", dt_s=0.1)
    assert "a pixel is 130 nm by a_locs.yaml" in caplog.text
    assert tracks.unit == "um" and np.allclose(tracks.x, [1.3, 1.43, 1.56, 11.7, 11.83, 11.96])
    assert tracks.dt_s == 0.1 and list(tracks.point_properties) == ["lpx"]
    assert len(motes.track(tmp_path / "a_locs.hdf5", gate=1.0).tracks) == 2


def test_rows_of_no_particle_are_not_one_track():
    linked = motes.link(table(), 1).astype({"particle": float})
    for none in (np.nan, -1):
        rows = linked.assign(particle=linked.particle.where(linked.particle > 0, none))
        with pytest.raises(ValueError, match=rf"{none} in the row of index 0 .* 5 of 20: f\[f\['particle'\] >= 0\]"):
            motes.Tracks.from_dataframe(rows)
        assert motes.Tracks.from_dataframe(rows[rows["particle"] >= 0]).track_id.tolist() == [1, 2, 3]
    whole = linked.assign(particle=linked.particle.astype(np.int64) + 2**53 + 1)
    assert len(motes.Tracks.from_dataframe(whole)) == 4


def test_a_track_that_names_itself_as_parent_has_no_mother():
    linked = motes.link(table(), 1)
    assert motes.Tracks.from_dataframe(linked.assign(parent=linked.particle)).parent.tolist() == [-1] * 4
    assert motes.Tracks.from_dataframe(linked.assign(parent=0)).parent.tolist() == [-1, 0, 0, 0]


def test_images_in_containers_are_told_what_to_give():
    tifffile, image = pytest.importorskip("tifffile"), pytest.importorskip("PIL.Image")
    stack = str(ROOT / "sample" / "stack.ome.tif")
    with tifffile.TiffFile(stack) as file:
        for source in (file, file.series[0]):
            with pytest.raises(TypeError, match=r"give its array, source.asarray\(\)"):
                motes.track(source, voxel_um=1, dt_s=1)
    plane = image.fromarray(np.zeros((20, 30), np.uint8))
    for call in (motes.locate, motes.batch):
        with pytest.raises(TypeError, match=r"Image: give numpy.asarray\(image\)"):
            call(plane, voxel_um=1)


def test_masks_and_columns_are_told_where_they_go():
    frames = np.zeros((2, 4, 8, 8), np.uint8)
    with pytest.raises(TypeError, match="'mask'; give settings={'input.mask': path}, or set voxels outside"):
        motes.track(frames, voxel_um=1, dt_s=1, mask=frames[0])
    with pytest.raises(TypeError, match="input.mask: this is an array; give the path of a file, or set voxels outside"):
        motes.track(frames, voxel_um=1, dt_s=1, settings={"input": {"mask": frames[0] > 0}})
    tracks = motes.Tracks.from_dataframe(motes.link(table(), 1))
    with pytest.raises(IndexError, match="'x': columns are attributes, tracks.x"):
        tracks["x"]
