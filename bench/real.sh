#!/usr/bin/env bash
# Links the real C. elegans embryo, curated positions and all detections, every k-th frame, at the gate that motes
# estimates: bench/real.sh [MOTES]. Data: $MOTES_DATA or ../shared/data.
set -euo pipefail
cd "$(dirname "$0")/.."
motes=${1:-build/release/bin/motes}
data=${MOTES_DATA:-../shared/data}/wormguides-dispim
[ -d "$data" ] || { echo "real.sh: $data is missing; set MOTES_DATA" >&2; exit 3; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
value() { grep -o "\"$1\": *[0-9.]*" "$2" | head -1 | grep -o '[0-9.]*$'; }
echo "table,every_kth_frame,gate_px,link_precision,link_recall,link_f1,linking_seconds"
for table in truth detections_all; do
  for k in 1 2 5 10; do
    "$motes" track "$data/$table.csv" -o "$work/t" --force --set input.voxel_um=1 --set input.frame_step=$k --quiet --json "$work/report"
    "$motes" score --truth "$data/truth.csv" --tracks "$work/t/tracks.h5" --frame-step $k --quiet --json "$work/score"
    echo "$table,$k,$(value gate_um "$work/report"),$(value precision "$work/score"),$(value recall "$work/score"),$(value f1 "$work/score"),$(grep -A4 '"stage": "link"' "$work/report" | grep -o '"seconds": *[0-9.]*' | grep -o '[0-9.]*$')"
  done
done
