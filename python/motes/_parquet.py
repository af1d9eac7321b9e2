"""Tracks as Arrow tables and Parquet files, with pyarrow if it is installed."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._core import InputError

if TYPE_CHECKING:
    import pyarrow

    from .tracks import Tracks

#: Prefix of a property of tracks, whose value is repeated in every row of the track.
_OF_TRACK = "track:"
_KEY = b"motes"
_OWN = ("particle", "frame", "t_s", "detection", "parent", "merged_into")


def _pyarrow(what: str) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ModuleNotFoundError(f"{what} needs pyarrow: pip install pyarrow") from None
    return pyarrow


def to_arrow(tracks: Tracks) -> pyarrow.Table:
    """One row per point; unit and frame interval are in the schema's metadata."""
    pyarrow = _pyarrow("to_arrow")
    repeat = np.diff(tracks.offsets)
    unit = "" if tracks.unit == "px" else "_" + tracks.unit
    columns: dict[str, Any] = {"particle": tracks.particle, "frame": tracks.frame, "t_s": tracks.time_s}
    columns.update({axis + unit: getattr(tracks, axis) for axis in "xyz"})
    columns["detection"] = tracks.detection
    for name in ("parent", "merged_into"):
        if (relatives := getattr(tracks, name)) is not None:
            columns[name] = np.repeat(relatives, repeat)
    columns.update(tracks.point_properties)
    for name, values in tracks.track_properties.items():
        columns[_OF_TRACK + name] = np.repeat(values, repeat)
    about = {"format": 1, "unit": tracks.unit, "dt_s": tracks.dt_s}
    return pyarrow.table(columns, metadata={_KEY: json.dumps(about).encode()})


def write_parquet(path: str | os.PathLike[str], tracks: Tracks) -> None:
    """Writes the file, which appears whole or not at all."""
    pyarrow = _pyarrow(os.fspath(path))
    table = to_arrow(tracks)
    path = os.fspath(path)
    beside = f"{path}.{secrets.token_hex(4)}.tmp"
    try:
        with open(beside, "xb") as file:
            pyarrow.parquet.write_table(table, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        if os.path.exists(beside):
            os.unlink(beside)
        raise


def is_parquet(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"PAR1"
    except OSError:
        return False


def read_parquet(
    path: str, voxel_um: float | Sequence[float] | None = None, dt_s: float | None = None
) -> dict[str, Any]:
    """Fields of Tracks, from a file of motes or any table with particle, frame, x, y and z."""
    pyarrow = _pyarrow(path)
    try:
        table = pyarrow.parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{path}: {str(error).splitlines()[0]}; write it again") from None
    return _fields(path, table, voxel_um, dt_s)


def _fields(path: str, table: Any, voxel_um: Any, dt_s: float | None) -> dict[str, Any]:
    try:
        about = json.loads((table.schema.metadata or {}).get(_KEY, b"{}"))
    except ValueError:
        about = {}
    columns: dict[str, NDArray[Any]] = {}
    for name in table.column_names:
        if name in columns:
            raise InputError(f"{path}: two columns are called {name!r}; rename one")
        columns[name] = table.column(name).to_numpy()
    unit, axes = _positions(path, columns, about, voxel_um)
    for name in ("particle", "frame"):
        if name not in columns:
            raise InputError(f"{path}: no column {name!r}; it has {', '.join(map(str, columns))}")
    particle, frame = (_whole(path, name, columns[name]) for name in ("particle", "frame"))
    order = np.lexsort((frame, particle))
    if len(order) and ((np.diff(particle[order]) == 0) & (np.diff(frame[order]) == 0)).any():
        raise InputError(f"{path}: a particle has two points in one frame; give each track its own number")
    ids, first = np.unique(particle[order], return_index=True)
    dt_s = about.get("dt_s") if dt_s is None else float(dt_s)
    kept = {"particle", "frame", *axes}
    numbers = {
        name: np.asarray(values, dtype=np.float64)[order]
        for name, values in columns.items()
        if name not in kept and name not in _OWN and getattr(values, "dtype", None) is not None
        and values.dtype.kind in "iufb"
    }  # fmt: skip
    time = columns.get("t_s") if dt_s is None or dt_s == about.get("dt_s") else None
    frame = frame[order].astype(np.int32)
    out: dict[str, Any] = dict(
        offsets=np.append(first, len(order)).astype(np.int64),
        track_id=ids,
        frame=frame,
        time_s=frame * (1.0 if dt_s is None else dt_s) if time is None else np.asarray(time, float)[order],
        detection=np.full(len(order), -1) if "detection" not in columns else columns["detection"][order],
        parent=columns["parent"][order][first] if "parent" in columns else None,
        merged_into=columns["merged_into"][order][first] if "merged_into" in columns else None,
        point_properties={k: v for k, v in numbers.items() if not k.startswith(_OF_TRACK)},
        track_properties={
            k[len(_OF_TRACK) :]: v[first] for k, v in numbers.items() if k.startswith(_OF_TRACK)
        },
        unit=unit,
        dt_s=dt_s,
    )
    for axis, (values, scale) in zip("xyz", axes.values()):
        out[axis] = values[order] * scale if scale != 1 else values[order]
    return out


def _positions(
    path: str, columns: dict[str, NDArray[Any]], about: dict[str, Any], voxel_um: Any
) -> tuple[str, dict[str, tuple[NDArray[np.float64], float]]]:
    """The unit, and for each axis the column and its factor."""
    plain = "x" in columns and "y" in columns
    if not plain and not ("x_um" in columns and "y_um" in columns):
        raise InputError(f"{path}: no columns x and y, or x_um and y_um; it has {', '.join(map(str, columns))}")
    if not plain:
        unit, names, scales = "um", ("x_um", "y_um", "z_um"), (1.0, 1.0, 1.0)
    elif voxel_um is not None:
        z, y, x = np.broadcast_to(np.asarray(voxel_um, dtype=float), 3).tolist()
        unit, names, scales = "px" if (x, y, z) == (1, 1, 1) else "um", ("x", "y", "z"), (x, y, z)
    elif about.get("unit") == "px":
        unit, names, scales = "px", ("x", "y", "z"), (1.0, 1.0, 1.0)
    else:
        raise InputError(f"{path}: x, y, z have no unit; give voxel_um, the length of one unit (1: px)")
    rows = len(columns[names[0]])
    axes: dict[str, tuple[NDArray[np.float64], float]] = {}
    for name, scale in zip(names, scales):
        values = columns.get(name, np.zeros(rows))
        try:
            values = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"{path}: column {name!r} does not hold numbers") from None
        if not np.isfinite(values).all():
            raise InputError(f"{path}: column {name!r} holds values that are not finite; leave them out")
        axes[name] = values, scale
    return unit, axes


def _whole(path: str, name: str, values: NDArray[Any]) -> NDArray[np.int64]:
    try:
        whole = np.asarray(values).astype(np.int64)
        good = (whole == values).all() and (name != "frame" or (abs(whole) < 2**31).all())
    except (TypeError, ValueError):
        good = False
    if not good:
        raise InputError(f"{path}: column {name!r} does not hold whole numbers")
    return whole
