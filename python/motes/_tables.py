"""Tables of points, checked: columns, numbers, frames."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas


def require_table(f: Any) -> None:
    """Refuses what is not a pandas.DataFrame, with what to do for tables of other libraries."""
    import pandas

    if isinstance(f, pandas.DataFrame):
        return
    kind = type(f)
    hint = "see link_iter for arrays"
    if hasattr(kind, "to_pandas"):
        hint = "give table.to_pandas()"
    elif hasattr(kind, "collect"):
        hint = "give table.collect().to_pandas()"
    elif hasattr(kind, "compute"):
        hint = "give table.compute()"
    raise TypeError(f"give a pandas.DataFrame, not {kind.__name__}; {hint}")


def column_of(f: pandas.DataFrame, name: Hashable) -> Any:
    """One column; a name that two columns have is refused."""
    if name not in f:
        raise ValueError(f"no column {name!r}; the table has {names_of(f)}")
    column = f[name]
    if column.ndim != 1:
        raise ValueError(f"{column.shape[1]} columns are called {name!r}; rename or drop all but one")
    return column


def names_of(f: pandas.DataFrame) -> str:
    names = [str(name) for name in f.columns]
    return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "") if names else "no columns"


def position_columns(f: pandas.DataFrame, pos_columns: Any) -> list[Any]:
    if pos_columns is not None:
        columns = [pos_columns] if isinstance(pos_columns, str) else list(pos_columns)
    else:
        for names in (("z", "y", "x"), ("z_um", "y_um", "x_um")):
            if names[1] in f and names[2] in f:
                columns = [name for name in names if name in f]
                break
        else:
            raise ValueError(
                "no columns x, y (and z) or x_um, y_um (and z_um); give pos_columns: the table has " + names_of(f)
            )
    if not 1 <= len(columns) <= 3:
        raise ValueError(f"pos_columns: give one to three names, not {len(columns)}")
    if len(set(columns)) < len(columns):
        raise ValueError(f"pos_columns: {columns} name a column twice")
    for name in columns:
        column_of(f, name)
    return columns


def numbers_of(column: Any, name: Hashable) -> NDArray[np.float64]:
    """A column as float64; text that is not numbers, and absent values as NaN, are told by name."""
    kind = getattr(column.dtype, "kind", "O")
    if kind in "cmM":
        raise ValueError(f"column {name!r} holds {column.dtype}, not {'real ' * (kind == 'c')}numbers")
    try:
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise ValueError(f"column {name!r} holds {column.dtype}, not numbers") from None


def index_text(f: pandas.DataFrame, row: Any) -> str:
    label = f.index[row]
    return repr(label.item() if isinstance(label, np.generic) else label)


def refuse_missing(f: pandas.DataFrame, values: NDArray[np.float64], name: Hashable) -> None:
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise ValueError(
            f"column {name!r}: {len(bad)} of {len(values)} values are not finite, the first in the row "
            f"of index {index_text(f, bad[0])}; leave them out: f[np.isfinite(f[{name!r}])]"
        )


def sorted_by_frame(f: Any, t_column: Hashable) -> Any:
    """A copy by rising frame numbers, which are integers."""
    require_table(f)
    if t_column not in f:
        if t_column in f.index.names:
            raise ValueError(f"{t_column!r} is the index, not a column; give f.reset_index()")
        raise ValueError(
            f"no column {t_column!r}; t_column names the column of frame numbers: the table has {names_of(f)}"
        )
    column = column_of(f, t_column)
    f = f.copy()
    if not (isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu"):
        if getattr(column.dtype, "kind", "O") not in "iufbO":
            raise ValueError(f"column {t_column!r} holds {column.dtype}, not frame numbers")
        frames = numbers_of(column, t_column)
        refuse_missing(f, frames, t_column)
        if (frames != np.floor(frames)).any():
            odd = frames[frames != np.floor(frames)][0]
            raise ValueError(f"column {t_column!r}: {odd:g} is not a frame number; frames are integers")
        f[t_column] = frames.astype(np.int64)
    if not f[t_column].is_monotonic_increasing:
        # Not sort_values: an index may have the column's name.
        f = f.iloc[np.argsort(f[t_column].to_numpy(), kind="stable")]
    return f
