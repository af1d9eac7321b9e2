#!/usr/bin/env bash
# Regenerates the figures of Fagginger Auer & Bisseling (2012) on generated graphs. Writes one CSV file each into
# FOLDER; bench/plots/papers_greedy.py draws them.
#
#   bench/papers_greedy.sh FOLDER [fig2] [fig3] [fig4] [fig5]      (default: all)
#
#   fig2  pairs gained in each round of Algorithm 3, random and weighted (file fig2_rounds.csv)
#   fig3  by the probability p of being blue, .05 to .95: pairs, weight, time, and the pairs of the first round
#         (fig3_rounds.csv), which eq. 2 predicts; on a square lattice, like ecology1 in the paper
#   fig4  seconds of Algorithm 3 and of greedy-suitor by number of threads
#   fig5  pairs, weight and seconds of every solver over PERMUTATIONS permutations of each graph's vertices:
#         Algorithms 1 (random and weighted) and 2 on one thread, Algorithm 3 (both) and greedy-suitor on THREADS,
#         and with BACKEND=cuda also on the GPU
#
# As in the paper, Algorithm 1 takes vertices in the order of the permuted graph (seed=0), and neither permutations
# nor transfers are timed. Environment: BENCH (path of bench_greedy, default build/release/bin/bench_greedy), N
# (approximate vertices of a graph, 1000000; a tenth of it for fig5), THREADS (all cores), RUNS (5), PERMUTATIONS
# (32), LIMIT (seconds per graph, 600).
set -euo pipefail
folder=${1:?usage: bench/papers_greedy.sh FOLDER [fig2] [fig3] [fig4] [fig5]}
shift
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(fig2 fig3 fig4 fig5)
bench=${BENCH:-build/release/bin/bench_greedy}
threads=${THREADS:-$(nproc)}
runs=${RUNS:-5}
mkdir -p "$folder"

# graphs N: the instances as general graphs with about N vertices.
graphs() {
  local n=$1 side scale
  side=$(awk "BEGIN { print int(sqrt($n)) }")
  scale=$(awk "BEGIN { print int(log($n) / log(2) + 0.5) }")
  echo "gen:grid?nx=$side&keep=1&general=1" "gen:delaunay?n=$n&general=1" "gen:rgg?n=$n&degree=13&general=1" \
    "gen:road?n=$n&general=1" "gen:hexagonal?nx=$side&general=1" "gen:gated?n=$((n / 2))&degree=8&general=1" \
    "gen:erdos-renyi?rows=$n&degree=4&undirected=1" "gen:web?n=$n&undirected=1" "gen:rmat?scale=$scale&edges=8&undirected=1"
}

# on FILE INSTANCE SOLVERS ARGUMENTS...: appends rows, the header once.
on() {
  local file=$folder/$1.csv instance=$2 solvers=$3 header=0
  shift 3
  [ -s "$file" ] || header=1
  timeout "${LIMIT:-600}" "$bench" --header $header --instance "$instance" --solver "$solvers" "$@" >>"$file" ||
    echo "$instance, $solvers: skipped (exit $?)" >&2
}

# rounds PART: moves the lines about rounds to their own file.
rounds() {
  { echo "instance,solver,round,pairs"; sed -n 's/^#round,//p' "$folder/$1.csv"; } >"$folder/$1_rounds.csv"
  sed -i '/^#round,/d' "$folder/$1.csv"
}

n=${N:-1000000}
for part in "${parts[@]}"; do
  rm -f "$folder/$part.csv"
  case $part in
    fig2)
      for i in $(graphs "$n"); do
        on fig2 "$i&permute=1" "greedy-proposal?select=random greedy-proposal" --threads "$threads" --repeats 1 --rounds 1
      done
      rounds fig2 ;;
    fig3)
      side=$(awk "BEGIN { print int(sqrt($n)) }")
      solvers=""
      for p in $(seq 0.05 0.05 0.95); do solvers+=" greedy-proposal?select=random&blue=$p greedy-proposal?blue=$p"; done
      on fig3 "gen:grid?nx=$side&keep=1&general=1&permute=1" "$solvers" --threads "$threads" --repeats "$runs" --rounds 1
      rounds fig3 ;;
    fig4)
      counts=1
      for ((t = 2; t <= threads; t *= 2)); do counts+=",$t"; done
      for i in $(graphs "$n"); do
        on fig4 "$i&permute=1" "greedy-proposal?select=random greedy-proposal greedy-suitor" --threads "$counts" --repeats "$runs" --verify 0
      done ;;
    fig5)
      for i in $(graphs "$((n / 10))"); do
        all=""
        for ((k = 1; k <= ${PERMUTATIONS:-32}; ++k)); do all+=" $i&permute=$k"; done
        on fig5 "$all" "greedy-random?seed=0 greedy-weighted?seed=0 greedy-sorted" --threads 1 --repeats 1 --verify 0
        on fig5 "$all" "greedy-proposal?select=random greedy-proposal greedy-suitor" --threads "$threads" --repeats 1 --verify 0
        [ "${BACKEND:-cpu}" != cuda ] || on fig5 "$all" "greedy-proposal?select=random greedy-proposal greedy-suitor" \
          --backend cuda --space device --threads 1 --repeats 2 --verify 0
      done ;;
    *) echo "no part '$part'" >&2; exit 2 ;;
  esac
done
