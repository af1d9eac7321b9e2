"""Links a table of detections with a peer: trackpy, laptrack or btrack (PyPI).

usage: link_tables.py DETECTIONS.csv TRACKS.csv PEER RANGE [GAP]

DETECTIONS has the columns frame and x, y, z (or x_um, y_um, z_um). RANGE is the largest displacement between two
frames, GAP the largest number of frames without a detection. TRACKS gets particle, frame, x, y, z. Prints the
seconds of linking.
"""
import csv
import sys
import time

import numpy as np
import pandas as pd


def by_trackpy(table, reach, gap):
    import trackpy

    trackpy.quiet()
    return trackpy.link(table, reach, pos_columns=["x", "y", "z"], memory=gap)


def by_laptrack(table, reach, gap):
    from laptrack import LapTrack

    linker = LapTrack(metric="sqeuclidean", cutoff=reach**2, gap_closing_cutoff=reach**2,
                      gap_closing_max_frame_count=gap, splitting_cutoff=False, merging_cutoff=False)
    tracks, _, _ = linker.predict_dataframe(table, coordinate_cols=["x", "y", "z"], frame_col="frame",
                                            only_coordinate_cols=True)
    tracks = tracks.reset_index()
    return tracks.rename(columns={"track_id": "particle"})


def by_btrack(table, reach, gap):
    """Constant velocity, and the hypotheses of btrack's published cell configuration, which has a search radius of 100."""
    import btrack
    from btrack import btypes

    unit = reach / 30  # scales its radius of 100 so that its initial covariance spans a step
    steady = np.eye(6) + np.eye(6, k=3)
    motion = {"name": "walk", "dt": 1.0, "measurements": 3, "states": 6, "accuracy": 7.5, "prob_not_assign": 0.001,
              "max_lost": max(gap, 1), "A": {"matrix": steady.ravel().tolist()},
              "H": {"matrix": np.eye(3, 6).ravel().tolist()},
              "P": {"sigma": 150.0, "matrix": np.diag([0.1, 0.1, 0.1, 1, 1, 1]).ravel().tolist()},
              "G": {"sigma": 15.0, "matrix": [0.5, 0.5, 0.5, 1, 1, 1]},
              "R": {"sigma": 5.0, "matrix": np.eye(3).ravel().tolist()}}
    scaled = {"A": steady, "H": np.eye(3, 6), "P": 150.0 * np.diag([0.1, 0.1, 0.1, 1, 1, 1]),
              "G": 15.0 * np.array([[0.5, 0.5, 0.5, 1, 1, 1]]), "R": 5.0 * np.eye(3)}
    motion.update(scaled)
    hypotheses = {"name": "walk", "hypotheses": ["P_FP", "P_init", "P_term", "P_link"], "lambda_time": 5.0,
                  "lambda_dist": 3.0, "lambda_link": 10.0, "lambda_branch": 50.0, "eta": 1e-10, "theta_dist": 20.0,
                  "theta_time": 5.0, "dist_thresh": 40, "time_thresh": 2, "apop_thresh": 5,
                  "segmentation_miss_rate": 0.1, "apoptosis_rate": 0.001, "relax": True}
    settings = btrack.config.TrackerConfig(motion_model=btrack.models.MotionModel(**motion),
                                           hypothesis_model=btrack.models.HypothesisModel(**hypotheses),
                                           max_search_radius=100.0)
    objects = []
    for row, (frame, x, y, z) in enumerate(table[["frame", "x", "y", "z"]].itertuples(index=False)):
        one = btypes.PyTrackObject()
        one.ID, one.t, one.x, one.y, one.z = row, int(frame), x / unit, y / unit, z / unit
        objects.append(one)
    ends = [(float(table[a].min() / unit) - 1, float(table[a].max() / unit) + 1) for a in "xyz"]
    with btrack.BayesianTracker(verbose=False) as tracker:
        tracker.configure(settings)
        tracker.append(objects)
        tracker.volume = tuple(ends)
        tracker.track(step_size=1000)
        tracker.optimize()
        tracks = tracker.tracks
    rows = [(t.ID, table.frame[k], table.x[k], table.y[k], table.z[k]) for t in tracks for k in t.refs if k >= 0]
    return pd.DataFrame(rows, columns=["particle", "frame", "x", "y", "z"])


def main():
    source, target, peer, reach = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
    gap = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    table = pd.read_csv(source).rename(columns={"x_um": "x", "y_um": "y", "z_um": "z"})[["frame", "x", "y", "z"]]
    table = table.reset_index(drop=True)
    start = time.perf_counter()
    tracks = {"trackpy": by_trackpy, "laptrack": by_laptrack, "btrack": by_btrack}[peer](table, reach, gap)
    print(f"{time.perf_counter() - start:.2f}")
    tracks[["particle", "frame", "x", "y", "z"]].to_csv(target, index=False, quoting=csv.QUOTE_MINIMAL)


main()
