#!/usr/bin/env bash
# Compares motes and three trackers from PyPI on the same tables, scored by `motes score`: links between consecutive
# detected positions (gaps included), links between frames, and complete tracks. motes runs with default settings.
# Peers get the best, by F1, of four ranges, and of gaps of 0 or 3 frames if detections are missed, which favours
# them. Rows are shuffled, since the order of a table can reveal the truth.
#
#   python3 -m venv VENV && VENV/bin/pip install trackpy laptrack
#   python3 -m venv VENV/btrack && VENV/btrack/bin/pip install btrack pandas     (conflicts with laptrack's versions)
#   bench/peers.sh VENV FILE.csv [MOTES]        data: $MOTES_DATA or ../shared/data; a peer has 120 s per run ($LIMIT)
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:?usage: bench/peers.sh VENV FILE.csv [MOTES]}/bin/python
file=${2:?usage: bench/peers.sh VENV FILE.csv [MOTES]}
motes=$(realpath "${3:-build/release/bin/motes}")
data=${MOTES_DATA:-../shared/data}
limit=${LIMIT:-120}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_WAIT_POLICY=passive

# table CASE TRUTH DETECTIONS [STEP]: writes every STEP-th frame of the detections, shuffled, to $work/CASE.csv, and
# # the truth next to it.
table() {
  "$python" - "$2" "$3" "$work/$1" "${4:-1}" <<'PYTHON'
import sys
import pandas as pd
truth, points, out, step = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
def read(path):
    t = pd.read_csv(path).rename(columns={"x_um": "x", "y_um": "y", "z_um": "z"})
    t = t[t.frame % step == 0].copy()
    t["frame"] //= step
    return t
t, p = read(truth), read(points)
t[[c for c in ("particle", "frame", "x", "y", "z", "parent") if c in t]].to_csv(out + ".truth.csv", index=False)
p = p[["frame", "x", "y", "z"]].drop_duplicates().sample(frac=1, random_state=7).sort_values("frame", kind="stable")
p.to_csv(out + ".csv", index=False)
PYTHON
}

# score TRUTH TRACKS: F1 of detected links, F1 of links between frames, complete tracks.
score() {
  "$motes" score --truth "$1" --tracks "$2" --gate-link 1e-6 --quiet --set input.voxel_um=1 --json "$work/score.json" >/dev/null
  "$python" - "$work/score.json" <<'PYTHON'
import json
import sys
link = json.load(open(sys.argv[1]))["link"]
seen = link["detected"]
print(f"{seen['f1']:.4f},{link['f1']:.4f},{seen['complete'] / max(1, seen['tracks']):.3f}")
PYTHON
}

run_motes() {  # CASE NAME OPTIONS...
  local case=$1 name=$2
  shift 2
  rm -rf "$work/out"
  "$motes" track "$work/$case.csv" -o "$work/out" --quiet --set input.voxel_um=1 --set output.vtk=false \
    --set output.preview=false --json "$work/report.json" "$@" >/dev/null 2>&1
  local seconds
  seconds=$("$python" -c "import json,sys; print('%.2f' % [s['seconds'] for s in json.load(open(sys.argv[1]))['stages'] if s['stage']=='link'][0])" "$work/report.json")
  echo "$case,$name,,,$(score "$work/$case.truth.csv" "$work/out/tracks.csv"),$seconds"
}

run_peer() {  # CASE PEER SPACING
  local case=$1 peer=$2 best=0 line="" gap part reach seconds scores interpreter=$python
  local gaps=0
  case $case in *m[1-9]*) gaps="0 3" ;; esac
  [ "$peer" = btrack ] && interpreter=${python%/bin/python}/btrack/bin/python
  for part in 0.5 0.75 1 1.5; do
    reach=$("$python" -c "print($part * $3)")
    for gap in $gaps; do
      seconds=$(timeout "$limit" "$interpreter" bench/peers/link_tables.py "$work/$case.csv" "$work/peer.csv" "$peer" "$reach" "$gap" \
        2>/dev/null | tail -1) || continue
      scores=$(score "$work/$case.truth.csv" "$work/peer.csv") || continue
      if "$python" -c "import sys; sys.exit(not ${scores%%,*} > $best)"; then
        best=${scores%%,*}
        line="$case,$peer,$part,$gap,$scores,$seconds"
      fi
    done
  done
  echo "${line:-$case,$peer,,,fails,fails,fails,}"
}

compare() {  # CASE
  local spacing
  run_motes "$1" motes-pairs --set linking.scope=pairs
  run_motes "$1" motes
  spacing=$("$python" -c "import json,sys; print(json.load(open(sys.argv[1]))['linking']['spacing_um'])" "$work/report.json")
  for peer in ${PEERS:-trackpy laptrack btrack}; do run_peer "$1" "$peer" "$spacing"; done
}

simulate() {  # CASE RATIO PERSISTENCE MISS FALSE
  printf 'simulation: {particles: 1000, frames: 20, box_um: [10, 10, 10], motion: walk, speed_um_s: %s, persistence: %s, speed_spread: 0.3, seed: 3}\nfaults: {miss: %s, false_per_frame: %s}\n' \
    "$2" "$3" "$4" "$5" >"$work/$1.yaml"
  "$motes" simulate "$work/$1.yaml" -o "$work/$1.sim" --quiet --set simulation.truth=[csv] --set simulation.detections=[csv] >/dev/null
  table "$1" "$work/$1.sim/truth.csv" "$work/$1.sim/detections.csv"
}

{
  echo "case,linker,range_per_spacing,gap,detected_f1,link_f1,complete,seconds"
  simulate r3p5 0.3 0.5 0 0
  simulate r6p9 0.6 0.9 0 0
  simulate r2p8m10 0.2 0.8 0.1 0
  simulate r2p8m10f10 0.2 0.8 0.1 100
  cases="r3p5 r6p9 r2p8m10 r2p8m10f10"
  if [ -d "$data/wormguides-dispim" ]; then
    worm=$data/wormguides-dispim/truth.csv
    for k in 1 2 5 10; do table "worm_k$k" "$worm" "$worm" "$k"; done
    "$python" bench/lineage_table.py "$data/ascidian-astec/Pm02.csv" "$work/Pm02.csv"
    table ascidian_k2 "$work/Pm02.csv" "$work/Pm02.csv" 2
    cases="$cases worm_k1 worm_k2 worm_k5 worm_k10 ascidian_k2"
  else
    echo "peers.sh: $data/wormguides-dispim is missing; set MOTES_DATA for the real tables" >&2
  fi
  for case in ${CASES:-$cases}; do compare "$case"; done
} >"$file.partial"
mv "$file.partial" "$file"
