#!/usr/bin/env bash
# Ranks with a GPU each, if another program takes the memory of one, if two ranks see the same GPU, and if one sees
# none: the objective or the bytes of one rank, else one line and exit code 4 within 60 seconds (LIMIT).
# Arguments: the command to run motes, and the folder of libmotes_mpi.so. Exit code 77: fewer than two GPUs, or no
# mpirun, module, NCCL or PyTorch (which takes the memory).
set -uo pipefail
motes=$1 module=${2:-$(dirname "$1")}/libmotes_mpi.so
root=$(cd "$(dirname "$0")/../.." && pwd)
skip() { echo "skipped: $*"; exit 77; }
[ "$(nvidia-smi -L 2>/dev/null | wc -l)" -ge 2 ] || skip "two GPUs are needed"
command -v mpirun >/dev/null || skip "mpirun is missing (openmpi-bin)"
[ -e "$module" ] || skip "this build has no MPI (MOTES_MPI)"
python3 -c 'import torch' 2>/dev/null || skip "python3 has no torch"
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
failed=0 solved=0 refused=0
fail() { echo "FAILED: $*"; failed=1; }

# on_each COMMAND...: on two ranks. GPUS0 and GPUS1, if set, are the GPUs that a rank sees.
cat >"$work/rank" <<'R'
#!/bin/sh
name=GPUS$OMPI_COMM_WORLD_RANK
eval "gpus=\${$name-all}"
[ "$gpus" = all ] || export CUDA_VISIBLE_DEVICES="$gpus"
exec "$@"
R
chmod +x "$work/rank"
on_each() {
  timeout ${LIMIT:-60} mpirun -n 2 --oversubscribe --bind-to none --allow-run-as-root "$work/rank" $motes "$@" \
    >"$work/out" 2>"$work/err"
}
objective() { grep -o '"objective": *[^,}]*' "$work/report" | head -1; }

# tried WHAT BEST ARGUMENT...: solves to that objective, or gives the reason in one line.
tried() {
  local what=$1 best=$2 start code
  shift 2
  rm -f "$work/report"
  start=$(date +%s)
  on_each "$@" --json "$work/report"
  code=$?
  what="$what: $* ($(($(date +%s) - start)) s)"
  if [ $code = 0 ]; then
    [ "$(objective)" = "$best" ] || fail "$what: $(objective), not $best"
    solved=$((solved + 1))
  else
    [ $code = 4 ] || fail "$what: exit code $code: $(head -5 "$work/err")"
    [ "$(grep '^motes: error: ' "$work/err" | grep -vc 'interrupted; if')" = 1 ] ||
      fail "$what: not one line: $(head -20 "$work/err")"
    refused=$((refused + 1))
    echo "$what: $(grep '^motes: error: ' "$work/err" | head -1)"
  fi
}

# taken GPU LEFT: another program takes all but LEFT MB of that GPU until free_again.
taken() {
  mkfifo "$work/ready"
  CUDA_VISIBLE_DEVICES=$1 python3 - "$2" >"$work/ready" <<'P' &
import sys, time, torch
free, _ = torch.cuda.mem_get_info()
held = torch.empty(max(0, free - int(sys.argv[1]) * 2**20), dtype=torch.uint8, device="cuda")
torch.cuda.synchronize()
print("ready", flush=True)
time.sleep(1000)
P
  holder=$!
  read -r _ <"$work/ready" || fail "the memory of GPU $1 could not be taken"
  rm "$work/ready"
}
free_again() { kill $holder; wait $holder 2>/dev/null; }

cases=("gen:uniform?rows=20000&high=20000&type=float --solver jv" "gen:points?n=1000000&sigma=.3 --solver jv"
  "gen:uniform?rows=4000&high=4000 --solver hungarian" "gen:uniform?rows=4000&high=4000 --solver hungarian-tree")
best=()
for k in "${!cases[@]}"; do
  on_each match ${cases[k]} --backend cuda --verify --json "$work/report" || fail "${cases[k]}: $(head -5 "$work/err")"
  best[k]=$(objective)
done
for gpu in 1 0; do
  for left in ${LEFT:-20 1000 1550 2300 3300}; do
    taken $gpu $left
    for k in "${!cases[@]}"; do
      tried "$left MB left on GPU $gpu" "${best[k]}" match ${cases[k]} --backend cuda --verify
    done
    free_again
  done
done
export GPUS0=0 GPUS1=0
tried "one GPU for both ranks" "${best[0]}" match ${cases[0]} --backend cuda
export GPUS0=0 GPUS1=
tried "no GPU for rank 1" "${best[0]}" match ${cases[0]} --backend cuda
unset GPUS0 GPUS1
[ $solved -gt 0 ] || fail "no case was solved"
[ $refused -gt 0 ] || fail "no case ran out of memory"
echo "$solved solved, $refused refused"

# Tracking continues without GPU memory, with the same bytes.
$motes simulate "$root/configs/demo.yaml" -o "$work/sim" --quiet --set simulation.frames=9 >"$work/out" 2>&1 ||
  fail "simulate: $(cat "$work/out")"
stack=$(find "$work/sim/frames" -name '*.ome.tif' | head -1)
$motes track "$stack" -o "$work/one" --quiet --backend cpu || fail "track alone"
for left in 5000 600 20; do
  taken 1 $left
  on_each track "$stack" -o "$work/many" --backend cuda
  code=$?
  free_again
  echo "track, $left MB left on GPU 1: exit code $code: $(head -3 "$work/err")"
  if [ $code = 0 ]; then
    cmp "$work/one/tracks.csv" "$work/many/tracks.csv" || fail "track, $left MB: other bytes"
  else
    [ $code = 4 ] && [ "$(grep -c '^motes: error: ' "$work/err")" = 1 ] || fail "track, $left MB: $(cat "$work/err")"
  fi
  rm -rf "$work/many"
done
exit $failed
