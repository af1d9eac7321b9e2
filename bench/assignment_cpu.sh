#!/usr/bin/env bash
# Times jv and the public dense solvers on the same matrices, one thread, in one run: results/assignment_cpu.csv.
# Then times problems that no public solver takes: the same points without a matrix, and a gated pair of frames on
# two threads. Ends with a table: seconds of motes and of the fastest peer, and their ratio.
#
#   bench/assignment_cpu.sh FILE.csv [ROWS ...]      (default: 10000)
#
# Needs python3 with numpy and scipy; lap and lapjv are optional. Environment: PYTHON (interpreter, default python3),
# REPEATS (5), GATED=0 (skips the gated pair), LARGE="100000 ..." (matrix-free sizes in addition to ROWS).
set -euo pipefail
file=${1:?usage: bench/assignment_cpu.sh FILE.csv [ROWS ...]}
shift
sizes=("$@")
[ ${#sizes[@]} -gt 0 ] || sizes=(10000)
bench=${BENCH:-build/release/bin/bench_assignment}
repeats=${REPEATS:-5}
matrix=$(mktemp)
trap 'rm -f "$matrix"' EXIT
export OMP_NUM_THREADS=1
echo "instance,solver,rows,seconds_median,seconds_min,seconds_max,objective" >"$file"

motes() { # INSTANCE THREADS [options]
  local instance=$1 threads=$2
  shift 2
  OMP_NUM_THREADS=$threads "$bench" --instance "$instance" --solver "${SOLVERS:-jv}" --threads "$threads" \
    --repeats "$repeats" --header 0 "$@" |
    awk -F, -v OFS=, -v threads="$threads" \
      '{print $1, "motes " $6 " (certified: " $16 "; threads: " threads ")", $4, $10, $12, $13, $15}' >>"$file"
}

for n in "${sizes[@]}"; do
  for i in "gen:uniform?rows=$n&high=$((n / 10))&type=double" "gen:uniform?rows=$n&high=$n&type=double" \
    "gen:uniform?rows=$n&high=$((10 * n))&type=double" "gen:points?n=$n&sigma=0.3&dense=1" "gen:points?n=$n&sigma=1&dense=1"; do
    motes "$i" 1 --dump "$matrix"
    "${PYTHON:-python3}" "$(dirname "$0")/peers/assignment.py" "$matrix" "$n" "$repeats" |
      tail -n +2 | awk -v instance="$i" '{print instance "," $0}' >>"$file"
  done
done
for n in "${sizes[@]}" ${LARGE:-}; do
  for sigma in 0.3 1; do motes "gen:points?n=$n&sigma=$sigma" 1; done
done
# Root mean square displacement 0.6 of the spacing, gate 1.5 times that; once as a graph, once as points only.
if [ "${GATED:-1}" != 0 ]; then
  gated="gen:points?n=50000&sigma=0.346&gate=0.9&unmatched=0.9"
  motes "$gated&sparse=1" 2
  motes "$gated" 2
fi

awk -F, '
  NR > 1 {
    if (!($1 in seen)) { seen[$1] = 1; order[++count] = $1 }
    if ($2 ~ /^motes/) { mine[$1] = $4; sure[$1] = $2 }
    else if (!($1 in best) || $4 < best[$1]) { best[$1] = $4; who[$1] = $2 }
  }
  END {
    printf "%-62s %10s %10s %8s  %s\n", "instance", "motes s", "peer s", "ratio", "fastest peer"
    for (k = 1; k <= count; ++k) {
      i = order[k]
      if (i in best) printf "%-62s %10.4f %10.4f %8.1f  %s\n", i, mine[i], best[i], best[i] / mine[i], who[i]
      else printf "%-62s %10.4f %10s %8s  %s\n", i, mine[i], "-", "-", "(none can solve it)"
      if (sure[i] !~ /certified: yes/) print "  NOT CERTIFIED: " i
    }
  }' "$file"
