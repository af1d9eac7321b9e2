"""Masks of the Cell Tracking Challenge from Python: shapes of images, and the objects of label images."""

import numpy as np
import pytest

import motes

pandas = pytest.importorskip("pandas")
tifffile = pytest.importorskip("tifffile")

FRAMES, SHAPE = 4, (30, 40)


def label_images(dtype=np.uint16):
    """Two crescents that move; a centroid lies outside of its own."""
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    images = np.zeros((FRAMES, *SHAPE), dtype)
    for t in range(FRAMES):
        for number, row, column in ((3 + t, 9, 10 + t), (40 - t, 20, 25 - t)):
            ring = np.hypot(y - row, x - column)
            images[t][(ring > 3) & (ring < 6) & (x < column + 2)] = number
    return images


def masks_of(folder):
    return np.array([tifffile.imread(f) for f in sorted(folder.glob("mask*.tif"))]).reshape(FRAMES, *SHAPE)


@pytest.fixture(scope="module")
def cells():
    """Tracks of the label images."""
    found = motes.track(label_images(), axes="TYX", voxel_um=0.5, dt_s=1, settings={"detection.method": "labels"})
    assert len(found.tracks) == 2
    return found.tracks


@pytest.mark.parametrize("dtype", [np.uint16, np.int32])
def test_objects_of_label_images_are_kept(cells, tmp_path, dtype):
    images = label_images(dtype)
    motes.write(tmp_path / "t.ctc", cells, labels=images, voxel_um=0.5)
    masks = masks_of(tmp_path / "t.ctc")
    assert ((masks > 0) == (images > 0)).all()
    for t in range(FRAMES):
        assert (masks[t][images[t] == 3 + t] == masks[0][images[0] == 3][0]).all()
    path = tmp_path / "labels.ome.tif"
    size = {"PhysicalSizeX": 0.5, "PhysicalSizeY": 0.5, "PhysicalSizeXUnit": "µm", "PhysicalSizeYUnit": "µm"}
    tifffile.imwrite(path, label_images(), metadata={"axes": "TYX", "TimeIncrement": 1, **size})
    for labels in (path, list(images)):
        cells.save(tmp_path / "again.ctc", labels=labels, voxel_um=0.5)
        assert (masks_of(tmp_path / "again.ctc") == masks).all()


def test_balls_have_the_images_shape(cells, tmp_path):
    motes.write(tmp_path / "t.ctc", cells, like=np.zeros((FRAMES, *SHAPE), np.uint8), voxel_um=0.5)
    masks = masks_of(tmp_path / "t.ctc")
    assert masks.max() == 2 and ((masks > 0) != (label_images() > 0)).any()
    points = cells.to_dataframe()
    plain = motes.Tracks.from_dataframe(points[["frame", "particle", "x", "y"]], unit="px")
    with pytest.raises(motes.UsageError, match="give radius_um$"):
        motes.write(tmp_path / "px.ctc", plain)
    motes.write(tmp_path / "px.ctc", plain, radius_um=2)
    assert len(motes.read(tmp_path / "px.ctc")) == 2


def test_what_cannot_be_written_is_told(cells, tmp_path):
    with pytest.raises(motes.UsageError, match="size of a voxel; give voxel_um, or like=IMAGES$"):
        motes.write(tmp_path / "t.ctc", cells)
    with pytest.raises(motes.UsageError, match="labels have 2 frames, but there are tracks in frame 2"):
        motes.write(tmp_path / "t.ctc", cells, labels=label_images()[:2], voxel_um=0.5)
    with pytest.raises(motes.InputError, match="labels, frame 0: 2 objects of the tracks are missing"):
        motes.write(tmp_path / "t.ctc", cells, labels=np.roll(label_images(), 1, axis=0), voxel_um=0.5)
    with pytest.raises(ValueError, match="give only one of them"):
        motes.write(tmp_path / "t.ctc", cells, labels=label_images(), like=label_images(), voxel_um=0.5)
    assert not (tmp_path / "t.ctc").exists()
