"""Parquet and Arrow: there and back without loss, tables of others, and clear refusals."""

import subprocess
import sys

import numpy as np
import pytest

import motes
from test_merges import two_that_merge
from test_tracking import STACK, mother_and_daughters

WITHOUT = """
import sys
sys.modules["pyarrow"] = None
import motes
tracks = motes.read(sys.argv[1])
for action in (lambda: motes.write(sys.argv[2], tracks), tracks.to_arrow, lambda: motes.read(sys.argv[3])):
    try:
        action()
    except ModuleNotFoundError as error:
        print(error)
"""
FIELDS = ("offsets", "track_id", "frame", "x", "y", "z", "time_s", "detection")


@pytest.fixture(scope="module")
def tracks():
    return motes.track(STACK).tracks


def assert_equal(a, b):
    for name in FIELDS:
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
        assert getattr(a, name).dtype == getattr(b, name).dtype or name == "detection"
    assert (a.unit, a.dt_s) == (b.unit, b.dt_s)
    for name in ("parent", "merged_into"):
        one, two = getattr(a, name), getattr(b, name)
        assert (one is None) == (two is None)
        assert one is None or np.array_equal(one, two)
    for properties in ("point_properties", "track_properties"):
        one, two = getattr(a, properties), getattr(b, properties)
        assert set(one) == set(two)
        for name in one:
            assert np.array_equal(one[name], two[name], equal_nan=True), name


def test_there_and_back(tracks, tmp_path):
    pytest.importorskip("pyarrow")
    divided = mother_and_daughters()
    divided.unit, divided.track_properties = "px", {"score": np.array([1.5, np.nan, 3])}
    for given in (tracks, divided, two_that_merge()):
        for name in ("t.parquet", "t.PQ"):
            motes.write(tmp_path / name, given)
            assert_equal(motes.read(tmp_path / name), given)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.PQ", "t.parquet"]
    table = tracks.to_arrow()
    assert table.num_rows == len(tracks.frame)
    assert {"particle", "frame", "t_s", "x_um", "y_um", "z_um"} <= set(table.column_names)


def test_a_table_of_trackpys(tracks, tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    f = tracks.to_dataframe().sample(frac=1, random_state=1)
    f.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(motes.InputError, match="x, y, z have no unit"):
        motes.read(tmp_path / "t.parquet")
    scaled = motes.read(tmp_path / "t.parquet", voxel_um=[3, 2, 2], dt_s=0.5)
    assert scaled.unit == "um" and scaled.dt_s == 0.5
    assert (scaled.x == tracks.x * 2).all() and (scaled.z == tracks.z * 3).all()
    assert (scaled.time_s == tracks.frame * 0.5).all()
    assert motes.read(tmp_path / "t.parquet", voxel_um=1).unit == "px"
    flat = f.drop(columns="z").rename(columns={"x": "x_um", "y": "y_um"})
    flat.to_parquet(tmp_path / "t.parquet")
    assert (motes.read(tmp_path / "t.parquet").z == 0).all()


def test_bad_files_are_refused(tracks, tmp_path):
    pytest.importorskip("pyarrow")
    f, path = tracks.to_dataframe("motes"), tmp_path / "t.parquet"
    for change, what in (
        (lambda f: f.drop(columns="particle"), "no column 'particle'"),
        (lambda f: f.drop(columns="y_um"), "no columns x and y"),
        (lambda f: f.assign(frame=f.frame + 0.5), "'frame' does not hold whole numbers"),
        (lambda f: f.assign(particle="a"), "'particle' does not hold whole numbers"),
        (lambda f: f.assign(x_um="a"), "'x_um' does not hold numbers"),
        (lambda f: f.assign(x_um=np.nan), "'x_um' holds values that are not finite"),
        (lambda f: f.assign(particle=0), "two points in one frame"),
    ):
        change(f).to_parquet(path)
        with pytest.raises(motes.InputError, match=what):
            motes.read(path)
    motes.write(path, tracks)
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(motes.InputError, match="t.parquet.*write it again"):
        motes.read(path)
    before = path.read_bytes()
    broken = mother_and_daughters()
    broken.x = broken.x[:-1]
    with pytest.raises(Exception, match="length"):
        motes.write(path, broken)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["t.parquet"]


def test_without_pyarrow_one_line_says_so(tracks, tmp_path):
    motes.write(tmp_path / "t.csv", tracks)
    (tmp_path / "u.parquet").write_bytes(b"PAR1")
    words = [tmp_path / name for name in ("t.csv", "t.parquet", "u.parquet")]
    done = subprocess.run([sys.executable, "-c", WITHOUT, *words], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 3 and all("pip install pyarrow" in line for line in lines), done.stderr
    assert not (tmp_path / "t.parquet").exists()
