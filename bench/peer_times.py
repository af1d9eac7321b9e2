#!/usr/bin/env python3
"""Times the linking of whole series by motes, trackpy and laptrack (PyPI), in one command:

    python3 -m venv VENV && VENV/bin/pip install trackpy laptrack
    VENV/bin/python bench/peer_times.py FILE.csv [--motes build/release/bin/motes] [--most 60]

All get the same rows: three dimensions, lengths in mean spacings, 5 % of the detections missed. motes runs with
default settings. `seconds` of motes is the stage `link` of report.json, `whole` the complete command with reading,
confidence and all output files. A peer gets the range, and the gap of 0 or 2 frames, with the best score by the
truth on the first 20 frames; its `seconds` are those of one call of its linking function. Times are wall-clock
seconds, with two threads for motes, medians of three runs in alternation; a run over --most seconds counts as
failed (0).
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time
import warnings

import numpy as np

import peer_tables as peers
import sparse_tables as made

CASES = {
    "100 x 100 Brownian .3": lambda r: made.brownian(r, 100, 100, 3, 0.3),
    "1000 x 100 Brownian .3": lambda r: made.brownian(r, 1000, 100, 3, 0.3),
}


def by_motes(motes, rows):
    """Tracks, seconds of linking and of the whole command."""
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder, "points.csv")
        with open(table, "w") as f:
            f.write("frame,x,y,z\n")
            f.writelines(f"{frame},{x:.9g},{y:.9g},{z:.9g}\n" for _, frame, x, y, z in rows)
        began = time.time()
        subprocess.run([motes, "track", table, "-o", f"{folder}/out", "--quiet", "--set", "input.voxel_um=1",
                        "--set", "execution.threads=2"], check=True, capture_output=True)
        whole = time.time() - began
        stages = json.loads(pathlib.Path(folder, "out", "report.json").read_text())["stages"]
        link = sum(stage["seconds"] for stage in stages if stage["stage"] == "link")
        return made.read(f"{folder}/out/tracks.csv", "particle", "frame"), link, whole


def by_peer(peer, rows, setting, most):
    """F1 and seconds of one run; 0 and nan if it fails or takes longer than `most`."""
    began = time.time()
    try:
        with peers.within(most):
            tracks = peers.by_peer(peer, rows, *setting)
        return peers.f1(rows, tracks), time.time() - began
    except Exception as error:
        print(f"{peer}, {setting}: {type(error).__name__}")
        return 0.0, float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--motes", default="build/release/bin/motes")
    parser.add_argument("--most", type=int, default=60)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    head = peers.heading("1")
    head[0] = "# bench/peer_times.py FILE.csv: wall-clock seconds, medians of three runs; motes with 2 threads, else 1"
    lines = [*head, "case,linker,f1,seconds,whole"]
    for name, make in CASES.items():
        rows = made.table(np.random.default_rng(1), make(np.random.default_rng(1)), miss=0.05)
        some = [r for r in rows if r[1] < 20]
        settings = [(part, gap) for part in (0.35, 0.5, 0.75, 1.0) for gap in (0, 2)]
        best = {peer: max(settings, key=lambda s: by_peer(peer, some, s, 30)[0]) for peer in peers.RANGES}
        runs = {}
        for _ in range(3):
            tracks, link, whole = by_motes(options.motes, rows)
            runs.setdefault("motes", []).append((peers.f1(rows, tracks), link, whole))
            for peer, setting in best.items():
                runs.setdefault(f"{peer} range {setting[0]} gap {setting[1]}", []).append(
                    (*by_peer(peer, rows, setting, options.most), float("nan")))
        for linker, of in runs.items():
            f1, seconds, whole = (statistics.median(column) for column in zip(*of))
            lines.append(f"{name},{linker},{f1:.4f},{seconds:.3g},{whole:.3g}".replace(",nan", ","))
            print(lines[-1], flush=True)
    pathlib.Path(options.file).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
