#!/usr/bin/env bash
# Figure 5 of Vasconcelos and Rosenhahn (2009): 500 samples moving in 3D with varying persistence levels.
# Usage: scripts/fig5.sh [PICTURE.png [FOLDER FOR THE TRACKS]]
source "$(dirname "$0")/common.sh"
install_missing
build_targets motes
motes=$build/bin/motes
picture=${1:-docs/pictures/fig5.png}
out=${2:-out/fig5}

tracks=() titles=()
for level in 0 0.5 0.8 0.95; do
  # Smaller and shorter than the preset, so that single paths can be followed in print.
  "$motes" simulate configs/paper-fig5.yaml -o "$out/$level" --quiet --set "simulation.persistence=$level" --set simulation.frames=13 \
    --set simulation.box_um=20 --set simulation.speed_um_s=0.4 --set simulation.min_distance_um=1
  tracks+=("$out/$level/truth.h5")
  titles+=(--title "persistence $level")
done
"$motes" render "${tracks[@]}" "${titles[@]}" -o "$picture" --size 880x704 --line-width 1.5 --azimuth 35 --elevation 15
