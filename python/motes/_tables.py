"""Checks of point tables: columns, numbers, frames."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas


def require_table(f: Any) -> None:
    """Rejects everything but a pandas.DataFrame, with advice for tables of other libraries."""
    import pandas

    if isinstance(f, pandas.DataFrame):
        return
    kind = type(f)
    hint = "for one array of positions per frame see motes.link_iter"
    if isinstance(f, np.ndarray) and f.dtype.names:
        hint = "give pandas.DataFrame(f)"
    elif isinstance(f, np.ndarray) and f.ndim == 2 and f.shape[1] in (3, 4):
        names = ["frame", "z", "y", "x"][-f.shape[1] + 1 :]
        hint = f"give pandas.DataFrame(f, columns={['frame', *names]}), columns in that order"
    elif isinstance(f, (list, Iterator)):
        hint = "of one table per frame give pandas.concat(f); for arrays see motes.link_iter"
    elif hasattr(f, "tracks") and hasattr(f, "detections"):
        hint = "give pandas.DataFrame(f.detections), or f.tracks.to_dataframe()"
    elif kind.__module__.startswith("napari."):
        hint = "give a table of its data: pandas.DataFrame(layer.data, columns=['frame', 'y', 'x'])"
    elif kind.__name__ == "DataFrameGroupBy":
        hint = "give the table itself: f.obj"
    elif hasattr(kind, "to_dataframe"):
        hint = "give f.to_dataframe().reset_index()"
    elif isinstance(f, (str, bytes, os.PathLike)):
        hint = "motes.track(path) links the points of a file"
    elif isinstance(f, (Mapping, np.recarray)):
        hint = "give pandas.DataFrame(f)"
    elif isinstance(f, tuple):
        hint = "give the tables of a groupby: (table for _, table in f.groupby('frame'))"
    elif hasattr(kind, "to_pandas"):
        hint = "give table.to_pandas()"
    elif hasattr(kind, "collect"):
        hint = "give table.collect().to_pandas()"
    elif hasattr(kind, "compute"):
        hint = "give table.compute()"
    name = kind.__name__
    if name == "DataFrame":
        name = f"{kind.__module__.partition('.')[0]}.{name}"
    raise TypeError(f"give a pandas.DataFrame, not {name}; {hint}")


#: Names of other programs for columns of motes, letters and digits in lower case.
_ELSEWHERE = {
    "particle": ("particle", "trackid", "track", "treeid", "id", "trajectory"),
    "frame": (
        "frame", "t", "slice", "timepoint", "timestep", "timeindex", "time", "frameindex", "frameix", "framenumber",
        "frameid", "frameno", "roitimepoint", "metadatat", "metadataframe", "metadatatimepoint", "imagenumber", "axis0",
        "slicen", "slicenumber", "firstframe", "startframe", "framestart",
    ),
}  # fmt: skip


def _meant(f: pandas.DataFrame, name: Hashable) -> list[Any]:
    """The columns that other programs call so, the likeliest first."""
    known = _ELSEWHERE.get(str(name), (str(name).lower(),))
    folded = {column: re.sub(r"[^a-z0-9]", "", str(column).lower()) for column in f.columns}
    return sorted((column for column in f.columns if folded[column] in known), key=lambda c: known.index(folded[c]))


def column_of(f: pandas.DataFrame, name: Hashable) -> Any:
    """One column. Rejects a name that two columns have."""
    if name not in f:
        if name in f.index.names:
            raise ValueError(f"{name!r} is the index, not a column; give f.reset_index()")
        alike = _meant(f, name)
        hint = f"; give f.rename(columns={{{alike[0]!r}: {name!r}}})?" if alike else ""
        raise ValueError(f"no column {name!r}; the table has {names_of(f)}{hint}")
    column = f[name]
    if column.ndim != 1:
        raise ValueError(f"{column.shape[1]} columns are called {name!r}; rename or drop all but one")
    return column


def names_of(f: pandas.DataFrame) -> str:
    names = [str(name) for name in f.columns]
    return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "") if names else "no columns"


#: Names of position columns, plain and with their unit.
_POSITIONS = (("z", "y", "x"), ("z_um", "y_um", "x_um"))


def _usual_positions(f: pandas.DataFrame) -> list[Any]:
    """The columns of positions by their usual names, all plain or all with the unit."""
    for names, others in (_POSITIONS, _POSITIONS[::-1]):
        if names[1] not in f or names[2] not in f:
            continue
        columns = [name for name in names if name in f]
        if names[0] not in f and others[0] in f:
            raise ValueError(
                f"the units are mixed: column {others[0]!r} beside {names[2]!r} and {names[1]!r}; name it "
                f"{names[0]!r} (in the same unit), or give pos_columns={columns} to leave it out"
            )
        return columns
    found = [name for names in _POSITIONS for name in names if name in f]
    if {name[0] for name in found} >= {"x", "y"}:
        raise ValueError(
            f"the units are mixed: of {', '.join(map(repr, found))} only some name one; name all of them x, y, z "
            "or x_um, y_um, z_um, in one unit"
        )
    alike = _likely_positions(f)
    hint = f"pos_columns={alike}" if alike else "pos_columns"
    raise ValueError(f"no columns x, y (and z) or x_um, y_um (and z_um); give {hint}: the table has {names_of(f)}")


def _likely_positions(f: pandas.DataFrame) -> list[str]:
    """Columns whose names differ in the letter of the axis, slowest axis first; or in its number, as in
    skimage's regionprops_table (centroid-0 is the slowest) and ilastik (Object_Center_0 is x)."""
    names = [name for name in f.columns if isinstance(name, str)]
    found = []
    for name in names:
        for place in re.finditer("[xX]", name):
            letters = "zyx" if place[0] == "x" else "ZYX"
            found.append([name[: place.start()] + letter + name[place.end() :] for letter in letters])
        if name.lower() in ("col", "column"):
            found.append([row for row in names if row.lower() == "row"] + [name])
        if name.endswith(("-0", "_0")):
            axes = [name[:-1] + digit for digit in "012" if name[:-1] + digit in names]
            found.append(axes if name[-2] == "-" else axes[::-1])
    families = [[name for name in family if name in names] for family in found if set(family[-2:]) <= set(names)]
    families = [family for family in families if len(family) in (2, 3)]
    families.sort(key=lambda family: not re.search("cent|pos|com_|loc", family[0].lower()))
    return families[0] if families else []


def position_columns(f: pandas.DataFrame, pos_columns: Any) -> list[Any]:
    if pos_columns is None:
        columns = _usual_positions(f)
    elif isinstance(pos_columns, str):
        columns = [pos_columns]
    elif isinstance(pos_columns, Iterable):
        columns = list(pos_columns)
    else:
        raise TypeError(f"pos_columns: {pos_columns!r} is not a list of names")
    if not 1 <= len(columns) <= 3:
        raise ValueError(f"pos_columns: give one to three names, not {len(columns)}")
    if len(set(columns)) < len(columns):
        raise ValueError(f"pos_columns: {columns} name a column twice")
    for name in columns:
        column_of(f, name)
    return columns


def numbers_of(column: Any, name: Hashable) -> NDArray[np.float64]:
    """A column as float64; text is refused by name, and missing values become NaN."""
    kind = getattr(column.dtype, "kind", "O")
    if kind in "cmM":
        raise ValueError(f"column {name!r} holds {column.dtype}, not {'real ' * (kind == 'c')}numbers")
    try:
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise ValueError(f"column {name!r} holds {column.dtype}, not numbers{_first_text(column)}") from None


def _first_text(column: Any) -> str:
    """The place of the first value that is not a number, and what to do about it."""
    for label, value in column.items():
        try:
            float(value)
        except (TypeError, ValueError):
            if isinstance(value, str):
                comma = "; for decimal commas: pandas.read_csv(..., decimal=',')" if "," in value else ""
                return f": {value[:40]!r} in the row of index {label!r}{comma}"
    return ""


def index_text(f: pandas.DataFrame, row: Any) -> str:
    label = f.index[row]
    return repr(label.item() if isinstance(label, np.generic) else label)


#: Squares of differences are then ordinary numbers.
_MOST = 1e100


def refuse_missing(f: pandas.DataFrame, values: NDArray[np.float64], name: Hashable) -> None:
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise ValueError(
            f"column {name!r}: {len(bad)} of {len(values)} values are not finite, the first in the row "
            f"of index {index_text(f, bad[0])}; leave them out: f[np.isfinite(f[{name!r}])]"
        )


def refuse_bad_positions(f: pandas.DataFrame, values: NDArray[np.float64], name: Hashable) -> None:
    """What is not finite, or so far out that squares overflow."""
    refuse_missing(f, values, name)
    if len(values) and max(values.max(), -values.min()) > _MOST:
        raise ValueError(f"column {name!r}: {values[np.argmax(np.abs(values))]:g} is not a position; they end at 1e100")


def sorted_by_frame(f: Any, t_column: Hashable) -> Any:
    """A copy by rising frame numbers, which are integers."""
    require_table(f)
    if t_column not in f:
        if t_column in f.index.names:
            raise ValueError(f"{t_column!r} is the index, not a column; give f.reset_index()")
        alike = _meant(f, t_column)
        hint = f"; t_column={alike[0]!r}?" if alike else ""
        if f.columns.nlevels > 1:
            hint = f"; its columns have {f.columns.nlevels} levels; give one: f.droplevel(0, axis=1)?"
        raise ValueError(
            f"no column {t_column!r}; t_column names the column of frame numbers: the table has {names_of(f)}{hint}"
        )
    column = column_of(f, t_column)
    f = f.copy()
    if not (isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu"):
        if getattr(column.dtype, "kind", "O") not in "iufbO":
            of_times = (
                f"; f[{t_column!r}] = ((f[{t_column!r}] - f[{t_column!r}].min()) / dt).round().astype(int) makes them, "
                "with a pandas.Timedelta dt from frame to frame"
            )
            raise ValueError(
                f"column {t_column!r} holds {column.dtype}, not frame numbers"
                + of_times * (getattr(column.dtype, "kind", "O") in "mM")
            )
        frames = numbers_of(column, t_column)
        refuse_missing(f, frames, t_column)
        if (frames != np.floor(frames)).any():
            odd = frames[frames != np.floor(frames)][0]
            raise ValueError(
                f"column {t_column!r}: {odd:g} is not a frame number; frames are integers: "
                f"of times make them, f[{t_column!r}] = (f[{t_column!r}] / dt).round().astype(int)"
            )
        if len(frames) and np.abs(frames).max() > 2**53:
            raise ValueError(f"column {t_column!r}: {np.abs(frames).max():g} is too large for a frame number")
        f[t_column] = frames.astype(np.int64)
    if not f[t_column].is_monotonic_increasing:
        # Not sort_values: an index may have the column's name.
        f = f.iloc[np.argsort(f[t_column].to_numpy(), kind="stable")]
    return f


def times_of(
    f: pandas.DataFrame, frame: NDArray[np.int64], order: NDArray[np.int64], dt_s: float | None
) -> tuple[NDArray[np.float64], float | None]:
    """Times and frame interval: given, or from a column t_s whose times rise with the frames."""
    if dt_s is None and "t_s" in f:
        times = numbers_of(f["t_s"], "t_s")[order]
        frames, at = np.unique(frame, return_index=True)
        if len(frames) > 1 and np.isfinite(times).all():
            interval = float(np.median(np.diff(times[at]) / np.diff(frames)))
            if interval > 0 and (np.abs(times - frame * interval) < interval / 2).all():
                return times, interval
    return frame * np.float64(1.0 if dt_s is None else dt_s), dt_s


def relatives_of(
    f: pandas.DataFrame,
    name: str,
    order: NDArray[np.int64],
    ids: NDArray[np.int64],
    first: NDArray[np.int64],
) -> NDArray[np.int64] | None:
    """The number of each track's mother (`name`: parent), or of the track that it merges into, -1: none.

    None without such a column."""
    if name not in f or getattr(f[name].dtype, "kind", "O") not in "iuf":
        return None
    values = numbers_of(f[name], name)[order][first]
    values = np.where(np.isfinite(values), values, -1)
    if (values != np.floor(values)).any():
        return None
    relatives = values.astype(np.int64)
    relatives[~np.isin(relatives, ids)] = -1  # those whose tracks were left out
    if name == "parent":
        relatives[relatives == ids] = -1  # btrack's tracks without a mother name themselves
    return relatives


def refuse_untracked(f: pandas.DataFrame) -> None:
    """Rows of no track, whose particle is missing or -1."""
    values = numbers_of(column_of(f, "particle"), "particle")
    bad = np.flatnonzero(~(values >= 0))
    if len(bad):
        raise ValueError(
            f"column 'particle': {values[bad[0]]:g} in the row of index {index_text(f, bad[0])} is not the number of a "
            f"track; leave out such rows, {len(bad)} of {len(f)}: f[f['particle'] >= 0]"
        )


def whole_column(f: pandas.DataFrame, name: Hashable) -> NDArray[np.int64]:
    """A column of whole numbers as int64."""
    column = column_of(f, name)
    if getattr(column.dtype, "kind", "O") in "iu" and isinstance(column.dtype, np.dtype):
        return column.to_numpy(dtype=np.int64)
    values = numbers_of(column, name)
    odd = np.flatnonzero(~(np.isfinite(values) & (values == np.floor(values))))
    if len(odd):
        raise ValueError(
            f"column {name!r}: {values[odd[0]]:g} in the row of index {index_text(f, odd[0])} is not a whole number"
        )
    return values.astype(np.int64)
