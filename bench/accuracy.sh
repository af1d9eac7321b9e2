#!/usr/bin/env bash
# Measures the accuracy grids of results/accuracy.csv: the effect of density, noise, missed and false detections on
# linking, and of image noise on whole series. Takes minutes on two cores.
#
#   bench/accuracy.sh FILE.csv          then: bench/plots/accuracy.py FILE.csv -o docs/pictures
set -euo pipefail
file=${1:?usage: bench/accuracy.sh FILE.csv}
bench=${BENCH:-build/release/bin/bench_accuracy}
{
  # Fraction of correct links by density of motion: N = 500, 5000, 50000.
  "$bench" --part links --n 500,5000 --ratio 0.1,0.3,0.6,1 --persistence 0.5,0.9 --seeds 5
  "$bench" --header 0 --part links --n 50000 --ratio 0.1,0.3,0.6 --persistence 0.5,0.9 --seeds 2
  "$bench" --header 0 --part links --n 5000 --ratio 0.1,0.2,0.3,0.4,0.5,0.6,0.8,1 --persistence 0.5 --gate auto --seeds 3
  # Faults, one at a time and together.
  "$bench" --header 0 --part links --n 2000 --ratio 0.2 --persistence 0.8 --noise 0,0.05,0.1,0.2 --scores all --seeds 5
  "$bench" --header 0 --part links --n 2000 --ratio 0.2 --persistence 0.8 --miss 0.02,0.05,0.1,0.2 --scores all --seeds 5
  "$bench" --header 0 --part links --n 2000 --ratio 0.2 --persistence 0.8 --false 0.05,0.1,0.2,0.5 --scores all --seeds 5
  "$bench" --header 0 --part links --n 2000 --ratio 0.2 --persistence 0.8 --noise 0.05 --miss 0.05 --false 0.1 --scores all --seeds 5
  # Whole series.
  "$bench" --header 0 --part images --seeds 3
} >"$file.partial"
mv "$file.partial" "$file"
