#!/usr/bin/env bash
# The cardinality solvers and starts of the GPU under compute-sanitizer's four tools, side by side, on small graphs of every family; every answer is proven by a
# Koenig cover. Needs a GPU and CUDA's compute-sanitizer; a minute or two.
#
#   scripts/sanitize_gpu.sh [FOLDER]     what the tools said, a file each, in FOLDER (default: build/sanitize)
#
# BENCH: the bench_cardinality to run (built first where it is not given). N: rows of a graph (2000). TOOLS (memcheck racecheck initcheck synccheck), LIMIT:
# seconds for each (600). Exit 1 where a tool found something or an answer is wrong.
set -euo pipefail
folder=${1:-build/sanitize}
if [ -z "${BENCH:-}" ]; then
  source "$(dirname "$0")/common.sh"
  build_targets bench_cardinality
  BENCH=$build/bin/bench_cardinality
fi
n=${N:-2000}
read -ra tools <<<"${TOOLS:-memcheck racecheck initcheck synccheck}"
side=$(awk "BEGIN { print int(sqrt($n)) }")
scale=$(awk "BEGIN { print int(log($n) / log(2)) }")
graphs="gen:gated?n=$n&degree=8 gen:gated?n=$n&degree=4 gen:delaunay?n=$n gen:delaunay?n=$((n / 2))&dual=1 gen:rgg?n=$n&degree=13 gen:grid?nx=$side&ny=$side
  gen:hexagonal?nx=$side&ny=$side gen:road?n=$n gen:rmat?scale=$scale gen:web?n=$n gen:erdos-renyi?rows=$n&degree=6"
solvers="push-relabel push-relabel?chain=3 ms-bfs ms-bfs?direction=1 ms-bfs-graft ms-bfs-graft?finish=0"
for s in apfb apsb; do for k in bfs bfs-wr; do for t in mt ct; do solvers="$solvers $s?kernel=$k&threads=$t"; done; done; done
mkdir -p "$folder"

# under TOOL: every solver from a start of its own and from the GPU's two; graphs on the device, and on the host
under() {
  local tool=$1 code=0 options=()
  [ "$tool" != memcheck ] || options=(--leak-check full)
  {
    timeout "${LIMIT:-600}" compute-sanitizer --tool "$tool" ${options[@]+"${options[@]}"} --error-exitcode 9 "$BENCH" --backend cuda --repeats 1 --space device --init none \
      --instance "$graphs" --solver "$solvers" || code=$?
    timeout "${LIMIT:-600}" compute-sanitizer --tool "$tool" ${options[@]+"${options[@]}"} --error-exitcode 9 "$BENCH" --backend cuda --repeats 1 --space host --header 0 \
      --init 'cheap karp-sipser' --instance "$graphs" --solver "push-relabel ms-bfs-graft apfb" || code=$?
  } >"$folder/$tool.log" 2>&1
  return $code
}

pids=()
for tool in "${tools[@]}"; do under "$tool" & pids+=($!); done
failed=0
for k in "${!tools[@]}"; do
  code=0
  wait "${pids[k]}" || code=$?
  log=$folder/${tools[k]}.log
  proven=$(grep -c ',yes,' "$log" || true) wrong=$(grep -c ',NO,' "$log" || true)
  echo "${tools[k]}: $(grep -E 'SUMMARY' "$log" | sed 's/=* *//' | sort | uniq -c | tr -s ' \n' ' '); $proven answers proven, $wrong wrong; exit $code"
  [ $code -eq 0 ] && [ "$wrong" -eq 0 ] && [ "$proven" -gt 0 ] || failed=1
done
exit $failed
