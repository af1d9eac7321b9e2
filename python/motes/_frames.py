"""Frames of arrays and iterators, one at a time, in the form of the compiled side."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._settings import in_memory, text_of, whole_number


def _voxels(frame: NDArray[Any]) -> NDArray[Any]:
    """A [z, y, x] array in one of the three voxel types; other numbers become float32."""
    if frame.dtype == np.bool_:
        frame = frame.view(np.uint8)
    elif frame.dtype not in (np.uint8, np.uint16, np.float32):
        if not np.issubdtype(frame.dtype, np.number) or np.iscomplexobj(frame):
            raise TypeError(f"voxels of type {frame.dtype} are not numbers")
        frame = _as_float32(frame)
    return np.ascontiguousarray(frame)


#: A frame whose range has fewer steps of float32 than this is rejected.
_LEAST_STEPS = 256


def _as_float32(frame: NDArray[Any]) -> NDArray[np.float32]:
    """Rejects a frame whose values float32 hardly resolves, such as small differences on a large offset."""
    with np.errstate(over="ignore"):
        narrow = frame.astype(np.float32)
    if frame.dtype.itemsize <= 2 or frame.size == 0:
        return narrow
    low, high = float(frame.min()), float(frame.max())
    if max(abs(low), abs(high)) > float(np.finfo(np.float32).max) and np.isfinite([low, high]).all():
        raise ValueError(f"voxels lie from {low:.9g} to {high:.9g}, beyond float32; divide by a constant first")
    step = float(np.spacing(np.float32(max(abs(low), abs(high)))))
    if high > low and (high - low) / step < _LEAST_STEPS and (narrow.astype(frame.dtype) != frame).any():
        raise ValueError(
            f"voxels lie from {low:.9g} to {high:.9g}: in float32, which the detector uses, that is "
            f"{(high - low) / step:.0f} steps; subtract a constant first"
        )
    return narrow


def axes_text(axes: Iterable[str] | None) -> str | None:
    """'TZYX' from such a text in any case, from ('t', 'z', 'y', 'x') or 'T, Z, Y, X'; None stays None."""
    if axes is None:
        return None
    try:
        return "".join(c for c in "".join(axes).upper() if c not in " ,")
    except TypeError:
        raise TypeError(f"axes: {axes!r} is not a text such as 'TZYX'") from None


#: Full names of dimensions.
_LETTERS = {"time": "T", "frame": "T", "channel": "C", "depth": "Z", "height": "Y", "width": "X"}


def named_axes(array: Any) -> str | None:
    """The axes that an xarray.DataArray names itself; None if it names none."""
    names = getattr(array, "dims", None)
    if not isinstance(names, tuple) or all(str(n).startswith("dim_") for n in names):
        return None
    letters = [_LETTERS.get(str(n).lower(), str(n).upper()) for n in names]
    if any(letter not in tuple("TCZYX") for letter in letters):
        raise ValueError(f"axes: the array calls its dimensions {names}; name them with letters of T, C, Z, Y and X")
    return "".join(letters)


def plane_voxel(keys: dict[str, str], voxel_um: Any, axes: str) -> None:
    """Allows [y, x] for planes."""
    if voxel_um is not None and not isinstance(voxel_um, str) and np.shape(voxel_um) == (2,):
        if "Z" in axes:
            raise _core.UsageError("voxel_um: give one number or three, [z, y, x]; two are for planes without Z")
        keys["input.voxel_um"] = text_of([voxel_um[0], voxel_um[0], voxel_um[1]])


def refuse_no_images(source: Any) -> None:
    """Rejects objects that are not a series of images, before other checks."""
    if isinstance(source, (str, os.PathLike)):
        raise TypeError("this takes arrays; motes.track(path).detections has the spots of a file")
    if hasattr(source, "read") and hasattr(source, "seek"):
        raise TypeError(f"{type(source).__name__}: this is an open file; give its path")
    if callable(getattr(type(source), "asarray", None)):  # tifffile's files and series
        raise TypeError(f"{type(source).__name__}: give its array, source.asarray(), or the path")
    if hasattr(source, "__array_interface__") and not hasattr(source, "shape"):  # Pillow's images
        raise TypeError(f"{type(source).__name__}: give numpy.asarray(image)")
    if isinstance(source, (set, frozenset)):
        raise TypeError("a set has no order; give a list of frames")
    if isinstance(source, Mapping) or (hasattr(source, "keys") and not hasattr(source, "shape")):
        raise TypeError(f"{type(source).__name__}: this has arrays by name; give one of them")
    if isinstance(source, (bytes, bytearray)):
        raise TypeError("bytes: give a path as text, an array, or an iterable of frames")
    if hasattr(source, "to_numpy") and hasattr(source, "columns"):
        raise TypeError(f"{type(source).__name__}: this is a table of points; motes.link links it")
    if not any(hasattr(source, name) for name in ("shape", "__len__", "__iter__")):
        raise TypeError(f"{type(source).__name__}: give a path, an array, or an iterable of frames")


#: Likely axes of arrays without axis names, by the number of axes.
_USUAL_AXES = {2: "axes='YX' (one plane)", 3: "axes='TYX' (planes over time) or 'ZYX' (one volume)"}


def _is_reader(source: Any) -> bool:
    """Whether it is a reader of pims: it has frames by number and a shape, but is no array."""
    return hasattr(source, "frame_shape") and hasattr(source, "__len__") and hasattr(source, "__getitem__")


def _axes_of_reader(reader: Any) -> str | None:
    """The axes of a frame, if the reader names them. Rejects frames along another axis than time."""
    names, along = getattr(reader, "bundle_axes", None), list(getattr(reader, "iter_axes", "t"))
    if along not in ([], ["t"]):
        raise ValueError(f"the reader's frames run along {along}, not along time: set its iter_axes to 't'")
    return None if names is None else axes_text(names)


class Frames:
    """Frames of an array or an iterator, one at a time, as [z, y, x]."""

    def __init__(self, source: Any, axes: Iterable[str] | None, channel: Any, frames: int | None) -> None:
        self.iterator = source if isinstance(source, Iterator) else None
        self.read_ahead: dict[int, NDArray[Any]] = {}
        self.in_order = False
        self.channel = _whole_channel(channel)
        self.frame_numbers: dict[int, int] = {}
        letters = axes_text(axes)
        reader = _is_reader(source)
        if reader:
            letters = letters or _axes_of_reader(source)
        if self.iterator is None and not hasattr(source, "shape") and not hasattr(source, "__len__"):
            self.iterator = iter(source)
        if frames is not None and self.iterator is None:
            raise ValueError("frames: only for an iterator; slice an array: array[:frames]")
        if self.iterator is not None:
            if frames is None:
                source, self.iterator = list(self.iterator), None
            else:
                self.length = whole_number(frames, "frames")
                self.next_index = 0
        if self.iterator is None and (reader or not hasattr(source, "shape")):
            self.length = len(source)
            self.get = source.__getitem__
        elif self.iterator is None:
            letters = self._open_array(source, letters or named_axes(source))
        self.axes = (letters or "").replace("T", "")  # of a frame; empty: from the first frame
        if self.channel not in (None, 0) and "C" not in self.axes:
            raise ValueError(f"channel: {channel}, but the axes {letters or 'ZYX'!r} have no C")
        if self.length < 1:
            raise ValueError("no frames to track")
        self.first = self.frame(0)
        if self.first.size == 0:
            raise ValueError(f"the frames have no voxels: their shape is {self.first.shape}, [z, y, x]")

    def _open_array(self, array: Any, axes: str | None) -> str:
        ndim = len(array.shape)
        if ndim < 2:
            raise ValueError(f"an array of {ndim} axes is not an image; frames are [z, y, x] or [y, x]")
        if axes is None:
            if ndim != 4:
                usual = _USUAL_AXES.get(ndim, "axes='TCZYX'")
                raise ValueError(f"axes: an array of {ndim} axes needs them, for instance {usual}")
            axes = "TZYX"
        if "S" in axes:
            raise ValueError(f"axes: {axes!r} has colours, S; take one of them: array[..., 0]")
        if len(axes) != ndim or len(set(axes)) != len(axes) or set(axes) - set("TCZYX"):
            raise ValueError(f"axes: {axes!r} are not the {ndim} axes of the array, of TCZYX")
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
        return self._noted(t, self.get(t))

    def _noted(self, t: int, frame: Any) -> NDArray[Any]:
        number = getattr(frame, "frame_no", None)
        if isinstance(number, (int, np.integer)):
            self.frame_numbers[t] = int(number)
        return self._as_zyx(frame)

    def numbers(self) -> NDArray[np.int64] | None:
        """The frames' own numbers, as from readers of pims; None unless all have rising ones."""
        found = np.array([self.frame_numbers.get(t, -1) for t in range(self.length)], dtype=np.int64)
        return found if found[0] >= 0 and (np.diff(found) > 0).all() else None

    def noting_progress(self, progress: Callable[[int], object] | None) -> Callable[[int], object] | None:
        """The progress function; for an iterator, one that also records finished frames."""
        if self.iterator is None:
            return progress

        def note(count: int) -> None:
            self.in_order = True
            if progress is not None:
                progress(count)

        return note

    def _from_iterator(self, t: int) -> NDArray[Any]:
        """Reads each frame once; frames that are read early are kept until their turn.
        
        Estimates use some frames before all are searched in order.
        """
        assert self.iterator is not None
        while self.next_index <= t:
            try:
                self.read_ahead[self.next_index] = self._noted(self.next_index, next(self.iterator))
            except StopIteration:
                raise ValueError(f"frames={self.length}, but the iterator ended after {self.next_index}")
            self.next_index += 1
        frame = self.read_ahead[t]
        if self.in_order:
            for past in [k for k in self.read_ahead if k < t - 1]:
                del self.read_ahead[past]
        return frame

    def _as_zyx(self, frame: Any) -> NDArray[Any]:
        if np.ma.is_masked(frame):
            raise ValueError("the array has masked voxels; array.astype(float).filled(numpy.nan) leaves them out")
        if isinstance(frame, (str, bytes, os.PathLike)):
            raise TypeError(f"{os.fsdecode(frame)!r} is a path; give the folder of the files, or arrays that are read")
        frame = np.asarray(in_memory(frame, "the array"))  # dask, zarr and others compute here, one frame at a time
        axes = self.axes = self.axes or ("YX" if frame.ndim == 2 else "ZYX")
        if frame.ndim != len(axes):
            raise ValueError(f"a frame has {frame.ndim} axes, not {axes!r}")
        if "C" in axes:
            c = axes.index("C")
            if self.channel is None and frame.shape[c] > 1:
                raise ValueError(f"channel: the image has {frame.shape[c]} channels; give one, from 0")
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


def axes_and_channel(
    settings: dict[str, str], axes: Iterable[str] | None, channel: Any
) -> tuple[Iterable[str] | None, Any]:
    """The arguments, or their values in the settings, which are about files."""
    given = settings.pop("input.axes", None)
    if axes is None and given not in (None, "auto"):
        axes = given
    given = settings.pop("input.channel", None)
    if channel is None and given not in (None, "auto"):
        if not str(given).isdecimal():
            raise ValueError(f"channel: {given!r} is not a number; channels are counted from 0")
        channel = int(str(given))
    return axes, channel


def require_units(settings: Mapping[str, str], frames: int = 1, remark: str = "") -> None:
    """Names everything that an array does not state in one error, with a remark on what it does state."""
    needs = {"voxel_um": "the voxel size [z, y, x] in um (1: lengths are in voxels)"}
    if frames > 1:
        needs["dt_s"] = "the time between frames in s (1: times are in frames)"
    missing = [name for name in needs if settings.get("input." + name, "auto") == "auto"]
    if missing:
        raise _core.UsageError(
            f"{', '.join(missing)}: an array has no metadata; give "
            + " and ".join(needs[name] for name in missing)
            + remark
        )
