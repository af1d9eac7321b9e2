#!/usr/bin/env bash
# Measures the accuracy of divisions and of confidence: real tables with truth, and simulated series with and without
# divisions and faults. Takes minutes on two cores.
#
#   bench/events.sh FILE.csv            data: $MOTES_DATA or ../shared/data; without it only the simulated part runs
set -euo pipefail
cd "$(dirname "$0")/.."
file=${1:?usage: bench/events.sh FILE.csv}
bench=${BENCH:-build/release/bin/bench_events}
data=${MOTES_DATA:-../shared/data}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
  # Series without divisions: none should be found.
  "$bench" --ratio 0.1,0.3,0.6 --persistence 0,0.5,0.9
  "$bench" --header 0 --ratio 0.1,0.3,0.6 --persistence 0,0.8 --miss 0.1 --false 0.1
  "$bench" --header 0 --ratio 0.3 --turnover 0.05
  "$bench" --header 0 --ratio 0.3 --turnover 0.05 --death 0.001
  # Divisions.
  "$bench" --header 0 --ratio 0.2 --division 15 --frames 30
  if [ -d "$data/wormguides-dispim" ]; then
    worm=$data/wormguides-dispim
    "$bench" --header 0 --truth "$worm/truth.csv" --step 1,2,5,10
    for embryo in Pm02 Pm08; do
      python3 bench/lineage_table.py "$data/ascidian-astec/$embryo.csv" "$work/$embryo.csv"
      "$bench" --header 0 --truth "$work/$embryo.csv" --step 1,2,5
    done
    "$bench" --header 0 --truth "$worm/truth.csv" --points "$worm/detections_all.csv" --step 2,5,10
    "$bench" --header 0 --truth "$worm/truth.csv" --points "$worm/detections_all.csv" --step 1,2,5,10 \
      --properties 1 --name diameters
    # All divisions that are found.
    "$bench" --header 0 --events divisions --name "asked: WormGUIDES" --truth "$worm/truth.csv" --step 5
    for embryo in Pm02 Pm08; do
      "$bench" --header 0 --events divisions --name "asked: $embryo" --truth "$work/$embryo.csv" --step 5
    done
  else
    echo "events.sh: $data/wormguides-dispim is missing; set MOTES_DATA for the real tables" >&2
  fi
} >"$file.partial"
mv "$file.partial" "$file"
