"""What users of trackpy give to locate and batch: readers of pims, dark spots, trackpy's own keywords."""

import re

import numpy as np
import pytest

import motes

pandas = pytest.importorskip("pandas")

SHAPE, FRAMES = (96, 96), 8


def movie(sign=1):
    """Spots on a grid that drift, one plane a frame, as uint8."""
    rng = np.random.default_rng(3)
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    planes = []
    for t in range(FRAMES):
        plane = np.full(SHAPE, 120.0)
        for row in range(12, 90, 18):
            for column in range(12, 90, 18):
                plane += sign * 90 * np.exp(-((y - row - 0.3 * t) ** 2 + (x - column) ** 2) / (2 * 2.0**2))
        planes.append(np.clip(plane + rng.normal(0, 3, SHAPE), 0, 255).astype(np.uint8))
    return planes


class Frame(np.ndarray):
    """As pims' frames: an array that knows its number."""

    frame_no = None


class Reader:
    """As pims' readers: frames by number and a shape, but no array."""

    def __init__(self, planes, first=0, **axes):
        self.planes, self.first = planes, first
        self.frame_shape, self.shape = SHAPE, (len(planes), *SHAPE)
        vars(self).update(axes)

    def __len__(self):
        return len(self.planes)

    def __getitem__(self, t):
        frame = self.planes[t].view(Frame)
        frame.frame_no = self.first + t
        return frame


def test_readers_of_pims_are_series():
    planes = movie()
    expected = motes.batch(planes, voxel_um=1)
    assert set(expected.frame) == set(range(FRAMES)) and len(expected) >= 20 * FRAMES
    for reader in (Reader(planes), Reader(planes, bundle_axes=["y", "x"], iter_axes=["t"])):
        pandas.testing.assert_frame_equal(motes.batch(reader, voxel_um=1), expected, check_dtype=False)
    tracks = motes.track(Reader(planes), voxel_um=1, dt_s=1).tracks
    assert (tracks.x == motes.track(planes, voxel_um=1, dt_s=1).tracks.x).all()
    with pytest.raises(ValueError, match="run along .*'z'.*iter_axes"):
        motes.batch(Reader(planes, bundle_axes="yx", iter_axes="z"), voxel_um=1)


def test_a_part_of_a_reader_keeps_its_frame_numbers():
    planes = movie()
    table = motes.batch(Reader(planes, first=100), voxel_um=1, dt_s=0.5)
    assert set(table.frame) == set(range(100, 100 + FRAMES)) and (table.t_s == table.frame * 0.5).all()
    one_by_one = (frame for frame in Reader(planes, first=100))
    assert (motes.batch(one_by_one, voxel_um=1).frame == table.frame).all()
    assert motes.link(table, 5).particle.nunique() == motes.link(motes.batch(planes, voxel_um=1), 5).particle.nunique()


def test_a_reader_of_pims_itself(tmp_path):
    pims, tifffile = pytest.importorskip("pims"), pytest.importorskip("tifffile")
    planes = movie()
    tifffile.imwrite(tmp_path / "movie.tif", np.array(planes))
    reader = pims.open(str(tmp_path / "movie.tif"))
    found = motes.batch(reader, voxel_um=1)
    assert (found.x == motes.batch(planes, voxel_um=1).x).all()
    assert set(motes.batch(reader[3:], voxel_um=1).frame) == set(range(3, FRAMES))


@pytest.mark.parametrize(
    "keyword, value, line",
    [
        ("diameter", 11, "did you mean 'radius_um'? (half as large, and in um; estimated if not given)"),
        ("minmass", 200, "did you mean 'threshold'? (in other units; chosen automatically if not given)"),
        ("invert", True, "did you mean 'polarity'? (polarity='dark' for dark spots)"),
        ("preprocess", False, "'preprocess'; leave it out: motes sets it from the image"),
        ("separation", 9, "'separation'; leave it out: motes sets it from the image"),
    ],
)
def test_trackpys_keywords_are_told_what_to_give(keyword, value, line):
    for call in (motes.locate, motes.batch):
        with pytest.raises(TypeError, match=re.escape(line)):
            call(movie()[0], voxel_um=1, **{keyword: value})


def test_a_diameter_by_its_place_is_not_taken_as_a_radius():
    """trackpy.locate(frame, 11) has the diameter there, in pixels."""
    for call, images in ((motes.locate, movie()[0]), (motes.batch, movie())):
        with pytest.raises(TypeError, match="takes no diameter: give radius_um"):
            call(images, 11, voxel_um=1)


def test_dark_spots_are_found():
    dark = movie(-1)
    assert len(motes.batch(dark, voxel_um=1)) >= 20 * FRAMES
    with pytest.warns(UserWarning, match=r"frame 0 shows \d+ dark spots: give polarity=.dark. to find those"):
        motes.batch(dark, voxel_um=1, polarity="bright")


def test_a_few_bright_specks_do_not_hide_dark_spots():
    dark = movie(-1)
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    for plane in dark[::2]:  # with faint dark spots; the first frame may be one of these or not
        plane[:] = np.maximum(plane, 110 + 140 * np.exp(-((y - 3) ** 2 + (x - 3) ** 2) / 8))
    for planes in (dark, dark[1:]):
        assert len(motes.batch(planes, voxel_um=1)) >= 20 * FRAMES // 2


def test_planes_stay_planes():
    """A table without z comes back without it, and tracks lie under the image's axes t, y, x."""
    f = pandas.DataFrame({"frame": [0, 1, 0, 1], "x": [1.0, 2, 8, 9], "y": [3.0, 3, 5, 5], "particle": [0, 0, 1, 1]})
    flat = motes.Tracks.from_dataframe(f)
    assert flat.planar
    assert f.equals(flat.to_dataframe()[f.columns]) and "z" not in flat.to_dataframe()
    assert "z_um" in flat.to_dataframe(names="motes")  # the columns of tracks.csv
    for size, scale in ((None, [1, 1]), ([0.5, 0.25], [0.5, 0.25]), ([2, 0.5, 0.25], [0.5, 0.25])):
        data = flat.to_napari(voxel_um=size)[0]
        assert np.array_equal(data, np.column_stack([f.particle, f.frame, f[["y", "x"]] / scale]))
    solid = motes.Tracks.from_dataframe(f.assign(z=[0.0, 0, 0, 1]))
    assert "z" in solid.to_dataframe() and solid.to_napari()[0].shape == (4, 5)
    with pytest.raises(ValueError, match="voxel_um"):
        solid.to_napari(voxel_um=[0.5, 0.25])
    for table in (motes.locate(movie()[0], voxel_um=1), motes.batch(movie(), voxel_um=1)):
        assert not {"z", "error_z_um"} & set(table) and {"x", "y", "error_x_um"} < set(table)
    assert "z" in motes.locate(np.array(movie()[:3]), voxel_um=1)
    empty = solid[:0]
    assert not empty.planar and "z" in empty.to_dataframe()


def points():
    return pandas.DataFrame(dict(frame=[0, 0, 1, 1], x=[1.0, 9, 1.5, 9.5], y=[2.0, 2, 2, 2]))


@pytest.mark.parametrize(
    "option, instead",
    [
        (dict(predictor=print), "motion is estimated"),
        (dict(adaptive_stop=0.2), "leave it out"),
        (dict(dist_func=print), "to_eucl="),
    ],
)
def test_refused_options_of_link_name_what_to_use(option, instead):
    for call in (motes.link, motes.link_df):
        with pytest.raises(NotImplementedError, match=f"has no {next(iter(option))}; .*{instead}"):
            call(points(), 2, **option)
    with pytest.raises(NotImplementedError, match=instead):
        list(motes.link_df_iter([points()[:2], points()[2:]], 2, **option))


@pytest.mark.parametrize(
    "name, words",
    [
        ("retain_index", "leave it out"),
        ("diagnostics", "leave it out"),
        ("frame_col", "did you mean 't_column'"),
        ("coordinate_cols", "did you mean 'pos_columns'"),
        ("track_cost_cutoff", "did you mean 'gate'.*square root"),
        ("max_search_radius", "did you mean 'gate'"),
    ],
)
def test_keywords_of_other_linkers_name_ours(name, words):
    with pytest.raises(TypeError, match=words):
        motes.link(points(), 2, **{name: 1})


def test_names_of_trackpy_that_motes_lacks():
    with pytest.raises(AttributeError, match="no attribute 'predict'; .* estimates motion"):
        motes.predict
    with pytest.raises(AttributeError, match="no attribute 'nothing'$"):
        motes.nothing
    assert not hasattr(motes, "predict")


def test_tables_that_are_none_say_how_to_make_one():
    array = points()[["frame", "y", "x"]].to_numpy()
    with pytest.raises(TypeError, match=re.escape("pandas.DataFrame(f, columns=['frame', 'y', 'x'])")):
        motes.link(array, 2)
    for tables in ([points()[:2], points()[2:]], iter([points()])):
        with pytest.raises(TypeError, match=re.escape("pandas.concat(f)")):
            motes.link(tables, 2)
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="not polars.DataFrame; give table.to_pandas"):
        motes.link(polars.from_pandas(points()), 2)


def test_datasets_of_xarray_say_how_to_make_a_table():
    xarray = pytest.importorskip("xarray")
    with pytest.raises(TypeError, match=re.escape("f.to_dataframe().reset_index()")):
        motes.link(xarray.Dataset.from_dataframe(points()), 2)
