#!/usr/bin/env bash
# Times maximum cardinality on several ranks: motes and CombBLAS in alternation on the same generated graphs.
#
#   bench/cardinality_ranks.sh PEER FOLDER FILE.csv [ROUNDS]
#
# PEER: the program of peers/combblas_cardinality.cpp, whose header tells how to build it. FOLDER: for the graphs as
# MatrixMarket files. CombBLAS needs a square number of ranks. Times cover the solution only: graphs are in memory,
# for CombBLAS by rows and by columns. Environment: BUILD (build/release), RANKS ("1 2 4"), INSTANCES, LIMIT (300 s).
set -euo pipefail
peer=$(realpath "${1:?usage: bench/cardinality_ranks.sh PEER FOLDER FILE.csv [ROUNDS]}")
folder=${2:?folder for the graphs}
out=${3:?FILE.csv}
rounds=${4:-3}
cd "$(dirname "$0")/.."
bench=${BUILD:-build/release}/bin/bench_cardinality_ranks
export OMP_NUM_THREADS=1
on() { timeout "${LIMIT:-300}" mpirun --oversubscribe --allow-run-as-root -n "$@"; }
instances=${INSTANCES:-gen:gated?n=100000&degree=8 gen:rmat?scale=16 gen:road?n=100000}
mkdir -p "$folder"
{
  echo "program,instance,ranks,initial_pairs,pairs,seconds"
  for ((round = 0; round < rounds; ++round)); do
    for instance in $instances; do
      file=$folder/$(echo "${instance#gen:}" | tr -c 'a-z0-9\n' _).mtx
      [ -e "$file" ] || "$bench" --instance "$instance" --mtx "$file"
      for ranks in ${RANKS:-1 2 4}; do
        on "$ranks" "$bench" --repeats 1 --header 0 --instance "$instance" |
          awk -F, '{ print "motes," $1 "," $2 "," $8 "," $9 "," $11 }'
        case $ranks in 1 | 4 | 9 | 16 | 25 | 36 | 49 | 64)
          on "$ranks" --mca osc pt2pt "$peer" "$file" 2>/dev/null | tail -1 |
            awk -F, -v i="$instance" '{ print "combblas," i "," $2 "," $3 "," $4 "," $7 }' ;;
        esac
      done
    done
  done
} >"$out.partial"
mv "$out.partial" "$out"
