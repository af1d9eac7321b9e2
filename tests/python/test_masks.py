"""Masks and label images as scikit-image and tifffile leave them: pages without named axes."""

import os
import subprocess

import numpy as np
import pytest
import tifffile

EXECUTABLE = os.environ.get("MOTES_EXECUTABLE")
pytestmark = pytest.mark.skipif(EXECUTABLE is None, reason="MOTES_EXECUTABLE names no program")

FRAMES, SHAPE = 4, (6, 24, 30)


def motes(*words):
    done = subprocess.run([EXECUTABLE, *map(str, words)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def series(folder, frames=FRAMES, planes=SHAPE[0]):
    """Two bright cubes that stand still, as an ImageJ hyperstack."""
    image = np.random.default_rng(1).integers(90, 110, (frames, planes, *SHAPE[1:])).astype(np.uint16)
    image[:, 2:5, 10:13, 7:10] += 500
    image[:, 2:5, 10:13, 21:24] += 500
    path = folder / "series.tif"
    metadata = {"axes": "TZYX", "spacing": 1, "unit": "um", "finterval": 1}
    tifffile.imwrite(path, image, imagej=True, resolution=(1, 1), metadata=metadata)
    return path


def half(shape):
    """The right half, where one of the cubes is."""
    mask = np.zeros(shape, np.uint8)
    mask[..., 15:] = 1
    return mask


@pytest.mark.parametrize(
    "shape", [SHAPE, (FRAMES, *SHAPE), (FRAMES, *SHAPE[1:]), SHAPE[1:]], ids=["volume", "frames", "planes", "plane"]
)
@pytest.mark.parametrize("named", [True, False], ids=["tifffile", "bare"])
def test_a_mask_is_read_by_its_input_s_shape(tmp_path, shape, named):
    mask = half(shape)
    tifffile.imwrite(tmp_path / "mask.tif", mask if named else mask.reshape(-1, *SHAPE[1:]),
                     metadata={} if named else None, photometric="minisblack")
    code, text = motes("detect", series(tmp_path), "-o", tmp_path / "out.csv", "--radius", "2", "--set",
                       "detection.max_count=2", "--set", f"input.mask={tmp_path / 'mask.tif'}")
    assert code == 0, text
    x = np.genfromtxt(tmp_path / "out.csv", delimiter=",", names=True)["x_um"]
    assert len(x) >= FRAMES and np.all(x > 14)


def test_a_mask_that_fits_in_two_ways_is_refused(tmp_path):
    tifffile.imwrite(tmp_path / "mask.tif", half((SHAPE[0], *SHAPE[1:])), metadata=None, photometric="minisblack")
    code, text = motes("detect", series(tmp_path, frames=SHAPE[0]), "-o", tmp_path / "out.csv", "--set",
                       f"input.mask={tmp_path / 'mask.tif'}")
    assert code == 3
    assert "input.mask" in text and "save it as OME-TIFF" in text and "set input.axes" not in text


def test_label_images_searched_for_spots_are_warned_of(tmp_path):
    labels = np.zeros((FRAMES, *SHAPE), np.uint16)
    for number, x in enumerate((3, 10, 17, 24), start=1):
        labels[:, 2:5, 8:13, x : x + 4] = number
    metadata = {"axes": "TZYX", "spacing": 1, "unit": "um", "finterval": 1}
    tifffile.imwrite(tmp_path / "labels.tif", labels, imagej=True, resolution=(1, 1), metadata=metadata)
    code, text = motes("detect", tmp_path / "labels.tif", "-o", tmp_path / "out.csv")
    assert code == 0 and "look like label images" in text
    code, text = motes("detect", tmp_path / "labels.tif", "-o", tmp_path / "out.csv", "--set",
                       "detection.method=labels")
    assert code == 0 and "look like label images" not in text
    code, text = motes("detect", series(tmp_path), "-o", tmp_path / "out.csv")
    assert code == 0 and "look like label images" not in text


def test_voxels_that_are_nan_are_not_searched():
    module = pytest.importorskip("motes")
    image = np.random.default_rng(1).normal(100, 5, (FRAMES, *SHAPE)).astype(np.float32)
    image[:, 2:5, 10:13, 7:10] += 500
    image[:, 2:5, 10:13, 21:24] += 500
    image[..., :15] = np.nan
    with pytest.warns(UserWarning, match="voxels are NaN in 4 of 4 frames"):
        tracks = module.track(image, voxel_um=1, dt_s=1, radius_um=2).tracks
    assert len(tracks) == 1 and tracks.x.min() > 20
