"""The napari plugin: a reader for tracks, and a widget that tracks an image layer."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from napari.layers import Image, Labels

#: Data, attributes and type of a layer, as in napari.
Layer = tuple[Any, dict[str, Any], str]

__all__ = ["get_reader", "track_layer", "track_widget"]


def get_reader(path: str | list[str]) -> Callable[[Any], list[Layer]] | None:
    """A reader of the tracks in `path`, or None if there are none.

    Reads tracks.h5, tables with a track number in each row (.csv), TrackMate's XML, MTrackJ's .mdf and GEFF stores.
    Positions are in um, or in px if the file has no unit; scale image layers by their voxel size to match them.
    """
    if isinstance(path, list):
        if len(path) != 1:
            return None
        path = path[0]
    path = os.fspath(path)
    if path.rstrip("/").endswith(".geff"):
        return _read_geff if os.path.isdir(path) else None
    try:
        _read(path)
    except (OSError, ValueError):
        return None  # another plugin may read it
    return _read


def _layer(data: Any, properties: dict[str, Any], graph: dict[int, Any], path: str, unit: str) -> list[Layer]:
    name = os.path.basename(path.rstrip("/")) or "tracks"
    attributes = {"name": name, "properties": properties, "graph": graph}
    attributes["metadata"] = {"unit": unit, "source": path}
    return [(data, attributes, "tracks")]


def _read(path: Any) -> list[Layer]:
    import motes

    path = path[0] if isinstance(path, list) else os.fspath(path)
    tracks = motes.read(path)
    return _layer(*tracks.to_napari(), path, tracks.unit)


def _read_geff(path: Any) -> list[Layer]:
    from motes.files import read_with_notes

    path = path[0] if isinstance(path, list) else os.fspath(path)
    tracks, notes = read_with_notes(path, {})
    if any("part of a division and of a merge" in line for line in notes):
        try:
            return _read_graph(path)
        except ImportError:
            pass
    return _layer(*tracks.to_napari(), path, tracks.unit)


#: Micrometres in the units of length that GEFF names.
_UM = {"nanometer": 1e-3, "micrometer": 1.0, "millimeter": 1e3, "centimeter": 1e4, "meter": 1e6}


def _read_graph(path: str) -> list[Layer]:
    """With the links that are part of a division and of a merge, which motes.read leaves out."""
    import geff
    import networkx

    graph, metadata = geff.read(path, backend="networkx")
    time = next(axis.name for axis in metadata.axes if axis.type == "time")
    space = [axis for axis in metadata.axes if axis.name != time]
    if {axis.name[-1].lower() for axis in space} <= set("zyx"):  # in napari's order
        space.sort(key=lambda axis: "zyx".index(axis.name[-1].lower()))
    known = all(axis.unit in _UM for axis in space)
    rows: list[list[float]] = []
    parents: dict[int, list[int]] = {}
    branches = graph.copy()
    # A track ends where it divides or where tracks merge.
    for a, b in list(graph.edges):
        if graph.out_degree(a) > 1 or graph.in_degree(b) > 1:
            branches.remove_edge(a, b)
    number = {}
    for k, nodes in enumerate(networkx.weakly_connected_components(branches)):
        for node in nodes:
            number[node] = k
            at = graph.nodes[node]
            rows.append([k, at[time], *(at[axis.name] * (_UM[axis.unit] if known else 1) for axis in space)])
    for a, b in graph.edges:
        if number[a] != number[b]:
            parents.setdefault(number[b], []).append(number[a])
    data = np.array(rows, dtype=np.float64)
    data = data[np.lexsort((data[:, 1], data[:, 0]))]
    if data.shape[1] == 5 and not data[:, 2].any():  # of a plane: with the image's axes t, y, x
        data = np.delete(data, 2, axis=1)
    return _layer(data, {}, parents, path, "um" if known else "px")


def track_layer(
    image: "Image | Labels",
    radius_um: float = 0.0,
    gate_um: float = 0.0,
    dt_s: float = 1.0,
    progress: Callable[[int], object] | None = None,
) -> Layer:
    """Track the spots of an image layer, or the objects of a labels layer; its scale is the voxel size.

    Parameters
    ----------
    image : napari.layers.Image or napari.layers.Labels
        Axes t, z, y, x, or t, y, x.
    radius_um, gate_um : float
        0: estimated.
    dt_s : float
        Seconds between frames.

    Returns
    -------
    tuple
        A tracks layer's data, attributes and type, in the units of the image's scale.
    """
    import motes

    if image is None:
        raise ValueError("open an image or labels first")
    # The finest level of a pyramid.
    data = image.data[0] if getattr(image, "multiscale", False) else image.data
    if getattr(image, "rgb", False):
        raise ValueError(f"the layer {image.name!r} has colours; split it into channels")
    axes = {3: "TYX", 4: "TZYX"}.get(data.ndim)
    if axes is None:
        raise ValueError(f"the layer {image.name!r} has {data.ndim} axes, not t, z, y, x or t, y, x")
    scale = [float(s) for s in image.scale[1:]]
    voxel_um = scale if len(scale) == 3 else [1.0, *scale]
    found = motes.track(
        data, axes=axes, voxel_um=voxel_um, dt_s=dt_s, radius_um=radius_um or None,
        method="labels" if type(image).__name__ == "Labels" else None, gate=gate_um or None, progress=progress,
    )  # fmt: skip
    points, properties, graph = found.tracks.to_napari()
    if points.shape[1] != data.ndim + 1:  # without tracks, or for a volume of one plane
        points = np.delete(points, 2, axis=1) if axes == "TYX" else np.insert(points, 2, 0.0, axis=1)
    points[:, 1] *= image.scale[0]
    attributes = {"name": f"{image.name} tracks", "properties": properties, "graph": graph}
    return points, attributes, "tracks"


def track_widget() -> Any:
    """The widget "Track particles"."""
    import napari
    from magicgui import magicgui
    from napari.layers import Image, Labels, Layer
    from napari.types import LayerDataTuple

    def layers(_: Any) -> list[Any]:
        viewer = napari.current_viewer()
        return [layer for layer in viewer.layers if isinstance(layer, (Image, Labels))] if viewer else []

    @magicgui(  # type: ignore[untyped-decorator,unused-ignore]
        call_button="Track",
        image={"label": "image or labels"},
        radius_um={"label": "spot radius, um (0: estimated)", "min": 0.0, "step": 0.1},
        gate_um={"label": "gate, um (0: none)", "min": 0.0, "step": 0.1},
        dt_s={"label": "time between frames, s", "min": 1e-9, "step": 0.1},
    )
    def track(
        image: Layer, radius_um: float = 0.0, gate_um: float = 0.0, dt_s: float = 1.0
    ) -> LayerDataTuple:
        return track_layer(image, radius_um, gate_um, dt_s)

    track.image.choices = layers
    return track
