"""Trajectories, and their conversion for other programs."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._settings import counted, no_attribute
from ._tables import (
    numbers_of,
    position_columns,
    refuse_bad_positions,
    refuse_untracked,
    relatives_of,
    require_table,
    times_of,
    whole_column,
)

if TYPE_CHECKING:
    import networkx
    import pandas
    import pyarrow

__all__ = ["Tracks"]


#: Number of points shown in notebooks.
_SHOWN = 5

#: What people look for, and where it is.
_INSTEAD = {
    **dict.fromkeys(("to_pandas", "df", "table", "groupby"), "to_dataframe() gives a table"),
    **dict.fromkeys(("to_csv", "to_hdf", "to_h5", "to_xml", "to_ctc", "write"), "save(path) writes the path's format"),
    **dict.fromkeys(("msd", "speed", "diffusion"), "motes.analyse(tracks) measures motion"),
    **dict.fromkeys(("graph", "edges", "nodes"), "to_networkx() gives a graph"),
    **dict.fromkeys(("plot", "plot_traj"), "trackpy.plot_traj(tracks.to_dataframe()) draws them"),
    **dict.fromkeys(("xyz", "to_numpy"), "positions are [x, y, z] of each point"),
    **dict.fromkeys(("ids", "track_ids"), "track_id has a number for each track, particle for each point"),
    "filter": "tracks[tracks.lengths >= 10] selects by length",
    "to_polars": "polars.from_arrow(tracks.to_arrow()) gives its table",
    "times": "time_s are the times of points",
}


@dataclass(eq=False, repr=False)
class Tracks:
    """Trajectories: the points of track k are ``[offsets[k], offsets[k + 1])``, by rising frame.

    Attributes
    ----------
    offsets : ndarray of int64, shape (tracks + 1,)
    track_id : ndarray of int64, shape (tracks,)
        The number of the particle in files and tables.
    frame : ndarray of int32, shape (points,)
    x, y, z : ndarray of float64, shape (points,)
        Positions in `unit`.
    time_s : ndarray of float64, shape (points,)
        Times in s; the frame number if `dt_s` is unknown.
    detection : ndarray of int64, shape (points,)
        The index within the frame's detections, -1: none.
    parent : ndarray of int64, shape (tracks,), or None
        The number of the mother's track, -1: none; None if divisions are unknown.
    merged_into : ndarray of int64, shape (tracks,), or None
        The number of the track that this one and another become, -1: none; None if merges are unknown.
    point_properties, track_properties : dict of str to ndarray of float64
        Further columns, by point and by track.
    unit : str
        ``'um'``, or ``'px'`` if the input has its own unit.
    dt_s : float or None
        Seconds from frame to frame.
    """

    offsets: NDArray[np.int64]
    track_id: NDArray[np.int64]
    frame: NDArray[np.int32]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    z: NDArray[np.float64]
    time_s: NDArray[np.float64]
    detection: NDArray[np.int64]
    parent: NDArray[np.int64] | None = None
    point_properties: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    track_properties: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    unit: str = "um"
    dt_s: float | None = None
    merged_into: NDArray[np.int64] | None = None

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            raise no_attribute(self, name, _INSTEAD.get(name, ""))

    def __len__(self) -> int:
        return len(self.track_id)

    def __repr__(self) -> str:
        return f"<Tracks: {counted(len(self), 'track')} of {counted(len(self.frame), 'point')}, in {self.unit}>"

    def _repr_html_(self) -> str | None:
        """For notebooks: the first points as a table; None without pandas."""
        tracks = int(np.searchsorted(self.offsets, _SHOWN)) if len(self) else 0
        try:
            table = self[:tracks].to_dataframe().head(_SHOWN)
        except ImportError:
            return None
        return f"<p>{escape(repr(self))}</p>{table.to_html(index=False)}"

    def __getitem__(self, which: Any) -> Tracks:
        """Some of the tracks, by an index, a slice, an array of indices or a mask, shape (tracks,).
        
        ``tracks[tracks.lengths >= 10]`` are those of ten points or more. Mothers and merged tracks that
        are not selected become -1.
        """
        if isinstance(which, (int, np.integer)):  # without a look at the others, for loops over tracks
            if not -len(self) <= which < len(self):
                raise IndexError(f"track {which} does not exist: there are {counted(len(self), 'track')}")
            places = np.array([which % len(self)])
        elif isinstance(which, str):
            raise IndexError(f"{which!r}: columns are attributes, tracks.x, or those of tracks.to_dataframe()")
        else:
            places = np.atleast_1d(np.arange(len(self))[which])
        if len(np.unique(places)) < len(places):
            raise IndexError("a track is selected twice")
        lengths = self.offsets[places + 1] - self.offsets[places]
        offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
        rows = np.repeat(self.offsets[:-1][places] - offsets[:-1], lengths) + np.arange(offsets[-1])
        ids = self.track_id[places]

        def among_selected(relatives: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
            if relatives is None:
                return None
            return np.where(np.isin(relatives[places], ids), relatives[places], -1)

        return replace(
            self,
            offsets=offsets,
            track_id=ids,
            frame=self.frame[rows],
            x=self.x[rows],
            y=self.y[rows],
            z=self.z[rows],
            time_s=self.time_s[rows],
            detection=self.detection[rows],
            parent=among_selected(self.parent),
            merged_into=among_selected(self.merged_into),
            point_properties={name: values[rows] for name, values in self.point_properties.items()},
            track_properties={name: values[places] for name, values in self.track_properties.items()},
        )

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of points of each track, shape (tracks,)."""
        return np.diff(self.offsets)

    @property
    def particle(self) -> NDArray[np.int64]:
        """The particle's number of each point, shape (points,)."""
        return np.repeat(self.track_id, np.diff(self.offsets))

    @property
    def positions(self) -> NDArray[np.float64]:
        """``[x, y, z]`` of each point, shape (points, 3)."""
        return np.stack([self.x, self.y, self.z], axis=1)

    @property
    def planar(self) -> bool:
        """Whether there are points, all at z = 0, as from 2D movies and tables without z."""
        return len(self.z) > 0 and not np.any(self.z)

    # --- tables ---

    def to_dataframe(self, names: Literal["trackpy", "motes"] = "trackpy") -> pandas.DataFrame:
        """One row per point, in the order of points.

        Parameters
        ----------
        names : {'trackpy', 'motes'}
            ``frame, x, y, z, particle``, as trackpy reads them, or the columns of tracks.csv; and
            ``t_s`` if times are known. With 'trackpy', ``z`` is omitted if `planar`.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas

        plain = names == "trackpy"
        if names not in ("trackpy", "motes"):
            raise ValueError(f"names: {names!r} is neither 'trackpy' nor 'motes'")
        unit = "" if plain or self.unit == "px" else "_" + self.unit
        columns: dict[str, Any] = {"frame": self.frame.astype(np.int64), "particle": self.particle}
        if self.dt_s is not None or not np.array_equal(self.time_s, self.frame):
            columns["t_s"] = self.time_s
        axes = "xy" if plain and self.planar else "xyz"
        columns.update({axis + unit: getattr(self, axis) for axis in axes})
        for name in ("parent", "merged_into"):
            if (relatives := getattr(self, name)) is not None:
                columns[name] = np.repeat(relatives, np.diff(self.offsets))
        columns.update(self.point_properties)
        return pandas.DataFrame(columns)

    @classmethod
    def from_dataframe(
        cls,
        f: pandas.DataFrame,
        pos_columns: Sequence[Any] | None = None,
        t_column: Hashable = "frame",
        *,
        unit: Literal["um", "px"] = "um",
        dt_s: float | None = None,
    ) -> Tracks:
        """Tracks from a table with a column ``particle``, as from trackpy and motes.link.

        Parameters
        ----------
        f : pandas.DataFrame
            One row per point. ``t_s`` are times in s, ``parent`` is the mother's particle,
            ``merged_into`` the one that two become (-1 or missing: none). Further columns of numbers become point properties.
        pos_columns : list of str, optional
            As in `motes.link`.
        t_column : str, default 'frame'
            As in `motes.link`.
        unit : {'um', 'px'}
            The unit of the positions.
        dt_s : float, optional
            Seconds from frame to frame; default: from ``t_s``.

        Returns
        -------
        Tracks

        Raises
        ------
        ValueError
            For missing columns, frames and particles that are not whole numbers, particles below 0, and
            one that occurs twice in a frame.
        """
        require_table(f)
        if unit not in ("um", "px"):
            raise ValueError(f"unit: {unit!r} is neither 'um' nor 'px'")
        if dt_s is not None and not (np.isfinite(dt_s) and dt_s > 0):
            raise ValueError(f"dt_s: {dt_s} is not a time above 0")
        refuse_untracked(f)
        columns = position_columns(f, pos_columns)
        frame, particle = whole_column(f, t_column), whole_column(f, "particle")
        if len(frame) and not (-(2**31) <= frame.min() and frame.max() < 2**31):
            raise ValueError(f"column {t_column!r}: frame numbers lie beyond 32 bits; subtract the first")
        order = np.lexsort((frame, particle))
        particle, frame = particle[order], frame[order]
        twice = np.flatnonzero((np.diff(particle) == 0) & (np.diff(frame) == 0))
        if len(twice):
            raise ValueError(f"particle {particle[twice[0]]} has two rows in frame {frame[twice[0]]}")
        ids, first = np.unique(particle, return_index=True)
        axes = []
        for name in reversed(columns):
            values = numbers_of(f[name], name)
            refuse_bad_positions(f, values, name)
            axes.append(values[order])
        axes += [np.zeros(len(f))] * (3 - len(axes))
        time, dt_s = times_of(f, frame, order, dt_s)
        relatives = {name: relatives_of(f, name, order, ids, first) for name in ("parent", "merged_into")}
        known = {*columns, t_column, "particle", "t_s"}
        known.update(name for name, of in relatives.items() if of is not None)
        more = {
            str(name): numbers_of(f[name], name)[order]
            for name in f.columns
            if name not in known and getattr(f[name].dtype, "kind", "O") in "iufb"
        }
        return cls(
            offsets=np.append(first, len(f)).astype(np.int64),
            track_id=ids,
            frame=frame.astype(np.int32),
            x=axes[0],
            y=axes[1],
            z=axes[2],
            time_s=time,
            detection=np.full(len(f), -1, np.int64),
            point_properties=more,
            unit=unit,
            dt_s=dt_s,
            parent=relatives["parent"],
            merged_into=relatives["merged_into"],
        )

    # --- other programs ---

    def _edges(self) -> NDArray[np.int64]:
        """Pairs of successive rows on a track, at divisions and at merges."""
        follows = np.ones(len(self.frame), bool)
        follows[self.offsets[:-1][np.diff(self.offsets) > 0]] = False
        to = np.flatnonzero(follows)
        pairs = [np.stack([to - 1, to], axis=1)]
        place = {int(n): k for k, n in enumerate(self.track_id)}
        for relatives, merge in ((self.parent, False), (self.merged_into, True)):
            ends = [
                (k, place[int(p)]) if merge else (place[int(p)], k)
                for k, p in enumerate(() if relatives is None else relatives)
                if p >= 0 and int(p) in place
            ]
            if ends:
                pairs.append(np.array([(self.offsets[a + 1] - 1, self.offsets[b]) for a, b in ends]))
        return np.concatenate(pairs)

    def to_napari(
        self, voxel_um: float | Sequence[float] | None = None
    ) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]], dict[int, list[int]]]:
        """The arguments of napari's ``viewer.add_tracks``.

        Parameters
        ----------
        voxel_um : sequence of float, optional
            Voxel size ``[z, y, x]``, or ``[y, x]`` if `planar`: positions are then in voxels, to match
            an unscaled image.

        Returns
        -------
        data : ndarray, shape (points, 5), or (points, 4) if `planar`
            Columns track, frame, z, y, x, or track, frame, y, x.
        properties : dict of str to ndarray
        graph : dict of int to list of int
            For each track that begins with a division or a merge, the tracks before it.
        """
        planar = self.planar
        scale = np.ones(3) if voxel_um is None else np.asarray(voxel_um, dtype=np.float64)
        if planar and scale.shape == (2,):
            scale = np.append(1.0, scale)
        if scale.shape not in ((), (3,)) or not (scale > 0).all():
            raise ValueError(f"voxel_um: {voxel_um!r} is not one or three lengths above 0, [z, y, x]")
        zyx = np.stack([self.z, self.y, self.x], axis=1) / scale
        data = np.concatenate([np.stack([self.particle, self.frame], axis=1), zyx[:, planar:]], axis=1)
        order = np.lexsort((data[:, 1], data[:, 0]))
        properties = {name: values[order] for name, values in self.point_properties.items()}
        graph: dict[int, list[int]] = {}
        if self.parent is not None:
            graph = {int(t): [int(p)] for t, p in zip(self.track_id, self.parent) if p >= 0}
        if self.merged_into is not None:
            for t, merged in zip(self.track_id, self.merged_into):
                if merged >= 0:
                    graph.setdefault(int(merged), []).append(int(t))
        return data[order], properties, graph

    def to_networkx(self) -> networkx.DiGraph[int]:
        """A directed graph: one node per point (its row), one edge per link, including those of
        divisions and merges.
        
        Nodes have ``t`` (frame), ``x``, ``y``, ``z``, ``particle`` and the point properties.

        Returns
        -------
        networkx.DiGraph
        """
        import networkx

        graph = networkx.DiGraph(unit=self.unit, dt_s=self.dt_s)
        columns: dict[str, Any] = {"t": self.frame, "particle": self.particle, "x": self.x, "y": self.y, "z": self.z}
        columns.update(self.point_properties)
        rows = [dict(zip(columns, row)) for row in zip(*(c.tolist() for c in columns.values()))]
        graph.add_nodes_from(enumerate(rows))
        graph.add_edges_from(self._edges().tolist())
        return graph

    def to_geff(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write a GEFF store (Graph Exchange File Format), as ``motes.write("tracks.geff", tracks)`` does.

        Parameters
        ----------
        path : str or path-like
            The store's folder, with any extension.
        overwrite : bool, default False
            Replace an existing store.

        Raises
        ------
        FileExistsError
            If the folder exists, without `overwrite`, or is not a store.
        """
        from .files import write

        path = os.fsdecode(path)
        if os.path.exists(path):
            store = any(os.path.exists(os.path.join(path, name)) for name in (".zgroup", "zarr.json"))
            if not (overwrite and store):
                hint = "overwrite=True replaces it" if store else "it is not a GEFF store, so it is not replaced"
                raise FileExistsError(f"{path} exists; {hint}")
        if path.lower().endswith(".geff"):
            write(path, self)
            return
        folder = os.path.dirname(os.path.abspath(path))
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".motes-", dir=folder) as new:
            written = os.path.join(new, "tracks.geff")
            write(written, self)
            if os.path.exists(path):
                shutil.rmtree(path)
            os.replace(written, path)

    def to_trackmate(self, path: str | os.PathLike[str]) -> None:
        """Write TrackMate XML, as ``motes.write("tracks.trackmate.xml", tracks)`` does.

        Parameters
        ----------
        path : str or path-like
            The file, with any extension.
        
        """
        from .files import write

        path = os.fsdecode(path)
        named = path if path.lower().endswith(".trackmate.xml") else path + ".trackmate.xml"
        write(named, self)
        os.replace(named, path)

    def to_arrow(self) -> pyarrow.Table:
        """A ``pyarrow.Table``: one row per point, with unit and frame interval in the schema's metadata.
        
        Columns are those of tracks.csv; a property of tracks is in each row, as ``track:NAME``.

        Returns
        -------
        pyarrow.Table
        """
        from ._parquet import to_arrow

        return to_arrow(self)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file with ``pyarrow``; `read` returns the same tracks, to the last bit.

        Parameters
        ----------
        path : str or path-like
            The file, which appears whole or not at all.
        """
        from ._parquet import write_parquet

        write_parquet(path, self)

    def save(self, path: str | os.PathLike[str], **images: Any) -> None:
        """Write in the format of the extension, as `motes.write` does.

        Parameters
        ----------
        path : str or path-like
            The file, which appears whole or not at all. Missing folders are created.
        **images
            ``like``, ``labels``, ``voxel_um``, ``radius_um``: as in `motes.write`.
        """
        from .files import write

        write(path, self, **images)

    # --- the compiled side ---

    def _as_dict(self) -> dict[str, Any]:
        i64, f64 = np.int64, np.float64
        types = {
            "offsets": i64, "track_id": i64, "frame": np.int32, "detection": i64,
            "time_s": f64, "x": f64, "y": f64, "z": f64,
        }  # fmt: skip
        out: dict[str, Any] = {k: np.ascontiguousarray(getattr(self, k), dtype=t) for k, t in types.items()}
        for name in ("parent", "merged_into"):
            relatives = getattr(self, name)
            out[name] = None if relatives is None else np.ascontiguousarray(relatives, i64)
        for name in ("point_properties", "track_properties"):
            columns = getattr(self, name)
            out[name] = {k: np.ascontiguousarray(v, dtype=f64) for k, v in columns.items()}
        out["unit"] = self.unit
        out["dt_s"] = None if self.dt_s is None else float(self.dt_s)
        return out


def require_tracks(tracks: Any, name: str) -> None:
    if isinstance(tracks, Tracks):
        return
    if hasattr(tracks, "columns"):
        hint = "Tracks.from_dataframe makes them of a table"
    elif isinstance(getattr(tracks, "tracks", None), Tracks):
        hint = "give its attribute tracks"
    else:
        hint = "motes.read reads them"
    raise TypeError(f"{name}: give motes.Tracks, not {type(tracks).__name__}; {hint}")
