#!/usr/bin/env bash
# Regenerates the tables and figures of the two assignment papers: Fig. 6 of Vasconcelos & Rosenhahn 2009, and Tables
# 1-3 and Fig. 3 of Date & Nagi 2016. Writes one CSV file each into FOLDER; bench/plots/papers_assignment.py makes
# tables and pictures of them.
#
#   bench/papers_assignment.sh FOLDER [fig6] [table1] [table3] [large]      (default: all)
#
# Environment: BENCH (path of bench_assignment, default build/release/bin/bench_assignment), NO_CPU=1 (omits the CPU
# rows of Table 3), CUDA_SOLVERS (solvers of its CUDA rows). Without a GPU the CUDA rows are omitted, with a message.
set -euo pipefail
folder=${1:?usage: bench/papers_assignment.sh FOLDER [fig6] [table1] [table3] [large]}
shift
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(fig6 table1 table3 large)
bench=${BENCH:-build/release/bin/bench_assignment}
mkdir -p "$folder"
gpu=yes
command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1 || gpu=no
[ $gpu = yes ] || echo "no GPU: rows of the cuda back end are skipped" >&2

# on FILE ARGUMENTS...: appends rows, the header once.
on() {
  local file=$folder/$1.csv header=0
  shift
  [ -s "$file" ] || header=1
  "$bench" --header $header "$@" >>"$file"
}
cuda() { [ $gpu = no ] || on "$@" --backend cuda --space device; }

for part in "${parts[@]}"; do
  rm -f "$folder/$part.csv"
  case $part in
    fig6) # three solvers, mean over 100 random sets of n points
      for n in 100 200 500 1000 1500 2000; do
        i="gen:points?n=$n&sigma=0.3&dense=1&type=float"
        on fig6 --instance "$i" --seeds "${SETS:-100}" --repeats 1 --solver "hungarian auction" --threads 1
        cuda fig6 --instance "$i" --seeds "${SETS:-100}" --repeats 1 --solver "auction"
      done ;;
    table1) # n = 500..5000, costs 0..n, three instances, five runs each
      for n in 500 1000 1500 2000 2500 3000 3500 4000 4500 5000; do
        i="gen:uniform?rows=$n&cols=$n&high=$n"
        on table1 --instance "$i" --seeds 3 --repeats 5 --solver "hungarian-tree" --threads 1
        on table1 --instance "$i" --seeds 3 --repeats 5 --solver "hungarian-tree" --threads 8
        cuda table1 --instance "$i" --seeds 3 --repeats 5 --solver "hungarian hungarian-tree"
      done ;;
    table3) # n = 5000..20000, costs 0..n/10, 0..n, 0..10n
      for n in 5000 10000 15000 20000; do
        for high in $((n / 10)) $n $((10 * n)); do
          i="gen:uniform?rows=$n&cols=$n&high=$high"
          [ -n "${NO_CPU:-}" ] || on table3 --instance "$i" --seeds 1 --repeats 1 --solver "hungarian-tree" --threads 8
          cuda table3 --instance "$i" --seeds 3 --repeats 5 --solver "${CUDA_SOLVERS:-hungarian hungarian-tree auction-scaled}"
        done
      done ;;
    large) # 10 GB of float
      cuda large --instance "gen:uniform?rows=50000&cols=50000&high=50000&type=float" --repeats 3 \
        --solver "hungarian hungarian-tree auction-scaled" ;;
    *) echo "no part '$part'" >&2; exit 2 ;;
  esac
done
