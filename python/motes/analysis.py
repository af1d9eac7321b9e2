"""How particles move: mean squared displacements, diffusion, drift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import _core
from ._settings import counted, threads_for, warn
from .tracks import Tracks, require_tracks

if TYPE_CHECKING:
    import pandas

__all__ = ["Motion", "analyse"]


@dataclass(eq=False, repr=False)
class Motion:
    """Results of `analyse`; NaN if the tracks do not determine a value.

    Attributes
    ----------
    msd : pandas.DataFrame
        For each lag (frames) and lag_time: msd, msd_error, pairs, tracks, non_gaussian,
        step_correlation.
    drift : pandas.DataFrame
        For each frame: links, mean displacement to the next (dx, dy, dz), and its sum.
    tracks : pandas.DataFrame
        For each particle: points, first_frame, last_frame, duration, net, path, speed,
        straightness, gyration, diffusion.
    dims : int
        Axes along which positions differ.
    length_unit, time_unit : str
        "um" or "px"; "s", or "frame" if the interval is unknown.
    diffusion, diffusion_error : float
        Diffusion coefficient in length_unit^2 per time_unit, and its standard error.
    localisation_error : float
        Standard deviation of a position about the true one, along an axis.
    exponent, exponent_error : float
        Slope of log MSD against log lag.
    """

    msd: pandas.DataFrame
    drift: pandas.DataFrame
    tracks: pandas.DataFrame
    dims: int
    length_unit: str
    time_unit: str
    diffusion: float
    diffusion_error: float
    localisation_error: float
    exponent: float
    exponent_error: float

    def __repr__(self) -> str:
        return (
            f"Motion({counted(len(self.tracks), 'track')}, {self.dims}D, diffusion {self.diffusion:.4g} +- "
            f"{self.diffusion_error:.2g} {self.length_unit}^2/{self.time_unit})"
        )


def analyse(
    tracks: Tracks,
    *,
    max_lag: int = 0,
    min_length: int = 2,
    remove_drift: bool = False,
    threads: int = 0,
) -> Motion:
    """Measure how particles move, as ``motes analyse`` does.

    Parameters
    ----------
    tracks : Tracks
        Of `track`, `read` or ``Tracks.from_dataframe``.
    max_lag : int, default 0
        Longest lag in frames; 0: a quarter of the longest track, at most 100 steps.
    min_length : int, default 2
        Leave out tracks of fewer points.
    remove_drift : bool, default False
        Subtract the mean motion of all particles first.
    threads : int, default 0
        CPU threads, 0: all, but one for up to 10,000 points. The result does not depend on it.

    Returns
    -------
    Motion
        docs/user/motion.md explains each value.

    Raises
    ------
    TypeError
        What is not `Tracks`.
    UsageError
        A max_lag below 0 or a min_length below 1.
    """
    import pandas

    require_tracks(tracks, "tracks")
    for name, value in (("max_lag", max_lag), ("min_length", min_length)):
        if int(value) != value:
            raise ValueError(f"{name}: {value!r} is not a whole number")
    raw = _core._analyse(
        tracks._as_dict(), int(max_lag), int(min_length), bool(remove_drift), threads_for(len(tracks.frame), threads)
    )
    for line in raw.pop("warnings"):
        warn(line)
    for name in ("msd", "drift", "tracks"):
        raw[name] = pandas.DataFrame(raw[name])
    return Motion(**raw)
