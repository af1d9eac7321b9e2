#!/usr/bin/env python3
"""Compares series models with trackpy and laptrack (PyPI) on small simulated tables, in one command:

    python3 -m venv VENV && VENV/bin/pip install trackpy laptrack
    VENV/bin/python bench/peer_tables.py FILE.csv [--motes build/release/bin/motes] [--seeds 1,2,3] [--only a,b] [--pairs]

Every linker gets the same shuffled rows and is scored by the same code: F1 of links between consecutive detected
positions of a particle, gaps included; links between two false detections do not count. motes runs with default
settings. A peer runs at the best of four ranges (and, if detections are missed, of gaps of 0 and 2 frames), chosen
by the truth, which favours it, and at its defaults: laptrack has a range of 15 units and gaps of 2 frames; trackpy
has no default range and gets the mean spacing. A run that fails or takes longer than 10 s scores 0. FILE.csv has the
median, the lowest and the highest over the seeds.
"""

import argparse
import contextlib
import datetime
import functools
import importlib.metadata
import io
import multiprocessing
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import warnings
import zlib

import numpy as np

import sparse_tables as made

RANGES = {"trackpy": (0.35, 0.5, 0.75, 1.0), "laptrack": (0.5, 0.75, 1.0, 1.5)}
AXES = ["x", "y", "z"]


def swimmers(rng, n, frames):
    """Particles on circles and spirals, each with its own speed and turning rate."""
    heading, turn, speed = rng.uniform(0, 2 * np.pi, n), rng.normal(0, 0.5, n), rng.uniform(0.2, 0.6, (n, 1))

    def step(t, at):
        nonlocal heading
        heading = heading + turn + rng.normal(size=n) * 0.1
        v = made.turned_back(at, np.c_[np.cos(heading), np.sin(heading)] * speed, made.box(n, 2))
        heading = np.arctan2(v[:, 1], v[:, 0])
        return v

    return made.walk(rng, n, frames, 2, step)


def schooling(rng, n, frames, speed):
    """Fish that turn towards the mean direction of those within 1.5 spacings, in two dimensions."""
    heading = rng.uniform(0, 2 * np.pi, n)

    def step(t, at):
        nonlocal heading
        near = np.linalg.norm(at[None] - at[:, None], axis=2) < 1.5
        mean = np.arctan2((near * np.sin(heading)).sum(1), (near * np.cos(heading)).sum(1))
        turn = 0.4 * np.angle(np.exp(1j * (mean - heading))) + rng.normal(size=n) * 0.25
        v = np.c_[np.cos(heading + turn), np.sin(heading + turn)] * speed * rng.uniform(0.6, 1.4, (n, 1))
        v = made.turned_back(at, v, made.box(n, 2))
        heading = np.arctan2(v[:, 1], v[:, 0])
        return v

    return made.walk(rng, n, frames, 2, step)


def sheared(rng, n, frames, rate, own):
    """A flow along x that grows with y."""
    at, middle = made.start(rng, n, 2), made.box(n, 2) / 2
    out = [at]
    for _ in range(1, frames):
        at = at + np.c_[rate * (at[:, 1] - middle), np.zeros(n)] + rng.normal(size=at.shape) * own
        out.append(at)
    return np.array(out)


def jumping_stage(rng, n, frames, ratio):
    """Brownian particles under a stage that jumps by two spacings, three times."""
    tracks = made.brownian(rng, n, frames, 2, ratio)
    for t in rng.choice(np.arange(1, frames), 3, replace=False):
        tracks[t:] += made.directions(rng, 1, 2) * 2
    return tracks


def replaced(rng, n, frames, angle):
    """Particles rotate, and are replaced one by one by others that rotate about another centre."""
    first = made.rotating(rng, n, frames, 2, angle)
    second = made.rotating(rng, n, frames, 2, angle) + [made.box(n, 2) * 0.7, 0]
    when = rng.integers(2, frames - 2, n)
    rows = [(k, t, *first[t, k], 0.0) if t < when[k] else (k + n, t, *second[t, k], 0.0)
            for t in range(frames) for k in range(n)]
    return sorted((rows[k] for k in rng.permutation(len(rows))), key=lambda r: r[1])


def passing(rng, n, frames, speed, own):
    """Particles that a flow carries through the field of view."""
    side = made.box(n, 2)
    tracks = [rng.uniform(0, 1, (6 * n, 2)) * [6 * side, side] - [5 * side, 0]]
    for _ in range(1, frames):
        tracks.append(tracks[-1] + [speed, 0] + rng.normal(size=(6 * n, 2)) * own)
    rows = [(k, t, *tracks[t][k], 0.0) for t in range(frames) for k in range(6 * n)
            if np.all((tracks[t][k] >= 0) & (tracks[t][k] <= side))]
    return sorted((rows[k] for k in rng.permutation(len(rows))), key=lambda r: r[1])


def noisy_z(tracks, rng, xy, z):
    return tracks + rng.normal(size=tracks.shape) * np.array([xy, xy, z])


# Name: (whether detections are missed, rows). Lengths are in mean spacings.
FAMILIES = {
    "brown6": (0, lambda r: made.table(r, made.brownian(r, 6, 40, 2, 0.4))),
    "brown15": (0, lambda r: made.table(r, made.brownian(r, 15, 30, 2, 0.4))),
    "brown100": (0, lambda r: made.table(r, made.brownian(r, 100, 20, 2, 0.3))),
    "brown20nm": (0, lambda r: made.table(r, made.brownian(r, 20, 30, 2, 0.3), unit=2000)),
    "brown30fast": (0, lambda r: made.table(r, made.brownian(r, 30, 20, 3, 0.8))),
    "short2": (0, lambda r: made.table(r, made.brownian(r, 60, 2, 2, 0.3))),
    "short3": (0, lambda r: made.table(r, made.brownian(r, 40, 3, 3, 0.4))),
    "short5faults": (1, lambda r: made.table(r, made.brownian(r, 50, 5, 3, 0.35), miss=0.1, false=0.05)),
    "replaced40": (0, lambda r: replaced(r, 40, 20, 0.15)),
    "passing60": (0, lambda r: passing(r, 60, 25, 0.4, 0.05)),
    "directed20": (1, lambda r: made.table(r, made.directed(r, 20, 20, 3, 0.6), miss=0.1)),
    "directed15faults": (1, lambda r: made.table(r, made.directed(r, 15, 30, 3, 0.5), miss=0.15, false=0.1)),
    "far60": (1, lambda r: made.table(r, made.directed(r, 60, 30, 3, 1.3), miss=0.05)),
    "schooling40": (1, lambda r: made.table(r, schooling(r, 40, 60, 0.5), miss=0.05)),
    "swimmers40": (0, lambda r: made.table(r, swimmers(r, 40, 30))),
    "sheared80": (1, lambda r: made.table(r, sheared(r, 80, 10, 0.1, 0.05), miss=0.05)),
    "rotating20": (1, lambda r: made.table(r, made.rotating(r, 20, 20, 3, 0.3), miss=0.05)),
    "stage25": (0, lambda r: made.table(r, jumping_stage(r, 25, 25, 0.15))),
    "confined15blink": (1, lambda r: made.table(r, made.confined(r, 15, 60, 2, 0.2), blink=0.3)),
    "brown30blink": (1, lambda r: made.table(r, made.brownian(r, 30, 40, 2, 0.2), blink=0.3)),
    "mixed25": (1, lambda r: made.table(r, made.mixed(r, 25, 20, 3, 0.02, 0.5, 0.4), miss=0.05, false=0.05)),
    "switching40": (1, lambda r: made.table(r, made.switching(r, 40, 25, 3, 0.5), miss=0.05, false=0.05)),
    "noisyz60": (0, lambda r: made.table(r, noisy_z(made.brownian(r, 60, 25, 3, 0.15), r, 0.06, 0.2))),
    "false50": (1, lambda r: made.table(r, made.brownian(r, 50, 20, 2, 0.15), false=0.5, miss=0.1)),
    "turnover20": (0, lambda r: made.table(r, made.brownian(r, 20, 30, 2, 0.25), turnover=0.1)),
    "pixels10": (0, lambda r: made.table(r, made.brownian(r, 10, 40, 2, 0.15), pixel=10)),
    "clusters30": (1, lambda r: made.table(r, made.clustered(r, 30, 20, 3, 0.15), miss=0.05)),
}
# Two frames.
PAIRS = {
    "pair-brown": (0, lambda r: made.table(r, made.brownian(r, 100, 2, 2, 0.3))),
    "pair-brown3d": (0, lambda r: made.table(r, made.brownian(r, 300, 2, 3, 0.4))),
    "pair-drifting": (0, lambda r: made.table(r, made.drifting(r, 100, 2, 2, 0.7, 0.08))),
    "pair-rotating": (0, lambda r: made.table(r, made.rotating(r, 100, 2, 2, 0.1))),
    "pair-mixed": (0, lambda r: made.table(r, made.mixed(r, 100, 2, 2, 0.03, 0.6, 0.3))),
    "pair-faults": (0, lambda r: made.table(r, made.brownian(r, 200, 2, 2, 0.2), miss=0.1, false=0.1)),
    "pair-turnover": (0, lambda r: made.table(r, made.brownian(r, 200, 2, 3, 0.2), turnover=0.15)),
}


def links(tracks):
    """Pairs of rows (frame and position) that follow each other in a track."""
    rows = {}
    for particle, frame, *at in tracks:
        rows.setdefault(int(particle), []).append((int(frame), *(float(f"{p:.6g}") for p in at)))
    return {pair for own in rows.values() for pair in zip(sorted(own), sorted(own)[1:])}


def f1(rows, tracks):
    true = links(r for r in rows if r[0] >= 0)
    false = {(int(r[1]), *(float(f"{p:.6g}") for p in r[2:])) for r in rows if r[0] < 0}
    found = {pair for pair in links(tracks) if not (pair[0] in false and pair[1] in false)}
    return 2 * len(found & true) / max(1, len(found) + len(true))


def by_motes(motes, rows, *options):
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder, "points.csv")
        with open(table, "w") as f:
            f.write("frame,x,y,z\n")
            f.writelines(f"{frame},{x:.9g},{y:.9g},{z:.9g}\n" for _, frame, x, y, z in rows)
        subprocess.run([motes, "track", table, "-o", f"{folder}/out", "--quiet", "--set", "input.voxel_um=1",
                        *options], check=True, capture_output=True)
        return made.read(f"{folder}/out/tracks.csv", "particle", "frame")


def by_peer(peer, rows, reach, gap):
    import pandas as pd

    points = pd.DataFrame([r[1:] for r in rows], columns=["frame", *AXES]).drop_duplicates()
    points = points.reset_index(drop=True)
    if peer == "trackpy":
        import trackpy

        trackpy.quiet()
        tracks = trackpy.link(points, reach, pos_columns=AXES, memory=gap)
    else:
        import laptrack

        given = {} if reach is None else {"cutoff": reach**2, "gap_closing_cutoff": reach**2,
                                          "gap_closing_max_frame_count": gap}
        linker = laptrack.LapTrack(splitting_cutoff=False, merging_cutoff=False, **given)
        tracks = linker.predict_dataframe(points, coordinate_cols=AXES, frame_col="frame",
                                          only_coordinate_cols=True)[0].reset_index()
        tracks = tracks.rename(columns={"track_id": "particle"})
    return tracks[["particle", "frame", *AXES]].to_numpy()


@contextlib.contextmanager
def within(seconds):
    def late(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def tried(rows, peer, reach, gap):
    try:
        with within(10), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return f1(rows, by_peer(peer, rows, reach, gap))
    except Exception as error:  # e.g. a subnet that is too large, or the time limit
        print(f"{peer}, range {reach}, gap {gap}: {type(error).__name__}", file=sys.stderr)
        return 0.0


def compared(motes, rows, missed):
    """Linker: F1 of one table."""
    at = np.array([r[2:] for r in rows])
    extent = np.ptp(at, axis=0)
    dims = np.count_nonzero(extent)
    frames = len({r[1] for r in rows})
    spacing = (np.prod(extent[extent > 0]) * frames / len(rows)) ** (1 / dims)
    out = {"motes": f1(rows, by_motes(motes, rows)),
           "motes pairs": f1(rows, by_motes(motes, rows, "--set", "linking.scope=pairs"))}
    for peer, parts in RANGES.items():
        gaps = (0, 2) if missed else (0,)
        out[peer] = max(tried(rows, peer, part * spacing, gap) for part in parts for gap in gaps)
        out[f"{peer} default"] = tried(rows, peer, spacing if peer == "trackpy" else None, 0)
    return out


def scored(motes, seeds, name):
    """Linker: F1 of a family's tables, one per seed."""
    warnings.filterwarnings("ignore")
    missed, make = (FAMILIES | PAIRS)[name]
    out = {}
    for seed in seeds:
        rows = make(np.random.default_rng([int(seed), zlib.crc32(name.encode())]))
        for linker, score in compared(motes, rows, missed).items():
            out.setdefault(linker, []).append(score)
    return out


def heading(seeds, pairs=False):
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    versions = ", ".join(f"{peer} {importlib.metadata.version(peer)}" for peer in RANGES)
    command = f"bench/peer_tables.py FILE.csv --seeds {seeds}" + " --pairs" * pairs
    return [f"# {command}: link F1; lengths in mean spacings",
            f"# {os.cpu_count()}-core {platform.machine()}, motes {commit}, {versions}, {datetime.date.today()}"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("file", type=pathlib.Path)
    arguments.add_argument("--motes", default="build/release/bin/motes")
    arguments.add_argument("--seeds", default="1,2,3")
    arguments.add_argument("--only", default="")
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--pairs", action="store_true", help="tables of two frames instead")
    given = arguments.parse_args()
    names = [name for name in (PAIRS if given.pairs else FAMILIES) if not given.only or name in given.only.split(",")]
    lines, all_of = [*heading(given.seeds, given.pairs), "family,linker,median,lowest,highest"], {}
    with multiprocessing.Pool(given.jobs) as pool:
        task = functools.partial(scored, given.motes, given.seeds.split(","))
        for name, scores in zip(names, pool.imap(task, names, chunksize=1)):
            for linker, of in scores.items():
                lines.append(f"{name},{linker},{statistics.median(of):.4f},{min(of):.4f},{max(of):.4f}")
                all_of.setdefault(linker, []).extend(of)
            print(name, *(f"{k} {statistics.median(v):.3f}" for k, v in scores.items()), sep="  ", flush=True)
    lines += [f"mean,{k},{statistics.mean(v):.4f},," for k, v in all_of.items()]
    given.file.write_text("\n".join(lines) + "\n")
    print("\n".join(lines[-len(all_of):]))


if __name__ == "__main__":
    main()
