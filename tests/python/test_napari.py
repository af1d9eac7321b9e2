"""The napari plugin: manifest, reader and widget, without a screen."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import motes
from motes import napari as plugin

ROOT = Path(__file__).parents[2]
STACK = ROOT / "sample" / "stack.ome.tif"
VOXEL = [0.2, 0.1, 0.1]


@pytest.fixture(scope="module")
def tracks():
    return motes.track(STACK).tracks


def test_the_manifest_is_valid():
    npe2 = pytest.importorskip("npe2")
    manifest = npe2.PluginManifest.from_file(Path(plugin.__file__).parent / "napari.yaml")
    assert manifest.name == "motes"
    manifest.validate_imports()


def test_the_reader_reads_tracks(tracks, tmp_path):
    for extension in (".h5", ".csv", ".trackmate.xml"):
        path = str(tmp_path / f"t{extension}")
        motes.write(path, tracks)
        [(data, attributes, kind)] = plugin.get_reader(path)(path)
        assert kind == "tracks" and data.shape == (len(tracks.frame), 5)
        assert (data == tracks.to_napari()[0]).all()
        assert attributes["name"] == f"t{extension}"


def test_the_reader_leaves_other_files_alone(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    (tmp_path / "t.h5").write_bytes(b"no HDF5")
    (tmp_path / "t.xml").write_text("<SpimData/>")
    for name in ("t.csv", "t.h5", "t.xml", "nothing.csv", "folder.geff"):
        assert plugin.get_reader(str(tmp_path / name)) is None


def test_the_reader_reads_geff(tracks, tmp_path):
    path = str(tmp_path / "t.geff")
    tracks.to_geff(path)
    [(data, attributes, kind)] = plugin.get_reader(path)(path)
    assert kind == "tracks" and np.array_equal(data, tracks.to_napari()[0])
    assert "quality" in attributes["properties"] and attributes["metadata"]["unit"] == "um"


@pytest.mark.parametrize("package", [True, False])
def test_a_link_that_divides_and_merges_at_once_needs_the_package(tmp_path, monkeypatch, package):
    geff, networkx = pytest.importorskip("geff"), pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    places = [(0, 1), (0, 9), (1, 1), (1, 9), (2, 1), (2, 9)]
    for node, (t, x) in enumerate(places):
        graph.add_node(node, t=t, x=1000.0 * x, y=2000.0, z=500.0 + node)
    graph.add_edges_from([(0, 2), (1, 3), (2, 4), (2, 5), (3, 5)])  # 2 -> 5 divides and merges
    path = str(tmp_path / "t.geff")
    geff.write(
        graph, path, axis_names=["t", "x", "y", "z"], axis_types=["time", "space", "space", "space"],
        axis_units=["frame", "nanometer", "nanometer", "nanometer"],
    )  # fmt: skip
    if not package:
        monkeypatch.setitem(sys.modules, "geff", None)
    [(data, attributes, _)] = plugin.get_reader(path)(path)
    assert sorted(data[:, 1].tolist()) == [0, 0, 1, 1, 2, 2]
    assert sorted(set(data[:, 4].tolist())) == [1, 9] and set(data[:, 3].tolist()) == {2}
    assert attributes["metadata"]["unit"] == "um"
    before = sorted(len(tracks) for tracks in attributes["graph"].values())
    assert before == ([1, 2] if package else [1, 1])


def test_the_reader_reads_geff_without_the_package_too(tracks, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "geff", None)
    path = str(tmp_path / "t.geff")
    tracks.to_geff(path)
    [(data, attributes, kind)] = plugin.get_reader(path)(path)
    assert kind == "tracks" and np.array_equal(data, tracks.to_napari()[0])


def test_tracks_of_a_plane_are_read_without_z(tracks, tmp_path):
    flat = motes.Tracks.from_dataframe(tracks.to_dataframe().drop(columns="z"))
    for extension in (".csv", ".geff"):
        path = str(tmp_path / f"t{extension}")
        motes.write(path, flat)
        [(data, _, _)] = plugin.get_reader(path)(path)
        assert data.shape == (len(flat.frame), 4)


class Layer:
    """As napari's image layers, without napari."""

    rgb, name = False, "layer"

    def __init__(self, data, scale):
        self.data, self.scale = data, scale


def test_tracks_have_the_axes_of_their_layer(tracks):
    tifffile = pytest.importorskip("tifffile")
    frames = tifffile.imread(STACK)
    plane = frames.max(1)
    for image in (
        Layer(plane, [1, 0.1, 0.1]),
        Layer(plane[:, None], [1, 1, 0.1, 0.1]),
        Layer(frames, [1, *VOXEL]),
        Layer(np.zeros((2, 20, 20), np.uint8), [1, 1, 1]),
    ):
        data, attributes, kind = plugin.track_layer(image)
        assert data.shape[1] == image.data.ndim + 1


class Labels(Layer):
    """As napari's labels layers."""


def test_objects_of_labels_are_tracked():
    labels = np.zeros((4, 30, 40), np.int32)
    for t in range(4):
        for k in range(6):
            labels[t, 5 * k + 1 : 5 * k + 5, 4 + t : 14 + t] = 6 - k  # long ones, that touch nothing
    data, _, _ = plugin.track_layer(Labels(labels, [1, 0.5, 0.5]))
    assert len(data) == 24 and len(set(data[:, 0])) == 6
    assert np.allclose(sorted(data[data[:, 1] == 0][:, 2]), 0.5 * (5 * np.arange(6) + 2.5))


def test_the_widget_tracks_a_layer(tracks):
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    pytest.importorskip("napari")
    pytest.importorskip("qtpy.QtWidgets")
    tifffile = pytest.importorskip("tifffile")
    from napari.layers import Image, Tracks
    from qtpy.QtWidgets import QApplication

    application = QApplication.instance() or QApplication([])
    frames = tifffile.imread(STACK)
    image = Image(frames, scale=[1, *VOXEL], name="stack")
    widget = plugin.track_widget()
    assert {"image", "radius_um", "gate_um", "dt_s"} <= {w.name for w in widget}
    points, attributes, kind = plugin.track_layer(image)
    layer = Tracks(points, **attributes)
    assert kind == "tracks" and len(layer.data) == len(tracks.frame)
    assert np.allclose(layer.data[:, 2:], tracks.to_napari()[0][:, 2:])
    flat = plugin.track_layer(Image(frames.max(1), scale=[1, 0.1, 0.1]))
    assert flat[0].shape[1] == 4
    from napari.layers import Labels as NapariLabels

    objects = plugin.track_layer(NapariLabels(np.repeat(np.eye(5, dtype=np.int32)[None] * 3, 3, axis=0)))
    assert set(objects[0][:, 0]) == {0}
    application.processEvents()
