#!/usr/bin/env bash
# Measures the peak memory of `motes track` on series of 20 and of 200 frames: bench/memory.sh [MOTES]. It must not
# grow with the series, except by the detections.
set -euo pipefail
cd "$(dirname "$0")/.."
motes=${1:-build/release/bin/motes}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "frames,file_mb,voxels_mb_per_frame,peak_mb"
for frames in 20 200; do
  "$motes" simulate configs/demo.yaml -o "$work/$frames" --set simulation.frames=$frames --quiet
  file=$work/$frames/frames/frames.ome.tif
  "$motes" track "$file" -o "$work/tracks$frames" --json "$work/report.json" --quiet
  peak=$(grep -o '"peak_memory_mb": *[0-9.]*' "$work/report.json" | grep -o '[0-9.]*$')
  echo "$frames,$(($(stat -c %s "$file") / 1000000)),$((33 * 257 * 257 * 2 / 1000000)),$peak"
done
