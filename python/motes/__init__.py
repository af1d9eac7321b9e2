"""Particle tracking in 3D microscopy, and exact matching.

- ``track``: images to tracks; ``locate`` and ``batch``: images to a table of spots
- ``link``: a table of points to tracks, in place of ``trackpy.link``
- ``read``, ``write``: files of tracks; ``score``, ``analyse``: what they are worth and show
- ``simulate``: particles and images with known truth
- ``matching``: in place of SciPy's assignment and bipartite matching

Lengths are in um unless a table says otherwise, times in s; vectors are z, y, x.
"""

from typing import TYPE_CHECKING

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

#: trackpy's functions of tables, and pictures of them.
_TRACKPY = frozenset(
    "annotate annotate3d compute_drift emsd filter filter_clusters filter_stubs imsd mass_ecc mass_size "
    "plot_density_profile plot_displacements plot_traj plot_traj3d plot_traj_labeled proximity refine_com refine_leastsq "
    "relate_frames scatter scatter3d subpx_bias subtract_drift vanhove".split()
)

if not TYPE_CHECKING:

    def __getattr__(name):
        """Says what to use instead of names of trackpy, laptrack and btrack that motes lacks."""
        instead = {
            "predict": "; without a gate, or with scope='series', link estimates motion from the data",
            "LapTrack": "; motes.link takes a table, as LapTrack.predict_dataframe does",
            "BayesianTracker": "; motes.link takes a table, motes.track images",
            "link_partial": "; link some frames: link(f[f.frame.between(first, last)])",
        }
        if name in _TRACKPY:
            instead[name] = f"; trackpy.{name} takes the tables of motes.link"
        if name in ("compute_drift", "emsd", "imsd", "subtract_drift"):
            instead[name] += ", and motes.analyse measures motion and drift"
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{instead.get(name, '')}", name=name)
