"""Particle tracking in 3D microscopy, and exact matching."""

from ._idle_threads import spin_briefly

with spin_briefly():
    from . import _core as _core

from . import matching
from ._core import InputError, ResourceError, UsageError, __version__
from .analysis import Motion, analyse
from .files import read, write
from .linking import estimate_gate, link, link_df, link_df_iter, link_iter
from .tracking import Result, Simulation, batch, locate, score, simulate, track
from .tracks import Tracks

__all__ = [
    "InputError",
    "Motion",
    "ResourceError",
    "Result",
    "Simulation",
    "Tracks",
    "UsageError",
    "__version__",
    "analyse",
    "batch",
    "estimate_gate",
    "link",
    "link_df",
    "link_df_iter",
    "link_iter",
    "locate",
    "matching",
    "read",
    "score",
    "simulate",
    "track",
    "write",
]
