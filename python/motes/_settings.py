"""Arguments as configuration keys of the command line."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta
from difflib import get_close_matches
from fractions import Fraction
from operator import index
from typing import Any

import numpy as np

#: Keyword arguments with names of their own.
SHORT = {
    "voxel_um": "input.voxel_um",
    "dt_s": "input.dt_s",
    "channel": "input.channel",
    "frame_step": "input.frame_step",
    "radius_um": "detection.radius_um",
    "threshold": "detection.threshold",
    "max_count": "detection.max_count",
    "polarity": "detection.polarity",
    "method": "detection.method",
    "refine": "detection.refine",
    "false_positives_per_frame": "detection.false_positives_per_frame",
    "gate": "linking.gate_um",
    "max_speed_um_s": "linking.max_speed_um_s",
    "scope": "linking.scope",
    "model": "linking.model",
    "memory": "linking.max_gap",
    "min_length": "linking.min_length",
    "min_confidence": "linking.min_confidence",
    "threads": "execution.threads",
    "backend": "execution.backend",
}


def text_of(value: Any) -> str:
    """A value as text for a YAML file."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):  # an array or tensor of one number
        value = value.item()
    if isinstance(value, timedelta):
        return repr(value.total_seconds())
    if isinstance(value, Mapping):
        raise TypeError(f"{dict(value)!r}: give a number or a list, slowest axis first: [z, y, x]")
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return "[" + ", ".join(text_of(v) for v in value) + "]"
    if isinstance(value, (float, np.floating, Fraction)):
        return repr(float(value))
    return str(value.item() if isinstance(value, np.generic) else value)


#: Names in trackpy, TrackMate, laptrack and btrack, the nearest argument here, and the difference.
_ELSEWHERE = {
    "diameter": ("radius_um", "half as large, and in um; estimated if not given"),
    "radius": ("radius_um", ""),
    "minmass": ("threshold", "in other units; chosen automatically if not given"),
    "quality": ("threshold", ""),
    "topn": ("max_count", ""),
    "invert": ("polarity", "polarity='dark' for dark spots"),
    "search_range": ("gate", ""),
    "labels": ("method", "method='labels' tracks the objects of label images"),
    "max_gap": ("memory", ""),
    "processes": ("threads", ""),
    "max_distance": ("gate", ""),
    "max_search_radius": ("gate", ""),
    "cutoff": ("gate", ""),
    "track_cost_cutoff": ("gate", "its square root: the gate is a distance"),
    "gap_closing_max_frame_count": ("memory", ""),
    "coordinate_cols": ("pos_columns", ""),
    "coords": ("pos_columns", ""),
    "frame_col": ("t_column", ""),
    "frame_column": ("t_column", ""),
}

#: trackpy's settings of its search and of the table, which have no counterpart.
_NEEDLESS = {
    "box_size", "copy_features", "diagnostics", "hash_generator", "hash_size", "retain_index",
    "track_class", "verify_integrity",
}  # fmt: skip

#: trackpy's settings that are determined from the image here.
_AUTOMATIC = {
    "maxsize", "separation", "noise_size", "smoothing_size", "percentile", "preprocess", "max_iterations",
    "filter_before", "filter_after", "characterize", "engine",
}  # fmt: skip


def unexpected(function: str, name: str, known: Collection[str]) -> str:
    """The error message for an unknown keyword argument, with the most similar valid one."""
    said = f"{function}() got an unexpected keyword argument {name!r}"
    elsewhere, how = _ELSEWHERE.get(name, ("", ""))
    if elsewhere in known:
        return f"{said}; did you mean {elsewhere!r}?" + (f" ({how})" if how else "")
    if name in _NEEDLESS and "t_column" in known:
        return f"{said}; leave it out: motes.link has no such setting"
    if name in _AUTOMATIC and "radius_um" in known:
        return f"{said}; leave it out: motes sets it from the image"
    if name == "mask" and "radius_um" in known:
        return f"{said}; give settings={{'input.mask': path}}, or set voxels outside to numpy.nan"
    meant = get_close_matches(name, known, 1)
    return said + (f"; did you mean {meant[0]!r}?" if meant else "")


_PACKAGE = os.path.dirname(__file__) + os.sep


def warn(line: str) -> None:
    """Warns at the line of the caller's own code, however deep in the package this is called."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(line, UserWarning, stacklevel=level)


def no_attribute(owner: Any, name: str, instead: str = "") -> AttributeError:
    """The error for an attribute that `owner` lacks, with what to use instead."""
    said = f"{type(owner).__name__!r} object has no attribute {name!r}"
    return AttributeError(said + (f"; {instead}" if instead else ""), name=name, obj=owner)


def settings_of(
    arguments: Mapping[str, Any], more: Mapping[str, Any] | None = None, function: str = "track"
) -> dict[str, str]:
    """{key: text} of keyword arguments and of a (nested or dotted) mapping of further keys."""
    out = {}
    for name, value in arguments.items():
        if value is None:
            continue
        if name not in SHORT:
            said = unexpected(function, name, SHORT)
            raise TypeError(f"{said} (settings={{...}} takes any key of docs/configuration.md)")
        out[SHORT[name]] = text_of(value)
    if more is not None and not isinstance(more, Mapping):
        raise TypeError(f"settings: give a mapping of keys to values, not {type(more).__name__}")
    for key, text in _flat(more or {}).items():
        if out.setdefault(key, text) != text:
            raise TypeError(f"settings: {key} is {text}, but {out[key]} by its argument; give only one of them")
    return out


def _flat(mapping: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    out = {}
    for key, value in mapping.items():
        if not isinstance(key, str):
            raise TypeError(f"settings: {key!r} is not a key; keys are texts such as 'linking.gate_um'")
        if prefix + key == "input.columns" and isinstance(value, Mapping):
            out[prefix + key] = json.dumps({str(k): str(v) for k, v in value.items()})
        elif isinstance(value, Mapping):
            out.update(_flat(value, f"{prefix}{key}."))
        elif getattr(value, "ndim", 0) > 1:
            outside = ", or set voxels outside to numpy.nan" if prefix + key == "input.mask" else ""
            raise TypeError(f"settings: {prefix + key}: this is an array; give the path of a file{outside}")
        elif value is not None:
            out[prefix + key] = text_of(value)
    return out


def whole_threads(threads: Any) -> int:
    """A number of threads, 0: all; limited to those of the machine, since more would only cost memory."""
    try:
        number = index(threads)
    except TypeError:
        raise TypeError(f"threads: {threads!r} is not a whole number") from None
    return min(max(number, 0), os.cpu_count() or 1)


#: Up to this many points of a table, one thread links as fast as several, since loops are short.
_FEW_POINTS = 10_000


def threads_for(points: int, threads: Any) -> int:
    """The requested number of threads; by default one for a small table.
    
    Waiting threads take the processor from others, which costs seconds on a busy machine.
    """
    threads = whole_threads(threads)
    return 1 if threads == 0 and points <= _FEW_POINTS else threads


def whole_number(value: Any, name: str) -> int:
    """An integer of any type, 0 or more, such as a number of frames."""
    try:
        whole = int(value)
        if whole != value:
            raise TypeError
    except (TypeError, ValueError):
        raise ValueError(f"{name}: {value!r} is not a whole number") from None
    if whole < 0:
        raise ValueError(f"{name}: {value} is below 0")
    return whole


def counted(number: int, noun: str) -> str:
    """'1 track', '2 tracks'."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def check_progress(progress: Callable[[int], object] | None) -> None:
    if progress is not None and not callable(progress):
        raise TypeError(f"progress: {progress!r} cannot be called; give a function of the number of frames")


def path_of(source: Any) -> str | None:
    if not isinstance(source, (str, os.PathLike)):
        return None
    path = os.fsdecode(source)
    if not path:
        raise ValueError("the path is empty")
    return path


#: DLPack's device types that the CPU can read: its own, and host memory pinned for CUDA or ROCm.
_HOST = (1, 3, 11)


def in_memory(array: Any, name: str) -> Any:
    """The array, or the one from its `__dlpack__`; arrays on a GPU are rejected."""
    if isinstance(array, np.ndarray):
        return array
    device = getattr(array, "__dlpack_device__", None)
    if hasattr(array, "__cuda_array_interface__") or (device is not None and int(device()[0]) not in _HOST):
        raise TypeError(
            f"{name} is in a GPU's memory, and motes works in the CPU's: give a copy there, "
            "tensor.cpu() or cupy.asnumpy(array)"
        )
    if device is not None and not hasattr(array, "__array__"):
        return np.from_dlpack(array)
    return array
