"""SciPy's LoG on the frames of `bench_detect --dump DIR`: the peer of bench/results/detect.csv.

usage: python3 bench/peers/detect_scipy.py DIR [--radius RXY RZ] [--repeats N]

gaussian_laplace, maximum_filter, parabola per axis, the best 1000. Prints the same CSV columns as bench_detect.
Needs numpy and scipy.
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
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    sigma = [r / math.sqrt(3) for r in (options.radius[1], options.radius[0], options.radius[0])]

    print("snr,jsc,rmse_voxel,seconds_median,seconds_least,seconds_most,mvoxel_per_s,threads,frames")
    for snr in (7, 4, 2):
        scores, seconds = [], []
        for path in sorted(options.dir.glob(f"frame_{snr}_*.u16")):
            number = re.fullmatch(r"frame_(.*)", path.stem).group(1)
            frame = np.fromfile(path, np.uint16).reshape(SHAPE)
            truth = np.loadtxt(options.dir / f"truth_{number}.csv", delimiter=",", skiprows=1)
            for _ in range(options.repeats):
                start = time.perf_counter()
                found = detect(frame, sigma)
                seconds.append(time.perf_counter() - start)
            scores.append(score(truth, found))
        jsc, square = np.mean(scores, axis=0)
        median = statistics.median(seconds)
        print(f"{snr},{jsc:.4f},{math.sqrt(square):.4f},{median:.5f},{min(seconds):.5f},{max(seconds):.5f},"
              f"{np.prod(SHAPE) / median / 1e6:.1f},1,{len(scores)}", flush=True)


if __name__ == "__main__":
    main()
