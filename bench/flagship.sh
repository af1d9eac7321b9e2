#!/usr/bin/env bash
# The targets of exact assignment in one table: for each instance the target, the measured time, and the proof.
#
#   bench/flagship.sh FILE.csv gpu        one GPU, problems in device memory before the clock starts; under 150 s
#   bench/flagship.sh FILE.csv cpu        one core against the public solvers in the same run (PYTHON with numpy and
#                                         scipy; lap and lapjv are optional), two cores for linking; minutes
#   bench/flagship.sh FILE.csv tracking   one GPU: whole frame pairs from host memory to links in host memory
#
# Only the rows of the given part are replaced in FILE, so parts can run on different machines. best_public_s: for
# the GPU the time from the study that set the targets (same card); for the CPU the best public solver of this run.
# must and aim of the CPU rows are a tenth and a thirtieth of it. Linking rows: SciPy's sparse solver with a KD-tree
# from the same study, per pair. Environment: BIN (folder of the drivers, build/release/bin), SOLVER (auto), REPEATS
# (5), LIMIT (seconds per row, 60), MACHINE and COMMIT (default: from the system and from git).
set -euo pipefail
file=${1:?usage: bench/flagship.sh FILE.csv gpu|cpu|tracking}
part=${2:?usage: bench/flagship.sh FILE.csv gpu|cpu|tracking}
here=$(dirname "$0")
bin=${BIN:-build/release/bin} repeats=${REPEATS:-5} limit=${LIMIT:-60} solver=${SOLVER:-auto}
commit=${COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)}
machine=${MACHINE:-$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1 || true)}
[ -n "$machine" ] || machine="$(nproc) cores, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
machine=${machine//,/}
columns="part,row,instance,solver,backend,repeats,best_public_s,must_s,aim_s,seconds_median,seconds_min,seconds_max,times_must,certified,transfer_s,objective,stages,machine,commit,date"
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT

# emit ROW INSTANCE BEST MUST AIM SOLVER BACKEND REPEATS MEDIAN MIN MAX CERTIFIED TRANSFER OBJECTIVE STAGES
emit() {
  local times
  times=$(awk -v t="$9" -v m="$4" 'BEGIN { if (t != "" && m > 0) printf "%.3f", t / m }')
  echo "$part,$1,$2,$6,$7,$8,$3,$4,$5,$9,${10},${11},$times,${12},${13},${14},${15},$machine,$commit,$(date +%F)" >>"$rows"
  printf '%-44s %10s s   %6s x must   %s\n' "$1" "${9:--}" "${times:--}" "${12}"
}

# assign ROW BEST MUST AIM INSTANCE DRIVER-ARGUMENTS...
assign() {
  local row=$1 best=$2 must=$3 aim=$4 instance=$5 line=
  shift 5
  line=$(timeout "$limit" "$bin/bench_assignment" --header 0 --instance "$instance" --solver "$solver" --repeats "$repeats" "$@") || true
  if [ -z "$line" ]; then
    emit "$row" "$instance" "$best" "$must" "$aim" "$solver" "" "$repeats" "" "" "" "no answer" "" "" ""
    return
  fi
  IFS=, read -r _ _ _ _ _ name backend _ _ median _ least most transfer objective certified _ stages <<<"$line"
  emit "$row" "$instance" "$best" "$must" "$aim" "$name" "$backend" "$repeats" "$median" "$least" "$most" "$certified" "$transfer" "$objective" "$stages"
}
part_of() { awk -v b="$1" -v k="$2" 'BEGIN { if (b != "") print b / k }'; }
on_gpu() { assign "$@" --backend cuda --space device; }

# link ROW BEST MUST AIM N RATIO DRIVER-ARGUMENTS...: seconds per frame pair, including candidates and ties
link() {
  local row=$1 best=$2 must=$3 aim=$4 n=$5 ratio=$6 line=
  shift 6
  line=$(timeout "$limit" "$bin/bench_linking" --header 0 --n "$n" --ratio "$ratio" --repeats "$repeats" "$@") || true
  IFS=, read -r _ _ _ _ _ median least most candidates solve _ _ _ certified backend name stages <<<"$line"
  emit "$row" "n=$n ratio=$ratio" "$best" "$must" "$aim" "${name:-auto}" "${backend:-}" "$repeats" "${median:-}" "${least:-}" "${most:-}" \
    "${certified:-no answer}" "" "" "candidates=${candidates:-} solving=${solve:-} ${stages:-}"
}

case $part in
  gpu)
    on_gpu "uniform 0..n/10 n=20000" .0155 .015 .010 "gen:uniform?rows=20000&high=2000"
    on_gpu "uniform 0..n n=20000" .131 .040 .010 "gen:uniform?rows=20000&high=20000"
    on_gpu "uniform 0..10n n=20000" .616 .060 .010 "gen:uniform?rows=20000&high=200000"
    on_gpu "points sigma .3 n=20000 matrix" 2.29 .020 .005 "gen:points?n=20000&sigma=0.3&dense=1"
    on_gpu "points sigma 1 n=20000 matrix" 6.56 .060 .020 "gen:points?n=20000&sigma=1&dense=1"
    on_gpu "points sigma .3 n=20000 matrix-free" 2.29 .020 .005 "gen:points?n=20000&sigma=0.3"
    on_gpu "points sigma 1 n=20000 matrix-free" 6.56 .060 .020 "gen:points?n=20000&sigma=1"
    on_gpu "points sigma .3 n=100000 matrix-free" "" .050 .010 "gen:points?n=100000&sigma=0.3"
    on_gpu "points sigma 1 n=100000 matrix-free" "" .30 .050 "gen:points?n=100000&sigma=1"
    on_gpu "points sigma .3 n=1e6 matrix-free" "" 1 .1 "gen:points?n=1000000&sigma=0.3"
    on_gpu "points sigma 1 n=1e6 matrix-free" "" 5 .5 "gen:points?n=1000000&sigma=1"
    # Each unmatched vertex costs the gate; the device builds the candidates, which is timed.
    on_gpu "gated unmatched n=1e6 sigma .1 gate .5" "" .010 .003 "gen:points?n=1000000&sigma=0.1&gate=0.5&unmatched=0.5"
    on_gpu "gated unmatched n=1e6 sigma .3 gate 1.2" "" .10 .03 "gen:points?n=1000000&sigma=0.3&gate=1.2&unmatched=1.2"
    # A mean displacement of .6 is a sigma of .6 / sqrt(8 / pi); squared costs and gate^2 as in tracking.
    on_gpu "gated n=50000 displacement .6 gate .9" 61 .050 .010 \
      "gen:points?n=50000&sigma=0.376&gate=0.9&metric=squared&unmatched=0.81" ;;
  tracking) # from detections to links in host memory, pairs one by one, then several at a time
    for threads in 1 4; do
      link "link n=50000 displacement .6 threads $threads" 61 .050 .010 50000 0.6 --frames 6 --backend cuda --threads $threads
      link "link n=1e6 displacement .1 threads $threads" "" "" "" 1000000 0.1 --frames 5 --backend cuda --threads $threads
      link "link n=1e6 displacement .3 threads $threads" "" "" "" 1000000 0.3 --frames 5 --backend cuda --threads $threads
    done ;;
  cpu)
    matrix=$(mktemp)
    trap 'rm -f "$rows" "$matrix"' EXIT
    for instance in "gen:uniform?rows=10000&high=1000&type=double" "gen:uniform?rows=10000&high=10000&type=double" \
      "gen:uniform?rows=10000&high=100000&type=double" "gen:points?n=10000&sigma=0.3&dense=1" "gen:points?n=10000&sigma=1&dense=1"; do
      "$bin/bench_assignment" --instance "$instance" --repeats 0 --verify 0 --dump "$matrix" --header 0 >/dev/null 2>&1 || true
      best=$(OMP_NUM_THREADS=1 "${PYTHON:-python3}" "$here/peers/assignment.py" "$matrix" 10000 "${PEER_REPEATS:-1}" |
        tee /dev/stderr | tail -n +2 | cut -d, -f3 | sort -g | head -1) || best=  # without Python there is no peer
      rm -f "$matrix"
      export OMP_NUM_THREADS=1
      assign "one core: ${instance#gen:}" "$best" "$(part_of "$best" 10)" "$(part_of "$best" 30)" "$instance" --backend cpu --threads 1
      unset OMP_NUM_THREADS
    done
    link "two cores: link n=50000 displacement .6" 61 1 .2 50000 0.6 --backend cpu --threads 2
    link "two cores: link n=5000 displacement .1" .0042 "" "" 5000 0.1 --backend auto --threads 2 ;;
  *)
    echo "bench/flagship.sh: no part '$part'; give gpu, cpu or tracking" >&2
    exit 2 ;;
esac

{
  echo "# Every target of exact assignment, medians of the repeats; certified: proven optimal over all pairs, outside the clock."
  echo "# best_public_s was not measured in these runs but for the CPU's matrices: a study of 2026-11-20, same kind of machine, own generators."
  echo "# machine, commit and date: in each row   commands: bench/flagship.sh FILE.csv gpu; ... cpu; ... tracking"
  echo "$columns"
  [ ! -s "$file" ] || grep -v "^#\|^part,\|^$part," "$file" || true
  cat "$rows"
} >"$file.partial"
mv "$file.partial" "$file"
