"""Arguments as configuration keys of the command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
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
    "refine": "detection.refine",
    "false_positives_per_frame": "detection.false_positives_per_frame",
    "gate": "linking.gate_um",
    "max_speed_um_s": "linking.max_speed_um_s",
    "scope": "linking.scope",
    "model": "linking.model",
    "memory": "linking.max_gap",
    "threads": "execution.threads",
    "backend": "execution.backend",
}


def text_of(value: Any) -> str:
    """A value as it stands in a YAML file."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(text_of(v) for v in value) + "]"
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value.item() if isinstance(value, np.generic) else value)


def settings_of(arguments: Mapping[str, Any], more: Mapping[str, Any] | None = None) -> dict[str, str]:
    """{key: text} of keyword arguments and of a (nested or dotted) mapping of further keys."""
    out = {}
    for name, value in arguments.items():
        if value is None:
            continue
        if name not in SHORT:
            raise TypeError(f"unexpected keyword argument {name!r}; settings={{...}} takes any key")
        out[SHORT[name]] = text_of(value)
    if more is not None and not isinstance(more, Mapping):
        raise TypeError(f"settings: give a mapping of keys to values, not {type(more).__name__}")
    out.update(_flat(more or {}))
    return out


def _flat(mapping: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    out = {}
    for key, value in mapping.items():
        if isinstance(value, Mapping):
            out.update(_flat(value, f"{prefix}{key}."))
        elif value is not None:
            out[prefix + key] = text_of(value)
    return out


def whole_threads(threads: Any) -> int:
    """A number of threads, 0: all; more than the machine has would only cost memory."""
    try:
        number = index(threads)
    except TypeError:
        raise TypeError(f"threads: {threads!r} is not a whole number") from None
    return min(max(number, 0), os.cpu_count() or 1)


def check_progress(progress: Callable[[int], object] | None) -> None:
    if progress is not None and not callable(progress):
        raise TypeError(f"progress: {progress!r} cannot be called; give a function of the number of frames")


def path_of(source: Any) -> str | None:
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) else None
