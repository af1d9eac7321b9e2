#!/usr/bin/env bash
# The automatic gate against the best fixed one: simulated walks and diffusion by density of motion, faults, real tables with
# truth. A few minutes on two cores.
#
#   bench/gate.sh FILE.csv              data: $MOTES_DATA or ../shared/data; without it the simulated part alone
set -euo pipefail
cd "$(dirname "$0")/.."
file=${1:?usage: bench/gate.sh FILE.csv}
bench=${BENCH:-build/release/bin/bench_gate}
data=${MOTES_DATA:-../shared/data}
{
  "$bench" --persistence 0.5,0.9
  "$bench" --header 0 --motion brownian
  "$bench" --header 0 --motion brownian --ratio 0.1,0.3 --miss 0.05,0.2
  "$bench" --header 0 --motion brownian --ratio 0.1,0.3 --false 0.1,0.5
  "$bench" --header 0 --motion brownian --ratio 0.1,0.3 --miss 0.1 --false 0.2
  "$bench" --header 0 --motion brownian --ratio 0.1,0.3 --n 20 --frames 20
  if [ -d "$data/wormguides-dispim" ]; then
    worm=$data/wormguides-dispim
    "$bench" --header 0 --truth "$worm/truth.csv" --step 1,2,5,10
    "$bench" --header 0 --truth "$worm/truth.csv" --points "$worm/detections_all.csv" --step 1,2,5,10
    "$bench" --header 0 --truth "$data/lpt-turbulence-10k/tracks.csv" --same 1e-6
  else
    echo "gate.sh: $data/wormguides-dispim is not here; set MOTES_DATA for the real tables" >&2
  fi
} >"$file.partial"
mv "$file.partial" "$file"
