#!/usr/bin/env python3
"""Converts tables of spots with parents (id, parent, t, z, y, x) to tables of tracks: particle, frame, x, y, z, parent.

    bench/lineage_table.py SPOTS.csv TRACKS.csv

A particle is a chain of spots without a branch; a branch ends it, and it is the parent of its daughters."""
import csv
import sys


def main(source, target):
    with open(source, newline="") as file:
        spots = list(csv.DictReader(file))
    children = {}
    for spot in spots:
        if int(spot["parent"]) >= 0:
            children.setdefault(spot["parent"], []).append(spot["id"])
    particle, mother = {}, []
    for spot in sorted(spots, key=lambda s: (int(s["t"]), int(s["id"]))):
        before = spot["parent"]
        if int(before) >= 0 and len(children[before]) == 1:
            particle[spot["id"]] = particle[before]
        else:
            particle[spot["id"]] = len(mother)
            mother.append(particle[before] if int(before) >= 0 else -1)
    with open(target, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["particle", "frame", "x", "y", "z", "parent"])
        for spot in spots:
            p = particle[spot["id"]]
            out.writerow([p, spot["t"], spot["x"], spot["y"], spot["z"], mother[p]])


if __name__ == "__main__":
    main(*sys.argv[1:])
