"""Tracking of volumes, simulation and scores: the command line's jobs on arrays."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._settings import check_progress, path_of, settings_of, text_of, whole_threads
from .tracks import Tracks, require_tracks

if TYPE_CHECKING:
    import pandas

__all__ = ["Result", "Simulation", "batch", "locate", "score", "simulate", "track"]

#: What `track` takes: a path, an array of any library, or frames.
Source: TypeAlias = "str | os.PathLike[str] | ArrayLike | Iterable[ArrayLike]"

_log = logging.getLogger("motes")


@dataclass(eq=False, repr=False)
class Result:
    """What `track` found.

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
        What the command line prints.
    """

    tracks: Tracks
    detections: dict[str, NDArray[Any]]
    radius_um: tuple[float, float, float] | None
    gate: float | None
    notes: list[str]
    warnings: list[str]

    def __repr__(self) -> str:
        return f"<motes.Result: {self.tracks!r}>"


def _result(raw: dict[str, Any]) -> Result:
    for line in raw["notes"]:
        _log.info("%s", line)
    for line in raw["warnings"]:
        warnings.warn(line, UserWarning, stacklevel=3)
    raw["tracks"] = Tracks(**raw["tracks"])
    return Result(**raw)


def _voxels(frame: NDArray[Any]) -> NDArray[Any]:
    """A [z, y, x] array in one of the three voxel types; other numbers become float32."""
    if frame.dtype == np.bool_:
        frame = frame.view(np.uint8)
    elif frame.dtype not in (np.uint8, np.uint16, np.float32):
        if not np.issubdtype(frame.dtype, np.number) or np.iscomplexobj(frame):
            raise TypeError(f"voxels of type {frame.dtype} are not numbers")
        frame = _as_float32(frame)
    return np.ascontiguousarray(frame)


#: Fewer steps of float32 than this in a frame's range are too few to find spots in.
_LEAST_STEPS = 256


def _as_float32(frame: NDArray[Any]) -> NDArray[np.float32]:
    """Refuses a frame whose values float32 hardly tells apart, as small differences on a large offset."""
    narrow = frame.astype(np.float32)
    if frame.dtype.itemsize <= 2 or frame.size == 0:
        return narrow
    low, high = float(frame.min()), float(frame.max())
    step = float(np.spacing(np.float32(max(abs(low), abs(high)))))
    if high > low and (high - low) / step < _LEAST_STEPS and (narrow.astype(frame.dtype) != frame).any():
        raise ValueError(
            f"voxels lie from {low:.9g} to {high:.9g}: in float32, which the detector uses, that is "
            f"{(high - low) / step:.0f} steps; subtract a constant first"
        )
    return narrow


def _axes_text(axes: Iterable[str] | None) -> str | None:
    """'TZYX' of that text in any case, of ('t', 'z', 'y', 'x') or of 'T, Z, Y, X'; None stays None."""
    if axes is None:
        return None
    try:
        return "".join(c for c in "".join(axes).upper() if c not in " ,")
    except TypeError:
        raise TypeError(f"axes: {axes!r} is not a text such as 'TZYX'") from None


def _named_axes(array: Any) -> str | None:
    """The axes that an xarray.DataArray names itself, where they are T, C, Z, Y and X."""
    names = getattr(array, "dims", None)
    if not isinstance(names, tuple) or not all(isinstance(n, str) and n.upper() in "TCZYX" for n in names):
        return None
    return _axes_text(names)


def _plane_voxel(keys: dict[str, str], voxel_um: Any, axes: str) -> None:
    """[y, x] will do for planes."""
    if voxel_um is not None and not isinstance(voxel_um, str) and np.shape(voxel_um) == (2,):
        if "Z" in axes:
            raise _core.UsageError("voxel_um: give one number or three, [z, y, x]; two are for planes without Z")
        keys["input.voxel_um"] = text_of([voxel_um[0], voxel_um[0], voxel_um[1]])


def _refuse_no_images(source: Any) -> None:
    """Before anything is asked of what is not a series of images at all."""
    if isinstance(source, Mapping) or (hasattr(source, "keys") and not hasattr(source, "shape")):
        raise TypeError(f"{type(source).__name__}: this holds arrays by name; give one of them")
    if isinstance(source, (bytes, bytearray)):
        raise TypeError("bytes: give a path as text, an array, or an iterable of frames")
    if hasattr(source, "to_numpy") and hasattr(source, "columns"):
        raise TypeError(f"{type(source).__name__}: this is a table of points; motes.link links it")
    if not any(hasattr(source, name) for name in ("shape", "__len__", "__iter__")):
        raise TypeError(f"{type(source).__name__}: give a path, an array, or an iterable of frames")


class _Frames:
    """Frames of an array or an iterator, one at a time, as [z, y, x]."""

    def __init__(self, source: Any, axes: Iterable[str] | None, channel: Any, frames: int | None) -> None:
        self.iterator = source if isinstance(source, Iterator) else None
        self.read_ahead: dict[int, NDArray[Any]] = {}
        self.channel = _whole_channel(channel)
        letters = _axes_text(axes)
        if self.iterator is None and not hasattr(source, "shape") and not hasattr(source, "__len__"):
            self.iterator = iter(source)
        if frames is not None and self.iterator is None:
            raise ValueError("frames: only for an iterator; slice an array: array[:frames]")
        if self.iterator is not None:
            if frames is None:
                source, self.iterator = list(self.iterator), None
            else:
                self.length = int(frames)
                self.next_index = 0
        if self.iterator is None and not hasattr(source, "shape"):
            self.length = len(source)
            self.get = source.__getitem__
            letters = letters or "ZYX"
        elif self.iterator is None:
            letters = self._open_array(source, letters or _named_axes(source))
        self.axes = (letters or "ZYX").replace("T", "")
        if self.channel not in (None, 0) and "C" not in self.axes:
            raise ValueError(f"channel: {channel}, but the axes {letters or 'ZYX'!r} have no C")
        if self.length < 1:
            raise ValueError("no frames to track")
        self.first = self.frame(0)
        if self.first.size == 0:
            raise ValueError(f"the frames have no voxels: their shape is {self.first.shape}, [z, y, x]")

    def _open_array(self, array: Any, axes: str | None) -> str:
        if axes is None:
            if array.ndim != 4:
                raise ValueError(
                    f"axes: an array of {array.ndim} axes needs them, for instance axes='ZYX', 'TCZYX'"
                )
            axes = "TZYX"
        if len(axes) != array.ndim or len(set(axes)) != len(axes) or set(axes) - set("TCZYX"):
            raise ValueError(f"axes: {axes!r} are not the {array.ndim} axes of the array, of TCZYX")
        if not {"Y", "X"} <= set(axes):
            raise ValueError(f"axes: {axes!r} have no Y or X")
        if "T" in axes:
            t = axes.index("T")
            self.length = array.shape[t]
            self.get = lambda k: array[(slice(None),) * t + (k,)]
        else:
            self.length = 1
            self.get = lambda k: array
        return axes

    def frame(self, t: int) -> NDArray[Any]:
        if self.iterator is not None:
            return self._from_iterator(t)
        return self._as_zyx(self.get(t))

    def _from_iterator(self, t: int) -> NDArray[Any]:
        """Frames pass once; those read before their turn are kept until it comes."""
        assert self.iterator is not None
        while self.next_index <= t:
            try:
                self.read_ahead[self.next_index] = self._as_zyx(next(self.iterator))
            except StopIteration:
                raise ValueError(f"frames={self.length}, but the iterator ended after {self.next_index}")
            self.next_index += 1
        frame = self.read_ahead[t]
        for past in [k for k in self.read_ahead if k < t - 1]:
            del self.read_ahead[past]
        return frame

    def _as_zyx(self, frame: Any) -> NDArray[Any]:
        if np.ma.is_masked(frame):
            raise ValueError("the array has masked voxels; fill them: array.filled(value)")
        frame = np.asarray(frame)  # dask, zarr and others compute here, one frame at a time
        axes = self.axes
        if frame.ndim != len(axes):
            raise ValueError(f"a frame has {frame.ndim} axes, not {axes!r}")
        if "C" in axes:
            c = axes.index("C")
            if self.channel is None and frame.shape[c] > 1:
                raise ValueError(f"channel: the image has {frame.shape[c]}; say which, from 0")
            if (self.channel or 0) >= frame.shape[c]:
                raise ValueError(f"channel: {self.channel}, but the image has {frame.shape[c]}, from 0")
            frame = np.take(frame, self.channel or 0, axis=c)
            axes = axes.replace("C", "")
        frame = np.transpose(frame, [axes.index(a) for a in "ZYX" if a in axes])
        return _voxels(frame if "Z" in axes else frame[np.newaxis])


def _whole_channel(channel: Any) -> int | None:
    if channel is None:
        return None
    try:
        number = index(channel)
    except TypeError:
        raise ValueError(f"channel: {channel!r} is not a number; channels are counted from 0") from None
    if number < 0:
        raise ValueError(f"channel: {number} is below 0; channels are counted from 0")
    return number


def _names_of_voxel(settings: Mapping[str, str]) -> None:
    if "input.voxel_um" not in settings:
        raise _core.UsageError("voxel_um: an array has no metadata; give the voxel size [z, y, x] in um")


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
        ``shape`` that can be indexed) whose `axes` are given; or frames in their order. Arrays are
        read one frame at a time. Voxels of any real type; those that are not uint8, uint16 or
        float32 become float32.
    axes : str, optional
        The array's axes, of T, C, Z, Y, X; default what an xarray.DataArray calls its dimensions,
        and 'TZYX' for four axes. Of an iterable: a frame's.
    voxel_um : float or sequence [z, y, x], or [y, x] of planes
        Voxel size in um. Files may know it themselves.
    dt_s : float
        Seconds between frames. Files may know it themselves.
    channel : int, optional
        The channel to track, from 0.
    frames : int, optional
        How many frames an iterator gives; without it the frames are all read before work begins.
    radius_um : float or sequence [z, y, x], optional
        Spot radius in um (``detection.radius_um``); estimated where it is not given.
    threshold : float, optional
        Least quality (``detection.threshold``); without it spots are told by the evidence of the
        voxels.
    gate : float, optional
        Longest displacement from frame to frame in um (``linking.gate_um``); estimated where it is
        not given.
    memory : int, optional
        Frames for which a particle may stay unseen (``linking.max_gap``).
    settings : dict, optional
        Any keys of docs/configuration.md, dotted or nested: ``{"linking.model": "velocity"}``.
    progress : callable, optional
        Called with the number of frames in which detection is finished.
    threads : int, optional
        CPU threads; default all. The result does not depend on it.
    **more
        ``polarity``, ``max_count``, ``refine``, ``scope``, ``model``, ``frame_step``, ...: the keys
        of these names.

    Returns
    -------
    Result

    Raises
    ------
    motes.UsageError, motes.InputError
        With one line that says what to do.
    KeyboardInterrupt
        After Ctrl-C, at the end of the frame at hand.
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
        if axes is not None:
            keys["input.axes"] = _axes_text(axes) or ""
        return _result(_core._track_path(path, keys, progress))
    keys = settings_of(given, settings)
    _refuse_no_images(source)
    _names_of_voxel(keys)
    series = _Frames(source, axes, channel, frames)
    _plane_voxel(keys, voxel_um, series.axes)
    shape = list(series.first.shape)
    return _result(_core._track_frames(series.frame, series.length, shape, keys, progress))


def locate(
    volume: ArrayLike,
    radius_um: float | Sequence[float] | None = None,
    *,
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
    radius_um : float or sequence [z, y, x], optional
        Spot radius; estimated where it is not given.
    voxel_um : float or sequence [z, y, x]
        Voxel size in um; ``1``: positions are in voxels.
    threshold : float, optional
        Least quality; without it spots are told by the evidence of the voxels.
    axes : str, optional
        The volume's axes, of C, Z, Y, X; default 'ZYX' or 'YX'.
    channel : int, optional
        The channel, from 0, where there is an axis C.
    settings : dict, optional
        Any keys of docs/configuration.md, dotted or nested.
    **more
        As in `track`.

    Returns
    -------
    pandas.DataFrame
        x, y, z (in um), and what is known of each spot: radius_um, intensity, quality, score, ...

    Raises
    ------
    ValueError, TypeError
        As `track` does for arrays.
    """
    volume = np.asanyarray(volume)
    axes = _axes_text(axes) or {2: "YX", 3: "ZYX"}.get(volume.ndim)
    if axes is None and volume.ndim == 4 or axes is not None and "T" in axes:
        raise ValueError("axes: locate takes one frame; batch takes a series")
    table = batch(
        volume, radius_um, voxel_um=voxel_um, threshold=threshold, axes=axes, channel=channel,
        settings=settings, **more,
    )  # fmt: skip
    return table.drop(columns=["frame", "t_s"])


def batch(
    source: ArrayLike | Iterable[ArrayLike],
    radius_um: float | Sequence[float] | None = None,
    *,
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
    radius_um : float or sequence [z, y, x], optional
        Spot radius in um; estimated where it is not given.
    voxel_um : float or sequence [z, y, x]
        Voxel size in um; ``1``: positions are in voxels.
    dt_s : float, default 1
        Seconds between frames, for the column ``t_s``.
    threshold : float, optional
        Least quality; without it spots are told by the evidence of the voxels.
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
        frame, t_s, x, y, z (in um) and what is known of each spot: ready for ``motes.link``.

    Raises
    ------
    ValueError, TypeError
        As `track` does for arrays (`motes.UsageError` and `motes.InputError` are ValueErrors).
    """
    import pandas

    check_progress(progress)
    given = dict(voxel_um=voxel_um, dt_s=dt_s, radius_um=radius_um, threshold=threshold, **more)
    keys = settings_of(given, settings)
    _refuse_no_images(source)
    _names_of_voxel(keys)
    series = _Frames(source, axes, channel, frames)
    _plane_voxel(keys, voxel_um, series.axes)
    keys.setdefault("input.dt_s", "1")
    shape = list(series.first.shape)
    found = _result(_core._detect_frames(series.frame, series.length, shape, keys, progress))
    table = pandas.DataFrame(found.detections)
    return table.rename(columns={"x_um": "x", "y_um": "y", "z_um": "z"})


def score(
    truth: Tracks, tracks: Tracks, gate: float = 5.0, gate_link: float | None = None, *, threads: int = 0
) -> dict[str, Any]:
    """Score tracks against true ones, as ``motes score`` does.

    Parameters
    ----------
    truth, tracks : Tracks
        In the same unit.
    gate : float, default 5
        Farthest a found position may lie from its true one, in the tracks' unit.
    gate_link : float, optional
        The same for the link scores; default `gate`.
    threads : int, default 0
        CPU threads, 0: all. The result does not depend on it.

    Returns
    -------
    dict
        alpha, beta, jsc, jsc_theta, rmse (Particle Tracking Challenge) with their counts, and
        ``link``: precision, recall, f1 and counts of links.

    Raises
    ------
    TypeError
        What is not `Tracks`; ``Tracks.from_dataframe`` makes them of tables.
    """
    require_tracks(truth, "truth")
    require_tracks(tracks, "tracks")
    link = gate if gate_link is None else gate_link
    return _core._score(truth._as_dict(), tracks._as_dict(), float(gate), float(link), whole_threads(threads))


@dataclass(eq=False, repr=False)
class Simulation:
    """What `simulate` made.

    Attributes
    ----------
    truth : Tracks
    detections : pandas.DataFrame
        What a faulty detector would find: frame, t_s, x, y, z.
    volumes : list of ndarray
        Rendered frames [z, y, x], where asked for.
    voxel_um : tuple of float
        Their voxel size [z, y, x].
    """

    truth: Tracks
    detections: pandas.DataFrame
    volumes: list[NDArray[Any]]
    voxel_um: tuple[float, float, float]

    def __repr__(self) -> str:
        return f"<motes.Simulation: {self.truth!r}, {len(self.volumes)} volumes>"


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
        Render the frames too.
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
    raw = _core._simulate(keys, volumes)
    table = pandas.DataFrame(raw["detections"])
    raw["detections"] = table.rename(columns={"x_um": "x", "y_um": "y", "z_um": "z"})
    raw["truth"] = Tracks(**raw["truth"])
    return Simulation(**raw)
