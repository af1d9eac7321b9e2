"""Voxel size and frame interval from coordinates of an xarray."""

import re
from pathlib import Path

import motes
import numpy as np
import pytest

xarray = pytest.importorskip("xarray")
STACK = Path(__file__).parents[2] / "sample" / "stack.ome.tif"


@pytest.mark.timeout(300)
def test_coordinates_of_an_xarray_that_name_their_units_are_voxel_size_and_interval():
    frames = pytest.importorskip("tifffile").imread(STACK)[:3]
    expected = motes.track(frames, voxel_um=[0.5, 0.2, 0.2], dt_s=2)

    def named(**units):
        steps = dict(t=2, z=0.5, y=0.2, x=-0.2)  # a descending axis has the same voxels
        coords = {k: (k, 7 + step * np.arange(n), {"units": units.get(k, "")})
                  for (k, step), n in zip(steps.items(), frames.shape)}  # fmt: skip
        return xarray.DataArray(frames, dims=tuple("tzyx"), coords=coords)

    lengths = dict(z="um", y="\N{MICRO SIGN}m", x="micrometers")
    full = named(t="s", **lengths)
    found = motes.track(full)
    assert found.tracks.dt_s == 2 and np.array_equal(found.tracks.x, expected.tracks.x)
    assert np.array_equal(motes.locate(full[0]).z, motes.locate(frames[0], voxel_um=[0.5, 0.2, 0.2]).z)
    assert "t_s" in motes.batch(full)
    plane = motes.locate(full.max("z")[0])
    assert np.array_equal(plane.x, motes.locate(frames[0].max(0), voxel_um=[0.2, 0.2]).x)
    clock = full.assign_coords(t=np.datetime64("2026-01-01") + np.arange(len(frames)) * np.timedelta64(2, "s"))
    assert motes.track(clock).tracks.dt_s == 2
    assert motes.track(full, voxel_um=1, dt_s=3).tracks.dt_s == 3  # what is given counts
    nanometres = named(t="ms", z="nm", y="nm", x="nm")
    assert np.allclose(motes.track(nanometres).tracks.x * 1e3, expected.tracks.x, rtol=1e-6)
    remark = re.escape("(coordinates step by x 0.2, in no unit that is known)")
    with pytest.raises(ValueError, match="^voxel_um: an array has no metadata.*" + remark):
        motes.track(named(t="s", z="um", y="um", x="pixel"))
    uneven = full.assign_coords(t=("t", np.arange(len(frames)) ** 2.0, {"units": "s"}))
    with pytest.raises(ValueError, match="^dt_s: "):
        motes.track(uneven)
