#!/usr/bin/env bash
# Times cardinality and greedy matching on one GPU, with graphs in device memory and the initialisation included: one
# table each, with the instances of the targets.
#
#   bench/graphs_gpu.sh FILE.csv cardinality    push-relabel on every family, and the level searches; about a minute
#   bench/graphs_gpu.sh FILE.csv greedy         greedy-suitor and greedy-proposal; about a minute
#
# Environment: BIN (folder of the drivers, build/release/bin), LIMIT (seconds per line, 40), MACHINE and COMMIT
# (default: from the system and from git), PROVE=1 (also proves graphs of 1e7 rows, which otherwise run with --verify
# 0).
set -euo pipefail
file=${1:?usage: bench/graphs_gpu.sh FILE.csv cardinality|greedy}
part=${2:?usage: bench/graphs_gpu.sh FILE.csv cardinality|greedy}
here=$(dirname "$0")
bin=${BIN:-build/release/bin} limit=${LIMIT:-40}
commit=${COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)}
machine=${MACHINE:-$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1), $(nproc) CPU cores}
header=1

# run DRIVER ARGUMENTS...: appends the driver's lines, with its header the first time
run() {
  local driver=$1
  shift
  timeout "$limit" "$bin/$driver" --header "$header" --backend cuda --space device "$@" >>"$file" || echo "# no answer: $driver $*" >>"$file"
  header=0
}
say() { printf '# %s\n' "$1" >>"$file"; }

: >"$file"
families='gen:delaunay?n=1000000 gen:hexagonal?nx=1054&ny=1054 gen:rgg?n=1000000&degree=13 gen:delaunay?n=500000&dual=1 gen:grid?nx=1054&ny=1054 gen:road?n=1000000 gen:rmat?scale=20 gen:web?n=1000000 gen:erdos-renyi?rows=1000000&degree=6'
large=(--repeats 5 --verify "${PROVE:-0}")
case $part in
  cardinality)
    say "Maximum cardinality on the GPU: graph and its columns' side in device memory, start included (init none: the solver's own); device_median_s between events on the device, solve_* with checks and the answer's way back. Runs of 1e7 rows unchecked."
    say "machine: $machine   commit: $commit   date: $(date +%F)   command: ${PROVE:+PROVE=$PROVE }bench/graphs_gpu.sh FILE.csv cardinality"
    run bench_cardinality --init none --solver push-relabel --repeats 15 \
      --instance "gen:gated?n=100000&degree=8 gen:gated?n=1000000&degree=8 gen:gated?n=1000000&degree=4 $families"
    run bench_cardinality --init none --solver push-relabel "${large[@]}" --instance 'gen:gated?n=10000000&degree=8'
    run bench_cardinality --init none --solver push-relabel "${large[@]}" --instance 'gen:gated?n=10000000&degree=4'
    run bench_cardinality --init none --solver 'apfb apsb ms-bfs-graft' --repeats 5 \
      --instance "gen:gated?n=100000&degree=8 gen:gated?n=1000000&degree=8 $families"
    ;;
  greedy)
    say "Greedy matching on the GPU: graph and weights in device memory; device_median_s is the matching between events on the device, initialisation included (of bipartite greedy-proposal without the columns' lists); solve_* with the answer's way back. general=1: all vertices propose, both directions of an edge listed."
    say "machine: $machine   commit: $commit   date: $(date +%F)   command: ${PROVE:+PROVE=$PROVE }bench/graphs_gpu.sh FILE.csv greedy"
    run bench_greedy --threads 16 --repeats 15 --solver greedy-suitor \
      --instance 'gen:gated?n=1000000&degree=8&general=1 gen:gated?n=1000000&degree=8&general=1&weights=distance gen:gated?n=1000000&degree=8 gen:rmat?scale=20&undirected=1'
    run bench_greedy --threads 16 --solver greedy-suitor "${large[@]}" --instance 'gen:gated?n=10000000&degree=8&general=1'
    run bench_greedy --threads 16 --solver greedy-suitor "${large[@]}" --instance 'gen:gated?n=10000000&degree=8'
    run bench_greedy --threads 16 --solver greedy-suitor "${large[@]}" --instance 'gen:gated?n=10000000&degree=4&general=1'
    run bench_greedy --threads 16 --repeats 9 --solver 'greedy-proposal greedy-proposal?select=random' \
      --instance 'gen:gated?n=1000000&degree=8&general=1 gen:gated?n=1000000&degree=8 gen:rmat?scale=20&undirected=1'
    ;;
  *)
    echo "bench/graphs_gpu.sh: part '$part' is neither cardinality nor greedy" >&2
    exit 2
    ;;
esac
