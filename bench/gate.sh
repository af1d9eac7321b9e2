#!/usr/bin/env bash
# Compares the automatic gate with the best of 18 fixed ones (link F1 and complete tracks): simulated walks and
# diffusion by density of motion, faults, and real tables with truth, every k-th frame. Takes a few minutes on two
# cores.
#
#   bench/gate.sh FILE.csv              data: $MOTES_DATA or ../shared/data; without it only the simulated part runs
set -euo pipefail
cd "$(dirname "$0")/.."
file=${1:?usage: bench/gate.sh FILE.csv}
bench=${BENCH:-build/release/bin/bench_gate}
data=${MOTES_DATA:-../shared/data}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
  "$bench" --persistence 0.5,0.9
  "$bench" --header 0 --motion brownian
  "$bench" --header 0 --motion brownian --ratio 0.1,0.3 --miss 0.05,0.2
  "$bench" --header 0 --motion brownian --ratio 0.1,0.3 --false 0.1,0.5
  "$bench" --header 0 --motion brownian --ratio 0.1,0.3 --miss 0.1 --false 0.2
  "$bench" --header 0 --motion brownian --ratio 0.1,0.3 --n 20 --frames 20
  if [ -d "$data/wormguides-dispim" ]; then
    worm=$data/wormguides-dispim
    "$bench" --header 0 --truth "$worm/truth.csv" --step 1,2,5,10 --same 1e-6
    "$bench" --header 0 --truth "$worm/truth.csv" --points "$worm/detections_all.csv" --step 1,2,5,10 --same 1e-6
    "$bench" --header 0 --truth "$data/lpt-turbulence-10k/tracks.csv" --same 1e-6
    for spots in ascidian-astec/Pm02 ascidian-astec/Pm08 tgmm-mini/tgmm-mini; do
      python3 bench/lineage_table.py "$data/$spots.csv" "$work/${spots##*/}.csv"
      "$bench" --header 0 --truth "$work/${spots##*/}.csv" --step 1,2,5,10 --same 1e-6
    done
    for rods in "$data"/granular-rods/rods_df_*.csv; do
      name=${rods##*/rods_df_}
      python3 - "$rods" "$work/rods_$name" <<'PYTHON'
import csv
import sys
with open(sys.argv[1], newline="") as source, open(sys.argv[2], "w", newline="") as target:
    rows = list(csv.DictReader(source))
    first = min(int(float(r["frame"])) for r in rows)
    out = csv.writer(target)
    out.writerow(["particle", "frame", "x", "y", "z"])
    for r in rows:
        out.writerow([int(float(r["particle"])), int(float(r["frame"])) - first, r["x"], r["y"], r["z"]])
PYTHON
      "$bench" --header 0 --truth "$work/rods_$name" --step 1,2,5,10 --same 1e-6
    done
  else
    echo "gate.sh: $data/wormguides-dispim is missing; set MOTES_DATA for the real tables" >&2
  fi
} >"$file.partial"
mv "$file.partial" "$file"
