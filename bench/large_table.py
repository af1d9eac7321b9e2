#!/usr/bin/env python3
"""Writes a table of detections frame by frame: large_table.py FILE.h5 [FRAMES [PARTICLES]] (h5py, numpy).

Particles in a cube with reflecting walls, one per cubic micrometre. Steps have a mean length of 0.2 um, and half of
each step repeats the previous one; every frame lists the particles in another order.
"""
import sys

import h5py
import numpy as np

path = sys.argv[1]
frames = int(sys.argv[2]) if len(sys.argv) > 2 else 100
particles = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000
random = np.random.default_rng(4)
side = particles ** (1 / 3)
persistence = 0.5
spread = 0.2 / np.sqrt(8 / np.pi)  # of each axis, for this mean length
places = random.random((particles, 3)) * side
steps = random.normal(0, spread, places.shape)
with h5py.File(path, "w") as file:
    file.attrs["format_version"] = np.int64(1)
    file.attrs["dt_s"] = 1.0
    file.attrs["units"] = "um"
    group = file.create_group("detections")
    group["frame"] = np.arange(frames, dtype=np.int32)
    group["time_s"] = np.arange(frames, dtype=float)
    group["frame_offsets"] = np.arange(frames + 1, dtype=np.int64) * particles
    columns = [group.create_dataset(name, (frames * particles,), float, chunks=(min(particles, 65536),), shuffle=True,
                                    compression=1) for name in ("x_um", "y_um", "z_um")]
    for frame in range(frames):
        order = random.permutation(particles)
        for axis, column in enumerate(columns):
            column[frame * particles:(frame + 1) * particles] = np.round(places[order, axis], 4)
        places += steps
        steps = persistence * steps + random.normal(0, spread * np.sqrt(1 - persistence**2), steps.shape)
        outside = (places < 0) | (places > side)
        places = np.where(places < 0, -places, np.where(places > side, 2 * side - places, places))
        steps = np.where(outside, -steps, steps)
