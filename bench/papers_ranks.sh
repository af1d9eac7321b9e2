#!/usr/bin/env bash
# Regenerates Tables 4 and 5 (Figs 4 and 5) of Date & Nagi 2016, and times `jv` on the same machine: one matrix
# distributed over the GPUs of a host, one rank each.
#
#   bench/papers_ranks.sh FILE.csv [papers] [jv] [points]      (default: all)
#
# papers: `hungarian` and `hungarian-tree`, n = 10,000, 14,142 and 20,000, integers in 0..10n. jv: floats, up to n =
# 200,000. points: `jv` without a matrix, n = 4 * 10^6. The numbers of ranks alternate; answers are certified over
# all pairs, which is not timed. NCCL runs without NVLink multicast. Environment: BENCH
# (build/release/bin/bench_assignment), RANKS ("1 2 4"), REPEATS (5), SIZES of jv, POINTS (4000000), LIMIT (seconds
# per row, 60), ROOM (memory of a GPU in MiB, as in nvidia-smi): matrices that need more than 92 % of it are skipped.
set -euo pipefail
file=${1:?usage: bench/papers_ranks.sh FILE.csv [papers] [jv] [points]}
shift
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(papers jv points)
bench=${BENCH:-build/release/bin/bench_assignment}
room=${ROOM:-$(nvidia-smi --query-gpu=memory.total --format=csv,noheader,nounits | sort -n | head -1)}
export NCCL_NVLS_ENABLE=0
header=1
# row RANKS ARGUMENTS...
row() {
  local ranks=$1
  shift
  timeout "${LIMIT:-60}" mpirun --allow-run-as-root --oversubscribe --bind-to none -n "$ranks" \
    "$bench" --backend cuda --repeats "${REPEATS:-5}" --threads 16 --header $header --ranks "$ranks" "$@" >>"$file.partial" ||
    echo "no answer: $ranks ranks, $*" >&2
  header=0
}
rm -f "$file.partial"
for part in "${parts[@]}"; do
  case $part in
    papers)
      for n in 10000 14142 20000; do
        for ranks in ${RANKS:-1 2 4}; do
          row "$ranks" --solver "hungarian hungarian-tree" --instance "gen:uniform?rows=$n&cols=$n&high=$((10 * n))"
        done
      done ;;
    jv)
      for n in ${SIZES:-20000 50000 70711 100000 141421 200000}; do
        for ranks in ${RANKS:-1 2 4}; do
          [ $((n * n / ranks * 4 / 1048576)) -gt $((room * 92 / 100)) ] ||
            row "$ranks" --space device --solver jv --instance "gen:uniform?rows=$n&high=$((10 * n))&type=float"
        done
      done ;;
    points)
      for sigma in .3 1; do
        for ranks in ${RANKS:-1 2 4}; do
          row "$ranks" --solver jv --instance "gen:points?n=${POINTS:-4000000}&sigma=$sigma"
        done
      done ;;
    *) echo "no part '$part'" >&2; exit 2 ;;
  esac
done
mv "$file.partial" "$file"
