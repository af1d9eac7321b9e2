"""Tracks from and to files of every format."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._frames import Frames, named_axes
from ._settings import path_of, settings_of
from .tracking import Source
from .tracks import Tracks, require_tracks

__all__ = ["read", "write"]

_log = logging.getLogger("motes")


def read(
    path: str | os.PathLike[str],
    *,
    voxel_um: float | Sequence[float] | None = None,
    dt_s: float | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Tracks:
    """Read tracks in any format that ``motes convert`` reads, recognised by content.

    Parameters
    ----------
    path : str or path-like
        tracks.h5, tracks.csv, trackpy's and TrackMate's CSV, challenge XML, .vtkhdf and others;
        with pyarrow also Parquet. The logger ``motes`` tells what was skipped or converted.
    voxel_um : float or sequence [z, y, x], optional
        Scales positions in px to um.
    dt_s : float, optional
        Seconds between frames, if the file does not state them.
    settings : dict, optional
        Keys of ``input``: ``{"input.columns": {"particle": "Track", "x": "Position X"}}``.

    Returns
    -------
    Tracks

    Raises
    ------
    motes.InputError
        If the file is faulty; the message names fault and place.
    """
    from ._parquet import is_parquet, read_parquet

    if not isinstance(path, (str, bytes, os.PathLike)):
        hint = "Tracks.from_dataframe takes a table" if hasattr(path, "columns") else "motes.track takes images"
        if hasattr(path, "read"):
            hint = "of an open file give its name"
        elif isinstance(path, (list, tuple)):
            hint = "read them one by one"
        raise TypeError(f"read takes a path, not {type(path).__name__}; {hint}")
    path = path_of(os.fsdecode(path)) or ""
    if is_parquet(path):
        return Tracks(**read_parquet(path, voxel_um, dt_s))
    return read_with_notes(path, settings_of({"voxel_um": voxel_um, "dt_s": dt_s}, settings))[0]


def read_with_notes(path: str, keys: Mapping[str, str]) -> tuple[Tracks, list[str]]:
    """The tracks, and the remarks on data that were skipped or converted, which are logged."""
    raw, notes = _core._read_tracks(path, keys)
    for line in notes:
        _log.info("%s", line)
    return Tracks(**raw), notes


def _series_of(images: Any, tracks: Tracks) -> Frames:
    """Frames of an array [t, z, y, x], [t, y, x] (tracks in a plane), [z, y, x] or [y, x], or of a list."""
    axes = None
    if hasattr(images, "shape"):
        flat = len(images.shape) == 3 and not np.any(tracks.z)
        axes = named_axes(images) or ("TYX" if flat else "TZYX"[4 - len(images.shape) :])
    return Frames(images, axes, None, None)


def write(
    path: str | os.PathLike[str],
    tracks: Tracks,
    *,
    like: Source | None = None,
    labels: Source | None = None,
    voxel_um: float | Sequence[float] | None = None,
    radius_um: float | None = None,
) -> None:
    """Write tracks in the format of the path's extension.

    Parameters
    ----------
    path : str or path-like
        .h5, .csv, .trackmate.xml, .geff, .ctc, .napari.csv, .xml (Particle Tracking Challenge), .vtp,
        .vtkhdf; with pyarrow also .parquet. The file appears whole or not at all. Missing folders are
        created.
    tracks : Tracks
        The tracks to write.
    like : path, array or list of frames, optional
        The images, for the shape of .ctc's masks and the reference in .trackmate.xml. An array is
        [t, z, y, x], or [t, y, x] for tracks in a plane.
    labels : path, array or list of frames, optional
        The same, for label images that were tracked: .ctc then has their objects instead of spheres.
    voxel_um : float or sequence [z, y, x], optional
        The voxel size of the images; files may state it themselves.
    radius_um : float, optional
        For .ctc: radius of points without one (in px for tracks in px).

    Raises
    ------
    motes.UsageError
        If the extension is unknown, or masks have no voxel size or radius.
    motes.ResourceError
        If the file cannot be written.
    TypeError
        What is not `Tracks`.
    """
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError("write takes the path first: motes.write(path, tracks)")
    require_tracks(tracks, "tracks")
    path = os.fsdecode(path)
    if path.lower().endswith((".parquet", ".pq")):
        tracks.to_parquet(path)
        return
    if like is not None and labels is not None:
        raise ValueError("labels includes like; give only one of them")
    images = like if labels is None else labels
    place = path_of(images)
    series = None if images is None or place is not None else _series_of(images, tracks)
    read, count, shape = (series.frame, series.length, list(series.first.shape)) if series else (None, 0, [])
    keys = settings_of({"voxel_um": voxel_um, "radius_um": radius_um}, function="write")
    _core._write_tracks(path, tracks._as_dict(), place or "", read, count, shape, labels is not None, keys)
