#!/usr/bin/env bash
# Runs the GPU's kernels under the four tools of compute-sanitizer, in parallel: first the test cases for these
# tools, which reach every kernel of cardinality, greedy matching, the auctions, jv and ties on small problems; then
# the cardinality solvers and starts on graphs of every family, with every answer proven by a Koenig cover. Needs a
# GPU and CUDA's compute-sanitizer; takes some minutes.
#
#   scripts/sanitize_gpu.sh [FOLDER]     FOLDER: for the tools' output, one file each (default: build/sanitize)
#
# Environment: TEST, BENCH (test_matching and bench_cardinality; built first if not given), CASES (names of test
# cases, default 'for the memory and race checkers*'), N (rows of a graph, 2000; 0: no graphs), TOOLS (memcheck
# racecheck initcheck synccheck), LIMIT (seconds for each run, 600). Exits with 1 if a tool reports an error or an
# answer is wrong.
set -euo pipefail
folder=${1:-build/sanitize}
if [ -z "${BENCH:-}" ] || [ -z "${TEST:-}" ]; then
  source "$(dirname "$0")/common.sh"
  build_targets test_matching bench_cardinality
  TEST=${TEST:-$build/bin/test_matching} BENCH=${BENCH:-$build/bin/bench_cardinality}
fi
n=${N:-2000}
read -ra tools <<<"${TOOLS:-memcheck racecheck initcheck synccheck}"
side=$(awk "BEGIN { print int(sqrt($n)) }")
scale=$(awk "BEGIN { print ($n > 1 ? int(log($n) / log(2)) : 0) }")
graphs="gen:gated?n=$n&degree=8 gen:gated?n=$n&degree=4 gen:delaunay?n=$n gen:delaunay?n=$((n / 2))&dual=1 gen:rgg?n=$n&degree=13 gen:grid?nx=$side&ny=$side
  gen:hexagonal?nx=$side&ny=$side gen:road?n=$n gen:rmat?scale=$scale gen:web?n=$n gen:erdos-renyi?rows=$n&degree=6"
solvers="push-relabel push-relabel?chain=3 ms-bfs ms-bfs?direction=1 ms-bfs-graft ms-bfs-graft?finish=0"
for s in apfb apsb; do for k in bfs bfs-wr; do for t in mt ct; do solvers="$solvers $s?kernel=$k&threads=$t"; done; done; done
mkdir -p "$folder"

# under TOOL: the cases; then every solver from its own start and from the GPU's two, with graphs on the device and host
under() {
  local tool=$1 code=0 options=()
  # NCCL asks the driver things that fail on purpose; our own calls are all checked.
  [ "$tool" != memcheck ] || options=(--leak-check full --report-api-errors no)
  sanitized() { timeout "${LIMIT:-600}" compute-sanitizer --tool "$tool" ${options[@]+"${options[@]}"} --error-exitcode 9 "$@" || code=$?; }
  {
    MOTES_REQUIRE_GPU=1 sanitized "$TEST" "${CASES:-for the memory and race checkers*}"
    [ "$n" -gt 0 ] || return $code
    sanitized "$BENCH" --backend cuda --repeats 1 --space device --init none --instance "$graphs" --solver "$solvers"
    sanitized "$BENCH" --backend cuda --repeats 1 --space host --header 0 --init 'cheap karp-sipser' --instance "$graphs" --solver "push-relabel ms-bfs-graft apfb"
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
  passed=$(grep -ohE 'All tests passed \([0-9]+ assertions in [0-9]+ test cases?\)' "$log" || echo "the cases did not pass")
  proven=$(grep -c ',yes,' "$log" || true) wrong=$(grep -c ',NO,' "$log" || true)
  echo "${tools[k]}: $(grep -E 'SUMMARY' "$log" | sed 's/=* *//' | sort | uniq -c | tr -s ' \n' ' '); $passed; $proven answers proven, $wrong wrong; exit $code"
  [ $code -eq 0 ] && [ "$wrong" -eq 0 ] && { [ "$proven" -gt 0 ] || [ "$n" -eq 0 ]; } || failed=1
done
exit $failed
