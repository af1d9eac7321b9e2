"""Opens the tracks.vtkhdf that `motes track` wrote with VTK's own reader and compares it with tracks.h5.

usage: vtkhdf_check.py TRACKS_FOLDER     (needs vtk 9.3 or later, h5py and numpy: pip install vtk h5py)
"""
import os
import sys

import h5py
import numpy as np
import vtk
from vtk.util.numpy_support import vtk_to_numpy

folder = sys.argv[1]
with h5py.File(os.path.join(folder, "tracks.h5")) as file:
    tracks = file["tracks"]
    frame, offsets, times = tracks["frame"][:], tracks["track_offsets"][:], tracks["time_s"][:]
    places = np.stack([tracks[f"{axis}_um"][:] for axis in "xyz"], axis=1)
    track_id = np.repeat(tracks["track_id"][:], np.diff(offsets))
    properties = {name: values[:] for name, values in tracks["properties/points"].items()}

failures = []


def check(condition, what):
    print(("ok    " if condition else "FAILED"), what)
    if not condition:
        failures.append(what)


print("VTK", vtk.vtkVersion.GetVTKVersion())
reader = vtk.vtkHDFReader()
reader.SetFileName(os.path.join(folder, "tracks.vtkhdf"))
check(reader.CanReadFile(reader.GetFileName()), "VTK takes the file for VTKHDF")
reader.UpdateInformation()
key = vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS()
steps = list(reader.GetOutputInformation(0).Get(key) or [])
frames = np.unique(frame)
check(len(steps) == len(frames) or len(frames) < 2, f"{len(steps)} times on the slider, {len(frames)} frames")
steps = steps or list(times[:1])  # VTK reports no steps if there is only one
total = wrong = 0
for step, number in zip(steps, frames):
    reader.UpdateTimeStep(step)
    data = reader.GetOutput()
    mine = frame == number
    total += data.GetNumberOfPoints()
    fields = {name: vtk_to_numpy(data.GetPointData().GetArray(name))
              for name in ("track_id", "frame", "speed", *properties)}
    same = (data.GetNumberOfPoints() == mine.sum() == data.GetNumberOfVerts() == data.GetNumberOfCells()
            and abs(times[mine][0] - step) <= 1e-6 * max(1, abs(step))
            and np.array_equal(vtk_to_numpy(data.GetPoints().GetData()), places[mine])
            and np.array_equal(fields["track_id"], track_id[mine]) and (fields["frame"] == number).all()
            and all(np.array_equal(fields[name], values[mine], equal_nan=True)
                    for name, values in properties.items())
            and sorted(data.GetCell(c).GetPointId(0) for c in range(data.GetNumberOfCells()))
            == list(range(data.GetNumberOfPoints())))
    wrong += not same
check(wrong == 0, "each step has its frame's points, tracks, vertices and properties")
check(total == len(frame), f"each of {total} points is there once")
sys.exit(1 if failures else 0)
