#!/usr/bin/env python3
"""Tracks of faint spots, with the automatic number of false spots and with twice the number of spots:

    python3 bench/faint_tracks.py FILE.csv [--motes build/release/bin/motes]

Simulates 20 frames of Brownian particles of standard deviation 1.2 pixels, in a plane (150 particles, 512 x 512
pixels) and in a stack (300 particles, 512 x 512 x 10 voxels), tracks them and scores the tracks by the Particle
Tracking Challenge's measures, gate 3 pixels. `more`: detection.false_positives_per_frame is twice the number of
spots that `motes detect` finds in a frame, linking.min_length is 3. Medians over three seeds.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import tempfile

COMMON = """
simulation: {{particles: {particles}, frames: 20, dt_s: 1, box_um: {box}, motion: brownian,
  diffusion_um2_s: 0.01, min_distance_um: {apart}, seed: {seed}}}
imaging: {{write_frames: true, voxel_um: {voxel}, psf_sigma_um: {sigma}, background: 10, snr: {snr}}}
"""
SCENES = {
    "plane": dict(particles=150, box="[0.01, 51.1, 51.1]", apart=0.6, voxel="[1, 0.1, 0.1]", sigma="[5, 0.12, 0.12]"),
    "stack": dict(particles=300, box="[1.8, 51.1, 51.1]", apart=0.3, voxel="[0.2, 0.1, 0.1]",
                  sigma="[0.2, 0.12, 0.12]"),
}
SNRS = {"plane": [1.5, 2, 2.5, 3, 4], "stack": [1, 1.5, 2, 4]}


def spots_per_frame(motes, folder, frames):
    """Mean number of spots that `motes detect` finds in a frame."""
    subprocess.run([motes, "detect", f"{folder}/simulated/frames/frames.ome.tif", "-o", f"{folder}/spots.csv",
                    "--quiet"], check=True, capture_output=True)
    return (len(pathlib.Path(folder, "spots.csv").read_text().splitlines()) - 1) / frames


def tracked(motes, folder, name, settings):
    """Scores of the tracks."""
    subprocess.run([motes, "track", f"{folder}/simulated/frames/frames.ome.tif", "-o", f"{folder}/{name}", "--quiet",
                    "--set", "output.vtk=false", *settings], check=True, capture_output=True)
    out = subprocess.run([motes, "score", "--truth", f"{folder}/simulated/truth.h5", "--tracks",
                          f"{folder}/{name}/tracks.h5", "--gate", "0.3", "--quiet", "--json", "-"],
                         check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--motes", default="build/release/bin/motes")
    options = parser.parse_args()
    commit = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True).stdout.strip()
    lines = ["# bench/faint_tracks.py FILE.csv: medians over three seeds",
             f"# {os.cpu_count()}-core {platform.machine()}, motes {commit}, {datetime.date.today()}",
             "scene,snr,spots,alpha,beta,jsc,jsc_theta,link_f1"]
    for scene, values in SCENES.items():
        for snr in SNRS[scene]:
            rows = {"auto": [], "more": []}
            for seed in (1, 2, 3):
                with tempfile.TemporaryDirectory() as folder:
                    pathlib.Path(folder, "s.yaml").write_text(COMMON.format(snr=snr, seed=seed, **values))
                    subprocess.run([options.motes, "simulate", f"{folder}/s.yaml", "-o", f"{folder}/simulated",
                                    "--quiet"], check=True, capture_output=True)
                    rows["auto"].append(tracked(options.motes, folder, "auto", []))
                    rate = max(1, round(2 * spots_per_frame(options.motes, folder, 20)))
                    rows["more"].append(tracked(options.motes, folder, "more",
                                                ["--set", f"detection.false_positives_per_frame={rate}",
                                                 "--set", "linking.min_length=3"]))
            for name, scores in rows.items():
                values_of = [statistics.median(s[key] for s in scores)
                             for key in ("alpha", "beta", "jsc", "jsc_theta")]
                link = statistics.median(s["link"]["f1"] for s in scores)
                lines.append(f"{scene},{snr},{name}," + ",".join(f"{v:.3f}" for v in [*values_of, link]))
                print(lines[-1], flush=True)
    pathlib.Path(options.file).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
