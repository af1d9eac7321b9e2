"""Units, times and mothers on their way through tables, and advice in Python's words."""

import numpy as np
import pytest

import motes

pytest.importorskip("pandas")

VOXEL, DT = [0.2, 0.1, 0.1], 1


@pytest.fixture(scope="module")
def frames():
    made = motes.simulate(
        particles=20, frames=5, volumes=True, seed=3, settings={"simulation.box_um": [3, 6, 6]}
    )
    return np.stack(made.volumes)


def test_axes_and_channel_among_the_settings_describe_arrays_too(frames):
    two = np.stack([np.zeros_like(frames), frames], axis=2)
    found = motes.track(
        two, voxel_um=VOXEL, dt_s=DT, settings={"input.axes": "TZCYX", "input": {"channel": 1}}
    )
    assert (found.tracks.x == motes.track(frames, voxel_um=VOXEL, dt_s=DT).tracks.x).all()


def test_a_table_of_tracks_and_back_keeps_times_and_mothers():
    born = motes.Tracks(
        offsets=np.array([0, 2, 4, 5]), track_id=np.array([0, 1, 2]), frame=np.array([0, 1, 2, 4, 2]),
        x=np.arange(5.0), y=np.zeros(5), z=np.ones(5), time_s=np.array([0, 2, 4.1, 8, 4.1]),
        detection=np.full(5, -1), parent=np.array([-1, 0, 0]), dt_s=2.0,
    )  # fmt: skip
    for names in ("trackpy", "motes"):
        back = motes.Tracks.from_dataframe(born.to_dataframe(names))
        assert back.dt_s == 2 and back.parent.tolist() == [-1, 0, 0] and not back.point_properties
        assert (back.time_s == born.time_s).all() and (back.x == born.x).all()
    table = born.to_dataframe()
    without_mother = motes.Tracks.from_dataframe(table[table.particle > 0])
    assert without_mother.parent.tolist() == [-1, -1]
    assert motes.Tracks.from_dataframe(table, dt_s=5).time_s.tolist() == [0, 5, 10, 20, 10]
    born.dt_s, born.time_s = None, born.frame.astype(float)
    untimed = born.to_dataframe()
    assert "t_s" not in untimed and motes.Tracks.from_dataframe(untimed).dt_s is None


def test_spots_without_a_frame_interval_have_no_times(frames):
    spots = motes.batch(frames, voxel_um=VOXEL)
    assert "t_s" not in spots and "frame" in spots
    assert motes.Tracks.from_dataframe(motes.link(spots)).dt_s is None


def test_scores_warn_of_other_units(frames):
    found = motes.track(frames, voxel_um=VOXEL, dt_s=DT).tracks
    table = found.to_dataframe()
    with pytest.warns(UserWarning, match="positions are multiplied by"):
        motes.score(found, motes.Tracks.from_dataframe(table.assign(x=table.x * 50, y=table.y * 50, z=table.z * 50)))


def test_advice_is_in_the_words_of_python(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    path = tmp_path / "bare.tif"
    tifffile.imwrite(path, np.zeros((6, 8, 8), np.uint8), metadata=None)
    with pytest.raises(motes.InputError, match=r"set voxel_um=\[z, y, x\] or one number, in um and dt_s="):
        motes.track(path, axes="TZ3YX")
    (tmp_path / "t.csv").write_text("x,y,q\n1,2,3\n")
    with pytest.raises(motes.InputError, match='settings={"input.columns": {"frame": "NAME"}}'):
        motes.track(tmp_path / "t.csv", voxel_um=1)


def test_lengths_that_differ_are_refused_with_a_way_out(tmp_path):
    (tmp_path / "plain.csv").write_text("particle,frame,x,y,z\n0,0,1,1,1\n0,1,1.5,1,1\n")
    truth = motes.read(tmp_path / "plain.csv", settings={"input.unit": "um"})
    found = motes.read(tmp_path / "plain.csv", voxel_um=1)  # a voxel of 1: still in px
    with pytest.raises(motes.UsageError, match="in um, the tracks in px.*if its lengths are in um, with settings=.*"):
        motes.score(truth, found)
    assert motes.score(truth, truth)["link"]["f1"] == 1
