"""TrackMate XML: the model alone, which TrackMate opens by "Load a TrackMate file"."""

from __future__ import annotations

import os
import xml.etree.ElementTree as tree
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .tracks import Tracks


def write_trackmate(path: str | os.PathLike[str], tracks: Tracks) -> None:
    """Spots by frame, edges by track; spot numbers are the points' rows."""
    root = tree.Element("TrackMate", version="7.11.1")
    unit = {"um": "micron", "px": "pixel"}[tracks.unit]
    time_unit = "frame" if tracks.dt_s is None else "sec"
    model = tree.SubElement(root, "Model", spatialunits=unit, timeunits=time_unit)
    _declare(model)
    _spots(model, tracks)
    _tracks(model, tracks)
    tree.indent(root)
    tree.ElementTree(root).write(path, encoding="UTF-8", xml_declaration=True)


def _feature(parent: tree.Element, name: str, title: str, dimension: str, integer: bool = False) -> None:
    tree.SubElement(
        parent,
        "Feature",
        feature=name,
        name=title,
        shortname=title,
        dimension=dimension,
        isint=str(integer).lower(),
    )


def _declare(model: tree.Element) -> None:
    features = tree.SubElement(model, "FeatureDeclarations")
    spots = tree.SubElement(features, "SpotFeatures")
    _feature(spots, "QUALITY", "Quality", "QUALITY")
    for axis in "XYZ":
        _feature(spots, f"POSITION_{axis}", axis, "POSITION")
    _feature(spots, "POSITION_T", "T", "TIME")
    _feature(spots, "FRAME", "Frame", "NONE", True)
    _feature(spots, "RADIUS", "Radius", "LENGTH")
    _feature(spots, "VISIBILITY", "Visibility", "NONE", True)
    edges = tree.SubElement(features, "EdgeFeatures")
    _feature(edges, "SPOT_SOURCE_ID", "Source spot", "NONE", True)
    _feature(edges, "SPOT_TARGET_ID", "Target spot", "NONE", True)
    track = tree.SubElement(features, "TrackFeatures")
    _feature(track, "TRACK_ID", "Track number", "NONE", True)
    _feature(track, "TRACK_INDEX", "Track index", "NONE", True)


def _column(tracks: Tracks, names: tuple[str, ...], otherwise: float) -> NDArray[np.float64]:
    for name in names:
        if name in tracks.point_properties:
            return np.nan_to_num(tracks.point_properties[name], nan=otherwise)
    return np.full(len(tracks.frame), otherwise)


def _spots(model: tree.Element, tracks: Tracks) -> None:
    n = len(tracks.frame)
    spots = tree.SubElement(model, "AllSpots", nspots=str(n))
    radius = _column(tracks, ("radius_um", "radius_px", "radius"), 1.0)
    quality = _column(tracks, ("quality",), -1.0)
    order = np.argsort(tracks.frame, kind="stable")
    frame_element, current = spots, None
    for k in order.tolist():
        frame = int(tracks.frame[k])
        if frame != current:
            frame_element = tree.SubElement(spots, "SpotsInFrame", frame=str(frame))
            current = frame
        tree.SubElement(
            frame_element,
            "Spot",
            ID=str(k),
            name=f"ID{k}",
            FRAME=str(frame),
            POSITION_T=repr(float(tracks.time_s[k])),
            POSITION_X=repr(float(tracks.x[k])),
            POSITION_Y=repr(float(tracks.y[k])),
            POSITION_Z=repr(float(tracks.z[k])),
            QUALITY=repr(float(quality[k])),
            RADIUS=repr(float(radius[k])),
            VISIBILITY="1",
        )


def _lineages(tracks: Tracks, edges: NDArray[np.int64]) -> dict[int, list[tuple[int, int]]]:
    """Connected tracks by number: TrackMate counts a mother and her daughters as one track."""
    root = np.arange(len(tracks))
    of_point = np.repeat(root, np.diff(tracks.offsets))

    def find(k: int) -> int:
        while root[k] != k:
            root[k] = root[root[k]]
            k = root[k]
        return k

    for a, b in edges[of_point[edges[:, 0]] != of_point[edges[:, 1]]].tolist():
        root[find(of_point[b])] = find(of_point[a])
    by_lineage: dict[int, list[tuple[int, int]]] = {}
    for a, b in edges.tolist():
        by_lineage.setdefault(int(tracks.track_id[find(of_point[a])]), []).append((a, b))
    return dict(sorted(by_lineage.items()))


def _tracks(model: tree.Element, tracks: Tracks) -> None:
    all_tracks = tree.SubElement(model, "AllTracks")
    lineages = _lineages(tracks, tracks._edges())
    for index, (number, edges) in enumerate(lineages.items()):
        track = tree.SubElement(
            all_tracks, "Track", name=f"Track_{number}", TRACK_ID=str(number), TRACK_INDEX=str(index)
        )
        for a, b in edges:
            tree.SubElement(track, "Edge", SPOT_SOURCE_ID=str(a), SPOT_TARGET_ID=str(b))
    filtered = tree.SubElement(model, "FilteredTracks")
    for number in lineages:
        tree.SubElement(filtered, "TrackID", TRACK_ID=str(number))
