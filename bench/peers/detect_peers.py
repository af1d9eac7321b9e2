"""Runs public detectors on the frames of `bench_detect --dump DIR`: the peers of bench/results/detect.csv.

usage: python3 bench/peers/detect_peers.py DIR [--radius RXY RZ] [--repeats N] [--peers NAME ...]

scipy-log        scipy.ndimage.gaussian_laplace, maximum_filter, a parabola per axis, the best 1000
scipy-log-fit    the same, then scipy.optimize.least_squares: a Gaussian on a constant in a window of 2.5 sigma
trackpy          trackpy.locate, diameters 4 sigma rounded up to odd numbers, the 1000 brightest
skimage-blob-log skimage.feature.blob_log at the true sigma only, the best 1000

Each gets the number of spots and their width, which `motes detect` does not. Prints the peer's name and the CSV
columns of bench_detect. Needs numpy and scipy, and trackpy and scikit-image for their detectors.
"""

import argparse
import math
import pathlib
import re
import statistics
import time

import numpy as np
from scipy import ndimage, optimize

SHAPE = (10, 512, 512)
SPOTS = 1000
GATE = 2.5


def refine(response, voxels):
    positions = voxels.astype(float)
    centre = response[tuple(voxels.T)]
    for axis in range(3):
        inside = (voxels[:, axis] > 0) & (voxels[:, axis] < response.shape[axis] - 1)
        before, after = voxels.copy(), voxels.copy()
        before[inside, axis] -= 1
        after[inside, axis] += 1
        left, right = response[tuple(before.T)], response[tuple(after.T)]
        curvature = left - 2 * centre + right
        good = inside & (curvature < 0)
        offset = np.zeros(len(voxels))
        offset[good] = 0.5 * (left - right)[good] / curvature[good]
        positions[:, axis] += np.clip(offset, -0.5, 0.5)
    return positions


def detect(frame, sigma):
    response = -ndimage.gaussian_laplace(frame.astype(np.float32), sigma)
    peaks = (response == ndimage.maximum_filter(response, 3)) & (response > 0)
    voxels = np.argwhere(peaks)
    best = np.argsort(-response[peaks])[:SPOTS]
    return refine(response, voxels[best])


def scipy_log(frame, sigma):
    return detect(frame, sigma)


def fit_one(frame, place, sigma):
    """Least-squares fit of height, background and position near one position."""
    low = [max(0, round(p) - math.ceil(2.5 * s)) for p, s in zip(place, sigma)]
    high = [min(n, round(p) + math.ceil(2.5 * s) + 1) for n, p, s in zip(frame.shape, place, sigma)]
    window = frame[tuple(slice(a, b) for a, b in zip(low, high))].astype(float)
    axes = np.ogrid[tuple(slice(a, b) for a, b in zip(low, high))]

    def residual(p):
        square = sum(((axis - c) / s) ** 2 for axis, c, s in zip(axes, p[2:], sigma))
        return (p[0] * np.exp(-0.5 * square) + p[1] - window).ravel()

    start = np.concatenate(([window.max() - np.median(window), np.median(window)], place))
    found = optimize.least_squares(residual, start, method="lm", max_nfev=60)
    moved = found.x[2:] - place
    return found.x[2:] if np.all(np.abs(moved) < 2 * np.array(sigma)) else place


def scipy_log_fit(frame, sigma):
    return np.array([fit_one(frame, place, sigma) for place in detect(frame, sigma)])


def trackpy_locate(frame, sigma):
    import trackpy

    trackpy.quiet()
    diameter = [2 * math.ceil(2 * s) + 1 for s in sigma]
    found = trackpy.locate(frame, diameter, topn=SPOTS, characterize=False, engine="numba")
    return found[["z", "y", "x"]].to_numpy()


def skimage_blob_log(frame, sigma):
    from skimage.feature import blob_log

    blobs = blob_log(frame.astype(np.float32), min_sigma=sigma, max_sigma=sigma, num_sigma=1, threshold=None,
                     threshold_rel=0.0, overlap=1.0)
    places = blobs[:, :3]
    response = -ndimage.gaussian_laplace(frame.astype(np.float32), sigma)
    best = np.argsort(-response[tuple(places.astype(int).T)])[:SPOTS]
    return places[best]


PEERS = {"scipy-log": scipy_log, "scipy-log-fit": scipy_log_fit, "trackpy": trackpy_locate,
         "skimage-blob-log": skimage_blob_log}


def score(truth, found):
    distance = np.sqrt(((truth[:, None] - found[None]) ** 2).sum(-1))
    rows, cols = optimize.linear_sum_assignment(np.where(distance < GATE, distance - 1e3, 0))
    matched = distance[rows, cols]
    matched = matched[matched < GATE]
    jsc = len(matched) / (len(truth) + len(found) - len(matched))
    return jsc, (matched**2).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("--radius", type=float, nargs=2, default=(2.05, 1.65), metavar=("RXY", "RZ"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    options = parser.parse_args()
    sigma = [r / math.sqrt(3) for r in (options.radius[1], options.radius[0], options.radius[0])]

    print("peer,snr,jsc,rmse_voxel,seconds_median,seconds_least,seconds_most,mvoxel_per_s,threads,frames")
    for name in options.peers:
        for snr in (7, 4, 2):
            scores, seconds = [], []
            for path in sorted(options.dir.glob(f"frame_{snr}_*.u16")):
                number = re.fullmatch(r"frame_(.*)", path.stem).group(1)
                frame = np.fromfile(path, np.uint16).reshape(SHAPE)
                truth = np.loadtxt(options.dir / f"truth_{number}.csv", delimiter=",", skiprows=1)
                for _ in range(options.repeats):
                    start = time.perf_counter()
                    found = PEERS[name](frame, sigma)
                    seconds.append(time.perf_counter() - start)
                scores.append(score(truth, found))
            jsc, square = np.mean(scores, axis=0)
            median = statistics.median(seconds)
            print(f"{name},{snr},{jsc:.4f},{math.sqrt(square):.4f},{median:.5f},{min(seconds):.5f},"
                  f"{max(seconds):.5f},{np.prod(SHAPE) / median / 1e6:.1f},1,{len(scores)}", flush=True)


if __name__ == "__main__":
    main()
