"""Voxel size and frame interval from the coordinates of an xarray.DataArray that state their units."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._frames import axes_text, named_axes
from ._settings import text_of

_MICROMETRE = ("um", "\N{MICRO SIGN}m", "\N{GREEK SMALL LETTER MU}m", "micron", "micrometer", "micrometre")
_UM = {"nm": 1e-3, "nanometer": 1e-3, "nanometre": 1e-3, "mm": 1e3, "millimeter": 1e3, "millimetre": 1e3}
_UM |= dict.fromkeys(_MICROMETRE, 1.0)
_SECONDS = {"s": 1.0, "sec": 1.0, "second": 1.0, "ms": 1e-3, "millisecond": 1e-3, "min": 60.0, "minute": 60.0}
_SECONDS |= {"h": 3600.0, "hour": 3600.0}


def _step(values: Any) -> float | None:
    """The distance of evenly spaced values; None for others."""
    steps = np.diff(np.asarray(values))
    if steps.ndim != 1 or steps.size == 0:
        return None
    if steps.dtype.kind == "m":
        steps = steps / np.timedelta64(1, "s")
    try:
        steps = np.abs(steps.astype(np.float64))
    except (TypeError, ValueError):
        return None
    even = np.isfinite(steps).all() and steps.min() > 0 and np.ptp(steps) <= 1e-3 * steps.min()
    return float(f"{steps.mean():.9g}") if even else None


def _coordinates(source: Any, axes: Any) -> dict[str, tuple[float | None, float | None]]:
    """For each axis letter the step of its coordinate, and its unit in um or s."""
    names, coordinates = getattr(source, "dims", None), getattr(source, "coords", None)
    if coordinates is None or not isinstance(names, tuple):
        return {}
    found = {}
    for letter, name in zip(axes_text(axes) or named_axes(source) or "", names):
        if letter not in "TZYX" or name not in coordinates:
            continue
        coordinate = coordinates[name]
        unit = str(coordinate.attrs.get("units", coordinate.attrs.get("unit", ""))).strip()
        known = _SECONDS if letter == "T" else _UM
        scale = known.get(unit, known.get(unit.lower().removesuffix("s")))
        if letter == "T" and np.asarray(coordinate).dtype.kind in "mM":
            scale = 1.0
        found[letter] = _step(coordinate), scale
    return found


def add_coordinates(keys: dict[str, str], source: Any, axes: Any) -> str:
    """Sets the voxel size and the frame interval if they are not given.

    Returns a remark on coordinates whose unit is missing or unknown, for an error message.
    """
    found = _coordinates(source, axes)
    sizes = {letter: step * scale for letter, (step, scale) in found.items() if step and scale}
    if "Y" in sizes and "X" in sizes and ("Z" in sizes or "Z" not in (axes_text(axes) or named_axes(source) or "")):
        if keys.get("input.voxel_um", "auto") == "auto":
            keys["input.voxel_um"] = text_of([sizes.get("Z", sizes["Y"]), sizes["Y"], sizes["X"]])
    if "T" in sizes and keys.get("input.dt_s", "auto") == "auto":
        keys["input.dt_s"] = text_of(sizes["T"])
    silent = [f"{k.lower()} {step:g}" for k, (step, scale) in found.items() if step and not scale]
    return f" (coordinates step by {', '.join(silent)}, in no unit that is known)" if silent else ""
