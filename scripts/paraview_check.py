"""Opens what `motes track` wrote in ParaView, checks it, and takes screenshots.

usage: pvpython paraview_check.py TRACKS_FOLDER PICTURE.png
"""
import os
import sys

from paraview import servermanager, simple

folder, picture = sys.argv[1:3]
failures = []


def check(condition, what):
    print(("ok    " if condition else "FAILED"), what)
    if not condition:
        failures.append(what)


tracks = simple.XMLPolyDataReader(FileName=[os.path.join(folder, "tracks.vtp")])
tracks.UpdatePipeline()
data = servermanager.Fetch(tracks)
points, lines = data.GetPointData(), data.GetLines()
check(data.GetNumberOfPoints() > 0, f"tracks.vtp has points: {data.GetNumberOfPoints()}")
check(data.GetNumberOfCells() == data.GetNumberOfLines() + data.GetNumberOfVerts(), "cells are polylines and vertices only")
for name in ("frame", "time_s", "speed"):
    check(points.GetArray(name) is not None, f"point array {name}")
for name in ("track_id", "length"):
    check(data.GetCellData().GetArray(name) is not None, f"cell array {name}")

frame = points.GetArray("frame")
ids = data.GetCellData().GetArray("track_id")
step = min((frame.GetValue(k + 1) - frame.GetValue(k) for k in range(data.GetNumberOfPoints() - 1)
            if frame.GetValue(k + 1) > frame.GetValue(k)), default=1)
bridging = repeated = 0
seen = {}
for c in range(data.GetNumberOfCells()):
    cell = data.GetCell(c).GetPointIds()
    frames = [frame.GetValue(cell.GetId(k)) for k in range(cell.GetNumberOfIds())]
    bridging += any(b - a != step for a, b in zip(frames, frames[1:]))
    track = seen.setdefault(ids.GetValue(c), set())
    repeated += bool(track & set(frames))
    track.update(frames)
check(bridging == 0, "no polyline bridges missing frames")
check(repeated == 0, f"no track is twice in a frame; {len(seen)} tracks")

series = simple.PVDReader(FileName=os.path.join(folder, "frames.pvd"))
series.UpdatePipelineInformation()
times = list(series.TimestepValues)
check(len(times) > 1 and times == sorted(set(times)), f"frames.pvd puts {len(times)} times on the slider")
total = 0
for time in times:
    series.UpdatePipeline(time)
    total += servermanager.Fetch(series).GetNumberOfPoints()
check(total == data.GetNumberOfPoints(), "the frames hold each point of the tracks once")

version = simple.GetParaViewVersion()
if (version.major, version.minor) < (5, 12):
    print(f"       tracks.vtkhdf is left out: ParaView {version.major}.{version.minor} is older than 5.12")
else:
    steps = simple.OpenDataFile(os.path.join(folder, "tracks.vtkhdf"))
    steps.UpdatePipelineInformation()
    check(list(steps.TimestepValues) == times, "tracks.vtkhdf puts the same times on the slider")
    differing = 0
    for time in times:
        found = []
        for source in (series, steps):
            source.UpdatePipeline(time)
            step = servermanager.Fetch(source)
            numbers = step.GetPointData().GetArray("track_id")
            found.append(sorted((numbers.GetValue(k), *step.GetPoint(k)) for k in range(step.GetNumberOfPoints())))
        differing += found[0] != found[1]
    check(differing == 0, "each of its steps holds the points and tracks of frames.pvd")

view = simple.CreateView("RenderView")
view.ViewSize = [1000, 800]
view.UseColorPaletteForBackground = 0
view.Background = [0.08, 0.08, 0.1]
shown = simple.Show(tracks, view)
shown.LineWidth = 2.5
simple.ColorBy(shown, ("CELLS", "track_id"))
dots = simple.Show(series, view)
dots.SetRepresentationType("Points")
dots.PointSize = 6
simple.ColorBy(dots, ("POINTS", "speed"))
view.ViewTime = times[len(times) // 2]
simple.ResetCamera(view)
camera = view.GetActiveCamera()
camera.Elevation(-50)
camera.Azimuth(20)
simple.ResetCamera(view)
simple.Render(view)
simple.SaveScreenshot(picture, view)
simple.ColorBy(shown, ("POINTS", "speed"))
simple.Render(view)
simple.SaveScreenshot(os.path.splitext(picture)[0] + "-speed.png", view)
print("screenshots:", picture)
sys.stdout.flush()
os._exit(1 if failures else 0)  # skips the clean-up, in which software OpenGL can fail
