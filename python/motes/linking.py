"""Linking of point tables, with trackpy's interface."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._settings import check_progress, threads_for, unexpected, warn, whole_number, whole_threads
from ._tables import (
    column_of,
    numbers_of,
    position_columns,
    refuse_bad_positions,
    require_table,
    sorted_by_frame,
)

if TYPE_CHECKING:
    import pandas

__all__ = ["GateEstimate", "estimate_gate", "link", "link_df", "link_df_iter", "link_iter"]

#: For more detections than this the gate is estimated first, to choose the scope as on the command line.
_MANY = 1_000_000
_MEMORY_OF_A_SERIES = 3
#: If more frames than this have no points, long pauses are shortened.
_MOST_EMPTY_FRAMES = 100_000
_MOST_FRAMES = 10_000_000
#: If a larger share of the points that may follow another is linked, the gate is not too short.
_SURELY_LINKED = 0.75


def _flat(
    f: pandas.DataFrame,
    columns: list[Any],
    t_column: Hashable,
    scale: list[float] | None = None,
    memory: int = _MEMORY_OF_A_SERIES,
) -> tuple[Any, Any, Any, NDArray[np.int64], int]:
    """Coordinates (x, y, z), frame offsets and the first frame of a sorted table.
    
    Frames without points take memory; if there are very many, pauses that no link can bridge are
    shortened.
    """
    frames = f[t_column].to_numpy()
    points = [numbers_of(f[name], name) for name in reversed(columns)]
    for values, name in zip(points, reversed(columns)):
        refuse_bad_positions(f, values, name)
    if scale is not None:
        points = [p / s for p, s in zip(points, reversed(scale))]
    points = [np.ascontiguousarray(p) for p in points]
    x, y, z = points + [np.zeros(len(f))] * (3 - len(points))
    first, last = int(frames[0]), int(frames[-1])
    if last - first > _MOST_EMPTY_FRAMES + 2 * len(frames):
        # Unsigned, so that no pause overflows: frames may be any 64-bit numbers.
        steps = np.minimum(np.diff(frames.astype(np.uint64)), min(memory, _MOST_FRAMES) + 2).astype(np.int64)
        frames = np.concatenate([[0], np.cumsum(steps)])
        first, last = 0, int(frames[-1])
        if last > _MOST_FRAMES:
            raise ValueError(
                f"{t_column}: {last} frames from the first to the last, with a memory of {memory}, are too many; "
                "number the existing frames 0, 1, 2, ..."
            )
    if first < -(2**31) or last >= 2**31:  # only differences matter
        frames = (frames.astype(np.uint64) - frames.astype(np.uint64)[0]).astype(np.int64)
        first, last = 0, last - first
    offsets = np.searchsorted(frames, np.arange(first, last + 2)).astype(np.int64)
    return x, y, z, offsets, first


def _in_euclidean(
    f: pandas.DataFrame, columns: list[Any], t_column: Hashable, to_eucl: Callable[[Any], ArrayLike]
) -> tuple[pandas.DataFrame, list[Any]]:
    """A table of the positions from `to_eucl`, and its position columns."""
    import pandas

    positions = np.column_stack([numbers_of(f[name], name) for name in columns])
    found = np.asarray(to_eucl(positions), dtype=np.float64)
    if found.ndim != 2 or len(found) != len(f) or not 1 <= found.shape[1] <= 3:
        raise ValueError(f"to_eucl: gave an array of shape {found.shape} for positions of shape {positions.shape}")
    names = [f"to_eucl[{k}]" for k in range(found.shape[1])]
    table = pandas.DataFrame(found, columns=names, index=f.index)
    table[t_column] = f[t_column].to_numpy()
    return table, names


def _warn_of_lone_frames(frames: NDArray[Any], memory: int, t_column: Hashable) -> None:
    """Warn if frame numbers rise in steps (of ten, say), so that no points can be linked."""
    steps = np.diff(np.unique(frames).astype(np.uint64))  # unsigned: no pause overflows
    if len(steps) and steps.min() > memory + 1:
        warn(
            f"no two frames are within {memory + 1} of each other, so nothing can be linked: the numbers in "
            f"{t_column!r} rise in steps of {steps.min()} or more; number the frames 0, 1, 2, ... or raise memory"
        )


def _warn_of_short_gate(
    particles: Any, points: tuple[Any, Any, Any, NDArray[np.int64], int], gate: Any, unit: str, threads: int
) -> None:
    """Warn of a gate below the typical displacement, in the words of the command line.

    If most points are linked there is no warning, and no estimate, which can take longer than linking.
    With a gate that is too short, at least half of the mutual nearest neighbours are not linked; at
    least six tenths of randomly placed points, and all that hardly move, have one.
    """
    may_follow = len(particles) - int(points[3][1])
    followers = len(particles) - (int(particles.max()) + 1)
    if followers > _SURELY_LINKED * may_follow:
        return
    for line in _core._gate_warnings(*points, gate, unit, threads):
        warn(line)


def link(
    f: pandas.DataFrame,
    gate: float | Sequence[float] | None = None,
    pos_columns: Sequence[Any] | None = None,
    t_column: Hashable = "frame",
    *,
    memory: int | None = None,
    search_range: float | Sequence[float] | None = None,
    scope: Literal["pairs", "series"] | None = None,
    model: Literal["auto", "static", "velocity", "field", "joint"] = "auto",
    no_link_cost: float | None = None,
    to_eucl: Callable[[NDArray[np.float64]], ArrayLike] | None = None,
    threads: int = 0,
    progress: Callable[[int], object] | None = None,
    **trackpy_options: Any,
) -> pandas.DataFrame:
    """Link a table of points into trajectories.

    With a gate this is ``trackpy.link``: frame by frame, the links of each pair of frames have the
    least sum of squared displacements, where a particle without a partner costs ``gate**2``. The
    result is always the exact optimum; there is no limit on the size of subnets. Without a gate the whole
    series is linked at once by likelihoods whose parameters are estimated from the data, as
    ``motes track`` does.

    Parameters
    ----------
    f : pandas.DataFrame
        One row per point. Other columns than those named below are kept.
    gate : float or sequence of float, optional
        Longest displacement from frame to frame, in the unit of the positions; a sequence gives one
        value per column of `pos_columns` (the gate is then an ellipsoid).
    pos_columns : list of str, optional
        Columns of positions, one to three; default ``['z', 'y', 'x']`` or ``['y', 'x']``, or the
        same with ``_um``.
    t_column : str, default 'frame'
        Column of frame numbers; made integer in the result.
    memory : int, optional
        Number of frames in which a particle may be missing; default 0 frame by frame, 3 for a series.
    search_range : float or sequence of float, optional
        trackpy's name of `gate`.
    scope : {'pairs', 'series'}, optional
        Frame by frame, or the whole series at once. Default: 'pairs' with a gate; without one
        'series', but 'pairs' with an estimated gate for more than 10 million points (a million if
        particles move little and are rarely missed).
    model : {'auto', 'static', 'velocity', 'field', 'joint'}
        How displacements are predicted (series only).
    no_link_cost : float, optional
        With scope 'pairs': the cost of each of the two ends of a missing link, in units of the squared
        distance; default ``gate**2 / 2``, as in trackpy.
    to_eucl : callable, optional
        Converts the positions, an array of shape (rows, columns of `pos_columns`), to those in which
        distances are measured, shape (rows, 1 to 3). The gate then applies to the latter.
    threads : int, default 0
        CPU threads, 0: all, but one for up to 10,000 points. The result does not depend on it.
    progress : callable, optional
        Called with the number of finished frames (scope 'pairs').
    **trackpy_options
        ``link_strategy``, ``neighbor_strategy`` and ``adaptive_step`` are accepted and ignored:
        they control trackpy's search, which is exact here.

    Returns
    -------
    pandas.DataFrame
        A copy of `f`, sorted by frame, with the column ``particle`` (int64). The index is kept.

    Raises
    ------
    ValueError
        For missing columns, text in columns, frames that are not integers, positions that are not
        finite, and a gate that is not positive.
    NotImplementedError
        For trackpy's ``predictor``, ``adaptive_stop``, ``dist_func``.

    Warns
    -----
    UserWarning
        If the gate is below the typical displacement, frames are too far apart for any link, or points
        are there twice.
    """
    _check_trackpy_options(trackpy_options)
    check_progress(progress)
    if to_eucl is not None and not callable(to_eucl):
        raise TypeError(f"to_eucl: {to_eucl!r} cannot be called; give a function of an array of positions")
    threads = whole_threads(threads)
    if gate is not None and search_range is not None:
        raise TypeError("give gate or search_range, not both: they mean the same")
    given = search_range if gate is None else gate
    f = sorted_by_frame(f, t_column)
    columns = position_columns(f, pos_columns)
    if len(f) == 0:
        f["particle"] = np.empty(0, np.int64)
        return f
    threads = threads_for(len(f), threads)
    where = f
    if to_eucl is not None:
        where, columns = _in_euclidean(f, columns, t_column, to_eucl)
    gate, scale = _gate_and_scale(given, columns)
    how = _scope(scope, gate, f[t_column].to_numpy())
    if how == "series" and scope is None and len(f) > _MANY:
        suggested: Any = _core._estimate_gate(*_flat(where, columns, t_column, scale), threads)
        how = "series" if suggested and suggested["series_pays"] else "pairs"
    if memory is None:
        memory = 0 if how == "pairs" else _MEMORY_OF_A_SERIES
    frames = f[t_column].to_numpy()
    # A memory beyond the last frame has no effect.
    memory = min(whole_number(memory, "memory"), int(frames[-1]) - int(frames[0]))
    _warn_of_lone_frames(frames, memory, t_column)
    points = _flat(where, columns, t_column, scale, memory)
    for line in _core._repeat_warnings(*points, threads):
        warn(line)
    if how == "series":
        if no_link_cost is not None:
            raise ValueError("no_link_cost: only for scope='pairs'")
        particles: Any = _core._link_series(*points, gate, memory, model, threads)
    else:
        if model != "auto":
            raise ValueError(f"model: {model!r} is for a whole series, but frames are linked in pairs; scope='series'?")
        if gate is None:
            estimate: Any = _core._estimate_gate(*points, threads)
            # No successive frames both have points, so there is nothing to link with any gate.
            gate = estimate["gate"] if estimate else 1.0
        # A millionth more, so that a displacement as long as the gate is still a link, as in trackpy.
        cost = gate**2 / 2 * (1 + 2.0**-20) if no_link_cost is None else _cost(no_link_cost)
        heard: Any = progress
        particles = _core._link_pairs(*points, gate, cost, memory, threads, heard)
    f["particle"] = particles
    if given is not None:
        _warn_of_short_gate(particles, points, gate, _unit_of(columns, scale), threads)
    return f


#: trackpy's older name of the same function.
link_df = link


def link_df_iter(
    features: Iterable[pandas.DataFrame],
    search_range: float | Sequence[float] | None,
    pos_columns: Sequence[Any] | None = None,
    t_column: Hashable = "frame",
    **options: Any,
) -> Iterator[pandas.DataFrame]:
    """Link tables, one per frame; drop-in for ``trackpy.link_df_iter``.
    
    All tables are read before the first one is returned, so links are those of :func:`link`.

    Parameters
    ----------
    features : iterable of pandas.DataFrame
        One table per frame, by rising frame.
    search_range : float or sequence of float
        The gate of :func:`link`.
    pos_columns : list of str, optional
        As in :func:`link`.
    t_column : str, default 'frame'
        As in :func:`link`.
    **options
        As in :func:`link`.

    Yields
    ------
    pandas.DataFrame
        Each table with the column ``particle``; rows, index and the type of frame numbers are kept.
    """
    import pandas

    if hasattr(features, "columns"):
        raise TypeError("link_df_iter takes one table per frame; motes.link takes one for all frames")
    tables = [table for table in features]
    _check_one_frame_each(tables, t_column)
    if not any(len(table) for table in tables):
        for table in tables:
            yield table.assign(particle=np.empty(0, np.int64))
        return
    linked = link(
        pandas.concat([t for t in tables if len(t)]), search_range, pos_columns, t_column, **options
    )
    begin = 0
    for table in tables:
        end = begin + len(table)
        part = linked.iloc[begin:end]
        if t_column in table and part[t_column].dtype != table[t_column].dtype:
            part = part.astype({t_column: table[t_column].dtype})
        yield part
        begin = end


def _check_one_frame_each(tables: list[pandas.DataFrame], t_column: Hashable) -> None:
    """Returns the rows to their tables, in the order of frames."""
    before = None
    for k, table in enumerate(tables):
        require_table(table)
        if len(table) == 0 or t_column not in table:  # link reports the fault of such a column
            continue
        numbers = column_of(table, t_column).unique()
        if len(numbers) > 1:
            raise ValueError(f"table {k} has rows of {len(numbers)} frames; give one table per frame, or use motes.link")
        if before is not None and not numbers[0] > before:
            raise ValueError(f"frame {numbers[0]} comes after frame {before}; give the tables by rising frame")
        before = numbers[0]


def link_iter(
    coords_iter: Iterable[ArrayLike | tuple[int, ArrayLike]],
    search_range: float | Sequence[float] | None,
    **options: Any,
) -> Iterator[tuple[int, list[int]]]:
    """Link arrays of positions, one per frame; drop-in for ``trackpy.link_iter``.
    
    All arrays are read before the first result, so links are those of :func:`link`.

    Parameters
    ----------
    coords_iter : iterable of array_like, shape (points, 1 to 3), or of (frame, array_like)
        Positions of one frame, with its number if it is not the next one.
    search_range : float or sequence of float
        The gate of :func:`link`; a sequence follows the columns of the arrays.
    **options
        As in :func:`link`.

    Yields
    ------
    frame : int
    particle : list of int
        The particle of each point.
    """
    import pandas

    if hasattr(coords_iter, "columns"):
        raise TypeError("link_iter takes one array per frame; motes.link takes a table of all frames")
    frames: list[int] = []
    arrays: list[NDArray[np.float64]] = []
    item: Any
    for k, item in enumerate(coords_iter):
        numbered = isinstance(item, tuple) and len(item) == 2 and np.ndim(item[0]) == 0
        frame, positions = item if numbered else (k, item)
        positions = np.asarray(positions, dtype=np.float64)
        if positions.ndim != 2 and positions.size:
            raise ValueError(f"frame {frame}: an array of shape {positions.shape}, not (points, axes)")
        frames.append(frame)
        arrays.append(positions)
    full = [a for a in arrays if a.size]
    if not full:
        yield from ((frame, []) for frame in frames)
        return
    names = [f"axis{k}" for k in range(full[0].shape[1])]
    if any(a.shape[1] != len(names) for a in full):
        raise ValueError("the arrays have different numbers of axes")
    if (np.diff(frames) <= 0).any():
        raise ValueError("frame numbers do not rise")
    table = pandas.DataFrame(np.concatenate(full), columns=names)
    table["frame"] = np.repeat(frames, [len(a) if a.size else 0 for a in arrays])
    particle = link(table, search_range, pos_columns=names, **options)["particle"].tolist()
    begin = 0
    for frame, positions in zip(frames, arrays):
        end = begin + (len(positions) if positions.size else 0)
        yield frame, particle[begin:end]
        begin = end


class GateEstimate(TypedDict):
    """The results of `estimate_gate`, in the unit of the positions."""

    gate: float
    displacement: float
    spacing: float
    ratio: float


def estimate_gate(
    f: pandas.DataFrame,
    pos_columns: Sequence[Any] | None = None,
    t_column: Hashable = "frame",
    *,
    threads: int = 0,
) -> GateEstimate | None:
    """A gate from the data, as ``motes track`` estimates it.
    
    Parameters
    ----------
    f : pandas.DataFrame
        One row per point.
    pos_columns : list of str, optional
        As in `link`.
    t_column : str, default 'frame'
        As in `link`.
    threads : int, default 0
        CPU threads, 0: all, but one for up to 10,000 points. The result does not depend on it.

    Returns
    -------
    dict or None
        ``gate``, ``displacement`` (the typical one), ``spacing`` within a frame, and their
        ``ratio``: above 0.5 many links will be wrong with any linker. None if no two successive
        frames have points.
    """
    f = sorted_by_frame(f, t_column)
    if len(f) == 0:
        return None
    points = _flat(f, position_columns(f, pos_columns), t_column)
    estimate: Any = _core._estimate_gate(*points, threads_for(len(f), threads))
    if estimate:
        del estimate["series_pays"]
    return estimate


#: What to do instead of using options of trackpy that are refused.
_INSTEAD = {
    "predictor": "without a gate, or with scope='series', motion is estimated from the data; model= states its "
    "kind: 'velocity' of each particle, 'field' of neighbours, 'joint' of all",
    "adaptive_stop": "leave it out: subnets of any size are solved exactly",
    "dist_func": "to_eucl= may convert positions to others with Euclidean distances",
}


def _check_trackpy_options(options: dict[str, Any]) -> None:
    ignored = {"link_strategy", "neighbor_strategy", "adaptive_step"}
    for name, value in options.items():
        if name in _INSTEAD:
            if value is not None:
                raise NotImplementedError(f"motes.link has no {name}; {_INSTEAD[name]}")
        elif name not in ignored:
            raise TypeError(unexpected("link", name, signature(link).parameters))


def _cost(given: Any) -> float:
    try:
        cost = float(given)
    except (TypeError, ValueError):
        cost = np.nan
    if not (np.isfinite(cost) and cost >= 0):  # for the compiled side a negative one means none
        raise ValueError(f"no_link_cost: {given!r} is not a cost; give a number from 0 on")
    return cost


def _gate_and_scale(gate: Any, columns: list[Any]) -> tuple[float | None, list[float] | None]:
    """One gate, and the divisors of the coordinates for it."""
    if gate is None:
        return None, None
    try:
        gates = np.atleast_1d(np.asarray(gate, dtype=np.float64))
        if isinstance(gate, (str, bytes)) or gates.ndim != 1:
            raise TypeError
    except (TypeError, ValueError):
        raise ValueError(f"gate: {gate!r} is not a number or a sequence of numbers") from None
    if gates.size not in (1, len(columns)):
        raise ValueError(f"gate: give one number or {len(columns)}, one per position column")
    if not (np.isfinite(gates).all() and (gates > 0).all()):
        raise ValueError(f"gate: {gate} is not positive")
    if not ((gates >= 1e-100).all() and (gates <= 1e100).all()):
        raise ValueError(f"gate: {gate} is not between 1e-100 and 1e100")
    if gates.size == 1 or (gates == gates[0]).all():
        return float(gates[0]), None
    return 1.0, list(gates)


def _unit_of(columns: list[Any], scale: list[float] | None) -> str:
    """The unit after lengths in a message; positions need not have one."""
    if scale is not None:
        return f"x ({', '.join(f'{s:g}' for s in scale)})"
    return "um" if all(str(name).endswith("_um") for name in columns) else ""


def _scope(scope: Any, gate: float | None, frames: NDArray[Any]) -> str:
    """The scope: as given, else from the sorted frame numbers."""
    if scope in ("pairs", "series"):
        return scope
    if scope is not None:
        raise ValueError(f"scope: {scope!r} is neither 'pairs' nor 'series'")
    return "series" if gate is None and frames[-1] > frames[0] else "pairs"
