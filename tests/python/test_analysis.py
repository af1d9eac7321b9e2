"""motes.analyse against trackpy's definition and the command's figures."""

import json

import numpy as np
import pandas
import pytest

import motes


def diffusing(seed, particles=50, frames=80):
    rng = np.random.default_rng(seed)
    steps = rng.normal(0, 0.1, (particles, frames, 3))
    at = np.cumsum(steps, axis=1)
    frame = np.tile(np.arange(frames), particles)
    particle = np.repeat(np.arange(particles), frames)
    x, y, z = at.reshape(-1, 3).T
    return pandas.DataFrame(dict(frame=frame, x=x, y=y, z=z, particle=particle))


def test_figures_of_known_diffusion():
    table = diffusing(1)
    motion = motes.analyse(motes.Tracks.from_dataframe(table), max_lag=5)
    assert motion.dims == 3 and motion.time_unit == "frame"
    assert motion.diffusion == pytest.approx(0.005, rel=0.1)
    assert list(motion.msd["lag"]) == [1, 2, 3, 4, 5]
    paths = table[["x", "y", "z"]].to_numpy().reshape(50, 80, 3)
    for lag, msd in zip(motion.msd["lag"], motion.msd["msd"]):
        d = paths[:, lag:] - paths[:, :-lag]
        assert msd == pytest.approx((d**2).sum(-1).mean())
    assert len(motion.tracks) == 50 and len(motion.drift) == 79
    assert "50 tracks" in repr(motion)


def test_the_command_says_the_same(tmp_path):
    tracks = motes.Tracks.from_dataframe(diffusing(2))
    motes.write(tmp_path / "t.h5", tracks)
    from motes import _core

    assert _core._command(["motes", "analyse", str(tmp_path / "t.h5"), "--quiet", "--json", str(tmp_path / "m.json")]) == 0
    said = json.loads((tmp_path / "m.json").read_text())
    assert said["diffusion"]["value"] == motes.analyse(tracks).diffusion


def test_what_is_refused():
    with pytest.raises(TypeError, match="tracks: give motes.Tracks"):
        motes.analyse(diffusing(3))
    with pytest.raises(motes.UsageError, match="lag"):
        motes.analyse(motes.Tracks.from_dataframe(diffusing(3)), max_lag=-1)


def test_what_forbids_to_trust_the_figures_is_warned_of():
    table = diffusing(4)
    with pytest.warns(UserWarning, match="no track has 500 points"):
        motes.analyse(motes.Tracks.from_dataframe(table), min_length=500)
    table["x"] += table.frame
    with pytest.warns(UserWarning, match="not diffusion.*remove_drift=True"):
        motes.analyse(motes.Tracks.from_dataframe(table))
