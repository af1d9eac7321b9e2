#!/usr/bin/env bash
# Compares the confidence of links with the share of correct ones: simulated series of many kinds, real tables with
# truth, and the sample. Takes minutes on two cores.
#
#   bench/confidence.sh FILE.csv        data: $MOTES_DATA or ../shared/data; without it only the simulated part runs
#
# bins: the non-empty ones of 15 equal intervals of the probability, each with its mean probability, its share of
# correct links, and its number of links.
set -euo pipefail
cd "$(dirname "$0")/.."
file=${1:?usage: bench/confidence.sh FILE.csv}
bin=${BIN:-build/release/bin}  # of motes and bench_events
data=${MOTES_DATA:-../shared/data}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
judge() { "$bin/bench_events" --confidence 1 --header 0 "$@"; }
# simulate NAME KEY=VALUE...: one row for 600 particles at unit density and 20 frames, with the given settings.
simulate() {
  local name=$1 keys=()
  shift
  for key in particles=600 frames=20 dt_s=1 "box_um=[8.4,8.4,8.4]" speed_um_s=0.3 persistence=0.8 seed=3 "truth=[csv]" "detections=[csv]"; do
    keys+=(--set "simulation.$key")
  done
  for key in "$@"; do keys+=(--set "$key"); done
  rm -rf "$work/simulated"
  "$bin/motes" simulate sample/points.yaml -o "$work/simulated" --quiet \
    --set faults.miss=0 --set faults.false_per_frame=0 "${keys[@]}"
  judge --truth "$work/simulated/truth.csv" --points "$work/simulated/detections.csv" --name "$name" --same "${same:-0.3}" --merged "${merged:-0}"
}
{
  "$bin/bench_events" --confidence 1 --ratio 0.3,0.6 --persistence 0,0.5
  judge --ratio 0.3 --persistence 0,0.8 --miss 0.1 --false 0.1
  judge --ratio 0.6 --persistence 0 --miss 0.1 --false 0.1
  simulate "slow and fast" simulation.persistence=0 simulation.speed_spread=1
  simulate "rest and run" simulation.motion=switching "simulation.states=[brownian,directed]" \
    "simulation.switch_rate_per_s=[0.1,0.1]" simulation.diffusion_um2_s=0.005 simulation.speed_um_s=0.6
  simulate "diffusion" simulation.motion=brownian simulation.diffusion_um2_s=0.04
  simulate "crowded clusters" simulation.seeding=clusters simulation.clusters=12 simulation.cluster_radius_um=0.8 \
    simulation.persistence=0 simulation.speed_um_s=0.15
  simulate "drift" simulation.persistence=0 "simulation.drift_um_s=[0,0.3,0.3]" simulation.boundary=periodic
  simulate "turbulence" simulation.flow=turbulence simulation.flow_speed_um_s=0.6 simulation.flow_scale_um=6 \
    simulation.persistence=0 simulation.speed_um_s=0.1 simulation.frames=16
  simulate "strong turbulence" simulation.flow=turbulence simulation.flow_speed_um_s=1 simulation.flow_scale_um=5 \
    simulation.persistence=0 simulation.speed_um_s=0.1 simulation.frames=16
  simulate "rotation" simulation.rotation_deg_s=6 simulation.persistence=0 simulation.speed_um_s=0.2
  # A detection matches its particle within five standard errors along z.
  same=0.6 simulate "localisation errors" simulation.persistence=0.8 "faults.noise_um=[0.12,0.06,0.06]"
  merged=0.4 simulate "unresolved pairs" faults.merge_um=0.35
  simulate "blinking" faults.blink_on_s=4 faults.blink_off_s=1.5
  simulate "many false" simulation.persistence=0 simulation.speed_um_s=0.2 faults.false_per_frame=300
  simulate "turnover" simulation.persistence=0 simulation.birth_rate_per_s=60 simulation.death_rate_per_s=0.1
  simulate "few particles" simulation.particles=40 "simulation.box_um=[3.4,3.4,3.4]" simulation.persistence=0 simulation.speed_um_s=0.25
  judge --truth sample/points_truth.csv --points sample/points.csv --name "sample points"
  "$bin/motes" detect sample/stack.ome.tif -o "$work/detections.csv" --quiet
  judge --truth sample/stack_truth.csv --points "$work/detections.csv" --properties 1 --same 0.4 --merged 0.4 --name "sample stack"
  if [ -d "$data/wormguides-dispim" ]; then
    worm=$data/wormguides-dispim
    judge --truth "$worm/truth.csv" --step 1,2,5,7,10,12,15,20
    for embryo in Pm02 Pm08; do
      python3 bench/lineage_table.py "$data/ascidian-astec/$embryo.csv" "$work/$embryo.csv"
      judge --truth "$work/$embryo.csv" --step 1,5,10
    done
    judge --truth "$data/lpt-turbulence-10k/tracks.csv" --same 1e-9 --name "turbulence tracers"
    judge --truth "$worm/truth.csv" --points "$worm/detections_all.csv" --step 2,5,10 --name "rejected left in"
    judge --truth "$worm/truth.csv" --points "$worm/detections_all.csv" --step 2,5,10 --properties 1 --name "rejected left in with diameters"
  else
    echo "confidence.sh: $data/wormguides-dispim is missing; set MOTES_DATA for the real tables" >&2
  fi
} >"$file.partial"
mv "$file.partial" "$file"
