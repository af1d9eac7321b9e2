"""Tracking of volumes, simulation and scores: the command line's jobs on arrays."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._coordinates import add_coordinates
from ._frames import Frames, axes_and_channel, axes_text, named_axes, plane_voxel, refuse_no_images, require_units
from ._settings import (
    check_progress,
    counted,
    in_memory,
    no_attribute,
    path_of,
    settings_of,
    threads_for,
    warn,
    whole_threads,
)
from .tracks import Tracks, require_tracks

if TYPE_CHECKING:
    import pandas

__all__ = ["Result", "Simulation", "batch", "locate", "score", "simulate", "track"]

#: The input of `track`: a path, an array of any library, or frames.
Source: TypeAlias = "str | os.PathLike[str] | ArrayLike | Iterable[ArrayLike]"

_log = logging.getLogger("motes")


@dataclass(eq=False, repr=False)
class Result:
    """The result of `track`.

    Attributes
    ----------
    tracks : Tracks
    detections : dict of str to ndarray
        Columns of all detections, on tracks or not: frame, t_s, x_um, y_um, z_um, ...
    radius_um : tuple of float or None
        The spot radius used, [z, y, x].
    gate : float or None
        The linking gate, given or estimated.
    notes, warnings : list of str
        The messages of the command line.
    """

    tracks: Tracks
    detections: dict[str, NDArray[Any]]
    radius_um: tuple[float, float, float] | None
    gate: float | None
    notes: list[str]
    warnings: list[str]

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            known = hasattr(Tracks, name) or name in Tracks.__dataclass_fields__
            raise no_attribute(self, name, f"tracks.{name} has it" if known else "")

    def __repr__(self) -> str:
        return f"<motes.Result: {self.tracks!r}>"

    def _repr_html_(self) -> str | None:
        """For notebooks: the estimates, and the first points."""
        table = self.tracks._repr_html_()
        return table and "".join(f"{escape(line)}<br>" for line in self.notes) + table


def _result(raw: dict[str, Any]) -> Result:
    for line in raw["notes"]:
        _log.info("%s", line)
    for line in raw["warnings"]:
        warn(line)
    raw["tracks"] = Tracks(**raw["tracks"])
    return Result(**raw)


def track(
    source: Source,
    *,
    axes: str | Iterable[str] | None = None,
    voxel_um: float | Sequence[float] | None = None,
    dt_s: float | None = None,
    channel: int | None = None,
    frames: int | None = None,
    radius_um: float | Sequence[float] | None = None,
    threshold: float | None = None,
    gate: float | None = None,
    memory: int | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Callable[[int], object] | None = None,
    threads: int | None = None,
    **more: Any,
) -> Result:
    """Detect and link the particles of a volume series, as ``motes track`` does.

    Parameters
    ----------
    source : path, array, or iterable of arrays
        A file or folder that the command line reads; an array (NumPy, dask, zarr, anything with
        ``shape`` that can be indexed) whose `axes` are given; or frames in their order, [z, y, x] or
        [y, x], such as a list or a reader of pims. Arrays are read one frame at a time. Voxels of any
        real type; those that are not uint8, uint16 or float32 become float32.
    axes : str, optional
        The array's axes, of T, C, Z, Y, X; by default the dimensions of an xarray.DataArray, and
        'TZYX' for four axes. For an iterable: the axes of a frame.
    voxel_um : float or sequence [z, y, x], or [y, x] for planes
        Voxel size in um. Not needed if the file, or coordinates of an xarray.DataArray with units,
        state it.
    dt_s : float
        Seconds between frames. Not needed if the file or such coordinates state it.
    channel : int, optional
        The channel to track, from 0.
    frames : int, optional
        Number of frames of an iterator; without it, all frames are read before work begins. In series
        with few spots, frames for estimates are read ahead.
    radius_um : float or sequence [z, y, x], optional
        Spot radius in um (``detection.radius_um``); estimated if not given.
    threshold : float, optional
        Lowest quality (``detection.threshold``); without it, spots are distinguished from noise
        automatically.
    gate : float, optional
        Longest displacement from frame to frame in um (``linking.gate_um``); estimated if not
        given.
    memory : int, optional
        Number of frames in which a particle may be missing (``linking.max_gap``).
    settings : dict, optional
        Any keys of docs/configuration.md, dotted or nested: ``{"linking.model": "velocity"}``.
    progress : callable, optional
        Called with the number of frames whose detection is finished.
    threads : int, optional
        CPU threads; default all. The result does not depend on it.
    **more
        ``polarity``, ``max_count``, ``method``, ``min_length``, ``scope``, ``model``, ...: the keys with
        these names.

    Returns
    -------
    Result

    Raises
    ------
    motes.UsageError, motes.InputError
        The message is one line that says what to do.
    KeyboardInterrupt
        After Ctrl-C, when the current frame is finished.
    """
    given = dict(
        voxel_um=voxel_um, dt_s=dt_s, radius_um=radius_um, threshold=threshold, gate=gate,
        memory=memory, threads=threads, **more,
    )  # fmt: skip
    check_progress(progress)
    if threads is not None:
        given["threads"] = whole_threads(threads)
    path = path_of(source)
    if path is not None:
        given["channel"] = channel
        keys = settings_of(given, settings)
        if frames is not None:
            raise ValueError("frames: only for an iterator; settings={'input.frames': '0:100'} picks frames of a file")
        if axes is not None:
            keys["input.axes"] = axes_text(axes) or ""
        return _result(_core._track_path(path, keys, progress))
    keys = settings_of(given, settings)
    refuse_no_images(source)
    axes, channel = axes_and_channel(keys, axes, channel)
    series = Frames(source, axes, channel, frames)
    require_units(keys, series.length, add_coordinates(keys, source, axes))
    plane_voxel(keys, voxel_um, series.axes)
    shape = list(series.first.shape)
    note = series.noting_progress(progress)
    return _result(_core._track_frames(series.frame, series.length, shape, keys, note))


def _refuse_diameter(function: str, given: tuple[Any, ...]) -> None:
    if given:
        raise TypeError(
            f"{function}() takes no diameter: give radius_um, half as large and in um, or leave it out: it is estimated"
        )


def locate(
    volume: ArrayLike,
    *diameter: Any,
    radius_um: float | Sequence[float] | None = None,
    voxel_um: float | Sequence[float] | None = None,
    threshold: float | None = None,
    axes: str | Iterable[str] | None = None,
    channel: int | None = None,
    settings: Mapping[str, Any] | None = None,
    **more: Any,
) -> pandas.DataFrame:
    """Find the spots of one volume.

    Parameters
    ----------
    volume : array_like, shape (z, y, x) or (y, x)
        Voxels of any real type.
    *diameter
        Refused: trackpy's second argument.
    radius_um : float or sequence [z, y, x], optional
        Spot radius in um, about half of trackpy's diameter; estimated if not given.
    voxel_um : float or sequence [z, y, x]
        Voxel size in um; ``1``: positions are in voxels.
    threshold : float, optional
        Least quality; without it, spots are distinguished from noise automatically.
    axes : str, optional
        The volume's axes, of C, Z, Y, X; default 'ZYX' or 'YX'.
    channel : int, optional
        The channel, from 0, if there is an axis C.
    settings : dict, optional
        Any keys of docs/configuration.md, dotted or nested.
    **more
        As in `track`.

    Returns
    -------
    pandas.DataFrame
        x, y, z (in um; no z for a plane), and known properties of each spot: radius_um, intensity, quality, score, ...

    Raises
    ------
    ValueError, TypeError
        As `track` does for arrays.
    """
    _refuse_diameter("locate", diameter)
    refuse_no_images(volume)
    array = np.asanyarray(in_memory(volume, "the array"))
    axes = axes_text(axes) or named_axes(volume) or {2: "YX", 3: "ZYX"}.get(array.ndim)
    if axes is None and array.ndim == 4 or axes is not None and "T" in axes:
        raise ValueError("axes: locate takes one frame; batch takes a series")
    settings_of(more, function="locate")
    table = batch(
        volume if hasattr(volume, "dims") else array, radius_um=radius_um, voxel_um=voxel_um,
        threshold=threshold, axes=axes, channel=channel, settings=settings, **more,
    )  # fmt: skip
    return table.drop(columns=["frame", "t_s"], errors="ignore")


def batch(
    source: ArrayLike | Iterable[ArrayLike],
    *diameter: Any,
    radius_um: float | Sequence[float] | None = None,
    voxel_um: float | Sequence[float] | None = None,
    dt_s: float | None = None,
    threshold: float | None = None,
    axes: str | Iterable[str] | None = None,
    channel: int | None = None,
    frames: int | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Callable[[int], object] | None = None,
    **more: Any,
) -> pandas.DataFrame:
    """Find the spots of every frame of an array or an iterable of arrays.

    Parameters
    ----------
    source : array or iterable of arrays
        As in `track`.
    *diameter
        As in `locate`.
    radius_um : float or sequence [z, y, x], optional
        As in `locate`.
    voxel_um : float or sequence [z, y, x]
        Voxel size in um; ``1``: positions are in voxels.
    dt_s : float, optional
        Seconds between frames, for the column ``t_s``.
    threshold : float, optional
        Least quality; without it, spots are distinguished from noise automatically.
    axes : str, optional
        As in `track`.
    channel : int, optional
        As in `track`.
    frames : int, optional
        As in `track`.
    settings : dict, optional
        As in `track`.
    progress : callable, optional
        Called with the number of finished frames.
    **more
        As in `track`.

    Returns
    -------
    pandas.DataFrame
        frame, t_s (with `dt_s`), x, y, z (in um; no z for planes) and known properties of each spot:
        input for ``motes.link``. Frames of pims keep their own numbers, as in trackpy.

    Raises
    ------
    ValueError, TypeError
        As `track` does for arrays (`motes.UsageError` and `motes.InputError` are ValueErrors).
    """
    import pandas

    _refuse_diameter("batch", diameter)
    check_progress(progress)
    given = dict(voxel_um=voxel_um, dt_s=dt_s, radius_um=radius_um, threshold=threshold, **more)
    keys = settings_of(given, settings, "batch")
    refuse_no_images(source)
    axes, channel = axes_and_channel(keys, axes, channel)
    require_units(keys, remark=add_coordinates(keys, source, axes))
    series = Frames(source, axes, channel, frames)
    plane_voxel(keys, voxel_um, series.axes)
    timed = "input.dt_s" in keys
    keys.setdefault("input.dt_s", "1")
    shape = list(series.first.shape)
    found = _result(_core._detect_frames(series.frame, series.length, shape, keys, series.noting_progress(progress)))
    table = pandas.DataFrame(found.detections)
    if (numbers := series.numbers()) is not None:
        table["frame"] = numbers[table["frame"]]
        table["t_s"] = table["frame"] * float(keys["input.dt_s"])
    unknown = [] if timed else ["t_s"]
    if "Z" not in series.axes:
        unknown += ["z_um", "error_z_um"]
    table = table.drop(columns=unknown, errors="ignore")
    return table.rename(columns={"x_um": "x", "y_um": "y", "z_um": "z"})


def _length(given: Any, name: str) -> float:
    try:
        return float(given)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: {given!r} is not a length; give a number") from None


def score(
    truth: Tracks, tracks: Tracks, gate: float = 5.0, gate_link: float | None = None, *, threads: int = 0
) -> dict[str, Any]:
    """Score tracks against true ones, as ``motes score`` does.

    Parameters
    ----------
    truth, tracks : Tracks
        In the same unit.
    gate : float, default 5
        Largest distance of a found position from its true one, in the tracks' unit.
    gate_link : float, optional
        The same for the link scores; default `gate`.
    threads : int, default 0
        CPU threads, 0: all, but one for up to 10,000 points. The result does not depend on it.

    Returns
    -------
    dict
        alpha, beta, jsc, jsc_theta, rmse (Particle Tracking Challenge) with their counts, and
        ``link``: precision, recall, f1 and counts of links; ``division`` and ``merge``: the same of them.

    Raises
    ------
    TypeError
        If an argument is not `Tracks`; ``Tracks.from_dataframe`` makes them from tables.
    """
    require_tracks(truth, "truth")
    require_tracks(tracks, "tracks")
    gate = _length(gate, "gate")
    link = gate if gate_link is None else _length(gate_link, "gate_link")
    scores: dict[str, Any] = _core._score(
        truth._as_dict(), tracks._as_dict(), gate, link, threads_for(len(tracks.frame), threads)
    )
    for line in scores.pop("warnings"):
        warn(line)
    return scores


@dataclass(eq=False, repr=False)
class Simulation:
    """The result of `simulate`.

    Attributes
    ----------
    truth : Tracks
    detections : pandas.DataFrame
        The output of a detector with faults: frame, t_s, x, y, z.
    volumes : list of ndarray
        Rendered frames [z, y, x], if requested.
    voxel_um : tuple of float
        Their voxel size [z, y, x].
    """

    truth: Tracks
    detections: pandas.DataFrame
    volumes: list[NDArray[Any]]
    voxel_um: tuple[float, float, float]

    def __repr__(self) -> str:
        return f"<motes.Simulation: {self.truth!r}, {counted(len(self.volumes), 'volume')}>"


def simulate(
    settings: Mapping[str, Any] | None = None,
    *,
    volumes: bool = False,
    seed: int | None = None,
    **simulation: Any,
) -> Simulation:
    """Simulate particles with ground truth, faulty detections and volumes.

    Parameters
    ----------
    settings : dict, optional
        Keys of ``simulation``, ``faults`` and ``imaging`` (docs/configuration.md), dotted or nested.
    volumes : bool, default False
        Also render the frames.
    seed : int, optional
        ``simulation.seed``. Equal settings give equal bits on every machine.
    **simulation
        Keys of the section ``simulation``: ``particles=500, frames=10, diffusion_um2_s=.1``.

    Returns
    -------
    Simulation
    """
    import pandas

    keys = settings_of({}, settings)
    keys.update(settings_of({}, {"simulation": dict(simulation, seed=seed)}))
    raw = _core._simulate(keys, bool(volumes))
    table = pandas.DataFrame(raw["detections"])
    raw["detections"] = table.rename(columns={"x_um": "x", "y_um": "y", "z_um": "z"})
    raw["truth"] = Tracks(**raw["truth"])
    return Simulation(**raw)
