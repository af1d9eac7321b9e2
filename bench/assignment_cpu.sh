#!/usr/bin/env bash
# jv and the public dense solvers on the same matrices, one thread, in one run: results/assignment_cpu.csv.
#
#   bench/assignment_cpu.sh FILE.csv [ROWS ...]      (default: 5000; needs python3 with numpy and scipy, better lap and lapjv too)
#
# PYTHON: the interpreter (default python3).
set -euo pipefail
file=${1:?usage: bench/assignment_cpu.sh FILE.csv [ROWS ...]}
shift
sizes=("$@")
[ ${#sizes[@]} -gt 0 ] || sizes=(5000)
bench=${BENCH:-build/release/bin/bench_assignment}
matrix=$(mktemp)
trap 'rm -f "$matrix"' EXIT
export OMP_NUM_THREADS=1
echo "instance,solver,rows,seconds_median,seconds_min,seconds_max,objective" >"$file"
for n in "${sizes[@]}"; do
  for i in "gen:uniform?rows=$n&high=$((n / 10))&type=double" "gen:uniform?rows=$n&high=$n&type=double" \
    "gen:uniform?rows=$n&high=$((10 * n))&type=double" "gen:points?n=$n&sigma=0.3&dense=1" "gen:points?n=$n&sigma=1&dense=1"; do
    "$bench" --instance "$i" --solver "${SOLVERS:-jv}" --threads 1 --repeats "${REPEATS:-3}" --dump "$matrix" --header 0 |
      awk -F, -v OFS=, '{print $1, "motes " $6 " (" $16 ")", $4, $10, $12, $13, $15}' >>"$file"
    "${PYTHON:-python3}" "$(dirname "$0")/peers/assignment.py" "$matrix" "$n" "${REPEATS:-3}" |
      tail -n +2 | awk -v instance="$i" '{print instance "," $0}' >>"$file"
  done
done
