#!/usr/bin/env python3
"""Small tables with truth for bench_links --tables: sparse_tables.py FOLDER [--seeds 1,2] [--data DATA]

1 to 40 particles per frame, 3 to 100 frames, two and three dimensions, many kinds of motion and faults, in
several units; with --data also subsets of the real tables (a few particles of every k-th frame). Columns
particle, frame, x, y, z; particle -1 is a false detection. The rows of a frame are shuffled.
"""

import argparse
import csv
import pathlib

import numpy as np


def box(n, dims):
    return n ** (1 / dims)  # mean spacing 1


def start(rng, n, dims, side=None):
    return rng.uniform(0, side or box(n, dims), (n, dims))


def walk(rng, n, frames, dims, step, side=None):
    """step(t, positions) -> displacements; walls reflect."""
    side = side or box(n, dims)
    at = start(rng, n, dims, side)
    out = [at]
    for t in range(1, frames):
        at = at + step(t, at)
        at = np.abs(at)
        at = side - np.abs(side - at)
        out.append(at)
    return np.array(out)  # frames, n, dims


def directions(rng, n, dims):
    v = rng.normal(size=(n, dims))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def brownian(rng, n, frames, dims, ratio):
    return walk(rng, n, frames, dims, lambda t, at: rng.normal(size=at.shape) * ratio / np.sqrt(dims))


def turned_back(at, v, side):
    """The velocities, with those reversed that lead out of the box: walls reflect them too."""
    return np.where((at + v < 0) | (at + v > side), -v, v)


def directed(rng, n, frames, dims, speed, noise=0.1):
    v = directions(rng, n, dims) * speed
    def step(t, at):
        nonlocal v
        v = v + rng.normal(size=v.shape) * noise * speed
        v *= speed / np.linalg.norm(v, axis=1, keepdims=True)
        v = turned_back(at, v, box(n, dims))
        return v
    return walk(rng, n, frames, dims, step)


def confined(rng, n, frames, dims, ratio):
    home = start(rng, n, dims)
    return np.array([home + rng.normal(size=home.shape) * ratio / np.sqrt(2 * dims) for _ in range(frames)])


def rotating(rng, n, frames, dims, angle, own=0.02):
    side = box(n, dims)
    rest = start(rng, n, dims) - side / 2
    out = []
    for t in range(frames):
        c, s = np.cos(angle * t), np.sin(angle * t)
        p = rest.copy()
        p[:, 0], p[:, 1] = c * rest[:, 0] - s * rest[:, 1], s * rest[:, 0] + c * rest[:, 1]
        out.append(p + rng.normal(size=p.shape) * own)
    return np.array(out)


def jumping(rng, n, frames, dims, small, large, share):
    def step(t, at):
        length = np.where(rng.random(n) < share, large, small)
        return directions(rng, n, dims) * (length * rng.uniform(0.5, 1.5, n))[:, None]
    return walk(rng, n, frames, dims, step)


def heavy(rng, n, frames, dims, ratio, degrees=2):
    return walk(rng, n, frames, dims, lambda t, at: np.clip(
        rng.standard_t(degrees, at.shape) * ratio / np.sqrt(dims), -3, 3))


def mixed(rng, n, frames, dims, slow, fast, share):
    length = np.where(np.arange(n) < share * n, fast, slow)
    return walk(rng, n, frames, dims,
                lambda t, at: directions(rng, n, dims) * (length * rng.uniform(0.5, 1.5, n))[:, None])


def drifting(rng, n, frames, dims, drift, own):
    at = start(rng, n, dims)
    out = [at]
    for _ in range(1, frames):
        at = at + directions(rng, 1, dims) * drift * rng.uniform(0.5, 1.5) + rng.normal(size=at.shape) * own
        out.append(at)
    return np.array(out)


def switching(rng, n, frames, dims, ratio):
    v, moving = directions(rng, n, dims), rng.random(n) < 0.5
    def step(t, at):
        nonlocal v, moving
        turned = rng.random(n) < 0.1
        moving = moving ^ turned
        v = np.where(turned[:, None], directions(rng, n, dims), v)
        v = turned_back(at, v * ratio, box(n, dims)) / ratio
        return np.where(moving[:, None], v * ratio, rng.normal(size=v.shape) * 0.2 * ratio)
    return walk(rng, n, frames, dims, step)


def clustered(rng, n, frames, dims, ratio):
    centres = start(rng, 3, dims, 3 * box(n, dims))
    home = centres[rng.integers(0, 3, n)] + rng.normal(size=(n, dims)) * 0.5
    at, out = home, [home]
    for _ in range(1, frames):
        at = at + rng.normal(size=at.shape) * ratio
        out.append(at)
    return np.array(out)


def table(rng, tracks, miss=0, false=0, turnover=0, blink=0, empty=(), duplicates=0, noise=0, pixel=0,
          unit=1):
    """Rows particle, frame, x, y, z of tracks [frames, n, dims], with faults."""
    frames, n, dims = tracks.shape
    low, high = tracks.min(axis=(0, 1)), tracks.max(axis=(0, 1))
    rows, number, dark = [], np.arange(n), rng.random(n) < blink
    at = tracks + rng.normal(size=tracks.shape) * noise
    shift = np.zeros((n, dims))
    fresh = n
    for t in range(frames):
        for k in range(n):
            if t and rng.random() < turnover:  # another particle, somewhere else
                number[k], fresh = fresh, fresh + 1
                shift[k] = rng.uniform(low, high) - tracks[t, k]
            dark[k] = rng.random() < (0.5 if dark[k] else blink / (1 - blink) * 0.5) if blink else False
            if t in empty or dark[k] or rng.random() < miss:
                continue
            p = at[t, k] + shift[k]
            for _ in range(2 if rng.random() < duplicates else 1):
                rows.append((number[k], t, p))
        if t not in empty:
            for _ in range(rng.poisson(false * n)):
                rows.append((-1, t, rng.uniform(low, high)))
    out = []
    for k in rng.permutation(len(rows)):
        number, t, p = rows[k]
        p = p * unit
        if pixel:
            p = np.round(p * pixel)
        out.append((number, t, *p, *([0.0] * (3 - dims))))
    out.sort(key=lambda r: r[1])
    return out


def families(rng):
    yield "brown2d5", table(rng, brownian(rng, 5, 50, 2, 0.3))
    yield "brown3d10", table(rng, brownian(rng, 10, 30, 3, 0.4))
    yield "brown3d20r8", table(rng, brownian(rng, 20, 20, 3, 0.8))
    yield "one", table(rng, brownian(rng, 1, 40, 2, 0.3))
    yield "two", table(rng, brownian(rng, 2, 30, 3, 0.4))
    yield "directed3", table(rng, directed(rng, 3, 60, 2, 0.8))
    yield "directed20", table(rng, directed(rng, 20, 20, 3, 0.6), unit=1e-3)
    yield "directed8fast", table(rng, directed(rng, 8, 25, 2, 1.2, 0.05), unit=100)
    yield "directed15miss", table(rng, directed(rng, 15, 30, 3, 0.5), miss=0.15, false=0.1)
    yield "confined8", table(rng, confined(rng, 8, 100, 2, 0.4), unit=50)
    yield "confined15blink", table(rng, confined(rng, 15, 60, 2, 0.2), blink=0.3)
    yield "rotating6", table(rng, rotating(rng, 6, 40, 2, 0.35))
    yield "rotating6faults", table(rng, rotating(rng, 6, 40, 2, 0.35), miss=0.1, false=0.1)
    yield "rotating6d3faults", table(rng, rotating(rng, 6, 30, 3, 0.5), miss=0.05, false=0.1)
    yield "rotating20", table(rng, rotating(rng, 20, 20, 3, 0.3), miss=0.05)
    yield "jumps10", table(rng, jumping(rng, 10, 40, 2, 0.1, 1.3, 0.05))
    yield "jumps25", table(rng, jumping(rng, 25, 20, 3, 0.05, 0.9, 0.15))
    yield "jumps5", table(rng, jumping(rng, 5, 80, 2, 0.02, 1.0, 0.02), unit=1000)
    yield "heavy15", table(rng, heavy(rng, 15, 30, 2, 0.15))
    yield "heavy30faults", table(rng, heavy(rng, 30, 20, 3, 0.15), miss=0.05, false=0.1)
    yield "mixed25faults", table(rng, mixed(rng, 25, 20, 3, 0.02, 0.5, 0.4), miss=0.05, false=0.05)
    yield "mixed25slow", table(rng, mixed(rng, 25, 20, 3, 0.01, 0.4, 0.1), miss=0.1, false=0.1)
    yield "mixed12", table(rng, mixed(rng, 12, 50, 2, 0.05, 0.6, 0.3))
    yield "three12", table(rng, brownian(rng, 12, 3, 3, 0.4))
    yield "three40", table(rng, brownian(rng, 40, 3, 3, 0.6))
    yield "three8drift", table(rng, drifting(rng, 8, 3, 2, 0.5, 0.05))
    yield "three20faults", table(rng, brownian(rng, 20, 3, 2, 0.2), miss=0.1, false=0.1)
    yield "five5", table(rng, brownian(rng, 5, 5, 2, 0.3))
    yield "five30faults", table(rng, brownian(rng, 30, 5, 3, 0.3), miss=0.1, false=0.1)
    yield "empty8", table(rng, brownian(rng, 8, 30, 2, 0.25), empty=(12,))
    yield "empty20", table(rng, directed(rng, 20, 20, 3, 0.3), empty=(5, 6), miss=0.05)
    yield "duplicates10", table(rng, brownian(rng, 10, 30, 2, 0.3), duplicates=0.1)
    yield "duplicates30", table(rng, brownian(rng, 30, 15, 3, 0.3), duplicates=0.3, false=0.05)
    yield "false10", table(rng, brownian(rng, 10, 40, 2, 0.2), false=0.3)
    yield "false4", table(rng, brownian(rng, 4, 60, 3, 0.15), false=0.5)
    yield "missed15", table(rng, brownian(rng, 15, 40, 3, 0.25), miss=0.3)
    yield "turnover20", table(rng, brownian(rng, 20, 30, 2, 0.25), turnover=0.1)
    yield "drift10", table(rng, drifting(rng, 10, 30, 2, 0.7, 0.03))
    yield "drift5faults", table(rng, drifting(rng, 5, 40, 3, 0.6, 0.05), miss=0.05, false=0.1)
    yield "pixel10", table(rng, brownian(rng, 10, 40, 2, 0.15), pixel=10)
    yield "rest10", table(rng, brownian(rng, 10, 20, 2, 0), miss=0.1)
    yield "rest12noise", table(rng, brownian(rng, 12, 60, 2, 0), noise=0.05, false=0.1, blink=0.2)
    yield "switching20", table(rng, switching(rng, 20, 60, 2, 0.6))
    yield "switching40faults", table(rng, switching(rng, 40, 25, 3, 0.5), miss=0.05, false=0.05)
    yield "clusters30", table(rng, clustered(rng, 30, 20, 2, 0.05))
    yield "clusters30fast", table(rng, clustered(rng, 30, 20, 3, 0.15), miss=0.05)
    yield "brown40r3", table(rng, brownian(rng, 40, 100, 2, 0.3), turnover=0.02, miss=0.03)
    yield "faults12", table(rng, brownian(rng, 12, 50, 2, 0.35), miss=0.1, false=0.1, turnover=0.03)


def read(file, particle, frame, x="x", y="y", z="z"):
    with open(file) as f:
        rows = list(csv.DictReader(f))
    return np.array([[float(r[name]) for name in (particle, frame, x, y, z)] for r in rows])


def lineage(file):
    """Converts spots with id and parent to particles, each from its start or a division to the next one."""
    rows = read(file, "id", "t")
    with open(file) as f:
        parent = {int(r["id"]): int(r["parent"]) for r in csv.DictReader(f)}
    children = {}
    for child, mother in parent.items():
        children.setdefault(mother, []).append(child)
    first = {}
    for one in sorted(parent, key=dict(zip(rows[:, 0].astype(int), rows[:, 1])).get):
        mother = parent[one]
        only = mother in first and len(children[mother]) == 1
        first[one] = first[mother] if only else one
    rows[:, 0] = [first[int(r)] for r in rows[:, 0]]
    return rows


def part(rng, rows, frames, step, particles):
    """Every step-th frame of a range of frames, with a few particles that are in most of them."""
    all_frames = np.unique(rows[:, 1])[::step]
    begin = rng.integers(0, max(1, len(all_frames) - frames + 1))
    kept = all_frames[begin:begin + frames]
    rows = rows[np.isin(rows[:, 1], kept)]
    number, count = np.unique(rows[:, 0], return_counts=True)
    long = number[count >= 0.6 * len(kept)]
    if len(long) < particles:
        long = number[np.argsort(-count, kind="stable")[:particles]]
    # Neighbours of one particle: particles far apart are too easy to link.
    mean = np.array([rows[rows[:, 0] == n][:, 2:].mean(axis=0) for n in long])
    if rng.random() < 0.5:
        near = np.argsort(np.linalg.norm(mean - mean[rng.integers(len(long))], axis=1))[:particles]
    else:
        near = rng.permutation(len(long))[:particles]
    rows = rows[np.isin(rows[:, 0], long[near])]
    rows = rows[rng.permutation(len(rows))]
    return [(int(r[0]), int(np.searchsorted(kept, r[1])), *r[2:]) for r in rows]


def real_families(rng, data):
    worm = read(data / "wormguides-dispim/truth.csv", "particle", "frame")
    for step, particles, frames in ((1, 5, 40), (2, 8, 40), (5, 5, 40), (10, 10, 30), (10, 4, 36), (20, 8, 18),
                                    (5, 30, 30), (10, 40, 20), (20, 40, 18)):
        yield f"worm{particles}k{step}", part(rng, worm, frames, step, particles)
    for colour in ("red", "black", "green"):
        rods = read(data / f"granular-rods/rods_df_{colour}.csv", "particle", "frame")
        for step, particles in ((1, 10), (2, 6), (5, 25), (1, 25)):
            yield f"rods{colour}{particles}k{step}", part(rng, rods, 20, step, particles)
    for name in ("Pm02", "Pm08"):
        embryo = lineage(data / f"ascidian-astec/{name}.csv")
        for step, particles in ((1, 6), (5, 10), (10, 30), (10, 8)):
            yield f"{name}x{particles}k{step}", part(rng, embryo, 30, step, particles)
    nuclei = lineage(data / "tgmm-mini/tgmm-mini.csv")
    for step, particles in ((1, 10), (5, 10), (10, 40), (5, 40)):
        yield f"tgmm{particles}k{step}", part(rng, nuclei, 31, step, particles)
    tracers = read(data / "lpt-turbulence-10k/tracks.csv", "track", "frame")
    for particles in (10, 40):
        yield f"lpt{particles}", part(rng, tracers, 4, 1, particles)


def main():
    arguments = argparse.ArgumentParser(description=__doc__,
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--seeds", default="1")
    arguments.add_argument("--data", type=pathlib.Path)
    given = arguments.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for seed in given.seeds.split(","):
        rng = np.random.default_rng(int(seed))
        made = list(families(rng))
        if given.data:
            made += list(real_families(rng, given.data))
        for name, rows in made:
            with open(given.folder / f"{name}_{seed}.csv", "w") as f:
                f.write("particle,frame,x,y,z\n")
                for number, frame, *p in sorted(rows, key=lambda r: r[1]):
                    f.write(f"{number},{frame},{p[0]:.9g},{p[1]:.9g},{p[2]:.9g}\n")


if __name__ == "__main__":
    main()
